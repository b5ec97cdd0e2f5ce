// SPDX-License-Identifier: BSD-3-Clause
//
// LACPDUs against the layout of IEEE 802.1AX 6.4.2, written out by hand, and the machines of one
// port against the transitions of 6.4.12 to 6.4.15: what is received and when, and what the port
// says and does then.

#include <string.h>

#include "dataplane/core/lacp.h"
#include "tests/table.h"

static const uint8_t port_mac[6] = { 0x02, 0x11, 0x22, 0x33, 0x44, 0x55 };

#define ACTOR_SYSTEM 0x020000aaaa01u
#define PEER_SYSTEM 0x020000bbbb02u

static const uint8_t wire[LACP_FRAME_BYTES] = {
	0x01, 0x80, 0xc2, 0x00, 0x00, 0x02, 0x02, 0x11, 0x22, 0x33, 0x44, 0x55, // addresses
	0x88, 0x09, 0x01, 0x01,                                     // type, subtype, version
	0x01, 0x14, 0x80, 0x00, 0x02, 0x00, 0x00, 0xaa, 0xaa, 0x01, // actor: priority, system
	0x00, 0x07, 0x12, 0x34, 0x00, 0x09, 0x3d, 0x00, 0x00, 0x00, // key, port, state
	0x02, 0x14, 0xff, 0xfe, 0x02, 0x00, 0x00, 0xbb, 0xbb, 0x02, // partner
	0x00, 0x11, 0x00, 0xff, 0x00, 0x02, 0x3f, 0x00, 0x00, 0x00, //
	0x03, 0x10, 0x00, 0x00,                                     // collector, then zeros
};

static const struct lacp_pdu wire_pdu = {
	.actor = { ACTOR_SYSTEM, 0x8000, 7, 0x1234, 9, 0x3d },
	.partner = { PEER_SYSTEM, 0xfffe, 0x11, 0xff, 2, 0x3f },
};

static void check_info(const struct lacp_info *got, const struct lacp_info *want)
{
	cr_assert_eq(got->system, want->system);
	cr_assert_eq(got->system_priority, want->system_priority);
	cr_assert_eq(got->key, want->key);
	cr_assert_eq(got->port_priority, want->port_priority);
	cr_assert_eq(got->port, want->port);
	cr_assert_eq(got->state, want->state);
}

Test(core_lacp, a_frame_has_the_layout_of_the_standard)
{
	uint8_t got[LACP_FRAME_BYTES];
	struct lacp_pdu back;

	memset(got, 0xee, sizeof(got));
	lacp_pdu_encode(&wire_pdu, port_mac, got);
	for (uint32_t i = 0; i < sizeof(got); i++)
		cr_expect_eq(got[i], wire[i], "byte %u: %02x", i, got[i]);
	cr_assert_eq(lacp_pdu_decode(wire, sizeof(wire), 14, &back), LACP_FRAME_PDU);
	check_info(&back.actor, &wire_pdu.actor);
	check_info(&back.partner, &wire_pdu.partner);
}

static const struct {
	const char *what;
	uint32_t len;
	uint8_t at, value; // a byte of the frame that is another
	enum lacp_verdict want;
} decode_rows[] = {
	{ "whole", 124, 0, 0x01, LACP_FRAME_PDU },
	{ "version 2 is read as version 1", 124, 15, 2, LACP_FRAME_PDU },
	{ "reserved bytes are not looked at", 124, 35, 0xff, LACP_FRAME_PDU },
	{ "without collector", 56, 0, 0x01, LACP_FRAME_PDU },
	{ "partner cut off", 55, 0, 0x01, LACP_FRAME_MALFORMED },
	{ "no version", 15, 0, 0x01, LACP_FRAME_MALFORMED },
	{ "no subtype", 14, 0, 0x01, LACP_FRAME_MALFORMED },
	{ "OAM", 124, 14, 3, LACP_FRAME_OTHER },
	{ "marker", 124, 14, 2, LACP_FRAME_OTHER },
	{ "version 0", 124, 15, 0, LACP_FRAME_MALFORMED },
	{ "not an actor", 124, 16, 2, LACP_FRAME_MALFORMED },
	{ "actor of another length", 124, 17, 0x15, LACP_FRAME_MALFORMED },
	{ "not a partner", 124, 36, 1, LACP_FRAME_MALFORMED },
};

TABLE_TEST(core_lacp, decodes, row, decode_rows)
{
	uint8_t frame[LACP_FRAME_BYTES];
	struct lacp_pdu pdu;

	memcpy(frame, wire, sizeof(frame));
	frame[row->at] = row->value;
	cr_assert_eq(lacp_pdu_decode(frame, row->len, 14, &pdu), row->want, "%s", row->what);
}

// --- machines -----------------------------------------------------------------------------------

enum {
	ACT = LACP_ACTIVITY,
	SHORT = LACP_TIMEOUT,
	AGG = LACP_AGGREGATION,
	SYNC = LACP_SYNCHRONIZATION,
	RUN = LACP_COLLECTING | LACP_DISTRIBUTING,
	DEF = LACP_DEFAULTED,
	EXP = LACP_EXPIRED,
	MS = 1000000,
};

static struct lacp_profile actor(uint8_t timeout)
{
	return (struct lacp_profile){ { ACTOR_SYSTEM, 0x8000, 1, 0x8000, 3, ACT | AGG | timeout } };
}

static ns_t at_ms(uint64_t ms)
{
	return (ns_t){ 1000000000 + ms * MS };
}

// What a peer that knows us says.
static struct lacp_pdu from_peer(const struct lacp_profile *pf, const struct lacp_state *st,
				 uint8_t state)
{
	struct lacp_pdu pdu = { .actor = { PEER_SYSTEM, 0x8000, 5, 0x8000, 8, state } };

	pdu.partner = lacp_pdu_of(pf, st).actor;
	return pdu;
}

enum event {
	LINK_UP,
	LINK_DOWN,
	TICK,
	SELECT,     // the LAG takes the port in
	DESELECT,   // or not
	HEAR,       // the peer, who knows us
	HEAR_BLIND, // the peer, who knows somebody else
	HEAR_OTHER, // another system
};

struct step {
	uint64_t ms;
	enum event event;
	uint8_t peer; // its state
	enum lacp_rx rx;
	enum lacp_mux mux;
	uint8_t state; // ours, then
};

static void apply(const struct lacp_profile *pf, struct lacp_state *st, const struct step *step)
{
	struct lacp_pdu pdu = from_peer(pf, st, step->peer);
	const ns_t now = at_ms(step->ms);

	lacp_tick(st, now);
	switch (step->event) {
	case LINK_UP:
	case LINK_DOWN: lacp_link(pf, st, step->event == LINK_UP, now); return;
	case TICK: return;
	case SELECT:
	case DESELECT: lacp_select(st, step->event == SELECT, now); return;
	case HEAR: break;
	case HEAR_BLIND: pdu.partner.port++; break;
	case HEAR_OTHER: pdu.actor.system++; break;
	}
	lacp_receive(pf, st, &pdu, now);
}

#define STEPS 10
static const struct {
	const char *what;
	uint8_t timeout; // ours
	struct step step[STEPS];
} machine_rows[] = {
	{ "nobody there: expired, then defaulted, never used",
	  SHORT,
	  { { 0, LINK_UP, 0, LACP_RX_EXPIRED, LACP_MUX_DETACHED, ACT | SHORT | AGG | DEF | EXP },
	    { 2999, TICK, 0, LACP_RX_EXPIRED, LACP_MUX_DETACHED, ACT | SHORT | AGG | DEF | EXP },
	    { 3000, TICK, 0, LACP_RX_DEFAULTED, LACP_MUX_DETACHED, ACT | SHORT | AGG | DEF },
	    { 999999, TICK, 0, LACP_RX_DEFAULTED, LACP_MUX_DETACHED, ACT | SHORT | AGG | DEF } } },
	{ "up: wait two seconds, attach, run when the partner is in sync",
	  0,
	  { { 0, LINK_UP, 0, LACP_RX_EXPIRED, LACP_MUX_DETACHED, ACT | AGG | DEF | EXP },
	    { 10, HEAR, ACT | AGG, LACP_RX_CURRENT, LACP_MUX_DETACHED, ACT | AGG },
	    { 10, SELECT, 0, LACP_RX_CURRENT, LACP_MUX_WAITING, ACT | AGG },
	    { 2009, TICK, 0, LACP_RX_CURRENT, LACP_MUX_WAITING, ACT | AGG },
	    { 2010, TICK, 0, LACP_RX_CURRENT, LACP_MUX_ATTACHED, ACT | AGG | SYNC },
	    { 2500, TICK, 0, LACP_RX_CURRENT, LACP_MUX_ATTACHED, ACT | AGG | SYNC },
	    { 2600, HEAR, ACT | AGG | SYNC, LACP_RX_CURRENT, LACP_MUX_RUNNING,
	      ACT | AGG | SYNC | RUN },
	    { 2700, HEAR, ACT | AGG, LACP_RX_CURRENT, LACP_MUX_ATTACHED, ACT | AGG | SYNC },
	    { 2800, HEAR, ACT | AGG | SYNC, LACP_RX_CURRENT, LACP_MUX_RUNNING,
	      ACT | AGG | SYNC | RUN },
	    { 2900, LINK_DOWN, 0, LACP_RX_DISABLED, LACP_MUX_DETACHED, ACT | AGG } } },
	{ "short timeout: 3 s after the last word, and 3 s more",
	  SHORT,
	  { { 0, LINK_UP, 0, LACP_RX_EXPIRED, LACP_MUX_DETACHED, ACT | SHORT | AGG | DEF | EXP },
	    { 0, HEAR, ACT | AGG | SYNC, LACP_RX_CURRENT, LACP_MUX_DETACHED, ACT | SHORT | AGG },
	    { 0, SELECT, 0, LACP_RX_CURRENT, LACP_MUX_WAITING, ACT | SHORT | AGG },
	    { 2000, HEAR, ACT | AGG | SYNC, LACP_RX_CURRENT, LACP_MUX_RUNNING,
	      ACT | SHORT | AGG | SYNC | RUN },
	    { 4999, TICK, 0, LACP_RX_CURRENT, LACP_MUX_RUNNING, ACT | SHORT | AGG | SYNC | RUN },
	    { 5000, TICK, 0, LACP_RX_EXPIRED, LACP_MUX_ATTACHED, ACT | SHORT | AGG | SYNC | EXP },
	    { 7999, TICK, 0, LACP_RX_EXPIRED, LACP_MUX_ATTACHED, ACT | SHORT | AGG | SYNC | EXP },
	    { 8000, TICK, 0, LACP_RX_DEFAULTED, LACP_MUX_DETACHED, ACT | SHORT | AGG | DEF } } },
	{ "long timeout: 90 s after the last word",
	  0,
	  { { 0, LINK_UP, 0, LACP_RX_EXPIRED, LACP_MUX_DETACHED, ACT | AGG | DEF | EXP },
	    { 0, HEAR, ACT | AGG | SYNC, LACP_RX_CURRENT, LACP_MUX_DETACHED, ACT | AGG },
	    { 89999, TICK, 0, LACP_RX_CURRENT, LACP_MUX_DETACHED, ACT | AGG },
	    { 90000, TICK, 0, LACP_RX_EXPIRED, LACP_MUX_DETACHED, ACT | AGG | EXP } } },
	{ "a partner that knows somebody else is not in sync",
	  0,
	  { { 0, LINK_UP, 0, LACP_RX_EXPIRED, LACP_MUX_DETACHED, ACT | AGG | DEF | EXP },
	    { 0, HEAR_BLIND, ACT | AGG | SYNC, LACP_RX_CURRENT, LACP_MUX_DETACHED, ACT | AGG },
	    { 0, SELECT, 0, LACP_RX_CURRENT, LACP_MUX_WAITING, ACT | AGG },
	    { 2000, HEAR_BLIND, ACT | AGG | SYNC, LACP_RX_CURRENT, LACP_MUX_ATTACHED,
	      ACT | AGG | SYNC },
	    { 2001, HEAR, ACT | AGG | SYNC, LACP_RX_CURRENT, LACP_MUX_RUNNING,
	      ACT | AGG | SYNC | RUN } } },
	{ "another partner: selected anew; not selected: detached at once",
	  0,
	  { { 0, LINK_UP, 0, LACP_RX_EXPIRED, LACP_MUX_DETACHED, ACT | AGG | DEF | EXP },
	    { 0, HEAR, ACT | AGG | SYNC, LACP_RX_CURRENT, LACP_MUX_DETACHED, ACT | AGG },
	    { 0, SELECT, 0, LACP_RX_CURRENT, LACP_MUX_WAITING, ACT | AGG },
	    { 2000, TICK, 0, LACP_RX_CURRENT, LACP_MUX_RUNNING, ACT | AGG | SYNC | RUN },
	    { 2100, HEAR_OTHER, ACT | AGG | SYNC, LACP_RX_CURRENT, LACP_MUX_DETACHED, ACT | AGG },
	    { 2100, SELECT, 0, LACP_RX_CURRENT, LACP_MUX_WAITING, ACT | AGG },
	    { 4100, TICK, 0, LACP_RX_CURRENT, LACP_MUX_RUNNING, ACT | AGG | SYNC | RUN },
	    { 4200, DESELECT, 0, LACP_RX_CURRENT, LACP_MUX_DETACHED, ACT | AGG } } },
};

TABLE_TEST(core_lacp, machine, row, machine_rows)
{
	const struct lacp_profile pf = actor(row->timeout);
	struct lacp_state st = { 0 };

	for (uint32_t i = 0; i < STEPS && (i == 0 || row->step[i].ms != 0 || row->step[i].event);
	     i++) {
		const struct step *step = &row->step[i];

		apply(&pf, &st, step);
		cr_assert_eq(st.rx, step->rx, "%s: step %u: rx %u", row->what, i, st.rx);
		cr_assert_eq(st.mux, step->mux, "%s: step %u: mux %u", row->what, i, st.mux);
		cr_assert_eq(st.state, step->state, "%s: step %u: state %02x", row->what, i,
			     st.state);
	}
}

static uint32_t sent_until(const struct lacp_profile *pf, struct lacp_state *st, uint64_t from_ms,
			   uint64_t to_ms)
{
	uint32_t count = 0;

	for (uint64_t ms = from_ms; ms < to_ms; ms += 10) {
		lacp_tick(st, at_ms(ms));
		count += lacp_send(st, at_ms(ms));
	}
	return count;
}

static const struct {
	const char *what;
	uint8_t peer;
	uint64_t from_ms, to_ms;
	uint32_t least, most;
} period_rows[] = {
	{ "a partner with the short timeout: once a second", SHORT, 1000, 61000, 60, 60 },
	{ "a partner with the long timeout: every 30 s", 0, 1000, 601000, 20, 20 },
};

// The partner, not the port itself, decides how often the port sends (6.4.13).
TABLE_TEST(core_lacp, sends_as_often_as_the_partner_asks, row, period_rows)
{
	const struct lacp_profile pf = actor(0);
	struct lacp_state st = { 0 };
	struct lacp_pdu pdu;
	uint32_t count = 0;

	lacp_link(&pf, &st, true, at_ms(0));
	cr_assert(lacp_send(&st, at_ms(0)));
	for (uint64_t ms = 0; ms < row->to_ms; ms += 1000) {
		pdu = from_peer(&pf, &st, (uint8_t)(ACT | AGG | row->peer));
		lacp_receive(&pf, &st, &pdu, at_ms(ms));
		if (ms >= row->from_ms)
			count += sent_until(&pf, &st, ms, ms + 1000);
		else
			sent_until(&pf, &st, ms, ms + 1000);
	}
	cr_assert_geq(count, row->least, "%s: %u", row->what, count);
	cr_assert_leq(count, row->most, "%s: %u", row->what, count);
}

// A peer that never agrees asks for an answer each time; three frames a second are the most.
Test(core_lacp, answers_at_most_three_times_a_second)
{
	const struct lacp_profile pf = actor(0);
	struct lacp_state st = { 0 };
	uint32_t count = 0;

	lacp_link(&pf, &st, true, at_ms(0));
	for (uint64_t ms = 0; ms < 10000; ms += 5) {
		struct lacp_pdu pdu = from_peer(&pf, &st, ACT | AGG | SHORT);

		pdu.partner.port++;
		lacp_receive(&pf, &st, &pdu, at_ms(ms));
		lacp_tick(&st, at_ms(ms));
		count += lacp_send(&st, at_ms(ms));
	}
	cr_assert_eq(count, 30);
}

// Partners are told apart by system and key; one's own system is a loop, and no partner.
Test(core_lacp, partners_are_told_apart)
{
	const struct lacp_profile pf = actor(0);
	struct lacp_state st = { 0 };
	struct lacp_pdu pdu;
	uint64_t first;

	lacp_link(&pf, &st, true, at_ms(0));
	cr_assert_eq(lacp_partner(&pf, &st), 0);
	pdu = from_peer(&pf, &st, ACT | AGG);
	lacp_receive(&pf, &st, &pdu, at_ms(0));
	first = lacp_partner(&pf, &st);
	cr_assert_neq(first, 0);
	pdu.actor.port++;
	lacp_receive(&pf, &st, &pdu, at_ms(0));
	cr_assert_eq(lacp_partner(&pf, &st), first);
	pdu.actor.key++;
	lacp_receive(&pf, &st, &pdu, at_ms(0));
	cr_assert_neq(lacp_partner(&pf, &st), first);
	pdu.actor.state = ACT;
	lacp_receive(&pf, &st, &pdu, at_ms(0));
	cr_assert_eq(lacp_partner(&pf, &st), 0, "it does not aggregate");
	pdu.actor = pf.actor;
	lacp_receive(&pf, &st, &pdu, at_ms(0));
	cr_assert_eq(lacp_partner(&pf, &st), 0, "a loop");
}
