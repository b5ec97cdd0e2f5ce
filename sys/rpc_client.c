// SPDX-License-Identifier: BSD-3-Clause
//
// A bufferevent and its own small exchange. Bytes of a call are written before the connection is
// up: the bufferevent holds them back until it is, and until TLS has agreed.
//
// A call ends in finish() alone, and `done` may begin the next one or close the client: nothing
// follows the call.

#include "sys/rpc_client.h"

#include <errno.h>
#include <event2/buffer.h>
#include <event2/bufferevent.h>
#include <event2/bufferevent_ssl.h>
#include <event2/dns.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <openssl/err.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "sys/http.h"
#include "sys/log.h"
#include "sys/rpc_address.h"

enum { HEAD_MAX = 4 << 10, ERROR_BODY_MAX = 64 << 10 };

struct rpc_client {
	struct event_base *base;
	struct evdns_base *dns; // for names alone
	struct rpc_address address;
	char place[RPC_HOST_BYTES + 8]; // the address as it was given
	uint32_t timeout_ms;
	struct tls_files files;
	SSL_CTX *tls;   // NULL: a unix socket
	uint64_t stamp; // of the files as they were read
	bool is_guest;  // without files
	uint8_t fingerprint[TLS_FINGERPRINT_BYTES];

	struct bufferevent *bev; // NULL: there is no connection
	bool is_up;
	struct event *timer; // of a call

	bool busy;
	struct rpc_call_out call;
	bool has_head;
	struct http_head head; // of the reply; its words are not kept

	// What could not even begin ends from the loop.
	struct event *failed;
	int error;
	char why[RPC_REASON_BYTES];
};

static void disconnect(struct rpc_client *client)
{
	if (client->bev != NULL)
		bufferevent_free(client->bev);
	client->bev = NULL;
	client->is_up = false;
}

static void finish(struct rpc_client *client, int error, const void *reply, const char *why)
{
	const struct rpc_call_out call = client->call;

	event_del(client->timer);
	client->busy = false;
	call.done(call.arg, error, reply, why);
}

// The connection failed, and a call with it if there is one.
static void fail(struct rpc_client *client, int error, const char *why)
{
	char text[RPC_REASON_BYTES];

	disconnect(client);
	if (!client->busy)
		return;
	snprintf(text, sizeof(text), "%.*s", (int)sizeof(text) - 1, why);
	finish(client, error, NULL, text);
}

// --- replies -------------------------------------------------------------------------------------

static size_t body_max(const struct rpc_client *client)
{
	const uint32_t most = client->call.reply_type->size_max;

	if (client->head.status != 200)
		return ERROR_BODY_MAX;
	return most < RPC_BODY_MAX ? most : (size_t)RPC_BODY_MAX;
}

// Reads the head of the reply. True: it is there; false: not yet, or the call has failed.
static bool take_head(struct rpc_client *client, struct evbuffer *in)
{
	const size_t have = evbuffer_get_length(in);
	const size_t size = have < HEAD_MAX ? have : HEAD_MAX;
	const char *text = (const char *)evbuffer_pullup(in, (ssize_t)size);
	const enum http_verdict verdict = http_parse_status(text, size, &client->head);

	if (verdict == HTTP_BAD || (verdict == HTTP_MORE && size == HEAD_MAX)) {
		fail(client, -EBADMSG, "the answer is not HTTP");
		return false;
	}
	if (verdict == HTTP_MORE)
		return false;
	if (!client->head.has_length || client->head.length > body_max(client)) {
		fail(client, -EBADMSG, "the answer is longer than it may be, or does not say");
		return false;
	}
	evbuffer_drain(in, client->head.bytes);
	client->has_head = true;
	return true;
}

// An HTTP error: its first line is why.
static void take_error(struct rpc_client *client, struct evbuffer *body)
{
	char text[RPC_REASON_BYTES - 16] = "";
	char why[RPC_REASON_BYTES];

	evbuffer_copyout(body, text, sizeof(text) - 1);
	text[strcspn(text, "\r\n")] = '\0';
	snprintf(why, sizeof(why), "HTTP %u: %s", client->head.status, text);
	finish(client, -EPROTO, NULL, why);
}

static void take_message(struct rpc_client *client, struct evbuffer *body)
{
	const struct rpc_message *type = client->call.reply_type;
	void *reply = rpc_message_new(type);

	if (reply == NULL || rpc_message_unmarshal(type, reply, body) != 0)
		finish(client, reply == NULL ? -ENOMEM : -EBADMSG, NULL,
		       "the answer is no such message");
	else
		finish(client, 0, reply, "");
	rpc_message_free(type, reply);
}

static void take_reply(struct rpc_client *client, struct evbuffer *in)
{
	struct evbuffer *body;

	if (evbuffer_get_length(in) < client->head.length)
		return;
	body = evbuffer_new();
	if (body == NULL) {
		fail(client, -ENOMEM, "no memory");
		return;
	}
	evbuffer_remove_buffer(in, body, client->head.length);
	// Nothing may be left of it when the next call begins.
	if (client->head.close || evbuffer_get_length(in) > 0)
		disconnect(client);
	if (client->head.status == 200)
		take_message(client, body);
	else
		take_error(client, body);
	evbuffer_free(body);
}

static void on_read(struct bufferevent *bev, void *arg)
{
	struct rpc_client *client = arg;
	struct evbuffer *in = bufferevent_get_input(bev);

	if (!client->busy)
		fail(client, -EBADMSG, ""); // nobody asked
	else if (client->has_head || take_head(client, in))
		take_reply(client, in);
}

// --- the connection ------------------------------------------------------------------------------

// Why TLS failed: for a certificate, that of either end, or in some other way.
static void fail_tls(struct rpc_client *client, const SSL *ssl, unsigned long error)
{
	const int code = tls_is_refusal(ssl, error) ? -EACCES : -ECONNRESET;
	char why[TLS_WHY_BYTES];

	tls_why(ssl, error, why);
	ERR_clear_error();
	fail(client, code, why);
}

static void on_event(struct bufferevent *bev, short what, void *arg)
{
	struct rpc_client *client = arg;
	const int error = EVUTIL_SOCKET_ERROR();
	const int dns = bufferevent_socket_get_dns_error(bev);
	const SSL *ssl = client->tls != NULL ? bufferevent_openssl_get_ssl(bev) : NULL;
	const unsigned long tls_error = ssl != NULL ? bufferevent_get_openssl_error(bev) : 0;
	const int on = 1;

	if ((what & BEV_EVENT_CONNECTED) != 0) {
		client->is_up = true;
		// Without it a small message waits for the acknowledgement of the one before.
		setsockopt(bufferevent_getfd(bev), IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
		return;
	}
	if (dns != 0)
		fail(client, -EHOSTUNREACH, evutil_gai_strerror(dns));
	else if (ssl != NULL && (tls_error != 0 || SSL_get_verify_result(ssl) != X509_V_OK))
		fail_tls(client, ssl, tls_error);
	else if ((what & BEV_EVENT_EOF) != 0 || error == 0)
		fail(client, -ECONNRESET, "the connection ended");
	else
		fail(client, client->is_up ? -ECONNRESET : -error, strerror(error));
}

// A unix socket is connected at once, or not at all, and only connect() says which error it is.
static int connect_unix(const struct rpc_address *address)
{
	const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	int rc;

	if (fd < 0)
		return -errno;
	if (connect(fd, (const struct sockaddr *)&address->at, address->length) == 0)
		return fd;
	rc = -errno;
	close(fd);
	return rc;
}

static int open_unix(struct rpc_client *client)
{
	const int fd = connect_unix(&client->address);

	if (fd < 0)
		return fd;
	client->bev = bufferevent_socket_new(client->base, fd, BEV_OPT_CLOSE_ON_FREE);
	client->is_up = true;
	if (client->bev != NULL)
		return 0;
	close(fd);
	return -ENOMEM;
}

// Files that were replaced are read again: certificates are renewed while programs run.
static int open_tls(struct rpc_client *client)
{
	const uint64_t stamp = tls_stamp(&client->files);
	SSL_CTX *tls;

	if (client->tls != NULL && (client->is_guest || stamp == client->stamp))
		return 0;
	tls = tls_open(&client->files, false, log_faults());
	if (tls == NULL)
		return -EACCES;
	SSL_CTX_free(client->tls);
	client->tls = tls;
	client->stamp = stamp;
	return 0;
}

static struct bufferevent *make_bev(const struct rpc_client *client)
{
	SSL *ssl = SSL_new(client->tls);
	struct bufferevent *bev;

	if (ssl == NULL)
		return NULL;
	bev = bufferevent_openssl_socket_new(client->base, -1, ssl, BUFFEREVENT_SSL_CONNECTING,
					     BEV_OPT_CLOSE_ON_FREE);
	if (bev == NULL)
		SSL_free(ssl);
	else
		bufferevent_openssl_set_allow_dirty_shutdown(bev, 1);
	return bev;
}

static int connect_tcp(const struct rpc_client *client)
{
	const struct rpc_address *address = &client->address;

	if (address->kind == RPC_ADDRESS_NAME)
		return bufferevent_socket_connect_hostname(client->bev, client->dns, AF_UNSPEC,
							   address->host, address->port);
	return bufferevent_socket_connect(client->bev, (const struct sockaddr *)&address->at,
					  (int)address->length);
}

static int open_tcp(struct rpc_client *client)
{
	int rc = open_tls(client);

	if (rc < 0)
		return rc;
	client->bev = make_bev(client);
	if (client->bev == NULL)
		return -ENOMEM;
	errno = 0;
	if (connect_tcp(client) == 0)
		return 0;
	rc = errno != 0 ? -errno : -EHOSTUNREACH;
	disconnect(client);
	return rc;
}

// 0, or -errno: nobody is there.
static int open_connection(struct rpc_client *client)
{
	const int rc = client->address.kind == RPC_ADDRESS_UNIX ? open_unix(client) :
								  open_tcp(client);

	if (rc < 0)
		return rc;
	bufferevent_setcb(client->bev, on_read, NULL, on_event, client);
	bufferevent_enable(client->bev, EV_READ | EV_WRITE);
	return 0;
}

static void on_failed(evutil_socket_t fd, short what, void *arg)
{
	struct rpc_client *client = arg;

	fail(client, client->error, client->why);
}

static void on_timeout(evutil_socket_t fd, short what, void *arg)
{
	struct rpc_client *client = arg;

	fail(client, -ETIMEDOUT, client->is_up ? "no answer in time" : "no connection in time");
}

static void add_time(struct event *timer, uint32_t ms)
{
	const struct timeval wait = { .tv_sec = ms / 1000,
				      .tv_usec = (suseconds_t)(ms % 1000) * 1000 };

	event_add(timer, &wait);
}

// --- calls ---------------------------------------------------------------------------------------

// Head and body in one piece: fewer TLS records, and one segment if it fits. NULL: no memory.
static struct evbuffer *marshal(const struct rpc_client *client, const struct rpc_call_out *call)
{
	struct evbuffer *out = evbuffer_new();
	char head[RPC_HOST_BYTES + 256];
	int bytes;

	if (out == NULL)
		return NULL;
	rpc_message_marshal(call->request_type, call->request, out);
	bytes = snprintf(head, sizeof(head),
			 "POST /.rpc.%s HTTP/1.1\r\nHost: %s\r\nContent-Length: %zu\r\n\r\n",
			 call->name,
			 client->address.kind != RPC_ADDRESS_UNIX ? client->place : "localhost",
			 evbuffer_get_length(out));
	if (evbuffer_prepend(out, head, (size_t)bytes) != 0 || evbuffer_pullup(out, -1) == NULL) {
		evbuffer_free(out);
		return NULL;
	}
	return out;
}

int rpc_client_call(struct rpc_client *client, const struct rpc_call_out *call)
{
	struct evbuffer *out;

	if (client->busy)
		return -EBUSY;
	out = marshal(client, call);
	if (out == NULL)
		return -ENOMEM;
	client->call = *call;
	client->busy = true;
	client->has_head = false;
	client->error = client->bev == NULL ? open_connection(client) : 0;
	if (client->error == 0) {
		bufferevent_write_buffer(client->bev, out);
		add_time(client->timer,
			 call->timeout_ms > 0 ? call->timeout_ms : client->timeout_ms);
	} else {
		snprintf(client->why, sizeof(client->why), "%s", strerror(-client->error));
		add_time(client->failed, 0);
	}
	evbuffer_free(out);
	return 0;
}

static bool parse_fingerprint(const char *text, uint8_t fingerprint[TLS_FINGERPRINT_BYTES])
{
	if (strlen(text) != (size_t)2 * TLS_FINGERPRINT_BYTES ||
	    strspn(text, "0123456789abcdef") != (size_t)2 * TLS_FINGERPRINT_BYTES)
		return false;
	for (uint32_t i = 0; i < TLS_FINGERPRINT_BYTES; i++) {
		const char byte[] = { text[2 * i], text[2 * i + 1], '\0' };

		fingerprint[i] = (uint8_t)strtoul(byte, NULL, 16);
	}
	return true;
}

static int start_tls(struct rpc_client *client, const struct rpc_client_options *options)
{
	if (options->tls != NULL) {
		client->files = *options->tls;
		return open_tls(client);
	}
	if (options->fingerprint == NULL) {
		log_err("rpc: %s: TCP is not spoken without certificates", options->address);
		return -EINVAL;
	}
	if (!parse_fingerprint(options->fingerprint, client->fingerprint)) {
		log_err("rpc: %s: not the SHA-256 of a certificate in hex", options->fingerprint);
		return -EINVAL;
	}
	client->is_guest = true;
	client->tls = tls_open_guest(client->fingerprint);
	return client->tls != NULL ? 0 : -ENOMEM;
}

static int start(struct rpc_client *client, const struct rpc_client_options *options)
{
	if (!rpc_address_parse(options->address, &client->address)) {
		log_err("rpc: %s: not unix:PATH, HOST:PORT or [IPV6]:PORT", options->address);
		return -EINVAL;
	}
	if (client->address.kind != RPC_ADDRESS_UNIX && start_tls(client, options) < 0)
		return -EINVAL;
	snprintf(client->place, sizeof(client->place), "%s", options->address);
	client->timer = evtimer_new(client->base, on_timeout, client);
	client->failed = evtimer_new(client->base, on_failed, client);
	if (client->address.kind == RPC_ADDRESS_NAME)
		client->dns = evdns_base_new(client->base,
					     EVDNS_BASE_INITIALIZE_NAMESERVERS |
						     EVDNS_BASE_DISABLE_WHEN_INACTIVE);
	if (client->timer == NULL || client->failed == NULL ||
	    (client->dns == NULL && client->address.kind == RPC_ADDRESS_NAME)) {
		log_err("rpc: %s: no memory, or no resolver", options->address);
		return -ENOMEM;
	}
	return 0;
}

struct rpc_client *rpc_client_open(struct event_base *base,
				   const struct rpc_client_options *options)
{
	struct rpc_client *client = calloc(1, sizeof(*client));

	if (client == NULL)
		return NULL;
	client->base = base;
	client->timeout_ms = options->timeout_ms;
	if (start(client, options) == 0)
		return client;
	rpc_client_close(client);
	return NULL;
}

void rpc_client_close(struct rpc_client *client)
{
	if (client == NULL)
		return;
	disconnect(client);
	if (client->timer != NULL)
		event_free(client->timer);
	if (client->failed != NULL)
		event_free(client->failed);
	if (client->dns != NULL)
		evdns_base_free(client->dns, 0);
	SSL_CTX_free(client->tls);
	free(client);
}
