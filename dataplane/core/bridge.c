// SPDX-License-Identifier: BSD-3-Clause
//
// The address table of the learning bridge: (MAC, VLAN) to port, open addressing with linear
// probing, at most half full. Deletion shifts the run behind the hole back, so there are no
// tombstones and a look-up ends at the first empty slot.
//
// The packet path only reads it and stamps `seen`; entries come and go through sw_mac_set() and
// friends, which the shell calls on the polling lcore on behalf of its control thread.

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

static void forget(struct sw *sw, uint32_t index)
{
	sw->port[sw->bridge.slot[index].port.v].mac_count--;
	slot_delete(&sw->bridge, index);
}

static bool is_member(const struct sw *sw, port_t port, uint16_t vid)
{
	uint16_t index = vid < 4096 ? sw->pf->vlan_index[vid] : 0;

	return index != 0 && port.v < sw->pf->port_count &&
	       port_set_has(&sw->pf->vlan[index - 1].members, port);
}

bool sw_mac_set(struct sw *sw, uint64_t mac, uint16_t vid, port_t port, ns_t now)
{
	struct bridge_state *bridge = &sw->bridge;
	struct mac_slot *slot = mac_slot_find(bridge, mac_slot_key(mac, vid));
	bool known = slot->key != 0;

	if (mac == 0 || mac >> 40 & 1 || !is_member(sw, port, vid))
		return false;
	if (known && slot->port.v == port.v) {
		slot->seen = now;
		return true;
	}
	if (sw->port[port.v].mac_count >= port_profile_of(sw, port)->mac_limit ||
	    (!known && bridge->used == sw->pf->mac_count))
		return false;
	if (known) {
		sw->port[slot->port.v].mac_count--;
		sw->stats.mac_moves++;
	} else {
		bridge->used++;
	}
	*slot = (struct mac_slot){ mac_slot_key(mac, vid), now, port };
	sw->port[port.v].mac_count++;
	hold_release(sw, mac, vid, port, now);
	return true;
}

bool sw_mac_delete(struct sw *sw, uint64_t mac, uint16_t vid)
{
	const struct mac_slot *slot = mac_slot_find(&sw->bridge, mac_slot_key(mac, vid));

	if (slot->key == 0)
		return false;
	forget(sw, (uint32_t)(slot - sw->bridge.slot));
	return true;
}

uint32_t sw_mac_walk(const struct sw *sw, uint32_t *at, struct mac_entry *out, uint32_t max)
{
	const struct bridge_state *bridge = &sw->bridge;
	uint32_t count = 0;
	uint32_t i = *at;

	for (; i < bridge->slot_count && count < max; i++) {
		const struct mac_slot *slot = &bridge->slot[i];

		if (slot->key == 0)
			continue;
		out[count++] = (struct mac_entry){ .mac = slot->key & 0xffffffffffffu,
						   .vid = slot->key >> 48 & 0xfff,
						   .port = slot->port,
						   .seen = slot->seen };
	}
	*at = i < bridge->slot_count ? i : 0;
	return count;
}

void sw_mac_age(struct sw *sw, uint32_t slots, ns_t now)
{
	struct bridge_state *bridge = &sw->bridge;

	for (uint32_t n = 0; n < slots; n++) {
		const struct mac_slot *slot = &bridge->slot[bridge->age_at];

		// A deletion may move another entry here: look again before going on.
		if (slot->key != 0 && ns_since(now, slot->seen) > sw->pf->mac_age_ns)
			forget(sw, bridge->age_at);
		else
			bridge->age_at = (bridge->age_at + 1) & (bridge->slot_count - 1);
	}
}

void bridge_forget_port(struct sw *sw, port_t port)
{
	for (uint32_t i = 0; i < sw->bridge.slot_count;) {
		const struct mac_slot *slot = &sw->bridge.slot[i];

		if (slot->key != 0 && slot->port.v == port.v)
			forget(sw, i);
		else
			i++;
	}
}

void bridge_forget_strangers(struct sw *sw)
{
	for (uint32_t i = 0; i < sw->bridge.slot_count;) {
		const struct mac_slot *slot = &sw->bridge.slot[i];

		if (slot->key != 0 && !is_member(sw, slot->port, slot->key >> 48 & 0xfff))
			forget(sw, i);
		else
			i++;
	}
}
