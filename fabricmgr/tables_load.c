// SPDX-License-Identifier: BSD-3-Clause
//
// Reading tables line by line. They may have been edited or come from elsewhere, so every name and
// number is checked here, and that rows lead anywhere is the verifier's to say.

#include "fabricmgr/tables.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/units.h"
#include "fabricmgr/tables_path.h"

enum { ERRORS_MAX = 20, WORDS_MAX = TOPO_DEGREE_MAX + 4, TABLE_GROUPS_MAX = PLAN_GROUP_MAX };

struct load {
	struct planner *planner;
	FILE *errors;
	uint32_t error_count;
	const char *path;
	uint32_t line;
	char *word[WORDS_MAX];
	uint32_t word_count;
	uint32_t at;     // switch of the file
	uint16_t *group; // [TABLE_GROUPS_MAX] of the file's numbers: that in the plan, PLAN_NONE
	uint32_t exception_room;
	bool memory_short;
};

__attribute__((format(printf, 2, 3))) static void complain(struct load *l, const char *format, ...)
{
	va_list args;

	if (l->error_count++ >= ERRORS_MAX)
		return;
	fprintf(l->errors, "%s:%u: ", l->path, l->line);
	va_start(args, format);
	vfprintf(l->errors, format, args);
	va_end(args);
	fputc('\n', l->errors);
}

static const struct topo *topo_of(const struct load *l)
{
	return &l->planner->graph->topo;
}

// --- words ------------------------------------------------------------------------------------

// Splits a line at blanks; what follows a # is a comment.
static void split(struct load *l, char *line)
{
	char *rest = line;

	l->word_count = 0;
	line[strcspn(line, "#\r\n")] = '\0';
	for (char *word = strsep(&rest, " \t"); word != NULL; word = strsep(&rest, " \t")) {
		if (word[0] != '\0' && l->word_count < WORDS_MAX)
			l->word[l->word_count++] = word;
	}
}

static bool is(const struct load *l, const char *word, uint32_t least, uint32_t most)
{
	return strcmp(l->word[0], word) == 0 && l->word_count >= least && l->word_count <= most;
}

static bool number(struct load *l, const char *text, uint64_t most, uint32_t *value)
{
	uint64_t wide;

	if (!unit_parse(UNIT_COUNT, text, strlen(text), &wide) || wide > most) {
		complain(l, "%s: not a number up to %llu", text, (unsigned long long)most);
		return false;
	}
	*value = (uint32_t)wide;
	return true;
}

static bool find_switch(struct load *l, const char *name, uint32_t *at)
{
	*at = fabric_find_switch(l->planner->fabric, name);
	if (*at == FABRIC_NONE)
		complain(l, "there is no switch %s", name);
	return *at != FABRIC_NONE;
}

// The link of a port to another switch.
static bool find_link(struct load *l, uint32_t at, const char *name, uint32_t *link)
{
	uint16_t port;

	*link = TOPO_NONE;
	if (fabric_find_port(&l->planner->fabric->switches[at], name, &port))
		*link = topo_link_at(topo_of(l), at, port);
	if (*link == TOPO_NONE)
		complain(l, "%s has no link to a switch at port %s",
			 l->planner->fabric->switches[at].name, name);
	return *link != TOPO_NONE;
}

static bool find_lane(struct load *l, const char *text, uint8_t *lane)
{
	uint32_t value = TURN_DENY;

	if (strcmp(text, "deny") != 0 && !number(l, text, LANE_MAX - 1, &value))
		return false;
	*lane = (uint8_t)value;
	return true;
}

// --- tables -----------------------------------------------------------------------------------

static int compare_hops(const void *a, const void *b)
{
	const struct plan_hop *first = a, *second = b;

	return (int)first->link - (int)second->link;
}

static uint32_t divisor(uint32_t a, uint32_t b)
{
	while (b != 0) {
		const uint32_t rest = a % b;

		a = b;
		b = rest;
	}
	return a;
}

// "Ethernet4" or "Ethernet4*3".
static bool read_hop(struct load *l, char *text, struct plan_hop *hop)
{
	char *star = strrchr(text, '*');
	uint32_t link, weight = 1;

	if (star != NULL) {
		*star = '\0';
		if (!number(l, star + 1, UINT16_MAX, &weight))
			return false;
		if (weight == 0) {
			complain(l, "%s: a weight is 1 or more", text);
			return false;
		}
	}
	if (!find_link(l, l->at, text, &link))
		return false;
	*hop = (struct plan_hop){ (uint16_t)(link - topo_of(l)->link_first[l->at]),
				  (uint16_t)weight };
	return true;
}

static void add_group(struct load *l, uint32_t number_in_file, struct plan_hop *hops,
		      uint32_t count, uint32_t pin)
{
	uint32_t common = 0;
	int rc;

	qsort(hops, count, sizeof(*hops), compare_hops);
	for (uint32_t i = 0; i < count; i++) {
		common = divisor(hops[i].weight, common);
		if (i > 0 && hops[i].link == hops[i - 1].link) {
			complain(l, "a port twice in one group");
			return;
		}
	}
	for (uint32_t i = 0; i < count; i++)
		hops[i].weight = (uint16_t)(hops[i].weight / common);
	rc = plan_group(&l->planner->plan, hops, count, pin, &l->group[number_in_file]);
	if (rc == -EOVERFLOW)
		complain(l, "there are too many different groups");
	l->memory_short |= rc == -ENOMEM;
}

static void read_group(struct load *l)
{
	struct plan_hop hops[TOPO_DEGREE_MAX];
	const bool pinned = l->word_count > 3 && strcmp(l->word[2], "pin") == 0;
	const uint32_t first = pinned ? 4 : 2;
	uint32_t name, pin = 0;

	if (l->word_count <= first || l->word_count - first > TOPO_DEGREE_MAX) {
		complain(l, "a group has 1 to %d ports", TOPO_DEGREE_MAX);
		return;
	}
	if (!number(l, l->word[1], TABLE_GROUPS_MAX - 1, &name) ||
	    (pinned && !number(l, l->word[3], UINT32_MAX, &pin)))
		return;
	for (uint32_t i = first; i < l->word_count; i++) {
		if (!read_hop(l, l->word[i], &hops[i - first]))
			return;
	}
	add_group(l, name, hops, l->word_count - first, pin);
}

static void read_row(struct load *l)
{
	struct plan *plan = &l->planner->plan;
	uint32_t to, name, edge;
	uint16_t row = PLAN_LOCAL;

	if (!find_switch(l, l->word[1], &to))
		return;
	edge = l->planner->graph->switch_edge[to];
	if (edge == TOPO_NONE) {
		complain(l, "%s has no hosts", l->word[1]);
		return;
	}
	if (strcmp(l->word[2], "local") != 0) {
		if (!number(l, l->word[2], TABLE_GROUPS_MAX - 1, &name))
			return;
		row = l->group[name];
		if (row == PLAN_NONE)
			complain(l, "there is no group %u above", name);
	}
	plan_rows(plan, edge)[l->at] = row;
}

static void read_class(struct load *l)
{
	uint32_t link, class;

	if (find_link(l, l->at, l->word[1], &link) &&
	    number(l, l->word[2], TURN_CLASS_MAX - 1, &class))
		l->planner->plan.turns.link_class[link] = (uint8_t) class;
}

static void read_table_line(struct load *l)
{
	if (is(l, "switch", 2, 2)) {
		if (strcmp(l->word[1], l->planner->fabric->switches[l->at].name) != 0)
			complain(l, "the table of %s in the file of %s", l->word[1],
				 l->planner->fabric->switches[l->at].name);
	} else if (is(l, "class", 3, 3)) {
		read_class(l);
	} else if (is(l, "group", 3, WORDS_MAX)) {
		read_group(l);
	} else if (is(l, "to", 3, 3)) {
		read_row(l);
	} else {
		complain(l,
			 "%s: allowed: switch NAME, class PORT N, group N [pin N] PORT..., to "
			 "SWITCH GROUP, to SWITCH local",
			 l->word[0]);
	}
}

// --- turns ------------------------------------------------------------------------------------

static void read_exception(struct load *l)
{
	struct turn_rules *rules = &l->planner->plan.turns;
	struct turn_exception except = { .in = TOPO_NONE };
	uint32_t at, lane;

	if (!find_switch(l, l->word[1], &at) || !find_link(l, at, l->word[3], &except.out) ||
	    (strcmp(l->word[2], "host") != 0 && !find_link(l, at, l->word[2], &except.in)) ||
	    !number(l, l->word[4], LANE_MAX - 1, &lane) || !find_lane(l, l->word[5], &except.to))
		return;
	except.lane = (uint8_t)lane;
	if (rules->exception_count == l->exception_room) {
		complain(l, "more exceptions than lines");
		return;
	}
	rules->exception[rules->exception_count++] = except;
}

static void read_turn(struct load *l)
{
	struct turn_rules *rules = &l->planner->plan.turns;
	uint32_t in, out, lane;
	uint8_t to;

	if (number(l, l->word[1], rules->class_count - 1, &in) &&
	    number(l, l->word[2], rules->class_count - 1, &out) &&
	    number(l, l->word[3], LANE_MAX - 1, &lane) && find_lane(l, l->word[4], &to))
		turn_rules_allow(rules, in, out, lane, to);
}

static void read_classes(struct load *l)
{
	struct plan *plan = &l->planner->plan;
	struct turn_rules old = plan->turns;
	uint32_t classes;

	if (!number(l, l->word[1], TURN_CLASS_MAX, &classes) || classes == 0)
		return;
	if (turn_rules_init(topo_of(l), old.lane_count, classes, l->exception_room,
			    l->planner->keep, &plan->turns) < 0) {
		l->memory_short = true;
		return;
	}
	memcpy(plan->turns.link_class, old.link_class, topo_of(l)->link_count);
}

static void read_turns_line(struct load *l)
{
	uint32_t lanes;

	if (is(l, "lanes", 2, 2)) {
		if (number(l, l->word[1], LANE_MAX, &lanes) && lanes > 0)
			l->planner->plan.turns.lane_count = lanes;
	} else if (is(l, "classes", 2, 2)) {
		read_classes(l);
	} else if (is(l, "turn", 5, 5)) {
		read_turn(l);
	} else if (is(l, "except", 6, 6)) {
		read_exception(l);
	} else {
		complain(l,
			 "%s: allowed: lanes N, classes N, turn IN OUT LANE TO, except SWITCH IN "
			 "OUT LANE TO",
			 l->word[0]);
	}
}

static int compare_exceptions(const void *a, const void *b)
{
	const struct turn_exception *x = a, *y = b;

	if (x->in != y->in)
		return x->in < y->in ? -1 : 1;
	if (x->out != y->out)
		return x->out < y->out ? -1 : 1;
	return (int)x->lane - (int)y->lane;
}

// --- files ------------------------------------------------------------------------------------

// Reads a file by lines. -ENOENT without a word when there is none.
static int read_lines(struct load *l, const char *path, void (*line)(struct load *l))
{
	FILE *file = fopen(path, "re");
	char *text = NULL;
	size_t room = 0;

	if (file == NULL && errno != ENOENT)
		fprintf(l->errors, "%s: %s\n", path, strerror(errno));
	if (file == NULL)
		return -errno;
	l->path = path;
	for (l->line = 1; getline(&text, &room, file) >= 0; l->line++) {
		split(l, text);
		if (l->word_count > 0)
			line(l);
	}
	free(text);
	fclose(file);
	return 0;
}

// How many lines a file has, which bounds its exceptions.
static uint32_t count_lines(const char *path)
{
	FILE *file = fopen(path, "re");
	uint32_t count = 0;
	int c;

	while (file != NULL && (c = fgetc(file)) != EOF)
		count += c == '\n';
	if (file != NULL)
		fclose(file);
	return count + 1;
}

static int load_turns(struct load *l, const char *directory, bool *with_turns)
{
	struct turn_rules *rules = &l->planner->plan.turns;
	char path[TABLES_PATH_BYTES];
	int rc;

	snprintf(path, sizeof(path), "%s/turns", directory);
	l->exception_room = count_lines(path);
	rc = read_lines(l, path, read_turns_line);
	*with_turns = rc == 0;
	qsort(rules->exception, rules->exception_count, sizeof(*rules->exception),
	      compare_exceptions);
	return rc == -ENOENT ? 0 : rc;
}

static int load_switches(struct load *l, const char *directory)
{
	const struct fabric *fabric = l->planner->fabric;
	uint32_t found = 0;

	for (l->at = 0; l->at < fabric->switch_count; l->at++) {
		char path[TABLES_PATH_BYTES];
		int rc;

		memset(l->group, 0xff, TABLE_GROUPS_MAX * sizeof(*l->group));
		tables_path(directory, fabric->switches[l->at].name, path);
		rc = read_lines(l, path, read_table_line);
		found += rc == 0;
		if (rc < 0 && rc != -ENOENT)
			return rc;
	}
	if (found > 0)
		return 0;
	fprintf(l->errors, "%s: there is no table of any switch of the fabric\n", directory);
	return -ENOENT;
}

int tables_load(const char *directory, struct planner *planner, bool *with_turns, FILE *errors)
{
	struct load l = { .planner = planner, .errors = errors, .path = directory };
	int rc = plan_init(&planner->graph->topo, planner->keep, &planner->plan);

	l.group = arena_take_raw(planner->keep, TABLE_GROUPS_MAX, sizeof(*l.group));
	if (rc == 0 && l.group == NULL)
		rc = -ENOMEM;
	if (rc == 0)
		rc = load_switches(&l, directory);
	if (rc == 0)
		rc = load_turns(&l, directory, with_turns);
	if (rc == 0 && l.memory_short)
		rc = -ENOMEM;
	if (rc == -ENOMEM)
		fprintf(errors, "%s: memory is short\n", directory);
	if (l.error_count > ERRORS_MAX)
		fprintf(errors, "%s: %u more errors\n", directory, l.error_count - ERRORS_MAX);
	return rc == 0 && l.error_count > 0 ? -EINVAL : rc;
}
