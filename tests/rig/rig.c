// SPDX-License-Identifier: BSD-3-Clause
//
// The bench: life of a switch under test, packet memory, and the shell's side of the contract of
// dataplane/core/sw.h. rig_io.c has traffic, rig_stats.c the readings.
//
// Invariant: `live` is the number of packets allocated and not freed; at the end it is zero.

#include "tests/rig/rig.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/check.h"

struct rig_pkt {
	struct pkt pkt; // first: the core's pointer is ours
	uint8_t *buffer;
};

struct pkt *rig_alloc(struct rig *rig, uint32_t len)
{
	struct rig_pkt *p = malloc(sizeof(*p));

	WEFT_CHECK(p != NULL);
	p->buffer = malloc(SW_TAG_ROOM + (size_t)len);
	WEFT_CHECK(p->buffer != NULL);
	memset(&p->pkt, 0xff, sizeof(p->pkt)); // what its memory held before: nobody may read it
	p->pkt.data = p->buffer + SW_TAG_ROOM;
	p->pkt.len = len;
	p->pkt.head_len = (uint16_t)len;
	p->pkt.descriptors = rig->descriptors;
	rig->live++;
	return &p->pkt;
}

void rig_free(struct rig *rig, struct pkt *p)
{
	struct rig_pkt *own = (struct rig_pkt *)p;

	rig->live--;
	free(own->buffer);
	free(own);
}

static struct sw_profile *build_profile(const struct sw_config *config)
{
	struct sw_profile *pf = malloc(profile_bytes(config));
	struct profile_fault fault;

	WEFT_CHECK(pf != NULL);
	if (profile_build(config, pf, &fault) == 0)
		return pf;
	fprintf(stderr, "rig: fault \"%s\": object %s, detail %s, have %llu, want %llu\n",
		profile_fault_texts[fault.id], fault.object, fault.detail,
		(unsigned long long)fault.have, (unsigned long long)fault.want);
	abort();
}

enum { NEIGHBORS = 256 };

static struct sw_tables *build_tables(const struct sw_config *config, const struct sw_profile *pf)
{
	size_t bytes = tables_bytes(config, NEIGHBORS);
	struct sw_tables *tables;
	struct profile_fault fault;
	void *memory;

	if (bytes == 0)
		return NULL;
	memory = aligned_alloc(64, bytes);
	WEFT_CHECK(memory != NULL);
	if (tables_build(config, pf, NEIGHBORS, memory, &tables, &fault) == 0)
		return tables; // the first thing in its memory
	fprintf(stderr, "rig: fault \"%s\": object %s, detail %s\n", profile_fault_texts[fault.id],
		fault.object, fault.detail);
	abort();
}

struct rig *rig_new_blank(struct sw_config *config)
{
	struct rig *rig = calloc(1, sizeof(*rig));
	size_t bytes;

	WEFT_CHECK(rig != NULL);
	rig->config = config;
	rig->pf = build_profile(config);
	bytes = (sw_bytes(rig->pf) + 63) & ~(size_t)63;
	rig->memory = aligned_alloc(64, bytes);
	WEFT_CHECK(rig->memory != NULL);
	rig->now = (ns_t){ 1000000000 };
	rig->descriptors = 1;
	rig->mac = 0x02ffff000001;
	rig->answer_learn = true;
	rig->answer_punt = true;
	rig->answer_solicit = true;
	rig->sw = sw_init(rig->memory, rig->pf, config->sw.seed, rig->now);
	rig->tables = build_tables(config, rig->pf);
	sw_set_tables(rig->sw, rig->tables);
	for (uint32_t i = 0; i < rig->pf->port_count; i++)
		rig_link(rig, i, true);
	return rig;
}

void rig_mac_set(struct rig *rig, uint64_t mac, uint16_t vid, port_t port)
{
	bool first = sw_mac_set(rig->sw, LCORE_FIRST, mac, vid, port, rig->now);

	for (uint8_t i = 1; i < rig->pf->lcore_count; i++)
		WEFT_CHECK(sw_mac_set(rig->sw, (lcore_t){ i }, mac, vid, port, rig->now) == first);
}

struct rig *rig_new(struct sw_config *config)
{
	struct rig *rig = rig_new_blank(config);

	for (uint16_t i = 0; i < rig->pf->port_count; i++) {
		uint16_t vid = rig->pf->port[i].pvid;

		if (vid != 0)
			rig_mac_set(rig, frame_host_mac(i), vid, (port_t){ i });
	}
	return rig;
}

uint32_t rig_losses(struct rig *rig, struct sw_loss *out, uint32_t max)
{
	free(rig->judged);
	rig->judged = build_profile(rig->config);
	return sw_losses(rig->sw, rig->judged, out, max);
}

int rig_reload(struct rig *rig)
{
	struct sw_profile *pf = build_profile(rig->config);
	size_t more = sw_more_bytes(rig->sw, pf);
	int rc;

	if (more != 0) {
		void *memory = aligned_alloc(64, more);

		WEFT_CHECK(memory != NULL);
		free(sw_extend(rig->sw, pf, memory));
	}
	rc = sw_set_profile(rig->sw, pf, rig->now);
	if (rc != 0) {
		free(pf);
		return rc;
	}
	free(rig->pf);
	rig->pf = pf;
	rig_drain(rig);
	WEFT_CHECK(sw_conserved(rig->sw));
	return 0;
}

void rig_advance(struct rig *rig, uint64_t ns)
{
	rig->now = ns_add(rig->now, ns);
	for (uint8_t i = 0; i < rig->pf->lcore_count; i++)
		sw_tick(rig->sw, (lcore_t){ i }, rig->now);
	for (uint8_t i = 0; i < rig->pf->lcore_count; i++)
		sw_take(rig->sw, (lcore_t){ i }, rig->now);
	rig_drain(rig);
}

void rig_link(struct rig *rig, uint32_t port, bool up)
{
	sw_link(rig->sw, (port_t){ (uint16_t)port }, up, rig->now);
	for (uint8_t i = 0; i < rig->pf->lcore_count && !up && rig->pf->lcore_count > 1; i++)
		sw_mac_forget_port(rig->sw, (lcore_t){ i }, (port_t){ (uint16_t)port });
	rig_drain(rig);
}

// Each packet that was dropped has come back with the reason that it was counted by, but for what
// has no packet: a copy without memory, and what the shell itself refused.
static void check_reasons(const struct rig *rig)
{
	for (uint32_t i = DROP_NONE + 1; i < DROP_REASON_COUNT; i++) {
		uint64_t counted = sw_drops(rig->sw, PORT_NONE, (enum drop_reason)i);

		for (uint32_t port = 0; port < rig->pf->port_count; port++)
			counted += rig_drops(rig, port, (enum drop_reason)i);
		if (i != DROP_COPY_NO_BUFFER && i != DROP_TX_REFUSED)
			WEFT_CHECK(rig->dropped[i] == counted);
	}
}

void rig_end(struct rig *rig)
{
	WEFT_CHECK(sw_conserved(rig->sw));
	for (uint32_t i = 0; i < rig->pf->port_count; i++)
		rig_link(rig, i, false);
	rig_advance(rig, rig->pf->solicit_ns);
	if (rig->pf->lcore_count > 1)
		rig_advance(rig, 0); // what one lcore has taken and dropped another charged
	WEFT_CHECK(sw_conserved(rig->sw));
	WEFT_CHECK(rig_switch(rig).queued_packets == 0);
	WEFT_CHECK(rig_switch(rig).descriptors_in_use == 0);
	for (uint32_t i = 0; i < rig->pf->pool_count; i++) {
		struct pool_stats pool = rig_pool(rig, rig->pf->pool[i].name);

		WEFT_CHECK(pool.curr_occupancy_bytes == 0);
		WEFT_CHECK(pool.xoff_room_curr_occupancy_bytes == 0);
	}
	WEFT_CHECK(rig->live == 0);
	check_reasons(rig);
	free(sw_more(rig->sw));
	free(rig->memory);
	free(rig->tables);
	free(rig->judged);
	free(rig->pf);
	free(rig->config);
	free(rig);
}

static void note_pfc(struct rig *rig, const struct sw_action *action)
{
	struct rig_pfc *pfc = &rig->pfc[action->port.v];

	pfc->log[pfc->count % RIG_PFC_LOG].at = rig->now;
	pfc->log[pfc->count % RIG_PFC_LOG].frame = action->pfc;
	pfc->count++;
	for (uint32_t i = 0; i < PRIO_COUNT; i++) {
		if (!(action->pfc.enable >> i & 1))
			continue;
		pfc->xoff[i] += action->pfc.quanta[i] != 0;
		pfc->xon[i] += action->pfc.quanta[i] == 0;
	}
}

static void answer_copy(struct rig *rig, const struct sw_action *action)
{
	PORT_SET_FOR_EACH(port, &action->ports) {
		struct pkt *copy = rig_alloc(rig, action->pkt->len);

		memcpy(copy->data, action->pkt->data, action->pkt->len);
		sw_copy(rig->sw, action->pkt, copy, port, rig->now);
	}
}

// As the agent: the sender of an ARP is learned first, so that the answer finds its row.
static void answer_punt(struct rig *rig, const struct sw_action *action)
{
	struct pkt *p = action->pkt;

	rig->punts++;
	if (!rig->answer_punt || p->l3 == PKT_L3_LLDP) {
		rig_free(rig, p);
		return;
	}
	rig_mac_set(rig, load_be48(p->data + 6), p->vid, action->port);
	sw_inject(rig->sw, p, action->port, p->vid, rig->now);
}

static void answer_solicit(struct rig *rig, const struct sw_action *action)
{
	const struct pkt *p = action->pkt;
	struct frame request = {
		.kind = FRAME_ARP_REQUEST,
		.dst = 0xffffffffffff,
		.src = rig->mac,
		.src_ip = 0x0a01ffff,
	};

	rig->solicits++;
	if (!rig->answer_solicit || p->l3 != PKT_L3_IPV4)
		return;
	request.dst_ip = load_be32(p->data + p->l3_offset + 16);
	sw_inject(rig->sw, rig_build(rig, &request), PORT_NONE, action->vid, rig->now);
}

static void answer(struct rig *rig, const struct sw_action *action)
{
	switch (action->kind) {
	case SW_ACTION_FREE:
		rig->dropped[action->reason] += action->reason != DROP_NONE;
		rig_free(rig, action->pkt);
		return;
	case SW_ACTION_PFC: note_pfc(rig, action); return;
	case SW_ACTION_LACP:
		rig->lacp_due[action->port.v] = true;
		rig->lacp_sent[action->port.v]++;
		return;
	case SW_ACTION_COPY: answer_copy(rig, action); return;
	case SW_ACTION_PUNT: answer_punt(rig, action); return;
	case SW_ACTION_LEARN:
		rig->learns++;
		if (rig->answer_learn)
			rig_mac_set(rig, action->mac, action->vid, action->port);
		return;
	case SW_ACTION_FORGET:
		for (uint8_t i = 0; i < rig->pf->lcore_count; i++)
			sw_mac_forget(rig->sw, (lcore_t){ i }, action->mac, action->vid,
				      action->port);
		return;
	case SW_ACTION_HELLO: rig->hello_due[action->port.v] = true; return;
	case SW_ACTION_PEER: rig->peers++; return;
	case SW_ACTION_SOLICIT: answer_solicit(rig, action); return;
	case SW_ACTION_TELL: rig->tells++; return;
	case SW_ACTION_STORM:
		rig->storms += action->stormed;
		rig->restores += !action->stormed;
		return;
	}
}

void rig_drain_lcore(struct rig *rig, lcore_t lcore)
{
	struct sw_action action;

	while (sw_action(rig->sw, lcore, &action, rig->now)) {
		if (action.kind != SW_ACTION_FREE)
			rig->last = action;
		answer(rig, &action);
	}
}

void rig_drain(struct rig *rig)
{
	for (uint8_t i = 0; i < rig->pf->lcore_count; i++)
		rig_drain_lcore(rig, (lcore_t){ i });
}
