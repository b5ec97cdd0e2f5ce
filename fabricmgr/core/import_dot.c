// SPDX-License-Identifier: BSD-3-Clause
//
// The statements of the file are read into lists of nodes, ports and edges; what is a switch and
// what a host is known at the end, and then the fabric is filled. The grammar is Graphviz' own
// (dot language, abstract grammar) without HTML texts and compass points.

#include "fabricmgr/core/import_dot.h"

#include <errno.h>
#include <string.h>

#include "base/units.h"
#include "fabricmgr/core/label.h"
#include "fabricmgr/core/scan.h"
#include "routing/fold.h"

enum {
	NEST_MAX = 16, // subgraphs
	MM_PER_M = 1000,
	HOST_EXTERNAL = 100, // levels that are none
	HOST,
	UNKNOWN,
};

static const struct {
	const char *function;
	uint8_t level;
} functions[] = {
	{ "leaf", 0 },
	{ "tor", 0 },
	{ "exit", 0 },
	{ "spine", 1 },
	{ "super", 2 },
	{ "superspine", 2 },
	{ "core", 2 },
	{ "host", HOST },
	{ "server", HOST },
	{ "external", HOST_EXTERNAL },
	{ "switch", FABRIC_LEVEL_NONE },
};

struct dot_node {
	struct label name;
	uint32_t line;
	uint32_t number;         // of the switch, or of the host
	uint32_t port_count;     // so far
	const char **port_names; // of a switch, [port_count]
	uint8_t level;
	bool has_switch_port;
};

// A port is a node and a name, known once.
struct dot_port {
	struct label name;
	uint32_t node;
	uint16_t number; // of its node
	bool used;
	uint32_t line; // of the edge that used it first
};

struct dot_edge {
	uint32_t port[2];
	uint32_t line;
	uint64_t speed_bps;
	uint64_t length_m;
	uint64_t weight;
};

struct draft {
	struct scan s;
	struct dot_node *node;
	struct dot_port *port;
	struct dot_edge *edge;
	uint32_t *node_slot; // number + 1
	uint32_t *port_slot;
	uint32_t node_count;
	uint32_t port_count;
	uint32_t edge_count;
	uint32_t slot_mask;
	uint32_t depth; // of braces
	struct fabric *fabric;
	struct fabric_faults *faults;
};

// Says what is wrong where the cursor is. False, so that it can be returned.
static bool refuse(struct draft *d, enum fabric_fault_kind kind, const char *object)
{
	fabric_fail(d->faults, kind, d->s.line, object, "", 0, 0);
	return false;
}

// The text that comes next is none of what may come there.
static bool unexpected(struct draft *d)
{
	struct label label = { .len = 0 };
	const char *at = d->s.at;

	while (at < d->s.end && *at != '\n' && *at != '\r')
		at++;
	label_piece(&label, d->s.at, (uint32_t)(at - d->s.at));
	return refuse(d, FABRIC_FAULT_IMPORT_LINE, label.len > 0 ? label.text : "end of the text");
}

// --- words ------------------------------------------------------------------------------------

// Takes a comment: // or a # line of a preprocessor to the end of the line, /* to its own end.
static bool take_comment(struct scan *s)
{
	if (scan_peek(s) == '#' || scan_take_word(s, "//")) {
		scan_next_line(s);
		return true;
	}
	if (!scan_take_word(s, "/*"))
		return false;
	while (s->at < s->end && !scan_take_word(s, "*/"))
		scan_step(s);
	return true;
}

// What may stand between two words.
static void skip(struct scan *s)
{
	do {
		scan_blanks(s);
	} while (scan_take(s, '\n') || take_comment(s));
}

static bool take(struct draft *d, char c)
{
	skip(&d->s);
	return scan_take(&d->s, c);
}

// A text in quotes; a backslash stays but before a quote, which it escapes.
static void unescape(struct scan_word word, struct label *id)
{
	for (uint32_t i = 0; i < word.len; i++) {
		if (word.text[i] == '\\' && i + 1 < word.len && word.text[i + 1] == '"')
			i++;
		label_piece(id, word.text + i, 1);
	}
}

// Names, numbers and texts in quotes: an ID of the grammar.
static bool take_id(struct draft *d, struct label *id)
{
	struct scan_word word;
	uint64_t number;

	*id = (struct label){ .len = 0 };
	skip(&d->s);
	if (scan_quoted(&d->s, &word)) {
		unescape(word, id);
		return true;
	}
	word.text = d->s.at;
	if (!scan_identifier(&d->s, &word) && !scan_decimal(&d->s, UINT64_MAX, &number))
		return false;
	label_piece(id, word.text, (uint32_t)(d->s.at - word.text));
	return true;
}

static bool equal_fold(const char *a, const char *lower)
{
	for (; *a != '\0' && *lower != '\0'; a++, lower++) {
		const char c = *a >= 'A' && *a <= 'Z' ? (char)(*a - 'A' + 'a') : *a;

		if (c != *lower)
			return false;
	}
	return *a == *lower;
}

// --- nodes and ports --------------------------------------------------------------------------

static uint64_t label_hash(const char *text, uint64_t seed)
{
	uint64_t hash = seed ^ FOLD_A;

	for (; *text != '\0'; text++)
		hash = fold_multiply(hash ^ (uint8_t)*text, FOLD_B);
	return hash;
}

static uint32_t node_of(struct draft *d, const struct label *name)
{
	uint32_t i = (uint32_t)label_hash(name->text, 0) & d->slot_mask;

	for (; d->node_slot[i] != 0; i = (i + 1) & d->slot_mask) {
		if (label_equal(d->node[d->node_slot[i] - 1].name.text, name->text))
			return d->node_slot[i] - 1;
	}
	d->node[d->node_count] = (struct dot_node){
		.name = *name,
		.line = d->s.line,
		.level = UNKNOWN,
	};
	d->node_slot[i] = ++d->node_count;
	return d->node_count - 1;
}

static bool is_switch_port(const char *name)
{
	return memcmp(name, "swp", 3) == 0 || memcmp(name, "Ethernet", 8) == 0 ||
	       (name[0] >= '0' && name[0] <= '9');
}

static uint32_t port_of(struct draft *d, uint32_t node, const struct label *name)
{
	uint32_t i = (uint32_t)label_hash(name->text, node + 1) & d->slot_mask;
	struct dot_node *owner = &d->node[node];

	for (; d->port_slot[i] != 0; i = (i + 1) & d->slot_mask) {
		const struct dot_port *port = &d->port[d->port_slot[i] - 1];

		if (port->node == node && label_equal(port->name.text, name->text))
			return d->port_slot[i] - 1;
	}
	d->port[d->port_count] = (struct dot_port){
		.name = *name,
		.node = node,
		.number = (uint16_t)owner->port_count,
	};
	owner->port_count++;
	owner->has_switch_port = owner->has_switch_port || is_switch_port(name->text);
	d->port_slot[i] = ++d->port_count;
	return d->port_count - 1;
}

// --- statements -------------------------------------------------------------------------------

struct attributes {
	struct label function;
	uint64_t speed_bps;
	uint64_t length_m;
	uint64_t weight;
};

static bool read_quantity(struct draft *d, enum unit unit, const struct label *text, uint64_t max,
			  uint64_t *value)
{
	if (unit_parse(unit, text->text, text->len, value) && *value <= max)
		return true;
	return refuse(d, FABRIC_FAULT_IMPORT_QUANTITY, text->text);
}

static bool read_attribute(struct draft *d, const struct label *key, const struct label *text,
			   struct attributes *attributes)
{
	if (equal_fold(key->text, "function") || equal_fold(key->text, "role")) {
		attributes->function = *text;
		return true;
	}
	if (equal_fold(key->text, "speed"))
		return read_quantity(d, UNIT_BPS, text, INT64_MAX, &attributes->speed_bps);
	if (equal_fold(key->text, "length"))
		return read_quantity(d, UNIT_METRES, text, UINT32_MAX / MM_PER_M,
				     &attributes->length_m);
	if (equal_fold(key->text, "weight"))
		return read_quantity(d, UNIT_COUNT, text, UINT16_MAX, &attributes->weight);
	return true;
}

// `a=b, c="d"; e]`, behind the bracket that opens it.
static bool read_list(struct draft *d, struct attributes *attributes)
{
	while (!take(d, ']')) {
		struct label text = { .len = 0 };
		struct label key;

		if (!take_id(d, &key) || (take(d, '=') && !take_id(d, &text)))
			return unexpected(d);
		if (!read_attribute(d, &key, &text, attributes))
			return false;
		if (!take(d, ','))
			take(d, ';');
	}
	return true;
}

// Any number of lists, none at all as well.
static bool read_attributes(struct draft *d, struct attributes *attributes)
{
	*attributes = (struct attributes){ .weight = 1 };
	while (take(d, '[')) {
		if (!read_list(d, attributes))
			return false;
	}
	return true;
}

// `"leaf1":"swp1"`, the node read already.
static bool read_port(struct draft *d, const struct label *node, uint32_t *port)
{
	struct label name;

	if (!take(d, ':'))
		return refuse(d, FABRIC_FAULT_IMPORT_NO_PORT_NAME, node->text);
	if (!take_id(d, &name))
		return unexpected(d);
	*port = port_of(d, node_of(d, node), &name);
	return true;
}

static bool use_port(struct draft *d, uint32_t number)
{
	struct dot_port *port = &d->port[number];

	if (port->used) {
		fabric_fail(d->faults, FABRIC_FAULT_PORT_TAKEN, d->s.line,
			    d->node[port->node].name.text, port->name.text, port->line, 0);
		return false;
	}
	port->used = true;
	port->line = d->s.line;
	return true;
}

// `-- "spine1":"swp3" [...]`, behind its first end.
static bool read_edge(struct draft *d, uint32_t first)
{
	struct dot_edge edge = { .port[0] = first, .line = d->s.line };
	struct attributes attributes;
	struct label node;

	if (!take_id(d, &node))
		return unexpected(d);
	if (!read_port(d, &node, &edge.port[1]) || !use_port(d, edge.port[0]) ||
	    !use_port(d, edge.port[1]) || !read_attributes(d, &attributes))
		return false;
	edge.speed_bps = attributes.speed_bps;
	edge.length_m = attributes.length_m;
	edge.weight = attributes.weight;
	d->edge[d->edge_count++] = edge;
	return true;
}

static bool read_node(struct draft *d, const struct label *name)
{
	const uint32_t node = node_of(d, name);
	struct attributes attributes;

	if (!read_attributes(d, &attributes))
		return false;
	for (uint32_t i = 0; i < sizeof(functions) / sizeof(functions[0]); i++) {
		if (equal_fold(attributes.function.text, functions[i].function))
			d->node[node].level = functions[i].level;
	}
	return true;
}

// `a=b`, `node [...]`, a node, or an edge.
static bool read_statement(struct draft *d)
{
	static const char *const defaults[] = { "graph", "node", "edge" };
	struct attributes ignored;
	struct label id;
	uint32_t port;

	if (!take_id(d, &id))
		return unexpected(d);
	for (uint32_t i = 0; i < sizeof(defaults) / sizeof(defaults[0]); i++) {
		if (equal_fold(id.text, defaults[i]))
			return read_attributes(d, &ignored);
	}
	if (take(d, '='))
		return take_id(d, &id) || unexpected(d);
	skip(&d->s);
	if (scan_take_word(&d->s, "--"))
		return refuse(d, FABRIC_FAULT_IMPORT_NO_PORT_NAME, id.text);
	if (scan_peek(&d->s) != ':')
		return read_node(d, &id);
	if (!read_port(d, &id, &port))
		return false;
	skip(&d->s);
	return scan_take_word(&d->s, "--") ? read_edge(d, port) : unexpected(d);
}

// `subgraph x {`, or `{`.
static bool open_subgraph(struct draft *d)
{
	struct scan before = d->s;
	struct label id;

	if (!take_id(d, &id) || !equal_fold(id.text, "subgraph")) {
		d->s = before;
		return take(d, '{');
	}
	take_id(d, &id);
	if (take(d, '{'))
		return true;
	d->s = before;
	return false;
}

// `strict graph x {`
static bool read_head(struct draft *d)
{
	struct label id;

	if (!take_id(d, &id))
		return unexpected(d);
	if (equal_fold(id.text, "strict") && !take_id(d, &id))
		return unexpected(d);
	if (!equal_fold(id.text, "graph"))
		return refuse(d, FABRIC_FAULT_IMPORT_DIRECTED, id.text);
	take_id(d, &id);
	return take(d, '{') || unexpected(d);
}

// A statement, or a brace that opens or closes a subgraph.
static bool read_next(struct draft *d)
{
	if (take(d, '}')) {
		d->depth--;
		return true;
	}
	if (open_subgraph(d))
		return ++d->depth <= NEST_MAX || refuse(d, FABRIC_FAULT_IMPORT_NESTED, "subgraph");
	return take(d, ';') || read_statement(d);
}

static bool read_graph(struct draft *d)
{
	if (!read_head(d))
		return false;
	for (d->depth = 1; d->depth > 0;) {
		if (!read_next(d))
			return false;
	}
	skip(&d->s);
	return d->s.at == d->s.end || unexpected(d);
}

// --- the fabric -------------------------------------------------------------------------------

static bool is_host(const struct dot_node *node)
{
	return node->level == HOST || node->level == HOST_EXTERNAL ||
	       (node->level == UNKNOWN && !node->has_switch_port);
}

static bool add_switch(struct draft *d, struct dot_node *node)
{
	struct fabric_switch *sw = fabric_add_switch(d->fabric, node->name.text);

	node->port_names = arena_take(d->fabric->keep, node->port_count, sizeof(char *));
	if (sw == NULL || node->port_names == NULL)
		return false;
	sw->line = node->line;
	sw->level = node->level == UNKNOWN ? (uint8_t)FABRIC_LEVEL_NONE : node->level;
	sw->port_count = (uint16_t)node->port_count;
	sw->port_names = node->port_names;
	node->number = d->fabric->switch_count - 1;
	return true;
}

static bool add_host(struct draft *d, struct dot_node *node)
{
	struct fabric_host *host = fabric_add_host(d->fabric, node->name.text);

	if (host == NULL)
		return false;
	host->line = node->line;
	host->external = node->level == HOST_EXTERNAL;
	node->number = d->fabric->host_count - 1;
	return true;
}

static bool add_nodes(struct draft *d)
{
	for (uint32_t i = 0; i < d->node_count; i++) {
		struct dot_node *node = &d->node[i];

		if (node->port_count > TOPO_PORT_MAX) {
			fabric_fail(d->faults, FABRIC_FAULT_TOO_LARGE, node->line, node->name.text,
				    "", node->port_count, TOPO_PORT_MAX);
			return true;
		}
		if (!(is_host(node) ? add_host(d, node) : add_switch(d, node)))
			return false;
	}
	for (uint32_t i = 0; i < d->port_count; i++) {
		const struct dot_port *port = &d->port[i];
		const struct dot_node *node = &d->node[port->node];

		if (is_host(node))
			continue;
		node->port_names[port->number] = fabric_text(d->fabric, port->name.text);
		if (node->port_names[port->number] == NULL)
			return false;
	}
	return true;
}

static bool add_edge(struct draft *d, const struct dot_edge *edge)
{
	const struct dot_port *a = &d->port[edge->port[0]];
	const struct dot_port *b = &d->port[edge->port[1]];
	const struct dot_port *host = is_host(&d->node[a->node]) ? a : b;
	const struct dot_port *sw = host == a ? b : a;
	struct fabric_cable *cable;
	struct fabric_host_port *port;

	if (is_host(&d->node[sw->node])) {
		fabric_fail(d->faults, FABRIC_FAULT_IMPORT_NO_FABRIC, edge->line,
			    d->node[a->node].name.text, a->name.text, 0, 0);
		return true;
	}
	if (is_host(&d->node[host->node])) {
		port = fabric_add_host_port(d->fabric, d->node[host->node].number,
					    d->node[sw->node].number, sw->number);
		if (port == NULL)
			return false;
		port->rail = host->number;
		port->line = edge->line;
		port->speed_bps = edge->speed_bps;
		port->length_mm = (uint32_t)edge->length_m * MM_PER_M;
		return true;
	}
	cable = fabric_add_cable(d->fabric, d->node[a->node].number, a->number,
				 d->node[b->node].number, b->number);
	if (cable == NULL)
		return false;
	cable->line = edge->line;
	cable->speed_bps = edge->speed_bps;
	cable->length_mm = (uint32_t)edge->length_m * MM_PER_M;
	cable->weight = (uint16_t)edge->weight;
	return true;
}

static bool fill(struct draft *d)
{
	if (!add_nodes(d))
		return false;
	for (uint32_t i = 0; i < d->edge_count && d->faults->count == 0; i++) {
		if (!add_edge(d, &d->edge[i]))
			return false;
	}
	return true;
}

// As many nodes, ports and edges as there are IDs, at most.
static uint32_t count_ids(struct draft d)
{
	uint32_t count = 0;
	struct label id;

	for (skip(&d.s); d.s.at < d.s.end; skip(&d.s)) {
		if (take_id(&d, &id))
			count++;
		else
			scan_step(&d.s);
	}
	return count;
}

static bool reserve(struct draft *d, struct arena *scratch)
{
	const uint32_t count = count_ids(*d);
	uint32_t slots = 64;

	while (slots < 2 * count && slots < 1u << 31)
		slots *= 2;
	d->slot_mask = slots - 1;
	d->node = arena_take_raw(scratch, count, sizeof(*d->node));
	d->port = arena_take_raw(scratch, count, sizeof(*d->port));
	d->edge = arena_take_raw(scratch, count, sizeof(*d->edge));
	d->node_slot = arena_take(scratch, slots, sizeof(*d->node_slot));
	d->port_slot = arena_take(scratch, slots, sizeof(*d->port_slot));
	return d->node != NULL && d->port != NULL && d->edge != NULL && d->node_slot != NULL &&
	       d->port_slot != NULL;
}

int import_dot(const char *text, size_t bytes, struct fabric *fabric, struct arena *scratch,
	       struct fabric_faults *faults)
{
	const size_t mark = arena_mark(scratch);
	struct draft d = { .s = scan_text(text, bytes), .fabric = fabric, .faults = faults };
	const bool fits = reserve(&d, scratch) && (!read_graph(&d) || fill(&d));

	arena_release(scratch, mark);
	if (!fits)
		fabric_fail(faults, FABRIC_FAULT_MEMORY, 0, fabric->name, "", 0, 0);
	if (faults->count > 0)
		return fits ? -EINVAL : -ENOMEM;
	return 0;
}
