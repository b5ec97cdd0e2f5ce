// SPDX-License-Identifier: BSD-3-Clause
//
// A plugin of OpenSM that times its routing engine, on the clock of the thread: from the matrix of
// distances to forwarding tables in memory. Discovery, and telling the switches, do not count.
// opensm.py compiles it against the headers of libopensm-dev.

#include <opensm/osm_config.h>

#include <opensm/osm_event_plugin.h>
#include <opensm/osm_opensm.h>
#include <opensm/osm_version.h>
#include <stdio.h>
#include <time.h>

static struct osm_opensm *sm;
static int (*engine_matrices)(void *);
static int (*engine_tables)(void *);
static double begun_ms;

static double cpu_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}

// A positive answer asks OpenSM to do it as min-hop does.
static int matrices(void *context)
{
	begun_ms = cpu_ms();
	return engine_matrices != NULL ? engine_matrices(context) : 1;
}

static int tables(void *context)
{
	struct osm_routing_engine *minhop = sm->default_routing_engine;
	int rc = engine_tables != NULL ? engine_tables(context) : 1;

	if (rc > 0)
		rc = minhop->ucast_build_fwd_tables(minhop->context);
	printf("engine cpu ms %.3f rc %d\n", cpu_ms() - begun_ms, rc);
	fflush(stdout);
	return rc;
}

static void *create(struct osm_opensm *osm)
{
	sm = osm;
	return osm;
}

static void delete_nothing(void *data)
{
	(void)data;
}

// The first event comes before the first routing, when engines are set up.
static void report(void *data, osm_epi_event_id_t id, void *event)
{
	struct osm_routing_engine *engine = sm->routing_engine_list;

	(void)data;
	(void)id;
	(void)event;
	if (engine == NULL || engine->ucast_build_fwd_tables == tables)
		return;
	engine_matrices = engine->build_lid_matrices;
	engine_tables = engine->ucast_build_fwd_tables;
	engine->build_lid_matrices = matrices;
	engine->ucast_build_fwd_tables = tables;
}

osm_event_plugin_t osm_event_plugin = {
	.osm_version = OSM_VERSION,
	.create = create,
	.delete = delete_nothing,
	.report = report,
};
