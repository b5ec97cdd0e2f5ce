// SPDX-License-Identifier: BSD-3-Clause
//
// One row per form of a file. What is read goes into memory that the source has reserved, and what
// is planned on it as well; rules that only the intent has are made of it here, so that a fabric
// from elsewhere is planned by the defaults.

#include "fabricmgr/source.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "fabricmgr/core/import_dot.h"
#include "fabricmgr/core/import_ibnet.h"
#include "fabricmgr/core/import_lfts.h"
#include "fabricmgr/fabric_json.h"
#include "fabricmgr/intent_fabric.h"
#include "fabricmgr/memory.h"
#include "sys/file_read.h"
#include "sys/nearest.h"

enum { FILE_BYTES_MAX = 1 << 30, ENGINE_BYTES = 32, ROCE_DSCP = 26 };

// --- files ------------------------------------------------------------------------------------

// The whole of a file, to be freed. -errno after a line.
static int read_file(const char *path, char **text, size_t *bytes, FILE *errors)
{
	const int rc = file_read(path, FILE_BYTES_MAX, text, bytes);

	if (rc < 0)
		fprintf(errors, "%s: %s\n", path,
			rc == -ENOTSUP ? "not a regular file" : strerror(-rc));
	return rc;
}

// --- forms of files ---------------------------------------------------------------------------

static int open_intent(struct source *source, const char *path, FILE *errors)
{
	int rc;

	free(source->intent);
	source->intent = NULL;
	rc = intent_load(path, &source->intent, errors);
	if (rc < 0)
		return rc;
	return intent_fabric(source->intent, path, &source->keep, &source->scratch, &source->fabric,
			     errors);
}

// Faults of an importer, or of what it read.
static int finish(struct source *source, const char *path, int rc, struct fabric_faults *faults,
		  FILE *errors)
{
	if (rc == 0)
		rc = fabric_finish(&source->fabric, &source->scratch, faults);
	intent_faults(faults, path, 0, errors);
	if (rc == -ENOMEM && faults->count == 0)
		fprintf(errors, "%s: memory is short\n", path);
	return rc;
}

typedef int import_fn(const char *text, size_t bytes, struct fabric *fabric, struct arena *scratch,
		      struct fabric_faults *faults);

static int open_import(struct source *source, const char *path, import_fn *import, FILE *errors)
{
	struct fabric_faults faults = { .count = 0 };
	char *text;
	size_t bytes = 0;
	int rc = read_file(path, &text, &bytes, errors);

	if (rc < 0)
		return rc;
	rc = fabric_init(&source->fabric, &source->keep);
	if (rc == 0)
		rc = import(text, bytes, &source->fabric, &source->scratch, &faults);
	free(text);
	return finish(source, path, rc, &faults, errors);
}

static int open_ibnet(struct source *source, const char *path, FILE *errors)
{
	return open_import(source, path, import_ibnet, errors);
}

static int open_dot(struct source *source, const char *path, FILE *errors)
{
	return open_import(source, path, import_dot, errors);
}

static int open_json(struct source *source, const char *path, FILE *errors)
{
	struct fabric_faults faults = { .count = 0 };
	json_error_t error;
	json_t *object = json_load_file(path, JSON_REJECT_DUPLICATES, &error);
	int rc;

	if (object == NULL) {
		fprintf(errors, "%s:%d: %s\n", path, error.line, error.text);
		return -EINVAL;
	}
	rc = fabric_init(&source->fabric, &source->keep);
	if (rc == 0)
		rc = fabric_from_json(object, &source->fabric, errors);
	json_decref(object);
	return rc == -EINVAL ? rc : finish(source, path, rc, &faults, errors);
}

// The form of a file by the word before its name.
static const struct {
	const char *word;
	int (*open)(struct source *source, const char *path, FILE *errors);
} forms[] = {
	{ "ibnetdiscover:", open_ibnet }, { "dot:", open_dot }, { "json:", open_json },
	{ "intent:", open_intent },       { "", open_intent },
};

int source_open(struct source *source, const char *name, FILE *errors)
{
	struct fabric_faults faults = { .count = 0 };
	uint32_t form = 0;
	int rc;

	*source = (struct source){ .intent = intent_default() };
	if (!memory_open(&source->keep) || !memory_open(&source->scratch) ||
	    source->intent == NULL) {
		fprintf(errors, "%s: memory is short\n", name);
		return -ENOMEM;
	}
	while (strncmp(name, forms[form].word, strlen(forms[form].word)) != 0)
		form++;
	name += strlen(forms[form].word);
	rc = forms[form].open(source, name, errors);
	if (rc < 0)
		return rc;
	rc = fabric_graph_build(&source->fabric, &source->keep, &source->scratch, &source->graph,
				&faults);
	intent_faults(&faults, name, 0, errors);
	return rc;
}

void source_close(struct source *source)
{
	memory_close(&source->keep);
	memory_close(&source->scratch);
	free(source->intent);
}

// Hosts of the graph are ends of LIDs; of several a port's own number is the first.
static int use_lids(struct source *source, const struct import_lfts *lfts)
{
	struct fabric_graph *graph = &source->graph;
	uint32_t *host_of = arena_take_raw(&source->keep, lfts->topo.host_count, sizeof(*host_of));

	if (host_of == NULL)
		return -ENOMEM;
	for (uint32_t i = lfts->topo.host_count; i-- > 0;) {
		host_of[i] = graph->host_of[lfts->edge_host[i]];
		graph->host_number[host_of[i]] = i;
		graph->switch_edge[lfts->topo.edge_switch[i]] = i;
	}
	graph->host_of = host_of;
	graph->topo = lfts->topo;
	return 0;
}

int source_lfts(struct source *source, const char *path, struct plan *plan, FILE *errors)
{
	struct fabric_faults faults = { .count = 0 };
	struct import_lfts lfts;
	char *text;
	size_t bytes = 0;
	int rc = read_file(path, &text, &bytes, errors);

	if (rc < 0)
		return rc;
	rc = import_lfts(text, bytes, &source->fabric, &source->graph, &source->keep,
			 &source->scratch, &lfts, &faults);
	free(text);
	intent_faults(&faults, path, 0, errors);
	if (rc == 0)
		rc = use_lids(source, &lfts);
	if (rc == 0)
		*plan = lfts.plan;
	return rc;
}

// --- rules ------------------------------------------------------------------------------------

static bool add_engine(const char *name, const char *where, struct planner_options *options,
		       FILE *errors)
{
	struct nearest near = nearest_to(name);

	for (uint32_t i = 0; i < PLANNER_ENGINES; i++) {
		nearest_offer(&near, planner_engine_names[i]);
		if (strcmp(planner_engine_names[i], name) != 0)
			continue;
		if (options->engine_count < PLANNER_ENGINES)
			options->engine[options->engine_count++] = (enum planner_engine)i;
		return true;
	}
	fprintf(errors, "%s: there is no engine \"%s\"", where, name);
	if (near.best != NULL)
		fprintf(errors, "; did you mean %s?\n", near.best);
	else
		fputs("; allowed: tree, dmodk, torus, hybrid, minhop, updown\n", errors);
	return false;
}

bool source_engines(const char *names, const char *where, struct planner_options *options,
		    FILE *errors)
{
	options->engine_count = 0;
	for (const char *at = names; *at != '\0';) {
		const size_t len = strcspn(at, ", ");
		char name[ENGINE_BYTES];

		snprintf(name, sizeof(name), "%.*s", (int)len, at);
		if (len > 0 && !add_engine(name, where, options, errors))
			return false;
		at += len + (at[len] != '\0');
	}
	return true;
}

bool source_rules(const struct source *source, const char *name, struct planner_options *options,
		  FILE *errors)
{
	const struct intent_fabric *top = &source->intent->fabric;
	const uint64_t rows = (uint64_t)source->graph.topo.edge_count *
			      source->graph.topo.switch_count;
	char where[256];

	snprintf(where, sizeof(where), "%s: engine", name);
	options->tree.weights = top->weights == INTENT_EXACT ? VALLEY_FREE_EXACT :
							       VALLEY_FREE_PLAIN;
	options->tree.churn_rows = rows * top->churn / 1000000;
	return source_engines(top->engine, where, options, errors);
}

static struct qos_class class_of(const struct intent_class *row)
{
	struct qos_class class = { .name = row->name,
				   .lossless = row->lossless != 0,
				   .ecn = row->ecn != 0,
				   .share_ppm = (uint32_t)row->share };

	for (uint32_t i = 0; i < row->dscp.count; i++)
		class.dscp |= 1ull << row->dscp.value[i];
	return class;
}

struct qos_options source_qos(const struct source *source, uint32_t lanes)
{
	const struct intent *intent = source->intent;
	struct qos_options options = {
		.class = { { .name = "roce",
			     .dscp = 1ull << ROCE_DSCP,
			     .lossless = true,
			     .ecn = true,
			     .share_ppm = 500000 } },
		.class_count = intent->class_count > 0 ? intent->class_count : 1,
		.lanes = lanes,
		.mtu = (uint32_t)intent->fabric.mtu,
		.ring_frames = (uint32_t)intent->fabric.ring,
		.cell_bytes = (uint32_t)intent->fabric.cell,
		.gap_ns = intent->fabric.poll_gap,
	};

	for (uint32_t i = 0; i < intent->class_count; i++)
		options.class[i] = class_of(&intent->class[i]);
	return options;
}
