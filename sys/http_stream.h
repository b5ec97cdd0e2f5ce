// SPDX-License-Identifier: BSD-3-Clause
//
// An answer that goes on until the client or the program has enough: chunks as they come, no memory
// that grows with a client that does not read.
//
// evhttp does not look at a connection that it writes to: whoever sends does so on a timer, looks
// first whether the client is still there, and sends nothing while too much is waiting for it.
#pragma once

#include <event2/buffer.h>
#include <event2/http.h>

#include "base/types.h"

// Owned by the caller, and not moved while the stream is open.
struct http_stream {
	struct evhttp_request *request; // NULL: it is not open
	struct evhttp_connection *connection;
	void (*gone)(void *arg); // the client has left, and the stream is closed
	void *arg;
};

// Begins the answer, 200, of a content type.
void http_stream_open(struct http_stream *stream, struct evhttp_request *request, const char *type,
		      void (*gone)(void *arg), void *arg);

// Takes the bytes out of the chunk; an empty one is nothing.
void http_stream_send(struct http_stream *stream, struct evbuffer *chunk);

// Bytes that wait for the client.
size_t http_stream_waiting(const struct http_stream *stream);

// Closes the stream, by calling gone(), when the client is not there any more: false.
bool http_stream_look(struct http_stream *stream);

// From now on a client that takes nothing for so long is given up, as if it had left.
void http_stream_patience(struct http_stream *stream, int seconds);

// The client is given up at once: gone() is called.
void http_stream_drop(struct http_stream *stream);

// All is sent. gone() is not called.
void http_stream_end(struct http_stream *stream);

// The event loop has ended, and evhttp is about to be freed: what the client takes at once of
// `rest`, which may be NULL, goes to it directly. A chunked answer is left cut, as its client will
// notice. gone() is not called.
void http_stream_abandon(struct http_stream *stream, struct evbuffer *rest);
