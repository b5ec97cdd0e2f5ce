// SPDX-License-Identifier: BSD-3-Clause
//
// First all sections are listed, then names are given, then ports are joined: a section speaks of
// nodes that come later in the file. Nodes are found by kind and GUID, by hashing.

#include "fabricmgr/core/import_ibnet.h"

#include <errno.h>
#include <string.h>

#include "fabricmgr/core/label.h"
#include "fabricmgr/core/scan.h"
#include "routing/fold.h"

enum {
	IB_PORT_MAX = 254, // InfiniBand, volume 1, 14.2.5.6
	NIC_MAX = 64,      // adapters of one host that are told apart by number
};

struct node {
	uint64_t guid;
	uint32_t line;
	uint32_t first_port; // of its port 0 in struct draft's `port`
	uint32_t number;     // of the switch, or of the host
	uint16_t port_count;
	uint16_t nic;
	char kind; // S, H or R
	struct scan_word name;
};

// One end of a cable as a section gives it. line 0: nothing was said.
struct end {
	uint64_t guid;
	uint64_t port_guid;
	uint64_t speed_bps;
	uint32_t line;
	uint16_t port; // of the far end
	char kind;     // of the far end
};

struct draft {
	struct node *node;
	struct end *port;
	uint32_t *slot; // node + 1
	uint64_t *nics; // [hosts] numbers of adapters that a host has
	uint32_t node_count;
	uint32_t port_count;
	uint32_t slot_mask;
	struct fabric *fabric;
	struct fabric_faults *faults;
};

// Speed of a lane as people name it.
static const struct {
	const char *name;
	uint64_t bps;
} lane_speeds[] = {
	{ "SDR", 2500000000 },    { "DDR", 5000000000 },   { "QDR", 10000000000 },
	{ "FDR10", 10000000000 }, { "FDR", 14000000000 },  { "EDR", 25000000000 },
	{ "HDR", 50000000000 },   { "NDR", 100000000000 }, { "XDR", 200000000000 },
};

static void fail(struct draft *d, enum fabric_fault_kind kind, uint32_t line, struct scan_word name,
		 uint64_t have, uint64_t want)
{
	struct label label = { .len = 0 };

	fabric_fail(d->faults, kind, line, label_piece(&label, name.text, name.len)->text, "", have,
		    want);
}

// The rest of the line, for a message.
static struct scan_word rest(const struct scan *s)
{
	const char *end = scan_line_end(s);

	if (end > s->at && end[-1] == '\r')
		end--;
	return (struct scan_word){ .text = s->at, .len = (uint32_t)(end - s->at) };
}

// --- the text ---------------------------------------------------------------------------------

// "S-0000000020000024"
static bool scan_node_id(struct scan *s, char *kind, uint64_t *guid)
{
	struct scan id = *s;

	if (!scan_take(&id, '"'))
		return false;
	*kind = scan_peek(&id);
	if (*kind != 'S' && *kind != 'H' && *kind != 'R')
		return false;
	scan_step(&id);
	if (!scan_take(&id, '-') || !scan_hex(&id, guid) || !scan_take(&id, '"'))
		return false;
	*s = id;
	return true;
}

// "4xEDR", the last word of a line, 0: none.
static uint64_t scan_speed(struct scan_word line)
{
	struct scan_word word = { .text = line.text + line.len, .len = 0 };
	struct scan s;
	uint64_t width;

	while (word.len < line.len && !scan_is_blank(word.text[-1])) {
		word.text--;
		word.len++;
	}
	s = scan_text(word.text, word.len);
	if (!scan_decimal(&s, 12, &width) || !scan_take(&s, 'x'))
		return 0;
	word = (struct scan_word){ .text = s.at, .len = (uint32_t)(s.end - s.at) };
	for (uint32_t i = 0; i < sizeof(lane_speeds) / sizeof(lane_speeds[0]); i++) {
		if (word.len > 0 && word.text[0] == lane_speeds[i].name[0] &&
		    scan_word_equal(word, lane_speeds[i].name))
			return width * lane_speeds[i].bps;
	}
	return 0;
}

// The description behind #, in quotes; a node may have none.
static struct scan_word scan_description(struct scan *s)
{
	struct scan_word name = { .text = "", .len = 0 };

	scan_blanks(s);
	if (!scan_take(s, '#'))
		return name;
	scan_blanks(s);
	scan_quoted(s, &name);
	return name;
}

// `Switch	8 "S-0000000020000024"		# "T04_04" enhanced port 0 lid 73 lmc 0`
static bool read_node(struct draft *d, struct scan *s)
{
	struct node *node = &d->node[d->node_count];
	uint64_t ports;

	scan_blanks(s);
	if (!scan_decimal(s, IB_PORT_MAX, &ports))
		return false;
	scan_blanks(s);
	if (!scan_node_id(s, &node->kind, &node->guid))
		return false;
	node->line = s->line;
	node->port_count = (uint16_t)ports;
	node->first_port = d->port_count;
	node->name = scan_description(s);
	d->port_count += (uint32_t)ports + 1;
	d->node_count++;
	return true;
}

// `(10000241)`
static bool scan_port_guid(struct scan *s, uint64_t *guid)
{
	return !scan_take(s, '(') || (scan_hex(s, guid) && scan_take(s, ')'));
}

// `[5]	"H-0000000010000240"[1](10000241) 		# "H00144 HCA-1" lid 131 4xSDR`
static bool read_port(struct draft *d, struct scan *s)
{
	const struct node *node = &d->node[d->node_count - 1];
	struct end end = { .line = s->line };
	uint64_t port, far_port, far_guid;
	struct end *place;

	if (!scan_take(s, '[') || !scan_decimal(s, UINT16_MAX, &port) || !scan_take(s, ']') ||
	    !scan_port_guid(s, &end.port_guid))
		return false;
	scan_blanks(s);
	if (!scan_node_id(s, &end.kind, &end.guid) || !scan_take(s, '[') ||
	    !scan_decimal(s, IB_PORT_MAX, &far_port) || !scan_take(s, ']') ||
	    !scan_port_guid(s, &far_guid))
		return false;
	end.port = (uint16_t)far_port;
	end.speed_bps = scan_speed(rest(s));
	if (port == 0 || port > node->port_count) {
		fail(d, FABRIC_FAULT_IMPORT_NO_PORT, s->line, node->name, port, node->port_count);
		return true;
	}
	place = &d->port[node->first_port + port];
	if (place->line != 0)
		fail(d, FABRIC_FAULT_IMPORT_PORT_TWICE, s->line, node->name, port, place->line);
	else
		*place = end;
	return true;
}

// Lines that say nothing about who is cabled to whom: `vendid=0x2c9`, headings of a grouping.
static bool is_remark(struct scan s)
{
	struct scan_word word;

	if (scan_peek(&s) == '#' || scan_peek(&s) == '\n' || s.at == s.end ||
	    scan_take_word(&s, "Chassis") || scan_take_word(&s, "Non-Chassis"))
		return true;
	return scan_identifier(&s, &word) && scan_peek(&s) == '=';
}

// Most lines are ports.
static bool read_line(struct draft *d, struct scan *s)
{
	if (scan_peek(s) == '[')
		return d->node_count > 0 && read_port(d, s);
	if (scan_take_word(s, "Switch") || scan_take_word(s, "Ca") || scan_take_word(s, "Rt"))
		return read_node(d, s);
	return is_remark(*s);
}

static void read_text(struct draft *d, struct scan s)
{
	while (s.at < s.end) {
		struct scan line;

		scan_blanks(&s);
		line = s;
		if (!read_line(d, &s))
			fail(d, FABRIC_FAULT_IMPORT_LINE, line.line, rest(&line), 0, 0);
		scan_next_line(&s);
	}
}

// --- nodes ------------------------------------------------------------------------------------

static uint32_t slot_of(const struct draft *d, char kind, uint64_t guid)
{
	uint32_t i = (uint32_t)fold_multiply(guid ^ (uint64_t)(uint8_t)kind << 56, FOLD_A);

	for (i &= d->slot_mask; d->slot[i] != 0; i = (i + 1) & d->slot_mask) {
		const struct node *node = &d->node[d->slot[i] - 1];

		if (node->kind == kind && node->guid == guid)
			break;
	}
	return i;
}

static const struct node *find_node(const struct draft *d, char kind, uint64_t guid)
{
	const uint32_t number = d->slot[slot_of(d, kind, guid)];

	return number == 0 ? NULL : &d->node[number - 1];
}

static void index_nodes(struct draft *d)
{
	for (uint32_t i = 0; i < d->node_count; i++) {
		uint32_t *slot = &d->slot[slot_of(d, d->node[i].kind, d->node[i].guid)];

		if (*slot != 0)
			fail(d, FABRIC_FAULT_IMPORT_NODE_TWICE, d->node[i].line, d->node[i].name,
			     d->node[*slot - 1].line, 0);
		else
			*slot = i + 1;
	}
}

// A description as a name, room left for a GUID behind it.
static struct label name_of(struct scan_word text, uint64_t guid)
{
	const uint32_t room = FABRIC_NAME_BYTES - 1 - sizeof("-0123456789abcdef");
	struct label label = { .len = 0 };

	for (uint32_t i = 0; i < text.len && label.len < room; i++) {
		const char c = text.text[i];

		label_add(&label, (const char[]){ c > ' ' && c <= '~' ? c : '_', '\0' });
	}
	if (label.len == 0)
		label_hex(label_add(&label, "node-"), guid);
	return label;
}

static struct label *add_guid(struct label *label, uint64_t guid)
{
	label_hex(label_add(label, "-"), guid);
	return label;
}

// "node7 HCA-2" or "node7 mlx5_1": the host's name, and the number of the adapter from 0. False
// when the description is of another form.
static bool split_description(struct scan_word text, struct scan_word *host, uint16_t *nic)
{
	struct scan s = scan_text(text.text, text.len);
	uint64_t number;
	bool from_one;

	while (s.at < s.end && !scan_is_blank(*s.at))
		s.at++;
	*host = (struct scan_word){ .text = text.text, .len = (uint32_t)(s.at - text.text) };
	scan_blanks(&s);
	from_one = scan_take_word(&s, "HCA-");
	if (!from_one && !scan_take_word(&s, "mlx5_") && !scan_take_word(&s, "mlx4_") &&
	    !scan_take_word(&s, "hfi1_"))
		return false;
	if (host->len == 0 || !scan_decimal(&s, NIC_MAX - 1, &number) || s.at != s.end ||
	    (from_one && number == 0))
		return false;
	*nic = (uint16_t)(from_one ? number - 1 : number);
	return true;
}

static bool name_switch(struct draft *d, struct node *node)
{
	struct label name = name_of(node->name, node->guid);
	struct fabric_switch *sw;

	if (fabric_find_switch(d->fabric, name.text) != FABRIC_NONE)
		add_guid(&name, node->guid);
	sw = fabric_add_switch(d->fabric, name.text);
	if (sw == NULL)
		return false;
	sw->guid = node->guid;
	sw->line = node->line;
	sw->port_prefix = "";
	sw->port_count = node->port_count + 1;
	node->number = d->fabric->switch_count - 1;
	return true;
}

// An adapter: of a host that is known and has no such adapter yet, or of a new one.
static bool name_host(struct draft *d, struct node *node)
{
	struct scan_word text = node->name;
	struct scan_word host_text;
	const bool splits = split_description(text, &host_text, &node->nic);
	struct label name = name_of(splits ? host_text : text, node->guid);
	const uint32_t known = fabric_find_host(d->fabric, name.text);
	struct fabric_host *host;

	if (known != FABRIC_NONE && splits && !(d->nics[known] >> node->nic & 1)) {
		node->number = known;
		d->nics[known] |= 1ull << node->nic;
		return true;
	}
	if (known != FABRIC_NONE)
		add_guid(&name, node->guid);
	host = fabric_add_host(d->fabric, name.text);
	if (host == NULL)
		return false;
	host->line = node->line;
	host->external = node->kind == 'R';
	node->number = d->fabric->host_count - 1;
	d->nics[node->number] = splits ? 1ull << node->nic : UINT64_MAX;
	return true;
}

static bool name_nodes(struct draft *d)
{
	for (uint32_t i = 0; i < d->node_count; i++) {
		struct node *node = &d->node[i];

		if (!(node->kind == 'S' ? name_switch(d, node) : name_host(d, node)))
			return false;
	}
	return true;
}

// --- cables -----------------------------------------------------------------------------------

static bool add_cable(struct draft *d, const struct node *a, uint16_t a_port, const struct node *b,
		      const struct end *end)
{
	struct fabric_cable *cable = fabric_add_cable(d->fabric, a->number, a_port, b->number,
						      end->port);

	if (cable == NULL)
		return false;
	cable->line = end->line;
	cable->speed_bps = end->speed_bps;
	return true;
}

static bool add_host_port(struct draft *d, const struct node *host, const struct node *sw,
			  uint16_t sw_port, const struct end *at_host, const struct end *at_switch)
{
	struct fabric_host_port *port = fabric_add_host_port(d->fabric, host->number, sw->number,
							     sw_port);

	if (port == NULL)
		return false;
	port->rail = host->nic;
	port->line = at_switch->line;
	port->speed_bps = at_switch->speed_bps;
	port->guid = at_host->port_guid;
	return true;
}

// What a section says of a port, against what the section of the far end says.
static bool join_port(struct draft *d, const struct node *node, uint16_t number)
{
	const struct end *end = &d->port[node->first_port + number];
	const struct node *far = find_node(d, end->kind, end->guid);
	const struct end *back;

	if (far == NULL || end->port == 0 || end->port > far->port_count) {
		fail(d, FABRIC_FAULT_IMPORT_NO_END, end->line, node->name, number, 0);
		return true;
	}
	back = &d->port[far->first_port + end->port];
	if (back->line == 0 || back->kind != node->kind || back->guid != node->guid ||
	    back->port != number) {
		fail(d, FABRIC_FAULT_IMPORT_ONE_SIDED, end->line, node->name, number, far->line);
		return true;
	}
	if (node->kind != 'S') {
		if (far->kind != 'S')
			fail(d, FABRIC_FAULT_IMPORT_NO_FABRIC, end->line, node->name, number, 0);
		return true;
	}
	if (far->kind != 'S')
		return add_host_port(d, far, node, number, back, end);
	// Once, from its end that comes first.
	if (far > node || (far == node && end->port > number))
		return add_cable(d, node, number, far, end);
	if (far == node && end->port == number)
		fail(d, FABRIC_FAULT_IMPORT_ONE_SIDED, end->line, node->name, number, far->line);
	return true;
}

static bool join_node(struct draft *d, const struct node *node)
{
	for (uint16_t port = 1; port <= node->port_count; port++) {
		if (d->port[node->first_port + port].line != 0 && !join_port(d, node, port))
			return false;
	}
	return true;
}

static bool join_nodes(struct draft *d)
{
	for (uint32_t i = 0; i < d->node_count; i++) {
		if (!join_node(d, &d->node[i]))
			return false;
	}
	return true;
}

// --- all of it --------------------------------------------------------------------------------

// How many sections there may be, and ports of them.
static void count(struct scan s, uint32_t *nodes, uint64_t *ports)
{
	for (; s.at < s.end; scan_next_line(&s)) {
		uint64_t number;

		scan_blanks(&s);
		if (!scan_take_word(&s, "Switch") && !scan_take_word(&s, "Ca") &&
		    !scan_take_word(&s, "Rt"))
			continue;
		scan_blanks(&s);
		(*nodes)++;
		*ports += 1;
		if (scan_decimal(&s, IB_PORT_MAX, &number))
			*ports += number;
	}
}

static bool take(struct draft *d, struct scan s, struct arena *scratch)
{
	uint32_t nodes = 1; // what is not a section after all is written there
	uint32_t slots = 64;
	uint64_t ports = IB_PORT_MAX + 1;

	count(s, &nodes, &ports);
	while (slots < 2 * nodes && slots < 1u << 31)
		slots *= 2;
	d->slot_mask = slots - 1;
	d->node = arena_take(scratch, nodes, sizeof(*d->node));
	d->port = arena_take(scratch, ports, sizeof(*d->port));
	d->slot = arena_take(scratch, slots, sizeof(*d->slot));
	d->nics = arena_take(scratch, nodes, sizeof(*d->nics));
	return d->node != NULL && d->port != NULL && d->slot != NULL && d->nics != NULL;
}

int import_ibnet(const char *text, size_t bytes, struct fabric *fabric, struct arena *scratch,
		 struct fabric_faults *faults)
{
	const size_t mark = arena_mark(scratch);
	struct draft d = { .fabric = fabric, .faults = faults };
	bool fits = take(&d, scan_text(text, bytes), scratch);

	if (fits) {
		read_text(&d, scan_text(text, bytes));
		index_nodes(&d);
		fits = name_nodes(&d) && (faults->count > 0 || join_nodes(&d));
	}
	arena_release(scratch, mark);
	if (!fits)
		fabric_fail(faults, FABRIC_FAULT_MEMORY, 0, fabric->name, "", 0, 0);
	if (faults->count > 0)
		return fits ? -EINVAL : -ENOMEM;
	return 0;
}
