// SPDX-License-Identifier: BSD-3-Clause
//
// The loop of a perftest peer: what its port receives goes to the endpoint or to the kernel, the
// TCP session tells when to connect and when to work, and completions are counted. Like perftest,
// small messages go round in the peer's buffer, a cache line or more apart.

#include "traffic/perftest_run.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "traffic/crc.h"
#include "traffic/perftest_report.h"
#include "traffic/perftest_talk.h"
#include "traffic/port_host.h"
#include "traffic/profile.h"
#include "traffic/report.h"
#include "traffic/zeroed.h"

enum {
	CACHE_LINE = 64,
	BUFFER_BYTES = 4096, // as perftest on machines with such pages
	REGION_MIN = 65536,  // the largest pages, in which a peer may go round
	READS = 128,         // outstanding, as soft-RoCE has it
	RKEY = 0x5a,
	FIRST_PSN = 0x5eed01,
	PART_NS = 1000000000, // for the end of TCP
	LINGER_NS = 20000000, // for the last ACKs, and frames of it
	CHECK_NS = 100000000, // between two looks at the link
};
#define BUFFER_VA 0x10000000000

struct perftest {
	const struct traffic_config *config;
	struct port_host host;
	struct kernel_side kernel;
	struct perftest_talk talk;
	struct clock clock;
	struct port_visits visits;
	bool has_dpdk;
	struct rc_region region; // what the peer reaches, and receives go to
	uint8_t *local;          // sent from, or READ into
	void *memory;            // of the endpoint
	uint64_t *done_ns;       // when each message was done
	uint64_t posted;
	uint64_t done;
	uint64_t received;
	ns_t begun;
	ns_t ended;
	ns_t part_at; // then it does not wait for the peer any more
	bool failed;
	uint32_t idle;
};

// --- making it --------------------------------------------------------------------------------

static enum rc_op op_of(const struct traffic_config *config)
{
	if (config->run.op == TRAFFIC_SEND)
		return RC_SEND;
	return config->run.op == TRAFFIC_READ ? RC_READ : RC_WRITE;
}

static int make_endpoint(struct perftest *test)
{
	const struct run_config *run = &test->config->run;
	const uint64_t bytes = run->size > REGION_MIN ? run->size : REGION_MIN;
	const struct workload workload = { .job.receive_depth = (uint32_t)run->depth,
					   .host_count = 1 };
	struct port_host *host = &test->host;

	profile_make(test->config, &workload, 0, 1, crc_method(), &host->profile);
	host->profile.rc.read_depth = READS;
	host->kernel = &test->kernel;
	traffic_host_device(test->config, 0, host->device);
	test->region = (struct rc_region){ .va = BUFFER_VA,
					   .bytes = bytes,
					   .data = zeroed(bytes),
					   .rkey = RKEY,
					   .remote_write = true,
					   .remote_read = true };
	test->local = zeroed(bytes);
	test->done_ns = calloc(run->iters, sizeof(*test->done_ns));
	test->memory = zeroed(endpoint_bytes(&host->profile));
	if (test->region.data == NULL || test->local == NULL || test->done_ns == NULL ||
	    test->memory == NULL) {
		fputs("weft-traffic: out of memory\n", stderr);
		return -ENOMEM;
	}
	host->endpoint = endpoint_init(&host->profile, &test->region, 1, test->memory);
	return 0;
}

static void introduce(struct perftest *test)
{
	struct perftest_side *own = &test->talk.own;

	test->talk.op = op_of(test->config);
	test->talk.client = !test->config->run.listen;
	*own = (struct perftest_side){
		.version = PERFTEST_VERSION_TEXT,
		.buffer_bytes = BUFFER_BYTES,
		.line_bytes = CACHE_LINE,
		.mtu = (uint32_t)test->config->run.mtu,
		.keys = { .reads = test->talk.op == RC_READ ? READS : 1,
			  .qp = test->host.profile.qp_base,
			  .psn = FIRST_PSN,
			  .rkey = RKEY,
			  .va = BUFFER_VA },
	};
	perftest_gid_of_ipv4(test->host.profile.ipv4, own->keys.gid);
}

static int open_test(struct perftest *test)
{
	const struct run_config *run = &test->config->run;
	struct port_host *host = &test->host;
	int rc = make_endpoint(test);

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
	free(test->region.data);
	free(test->local);
	free(test->done_ns);
	free(test->memory);
}

// --- work -------------------------------------------------------------------------------------

static bool post_receive(struct perftest *test)
{
	const struct rc_receive receive = { .data = test->region.data,
					    .bytes = test->region.bytes };

	return endpoint_post_receive(test->host.endpoint, 0, &receive);
}

static int connect_qp(struct perftest *test)
{
	const struct run_config *run = &test->config->run;
	const struct perftest_keys *keys = &test->talk.peer.keys;
	struct endpoint_peer peer = {
		.qp = keys->qp,
		.send_psn = test->talk.own.keys.psn,
		.receive_psn = keys->psn,
		.dscp = (uint8_t)run->dscp,
		.ecn = run->ecn ? ECN_ECT0 : ECN_NOT_ECT,
	};
	int rc;

	if (!perftest_gid_ipv4(keys->gid, peer.ip)) {
		fputs("weft-traffic: perftest: the peer's GID is not an IPv4 address\n", stderr);
		return -EAFNOSUPPORT;
	}
	if (test->talk.peer.buffer_bytes > test->region.bytes) {
		fputs("weft-traffic: perftest: the peer goes round in more than --size\n", stderr);
		return -EMSGSIZE;
	}
	if (test->talk.peer.mtu < test->host.profile.rc.mtu)
		test->host.profile.rc.mtu = test->talk.peer.mtu;
	// Not more at a time than the peer answers.
	if (test->talk.client && test->talk.op == RC_READ && keys->reads < READS)
		test->host.profile.rc.read_depth = keys->reads == 0 ? 1 : keys->reads;
	rc = endpoint_connect(&test->host.profile, test->host.endpoint, 0, &peer,
			      clock_now(&test->clock));
	while (rc == 0 && test->talk.op == RC_SEND && post_receive(test))
		;
	return rc;
}

// Where a message goes in the peer's buffer.
static uint64_t place_of(const struct perftest *test, uint64_t message)
{
	const struct perftest_side *peer = &test->talk.peer;
	const uint64_t line = peer->line_bytes > CACHE_LINE ? peer->line_bytes : CACHE_LINE;
	const uint64_t step = (test->config->run.size + line - 1) / line * line;
	const uint64_t places = peer->buffer_bytes / step;

	return peer->keys.va + (places > 1 ? message % places * step : 0);
}

static void post(struct perftest *test, ns_t now)
{
	const struct run_config *run = &test->config->run;

	while (test->posted < run->iters && test->posted - test->done < run->depth) {
		const struct rc_work work = { .op = test->talk.op,
					      .data = test->local,
					      .bytes = run->size,
					      .remote_va = place_of(test, test->posted),
					      .rkey = test->talk.peer.keys.rkey };

		if (!endpoint_post(&test->host.profile, test->host.endpoint, 0, &work, now))
			return;
		test->posted++;
	}
}

static void count(struct perftest *test, const struct rc_completion *done)
{
	if (done->status != RC_OK) {
		// Those behind it are flushed.
		if (!test->failed)
			fprintf(stderr, "weft-traffic: perftest: a message failed: status %d\n",
				(int)done->status);
		test->failed = true;
		return;
	}
	test->ended = done->done;
	if (!done->receive) {
		test->done_ns[test->done++] = done->done.v;
		return;
	}
	if (test->received++ == 0)
		test->begun = done->posted;
	post_receive(test);
}

// True when the client's work is done; a server has none of its own.
static bool do_work(struct perftest *test, ns_t now)
{
	if (!test->talk.client)
		return true;
	if (test->posted == 0)
		test->begun = now;
	post(test, now);
	if (test->done < test->config->run.iters)
		return false;
	perftest_measure(test->done_ns, test->done, test->config, test->begun.v,
			 &test->talk.own.report);
	return true;
}

// --- the loop ---------------------------------------------------------------------------------

static void turn(struct perftest *test)
{
	struct rc_completion done;
	uint32_t moved, qp;

	port_visit_begin(&test->visits, &test->host, 1, clock_now(&test->clock));
	moved = port_host_receive(&test->host, &test->clock);
	while (endpoint_complete(test->host.endpoint, &qp, &done))
		count(test, &done);
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
		test->failed = connect_qp(test) != 0;
		perftest_talk_next(&test->talk);
		return !test->failed;
	case PERFTEST_TALK_TEST:
		if (do_work(test, clock_now(&test->clock)))
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
	while (!*stop && !test->failed && go_on(test)) {
		if (!ns_before(clock_now(&test->clock), check_at)) {
			test->failed = port_hosts_check(&test->host, 1, check_at) != 0;
			check_at = ns_add(clock_now(&test->clock), CHECK_NS);
		}
		if (!ns_before(clock_now(&test->clock), limit)) {
			fputs("weft-traffic: perftest: no end before --timeout\n", stderr);
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
	return *stop || test->failed;
}

static int report(struct perftest *test)
{
	const struct run_config *run = &test->config->run;
	struct perftest_result result = {
		.op = test->talk.op,
		.client = test->talk.client,
		.mtu = test->host.profile.rc.mtu,
		.own = &test->talk.own,
		.peer = &test->talk.peer,
		.report = test->talk.client ? test->talk.own.report : test->talk.peer.report,
		.kernel_lost = test->kernel.lost,
	};

	if (!test->talk.client && test->talk.op == RC_SEND)
		perftest_measure_whole(test->received, run->size,
				       ns_since(test->ended, test->begun), &result.report);
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
