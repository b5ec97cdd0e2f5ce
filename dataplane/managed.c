// SPDX-License-Identifier: BSD-3-Clause
//
// A change by the fabric is a change like any other (config_change.h), forced: what it drops was
// known to the manager, whose plan it is. A change that waits to be confirmed is no obstacle; what
// it goes back to gets the fabric's new tables as well.

#include "dataplane/managed.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "dataplane/fabric_agent.h"
#include "dataplane/fabric_counters.h"
#include "schema/fabric.gen.h"
#include "sys/cfg_diff.h"
#include "sys/lines.h"
#include "sys/log.h"
#include "sys/text_json.h"

enum { REDIAL_S = 60 };

struct managed {
	struct event_base *base;
	struct config_changer *changer;
	struct instance *in;
	const char *state_dir;
	struct fabric_agent *agent; // NULL: it could not be made, which is tried again
	struct fabric_counters *counters;
	struct event *redial;
};

static const char who[] = "fabric manager";

// --- what is whose ----------------------------------------------------------------------------

// What the tables make of a configuration, to be freed; NULL with *rc.
static struct sw_config *merged(const struct fabric_tables *tables, const struct sw_config *own,
				FILE *errors, int *rc)
{
	const struct fabric_side side = fabric_tables_side(tables);
	struct sw_config *config = malloc(sizeof(*config));

	*rc = config != NULL ? fabric_merge(own, &side, config, errors) : -ENOMEM;
	if (*rc == 0)
		return config;
	free(config);
	return NULL;
}

int managed_merge(const struct instance *in, struct sw_config *config, FILE *errors)
{
	struct sw_config *whole;
	int rc = 0;

	if (!managed_is(config))
		return 0;
	if (in->fabric == NULL) {
		fabric_merge_none(config);
		return 0;
	}
	whole = merged(in->fabric, config, errors, &rc);
	if (whole != NULL)
		*config = *whole;
	free(whole);
	return rc;
}

static int judge_tables(const struct instance *in, const struct sw_config *wanted, FILE *errors)
{
	int rc;
	struct sw_config *whole = merged(in->fabric, wanted, errors, &rc);
	struct lines lines;
	char *line;
	char *rest;

	if (whole == NULL)
		return rc;
	if (!lines_open(&lines)) {
		free(whole);
		return -ENOMEM;
	}
	if (cfg_diff(whole, wanted, config_tables, CONFIG_TABLE_COUNT, lines.out) != 0)
		rc = -EINVAL;
	lines_text(&lines);
	rest = lines.text;
	while ((line = strsep(&rest, "\n")) != NULL) {
		if (line[0] != '\0')
			fprintf(errors, "the fabric manager decides about this: %s\n", line);
	}
	lines_close(&lines);
	free(whole);
	return rc;
}

int managed_judge(const struct instance *in, const struct sw_config *wanted, FILE *errors)
{
	if (!managed_is(wanted) || !managed_is(in->written))
		return 0;
	if (in->fabric != NULL)
		return judge_tables(in, wanted, errors);
	if (wanted->sw.forwarding == CONFIG_FORWARDING_MANAGED)
		return 0;
	fputs("forwarding: a switch with a fabric manager forwards what that says\n", errors);
	return -EINVAL;
}

// --- start ------------------------------------------------------------------------------------

// Reads what ran before. NULL: nothing, or it is of no use, which is logged.
static struct fabric_tables *read_tables(const struct instance *in, const char *state_dir)
{
	const char *name = in->written->sw.name;
	struct fabric_tables *tables = NULL;
	struct fabric_record record;
	struct fabric_store store;
	struct lines lines;
	int rc;

	if (fabric_store_open(&store, state_dir, name) != 0 || !lines_open(&lines))
		return NULL;
	rc = fabric_store_read(&store, &record, lines.out);
	if (rc == 0 && record.running.generation.number != 0)
		rc = fabric_tables_read(&store, &record.running, &tables, lines.out);
	if (rc != 0) {
		lines_log(&lines);
		log_err("%s: what it had of its fabric cannot be used", name);
	}
	lines_close(&lines);
	return tables;
}

// Makes the instance anew of another configuration.
static int start_with(struct instance *in, const struct sw_config *config)
{
	struct instance next = { .path = in->path, .file_hash = in->file_hash };
	int rc;

	next.written = malloc(sizeof(*next.written));
	if (next.written == NULL)
		return -ENOMEM;
	*next.written = *config;
	rc = instance_make(&next, log_faults());
	if (rc != 0)
		return rc;
	instance_unload(in);
	*in = next;
	return 0;
}

static int start_with_tables(struct instance *in, struct fabric_tables *tables)
{
	struct sw_config *config;
	int rc;

	config = merged(tables, in->written, log_faults(), &rc);
	if (config == NULL)
		return rc;
	rc = start_with(in, config);
	free(config);
	if (rc == 0)
		in->fabric = tables;
	return rc;
}

void managed_start(struct instance *in, const char *state_dir)
{
	struct fabric_tables *tables;

	if (!managed_is(in->written))
		return;
	tables = read_tables(in, state_dir);
	if (tables != NULL && start_with_tables(in, tables) == 0) {
		log_info("%s: started with generation %llu of its fabric", in->written->sw.name,
			 (unsigned long long)tables->set.generation.number);
		return;
	}
	if (tables != NULL)
		log_err("%s: it cannot start with what it had of its fabric", in->written->sw.name);
	else
		log_info("%s: it has nothing of its fabric yet and forwards nothing",
			 in->written->sw.name);
	fabric_tables_free(tables);
}

void managed_unload(struct instance *in)
{
	fabric_tables_free(in->fabric);
	in->fabric = NULL;
}

// --- what the agent does to the switch --------------------------------------------------------

static int change(const struct managed *managed, const struct sw_config *config, bool dry_run,
		  FILE *errors)
{
	const struct config_request request = { .force = true, .dry_run = dry_run };
	const struct config_change wanted = { .request = &request,
					      .config = config,
					      .file_hash = managed->in->file_hash,
					      .who = who,
					      .by_fabric = true };
	json_t *changes = NULL;
	json_t *drops = NULL;
	const int rc = config_change(managed->changer, &wanted, &changes, &drops, errors);
	const json_t *drop;
	size_t i;

	if (rc == 0 && !dry_run)
		json_array_foreach(drops, i, drop)
			log_whole(LOG_LEVEL_WARN, "%s: it drops packets: %s",
				  managed->in->config->sw.name, json_string_value(drop));
	json_decref(changes);
	json_decref(drops);
	return rc;
}

static int check(void *arg, const struct fabric_tables *tables, FILE *errors)
{
	const struct managed *managed = arg;
	int rc;
	struct sw_config *config = merged(tables, managed->in->written, errors, &rc);

	if (config != NULL)
		rc = change(managed, config, true, errors);
	free(config);
	return rc;
}

static int use(void *arg, struct fabric_tables *tables, FILE *errors)
{
	struct managed *managed = arg;
	struct config_changer *changer = managed->changer;
	int rc;
	struct sw_config *before = NULL;
	struct sw_config *config = merged(tables, managed->in->written, errors, &rc);

	if (config != NULL && changer->before != NULL)
		before = merged(tables, changer->before, errors, &rc);
	if (rc == 0)
		rc = change(managed, config, false, errors);
	if (rc == 0) {
		if (before != NULL)
			*changer->before = *before;
		fabric_tables_free(managed->in->fabric);
		managed->in->fabric = tables;
	}
	free(before);
	free(config);
	return rc;
}

static const struct fabric_tables *running(void *arg)
{
	const struct managed *managed = arg;

	return managed->in->fabric;
}

static bool usable(void *arg, uint32_t port)
{
	const struct managed *managed = arg;
	const struct instance *in = managed->in;
	const char *name = in->fabric->config->port[port].name;

	for (uint32_t i = 0; i < in->port_count; i++) {
		if (strcmp(in->config->port[i].name, name) == 0)
			return in->io[i].active && sw_port_usable(in->sw, (port_t){ (uint16_t)i });
	}
	return false;
}

static int report(void *arg, struct rpc_report *message)
{
	const struct managed *managed = arg;

	return fabric_counters_report(managed->counters, message);
}

static void answered(void *arg, bool again)
{
	const struct managed *managed = arg;

	fabric_counters_answered(managed->counters, again);
}

static void forget(void *arg)
{
	const struct managed *managed = arg;

	fabric_counters_forget(managed->counters);
}

static const struct fabric_switch calls = {
	.check = check,
	.use = use,
	.running = running,
	.usable = usable,
	.report = report,
	.answered = answered,
	.forget = forget,
};

// --- life -------------------------------------------------------------------------------------

// A switch that cannot ask forwards all the same: its certificates may have run out.
static void dial(struct managed *managed)
{
	static const struct timeval later = { .tv_sec = REDIAL_S };
	const struct switch_config *sw = &managed->in->config->sw;
	struct tls_files tls = { 0 };
	struct fabric_agent_options options = {
		.name = sw->name,
		.address = sw->manager,
		.state_dir = managed->state_dir,
		.sw = &calls,
		.arg = managed,
	};

	snprintf(tls.authority, sizeof(tls.authority), "%s", sw->manager_authority);
	snprintf(tls.certificate, sizeof(tls.certificate), "%s", sw->manager_certificate);
	snprintf(tls.key, sizeof(tls.key), "%s", sw->manager_key);
	options.tls = tls.certificate[0] != '\0' ? &tls : NULL;
	managed->agent = fabric_agent_open(managed->base, &options);
	if (managed->agent == NULL)
		evtimer_add(managed->redial, &later);
}

static void on_redial(evutil_socket_t fd, short what, void *arg)
{
	managed_redial(arg);
}

int managed_open(struct event_base *base, struct config_changer *changer, const char *state_dir)
{
	struct managed *managed;

	if (!managed_is(changer->in->config))
		return 0;
	managed = calloc(1, sizeof(*managed));
	if (managed == NULL)
		return -ENOMEM;
	*managed = (struct managed){
		.base = base,
		.changer = changer,
		.in = changer->in,
		.state_dir = state_dir,
		.redial = evtimer_new(base, on_redial, managed),
		.counters = fabric_counters_open(changer->workers, changer->in),
	};
	if (managed->redial == NULL || managed->counters == NULL) {
		managed_close(managed);
		return -ENOMEM;
	}
	changer->in->managed = managed;
	dial(managed);
	return 0;
}

void managed_redial(struct managed *managed)
{
	if (managed == NULL)
		return;
	fabric_agent_close(managed->agent);
	dial(managed);
}

void managed_close(struct managed *managed)
{
	if (managed == NULL)
		return;
	fabric_agent_close(managed->agent);
	fabric_counters_close(managed->counters);
	if (managed->redial != NULL)
		event_free(managed->redial);
	managed->in->managed = NULL;
	free(managed);
}

void managed_look(struct managed *managed)
{
	if (managed != NULL)
		fabric_agent_look(managed->agent);
}

static json_t *generation_json(const struct follower_generation *generation)
{
	if (generation->number == 0)
		return json_null();
	return json_pack("{s:I, s:I, s:o}", "epoch", (json_int_t)generation->epoch, "number",
			 (json_int_t)generation->number, "hash",
			 json_sprintf("%016llx", (unsigned long long)generation->hash));
}

static json_t *said(const char *text)
{
	return text_json(text, strlen(text));
}

json_t *managed_json(const struct managed *managed)
{
	struct fabric_agent_status status;
	json_t *body;

	if (managed == NULL)
		return NULL;
	if (managed->agent == NULL)
		return json_pack("{s:o, s:b, s:s}", "manager",
				 said(managed->in->config->sw.manager), "connected", false, "error",
				 "it cannot be called: the log says why");
	fabric_agent_status(managed->agent, &status);
	body = json_pack("{s:o, s:b, s:I, s:I, s:I, s:o, s:o, s:I}", "manager",
			 said(status.address), "connected", status.connected, "since_s",
			 (json_int_t)status.since_s, "boot", (json_int_t)status.boot, "epoch",
			 (json_int_t)status.epoch, "running", generation_json(&status.running),
			 "prepared", generation_json(&status.prepared), "events_due",
			 (json_int_t)status.events_due);
	if (body != NULL && status.error[0] != '\0') {
		json_object_set_new(body, "error", said(status.error));
		json_object_set_new(body, "error_s", json_integer((json_int_t)status.error_s));
	}
	return body;
}
