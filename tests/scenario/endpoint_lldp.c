// SPDX-License-Identifier: BSD-3-Clause
//
// LLDP of a RoCE endpoint: when it speaks, to the nanosecond (IEEE 802.1AB 9.2.5: 30 s, four frames
// a second apart at first, a time to live of four intervals and a second), what it says, and how
// long it remembers whom it heard.

#include "tests/scenario/lldp_bed.h"

// --- when it speaks ---------------------------------------------------------------------------

enum what { NOTHING, STRANGER, SWITCH, LINK, LEAVE };
enum { EVENTS = 3, FRAMES = 14 };

static const struct {
	const char *what;
	enum endpoint_dcbx dcbx;
	struct {
		uint64_t second;
		enum what what;
	} event[EVENTS];
	uint64_t sent[FRAMES]; // seconds; 0 behind the first: no more
} send_rows[] = {
	{ "four at once, then every 30 s",
	  ENDPOINT_DCBX_ANNOUNCE,
	  { { 0, NOTHING } },
	  { 0, 1, 2, 3, 33, 63, 93 } },
	{ "somebody new hears four",
	  ENDPOINT_DCBX_ANNOUNCE,
	  { { 10, STRANGER } },
	  { 0, 1, 2, 3, 10, 11, 12, 13, 43, 73 } },
	{ "who only announces is not moved by its switch",
	  ENDPOINT_DCBX_ANNOUNCE,
	  { { 10, STRANGER }, { 20, SWITCH } },
	  { 0, 1, 2, 3, 10, 11, 12, 13, 20, 21, 22, 23, 53, 83 } },
	// At 30 s its switch has been silent for so long that it is as it was, and says so.
	{ "who is willing says at once what it took over",
	  ENDPOINT_DCBX_WILLING,
	  { { 20, SWITCH } },
	  { 0, 1, 2, 3, 20, 21, 22, 23, 30, 60, 90 } },
	{ "a new link begins anew",
	  ENDPOINT_DCBX_ANNOUNCE,
	  { { 10, LINK } },
	  { 0, 1, 2, 3, 10, 11, 12, 13, 43, 73 } },
	{ "who leaves says so, and nothing more",
	  ENDPOINT_DCBX_ANNOUNCE,
	  { { 10, LEAVE }, { 20, STRANGER }, { 30, LEAVE } },
	  { 0, 1, 2, 3, 10 } },
};

static void happen(struct bed *bed, enum what what)
{
	const struct lldp_info stranger = speaker(9, 120), sw = switch_of(OTHER_PRIO);

	switch (what) {
	case NOTHING: break;
	case STRANGER: hear(bed, &stranger); break;
	case SWITCH: hear(bed, &sw); break;
	case LINK:
		endpoint_lldp_link(&bed->pf, bed->st, false, bed->now);
		endpoint_lldp_link(&bed->pf, bed->st, true, bed->now);
		break;
	case LEAVE: endpoint_lldp_leave(&bed->pf, bed->st); break;
	}
}

TABLE_TEST(endpoint_lldp, sends, row, send_rows)
{
	const struct endpoint_profile pf = profile(row->dcbx);
	struct bed *bed = begin(&pf);
	uint32_t want = 1;

	for (uint32_t i = 0; i < EVENTS && row->event[i].what != NOTHING; i++) {
		run(bed, row->event[i].second * SECOND - 1);
		bed->now.v++;
		happen(bed, row->event[i].what);
	}
	run(bed, 100 * SECOND);
	while (want < FRAMES && row->sent[want] != 0)
		want++;
	cr_assert_eq(bed->lldp_frames, want, "%s: %u frames", row->what, bed->lldp_frames);
	for (uint32_t i = 0; i < want; i++)
		cr_assert_eq(bed->sent_at[i], row->sent[i] * SECOND, "%s: frame %u at %lu",
			     row->what, i, (unsigned long)bed->sent_at[i]);
	cr_assert_eq(stats(bed).tx_lldp, want);
	end_bed(bed);
}

Test(endpoint_lldp, goodbye_is_said_only_by_who_spoke)
{
	const struct endpoint_profile pf = profile(ENDPOINT_DCBX_ANNOUNCE);
	struct bed *bed = begin(&pf);

	run(bed, SECOND);
	cr_assert_eq(bed->said.ttl_seconds, 4 * 30 + 1);
	endpoint_lldp_leave(&bed->pf, bed->st);
	run(bed, 2 * SECOND);
	cr_assert_eq(bed->said.ttl_seconds, 0);
	cr_assert_eq(bed->said.system_name.len, 0, "nothing but who it is");
	cr_assert_eq(load_be48(bed->said.chassis.bytes), pf.mac);
	cr_assert_eq(endpoint_deadline(&bed->pf, bed->st, bed->now).v, NS_NEVER.v);
	end_bed(bed);

	bed = begin(&pf);
	endpoint_lldp_leave(&bed->pf, bed->st);
	run(bed, 100 * SECOND);
	cr_assert_eq(bed->lldp_frames, 0);
	end_bed(bed);
}

Test(endpoint_lldp, without_it_nothing_is_said_or_heard)
{
	struct endpoint_profile pf = profile(ENDPOINT_DCBX_WILLING);
	const struct lldp_info sw = switch_of(OTHER_PRIO);
	struct endpoint_lldp_view view;
	struct bed *bed;

	pf.lldp.interval_ns = 0;
	bed = begin(&pf);
	hear(bed, &sw);
	endpoint_lldp_link(&bed->pf, bed->st, false, bed->now);
	endpoint_lldp_leave(&bed->pf, bed->st);
	run(bed, 100 * SECOND);
	cr_assert_eq(bed->lldp_frames, 0);
	cr_assert_eq(stats(bed).rx_other, 1);
	cr_assert(!endpoint_lldp_read(&bed->pf, bed->st, &view));
	end_bed(bed);
}

// --- what it says -----------------------------------------------------------------------------

static void as_it_is(struct endpoint_profile *pf)
{
}

static void with_ipv4(struct endpoint_profile *pf)
{
	pf->has_ipv4 = pf->has_ipv6 = true;
	memcpy(pf->ipv4, (uint8_t[]){ 10, 1, 0, 7 }, 4);
	pf->ipv6[0] = 0xfd;
}

static void with_ipv6(struct endpoint_profile *pf)
{
	pf->has_ipv6 = true;
	pf->ipv6[0] = 0xfd;
}

static void with_name(struct endpoint_profile *pf)
{
	memcpy(pf->lldp.name, "gpu-12", sizeof("gpu-12"));
}

static void of_rank_1000(struct endpoint_profile *pf)
{
	pf->lldp.rank = 1000;
}

static const struct {
	const char *what;
	void (*edit)(struct endpoint_profile *pf);
	const char *name;
	uint8_t family;
	uint8_t address_len;
	uint8_t address[16];
} identity_rows[] = {
	{ "a host without addresses", as_it_is, "weft-traffic 7", 0, 0, { 0 } },
	{ "with both it is managed by IPv4", with_ipv4, "weft-traffic 7", 1, 4, { 10, 1, 0, 7 } },
	{ "with one of IPv6", with_ipv6, "weft-traffic 7", 2, 16, { 0xfd } },
	{ "a name of its own", with_name, "gpu-12", 0, 0, { 0 } },
	{ "many hosts", of_rank_1000, "weft-traffic 1000", 0, 0, { 0 } },
};

TABLE_TEST(endpoint_lldp, says_who_it_is, row, identity_rows)
{
	struct endpoint_profile pf = profile(ENDPOINT_DCBX_ANNOUNCE);
	const struct lldp_info *said;
	struct bed *bed;

	row->edit(&pf);
	bed = begin(&pf);
	run(bed, SECOND / 2);
	said = &bed->said;
	cr_assert_eq(bed->lldp_frames, 1);
	cr_expect_eq(said->chassis.subtype, LLDP_CHASSIS_MAC);
	cr_expect_eq(said->chassis.len, 6);
	cr_expect_eq(load_be48(said->chassis.bytes), pf.mac);
	cr_expect_eq(said->port.subtype, LLDP_PORT_MAC);
	cr_expect_eq(load_be48(said->port.bytes), pf.mac);
	cr_expect_eq(said->system_name.len, strlen(row->name), "%s", row->what);
	cr_expect_eq(memcmp(said->system_name.bytes, row->name, strlen(row->name)), 0);
	cr_expect_eq(memcmp(said->system_description.bytes, "weft ", 5), 0);
	cr_expect_eq(said->capabilities, LLDP_CAP_STATION);
	cr_expect_eq(said->enabled, LLDP_CAP_STATION);
	cr_expect_eq(said->address_family, row->family, "%s", row->what);
	cr_expect_eq(said->address_len, row->address_len);
	cr_expect_eq(memcmp(said->address, row->address, sizeof(row->address)), 0);
	cr_expect_eq(said->max_frame_bytes, 9000 + 14 + 4 + 4);
	cr_expect_eq(said->pvid, 0);
	end_bed(bed);
}

static void willing(struct endpoint_profile *pf)
{
	pf->lldp.dcbx = ENDPOINT_DCBX_WILLING;
}

static void pausing(struct endpoint_profile *pf)
{
	pf->receiver = (struct receiver_profile){ .bps = GBPS,
						  .gen = { .enable = 1 << OTHER_PRIO } };
}

static void without_pfc(struct endpoint_profile *pf)
{
	pf->obey = 0;
}

static void cnps_among_data(struct endpoint_profile *pf)
{
	pf->dscp_to_prio[40] = CNP_PRIO;
}

static const struct {
	const char *what;
	void (*edit)(struct endpoint_profile *pf);
	bool willing;
	uint8_t pfc;
	uint8_t sharing; // classes
	uint8_t percent[TC_COUNT];
} dcbx_rows[] = {
	{ "CNPs ahead of two that take turns",
	  as_it_is,
	  false,
	  0x08,
	  0x09,
	  { [0] = 50, [3] = 50 } },
	{ "CNPs in turn with data: 100 by three, and one over",
	  cnps_among_data,
	  false,
	  0x08,
	  0x49,
	  { [0] = 34, [3] = 33, [6] = 33 } },
	{ "willing, of PFC alone", willing, true, 0x08, 0x09, { [0] = 50, [3] = 50 } },
	{ "what it pauses counts too", pausing, false, 0x18, 0x09, { [0] = 50, [3] = 50 } },
	{ "no PFC", without_pfc, false, 0, 0x09, { [0] = 50, [3] = 50 } },
};

TABLE_TEST(endpoint_lldp, says_how_it_is, row, dcbx_rows)
{
	struct endpoint_profile pf = profile(ENDPOINT_DCBX_ANNOUNCE);
	const struct dcbx *said;
	struct bed *bed;

	row->edit(&pf);
	bed = begin(&pf);
	run(bed, SECOND / 2);
	said = &bed->said.dcbx;
	cr_assert(said->pfc.present && said->ets.present && said->has_apps);
	cr_expect_eq(said->pfc.willing, row->willing, "%s", row->what);
	cr_expect_eq(said->pfc.enable, row->pfc, "%s: %x", row->what, said->pfc.enable);
	cr_expect_eq(said->pfc.capability, PRIO_COUNT);
	cr_expect(!said->ets.willing);
	for (uint32_t i = 0; i < PRIO_COUNT; i++) {
		cr_expect_eq(said->ets.prio_class[i], i);
		cr_expect_eq(said->ets.algorithm[i],
			     row->sharing >> i & 1 ? DCBX_TSA_ETS : DCBX_TSA_STRICT);
		cr_expect_eq(said->ets.percent[i], row->percent[i], "%s: class %u has %u",
			     row->what, i, said->ets.percent[i]);
	}
	cr_expect_eq(said->app_count, 1);
	cr_expect_eq(dcbx_roce_priority(said), PRIO);
	end_bed(bed);
}

Test(endpoint_lldp, dcbx_may_be_off)
{
	const struct endpoint_profile pf = profile(ENDPOINT_DCBX_OFF);
	const struct lldp_info sw = switch_of(OTHER_PRIO);
	struct bed *bed = begin(&pf);

	hear(bed, &sw);
	run(bed, SECOND / 2);
	cr_assert_gt(bed->said.system_name.len, 0);
	cr_assert(!bed->said.dcbx.pfc.present && !bed->said.dcbx.ets.present);
	cr_assert(!bed->said.dcbx.has_apps);
	cr_assert_eq(look(bed).differs, 0, "what is not said cannot differ");
	cr_assert_eq(look(bed).peer->info.dcbx.pfc.enable, 1 << OTHER_PRIO, "but is known");
	end_bed(bed);
}

// --- who is there -----------------------------------------------------------------------------

Test(endpoint_lldp, a_neighbour_lives_as_long_as_it_says)
{
	const struct endpoint_profile pf = profile(ENDPOINT_DCBX_ANNOUNCE);
	const struct lldp_info sw = switch_of(PRIO), bye = speaker(1, 0);
	struct bed *bed = begin(&pf);

	run(bed, 20 * SECOND);
	hear(bed, &sw);
	run(bed, (20 + TTL) * SECOND - 1);
	cr_assert_eq(look(bed).neighbor_count, 1);
	cr_assert_eq(look(bed).neighbor[0].since.v, 20 * SECOND);
	run(bed, (20 + TTL) * SECOND);
	cr_assert_eq(look(bed).neighbor_count, 0);
	cr_assert_null(look(bed).peer);
	cr_assert_eq(stats(bed).lldp_ageouts, 1);
	hear(bed, &sw);
	hear(bed, &bye);
	cr_assert_eq(look(bed).neighbor_count, 0, "at once");
	cr_assert_eq(stats(bed).lldp_ageouts, 1);
	hear(bed, &sw);
	endpoint_lldp_link(&bed->pf, bed->st, false, bed->now);
	cr_assert_eq(look(bed).neighbor_count, 0, "without a carrier nobody is there");
	end_bed(bed);
}

Test(endpoint_lldp, what_is_wrong_is_counted)
{
	const struct endpoint_profile pf = profile(ENDPOINT_DCBX_ANNOUNCE);
	struct lldp_info info = switch_of(PRIO);
	struct bed *bed = begin(&pf);
	uint8_t frame[LLDP_FRAME_MIN] = { 0 };

	hear_from(bed, &info, pf.mac);
	cr_assert_eq(look(bed).neighbor_count, 0, "its own words");
	store_be48(frame, NEAREST_BRIDGE_ADDRESS);
	store_be16(frame + 12, LLDP_ETHERTYPE);
	endpoint_rx(&bed->pf, bed->st, frame, sizeof(frame), bed->now);
	for (uint8_t i = 1; i <= LLDP_NEIGHBOR_MAX + 1; i++) {
		info = speaker(i, TTL);
		hear(bed, &info);
	}
	cr_assert_eq(stats(bed).rx_lldp, 2 + LLDP_NEIGHBOR_MAX + 1);
	cr_assert_eq(stats(bed).rx_lldp_bad, 1);
	cr_assert_eq(stats(bed).lldp_refused, 1);
	cr_assert_eq(look(bed).neighbor_count, LLDP_NEIGHBOR_MAX);
	// Another group address is not for this host's link alone.
	store_be48(frame, 0x0180c2000000);
	endpoint_rx(&bed->pf, bed->st, frame, sizeof(frame), bed->now);
	cr_assert_eq(stats(bed).rx_other, 1);
	end_bed(bed);
}
