// SPDX-License-Identifier: BSD-3-Clause
//
// Another profile for a running switch. All lcores are between two polls: what packets hold is
// charged anew by the new pools and reserves, timers and masks are worked out again, and counters
// stay with what they count by name.
//
// Memory was laid out once for the first profile. What outgrows it (rows of the access list, the
// first fabric port) gets other memory first: sw_extend().

#include "dataplane/core/profile_build.h"
#include "dataplane/core/stage.h"

#include <errno.h>
#include <string.h>

// A wait that an old rate imposed must not outlive it.
static void adopt_rate(const struct pacer_profile *old, const struct pacer_profile *pf,
		       struct pacer_state *st, ns_t now)
{
	if (old->bps != pf->bps)
		*st = (struct pacer_state){ .ready = now };
}

static void adopt_rates(const struct port_profile *old, const struct port_profile *pf,
			struct port_state *st, ns_t now)
{
	pfc_rx_resume(&st->rx, pf->rx.obey, now);
	adopt_rate(&old->line, &pf->line, &st->line, now);
	adopt_rate(&old->flood, &pf->flood, &st->flood, now);
	for (uint32_t i = 0; i < QUEUE_COUNT; i++)
		adopt_rate(&old->queue[i].shaper, &pf->queue[i].shaper, &st->queue[i].shaper, now);
}

// Ports stay with their lcore: it holds what they have charged.
static bool ports_stay(const struct sw *sw, const struct sw_profile *pf)
{
	for (uint32_t i = 0; i < pf->port_count; i++) {
		if (pf->port[i].lcore.v != sw->pf->port[i].lcore.v)
			return false;
	}
	return true;
}

static uint32_t find_pool(const struct sw_profile *pf, const char *name)
{
	uint32_t i = 0;

	while (i < pf->pool_count && !name_equal(pf->pool[i].name, name))
		i++;
	return i;
}

// Statistics of a pool follow its name, whatever its place in the new profile; a pool of a new name
// starts with none. Charges are made anew by admit_rebind().
static void move_pools(struct sw_lcore *lc, const struct sw_profile *pf)
{
	struct pool_state old[CONFIG_POOL_MAX];

	memcpy(old, lc->pool, sizeof(old));
	memset(lc->pool, 0, sizeof(lc->pool));
	for (uint32_t i = 0; i < pf->pool_count; i++) {
		uint32_t place = find_pool(lc->pf, pf->pool[i].name);

		if (place < lc->pf->pool_count)
			lc->pool[i] = old[place];
	}
}

// Counters are a row's own; one that has come to the place of another starts at zero.
static void adopt_acl(struct sw_lcore *lc, const struct sw_profile *pf, ns_t now)
{
	const struct acl_row *before = acl_rows_of(lc->pf);
	const struct acl_row *after = acl_rows_of(pf);

	for (uint32_t i = 0; i < pf->acl_count; i++) {
		const bool same = i < lc->pf->acl_count &&
				  memcmp(before[i].name, after[i].name, CONFIG_NAME_BYTES) == 0;

		if (!same)
			lc->acl[i].stats = (struct acl_stats){ 0 };
		if (!same || before[i].rate.bps != after[i].rate.bps)
			lc->acl[i].rate = (struct pacer_state){ .ready = now };
	}
}

// Where the parts of more memory lie, in bytes from its start.
struct more {
	size_t row_bytes; // of one lcore
	size_t masks;
	size_t masked;
	size_t end;
	uint32_t rows;
};

static size_t whole_lines(size_t bytes)
{
	return (bytes + 63) & ~(size_t)63;
}

static struct more more_of(const struct sw *sw, const struct sw_profile *pf)
{
	struct more at = { .rows = sw->acl_capacity };

	if (pf->acl_capacity > at.rows)
		at.rows = pf->acl_capacity;
	at.row_bytes = whole_lines(at.rows * sizeof(struct acl_state));
	at.masks = sw->lcore_count * at.row_bytes;
	at.masked = at.masks;
	at.end = at.masks;
	if (pf->has_fabric || sw->masked != NULL) {
		at.masked += whole_lines(pf->port_count * sizeof(struct hello_masks));
		at.end = at.masked + whole_lines(HELLO_EDGE_MAX * sizeof(struct port_set));
	}
	return at;
}

uint32_t sw_mac_room(const struct sw *sw)
{
	return sw->lcore[0].bridge.slot_count / 2;
}

size_t sw_more_bytes(const struct sw *sw, const struct sw_profile *pf)
{
	if (pf->acl_count <= sw->acl_capacity && (!pf->has_fabric || sw->masked != NULL))
		return 0;
	return more_of(sw, pf).end;
}

void *sw_extend(struct sw *sw, const struct sw_profile *pf, void *memory)
{
	const struct more at = more_of(sw, pf);
	void *const old = sw->more;
	uint8_t *base = memory;

	memset(memory, 0, at.end);
	for (uint32_t i = 0; i < sw->lcore_count; i++) {
		struct acl_state *rows = (struct acl_state *)(base + i * at.row_bytes);

		memcpy(rows, sw->lcore[i].acl, sw->acl_capacity * sizeof(*rows));
		sw->lcore[i].acl = rows;
	}
	if (sw->masked != NULL) {
		memcpy(base + at.masks, sw->masks, pf->port_count * sizeof(*sw->masks));
		memcpy(base + at.masked, sw->masked, HELLO_EDGE_MAX * sizeof(*sw->masked));
	}
	if (at.end != at.masks) {
		sw->masks = (struct hello_masks *)(base + at.masks);
		sw->masked = (struct port_set *)(base + at.masked);
	}
	sw->acl_capacity = at.rows;
	sw->more = memory;
	return old;
}

void *sw_more(const struct sw *sw)
{
	return sw->more;
}

// Whether every address may stay where it was learned. Looking at each takes its time.
static bool same_vlans(const struct sw_profile *a, const struct sw_profile *b)
{
	if (memcmp(a->vlan_index, b->vlan_index, sizeof(a->vlan_index)) != 0)
		return false;
	for (uint32_t i = 0; i < a->vlan_count; i++) {
		if (memcmp(&a->vlan[i].members, &b->vlan[i].members, sizeof(b->vlan[i].members)) !=
		    0)
			return false;
	}
	return true;
}

int sw_set_profile(struct sw *sw, const struct sw_profile *pf, ns_t now)
{
	const struct sw_profile *old;

	if (pf->port_count != sw->pf->port_count || pf->mac_count > sw_mac_room(sw) ||
	    pf->lcore_count != sw->lcore_count ||
	    (sw->lcore_count > 1 && pf->descriptor_count > sw->ring_count) ||
	    sw_more_bytes(sw, pf) != 0 || !ports_stay(sw, pf))
		return -EINVAL;
	old = sw->pf;
	for (uint32_t i = 0; sw->lcore_count > 1 && i < sw->lcore_count; i++)
		collect(&sw->lcore[i]); // by the profile that it was charged by
	sw->pf = pf;
	sw->hello_id = hello_id(pf->name);
	for (uint32_t i = 0; i < pf->port_count; i++)
		adopt_rates(&old->port[i], &pf->port[i], &sw->port[i], now);
	for (uint32_t i = 0; i < sw->lcore_count; i++) {
		move_pools(&sw->lcore[i], pf);
		adopt_acl(&sw->lcore[i], pf, now);
		sw->lcore[i].pf = pf;
		sw->lcore[i].now = now;
		if (!same_vlans(old, pf))
			bridge_forget_strangers(&sw->lcore[i]);
	}
	lag_rebind(sw, now);
	admit_rebind(sw, now);
	for (uint32_t i = 0; i < sw->lcore_count; i++) {
		hello_rebind(&sw->lcore[i], now);
		watchdog_rebind(&sw->lcore[i], old, now);
	}
	return 0;
}
