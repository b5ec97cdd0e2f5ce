// SPDX-License-Identifier: BSD-3-Clause
//
// The address table of the learning bridge: (MAC, VLAN) to port, open addressing with linear
// probing, at most half full. Deletion shifts the run behind the hole back, so there are no
// tombstones and a look-up ends at the first empty slot.
//
// The packet path only reads it and stamps `seen`; entries come and go through sw_mac_set() and
// friends, which the shell calls on every lcore on behalf of its control thread.

#include "dataplane/core/stage.h"

// Empties slot `hole`: every later entry of the run that may stand in the hole moves into it.
static void slot_delete(struct bridge_state *bridge, uint32_t hole)
{
	uint32_t mask = bridge->slot_count - 1;

	for (uint32_t i = (hole + 1) & mask; bridge->slot[i].key != 0; i = (i + 1) & mask) {
		uint32_t home = mac_slot_home(bridge, bridge->slot[i].key);

		if (((i - home) & mask) < ((i - hole) & mask))
			continue;
		bridge->slot[hole] = bridge->slot[i];
		hole = i;
	}
	bridge->slot[hole].key = 0;
	bridge->used--;
}

static void forget(struct sw_lcore *lc, uint32_t index)
{
	lc->bridge.port_used[lc->bridge.slot[index].port.v]--;
	slot_delete(&lc->bridge, index);
}

static bool is_member(const struct sw_lcore *lc, port_t port, uint16_t vid)
{
	uint16_t index = vid < 4096 ? lc->pf->vlan_index[vid] : 0;

	return index != 0 && port.v < lc->pf->port_count &&
	       port_set_has(&lc->pf->vlan[index - 1].members, port);
}

bool sw_mac_set(struct sw *sw, lcore_t lcore, uint64_t mac, uint16_t vid, port_t port, ns_t now)
{
	struct sw_lcore *lc = &sw->lcore[lcore.v];
	struct bridge_state *bridge = &lc->bridge;
	struct mac_slot *slot = mac_slot_find(bridge, mac_slot_key(mac, vid));
	bool known = slot->key != 0;

	port = logical_port(lc->pf, port);
	if (mac == 0 || mac >> 40 & 1 || !is_member(lc, port, vid))
		return false;
	if (known && slot->port.v == port.v) {
		slot->seen = now;
		hold_release(lc, mac, vid, port, now); // it may have been out of reach
		return true;
	}
	if (bridge->port_used[port.v] >= port_profile_of(lc, port)->mac_limit ||
	    (!known && bridge->used >= lc->pf->mac_count))
		return false;
	if (known) {
		bridge->port_used[slot->port.v]--;
		lc->stats.mac_moves += lcore_of_port(sw, port) == lc;
	} else {
		bridge->used++;
	}
	*slot = (struct mac_slot){ mac_slot_key(mac, vid), now, port };
	bridge->port_used[port.v]++;
	hold_release(lc, mac, vid, port, now);
	return true;
}

bool sw_mac_delete(struct sw *sw, lcore_t lcore, uint64_t mac, uint16_t vid)
{
	struct sw_lcore *lc = &sw->lcore[lcore.v];
	const struct mac_slot *slot = mac_slot_find(&lc->bridge, mac_slot_key(mac, vid));

	if (slot->key == 0)
		return false;
	forget(lc, (uint32_t)(slot - lc->bridge.slot));
	return true;
}

bool sw_mac_forget(struct sw *sw, lcore_t lcore, uint64_t mac, uint16_t vid, port_t port)
{
	const struct bridge_state *bridge = &sw->lcore[lcore.v].bridge;
	const struct mac_slot *slot = mac_slot_find(bridge, mac_slot_key(mac, vid));

	return slot->key != 0 && slot->port.v == logical_port(sw->pf, port).v &&
	       sw_mac_delete(sw, lcore, mac, vid);
}

void sw_mac_forget_port(struct sw *sw, lcore_t lcore, port_t port)
{
	const struct port_profile *pf = &sw->pf->port[port.v];

	// What is left of a LAG still leads to its addresses.
	if (pf->lag == 0 || !port_is_reachable(&sw->port[pf->logical.v]))
		bridge_forget_port(&sw->lcore[lcore.v], pf->logical);
}

uint32_t sw_mac_walk(const struct sw *sw, lcore_t lcore, uint32_t *at, struct mac_entry *out,
		     uint32_t max)
{
	const struct bridge_state *bridge = &sw->lcore[lcore.v].bridge;
	uint32_t count = 0;
	uint32_t i = *at;

	for (; i < bridge->slot_count && count < max; i++) {
		const struct mac_slot *slot = &bridge->slot[i];

		if (slot->key == 0 || sw->pf->port[slot->port.v].lcore.v != lcore.v)
			continue;
		out[count++] = (struct mac_entry){ .mac = slot->key & 0xffffffffffffu,
						   .vid = slot->key >> 48 & 0xfff,
						   .port = slot->port,
						   .seen = slot->seen };
	}
	*at = i < bridge->slot_count ? i : 0;
	return count;
}

static bool is_old(const struct sw_lcore *lc, const struct mac_slot *slot, ns_t now)
{
	return slot->key != 0 && ns_since(now, slot->seen) > lc->pf->mac_age_ns &&
	       lcore_owns(lc, slot->port);
}

static void announce_old(struct sw_lcore *lc, const struct mac_slot *slot)
{
	struct sw_action *action = action_add(lc, SW_ACTION_FORGET, NULL);

	action->mac = slot->key & 0xffffffffffffu;
	action->vid = slot->key >> 48 & 0xfff;
	action->port = slot->port;
}

void sw_mac_age(struct sw *sw, lcore_t lcore, uint32_t slots, ns_t now)
{
	struct sw_lcore *lc = &sw->lcore[lcore.v];
	struct bridge_state *bridge = &lc->bridge;
	uint32_t announced = 0;

	for (uint32_t n = 0; n < slots && announced < SW_BURST_MAX; n++) {
		const struct mac_slot *slot = &bridge->slot[bridge->age_at];
		bool old = is_old(lc, slot, now);

		if (old && sw->lcore_count == 1) {
			// Another entry may move here: look again before going on.
			forget(lc, bridge->age_at);
			continue;
		}
		if (old) {
			announce_old(lc, slot);
			announced++;
		}
		bridge->age_at = (bridge->age_at + 1) & (bridge->slot_count - 1);
	}
}

void bridge_forget_port(struct sw_lcore *lc, port_t port)
{
	for (uint32_t i = 0; i < lc->bridge.slot_count;) {
		const struct mac_slot *slot = &lc->bridge.slot[i];

		if (slot->key != 0 && slot->port.v == port.v)
			forget(lc, i);
		else
			i++;
	}
}

void bridge_forget_strangers(struct sw_lcore *lc)
{
	for (uint32_t i = 0; i < lc->bridge.slot_count;) {
		const struct mac_slot *slot = &lc->bridge.slot[i];

		if (slot->key != 0 && !is_member(lc, slot->port, slot->key >> 48 & 0xfff))
			forget(lc, i);
		else
			i++;
	}
}
