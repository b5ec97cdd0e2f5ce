// SPDX-License-Identifier: BSD-3-Clause
//
// One connection, one request, one answer, then the switch closes. A switch, or a fabric
// manager, that does not answer within the timeout is reported rather than waited for.

#include "sys/client.h"

#include <dirent.h>
#include <errno.h>
#include <grp.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "sys/control_socket.h"
#include "sys/http.h"
#include "sys/nearest.h"

enum {
	TIMEOUT_S = 5,
	READ_BYTES = 64 << 10,
};

struct reply_buffer {
	char *data;
	size_t len;
	size_t room;
};

static int compare_names(const void *a, const void *b)
{
	return strcmp(a, b);
}

// Length of NAME in NAME.sock, 0 for other files.
static size_t name_length(const char *file)
{
	const size_t len = strlen(file);
	const size_t suffix = strlen(".sock");

	if (len <= suffix || len - suffix >= CLIENT_NAME_BYTES ||
	    strcmp(file + len - suffix, ".sock") != 0)
		return 0;
	return len - suffix;
}

static int is_socket(const struct dirent *entry)
{
	return name_length(entry->d_name) > 0;
}

int client_list(const char *dir_path, struct client_names *names)
{
	struct dirent **entries;
	const int count = scandir(dir_path, &entries, is_socket, alphasort);
	const int error = count < 0 ? errno : 0;

	names->count = 0;
	for (int i = 0; i < count; i++) {
		const char *file = entries[i]->d_name;

		if (names->count < CLIENT_NAMES_MAX)
			snprintf(names->name[names->count++], CLIENT_NAME_BYTES, "%.*s",
				 (int)name_length(file), file);
		free(entries[i]);
	}
	if (count >= 0)
		free(entries);
	qsort(names->name, names->count, CLIENT_NAME_BYTES, compare_names);
	return -error;
}

// Every word on stderr goes through here and go_on().
__attribute__((format(printf, 2, 3))) static void complain(const struct client_request *request,
							   const char *text, ...)
{
	va_list args;

	if (request->quiet)
		return;
	fprintf(stderr, "%s: ", program_invocation_short_name);
	va_start(args, text);
	vfprintf(stderr, text, args);
	va_end(args);
}

// What belongs to the complaint before.
__attribute__((format(printf, 2, 3))) static void go_on(const struct client_request *request,
							const char *text, ...)
{
	va_list args;

	if (request->quiet)
		return;
	va_start(args, text);
	vfprintf(stderr, text, args);
	va_end(args);
}

static void complain_names(const struct client_request *request, const struct client_names *names)
{
	for (uint32_t i = 0; i < names->count; i++)
		go_on(request, "%s%s", i > 0 ? ", " : "", names->name[i]);
	go_on(request, "\n");
}

static void fail(const struct client_request *request, enum client_fault fault)
{
	if (request->fault != NULL)
		*request->fault = fault;
}

// Nothing is listed: says why.
static void complain_none(const struct client_request *request, int error)
{
	if (error == -EACCES) {
		complain(request, "%s: no permission to look for switches there\n",
			 request->run_dir);
		fail(request, CLIENT_DENIED);
	} else {
		complain(request, "no switch is running (no socket in %s)\n", request->run_dir);
		fail(request, CLIENT_ABSENT);
	}
}

// The switch that was asked for is not among those that run.
static void complain_unknown(const struct client_request *request, const char *name,
			     const struct client_names *names)
{
	struct nearest near = nearest_to(name);

	for (uint32_t i = 0; i < names->count; i++)
		nearest_offer(&near, names->name[i]);
	complain(request, "switch %s is not running", name);
	if (near.best != NULL)
		go_on(request, "; did you mean %s? running: ", near.best);
	else
		go_on(request, "; running: ");
	complain_names(request, names);
}

static const char *who(const struct client_request *request)
{
	return request->fabric ? "the fabric manager" : "the switch";
}

// Chooses the switch. NULL after a line on stderr.
static const char *choose(const struct client_request *request, struct client_names *names)
{
	const char *name = request->name;
	const int rc = client_list(request->run_dir, names);

	if (names->count == 0) {
		complain_none(request, rc);
		return NULL;
	}
	if (name == NULL && names->count > 1) {
		complain(request, "several switches are running; choose one with -n, or -n all: ");
		complain_names(request, names);
		return NULL;
	}
	if (name == NULL)
		name = names->name[0];
	if (bsearch(name, names->name, names->count, CLIENT_NAME_BYTES, compare_names) != NULL)
		return name;
	complain_unknown(request, name, names);
	return NULL;
}

// Writes the path of the socket to talk to. False after a line on stderr.
static bool find_socket(const struct client_request *request, size_t path_bytes, char *path)
{
	const char *name = NULL;
	struct client_names names;
	int len;

	fail(request, CLIENT_ABSENT);
	if (!request->fabric) {
		name = choose(request, &names);
		if (name == NULL)
			return false;
	}
	len = snprintf(path, path_bytes, "%s/%s%s", request->run_dir,
		       name != NULL ? name : CONTROL_SOCKET_FABRIC, name != NULL ? ".sock" : "");
	if (len >= (int)path_bytes) {
		complain(request, "%s: path too long for a socket\n", request->run_dir);
		return false;
	}
	return true;
}

// A socket that may not be written to belongs to a group that the user is not in.
static void complain_denied(const struct client_request *request, const char *path)
{
	struct stat st;
	struct group entry, *group = NULL;
	char names[4096];

	if (stat(path, &st) == 0 && (st.st_mode & S_IWGRP) != 0 &&
	    getgrgid_r(st.st_gid, &entry, names, sizeof(names), &group) == 0 && group != NULL)
		complain(request, "%s: no permission; be root, or a member of the group %s\n", path,
			 group->gr_name);
	else
		complain(request, "%s: no permission; be root\n", path);
}

// A connected socket, or -1 after a line on stderr.
static int connect_to(const struct client_request *request, const struct sockaddr_un *address)
{
	const struct timeval timeout = { .tv_sec = TIMEOUT_S };
	const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (fd >= 0 && setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &timeout, sizeof(timeout)) == 0 &&
	    setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &timeout, sizeof(timeout)) == 0 &&
	    connect(fd, (const struct sockaddr *)address, sizeof(*address)) == 0)
		return fd;
	fail(request, errno == EACCES ? CLIENT_DENIED : CLIENT_ABSENT);
	if (errno == ECONNREFUSED)
		complain(request, "%s: no %s behind this socket (it has ended)\n",
			 address->sun_path, who(request) + strlen("the "));
	else if (errno == ENOENT && request->fabric)
		complain(request,
			 "no fabric manager is running (no " CONTROL_SOCKET_FABRIC " in %s)\n",
			 request->run_dir);
	else if (errno == EACCES)
		complain_denied(request, address->sun_path);
	else
		complain(request, "%s: %s\n", address->sun_path, strerror(errno));
	if (fd >= 0)
		close(fd);
	return -1;
}

static bool send_text(int fd, const char *text, size_t len)
{
	size_t sent = 0;

	while (sent < len) {
		const ssize_t n = send(fd, text + sent, len - sent, MSG_NOSIGNAL);

		if (n < 0 && errno != EINTR)
			return false;
		sent += n > 0 ? (size_t)n : 0;
	}
	return true;
}

// By HTTP 1.0 an answer without a known length is not cut into chunks.
static bool send_request(int fd, const struct client_request *request, int version)
{
	const char *body = request->body != NULL ? request->body : "";
	char text[1024];
	const int len = snprintf(text, sizeof(text),
				 "%s %s HTTP/1.%d\r\nHost: weft\r\nContent-Length: %zu\r\n"
				 "Connection: close\r\n\r\n",
				 request->method, request->target, version, strlen(body));

	if (len >= (int)sizeof(text)) {
		errno = ENAMETOOLONG;
		return false;
	}
	return send_text(fd, text, (size_t)len) && send_text(fd, body, strlen(body));
}

// Makes room for one more read; false beyond the limit.
static bool grow(struct reply_buffer *buffer)
{
	char *data;

	if (buffer->room - buffer->len >= READ_BYTES)
		return true;
	if (buffer->room > HTTP_BODY_BYTES_MAX)
		return false;
	buffer->room = buffer->room * 2 + READ_BYTES;
	data = realloc(buffer->data, buffer->room);
	if (data != NULL)
		buffer->data = data;
	return data != NULL;
}

// Reads once more into the buffer: as recv(), and ENOMEM beyond the limit.
static ssize_t receive(int fd, struct reply_buffer *buffer)
{
	ssize_t n;

	if (!grow(buffer)) {
		errno = ENOMEM;
		return -1;
	}
	do
		n = recv(fd, buffer->data + buffer->len, READ_BYTES, 0);
	while (n < 0 && errno == EINTR);
	buffer->len += n > 0 ? (size_t)n : 0;
	return n;
}

// Nothing more comes.
static void complain_silent(const struct client_request *request, const char *path, int error)
{
	if (error == EAGAIN)
		complain(request, "%s: %s does not answer\n", path, who(request));
	else
		complain(request, "%s: %s\n", path, strerror(error));
}

// Reads until the reply is whole. False after a line on stderr.
static bool read_reply(const struct client_request *request, int fd, const char *path,
		       struct reply_buffer *buffer, struct http_reply *reply)
{
	enum http_verdict verdict = HTTP_MORE;

	while (verdict == HTTP_MORE) {
		const ssize_t n = receive(fd, buffer);

		if (n < 0) {
			complain_silent(request, path, errno);
			return false;
		}
		verdict = http_parse(buffer->data, buffer->len, n == 0, reply);
	}
	if (verdict == HTTP_BAD)
		complain(request, "%s: the answer is cut short or not HTTP\n", path);
	return verdict == HTTP_DONE;
}

// What else the switch says of a refusal, a line each.
static void complain_lines(const struct client_request *request, const char *before,
			   const json_t *lines)
{
	if (json_array_size(lines) > 0 && before[0] != '\0')
		go_on(request, "%s\n", before);
	for (size_t i = 0; i < json_array_size(lines); i++)
		go_on(request, "  %s\n", json_string_value(json_array_get(lines, i)));
}

// The JSON of a reply; what the switch refused is said in its own words.
static json_t *decode(const char *path, const struct client_request *request,
		      const struct http_reply *reply)
{
	json_error_t error;
	json_t *body;
	const char *why;

	if (reply->status < 300 && reply->body_bytes == 0 && strcmp(request->method, "POST") == 0)
		return json_object(); // done, and nothing to say
	body = json_loadb(reply->body, reply->body_bytes, JSON_REJECT_DUPLICATES, &error);
	why = json_string_value(json_object_get(body, "error"));
	if (reply->status >= 300) {
		complain(request, "%s: %s refused (%u)%s%s\n", path, who(request), reply->status,
			 why != NULL ? ": " : "", why != NULL ? why : "");
		complain_lines(request, "", json_object_get(body, "errors"));
		complain_lines(request, "It would drop:", json_object_get(body, "drops"));
	} else if (!json_is_object(body)) {
		complain(request, "%s: the answer is not a JSON object: %s\n", path,
			 body == NULL ? error.text : "another value");
	} else {
		return body;
	}
	json_decref(body);
	return NULL;
}

json_t *client_call(const struct client_request *request)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	struct reply_buffer buffer = { 0 };
	struct http_reply reply;
	json_t *body = NULL;
	int fd;

	if (!find_socket(request, sizeof(address.sun_path), address.sun_path))
		return NULL;
	fd = connect_to(request, &address);
	if (fd < 0)
		return NULL;
	fail(request, CLIENT_REFUSED);
	if (!send_request(fd, request, 1))
		complain(request, "%s: %s\n", address.sun_path, strerror(errno));
	else if (read_reply(request, fd, address.sun_path, &buffer, &reply))
		body = decode(address.sun_path, request, &reply);
	free(buffer.data);
	close(fd);
	return body;
}

// The first byte behind the head, NULL when it is not there yet.
static const char *behind_head(const struct reply_buffer *buffer)
{
	static const char end[] = "\r\n\r\n";

	for (size_t i = 0; i + strlen(end) <= buffer->len; i++) {
		if (memcmp(buffer->data + i, end, strlen(end)) == 0)
			return buffer->data + i + strlen(end);
	}
	return NULL;
}

// Reads the head of an answer; what came behind it stays in the buffer, from *body on. False after
// a line on stderr.
static bool read_head(const struct client_request *request, int fd, const char *path,
		      struct reply_buffer *buffer, size_t *body)
{
	const char *found = NULL;

	while (found == NULL) {
		if (receive(fd, buffer) <= 0) {
			complain(request, "%s: %s does not answer\n", path, who(request));
			return false;
		}
		found = behind_head(buffer);
	}
	*body = (size_t)(found - buffer->data);
	return true;
}

static bool is_ok(const struct reply_buffer *buffer)
{
	return buffer->len > 12 && memcmp(buffer->data, "HTTP/1.", 7) == 0 &&
	       memcmp(buffer->data + 8, " 200", 4) == 0;
}

// Reads an answer that is not what was asked for to its end, and says what it is.
static void complain_refused(int fd, const char *path, const struct client_request *request,
			     struct reply_buffer *buffer)
{
	struct http_reply reply;

	if (http_parse(buffer->data, buffer->len, false, &reply) == HTTP_DONE ||
	    read_reply(request, fd, path, buffer, &reply))
		json_decref(decode(path, request, &reply));
}

bool client_open(const struct client_request *request, struct client_stream *stream)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	struct reply_buffer buffer = { 0 };
	size_t body = 0;
	int fd;

	if (!find_socket(request, sizeof(address.sun_path), address.sun_path))
		return false;
	fd = connect_to(request, &address);
	if (fd < 0)
		return false;
	fail(request, CLIENT_REFUSED);
	if (!send_request(fd, request, 0)) {
		complain(request, "%s: %s\n", address.sun_path, strerror(errno));
	} else if (read_head(request, fd, address.sun_path, &buffer, &body)) {
		if (is_ok(&buffer)) {
			*stream = (struct client_stream){ fd, buffer.data, body, buffer.len };
			return true;
		}
		complain_refused(fd, address.sun_path, request, &buffer);
	}
	free(buffer.data);
	close(fd);
	return false;
}

ssize_t client_read(struct client_stream *stream, void *out, size_t bytes, int wait_ms)
{
	struct pollfd ready = { .fd = stream->fd, .events = POLLIN };
	ssize_t n;

	if (stream->at < stream->len) {
		const size_t left = stream->len - stream->at;

		bytes = bytes < left ? bytes : left;
		memcpy(out, stream->data + stream->at, bytes);
		stream->at += bytes;
		return (ssize_t)bytes;
	}
	if (poll(&ready, 1, wait_ms) <= 0)
		return -EAGAIN;
	n = recv(stream->fd, out, bytes, 0);
	if (n < 0)
		return errno == EINTR ? -EAGAIN : -errno;
	return n;
}

void client_close(struct client_stream *stream)
{
	free(stream->data);
	close(stream->fd);
}
