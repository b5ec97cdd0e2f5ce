// SPDX-License-Identifier: BSD-3-Clause
//
// Traffic of the bench: frames into a port and out of one, at the rig's clock. Nothing here makes
// time pass; a test does, with rig_advance().

#include "tests/rig/rig.h"

#include <string.h>

#include "base/bytes.h"
#include "base/check.h"

static port_t port_of(uint32_t port)
{
	return (port_t){ (uint16_t)port };
}

struct pkt *rig_build(struct rig *rig, const struct frame *f)
{
	uint8_t bytes[FRAME_MAX_BYTES];
	struct pkt *p;
	uint32_t len;

	WEFT_CHECK(f->len <= sizeof(bytes));
	len = frame_write(f, bytes);
	p = rig_alloc(rig, len);
	memcpy(p->data, bytes, len);
	return p;
}

void rig_rx(struct rig *rig, uint32_t port, struct pkt **pkts, uint32_t count)
{
	sw_rx(rig->sw, port_of(port), pkts, count, rig->now);
	rig_drain(rig);
}

void rig_send(struct rig *rig, uint32_t port, const struct frame *f)
{
	struct pkt *p = rig_build(rig, f);

	rig_rx(rig, port, &p, 1);
}

void rig_send_many(struct rig *rig, uint32_t port, struct frame *f, uint64_t count)
{
	for (; count > 0; count--) {
		rig_send(rig, port, f);
		f->seq++;
	}
}

enum { FILL_FRAMES = 100000 };

void rig_fill(struct rig *rig, uint32_t port, uint32_t pg, struct frame *f)
{
	for (uint32_t i = 0; i < FILL_FRAMES && !rig_pg(rig, port, pg).xoff_state; i++)
		rig_send_many(rig, port, f, 1);
	WEFT_CHECK(rig_pg(rig, port, pg).xoff_state);
}

void rig_send_bytes(struct rig *rig, uint32_t port, const uint8_t *bytes, uint32_t len)
{
	struct pkt *p = rig_alloc(rig, len);

	memcpy(p->data, bytes, len);
	rig_rx(rig, port, &p, 1);
}

void rig_send_pfc(struct rig *rig, uint32_t port, uint8_t enable, uint16_t quanta)
{
	struct pfc_frame frame = { .enable = enable };
	uint8_t bytes[PFC_FRAME_BYTES];
	uint8_t src[6];

	for (uint32_t i = 0; i < PRIO_COUNT; i++)
		frame.quanta[i] = quanta;
	store_be48(src, frame_host_mac(port));
	pfc_frame_encode(&frame, src, bytes);
	rig_send_bytes(rig, port, bytes, sizeof(bytes));
}

struct frame rig_frame(uint32_t from, uint32_t to, uint8_t dscp, uint32_t len)
{
	return (struct frame){
		.kind = FRAME_ROCE,
		.dst = frame_host_mac(to),
		.src = frame_host_mac(from),
		.dst_ip = frame_host_ip(to),
		.src_ip = frame_host_ip(from),
		.src_port = 0xc000,
		.opcode = 0x06, // RDMA write first
		.qp = 0x11,
		.dscp = dscp,
		.ecn = 2, // ECT(0)
		.stream = from << 8 | to,
		.len = len,
	};
}

struct pkt *rig_take(struct rig *rig, uint32_t port)
{
	struct pkt *p = NULL;
	uint32_t count;

	sw_take(rig->sw, rig->pf->port[port].lcore, rig->now);
	count = sw_tx(rig->sw, port_of(port), &p, 1, rig->now);

	rig_drain(rig);
	return count == 1 ? p : NULL;
}

bool rig_take_frame(struct rig *rig, uint32_t port, struct frame *out)
{
	struct pkt *p = rig_take(rig, port);

	if (p == NULL)
		return false;
	frame_read(p->data, p->len, out);
	rig_free(rig, p);
	return true;
}

uint64_t rig_release(struct rig *rig, uint32_t port, uint64_t count)
{
	uint64_t sent = 0;

	for (; sent < count; sent++) {
		struct pkt *p = rig_take(rig, port);

		if (p == NULL)
			break;
		rig_free(rig, p);
	}
	return sent;
}

enum { DRY_STEPS = 1000000 };

bool rig_run_dry(struct rig *rig, uint64_t step_ns)
{
	for (uint32_t i = 0; i < rig->pf->port_count; i++) {
		rig_link(rig, i, true);
		rig_send_pfc(rig, i, 0xff, 0);
	}
	rig->answer_solicit = false;
	for (uint32_t step = 0; rig_switch(rig).queued_packets > 0; step++) {
		if (step == DRY_STEPS)
			return false;
		rig_advance(rig, step_ns);
		for (uint32_t i = 0; i < rig->pf->port_count; i++)
			rig_release(rig, i, UINT64_MAX);
	}
	// One round applies what has left, a second one sees what that has freed for others.
	rig_advance(rig, 0);
	rig_advance(rig, 0);
	return true;
}

bool rig_is_open(const struct rig *rig)
{
	for (uint32_t i = 0; i < rig->pf->port_count * PG_COUNT; i++) {
		const struct pg_stats pg = rig_pg(rig, i / PG_COUNT, i % PG_COUNT);

		if (pg.xoff_state != 0 || pg.curr_occupancy_bytes != 0)
			return false;
	}
	return true;
}
