// SPDX-License-Identifier: BSD-3-Clause
//
// Writing tables: groups of a switch are numbered by first use, so equal plans give equal files,
// however they came about.

#include "fabricmgr/tables.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "fabricmgr/tables_path.h"
#include "sys/cfg_address.h"

struct dump {
	const struct planner *planner;
	const char *directory;
	FILE *errors;
	FILE *file;
};

static int complain(const struct dump *d, const char *path, int error)
{
	fprintf(d->errors, "%s: %s\n", path, strerror(error));
	return -error;
}

static int dump_close(struct dump *d, const char *path)
{
	const int failed = ferror(d->file);

	if (fclose(d->file) != 0 || failed)
		return complain(d, path, EIO);
	return 0;
}

static void put_port(const struct dump *d, uint32_t at, uint32_t link)
{
	char name[FABRIC_NAME_BYTES];

	fputs(fabric_port_name(&d->planner->fabric->switches[at],
			       d->planner->graph->topo.link_port[link], name),
	      d->file);
}

static void put_group(const struct dump *d, uint32_t at, uint32_t number, uint16_t row)
{
	const struct plan *plan = &d->planner->plan;
	const struct plan_group *group = &plan->group[row];

	fprintf(d->file, "group %u", number);
	if (group->pin > 0)
		fprintf(d->file, " pin %u", group->pin);
	for (uint32_t i = 0; i < group->hop_count; i++) {
		const struct plan_hop *hop = &plan->hop[group->first + i];

		fputc(' ', d->file);
		put_port(d, at, d->planner->graph->topo.link_first[at] + hop->link);
		if (hop->weight > 1)
			fprintf(d->file, "*%u", hop->weight);
	}
	fputc('\n', d->file);
}

static void put_table(const struct dump *d, uint32_t at, const struct plan_table *table)
{
	const struct topo *topo = &d->planner->graph->topo;
	const struct fabric_switch *switches = d->planner->fabric->switches;

	fprintf(d->file, "# weft table 1\nswitch %s\n", switches[at].name);
	for (uint32_t link = topo->link_first[at]; link < topo->link_first[at + 1]; link++) {
		fputs("class ", d->file);
		put_port(d, at, link);
		fprintf(d->file, " %u\n", d->planner->plan.turns.link_class[link]);
	}
	for (uint32_t i = 0; i < table->group_count; i++)
		put_group(d, at, i, table->group[i]);
	for (uint32_t e = 0; e < topo->edge_count; e++) {
		const char *name = switches[topo->edge_switch[e]].name;

		if (table->row[e] == PLAN_LOCAL)
			fprintf(d->file, "to %s local\n", name);
		else if (table->row[e] != PLAN_NONE)
			fprintf(d->file, "to %s %u\n", name, table->row[e]);
	}
}

static int dump_switch(struct dump *d, uint32_t at)
{
	const struct planner *p = d->planner;
	const size_t mark = arena_mark(p->keep);
	char path[TABLES_PATH_BYTES];
	struct plan_table table;

	if (plan_table(&p->plan, at, p->keep, p->scratch, &table) < 0)
		return complain(d, d->directory, ENOMEM);
	tables_path(d->directory, p->fabric->switches[at].name, path);
	d->file = fopen(path, "we");
	if (d->file == NULL)
		return complain(d, path, errno);
	put_table(d, at, &table);
	arena_release(p->keep, mark);
	return dump_close(d, path);
}

static void put_lane(const struct dump *d, uint8_t lane)
{
	if (lane == TURN_DENY)
		fputs(" deny\n", d->file);
	else
		fprintf(d->file, " %u\n", lane);
}

static void put_exception(const struct dump *d, const struct turn_exception *except)
{
	const struct topo *topo = &d->planner->graph->topo;
	const uint32_t at = topo->link_switch[except->out];

	fprintf(d->file, "except %s ", d->planner->fabric->switches[at].name);
	if (except->in == TOPO_NONE)
		fputs("host", d->file);
	else
		put_port(d, at, except->in);
	fputc(' ', d->file);
	put_port(d, at, except->out);
	fprintf(d->file, " %u", except->lane);
	put_lane(d, except->to);
}

static void put_turns(const struct dump *d)
{
	const struct turn_rules *rules = &d->planner->plan.turns;
	const uint32_t classes = rules->class_count;

	fprintf(d->file, "# weft turns 1\nlanes %u\nclasses %u\n", rules->lane_count, classes);
	for (uint32_t turn = 0; turn < classes * classes * LANE_MAX; turn++) {
		if (rules->lane[turn] == TURN_DENY)
			continue;
		fprintf(d->file, "turn %u %u %u", turn / LANE_MAX / classes,
			turn / LANE_MAX % classes, turn % LANE_MAX);
		put_lane(d, rules->lane[turn]);
	}
	for (uint32_t i = 0; i < rules->exception_count; i++)
		put_exception(d, &rules->exception[i]);
}

static int dump_turns(struct dump *d)
{
	char path[TABLES_PATH_BYTES];

	snprintf(path, sizeof(path), "%s/turns", d->directory);
	d->file = fopen(path, "we");
	if (d->file == NULL)
		return complain(d, path, errno);
	put_turns(d);
	return dump_close(d, path);
}

static void put_tenants(const struct dump *d, const struct tenants *tenants)
{
	const struct fabric *fabric = d->planner->fabric;

	fputs("# weft tenants 1\n", d->file);
	for (uint32_t i = 0; i < fabric->host_port_count; i++) {
		const struct fabric_host_port *port = &fabric->host_ports[i];
		const uint32_t tenant = fabric->hosts[port->host].tenant;
		char name[FABRIC_NAME_BYTES];

		if (tenant != 0)
			fprintf(d->file, "port %s %s %s\n", fabric->tenants[tenant],
				fabric->switches[port->at].name,
				fabric_port_name(&fabric->switches[port->at], port->port, name));
	}
	for (uint32_t i = 0; i < tenants->rule_count; i++) {
		char prefix[IP_PREFIX_TEXT_BYTES];

		ip_prefix_format(&tenants->rule[i].to, prefix);
		fprintf(d->file, "permit %s %s\n", fabric->tenants[tenants->rule[i].tenant],
			prefix);
	}
}

static int dump_tenants(struct dump *d, const struct tenants *tenants)
{
	char path[TABLES_PATH_BYTES];

	if (d->planner->fabric->tenant_count < 2)
		return 0;
	snprintf(path, sizeof(path), "%s/tenants", d->directory);
	d->file = fopen(path, "we");
	if (d->file == NULL)
		return complain(d, path, errno);
	put_tenants(d, tenants);
	return dump_close(d, path);
}

int tables_dump(const struct planner *planner, const struct tenants *tenants, const char *directory,
		FILE *errors)
{
	struct dump d = { .planner = planner, .directory = directory, .errors = errors };
	int rc = 0;

	if (mkdir(directory, 0777) < 0 && errno != EEXIST)
		return complain(&d, directory, errno);
	for (uint32_t s = 0; rc == 0 && s < planner->plan.switch_count; s++)
		rc = dump_switch(&d, s);
	if (rc == 0)
		rc = dump_tenants(&d, tenants);
	return rc == 0 ? dump_turns(&d) : rc;
}
