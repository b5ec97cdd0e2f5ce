// SPDX-License-Identifier: BSD-3-Clause
//
// The text is read twice: first for whose LID is which, since any line of any switch may be the one
// that says so, then for rows. Ports are found by GUID, by hashing.

#include "fabricmgr/core/import_lfts.h"

#include <errno.h>

#include "fabricmgr/core/label.h"
#include "fabricmgr/core/scan.h"
#include "routing/fold.h"

enum {
	LID_MAX = 0xbfff, // InfiniBand, volume 1, 4.1.3: above are groups
	PORT_DROP = 0xff, // likewise 14.2.5.10: packets are dropped
};

// Who has a GUID, or a LID: a switch, or behind all of them a host of the graph; + 1, 0: nobody.
struct draft {
	const struct fabric *fabric;
	const struct fabric_graph *graph;
	struct fabric_faults *faults;
	struct import_lfts *lfts;
	uint32_t *slot; // by GUID
	uint32_t slot_mask;
	uint32_t *user;          // [LID_MAX + 1]
	uint32_t *user_line;     // [LID_MAX + 1] that says so
	uint32_t *edge;          // [LID_MAX + 1] of hosts' LIDs
	uint32_t *section_line;  // [switch_count], 0: none so far
	uint32_t at;             // switch of the section, FABRIC_NONE: before the first
	uint16_t way[PORT_DROP]; // row of the section's ports, PLAN_NONE: not yet known
};

struct entry {
	uint64_t lid;
	uint64_t port;
	uint64_t guid; // of the port that has the LID, 0: not said
};

static void fail(struct draft *d, enum fabric_fault_kind kind, uint32_t line, uint64_t have,
		 uint64_t want)
{
	fabric_fail(d->faults, kind, line,
		    d->at == FABRIC_NONE ? d->fabric->name : d->fabric->switches[d->at].name, "",
		    have, want);
}

static void fail_guid(struct draft *d, uint32_t line, uint64_t guid)
{
	struct label label = { .len = 0 };

	label_hex(label_add(&label, "0x"), guid);
	fabric_fail(d->faults, FABRIC_FAULT_IMPORT_NO_GUID, line, label.text, "", 0, 0);
}

// --- GUIDs ------------------------------------------------------------------------------------

static uint64_t guid_of(const struct draft *d, uint32_t user)
{
	const uint32_t switches = d->fabric->switch_count;

	if (user < switches)
		return d->fabric->switches[user].guid;
	return d->fabric->host_ports[d->graph->host_of[user - switches]].guid;
}

static uint32_t *slot_of(const struct draft *d, uint64_t guid)
{
	uint32_t i = (uint32_t)fold_multiply(guid, FOLD_A) & d->slot_mask;

	while (d->slot[i] != 0 && guid_of(d, d->slot[i] - 1) != guid)
		i = (i + 1) & d->slot_mask;
	return &d->slot[i];
}

static void index_guids(struct draft *d)
{
	const uint32_t users = d->fabric->switch_count + d->graph->topo.host_count;

	for (uint32_t user = 0; user < users; user++) {
		const uint64_t guid = guid_of(d, user);

		if (guid != 0)
			*slot_of(d, guid) = user + 1;
	}
}

// --- lines ------------------------------------------------------------------------------------

// Moves behind the next `word` of the line, if there is one.
static bool find_word(struct scan *s, const char *word)
{
	struct scan look = *s;

	for (; look.at < look.end && *look.at != '\n'; look.at++) {
		if (!scan_take_word(&look, word))
			continue;
		*s = look;
		return true;
	}
	return false;
}

static bool read_hex(struct scan *s, uint64_t *value)
{
	scan_blanks(s);
	return scan_take_word(s, "0x") && scan_hex(s, value);
}

// Headings and sums, which say nothing.
static bool is_remark(struct scan s)
{
	uint64_t number;

	scan_blanks(&s);
	if (s.at == s.end || *s.at == '\n' || *s.at == '#' || scan_take_word(&s, "***") ||
	    scan_take_word(&s, "Lid ") || scan_take_word(&s, "Port "))
		return true;
	return scan_decimal(&s, UINT32_MAX, &number) &&
	       (scan_take_word(&s, " lids dumped") || scan_take_word(&s, " valid lids dumped"));
}

// `Unicast lids [0-44] of switch Lid 2 guid 0x0000000020000000 ('leaf1'):`
static bool read_section(struct scan *s, uint64_t *guid)
{
	return scan_take_word(s, "Unicast lids ") && find_word(s, " guid ") && read_hex(s, guid);
}

// `0x0001 001 : (Channel Adapter portguid 0x0000000010000001: 'host1 HCA-1')`
static bool read_entry(struct scan *s, struct entry *entry)
{
	entry->guid = 0;
	if (!read_hex(s, &entry->lid) || entry->lid > LID_MAX)
		return false;
	scan_blanks(s);
	if (!scan_decimal(s, PORT_DROP, &entry->port))
		return false;
	return !find_word(s, " portguid ") || read_hex(s, &entry->guid);
}

static void refuse_line(struct draft *d, struct scan line)
{
	const char *end = line.at;
	struct label label = { .len = 0 };

	while (end < line.end && *end != '\n' && *end != '\r')
		end++;
	label_piece(&label, line.at, (uint32_t)(end - line.at));
	fabric_fail(d->faults, FABRIC_FAULT_IMPORT_LINE, line.line, label.text, "", 0, 0);
}

// --- whose LID is which -----------------------------------------------------------------------

static void learn_section(struct draft *d, uint32_t line, uint64_t guid)
{
	const uint32_t user = *slot_of(d, guid);

	d->at = FABRIC_NONE;
	if (user == 0 || user > d->fabric->switch_count) {
		fail_guid(d, line, guid);
		return;
	}
	d->at = user - 1;
	if (d->section_line[d->at] != 0)
		fail(d, FABRIC_FAULT_IMPORT_NODE_TWICE, line, d->section_line[d->at], 0);
	d->section_line[d->at] = line;
}

static void learn_entry(struct draft *d, uint32_t line, const struct entry *entry)
{
	const uint32_t user = entry->guid == 0 ? 0 : *slot_of(d, entry->guid);

	if (entry->guid == 0)
		return;
	if (user == 0) {
		fail_guid(d, line, entry->guid);
		return;
	}
	if (d->user[entry->lid] != 0 && d->user[entry->lid] != user)
		fail(d, FABRIC_FAULT_IMPORT_LID_MOVED, line, entry->lid, d->user_line[entry->lid]);
	d->user[entry->lid] = user;
	d->user_line[entry->lid] = line;
}

static void learn(struct draft *d, struct scan s)
{
	bool begun = false;

	for (; s.at < s.end; scan_next_line(&s)) {
		const struct scan line = s;
		struct entry entry;
		uint64_t guid;

		if (is_remark(s))
			continue;
		if (read_section(&s, &guid)) {
			learn_section(d, line.line, guid);
			begun = true;
		} else if (begun && read_entry(&s, &entry)) {
			learn_entry(d, line.line, &entry);
		} else {
			refuse_line(d, line);
		}
	}
}

// --- edges ------------------------------------------------------------------------------------

// How many edges each host needs, as [host + 1]; a host without a LID is not reached, and has one.
static uint32_t count_edges(struct draft *d, uint32_t *first)
{
	const uint32_t hosts = d->graph->topo.host_count;

	for (uint32_t lid = 1; lid <= LID_MAX; lid++) {
		if (d->user[lid] > d->fabric->switch_count)
			first[d->user[lid] - d->fabric->switch_count]++;
	}
	for (uint32_t host = 0; host < hosts; host++)
		first[host + 1] = first[host] + (first[host + 1] == 0 ? 1 : first[host + 1]);
	return first[hosts];
}

static void number_edges(struct draft *d, uint32_t *next, uint32_t *edge_switch)
{
	const struct topo *topo = &d->graph->topo;
	uint32_t edge = 0;

	for (uint32_t host = 0; host < topo->host_count; host++) {
		while (host >= topo->edge_first_host[edge + 1])
			edge++;
		for (uint32_t i = next[host]; i < next[host + 1]; i++) {
			edge_switch[i] = topo->edge_switch[edge];
			d->lfts->edge_host[i] = host;
		}
	}
	for (uint32_t lid = 1; lid <= LID_MAX; lid++) {
		if (d->user[lid] <= d->fabric->switch_count)
			continue;
		d->edge[lid] = next[d->user[lid] - d->fabric->switch_count - 1]++;
		d->lfts->edge_lid[d->edge[lid]] = (uint16_t)lid;
	}
}

// The graph with an edge, of one host, for each LID.
static bool make_edges(struct draft *d, struct arena *keep, struct arena *scratch)
{
	struct topo *topo = &d->lfts->topo;
	uint32_t *next = arena_take(scratch, (size_t)d->graph->topo.host_count + 1, sizeof(*next));
	uint32_t *edge_switch, *first_host;

	if (next == NULL)
		return false;
	*topo = d->graph->topo;
	topo->edge_count = topo->host_count = count_edges(d, next);
	edge_switch = arena_take(keep, topo->edge_count, sizeof(*edge_switch));
	first_host = arena_take(keep, (size_t)topo->edge_count + 1, sizeof(*first_host));
	d->lfts->edge_host = arena_take(keep, topo->edge_count, sizeof(*d->lfts->edge_host));
	d->lfts->edge_lid = arena_take(keep, topo->edge_count, sizeof(*d->lfts->edge_lid));
	if (edge_switch == NULL || first_host == NULL || d->lfts->edge_host == NULL ||
	    d->lfts->edge_lid == NULL)
		return false;
	for (uint32_t i = 0; i <= topo->edge_count; i++)
		first_host[i] = i;
	number_edges(d, next, edge_switch);
	topo->edge_switch = edge_switch;
	topo->edge_first_host = first_host;
	return plan_init(topo, keep, &d->lfts->plan) == 0;
}

// --- rows -------------------------------------------------------------------------------------

// The row of a port that leads to another switch, or else astray.
static int find_way(struct draft *d, uint16_t port, uint16_t *row)
{
	const struct topo *topo = &d->lfts->topo;
	const uint32_t link = topo_link_at(topo, d->at, port);
	const struct plan_hop hop = {
		.link = (uint16_t)(link - topo->link_first[d->at]),
		.weight = 1,
	};

	*row = IMPORT_LFTS_ASTRAY;
	return link == TOPO_NONE ? 0 : plan_group(&d->lfts->plan, &hop, 1, 0, row);
}

static int set_row(struct draft *d, uint32_t line, const struct entry *entry)
{
	const uint32_t edge = d->edge[entry->lid];
	const struct fabric_host_port *host =
		&d->fabric->host_ports[d->graph->host_of[d->lfts->edge_host[edge]]];
	uint16_t *row = &plan_rows(&d->lfts->plan, edge)[d->at];
	uint16_t *way = &d->way[entry->port];
	int rc = 0;

	if (*row != PLAN_NONE) {
		fail(d, FABRIC_FAULT_IMPORT_LID_TWICE, line, entry->lid, 0);
		return 0;
	}
	if (*way == PLAN_NONE)
		rc = find_way(d, (uint16_t)entry->port, way);
	*row = host->at == d->at && host->port == entry->port ? (uint16_t)PLAN_LOCAL : *way;
	return rc;
}

static int take_entry(struct draft *d, uint32_t line, const struct entry *entry)
{
	if (entry->port == PORT_DROP)
		return 0;
	if (d->user[entry->lid] == 0) {
		fail(d, FABRIC_FAULT_IMPORT_LID_UNKNOWN, line, entry->lid, 0);
		return 0;
	}
	return d->user[entry->lid] <= d->fabric->switch_count ? 0 : set_row(d, line, entry);
}

static void begin_section(struct draft *d, uint64_t guid)
{
	d->at = *slot_of(d, guid) - 1;
	for (uint32_t port = 0; port < PORT_DROP; port++)
		d->way[port] = PLAN_NONE;
}

// Of a text that learn() has found no fault with. 0, or -ENOMEM or -EOVERFLOW.
static int take_rows(struct draft *d, struct scan s)
{
	int rc = 0;

	for (; s.at < s.end && rc == 0; scan_next_line(&s)) {
		const uint32_t line = s.line;
		struct entry entry;
		uint64_t guid;

		if (is_remark(s))
			continue;
		if (read_section(&s, &guid))
			begin_section(d, guid);
		else if (read_entry(&s, &entry))
			rc = take_entry(d, line, &entry);
	}
	return rc;
}

// --- all of it --------------------------------------------------------------------------------

static bool take_memory(struct draft *d, struct arena *scratch)
{
	const uint32_t users = d->fabric->switch_count + d->graph->topo.host_count;
	uint32_t slots = 64;

	while (slots < 2 * users)
		slots *= 2;
	d->slot_mask = slots - 1;
	d->slot = arena_take(scratch, slots, sizeof(*d->slot));
	d->user = arena_take(scratch, LID_MAX + 1, sizeof(*d->user));
	d->user_line = arena_take(scratch, LID_MAX + 1, sizeof(*d->user_line));
	d->edge = arena_take(scratch, LID_MAX + 1, sizeof(*d->edge));
	d->section_line = arena_take(scratch, d->fabric->switch_count, sizeof(*d->section_line));
	return d->slot != NULL && d->user != NULL && d->user_line != NULL && d->edge != NULL &&
	       d->section_line != NULL;
}

static int read_tables(struct draft *d, struct scan s, struct arena *keep, struct arena *scratch)
{
	if (!take_memory(d, scratch))
		return -ENOMEM;
	index_guids(d);
	learn(d, s);
	if (d->faults->count > 0)
		return -EINVAL;
	if (!make_edges(d, keep, scratch))
		return -ENOMEM;
	return take_rows(d, s);
}

int import_lfts(const char *text, size_t bytes, const struct fabric *fabric,
		const struct fabric_graph *graph, struct arena *keep, struct arena *scratch,
		struct import_lfts *lfts, struct fabric_faults *faults)
{
	const size_t mark = arena_mark(scratch);
	struct draft d = {
		.fabric = fabric,
		.graph = graph,
		.faults = faults,
		.lfts = lfts,
		.at = FABRIC_NONE,
	};
	const int rc = read_tables(&d, scan_text(text, bytes), keep, scratch);

	arena_release(scratch, mark);
	// A switch has no more ways than ports, so groups do not run out.
	if (rc == -ENOMEM || rc == -EOVERFLOW)
		fabric_fail(faults, FABRIC_FAULT_MEMORY, 0, fabric->name, "", 0, 0);
	if (rc != 0)
		return rc == -EINVAL ? rc : -ENOMEM;
	return faults->count > 0 ? -EINVAL : 0;
}
