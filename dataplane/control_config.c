// SPDX-License-Identifier: BSD-3-Clause
//
// Requests become a whole configuration that is wanted: the running one with edits, or the file;
// dataplane/config_change.h does the rest. Here is who asked, and what is answered.

#include "dataplane/control_config.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include <event2/buffer.h>
#include <event2/bufferevent.h>
#include <jansson.h>

#include "dataplane/config_change.h"
#include "dataplane/config_request.h"
#include "dataplane/config_store.h"
#include "dataplane/control_reply.h"
#include "dataplane/diff_json.h"
#include "dataplane/managed.h"
#include "sys/cfg_load.h"
#include "sys/cfg_row.h"
#include "sys/log.h"
#include "sys/text_json.h"

enum { STATUS_CONFLICT = 409, WHO_BYTES = 64 };

static const char refused[] = "refused, and nothing is changed";

struct control_config {
	struct instance *in;
	struct config_changer *changer;
	char saved[CONFIG_STORE_PATH_BYTES];
};

static void name_peer(struct evhttp_request *request, char out[WHO_BYTES])
{
	struct evhttp_connection *connection = evhttp_request_get_connection(request);
	const int fd = bufferevent_getfd(evhttp_connection_get_bufferevent(connection));
	struct ucred peer;
	socklen_t len = sizeof(peer);

	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &len) == 0)
		snprintf(out, WHO_BYTES, "uid %u, pid %d", peer.uid, peer.pid);
	else
		snprintf(out, WHO_BYTES, "somebody");
}

// --- answers ----------------------------------------------------------------------------------

// Refuses with lines that say why. Takes them.
static void refuse_lines(struct evhttp_request *request, const char *why, struct lines *lines)
{
	reply_json(request, HTTP_BADREQUEST,
		   json_pack("{s:s, s:o}", "error", why, "errors", text_json_lines(lines)));
	lines_close(lines);
}

static void refuse_memory(struct evhttp_request *request)
{
	reply_error(request, HTTP_INTERNAL, strerror(ENOMEM));
}

static void refuse_waiting(struct control_config *cc, struct evhttp_request *request)
{
	char why[128];

	snprintf(why, sizeof(why),
		 "a change waits %u s more to be confirmed: confirm it or roll it back first",
		 config_changer_waits(cc->changer));
	reply_error(request, STATUS_CONFLICT, why);
}

// Answers with what has changed. Takes both lists.
static void answer(struct evhttp_request *request, int rc, json_t *changes, json_t *drops,
		   const struct config_request *asked)
{
	const bool applied = rc == 0 && !asked->dry_run && json_array_size(changes) > 0;
	json_t *body = json_pack("{s:o, s:o, s:b}", "changes", changes, "drops", drops, "applied",
				 applied);
	const char *why = rc == -EBUSY ? "it would drop packets; force does it all the same" :
					 strerror(-rc);

	if (applied && asked->confirm_s > 0)
		json_object_set_new(body, "confirm_s", json_integer(asked->confirm_s));
	if (rc != 0)
		json_object_set_new(body, "error", json_string(why));
	reply_json(request,
		   rc == 0      ? HTTP_OK :
		   rc == -EBUSY ? STATUS_CONFLICT :
				  HTTP_INTERNAL,
		   body);
}

// Makes a change and answers.
static void make_change(struct control_config *cc, struct evhttp_request *request,
			struct config_change *change)
{
	json_t *changes = NULL;
	json_t *drops = NULL;
	struct lines lines;
	char who[WHO_BYTES];
	int rc;

	if (!lines_open(&lines)) {
		refuse_memory(request);
		return;
	}
	name_peer(request, who);
	change->who = who;
	rc = config_change(cc->changer, change, &changes, &drops, lines.out);
	if (rc == -EINVAL || rc == -EAGAIN) {
		json_decref(changes);
		json_decref(drops);
	}
	if (rc == -EINVAL) {
		refuse_lines(request, refused, &lines);
		return;
	}
	lines_close(&lines);
	if (rc == -EAGAIN)
		refuse_waiting(cc, request);
	else
		answer(request, rc, changes, drops, change->request);
}

// --- requests ---------------------------------------------------------------------------------

static void edit(struct control_config *cc, struct evhttp_request *request,
		 const struct config_request *asked)
{
	struct sw_config *config = malloc(sizeof(*config));
	struct config_change change = { .request = asked,
					.config = config,
					.file_hash = cc->in->file_hash };
	struct lines lines;

	if (config == NULL || !lines_open(&lines)) {
		refuse_memory(request);
		free(config);
		return;
	}
	*config = *cc->in->written;
	if (asked->edit_count == 0)
		fputs("there are no edits in the request\n", lines.out);
	if (asked->edit_count == 0 ||
	    cfg_edit_apply(config, config_tables, CONFIG_TABLE_COUNT, asked->edits,
			   asked->edit_count, lines.out) != 0) {
		refuse_lines(request, refused, &lines);
	} else {
		lines_close(&lines);
		make_change(cc, request, &change);
	}
	free(config);
}

static void reload_file(struct control_config *cc, struct evhttp_request *request,
			const struct config_request *asked)
{
	struct sw_config *config = malloc(sizeof(*config));
	struct config_change change = { .request = asked, .config = config };
	struct lines lines;

	if (config == NULL || !lines_open(&lines)) {
		refuse_memory(request);
		free(config);
		return;
	}
	if (cfg_hash(cc->in->path, &change.file_hash, lines.out) != 0 ||
	    cfg_load(cc->in->path, config_tables, CONFIG_TABLE_COUNT, config, lines.out) != 0 ||
	    managed_merge(cc->in, config, lines.out) != 0) {
		refuse_lines(request, "the file is refused, and nothing is changed", &lines);
	} else {
		lines_close(&lines);
		make_change(cc, request, &change);
	}
	free(config);
}

static void confirm(struct control_config *cc, struct evhttp_request *request)
{
	char who[WHO_BYTES];

	name_peer(request, who);
	if (config_changer_confirm(cc->changer, who))
		reply_ok(request, json_pack("{s:s}", "done", "the change stays"));
	else
		reply_error(request, STATUS_CONFLICT, "no change waits to be confirmed");
}

static void roll_back(struct control_config *cc, struct evhttp_request *request)
{
	json_t *changes;
	char why[WHO_BYTES + 32];
	char who[WHO_BYTES];

	if (config_changer_waits(cc->changer) == 0) {
		reply_error(request, STATUS_CONFLICT,
			    "no change waits to be confirmed: there is nothing to go back to");
		return;
	}
	name_peer(request, who);
	snprintf(why, sizeof(why), "%s: the change is rolled back", who);
	changes = diff_json(cc->in->written, cc->changer->before);
	if (config_changer_go_back(cc->changer, why) == 0) {
		reply_ok(request, json_pack("{s:o}", "changes", changes));
		return;
	}
	json_decref(changes);
	reply_error(request, HTTP_INTERNAL, "there is no way back; the log says why");
}

// True when the file is not any more what runs began with.
static bool is_edited(const struct instance *in)
{
	struct lines lines;
	uint64_t hash;
	bool edited;

	if (!lines_open(&lines))
		return false;
	edited = cfg_hash(in->path, &hash, lines.out) != 0 || hash != in->file_hash;
	lines_close(&lines);
	return edited;
}

static void save(struct control_config *cc, struct evhttp_request *request)
{
	const struct instance *in = cc->in;
	json_t *body;
	char why[CONFIG_STORE_PATH_BYTES + 128];
	char who[WHO_BYTES];
	int rc;

	if (config_changer_waits(cc->changer) > 0) {
		refuse_waiting(cc, request);
		return;
	}
	rc = config_store_save(cc->saved, in->written, in->path, in->file_hash);
	if (rc != 0) {
		snprintf(why, sizeof(why), "%s: %s; what was saved before %s", cc->saved,
			 strerror(-rc), rc == -EIO ? "may be lost" : "still holds");
		log_err("%s: %s", in->config->sw.name, why);
		reply_error(request, HTTP_INTERNAL, why);
		return;
	}
	name_peer(request, who);
	log_info("%s: %s: saved to %s", in->config->sw.name, who, cc->saved);
	body = json_pack("{s:s}", "saved", cc->saved);
	if (is_edited(in))
		json_object_set_new(body, "warning",
				    json_sprintf("%s was edited since it was loaded: at the next "
						 "start it wins; reload it first to save on top "
						 "of it",
						 in->path));
	reply_ok(request, body);
}

static bool asks(const struct evkeyvalq *query, const char *what)
{
	const char *value = evhttp_find_header(query, what);

	return value != NULL && strcmp(value, "1") == 0;
}

static void on_post(struct control_config *cc, struct evhttp_request *request,
		    const struct evkeyvalq *query)
{
	struct evbuffer *body = evhttp_request_get_input_buffer(request);
	const size_t len = evbuffer_get_length(body);
	const char *text = (const char *)evbuffer_pullup(body, -1);
	struct config_request asked;
	struct lines lines;

	if (!lines_open(&lines)) {
		refuse_memory(request);
		return;
	}
	if (config_request_parse(text, len, &asked, lines.out) != 0) {
		refuse_lines(request, "the request is not understood", &lines);
		return;
	}
	lines_close(&lines);
	if (asks(query, "save"))
		save(cc, request);
	else if (asks(query, "confirm"))
		confirm(cc, request);
	else if (asks(query, "rollback"))
		roll_back(cc, request);
	else if (asks(query, "reload"))
		reload_file(cc, request, &asked);
	else
		edit(cc, request, &asked);
	config_request_release(&asked);
}

// The configuration that is kept in a file, with what the fabric makes of it when `in` is given; or
// NULL and the request has been answered.
static struct sw_config *load(const char *path, const struct instance *in,
			      struct evhttp_request *request)
{
	struct sw_config *config = malloc(sizeof(*config));
	struct lines lines;

	if (config == NULL || !lines_open(&lines)) {
		refuse_memory(request);
		free(config);
		return NULL;
	}
	if (cfg_load(path, config_tables, CONFIG_TABLE_COUNT, config, lines.out) == 0 &&
	    (in == NULL || managed_merge(in, config, lines.out) == 0)) {
		lines_close(&lines);
		return config;
	}
	refuse_lines(request, "it cannot be read", &lines);
	free(config);
	return NULL;
}

static void get_diff(struct control_config *cc, struct evhttp_request *request, const char *from)
{
	const bool saved = strcmp(from, "saved") == 0;
	struct sw_config *config;

	if (!saved && strcmp(from, "file") != 0) {
		reply_error(request, HTTP_BADREQUEST, "diff: file or saved");
		return;
	}
	config = load(saved ? cc->saved : cc->in->path, cc->in, request);
	if (config == NULL)
		return;
	reply_ok(request, json_pack("{s:s, s:o}", "from", saved ? cc->saved : cc->in->path,
				    "changes", diff_json(config, cc->in->written)));
	free(config);
}

static void get_text(struct control_config *cc, struct evhttp_request *request,
		     const struct sw_config *config, const char *name)
{
	const struct config_table *table = NULL;
	struct lines lines;
	const char *text;
	int rc;

	if (name != NULL)
		table = cfg_find_table(config_tables, CONFIG_TABLE_COUNT, name);
	if (name != NULL && table == NULL) {
		reply_error(request, HTTP_BADREQUEST, "no such table");
		return;
	}
	if (!lines_open(&lines)) {
		refuse_memory(request);
		return;
	}
	rc = table != NULL ? cfg_dump_table(config, table, lines.out) :
			     cfg_dump(config, config_tables, CONFIG_TABLE_COUNT, lines.out);
	text = lines_text(&lines);
	if (rc == 0)
		reply_ok(request, json_pack("{s:s, s:o}", "name", cc->in->config->sw.name, "text",
					    text_json(text, strlen(text))));
	else
		reply_error(request, HTTP_INTERNAL, strerror(-rc));
	lines_close(&lines);
}

static void on_get(struct control_config *cc, struct evhttp_request *request,
		   const struct evkeyvalq *query)
{
	const char *from = evhttp_find_header(query, "diff");
	const char *table = evhttp_find_header(query, "table");
	struct sw_config *saved;

	if (from != NULL) {
		get_diff(cc, request, from);
	} else if (asks(query, "saved")) {
		saved = load(cc->saved, NULL, request);
		if (saved != NULL)
			get_text(cc, request, saved, table);
		free(saved);
	} else {
		get_text(cc, request, cc->in->written, table);
	}
}

static void on_config(struct evhttp_request *request, void *arg)
{
	const bool is_post = evhttp_request_get_command(request) == EVHTTP_REQ_POST;
	struct control_config *cc = arg;
	struct evkeyvalq query;

	if (!parse_query(request, &query))
		return;
	if (is_post)
		on_post(cc, request, &query);
	else
		on_get(cc, request, &query);
	evhttp_clear_headers(&query);
}

struct control_config *control_config_open(struct evhttp *server, struct config_changer *changer,
					   const char *state_dir)
{
	struct control_config *cc = calloc(1, sizeof(*cc));

	if (cc == NULL)
		return NULL;
	cc->in = changer->in;
	cc->changer = changer;
	if (config_store_path(state_dir, cc->in->config->sw.name, cc->saved) == 0 &&
	    evhttp_set_cb(server, "/v1/config", on_config, cc) == 0)
		return cc;
	control_config_close(cc);
	return NULL;
}

void control_config_close(struct control_config *cc)
{
	free(cc);
}
