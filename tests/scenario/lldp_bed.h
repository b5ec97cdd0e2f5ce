// SPDX-License-Identifier: BSD-3-Clause
//
// One RoCE endpoint with LLDP, alone in virtual time: it is asked at its deadlines and nowhere
// else, its frames are read, and its switch is the words that are put in its ear.
#pragma once

#include <string.h>

#include "link/lldp_frame.h"
#include "tests/table.h"
#include "traffic/core/endpoint.h"

enum {
	QPS = 2,
	DSCP = 26,
	PRIO = 3,
	OTHER_PRIO = 4,
	CNP_DSCP = 48,
	CNP_PRIO = 6,
	STEPS_MAX = 100000,
	L2_BYTES = 14,
	TTL = 10,
	HOST_MAC_LOW = 0x01,
	SWITCH_MAC = 0x22,
	QUANTA_MAX = 0xffff,
};

#define GBPS 1000000000ull
#define SECOND 1000000000ull
#define PROBE_NS 10000ull // of data: some frames, and less than any pause here
#define MAC(low) (0x020000000000ull | (low))

struct bed {
	struct endpoint_profile pf;
	struct rc_region region;
	struct endpoint_state *st;
	ns_t now;
	uint32_t lldp_frames;
	uint64_t sent_at[32];  // of the first of them
	struct lldp_info said; // in the last of them
	uint32_t pfc_frames;
	struct pfc_frame pfc; // the last of them
};

static inline struct endpoint_profile profile(enum endpoint_dcbx dcbx)
{
	struct endpoint_profile pf = {
		.mac = MAC(HOST_MAC_LOW),
		.bps = 10 * GBPS,
		.mtu = 9000,
		.obey = 1 << PRIO,
		.cnp_dscp = CNP_DSCP,
		.rc = { .mtu = 1024, .window = 512, .ack_every = 16, .request_every = 16 },
		.qp_base = 0x11,
		.qp_count = QPS,
		.neighbor_count = QPS,
		.send_count = 16,
		.receive_count = 16,
		.lldp = { .interval_ns = 30 * SECOND, .dcbx = dcbx, .dscp = DSCP, .rank = 7 },
	};

	pf.dscp_to_prio[DSCP] = PRIO;
	pf.dscp_to_prio[CNP_DSCP] = CNP_PRIO;
	return pf;
}

static inline struct bed *begin(const struct endpoint_profile *pf)
{
	struct bed *bed = calloc(1, sizeof(*bed));
	const size_t bytes = (endpoint_bytes(pf) + 63) & ~(size_t)63;
	void *memory = aligned_alloc(64, bytes);

	memset(memory, 0, bytes);
	bed->pf = *pf;
	bed->st = endpoint_init(&bed->pf, &bed->region, 1, memory);
	return bed;
}

static inline void end_bed(struct bed *bed)
{
	free(bed->st);
	free(bed);
}

static inline void note(struct bed *bed, const uint8_t *frame, uint32_t len)
{
	const uint16_t ethertype = load_be16(frame + 12);

	if (ethertype == PFC_ETHERTYPE) {
		cr_assert_eq(pfc_frame_decode(frame, len, L2_BYTES, &bed->pfc), PFC_FRAME_PFC);
		bed->pfc_frames++;
	}
	if (ethertype != LLDP_ETHERTYPE)
		return;
	cr_assert(lldp_decode(frame, len, L2_BYTES, &bed->said));
	cr_assert_eq(load_be48(frame), NEAREST_BRIDGE_ADDRESS);
	cr_assert_eq(load_be48(frame + 6), bed->pf.mac);
	if (bed->lldp_frames < TABLE_COUNT(bed->sent_at))
		bed->sent_at[bed->lldp_frames] = bed->now.v;
	bed->lldp_frames++;
}

// Asks it at its deadlines, up to and including `until`.
static inline void run(struct bed *bed, uint64_t until)
{
	uint8_t frame[ROCE_FRAME_MAX];
	ns_t at = endpoint_deadline(&bed->pf, bed->st, bed->now);
	uint32_t steps = 0;

	for (; at.v <= until; at = endpoint_deadline(&bed->pf, bed->st, bed->now)) {
		uint32_t len;

		cr_assert_lt(steps++, STEPS_MAX, "it does not rest");
		bed->now = at;
		len = endpoint_tx(&bed->pf, bed->st, bed->now, frame);
		if (len != 0)
			note(bed, frame, len);
	}
	bed->now = (ns_t){ until };
}

static inline void run_for(struct bed *bed, uint64_t ns)
{
	run(bed, bed->now.v + ns);
}

static inline struct endpoint_stats stats(const struct bed *bed)
{
	struct endpoint_stats out;
	struct rc_stats rc;

	endpoint_stats_read(&bed->pf, bed->st, &out, &rc);
	return out;
}

static inline struct endpoint_lldp_view look(const struct bed *bed)
{
	struct endpoint_lldp_view view;

	cr_assert(endpoint_lldp_read(&bed->pf, bed->st, &view));
	return view;
}

// --- its peer ---------------------------------------------------------------------------------

static inline struct lldp_info speaker(uint8_t number, uint16_t ttl)
{
	struct lldp_info info = { .ttl_seconds = ttl };

	lldp_set_id(&info.chassis, LLDP_CHASSIS_LOCAL, &number, 1);
	lldp_set_id(&info.port, LLDP_PORT_LOCAL, "p", 1);
	return info;
}

// A switch that has PFC on one priority, and RoCE there.
static inline struct lldp_info switch_of(uint8_t prio)
{
	struct lldp_info info = speaker(1, TTL);

	info.dcbx.pfc = (struct dcbx_pfc){ .present = true,
					   .capability = PRIO_COUNT,
					   .enable = (uint8_t)(1u << prio) };
	info.dcbx.has_apps = true;
	info.dcbx.app_count = 1;
	info.dcbx.app[0] = (struct dcbx_app){ prio, DCBX_SELECT_UDP, ROCE_UDP_PORT };
	return info;
}

static inline void hear_from(struct bed *bed, const struct lldp_info *info, uint64_t mac)
{
	uint8_t frame[LLDP_FRAME_MAX], src[6];
	uint32_t len;

	store_be48(src, mac);
	len = lldp_encode(info, src, frame);
	endpoint_rx(&bed->pf, bed->st, frame, len, bed->now);
}

static inline void hear(struct bed *bed, const struct lldp_info *info)
{
	hear_from(bed, info, MAC(SWITCH_MAC));
}
