// SPDX-License-Identifier: BSD-3-Clause
//
// The pause graph has switches as nodes and, for each paused port between two of them, an edge from
// its switch to that which pauses it. Roots are switches without a paused port towards another one
// that pause somebody, and host ports that are paused. Victims are counted by walking the edges
// backwards from each root; work is bounded by roots x cables.

#include "fabricmgr/core/health_storm.h"

#include <errno.h>
#include <string.h>

struct walk {
	const struct health *health;
	const struct fabric *fabric;
	double share;
	ns_t now;
	bool *holds;     // [switch] some of its ports to other switches are paused
	bool *pauses;    // [switch] it pauses ports of other switches
	bool *led;       // [switch] from it a root is reached
	bool *seen;      // [switch] in the walk of one root
	uint32_t *queue; // [switch]
};

static double share_of(const struct walk *walk, uint32_t at, uint32_t port)
{
	const struct health *health = walk->health;

	if (!health_is_fresh(health, at, walk->now))
		return 0;
	return health->ports[health_port_of(health, at, port)].rate[HEALTH_PAUSED];
}

// Whether the end of a cable is paused by the other end.
static bool is_paused(const struct walk *walk, const struct fabric_cable *cable, uint32_t end)
{
	return share_of(walk, cable->end_switch[end], cable->end_port[end]) >= walk->share;
}

static void add_root(struct health_storm *storm, const struct health_root *root)
{
	uint32_t i = storm->count;

	while (i > 0 && storm->root[i - 1].victims < root->victims)
		i--;
	if (i == HEALTH_ROOTS_MAX) {
		storm->more++;
		return;
	}
	if (storm->count == HEALTH_ROOTS_MAX)
		storm->more++;
	else
		storm->count++;
	for (uint32_t k = storm->count - 1; k > i; k--)
		storm->root[k] = storm->root[k - 1];
	storm->root[i] = *root;
}

// The switch whose end of the cable at a port is paused by `at`, FABRIC_NONE: nobody's.
static uint32_t held_by(const struct walk *walk, uint32_t at, uint32_t port, double *share)
{
	const struct fabric *fabric = walk->fabric;
	const uint32_t plug = fabric_plug(&walk->health->plugs, at, (uint16_t)port);
	const struct fabric_cable *cable;
	uint32_t far;

	if (plug == FABRIC_NONE || plug >= 2 * fabric->cable_count)
		return FABRIC_NONE;
	cable = &fabric->cables[plug / 2];
	far = !(plug & 1);
	*share = share_of(walk, cable->end_switch[far], cable->end_port[far]);
	return *share >= walk->share ? cable->end_switch[far] : FABRIC_NONE;
}

// Those who wait for a port of `who` are victims, and their switches are gone on from.
static uint32_t spread(struct walk *walk, uint32_t who, uint32_t count, struct health_root *root)
{
	double share;

	for (uint32_t port = 0; port < walk->fabric->switches[who].port_count; port++) {
		const uint32_t far = held_by(walk, who, port, &share);

		if (far == FABRIC_NONE)
			continue;
		root->victims++;
		if (!walk->seen[far])
			walk->queue[count++] = far;
		walk->seen[far] = walk->led[far] = true;
	}
	return count;
}

// Counts who waits for switch `at`, and marks them as led to a root.
static void count_victims(struct walk *walk, uint32_t at, struct health_root *root)
{
	uint32_t count = 1;

	memset(walk->seen, 0, walk->fabric->switch_count * sizeof(*walk->seen));
	walk->seen[at] = walk->led[at] = true;
	walk->queue[0] = at;
	for (uint32_t i = 0; i < count; i++)
		count = spread(walk, walk->queue[i], count, root);
}

// The worst of the ports that a switch pauses.
static double worst_victim(const struct walk *walk, uint32_t at)
{
	double worst = 0;
	double share;

	for (uint32_t port = 0; port < walk->fabric->switches[at].port_count; port++) {
		if (held_by(walk, at, port, &share) != FABRIC_NONE && share > worst)
			worst = share;
	}
	return worst;
}

static uint32_t deepest_port(const struct health *health, uint32_t at)
{
	const uint32_t first = health->first_port[at];
	uint32_t best = 0;

	for (uint32_t i = 1; i < health->fabric->switches[at].port_count; i++) {
		if (health->ports[first + i].rate[HEALTH_PEAK_BYTES] >
		    health->ports[first + best].rate[HEALTH_PEAK_BYTES])
			best = i;
	}
	return best;
}

static void mark_end(struct walk *walk, const struct fabric_cable *cable, uint32_t end,
		     struct health_storm *storm)
{
	if (!is_paused(walk, cable, end))
		return;
	walk->holds[cable->end_switch[end]] = true;
	walk->pauses[cable->end_switch[!end]] = true;
	storm->pauses++;
}

static void mark(struct walk *walk, struct health_storm *storm)
{
	for (uint32_t i = 0; i < walk->fabric->cable_count; i++) {
		mark_end(walk, &walk->fabric->cables[i], 0, storm);
		mark_end(walk, &walk->fabric->cables[i], 1, storm);
	}
}

static void find_hosts(struct walk *walk, struct health_storm *storm)
{
	for (uint32_t i = 0; i < walk->fabric->host_port_count; i++) {
		const struct fabric_host_port *port = &walk->fabric->host_ports[i];
		struct health_root root = { HEALTH_ROOT_HOST, port->at, port->port, 0,
					    share_of(walk, port->at, port->port) };

		if (root.share < walk->share)
			continue;
		storm->pauses++;
		count_victims(walk, port->at, &root);
		add_root(storm, &root);
	}
}

static void find_switches(struct walk *walk, struct health_storm *storm)
{
	for (uint32_t i = 0; i < walk->fabric->switch_count; i++) {
		struct health_root root = { .kind = HEALTH_ROOT_SWITCH, .at = i };

		// A host at it that pauses is the reason already.
		if (!walk->pauses[i] || walk->holds[i] || walk->led[i])
			continue;
		root.port = deepest_port(walk->health, i);
		root.share = worst_victim(walk, i);
		count_victims(walk, i, &root);
		add_root(storm, &root);
	}
}

static uint32_t held_port(const struct walk *walk, uint32_t at)
{
	for (uint32_t i = 0; i < walk->fabric->switches[at].port_count; i++) {
		if (share_of(walk, at, i) >= walk->share)
			return i;
	}
	return 0;
}

static void find_rings(struct walk *walk, struct health_storm *storm)
{
	for (uint32_t i = 0; i < walk->fabric->switch_count; i++) {
		struct health_root root = { .kind = HEALTH_ROOT_RING, .at = i };

		if (!walk->pauses[i] || !walk->holds[i] || walk->led[i])
			continue;
		root.port = held_port(walk, i);
		root.share = worst_victim(walk, i);
		count_victims(walk, i, &root);
		add_root(storm, &root);
	}
}

int health_storm_find(const struct health *health, double share, ns_t now, struct arena *scratch,
		      struct health_storm *storm)
{
	const size_t mark_at = arena_mark(scratch);
	const uint32_t count = health->fabric->switch_count;
	struct walk walk = {
		.health = health, .fabric = health->fabric, .share = share, .now = now
	};

	*storm = (struct health_storm){ 0 };
	walk.holds = arena_take(scratch, count, sizeof(*walk.holds));
	walk.pauses = arena_take(scratch, count, sizeof(*walk.pauses));
	walk.led = arena_take(scratch, count, sizeof(*walk.led));
	walk.seen = arena_take(scratch, count, sizeof(*walk.seen));
	walk.queue = arena_take(scratch, count, sizeof(*walk.queue));
	if (walk.holds == NULL || walk.pauses == NULL || walk.led == NULL || walk.seen == NULL ||
	    walk.queue == NULL) {
		arena_release(scratch, mark_at);
		return -ENOMEM;
	}
	mark(&walk, storm);
	find_hosts(&walk, storm);
	find_switches(&walk, storm);
	find_rings(&walk, storm);
	arena_release(scratch, mark_at);
	return 0;
}
