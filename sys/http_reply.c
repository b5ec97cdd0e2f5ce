// SPDX-License-Identifier: BSD-3-Clause
//
// Answers and queries of control sockets. A body that cannot be made is an error of its own: a
// client is never left without an answer.

#include "sys/http_reply.h"

#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>

#include <event2/buffer.h>

#include "sys/text_json.h"

// Takes the body.
static void reply(struct evhttp_request *request, int status, const char *reason, json_t *body)
{
	char *text = body != NULL ? json_dumps(body, JSON_COMPACT) : NULL;

	json_decref(body);
	if (text == NULL) {
		evhttp_send_error(request, HTTP_INTERNAL, "out of memory");
		return;
	}
	evhttp_add_header(evhttp_request_get_output_headers(request), "Content-Type",
			  "application/json");
	evbuffer_add(evhttp_request_get_output_buffer(request), text, strlen(text));
	evhttp_send_reply(request, status, reason, NULL);
	free(text);
}

void reply_json(struct evhttp_request *request, int status, json_t *body)
{
	reply(request, status, status < 300 ? "OK" : "Error", body);
}

void reply_ok(struct evhttp_request *request, json_t *body)
{
	reply(request, HTTP_OK, "OK", body);
}

void reply_error(struct evhttp_request *request, int status, const char *why)
{
	reply(request, status, "Error", json_pack("{s:o}", "error", text_json(why, strlen(why))));
}

bool accept_method(struct evhttp_request *request, enum evhttp_cmd_type method)
{
	if (evhttp_request_get_command(request) == method)
		return true;
	reply_error(request, HTTP_BADMETHOD, method == EVHTTP_REQ_GET ? "use GET" : "use POST");
	return false;
}

bool parse_query(struct evhttp_request *request, struct evkeyvalq *query)
{
	const char *text = evhttp_uri_get_query(evhttp_request_get_evhttp_uri(request));

	TAILQ_INIT(query);
	if (text == NULL || evhttp_parse_query_str(text, query) == 0)
		return true;
	reply_error(request, HTTP_BADREQUEST, "the query is not KEY=VALUE");
	return false;
}

bool read_on(const struct evkeyvalq *query, bool *on)
{
	const char *word = evhttp_find_header(query, "on");

	*on = word != NULL && strcmp(word, "on") == 0;
	return *on || (word != NULL && strcmp(word, "off") == 0);
}
