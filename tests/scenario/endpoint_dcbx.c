// SPDX-License-Identifier: BSD-3-Clause
//
// DCBX of a RoCE endpoint: how it judges its switch, and what a willing one takes over and gives
// back. The switch is its words: frames made here, or what dataplane/lldp_local.c says of a
// configuration.

#include "dataplane/lldp_local.h"
#include "tests/rig/net.h"
#include "tests/rig/setup.h"
#include "tests/scenario/lldp_bed.h"

// Something to send on the priority of RoCE, to a peer that never answers.
static void give_work(struct bed *bed)
{
	const struct endpoint_peer peer = { .mac = MAC(0x33), .qp = 9, .dscp = DSCP };
	const struct rc_work work = { .op = RC_WRITE, .bytes = 1 << 30 };

	cr_assert_eq(endpoint_connect(&bed->pf, bed->st, 0, &peer, bed->now), 0);
	cr_assert(endpoint_post(&bed->pf, bed->st, 0, &work, bed->now));
}

static void pause(struct bed *bed, uint32_t prio)
{
	struct pfc_frame frame = { .enable = (uint8_t)(1u << prio) };
	const uint8_t src[6] = { 0x02 };
	uint8_t bytes[PFC_FRAME_BYTES];

	frame.quanta[prio] = QUANTA_MAX;
	pfc_frame_encode(&frame, src, bytes);
	endpoint_rx(&bed->pf, bed->st, bytes, sizeof(bytes), bed->now);
}

// Bit n: RoCE of priority n leaves.
static uint8_t sends(struct bed *bed)
{
	const struct endpoint_stats before = stats(bed);
	struct endpoint_stats after;
	uint8_t out = 0;

	run_for(bed, PROBE_NS);
	after = stats(bed);
	for (uint32_t i = 0; i < PRIO_COUNT; i++)
		out |= (uint8_t)((after.prio[i].tx_packets > before.prio[i].tx_packets) << i);
	return out;
}

static struct bed *begin_busy(enum endpoint_dcbx dcbx)
{
	struct endpoint_profile pf = profile(dcbx);
	struct bed *bed;

	pf.has_ipv4 = true;
	bed = begin(&pf);
	run(bed, 5 * SECOND);
	give_work(bed);
	cr_assert_eq(sends(bed), 1 << PRIO);
	return bed;
}

Test(endpoint_dcbx, a_switch_that_differs_is_told_of_and_not_followed)
{
	struct bed *bed = begin_busy(ENDPOINT_DCBX_ANNOUNCE);
	struct lldp_info sw = switch_of(OTHER_PRIO);

	hear(bed, &sw);
	cr_assert_eq(look(bed).differs, 1 << DCBX_PFC | 1 << DCBX_ROCE);
	cr_assert(!look(bed).follows);
	pause(bed, OTHER_PRIO);
	cr_assert_eq(sends(bed), 1 << PRIO);
	pause(bed, PRIO);
	cr_assert_eq(sends(bed), 0);
	cr_assert_eq(stats(bed).dcbx_changes, 0);
	sw = switch_of(PRIO);
	hear(bed, &sw);
	cr_assert_eq(look(bed).differs, 0);
	end_bed(bed);
}

Test(endpoint_dcbx, a_willing_host_follows_while_its_switch_speaks)
{
	struct bed *bed = begin_busy(ENDPOINT_DCBX_WILLING);
	const struct lldp_info sw = switch_of(OTHER_PRIO);
	struct endpoint_lldp_view view;
	uint64_t heard_at;

	pause(bed, PRIO);
	cr_assert_eq(sends(bed), 0);
	heard_at = bed->now.v;
	hear(bed, &sw);
	cr_assert(look(bed).follows);
	cr_assert_eq(look(bed).differs, 0);
	// What waited behind the pause goes on the other priority, which has none.
	cr_assert_eq(sends(bed), 1 << OTHER_PRIO);
	cr_assert_eq(bed->said.dcbx.pfc.enable, 1 << OTHER_PRIO);
	cr_assert(bed->said.dcbx.pfc.willing);
	cr_assert_eq(dcbx_roce_priority(&bed->said.dcbx), OTHER_PRIO);
	pause(bed, PRIO);
	cr_assert_eq(sends(bed), 1 << OTHER_PRIO);
	pause(bed, OTHER_PRIO);
	cr_assert_eq(sends(bed), 0);
	cr_assert_eq(endpoint_paused_ns(bed->st, (prio_t){ OTHER_PRIO }, bed->now), PROBE_NS);

	// Said again, nothing changes; never again, it is as it was.
	run(bed, heard_at + TTL * SECOND - 1);
	cr_assert(look(bed).follows);
	cr_assert_eq(stats(bed).dcbx_changes, 1);
	run(bed, heard_at + TTL * SECOND);
	cr_assert(!look(bed).follows);
	cr_assert_eq(stats(bed).dcbx_changes, 2);
	view = look(bed);
	cr_assert_eq(view.ours.dcbx.pfc.enable, 1 << PRIO);
	cr_assert_eq(dcbx_roce_priority(&view.ours.dcbx), PRIO);
	end_bed(bed);
}

// Its data stays where it was, but PFC there is no more.
Test(endpoint_dcbx, a_pause_that_no_longer_counts_ends)
{
	struct bed *bed = begin_busy(ENDPOINT_DCBX_WILLING);
	struct lldp_info sw = switch_of(OTHER_PRIO);

	pause(bed, PRIO);
	cr_assert_eq(sends(bed), 0);
	sw.dcbx.has_apps = false;
	sw.dcbx.app_count = 0;
	hear(bed, &sw);
	cr_assert_eq(sends(bed), 1 << PRIO);
	cr_assert_eq(endpoint_paused_ns(bed->st, (prio_t){ PRIO }, bed->now), PROBE_NS);
	end_bed(bed);
}

Test(endpoint_dcbx, what_a_switch_says_of_a_dscp_is_nearer)
{
	struct bed *bed = begin_busy(ENDPOINT_DCBX_WILLING);
	struct lldp_info sw = switch_of(PRIO);

	sw.dcbx.app[sw.dcbx.app_count++] = (struct dcbx_app){ OTHER_PRIO, DCBX_SELECT_DSCP, DSCP };
	sw.dcbx.app[sw.dcbx.app_count++] = (struct dcbx_app){ 1, DCBX_SELECT_DSCP, 64 + DSCP };
	sw.dcbx.app[sw.dcbx.app_count++] = (struct dcbx_app){ 2, DCBX_SELECT_TCP, DSCP };
	hear(bed, &sw);
	cr_assert_eq(sends(bed), 1 << OTHER_PRIO);
	end_bed(bed);
}

Test(endpoint_dcbx, two_that_may_contradict_are_not_followed)
{
	struct bed *bed = begin_busy(ENDPOINT_DCBX_WILLING);
	const struct lldp_info sw = switch_of(OTHER_PRIO), phone = speaker(2, TTL);
	struct lldp_info other = switch_of(5);

	other.chassis.bytes[0] = 3;
	hear(bed, &sw);
	hear(bed, &phone);
	cr_assert(look(bed).follows);
	hear(bed, &other);
	cr_assert_eq(look(bed).neighbor_count, 3);
	cr_assert_null(look(bed).peer);
	cr_assert(!look(bed).follows);
	cr_assert_eq(sends(bed), 1 << PRIO);
	end_bed(bed);
}

// Its receiver's PFC follows too, and what it paused before goes on.
Test(endpoint_dcbx, a_willing_receiver_pauses_what_its_switch_says)
{
	struct endpoint_profile pf = profile(ENDPOINT_DCBX_WILLING);
	const struct lldp_info sw = switch_of(OTHER_PRIO);
	const uint8_t payload[1024] = { 0 };
	const struct roce_packet packet = { .opcode = ROCE_SEND_ONLY,
					    .pkey = 0xffff,
					    .payload = payload,
					    .payload_bytes = sizeof(payload) };
	struct roce_path path = { .src_mac = MAC(SWITCH_MAC), .dst_mac = pf.mac, .dscp = DSCP };
	uint8_t frame[ROCE_FRAME_MAX];
	struct bed *bed;

	pf.has_ipv4 = true;
	pf.receiver =
		(struct receiver_profile){ .bps = 1000000,
					   .buffer_bytes = 100000,
					   .xoff_bytes = 2000,
					   .xon_bytes = 1000,
					   .gen = receiver_gen(1 << PRIO, QUANTA_MAX, pf.bps) };
	bed = begin(&pf);
	run(bed, SECOND);
	for (uint32_t i = 0; i < 3; i++)
		endpoint_rx(&bed->pf, bed->st, frame,
			    roce_frame_write(&path, &packet, pf.crc, frame), bed->now);
	run_for(bed, PROBE_NS);
	cr_assert_eq(bed->pfc_frames, 1);
	cr_assert_eq(bed->pfc.enable, 1 << PRIO);
	cr_assert_eq(bed->pfc.quanta[PRIO], QUANTA_MAX);
	hear(bed, &sw);
	run_for(bed, PROBE_NS);
	cr_assert_eq(bed->pfc_frames, 2);
	cr_assert_eq(bed->pfc.enable, 1 << PRIO);
	cr_assert_eq(bed->pfc.quanta[PRIO], 0);
	cr_assert_eq(bed->said.dcbx.pfc.enable, 1 << OTHER_PRIO);
	for (uint32_t i = 0; i < 3; i++)
		endpoint_rx(&bed->pf, bed->st, frame,
			    roce_frame_write(&path, &packet, pf.crc, frame), bed->now);
	run_for(bed, PROBE_NS);
	cr_assert_eq(bed->pfc.enable, 1 << OTHER_PRIO);
	cr_assert_eq(bed->pfc.quanta[OTHER_PRIO], QUANTA_MAX);
	end_bed(bed);
}

// IEEE 802.1Q D.2.10: when both are willing, that of the lower address is kept.
Test(endpoint_dcbx, of_two_willing_the_lower_address_is_followed)
{
	struct net *net = net_new();
	const struct rc_region region = { 0 };
	uint32_t node[2];

	for (uint32_t i = 0; i < 2; i++) {
		struct endpoint_profile pf = profile(ENDPOINT_DCBX_WILLING);

		pf.mac += i;
		pf.obey = (uint8_t)(1u << (PRIO + i));
		pf.dscp_to_prio[DSCP] = (uint8_t)(PRIO + i);
		node[i] = net_add_endpoint(net, &pf, &region, 1);
	}
	net_join(net, node[0], 0, node[1], 0, 10 * GBPS, 250);
	net_run(net, 40 * SECOND);
	for (uint32_t i = 0; i < 2; i++) {
		const struct endpoint_profile *pf = net_endpoint_profile(net, node[i]);
		struct endpoint_lldp_view view;
		struct endpoint_stats got;
		struct rc_stats rc;

		cr_assert(endpoint_lldp_read(pf, net_endpoint(net, node[i]), &view));
		endpoint_stats_read(pf, net_endpoint(net, node[i]), &got, &rc);
		cr_expect_eq(view.follows, i == 1);
		cr_expect_eq(view.differs, 0);
		cr_expect_eq(view.ours.dcbx.pfc.enable, 1 << PRIO);
		cr_expect_eq(dcbx_roce_priority(&view.ours.dcbx), PRIO);
		cr_expect_eq(got.dcbx_changes, i);
		// First frames, four for the new neighbour, one of news, one after 30 s.
		cr_expect_leq(got.tx_lldp, 7);
	}
	net_link(net, node[0], 0, false);
	net_run(net, 41 * SECOND);
	for (uint32_t i = 0; i < 2; i++) {
		struct endpoint_lldp_view view;

		cr_assert(endpoint_lldp_read(net_endpoint_profile(net, node[i]),
					     net_endpoint(net, node[i]), &view));
		cr_expect_eq(view.neighbor_count, 0);
		cr_expect_eq(view.ours.dcbx.pfc.enable, 1 << (PRIO + i));
	}
	net_end(net);
}

// With the words of the switch itself, under the stock configuration of SONiC's virtual switch: PFC
// on 3 and 4, DSCPs 3 and 4.
Test(endpoint_dcbx, it_agrees_with_a_switch_it_follows)
{
	struct endpoint_profile pf = profile(ENDPOINT_DCBX_WILLING);
	struct sw_config *c = setup_kvm(2);
	struct sw_profile *sw = aligned_alloc(16, (profile_bytes(c) + 15) & ~(size_t)15);
	struct endpoint_lldp_view view;
	struct profile_fault fault;
	struct lldp_info said;
	struct bed *bed;
	uint8_t found;

	cr_assert_eq(profile_build(c, sw, &fault), 0);
	lldp_local(c, sw, (port_t){ 0 }, 121, &said);
	pf.obey = 0;
	pf.dscp_to_prio[DSCP] = 0;
	pf.lldp.dscp = 3;
	bed = begin(&pf);
	view = look(bed);
	found = dcbx_differences(&said.dcbx, &view.ours.dcbx);
	cr_assert_eq(found & 3, 1 << DCBX_PFC | 1 << DCBX_ROCE);
	hear(bed, &said);
	run(bed, SECOND / 2);
	found = dcbx_differences(&said.dcbx, &bed->said.dcbx);
	cr_assert_eq(found & 3, 0);
	cr_assert_eq(bed->said.dcbx.pfc.enable, 0x18);
	end_bed(bed);
	free(sw);
	free(c);
}
