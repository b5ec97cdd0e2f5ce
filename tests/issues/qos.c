// SPDX-License-Identifier: BSD-3-Clause
//
// Public bugs of classification: every DSCP against its map, maps that change under traffic, and
// what is called lossless. Names are those of rows.tsv, which says what holds instead of the bug.

#include "tests/issues/star.h"
#include "tests/table.h"

enum {
	SRC = 0,
	DST = 1,
	LEN = 200,
	DSCP_COUNT = 64,
	UNMAPPED_TC = 0, // of a DSCP that no pair names (docs/config.md, map)
};

// Sends one frame of each DSCP and checks that it waits in its queue; `want` is by DSCP.
static void check_all(struct rig *rig, const uint8_t want[DSCP_COUNT], bool ipv6, const char *what)
{
	for (uint32_t dscp = 0; dscp < DSCP_COUNT; dscp++) {
		struct frame f = rig_frame(SRC, DST, (uint8_t)dscp, LEN);
		struct frame got;

		f.ipv6 = ipv6;
		rig_send(rig, SRC, &f);
		for (uint32_t q = 0; q < QUEUE_COUNT; q++)
			cr_assert_eq(rig_queue(rig, DST, q).curr_occupancy_packets, q == want[dscp],
				     "%s: DSCP %u, queue %u", what, dscp, q);
		rig_advance(rig, 1000000); // the CNP queue has a rate
		cr_assert(rig_take_frame(rig, DST, &got));
		cr_assert_eq(got.dscp, dscp);
	}
}

static const struct {
	const char *what;
	const char *text;
	uint8_t named[4][2]; // DSCP, queue; the rest goes to `others`
	uint8_t others;
	bool ipv6;
} map_rows[] = {
	{ "some, the others named",
	  "3:3 46:5 63:7 *:2",
	  { { 3, 3 }, { 46, 5 }, { 63, 7 } },
	  2,
	  false },
	{ "the same over IPv6", "3:3 46:5 63:7 *:2", { { 3, 3 }, { 46, 5 }, { 63, 7 } }, 2, true },
	{ "others left out",
	  "3:3 4:4 63:7",
	  { { 3, 3 }, { 4, 4 }, { 63, 7 } },
	  UNMAPPED_TC,
	  false },
	{ "nothing at all", "", { { 0, UNMAPPED_TC } }, UNMAPPED_TC, false },
	{ "neighbours of a named value", "32:1 33:6 *:0", { { 32, 1 }, { 33, 6 } }, 0, false },
};

static struct sw_config *with_map(const char *text)
{
	struct sw_config *c = setup_kvm(2);

	setup_map(c, CONFIG_MAP_DSCP_TO_TC, "own", text);
	for (uint32_t i = 0; i < 2; i++) {
		setup_name(c->port[i].dscp_to_tc_map, "own");
		c->port[i].default_tc = 5; // of frames without DSCP: none here
	}
	return c;
}

TABLE_TEST(issues, sonic_buildimage_8770, row, map_rows)
{
	struct rig *rig = rig_new(with_map(row->text));
	uint8_t want[DSCP_COUNT];

	memset(want, row->others, sizeof(want));
	for (uint32_t i = 0; i < 4; i++) {
		if (row->named[i][1] != 0)
			want[row->named[i][0]] = row->named[i][1];
	}
	check_all(rig, want, row->ipv6, row->what);
	cr_assert_eq(rig_all_drops(rig), 0);
	rig_end(rig);
}

// Each DSCP has a frame in its queue when the map is turned round: those frames leave from where
// they are, all 64 go the new way, and a third map does it again.
Test(issues, sonic_buildimage_27310)
{
	static const char *const text[] = {
		"0-7:0 8-15:1 16-23:2 24-31:3 32-39:4 40-47:5 48-55:6 56-63:7",
		"0-7:7 8-15:6 16-23:5 24-31:4 32-39:3 40-47:2 48-55:1 56-63:0",
		"0-7:1 8-15:1 16-23:0 24-31:0 32-39:7 40-47:7 48-55:2 56-63:2",
	};
	static const uint8_t tc[][8] = { { 0, 1, 2, 3, 4, 5, 6, 7 },
					 { 7, 6, 5, 4, 3, 2, 1, 0 },
					 { 1, 1, 0, 0, 7, 7, 2, 2 } };
	struct rig *rig = rig_new(with_map(text[0]));

	for (uint32_t edit = 0; edit < 3; edit++) {
		uint8_t want[DSCP_COUNT];
		uint64_t queued[QUEUE_COUNT] = { 0 };

		for (uint32_t dscp = 0; dscp < DSCP_COUNT; dscp++) {
			struct frame f = rig_frame(SRC, DST, (uint8_t)dscp, LEN);

			want[dscp] = tc[edit][dscp / 8];
			queued[want[dscp]]++;
			rig_send(rig, SRC, &f);
		}
		if (edit < 2)
			memcpy(rig->config->map[0].map, text[edit + 1], strlen(text[edit + 1]) + 1);
		cr_assert_eq(rig_reload(rig), 0);
		for (uint32_t q = 0; q < QUEUE_COUNT; q++)
			cr_assert_eq(rig_queue(rig, DST, q).curr_occupancy_packets, queued[q]);
		for (uint32_t n = 0; n < DSCP_COUNT; n++) {
			rig_advance(rig, 1000000);
			cr_assert_eq(rig_release(rig, DST, 1), 1);
		}
		for (uint32_t dscp = 0; dscp < DSCP_COUNT && edit < 2; dscp++)
			want[dscp] = tc[edit + 1][dscp / 8];
		check_all(rig, want, false, text[edit]);
	}
	cr_assert_eq(rig_all_drops(rig), 0);
	rig_end(rig);
}

// What the live profile calls lossless is what behaves so: PFC holds exactly those queues, and only
// those groups answer a full buffer with PFC, through five changes of pfc_enable.
Test(issues, sonic_buildimage_5910)
{
	static const uint8_t enable[] = { 0x18, 0x08, 0x10, 0x00, 0x18 };
	struct rig *rig = rig_new(star_config(2));

	for (uint32_t n = 0; n < sizeof(enable); n++) {
		const struct port_profile *port;

		for (uint32_t i = 0; i < 2; i++)
			rig->config->port[i].pfc_enable = enable[n];
		setup_unbind_pgs(rig->config);
		if (enable[n] != 0)
			setup_pg(rig->config, "all", enable[n], KVM_PG_LOSSLESS);
		setup_pg(rig->config, "all", (uint8_t)~enable[n], KVM_PG_LOSSY);
		cr_assert_eq(rig_reload(rig), 0);
		rig_send_pfc(rig, DST, 0xff, 65535);
		port = &sw_profile_of(rig->sw)->port[DST];
		for (uint32_t i = 0; i < PRIO_COUNT; i++) {
			bool lossless = enable[n] >> i & 1;

			cr_assert_eq(port->pg[i].lossless, lossless, "%02x: %u", enable[n], i);
			cr_assert_eq(port->rx.obey >> i & 1, lossless, "%02x: %u", enable[n], i);
			cr_assert_eq(rig_queue(rig, DST, i).pause_status, lossless, "%02x: %u",
				     enable[n], i);
		}
		rig_send_pfc(rig, DST, 0xff, 0);
	}
	rig_end(rig);
}
