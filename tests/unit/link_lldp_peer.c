// SPDX-License-Identifier: BSD-3-Clause
//
// When one port sends and what it makes of what it hears, against the timers of IEEE 802.1AB 9.2.5
// and 9.2.8: 30 s, four frames a second apart at first, a credit of five. Time goes in steps of a
// tenth of a second.

#include "link/lldp_peer.h"

#include <string.h>

#include "tests/table.h"

#define TENTH 100000000ull
#define SECOND (10 * TENTH)

static const struct lldp_profile on = { 30 * SECOND, true, true };

static ns_t at_tenth(uint64_t tenths)
{
	return (ns_t){ tenths * TENTH };
}

static struct lldp_info speaker(uint8_t number, uint16_t ttl)
{
	struct lldp_info info = { .ttl_seconds = ttl };

	lldp_set_id(&info.chassis, LLDP_CHASSIS_LOCAL, &number, 1);
	lldp_set_id(&info.port, LLDP_PORT_LOCAL, "p", 1);
	return info;
}

static enum lldp_news hear(const struct lldp_profile *pf, struct lldp_port *port, uint8_t number,
			   uint16_t ttl, uint64_t tenths)
{
	const struct lldp_info info = speaker(number, ttl);
	uint32_t at;

	return lldp_port_heard(pf, port, &info, number, at_tenth(tenths), &at);
}

static const struct {
	const char *what;
	uint64_t interval_ns;
	uint16_t ttl;
} ttl_rows[] = {
	{ "4 x 30 s and one", 30 * SECOND, 121 },  { "the shortest", SECOND, 5 },
	{ "not whole", 2500000000, 11 },           { "the longest", 3600 * SECOND, 14401 },
	{ "16 bits", 30000 * SECOND, UINT16_MAX },
};

TABLE_TEST(link_lldp_peer, time_to_live, row, ttl_rows)
{
	const struct lldp_profile pf = { row->interval_ns, true, true };

	cr_assert_eq(lldp_ttl(&pf), row->ttl, "%s: %u", row->what, lldp_ttl(&pf));
}

// At which tenths of a second a port sends.
enum { EVENTS = 6 };
enum what { NOTHING, STRANGER, CHANGE, DOWN_AND_UP };

struct event {
	uint64_t at;
	enum what what;
};

#define FRAMES 12
static const struct {
	const char *what;
	struct lldp_profile pf;
	struct event event[EVENTS];
	uint64_t sent[FRAMES]; // 0 behind the first: no more
} send_rows[] = {
	{ "four at once, then every 30 s",
	  { 30 * SECOND, true, true },
	  { { 0, NOTHING } },
	  { 1, 11, 21, 31, 331, 631, 931 } },
	{ "an interval below a second's counts",
	  { 20 * TENTH, true, true },
	  { { 0, NOTHING } },
	  { 1, 11, 21, 31, 51, 71, 91, 111, 131, 151, 171, 191 } },
	{ "somebody new hears four",
	  { 30 * SECOND, true, true },
	  { { 100, STRANGER } },
	  { 1, 11, 21, 31, 100, 110, 120, 130, 430, 730 } },
	{ "a change goes out at once and restarts the interval",
	  { 30 * SECOND, true, true },
	  { { 200, CHANGE } },
	  { 1, 11, 21, 31, 200, 500, 800 } },
	// The credit of five is spent at 201 to 205, and then one comes each second.
	{ "changes do not flood",
	  { 30 * SECOND, true, true },
	  { { 201, CHANGE },
	    { 202, CHANGE },
	    { 203, CHANGE },
	    { 204, CHANGE },
	    { 205, CHANGE },
	    { 206, CHANGE } },
	  { 1, 11, 21, 31, 201, 202, 203, 204, 205, 211, 511, 811 } },
	{ "a new link begins anew",
	  { 30 * SECOND, true, true },
	  { { 100, DOWN_AND_UP } },
	  { 1, 11, 21, 31, 100, 110, 120, 130, 430, 730 } },
	{ "who only listens says nothing",
	  { 30 * SECOND, false, true },
	  { { 100, STRANGER } },
	  { 0 } },
	{ "who only speaks knows no stranger",
	  { 30 * SECOND, true, false },
	  { { 100, STRANGER } },
	  { 1, 11, 21, 31, 331, 631, 931 } },
};

static void happen(const struct lldp_profile *pf, struct lldp_port *port, enum what what,
		   uint64_t tenths)
{
	switch (what) {
	case NOTHING: return;
	case STRANGER: hear(pf, port, 1, 120, tenths); return;
	case CHANGE: lldp_port_changed(port); return;
	case DOWN_AND_UP:
		lldp_port_link(port, false, at_tenth(tenths));
		lldp_port_link(port, true, at_tenth(tenths));
		return;
	}
}

static void happen_at(const struct lldp_profile *pf, struct lldp_port *port,
		      const struct event events[EVENTS], uint64_t tenths)
{
	for (uint32_t i = 0; i < EVENTS; i++) {
		if (events[i].at == tenths)
			happen(pf, port, events[i].what, tenths);
	}
}

TABLE_TEST(link_lldp_peer, sends, row, send_rows)
{
	struct lldp_port port = { 0 };
	uint32_t sent = 0;

	lldp_port_link(&port, true, at_tenth(1));
	for (uint64_t t = 1; t < 1000 && sent < FRAMES; t++) {
		happen_at(&row->pf, &port, row->event, t);
		if (!lldp_port_due(&row->pf, &port, at_tenth(t)))
			continue;
		cr_assert_eq(t, row->sent[sent], "%s: frame %u at %lu", row->what, sent,
			     (unsigned long)t);
		sent++;
	}
	cr_assert(sent == FRAMES || row->sent[sent] == 0, "%s: %u frames", row->what, sent);
}

Test(link_lldp_peer, a_neighbour_lives_as_long_as_it_says)
{
	struct lldp_port port = { 0 };
	struct lldp_neighbor gone;

	lldp_port_link(&port, true, at_tenth(0));
	cr_assert_eq(hear(&on, &port, 1, 5, 0), LLDP_NEW);
	cr_assert_eq(hear(&on, &port, 1, 5, 30), LLDP_SAME);
	cr_assert(!lldp_port_expire(&port, at_tenth(79), &gone));
	cr_assert(lldp_port_expire(&port, at_tenth(80), &gone));
	cr_assert_eq(gone.index, 1);
	cr_assert_eq(gone.since.v, 0);
	cr_assert_eq(port.neighbor_count, 0);
	cr_assert(!lldp_port_expire(&port, at_tenth(80), &gone));
}

Test(link_lldp_peer, a_neighbour_may_say_something_else)
{
	struct lldp_port port = { 0 };
	struct lldp_info info = speaker(1, 120);
	uint32_t at;

	lldp_port_link(&port, true, at_tenth(0));
	hear(&on, &port, 1, 120, 0);
	info.dcbx.pfc = (struct dcbx_pfc){ .present = true, .enable = 8 };
	cr_assert_eq(lldp_port_heard(&on, &port, &info, 2, at_tenth(10), &at), LLDP_CHANGED);
	cr_assert_eq(at, 0);
	cr_assert_eq(port.neighbor[0].info.dcbx.pfc.enable, 8);
	cr_assert_eq(port.neighbor[0].index, 1, "it is still the same one");
	// The same chassis on another port is somebody else.
	lldp_set_id(&info.port, LLDP_PORT_LOCAL, "q", 1);
	cr_assert_eq(lldp_port_heard(&on, &port, &info, 2, at_tenth(10), &at), LLDP_NEW);
	cr_assert_eq(at, 1);
}

Test(link_lldp_peer, who_leaves_is_gone_at_once)
{
	struct lldp_port port = { 0 };
	const struct lldp_info bye = speaker(1, 0);
	uint32_t at;

	lldp_port_link(&port, true, at_tenth(0));
	for (uint8_t i = 1; i <= 3; i++)
		hear(&on, &port, i, 120, 0);
	cr_assert_eq(lldp_port_heard(&on, &port, &bye, 9, at_tenth(1), &at), LLDP_LEFT);
	cr_assert_eq(port.neighbor_count, 2);
	cr_assert_eq(port.neighbor[0].index, 2);
	cr_assert_eq(port.neighbor[1].index, 3);
	cr_assert_eq(port.neighbor[at].index, 1, "it can still be read");
	cr_assert_eq(lldp_port_heard(&on, &port, &bye, 9, at_tenth(1), &at), LLDP_SAME);
}

Test(link_lldp_peer, strangers_push_nobody_out)
{
	struct lldp_port port = { 0 };

	lldp_port_link(&port, true, at_tenth(0));
	for (uint8_t i = 1; i <= LLDP_NEIGHBOR_MAX; i++)
		cr_assert_eq(hear(&on, &port, i, 120, 0), LLDP_NEW);
	cr_assert_eq(hear(&on, &port, 99, 120, 0), LLDP_NO_ROOM);
	cr_assert_eq(port.neighbor_count, LLDP_NEIGHBOR_MAX);
	cr_assert_eq(hear(&on, &port, 1, 120, 1), LLDP_SAME);
}

Test(link_lldp_peer, goodbye_is_said_once_and_only_by_who_spoke)
{
	struct lldp_port port = { 0 };

	cr_assert(!lldp_port_ends(&port));
	lldp_port_link(&port, true, at_tenth(0));
	cr_assert(!lldp_port_ends(&port));
	cr_assert(lldp_port_due(&on, &port, at_tenth(0)));
	cr_assert(lldp_port_ends(&port));
	cr_assert(!lldp_port_ends(&port));
	cr_assert(lldp_port_due(&on, &port, at_tenth(10)), "it begins again");
	lldp_port_link(&port, false, at_tenth(20));
	cr_assert(!lldp_port_ends(&port), "nobody would hear it");
}
