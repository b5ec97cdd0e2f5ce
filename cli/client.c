// SPDX-License-Identifier: BSD-3-Clause
//
// One connection, one request, one answer, then the switch closes. A switch that does not answer
// within the timeout is reported rather than waited for.

#include "cli/client.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "cli/http.h"

enum {
	TIMEOUT_S = 5,
	NAMES_MAX = 64,
	NAME_BYTES = 64,
	READ_BYTES = 64 << 10,
};

struct names {
	char name[NAMES_MAX][NAME_BYTES];
	uint32_t count;
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

	if (len <= suffix || len - suffix >= NAME_BYTES ||
	    strcmp(file + len - suffix, ".sock") != 0)
		return 0;
	return len - suffix;
}

static int is_socket(const struct dirent *entry)
{
	return name_length(entry->d_name) > 0;
}

// Names of the sockets in a directory, sorted; none when it cannot be read.
static void list_names(const char *dir_path, struct names *names)
{
	struct dirent **entries;
	const int count = scandir(dir_path, &entries, is_socket, alphasort);

	names->count = 0;
	for (int i = 0; i < count; i++) {
		const char *file = entries[i]->d_name;

		if (names->count < NAMES_MAX)
			snprintf(names->name[names->count++], NAME_BYTES, "%.*s",
				 (int)name_length(file), file);
		free(entries[i]);
	}
	if (count >= 0)
		free(entries);
	qsort(names->name, names->count, NAME_BYTES, compare_names);
}

static void print_names(const struct names *names)
{
	for (uint32_t i = 0; i < names->count; i++)
		fprintf(stderr, "%s%s", i > 0 ? ", " : "", names->name[i]);
}

// Chooses the switch and writes the path of its socket. False after a line on stderr.
static bool find_socket(const struct client_request *request, size_t path_bytes, char *path)
{
	const char *name = request->name;
	struct names names;

	list_names(request->run_dir, &names);
	if (names.count == 0) {
		fprintf(stderr, "weft: no switch is running (no socket in %s)\n", request->run_dir);
		return false;
	}
	if (name == NULL && names.count > 1) {
		fputs("weft: several switches are running; choose one with -n: ", stderr);
		print_names(&names);
		fputc('\n', stderr);
		return false;
	}
	if (name == NULL)
		name = names.name[0];
	if (bsearch(name, names.name, names.count, NAME_BYTES, compare_names) == NULL) {
		fprintf(stderr, "weft: switch %s is not running; running: ", name);
		print_names(&names);
		fputc('\n', stderr);
		return false;
	}
	if (snprintf(path, path_bytes, "%s/%s.sock", request->run_dir, name) >= (int)path_bytes) {
		fprintf(stderr, "weft: %s: path too long for a socket\n", request->run_dir);
		return false;
	}
	return true;
}

// A connected socket, or -1 after a line on stderr.
static int connect_to(const struct sockaddr_un *address)
{
	const struct timeval timeout = { .tv_sec = TIMEOUT_S };
	const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (fd >= 0 && setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &timeout, sizeof(timeout)) == 0 &&
	    setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &timeout, sizeof(timeout)) == 0 &&
	    connect(fd, (const struct sockaddr *)address, sizeof(*address)) == 0)
		return fd;
	if (errno == ECONNREFUSED)
		fprintf(stderr, "weft: %s: no switch behind this socket (it has ended)\n",
			address->sun_path);
	else
		fprintf(stderr, "weft: %s: %s\n", address->sun_path, strerror(errno));
	if (fd >= 0)
		close(fd);
	return -1;
}

static bool send_request(int fd, const struct client_request *request)
{
	char text[512];
	const int len = snprintf(text, sizeof(text),
				 "%s %s HTTP/1.1\r\nHost: weft\r\nContent-Length: 0\r\n"
				 "Connection: close\r\n\r\n",
				 request->method, request->target);
	size_t sent = 0;

	while (len < (int)sizeof(text) && sent < (size_t)len) {
		const ssize_t n = send(fd, text + sent, (size_t)len - sent, MSG_NOSIGNAL);

		if (n < 0 && errno != EINTR)
			return false;
		sent += n > 0 ? (size_t)n : 0;
	}
	return sent == (size_t)len;
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

// Reads until the reply is whole. False after a line on stderr.
static bool read_reply(int fd, const char *path, struct reply_buffer *buffer,
		       struct http_reply *reply)
{
	enum http_verdict verdict = HTTP_MORE;

	while (verdict == HTTP_MORE) {
		ssize_t n = -1;

		errno = ENOMEM;
		if (grow(buffer))
			n = recv(fd, buffer->data + buffer->len, READ_BYTES, 0);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0) {
			fprintf(stderr, "weft: %s: %s\n", path,
				errno == EAGAIN ? "the switch does not answer" : strerror(errno));
			return false;
		}
		buffer->len += (size_t)n;
		verdict = http_parse(buffer->data, buffer->len, n == 0, reply);
	}
	if (verdict == HTTP_BAD)
		fprintf(stderr, "weft: %s: the answer is cut short or not HTTP\n", path);
	return verdict == HTTP_DONE;
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
		fprintf(stderr, "weft: %s: the switch refused (%u)%s%s\n", path, reply->status,
			why != NULL ? ": " : "", why != NULL ? why : "");
	} else if (!json_is_object(body)) {
		fprintf(stderr, "weft: %s: the answer is not a JSON object: %s\n", path,
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
	fd = connect_to(&address);
	if (fd < 0)
		return NULL;
	if (!send_request(fd, request))
		fprintf(stderr, "weft: %s: %s\n", address.sun_path, strerror(errno));
	else if (read_reply(fd, address.sun_path, &buffer, &reply))
		body = decode(address.sun_path, request, &reply);
	free(buffer.data);
	close(fd);
	return body;
}
