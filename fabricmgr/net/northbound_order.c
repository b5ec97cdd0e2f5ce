// SPDX-License-Identifier: BSD-3-Clause
//
// What operators order. Names are looked for here first, so that a misspelt one gets the nearest
// there is. An intent comes as the body of a request and is read from a file of its own that only
// the manager's user may read, which has the name that the client has for it.

#include "fabricmgr/net/northbound_part.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <event2/buffer.h>
#include <event2/keyvalq_struct.h>

#include "sys/http_reply.h"
#include "sys/lines.h"
#include "sys/log.h"
#include "sys/text_json.h"

enum { NAME_BYTES = 64, DIR_BYTES = 192, PATH_BYTES = 256, HTTP_CONFLICT = 409 };

// An order on its way.
struct ordered {
	struct northbound *nb;
	struct manager *manager;
	const struct evkeyvalq *query;
	char dir[DIR_BYTES];   // of the intent that came with it; "": none did
	char path[PATH_BYTES]; // likewise
	json_t *changes;       // lines; NULL: it has none to tell
	char why[MANAGER_WHY_BYTES];
};

typedef int order_fn(struct ordered *ordered);

struct order_row {
	const char *path;
	order_fn *order; // 0, or -errno with lines in `why`
	bool with_intent;
	const char *done;
};

static const char *word(const struct ordered *ordered, const char *key)
{
	return evhttp_find_header(ordered->query, key);
}

static int refuse(struct ordered *ordered, int error, const char *why)
{
	snprintf(ordered->why, sizeof(ordered->why), "%s", why);
	return error;
}

// --- orders -----------------------------------------------------------------------------------

// "leaf1", or "leaf1:Ethernet4".
static int drain(struct ordered *ordered, bool drained)
{
	const struct source *source = manager_view(ordered->manager)->source;
	const char *object = word(ordered, "object");
	char why[FIND_WHY_BYTES];
	uint32_t number;

	if (object == NULL)
		return refuse(ordered, -EINVAL, "object: a switch, or a link as SWITCH:PORT");
	if (!(strchr(object, ':') == NULL ?
		      find_switch(&source->fabric, object, &number, why) :
		      find_link(&source->fabric, &source->graph.topo, object, &number, why)))
		return refuse(ordered, -ENOENT, why);
	return manager_drain(ordered->manager, object, drained, word(ordered, "force") != NULL,
			     ordered->why);
}

static int order_drain(struct ordered *ordered)
{
	return drain(ordered, true);
}

static int order_undrain(struct ordered *ordered)
{
	return drain(ordered, false);
}

static int order_freeze(struct ordered *ordered)
{
	return manager_freeze(ordered->manager, true, ordered->why);
}

static int order_thaw(struct ordered *ordered)
{
	return manager_freeze(ordered->manager, false, ordered->why);
}

static int order_confirm(struct ordered *ordered)
{
	return manager_confirm(ordered->manager, ordered->why);
}

static int order_rollback(struct ordered *ordered)
{
	return manager_rollback(ordered->manager, ordered->why);
}

// The canary is a switch of the intent that is in force: a new one runs nothing yet.
static int order_apply(struct ordered *ordered)
{
	const struct fabric *fabric = &manager_view(ordered->manager)->source->fabric;
	const char *canary = word(ordered, "canary");
	char why[FIND_WHY_BYTES];
	uint32_t number;

	if (canary != NULL && !find_switch(fabric, canary, &number, why))
		return refuse(ordered, -ENOENT, why);
	return manager_apply(ordered->manager, ordered->path, canary != NULL ? canary : "",
			     ordered->why);
}

static int order_diff(struct ordered *ordered)
{
	struct lines lines;
	int rc;

	if (!lines_open(&lines))
		return -ENOMEM;
	rc = manager_diff(ordered->manager, ordered->path, lines.out, ordered->why);
	if (rc == 0)
		ordered->changes = text_json_lines(&lines);
	lines_close(&lines);
	return rc;
}

static const struct order_row rows[] = {
	{ "/v1/fabric/drain", order_drain, false, "packets go other ways soon" },
	{ "/v1/fabric/undrain", order_undrain, false, "it is planned with again" },
	{ "/v1/fabric/freeze", order_freeze, false, "nothing changes until it is thawed" },
	{ "/v1/fabric/thaw", order_thaw, false, "the fabric changes again" },
	{ "/v1/fabric/confirm", order_confirm, false, "confirmed" },
	{ "/v1/fabric/rollback", order_rollback, false, "rolled back" },
	{ "/v1/fabric/apply", order_apply, true, "the new intent is being planned" },
	{ "/v1/fabric/diff", order_diff, true, "nothing has been changed" },
};

// --- the intent of a request ------------------------------------------------------------------

static bool write_whole(int fd, struct evbuffer *body)
{
	while (evbuffer_get_length(body) > 0) {
		if (evbuffer_write(body, fd) <= 0)
			return false;
	}
	return true;
}

// What the client calls it, if that can be the name of a file anywhere.
static const char *name_of(const struct ordered *ordered)
{
	const char *name = word(ordered, "name");
	const bool plain = name != NULL && name[0] != '\0' && name[0] != '.' &&
			   strlen(name) < NAME_BYTES &&
			   name[strspn(name, "abcdefghijklmnopqrstuvwxyz"
					     "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-")] == '\0';

	return plain ? name : "intent";
}

static int write_file(const char *path, struct evbuffer *body)
{
	const int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	bool good;

	if (fd < 0)
		return -errno;
	good = write_whole(fd, body);
	return close(fd) == 0 && good ? 0 : -EIO;
}

// Removes what take_intent() made.
static void drop_intent(const struct ordered *ordered)
{
	if (ordered->path[0] != '\0')
		unlink(ordered->path);
	if (ordered->dir[0] != '\0')
		rmdir(ordered->dir);
}

// Puts the body into a file of that name, in a directory of its own.
static int take_intent(struct ordered *ordered, struct evhttp_request *request)
{
	struct evbuffer *body = evhttp_request_get_input_buffer(request);
	int rc;

	if (evbuffer_get_length(body) == 0)
		return refuse(ordered, -EINVAL, "the intent is missing: it is the request's body");
	snprintf(ordered->dir, DIR_BYTES, "%s/intent.XXXXXX", ordered->nb->run_dir);
	if (mkdtemp(ordered->dir) == NULL) {
		rc = -errno;
		ordered->dir[0] = '\0';
	} else {
		snprintf(ordered->path, PATH_BYTES, "%s/%s", ordered->dir, name_of(ordered));
		rc = write_file(ordered->path, body);
	}
	return rc < 0 ? refuse(ordered, rc, "the intent cannot be written to a file") : 0;
}

// A line about the intent begins with where it is, which is nobody's business.
static json_t *line_json(const struct ordered *ordered, const char *line, size_t len)
{
	const size_t dir_len = strlen(ordered->dir);
	const bool about = dir_len > 0 && len > dir_len &&
			   strncmp(line, ordered->dir, dir_len) == 0 && line[dir_len] == '/';
	const size_t skipped = about ? dir_len + 1 : 0;

	return text_json(line + skipped, len - skipped);
}

// --- answers ----------------------------------------------------------------------------------

static int status_of(int error)
{
	static const struct {
		int error;
		int status;
	} known[] = {
		{ -ENOENT, HTTP_NOTFOUND },
		{ -EBUSY, HTTP_CONFLICT },
		{ -EPERM, HTTP_CONFLICT },
		{ -EINVAL, HTTP_BADREQUEST },
	};

	for (uint32_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		if (known[i].error == error)
			return known[i].status;
	}
	return HTTP_INTERNAL;
}

// The first line is the error, others go with it.
static void reply_refusal(struct evhttp_request *request, const struct ordered *ordered, int error)
{
	const char *at = ordered->why[0] != '\0' ? ordered->why : strerror(-error);
	const size_t first = strcspn(at, "\n");
	json_t *more = json_array();
	json_t *body = json_pack("{s:o}", "error", line_json(ordered, at, first));

	for (at += first; *at != '\0'; at += strcspn(at, "\n")) {
		at++;
		if (*at != '\0' && *at != '\n')
			json_array_append_new(more, line_json(ordered, at, strcspn(at, "\n")));
	}
	if (json_array_size(more) > 0)
		json_object_set(body, "errors", more);
	json_decref(more);
	reply_json(request, status_of(error), body);
}

static void answer(struct evhttp_request *request, const struct order_row *row,
		   struct ordered *ordered)
{
	int rc = 0;
	json_t *body;

	if (row->with_intent)
		rc = take_intent(ordered, request);
	if (rc == 0)
		rc = row->order(ordered);
	drop_intent(ordered);
	if (rc < 0) {
		reply_refusal(request, ordered, rc);
		return;
	}
	log_info("operator: %s", evhttp_request_get_uri(request));
	body = json_pack("{s:s}", "done", row->done);
	if (ordered->changes != NULL)
		json_object_set_new(body, "changes", ordered->changes);
	reply_ok(request, body);
}

static void on_order(struct evhttp_request *request, void *arg)
{
	const struct northbound_order *order = arg;
	struct ordered ordered = { .nb = order->nb, .manager = order->nb->manager };
	struct evkeyvalq query;

	if (!accept_method(request, EVHTTP_REQ_POST) || !parse_query(request, &query))
		return;
	ordered.query = &query;
	answer(request, order->row, &ordered);
	evhttp_clear_headers(&query);
}

void northbound_order_handlers(struct northbound *nb)
{
	static_assert(sizeof(rows) / sizeof(rows[0]) <= NORTHBOUND_ORDERS_MAX);
	for (uint32_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		nb->order[i] = (struct northbound_order){ nb, &rows[i] };
		evhttp_set_cb(nb->server[0], rows[i].path, on_order, &nb->order[i]);
	}
}
