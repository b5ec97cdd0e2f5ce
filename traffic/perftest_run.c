// SPDX-License-Identifier: BSD-3-Clause
//
// The loop of a perftest peer: what its port receives goes to the endpoint or to the kernel, the
// TCP session tells when to connect and when to work (perftest_work.h), and the end is reported.

#include "traffic/perftest_run.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "traffic/crc.h"
#include "traffic/perftest_report.h"
#include "traffic/perftest_talk.h"
#include "traffic/perftest_work.h"
#include "traffic/port_host.h"
#include "traffic/profile.h"
#include "traffic/report.h"
#include "traffic/zeroed.h"

enum {
	BUFFER_BYTES = 4096, // as perftest on machines with such pages
	READS = 128,         // outstanding, as soft-RoCE has it
	FIRST_PSN = 0x5eed01,
	NEXT_PSN = 4096,      // of the next queue pair, so much more
	PART_NS = 1000000000, // for the end of TCP
	LINGER_NS = 20000000, // for the last ACKs, and frames of it
	CHECK_NS = 100000000, // between two looks at the link
};

struct perftest {
	const struct traffic_config *config;
	struct port_host host;
	struct kernel_side kernel;
	struct perftest_talk talk;
	struct clock clock;
	struct port_visits visits;
	bool has_dpdk;
	struct perftest_work work;
	void *memory; // of the endpoint
	ns_t part_at; // then it does not wait for the peer any more
	bool failed;
	uint32_t idle;
};

// --- making it --------------------------------------------------------------------------------

static int make_endpoint(struct perftest *test)
{
	const struct run_config *run = &test->config->run;
	const struct workload workload = { .job.receive_depth = (uint32_t)run->depth,
					   .host_count = 1 };
	struct port_host *host = &test->host;
	struct endpoint_profile *profile = &host->profile;

	profile_make(test->config, &workload, 0, (uint32_t)run->qps, crc_method(), profile);
	profile->rc.read_depth = READS;
	profile->has_ipv6 = run->gid.family == IP_V6;
	memcpy(profile->ipv6, run->gid.address, sizeof(profile->ipv6));
	host->kernel = &test->kernel;
	traffic_host_device(test->config, 0, host->device);
	test->memory = zeroed(endpoint_bytes(profile));
	if (test->memory == NULL) {
		fputs("weft-traffic: out of memory\n", stderr);
		return -ENOMEM;
	}
	host->endpoint = endpoint_init(profile, &test->work.region, 1, test->memory);
	return 0;
}

static void introduce(struct perftest *test)
{
	const struct endpoint_profile *profile = &test->host.profile;
	const struct perftest_work *work = &test->work;
	struct perftest_side *own = &test->talk.own;

	test->talk.shape = work->shape;
	test->talk.client = !test->config->run.listen;
	*own = (struct perftest_side){
		.version = PERFTEST_VERSION_TEXT,
		.buffer_bytes = BUFFER_BYTES,
		.line_bytes = PERFTEST_CACHE_LINE,
		.mtu = (uint32_t)test->config->run.mtu,
	};
	for (uint32_t i = 0; i < work->shape.qps; i++) {
		struct perftest_keys *keys = &own->keys[i];

		*keys = (struct perftest_keys){ .reads = work->shape.op == RC_READ ? READS : 1,
						.qp = profile->qp_base + i,
						.psn = FIRST_PSN + NEXT_PSN * i,
						.rkey = work->region.rkey,
						.va = perftest_work_va(work, i) };
		if (profile->has_ipv6)
			memcpy(keys->gid, profile->ipv6, sizeof(keys->gid));
		else
			perftest_gid_of_ipv4(profile->ipv4, keys->gid);
	}
}

static int open_test(struct perftest *test)
{
	const struct run_config *run = &test->config->run;
	struct port_host *host = &test->host;
	int rc = perftest_work_make(test->config, &test->work);

	if (rc == 0)
		rc = make_endpoint(test);
	if (rc == 0)
		rc = port_hosts_check_paths(host, 1);
	if (rc == 0)
		rc = port_hosts_start_dpdk(host, 1, run->memory == CONFIG_UNSET ? 0 : run->memory);
	test->has_dpdk = rc == 0;
	if (rc == 0) {
		unmap_waits_for(&test->visits.poller);
		rc = port_hosts_open(host, 1);
	}
	if (rc == 0)
		rc = kernel_side_open(&test->kernel, host->profile.mac, host->profile.ipv4);
	return rc;
}

static void close_test(struct perftest *test)
{
	perftest_talk_close(&test->talk);
	kernel_side_close(&test->kernel);
	port_hosts_close(&test->host, 1);
	if (test->has_dpdk)
		port_hosts_stop_dpdk();
	perftest_work_free(&test->work);
	free(test->memory);
}

// --- work -------------------------------------------------------------------------------------

// Both ends of a queue pair speak the same IP.
static int set_address(const struct perftest *test, const uint8_t gid[16],
		       struct endpoint_peer *peer)
{
	peer->ipv6 = !perftest_gid_ipv4(gid, peer->ip);
	if (peer->ipv6)
		memcpy(peer->ip, gid, sizeof(peer->ip));
	if (peer->ipv6 == test->host.profile.has_ipv6)
		return 0;
	fprintf(stderr, "weft-traffic: perftest: the peer's GID is an IPv%c address: %s\n",
		peer->ipv6 ? '6' : '4',
		peer->ipv6 ? "this side needs one as --gid" : "--gid is not for it");
	return -EAFNOSUPPORT;
}

static int connect_qp(struct perftest *test, uint32_t qp)
{
	const struct run_config *run = &test->config->run;
	const struct perftest_keys *keys = &test->talk.peer.keys[qp];
	struct endpoint_peer peer = {
		.qp = keys->qp,
		.send_psn = test->talk.own.keys[qp].psn,
		.receive_psn = keys->psn,
		.dscp = (uint8_t)run->dscp,
		.ecn = run->ecn ? ECN_ECT0 : ECN_NOT_ECT,
	};
	int rc = set_address(test, keys->gid, &peer);

	if (rc == 0)
		rc = endpoint_connect(&test->host.profile, test->host.endpoint, qp, &peer,
				      clock_now(&test->clock));
	if (rc == 0 && test->work.shape.op == RC_SEND)
		perftest_work_listen(&test->work, test->host.endpoint, qp);
	return rc;
}

static int connect_all(struct perftest *test)
{
	const struct perftest_side *peer = &test->talk.peer;
	struct rc_profile *pf = &test->host.profile.rc;
	const uint32_t reads = peer->keys[0].reads;
	int rc = 0;

	if (peer->buffer_bytes > test->work.place) {
		fputs("weft-traffic: perftest: the peer goes round in more than --size\n", stderr);
		return -EMSGSIZE;
	}
	if (peer->mtu < pf->mtu)
		pf->mtu = peer->mtu;
	// Not more at a time than the peer answers.
	if (test->work.works && test->work.shape.op == RC_READ && reads < READS)
		pf->read_depth = reads == 0 ? 1 : reads;
	for (uint32_t i = 0; rc == 0 && i < test->work.shape.qps; i++)
		rc = connect_qp(test, i);
	return rc;
}

// True when this side's work is done.
static bool do_work(struct perftest *test)
{
	struct perftest_work *work = &test->work;

	if (!perftest_work_go(work, &test->talk.peer, &test->host.profile, test->host.endpoint,
			      clock_now(&test->clock)))
		return false;
	if (work->works)
		perftest_measure(work->done_ns, work->done, test->config, work->begun.v,
				 &test->talk.own.report);
	return true;
}

// --- the loop ---------------------------------------------------------------------------------

static void turn(struct perftest *test)
{
	uint32_t moved;

	port_visit_begin(&test->visits, &test->host, 1, clock_now(&test->clock));
	moved = port_host_receive(&test->host, &test->clock);
	perftest_work_take(&test->work, test->host.endpoint);
	moved += port_host_transmit(&test->host, &test->clock);
	port_visit_end(&test->visits);
	port_hosts_give_way(moved, &test->idle);
}

// False when the session is over, or has failed.
static bool go_on(struct perftest *test)
{
	switch (perftest_talk_step(&test->talk)) {
	case PERFTEST_TALK_WAITS: return true;
	case PERFTEST_TALK_CONNECT:
		test->failed = connect_all(test) != 0;
		perftest_talk_next(&test->talk);
		return !test->failed;
	case PERFTEST_TALK_TEST:
		if (do_work(test))
			perftest_talk_next(&test->talk);
		return true;
	case PERFTEST_TALK_PARTS:
		// The peer's last word may have been lost with its port.
		if (test->part_at.v == 0)
			test->part_at = ns_add(clock_now(&test->clock), PART_NS);
		return ns_before(clock_now(&test->clock), test->part_at);
	case PERFTEST_TALK_END: return false;
	case PERFTEST_TALK_FAILED: test->failed = true; return false;
	}
	return false;
}

static int run_session(struct perftest *test, const volatile sig_atomic_t *stop)
{
	const ns_t limit = { test->config->run.timeout };
	ns_t check_at = { CHECK_NS };
	ns_t end;

	clock_start(&test->clock);
	profile_begin(test->config, 0, (ns_t){ 0 }, &test->host.profile);
	while (!*stop && !test->failed && !test->work.failed && go_on(test)) {
		if (!ns_before(clock_now(&test->clock), check_at)) {
			test->failed = port_hosts_check(&test->host, 1, check_at) != 0;
			check_at = ns_add(clock_now(&test->clock), CHECK_NS);
		}
		if (!ns_before(clock_now(&test->clock), limit)) {
			fprintf(stderr,
				"weft-traffic: perftest: no end before --timeout: waits for %s\n",
				perftest_talk_wait(&test->talk));
			return 1;
		}
		turn(test);
	}
	perftest_talk_close(&test->talk);
	port_hosts_leave(&test->host, 1);
	end = ns_add(clock_now(&test->clock), LINGER_NS);
	do
		turn(test);
	while (ns_before(clock_now(&test->clock), end));
	return *stop || test->failed || test->work.failed;
}

static int report(struct perftest *test)
{
	const struct run_config *run = &test->config->run;
	const struct perftest_work *work = &test->work;
	const struct perftest_side *own = &test->talk.own, *peer = &test->talk.peer;
	struct perftest_result result = {
		.shape = work->shape,
		.client = test->talk.client,
		.mtu = test->host.profile.rc.mtu,
		.own = own,
		.peer = peer,
		.report = work->works ? own->report : peer->report,
		.kernel_lost = test->kernel.lost,
	};

	if (work->shape.both)
		perftest_measure_both(&own->report, &peer->report, &result.report);
	else if (!work->works && work->shape.op == RC_SEND)
		perftest_measure_whole(work->received, run->size,
				       ns_since(work->ended, work->begun), &result.report);
	endpoint_stats_read(&test->host.profile, test->host.endpoint, &result.stats, &result.rc);
	if (run->json)
		perftest_report_json(&result, stdout);
	else
		perftest_report_text(&result, stdout);
	return report_end(stdout) == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}

int perftest_run(const struct traffic_config *config, const volatile sig_atomic_t *stop)
{
	static struct perftest test;
	int status, rc;

	test = (struct perftest){ .config = config,
				  .kernel = { .tap = -1, .namespace = -1 },
				  .talk = { .fd = -1, .listener = -1 } };
	rc = open_test(&test);
	if (rc == 0)
		rc = port_hosts_wait(&test.host, 1, config->run.link_timeout, stop);
	if (rc == 0) {
		introduce(&test);
		rc = perftest_talk_open(&test.talk, &test.kernel, config->run.connect.address,
					(uint16_t)config->run.tcp_port);
	}
	status = rc == 0 ? run_session(&test, stop) : 2;
	if (status == 0)
		status = report(&test);
	close_test(&test);
	return status;
}
