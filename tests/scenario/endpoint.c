// SPDX-License-Identifier: BSD-3-Clause
//
// RoCE endpoints: alone on a wire, against a host that storms, and through the switch itself. Time
// is the net's, so every figure is exact or a bound that follows from one.

#include <string.h>

#include "tests/rig/crew.h"
#include "tests/rig/oracle.h"
#include "tests/table.h"

enum {
	QPS = 8,
	DATA_BYTES = 1 << 20,
	RKEY = 0x34, // of region 0
	PRIO = 3,
	DSCP = 3, // as SONiC maps it
	DELAY_NS = 250,
};

#define GBPS 1000000000ull
#define MS 1000000ull
#define REMOTE_VA 0x7f0000000000ull

struct end {
	uint32_t node;
	uint8_t *memory; // NULL: lengths alone
	struct rc_region region;
};

struct bed {
	struct net *net;
	struct end end[QPS + 1];
};

static struct endpoint_profile profile_of(uint32_t id, uint64_t bps)
{
	struct endpoint_profile pf = crew_endpoint(id, bps);

	pf.rc.window = 512;
	pf.qp_base = 0x11;
	pf.qp_count = pf.neighbor_count = QPS;
	pf.send_count = pf.receive_count = 16;
	return pf;
}

static void add_end(struct bed *bed, uint32_t id, const struct endpoint_profile *pf, bool memory)
{
	struct end *end = &bed->end[id];

	end->memory = memory ? calloc(1, DATA_BYTES) : NULL;
	end->region = (struct rc_region){ .va = REMOTE_VA,
					  .bytes = memory ? DATA_BYTES : 1ull << 40,
					  .data = end->memory,
					  .rkey = RKEY,
					  .remote_write = true,
					  .remote_read = true };
	end->node = net_add_endpoint(bed->net, pf, &end->region, 1);
}

// Queue pair a_qp of one end to b_qp of another, addresses to be found.
static void connect_over(struct bed *bed, uint32_t a, uint32_t a_qp, uint32_t b, uint32_t b_qp,
			 uint8_t dscp, bool ipv6)
{
	const uint32_t end[2] = { a, b }, qp[2] = { a_qp, b_qp };

	for (uint32_t i = 0; i < 2; i++) {
		const struct end *own = &bed->end[end[i]];
		const struct endpoint_profile *other =
			net_endpoint_profile(bed->net, bed->end[end[1 - i]].node);
		struct endpoint_peer peer = {
			.ipv6 = ipv6,
			.qp = 0x11 + qp[1 - i],
			.send_psn = 0xfffff0 + end[i],
			.receive_psn = 0xfffff0 + end[1 - i],
			.dscp = dscp,
			.ecn = ECN_ECT0,
		};

		memcpy(peer.ip, ipv6 ? other->ipv6 : other->ipv4, ipv6 ? 16 : 4);
		cr_assert_eq(endpoint_connect(net_endpoint_profile(bed->net, own->node),
					      net_endpoint(bed->net, own->node), qp[i], &peer,
					      net_now(bed->net)),
			     0);
	}
}

static void connect(struct bed *bed, uint32_t a, uint32_t a_qp, uint32_t b, uint32_t b_qp)
{
	connect_over(bed, a, a_qp, b, b_qp, DSCP, false);
}

static void post(struct bed *bed, uint32_t id, uint32_t qp, const struct rc_work *work)
{
	const struct end *end = &bed->end[id];

	cr_assert(endpoint_post(net_endpoint_profile(bed->net, end->node),
				net_endpoint(bed->net, end->node), qp, work, net_now(bed->net)));
}

static struct endpoint_stats stats_of(struct bed *bed, uint32_t id, struct rc_stats *rc)
{
	struct endpoint_stats stats;
	struct rc_stats dummy;

	endpoint_stats_read(net_endpoint_profile(bed->net, bed->end[id].node),
			    net_endpoint(bed->net, bed->end[id].node), &stats,
			    rc != NULL ? rc : &dummy);
	return stats;
}

static bool complete(struct bed *bed, uint32_t id, struct rc_completion *out)
{
	uint32_t qp;

	return endpoint_complete(net_endpoint(bed->net, bed->end[id].node), &qp, out);
}

static void end_bed(struct bed *bed)
{
	net_end(bed->net);
	for (uint32_t i = 0; i <= QPS; i++)
		free(bed->end[i].memory);
}

// --- on a wire --------------------------------------------------------------------------------

struct wire_row {
	const char *what;
	enum rc_op op;
	uint64_t bytes;
	uint32_t mtu;
	bool ipv6;
};

static const struct wire_row wire_rows[] = {
	{ "a byte is written", RC_WRITE, 1, 1024, false },
	{ "a packet is written", RC_WRITE, 1024, 1024, false },
	{ "a byte more than a packet", RC_WRITE, 1025, 1024, false },
	{ "a megabyte in packets of 4096", RC_WRITE, DATA_BYTES, 4096, false },
	{ "a megabyte in packets of 1000", RC_WRITE, DATA_BYTES, 1000, false },
	{ "a megabyte is read", RC_READ, DATA_BYTES, 1024, false },
	{ "a message is sent", RC_SEND, 5000, 1024, false },
	{ "nothing is sent", RC_SEND, 0, 1024, false },
	{ "a megabyte over IPv6", RC_WRITE, DATA_BYTES, 1024, true },
};

// The data arrives, and not before its frames can have passed the wire: ARP has to find the peer,
// then come the frames, the last one's delay, and the answer.
TABLE_TEST(endpoint, wire, row, wire_rows)
{
	static uint8_t local[DATA_BYTES];
	struct bed bed = { .net = net_new() };
	struct endpoint_profile pf[2] = { profile_of(0, 10 * GBPS), profile_of(1, 10 * GBPS) };
	const uint64_t packets = row->bytes == 0 ? 1 : (row->bytes + row->mtu - 1) / row->mtu;
	const uint64_t wire_bytes = row->bytes +
				    packets * (14 + (row->ipv6 ? 40 : 20) + 8 + 12 + 4 + 24);
	struct rc_work work = { .id = 77,
				.op = row->op,
				.data = local,
				.bytes = row->bytes,
				.remote_va = REMOTE_VA,
				.rkey = RKEY };
	struct rc_completion done;
	struct rc_stats rc;
	uint8_t *from, *to;

	for (uint32_t i = 0; i < 2; i++) {
		pf[i].rc.mtu = row->mtu;
		add_end(&bed, i, &pf[i], true);
	}
	net_join(bed.net, bed.end[0].node, 0, bed.end[1].node, 0, 10 * GBPS, DELAY_NS);
	connect_over(&bed, 0, 0, 1, 3, DSCP, row->ipv6);
	cr_assert_not(endpoint_resolved(net_endpoint(bed.net, bed.end[0].node)));
	from = row->op == RC_READ ? bed.end[1].memory : local;
	to = row->op == RC_READ ? local : bed.end[1].memory;
	for (uint64_t i = 0; i < row->bytes; i++)
		from[i] = (uint8_t)(i * 131 + (i >> 8));
	if (row->op == RC_SEND) {
		const struct rc_receive receive = { .id = 5, .data = to, .bytes = DATA_BYTES };

		cr_assert(
			endpoint_post_receive(net_endpoint(bed.net, bed.end[1].node), 3, &receive));
	}
	post(&bed, 0, 0, &work);
	cr_assert(net_run_dry(bed.net, 3000 * MS), "%s: does not end", row->what);
	cr_assert(endpoint_resolved(net_endpoint(bed.net, bed.end[0].node)));
	cr_assert(complete(&bed, 0, &done), "%s: not completed", row->what);
	cr_assert_eq(done.id, 77);
	cr_assert_eq(done.status, RC_OK);
	cr_assert_eq(done.bytes, row->bytes);
	cr_assert_eq(memcmp(from, to, row->bytes), 0, "%s: data differs", row->what);
	cr_assert_geq(done.done.v, wire_bytes * 8 / 10 + 2 * DELAY_NS, "%s", row->what);
	// ARP both ways, and as much as 4 % for the answers that share the wire with READs.
	cr_assert_leq(done.done.v, wire_bytes * 8 / 10 * 104 / 100 + 10000, "%s", row->what);
	cr_assert_eq(complete(&bed, 1, &done), row->op == RC_SEND);
	stats_of(&bed, 0, &rc);
	cr_assert_eq(rc.retransmits, 0);
	end_bed(&bed);
}

// --- beside a host that pauses ----------------------------------------------------------------

// While the peer storms on its priority nothing of it begins, whatever it has to send.
Test(endpoint, a_storm_stops_it_within_one_frame)
{
	struct bed bed = { .net = net_new() };
	struct endpoint_profile pf[2] = { profile_of(0, GBPS), profile_of(1, GBPS) };
	const struct rc_work work = {
		.op = RC_WRITE, .bytes = 1 << 30, .remote_va = REMOTE_VA, .rkey = RKEY
	};
	uint64_t before, paused;

	pf[0].rc.timeout_ns = 0;
	pf[1].trouble = (struct endpoint_trouble){ .storm = 1 << PRIO,
						   .storm_quanta = 0xffff,
						   .storm_gap_ns = MS,
						   .storm_start = { 10 * MS },
						   .storm_stop = { 20 * MS } };
	add_end(&bed, 0, &pf[0], false);
	add_end(&bed, 1, &pf[1], false);
	net_join(bed.net, bed.end[0].node, 0, bed.end[1].node, 0, GBPS, DELAY_NS);
	connect(&bed, 0, 0, 1, 0);
	post(&bed, 0, 0, &work);
	// The first PFC frame leaves when the frame before it has, and takes its own time.
	net_run(bed.net, 10 * MS + 1100 * 8 + 84 * 8 + DELAY_NS);
	before = stats_of(&bed, 0, NULL).prio[PRIO].tx_packets;
	cr_assert_gt(before, 1000);
	net_run(bed.net, 20 * MS);
	cr_assert_eq(stats_of(&bed, 0, NULL).prio[PRIO].tx_packets, before);
	cr_assert_eq(stats_of(&bed, 0, NULL).prio[PRIO].rx_pfc, 10);
	// The last pause lasts 65535 quanta of 512 ns from the frame of 19 ms.
	net_run(bed.net, 60 * MS);
	cr_assert_gt(stats_of(&bed, 0, NULL).prio[PRIO].tx_packets, before);
	paused = endpoint_paused_ns(net_endpoint(bed.net, bed.end[0].node), (prio_t){ PRIO },
				    net_now(bed.net));
	cr_assert_geq(paused, 9 * MS + 65535 * 512);
	cr_assert_leq(paused, 9 * MS + 65535 * 512 + 10000);
	end_bed(&bed);
}

// A receiver at half the speed of its line pauses its peer and loses nothing, since its buffer
// holds what comes after the pause; with a buffer of a few frames it loses some.
Test(endpoint, a_slow_receiver_pauses)
{
	for (uint32_t small = 0; small < 2; small++) {
		struct bed bed = { .net = net_new() };
		struct endpoint_profile pf[2] = { profile_of(0, GBPS), profile_of(1, GBPS) };
		const struct rc_work work = {
			.op = RC_WRITE, .bytes = 4 << 20, .remote_va = REMOTE_VA, .rkey = RKEY
		};
		struct rc_completion done;
		struct endpoint_stats stats;
		struct rc_stats rc;

		pf[1].receiver = (struct receiver_profile){
			.bps = GBPS / 2,
			.buffer_bytes = small ? 20000 : 100000,
			.xoff_bytes = small ? 20000 : 50000,
			.xon_bytes = small ? 20000 : 25000,
			.gen = receiver_gen(small ? 0 : 1 << PRIO, 0xffff, GBPS),
		};
		add_end(&bed, 0, &pf[0], false);
		add_end(&bed, 1, &pf[1], false);
		net_join(bed.net, bed.end[0].node, 0, bed.end[1].node, 0, GBPS, DELAY_NS);
		connect(&bed, 0, 0, 1, 0);
		post(&bed, 0, 0, &work);
		cr_assert(net_run_dry(bed.net, 60000 * MS));
		cr_assert(complete(&bed, 0, &done));
		cr_assert_eq(done.status, RC_OK);
		stats = stats_of(&bed, 1, NULL);
		stats_of(&bed, 0, &rc);
		if (small) {
			cr_assert_gt(stats.prio[PRIO].rx_overflow, 0);
			cr_assert_gt(rc.retransmits, 0);
			cr_assert_eq(stats.prio[PRIO].tx_pfc, 0);
		} else {
			cr_assert_eq(stats.prio[PRIO].rx_overflow, 0);
			cr_assert_eq(rc.retransmits, 0);
			cr_assert_gt(stats.prio[PRIO].tx_pfc, 0);
			// Half the line, whole frames counted.
			cr_assert_geq(done.done.v,
				      (4ull << 20) * (1024 + 58) / 1024 * 16 - 100000 * 16);
		}
		end_bed(&bed);
	}
}

// --- what is wrong on purpose -----------------------------------------------------------------

// Writes a megabyte from one end's memory to the other's over a wire; what comes out of it is
// compared byte by byte.
static void write_and_compare(struct bed *bed, const struct endpoint_profile *pf)
{
	static uint8_t local[DATA_BYTES];
	const struct rc_work work = { .op = RC_WRITE,
				      .data = local,
				      .bytes = DATA_BYTES,
				      .remote_va = REMOTE_VA,
				      .rkey = RKEY };
	struct rc_completion done;

	for (uint32_t i = 0; i < DATA_BYTES; i++)
		local[i] = (uint8_t)(i * 131 + (i >> 8));
	add_end(bed, 0, &pf[0], true);
	add_end(bed, 1, &pf[1], true);
	net_join(bed->net, bed->end[0].node, 0, bed->end[1].node, 0, GBPS, DELAY_NS);
	connect(bed, 0, 0, 1, 0);
	for (uint32_t i = 0; i < 8; i++)
		post(bed, 0, 0, &work);
	cr_assert(net_run_dry(bed->net, 60000 * MS));
	for (uint32_t i = 0; i < 8; i++) {
		cr_assert(complete(bed, 0, &done));
		cr_assert_eq(done.status, RC_OK);
	}
	cr_assert_eq(memcmp(local, bed->end[1].memory, DATA_BYTES), 0);
}

Test(endpoint, corrupt_frames_are_seen_and_made_good)
{
	struct bed bed = { .net = net_new() };
	struct endpoint_profile pf[2] = { profile_of(0, GBPS), profile_of(1, GBPS) };
	struct rc_stats rc;

	pf[0].trouble.corrupt_ppm = 1000;
	write_and_compare(&bed, pf);
	cr_assert_gt(stats_of(&bed, 0, NULL).tx_corrupted, 0);
	cr_assert_eq(stats_of(&bed, 1, NULL).rx_icrc, stats_of(&bed, 0, NULL).tx_corrupted);
	stats_of(&bed, 0, &rc);
	cr_assert_gt(rc.retransmits, 0);
	end_bed(&bed);
}

// Frames behind their successors: go-back-N takes them for losses, selective hosts wait a moment.
static void check_reordering(bool selective)
{
	struct bed bed = { .net = net_new() };
	struct endpoint_profile pf[2] = { profile_of(0, GBPS), profile_of(1, GBPS) };
	struct rc_stats rc;

	pf[0].trouble.reorder_ppm = 1000;
	for (uint32_t i = 0; i < 2; i++) {
		pf[i].rc.selective = selective;
		pf[i].rc.reorder_ns = MS;
	}
	write_and_compare(&bed, pf);
	cr_assert_gt(stats_of(&bed, 0, NULL).tx_reordered, 0);
	stats_of(&bed, 0, &rc);
	cr_assert_eq(rc.retransmits > 0, !selective);
	end_bed(&bed);
}

Test(endpoint, reordering_costs_go_back_n)
{
	check_reordering(false);
}

Test(endpoint, reordering_costs_selective_hosts_nothing)
{
	check_reordering(true);
}

// --- through the switch -----------------------------------------------------------------------

enum { SENDERS = 7, SINK = 7, POOL_BYTES = 1000000 };

struct incast_row {
	const char *what;
	uint8_t dscp; // 3: lossless, 0: lossy
	bool ecn;     // and DCQCN
};

static const struct incast_row incast_rows[] = {
	{ "PFC, ECN and DCQCN", 3, true },
	{ "PFC alone", 3, false },
	{ "neither", 0, false },
};

static double jain(const uint64_t *x, uint32_t n)
{
	double sum = 0, squares = 0;

	for (uint32_t i = 0; i < n; i++) {
		sum += (double)x[i];
		squares += (double)x[i] * (double)x[i];
	}
	return sum * sum / (n * squares);
}

static uint64_t received_by(struct bed *bed, uint32_t qp)
{
	struct endpoint_qp_view view;

	endpoint_qp_read(net_endpoint_profile(bed->net, bed->end[SINK].node),
			 net_endpoint(bed->net, bed->end[SINK].node), qp, net_now(bed->net), &view);
	return view.rc.rx_bytes;
}

static struct sw_config *incast_switch(const struct incast_row *row)
{
	struct sw_config *c = setup_kvm(SENDERS + 1);

	for (uint32_t i = 0; i < c->port_count; i++)
		c->port[i].speed = GBPS;
	setup_find_pool(c, KVM_INGRESS_POOL)->size = POOL_BYTES;
	setup_find_pool(c, KVM_LOSSY_POOL)->size = POOL_BYTES;
	if (row->ecn) {
		struct red_curve red;

		cr_assert(dcqcn_preset_red(DCQCN_CW, GBPS, &red));
		setup_wred(c, "ecn", red.min_bytes, red.max_bytes, red.prob_ppm);
		setup_queue(c, "all", 1 << PRIO, "", "ecn");
	}
	return c;
}

struct incast {
	struct bed bed;
	struct rig *rig;
	uint64_t start[SENDERS]; // received so far when the measurement began
	uint64_t xoff_start;
};

static uint64_t xoffs(const struct rig *rig)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < SENDERS; i++)
		sum += rig_pg(rig, i, PRIO).xoff_events;
	return sum;
}

static void incast_new(struct incast *in, const struct incast_row *row)
{
	const struct rc_work work = {
		.op = RC_WRITE, .bytes = 1 << 30, .remote_va = REMOTE_VA, .rkey = RKEY
	};
	uint32_t sw;

	in->bed.net = net_new();
	in->rig = rig_new(incast_switch(row));
	sw = net_add_switch(in->bed.net, in->rig);
	for (uint32_t i = 0; i <= SENDERS; i++) {
		const struct dcqcn_config dcqcn = dcqcn_config_of(DCQCN_CW);
		struct endpoint_profile pf = profile_of(i, GBPS);

		pf.dcqcn = row->ecn;
		dcqcn_build(&dcqcn, GBPS, &pf.rp, &pf.np);
		add_end(&in->bed, i, &pf, false);
		net_join(in->bed.net, in->bed.end[i].node, 0, sw, i, GBPS, DELAY_NS);
	}
	for (uint32_t i = 0; i < SENDERS; i++) {
		connect_over(&in->bed, i, 0, SINK, i, row->dscp, false);
		post(&in->bed, i, 0, &work);
	}
}

// Mean bytes of the sink's queue over `ms` milliseconds.
static double run_and_watch(struct incast *in, uint32_t ms)
{
	double sum = 0;

	for (uint32_t i = 0; i < ms * 10; i++) {
		net_run(in->bed.net, net_now(in->bed.net).v + MS / 10);
		sum += (double)rig_queue(in->rig, SINK, PRIO).curr_occupancy_bytes;
	}
	return sum / (ms * 10);
}

// 7-to-1 over ports of 1 Gb/s. What arrives in the second half of 400 ms is compared with what the
// sink's line can carry: 1024 of 1024 + 58 + 24 bytes (payload, headers, wire).
TABLE_TEST(endpoint, incast, row, incast_rows)
{
	const double ceiling = 1e9 / 8 * 0.2 * 1024 / (1024 + 58 + 24);
	uint64_t got[SENDERS], sum = 0;
	struct rc_stats all = { 0 };
	struct incast in = { 0 };
	double queue;

	incast_new(&in, row);
	net_run(in.bed.net, 200 * MS);
	in.xoff_start = xoffs(in.rig);
	for (uint32_t i = 0; i < SENDERS; i++)
		in.start[i] = received_by(&in.bed, i);
	queue = run_and_watch(&in, 200);
	for (uint32_t i = 0; i < SENDERS; i++) {
		struct rc_stats rc;

		got[i] = received_by(&in.bed, i) - in.start[i];
		sum += got[i];
		stats_of(&in.bed, i, &rc);
		all.retransmits += rc.retransmits;
		all.timeouts += rc.timeouts;
	}
	cr_log_info("%s: %.2f %% of the ceiling, Jain %.4f, queue %.0f, XOFF %lu then %lu, CE %lu, "
		    "CNP %lu, sent again %lu",
		    row->what, 100 * (double)sum / ceiling, jain(got, SENDERS), queue,
		    in.xoff_start, xoffs(in.rig) - in.xoff_start,
		    rig_port(in.rig, SINK).ecn_marked_packets, stats_of(&in.bed, SINK, NULL).tx_cnp,
		    all.retransmits);
	if (row->dscp == 3) {
		cr_assert_geq((double)sum, 0.95 * ceiling);
		cr_assert_geq(jain(got, SENDERS), 0.98);
		cr_assert_eq(rig_all_drops(in.rig), 0);
		cr_assert_eq(all.retransmits, 0);
		cr_assert_eq(all.timeouts, 0);
		cr_assert_gt(in.xoff_start, 0);
	}
	if (row->ecn) { // pauses at the start alone, then DCQCN has taken over
		cr_assert_gt(rig_port(in.rig, SINK).ecn_marked_packets, 0);
		cr_assert_gt(stats_of(&in.bed, 0, NULL).rx_cnp, 0);
		cr_assert_eq(xoffs(in.rig), in.xoff_start);
	} else if (row->dscp == 3) { // N alpha B / (1 + N alpha), and the reserves
		const uint64_t shared = rig_pool_profile(in.rig, KVM_INGRESS_POOL)->shared_bytes;
		const double want =
			(double)(SENDERS * (KVM_RESERVE_BYTES +
					    oracle_fixed_point(shared, KVM_ALPHA_SHIFT, SENDERS)));

		cr_assert_geq(queue, 0.93 * want, "%.0f instead of %.0f", queue, want);
		cr_assert_leq(queue, 1.07 * want, "%.0f instead of %.0f", queue, want);
	} else { // what is lost is sent again: nobody stays behind
		cr_assert_gt(rig_all_drops(in.rig), 0);
		cr_assert_geq(all.retransmits, rig_all_drops(in.rig) - 64); // some on their way
		cr_assert_eq(xoffs(in.rig), 0);
		for (uint32_t i = 0; i < SENDERS; i++)
			cr_assert_gt(received_by(&in.bed, i), 0, "sender %u", i);
	}
	end_bed(&in.bed);
}
