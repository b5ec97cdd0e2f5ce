// SPDX-License-Identifier: BSD-3-Clause
//
// Streams of HTTP over evhttp. Request and connection are evhttp's until the answer has ended; the
// calls below keep to the order in which it wants them given back.

#include "sys/http_stream.h"

#include <errno.h>
#include <sys/socket.h>

#include <event2/bufferevent.h>

static struct bufferevent *buffer_of(const struct http_stream *stream)
{
	return evhttp_connection_get_bufferevent(stream->connection);
}

// The client is gone. Request and connection are evhttp's, unless it was a write that failed: then
// the request has been taken from the connection, and is freed by its end.
static void on_close(struct evhttp_connection *connection, void *arg)
{
	struct http_stream *stream = arg;

	if (evhttp_request_get_connection(stream->request) == NULL)
		evhttp_send_reply_end(stream->request);
	stream->request = NULL;
	stream->gone(stream->arg);
}

void http_stream_open(struct http_stream *stream, struct evhttp_request *request, const char *type,
		      void (*gone)(void *arg), void *arg)
{
	struct evkeyvalq *headers = evhttp_request_get_output_headers(request);

	*stream = (struct http_stream){
		.request = request,
		.connection = evhttp_request_get_connection(request),
		.gone = gone,
		.arg = arg,
	};
	evhttp_connection_set_closecb(stream->connection, on_close, stream);
	// A client may wait as long as it likes for the next bytes.
	bufferevent_set_timeouts(buffer_of(stream), NULL, NULL);
	evhttp_add_header(headers, "Content-Type", type);
	// Its timeouts are not those of a connection that goes on.
	evhttp_add_header(headers, "Connection", "close");
	evhttp_send_reply_start(request, HTTP_OK, "OK");
}

void http_stream_send(struct http_stream *stream, struct evbuffer *chunk)
{
	if (evbuffer_get_length(chunk) > 0)
		evhttp_send_reply_chunk(stream->request, chunk);
}

size_t http_stream_waiting(const struct http_stream *stream)
{
	return evbuffer_get_length(bufferevent_get_output(buffer_of(stream)));
}

static bool client_is_there(const struct http_stream *stream)
{
	char byte;
	const ssize_t count = recv(bufferevent_getfd(buffer_of(stream)), &byte, 1,
				   MSG_PEEK | MSG_DONTWAIT);

	return count > 0 || (count < 0 && (errno == EAGAIN || errno == EINTR));
}

bool http_stream_look(struct http_stream *stream)
{
	if (client_is_there(stream))
		return true;
	http_stream_drop(stream);
	return false;
}

void http_stream_patience(struct http_stream *stream, int seconds)
{
	const struct timeval patience = { .tv_sec = seconds };

	bufferevent_set_timeouts(buffer_of(stream), NULL, &patience);
}

void http_stream_drop(struct http_stream *stream)
{
	evhttp_connection_free(stream->connection); // calls on_close()
}

void http_stream_end(struct http_stream *stream)
{
	struct evhttp_request *request = stream->request;

	stream->request = NULL;
	evhttp_connection_set_closecb(stream->connection, NULL, NULL);
	evhttp_send_reply_end(request);
}

void http_stream_abandon(struct http_stream *stream, struct evbuffer *rest)
{
	struct evkeyvalq *headers = evhttp_request_get_output_headers(stream->request);
	const bool chunked = evhttp_find_header(headers, "Transfer-Encoding") != NULL;

	if (rest != NULL && !chunked && http_stream_waiting(stream) == 0)
		evbuffer_write(rest, bufferevent_getfd(buffer_of(stream)));
	stream->request = NULL;
	evhttp_connection_set_closecb(stream->connection, NULL, NULL);
}
