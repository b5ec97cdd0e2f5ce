// SPDX-License-Identifier: BSD-3-Clause
//
// What the handlers of control sockets share: how they read a query, and how they answer. Errors
// are {"error": "..."} with a status of 4xx or 5xx.
#pragma once

#include <stdbool.h>

#include <event2/http.h>
#include <event2/keyvalq_struct.h>
#include <jansson.h>

// All answer the request and take the body.
void reply_json(struct evhttp_request *request, int status, json_t *body);
void reply_ok(struct evhttp_request *request, json_t *body);
void reply_error(struct evhttp_request *request, int status, const char *why);

// True when the request has this method; otherwise it has been answered.
bool accept_method(struct evhttp_request *request, enum evhttp_cmd_type method);

// False when the query is not of the form a=b&c=d; the request has then been answered.
[[nodiscard]] bool parse_query(struct evhttp_request *request, struct evkeyvalq *query);

// Reads ?on=on or off; false when it says neither.
bool read_on(const struct evkeyvalq *query, bool *on);
