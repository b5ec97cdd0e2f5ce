// SPDX-License-Identifier: BSD-3-Clause
//
// The test host over a real port: one DPDK port (net_memif, but any will do), one queue each way,
// for a number of seconds, with a report in JSON on standard output. All behaviour is in host.h;
// this file carries bytes, reads the clock and parses options.
//
//	host_dpdk EAL-OPTIONS -- --id 0 --seconds 5 --flow 1:3:1024 [--rate BPS] [...]
//
// A frame that the driver does not take is kept and offered again, so that sequence numbers have no
// gap that the link did not make; what waits in the driver's ring is beyond recall, as with a NIC.

#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rte_cycles.h>
#include <rte_eal.h>
#include <rte_ethdev.h>
#include <rte_mbuf.h>

#include "base/units.h"
#include "tests/host/host.h"

enum {
	BURST = 32,
	MBUF_COUNT = 4095,
	RX_RING = 256,
	TX_RING = 32,
	LINK_WAIT_SECONDS = 20,
};

struct runner {
	struct host_config config;
	struct host_state st;
	uint64_t seconds;
	uint64_t wait_ns; // how long it still receives after its flows have stopped
	struct rte_mempool *pool;
	struct rte_mbuf *pending; // built, not yet taken by the driver
	uint64_t hz, start;
};

static volatile sig_atomic_t stopped;

static void stop(int sig)
{
	stopped = sig;
}

static ns_t now_of(const struct runner *run)
{
	uint64_t ticks = rte_rdtsc() - run->start;

	return (ns_t){ (uint64_t)((unsigned __int128)ticks * 1000000000u / run->hz) };
}

// --- options ----------------------------------------------------------------------------------

static bool parse(enum unit unit, const char *text, uint64_t *out)
{
	return unit_parse(unit, text, strlen(text), out);
}

// TO:PRIO:LEN[:BPS]
static bool parse_flow(struct host_config *config, char *text)
{
	uint64_t value[4] = { 0 };
	uint32_t count = 0;
	struct host_flow_config *flow;

	for (char *word = text; word != NULL && count < 4; count++) {
		char *next = word + strcspn(word, ":");
		bool last = *next == '\0';

		*next = '\0';
		if (!parse(count == 3 ? UNIT_BPS : UNIT_COUNT, word, &value[count]))
			return false;
		word = last ? NULL : next + 1;
	}
	if (count < 3 || value[0] > UINT16_MAX || value[1] > 7 || value[2] > FRAME_MAX_BYTES ||
	    config->flow_count == HOST_FLOW_MAX)
		return false;
	flow = host_add_flow(config, (uint32_t)value[0], (uint8_t)value[1], (uint32_t)value[2]);
	flow->bps = value[3];
	return true;
}

// BPS:BUFFER:XOFF:XON
static bool parse_receiver(struct host_config *config, char *text)
{
	struct host_receiver_config *rx = &config->receiver;
	uint64_t *const value[4] = { &rx->bps, &rx->buffer_bytes, &rx->xoff_bytes, &rx->xon_bytes };

	for (uint32_t i = 0; i < 4; i++) {
		char *next = text + strcspn(text, ":");
		bool last = *next == '\0';

		*next = '\0';
		if (last != (i == 3) || !parse(i == 0 ? UNIT_BPS : UNIT_BYTES, text, value[i]))
			return false;
		text = next + 1;
	}
	rx->enable = config->obey;
	rx->quanta = UINT16_MAX;
	return rx->xon_bytes <= rx->xoff_bytes && rx->xoff_bytes <= rx->buffer_bytes;
}

static bool parse_option(struct runner *run, const char *name, char *text)
{
	struct host_config *config = &run->config;
	uint64_t value = 0;
	uint8_t mask = 0;

	if (strcmp(name, "flow") == 0)
		return parse_flow(config, text);
	if (strcmp(name, "receiver") == 0)
		return parse_receiver(config, text);
	if (strcmp(name, "seconds") == 0)
		return parse(UNIT_COUNT, text, &run->seconds);
	if (strcmp(name, "wait") == 0)
		return parse(UNIT_NS, text, &run->wait_ns);
	if (strcmp(name, "rate") == 0)
		return parse(UNIT_BPS, text, &config->bps) && config->bps > 0;
	if (strcmp(name, "response") == 0)
		return parse(UNIT_NS, text, &config->response_ns);
	if (strcmp(name, "obey") == 0)
		return unit_parse_mask8(text, strlen(text), &config->obey);
	if (strcmp(name, "storm") == 0) {
		bool good = unit_parse_mask8(text, strlen(text), &mask);

		config->storm = (struct host_storm_config){ .enable = mask, .quanta = UINT16_MAX };
		return good;
	}
	if (strcmp(name, "id") != 0 || !parse(UNIT_COUNT, text, &value) || value > UINT16_MAX)
		return false;
	config->id = (uint32_t)value;
	config->mac = frame_host_mac(config->id);
	config->ip = frame_host_ip(config->id);
	return true;
}

static int parse_options(struct runner *run, int argc, char **argv)
{
	static const struct option options[] = {
		{ "id", required_argument, NULL, 0 },    { "seconds", required_argument, NULL, 0 },
		{ "flow", required_argument, NULL, 0 },  { "rate", required_argument, NULL, 0 },
		{ "obey", required_argument, NULL, 0 },  { "response", required_argument, NULL, 0 },
		{ "storm", required_argument, NULL, 0 }, { "receiver", required_argument, NULL, 0 },
		{ "wait", required_argument, NULL, 0 },  { 0 },
	};
	int index = 0;
	int rc;

	optind = 1;
	while ((rc = getopt_long(argc, argv, "", options, &index)) == 0) {
		if (!parse_option(run, options[index].name, optarg)) {
			fprintf(stderr, "host_dpdk: --%s: cannot use \"%s\"\n", options[index].name,
				optarg);
			return -EINVAL;
		}
	}
	return rc == -1 && optind == argc ? 0 : -EINVAL;
}

// --- port -------------------------------------------------------------------------------------

// The peer may come later; but a memif client cannot even start before its server listens.
static int wait_link(void)
{
	struct rte_eth_link link = { 0 };

	for (uint32_t ms = 0; ms < LINK_WAIT_SECONDS * 1000 && !stopped; ms++) {
		if (rte_eth_link_get_nowait(0, &link) == 0 && link.link_status == RTE_ETH_LINK_UP)
			return 0;
		rte_delay_us_sleep(1000);
	}
	return -ENOLINK;
}

static int start_port(struct runner *run)
{
	const struct rte_eth_conf conf = { 0 };
	int rc;

	run->pool = rte_pktmbuf_pool_create("host", MBUF_COUNT, 0, 0,
					    RTE_PKTMBUF_HEADROOM + FRAME_MAX_BYTES, SOCKET_ID_ANY);
	if (run->pool == NULL)
		return -ENOMEM;
	rc = rte_eth_dev_configure(0, 1, 1, &conf);
	if (rc == 0)
		rc = rte_eth_rx_queue_setup(0, 0, RX_RING, SOCKET_ID_ANY, NULL, run->pool);
	if (rc == 0)
		rc = rte_eth_tx_queue_setup(0, 0, TX_RING, SOCKET_ID_ANY, NULL);
	if (rc == 0)
		rc = rte_eth_dev_start(0);
	if (rc != 0)
		return rc;
	rte_eth_promiscuous_enable(0);
	return wait_link();
}

static void receive(struct runner *run)
{
	struct rte_mbuf *mbufs[BURST];
	uint16_t count = rte_eth_rx_burst(0, 0, mbufs, BURST);

	for (uint16_t i = 0; i < count; i++) {
		if (rte_pktmbuf_linearize(mbufs[i]) == 0)
			host_rx(&run->config, &run->st, rte_pktmbuf_mtod(mbufs[i], uint8_t *),
				rte_pktmbuf_pkt_len(mbufs[i]), now_of(run));
		rte_pktmbuf_free(mbufs[i]);
	}
}

// At most one frame: between two frames the host looks at what it has received.
static void transmit(struct runner *run)
{
	struct rte_mbuf *m = run->pending;
	uint32_t len;

	if (m == NULL) {
		m = rte_pktmbuf_alloc(run->pool);
		if (m == NULL)
			return;
		len = host_tx(&run->config, &run->st, now_of(run), rte_pktmbuf_mtod(m, uint8_t *));
		if (len == 0) {
			rte_pktmbuf_free(m);
			return;
		}
		m->data_len = (uint16_t)len;
		m->pkt_len = len;
	}
	run->pending = rte_eth_tx_burst(0, 0, &m, 1) == 1 ? NULL : m;
}

static void run_host(struct runner *run)
{
	uint64_t end_ns = run->seconds * 1000000000u;

	run->hz = rte_get_tsc_hz();
	run->start = rte_rdtsc();
	for (uint32_t i = 0; i < run->config.flow_count; i++)
		run->config.flow[i].stop = (ns_t){ end_ns };
	host_init(&run->config, &run->st);
	while (!stopped && now_of(run).v < end_ns + run->wait_ns) {
		receive(run);
		transmit(run);
	}
}

// --- report -----------------------------------------------------------------------------------

static void report_prio(uint32_t prio, const struct host_prio_stats *s, FILE *out)
{
	fprintf(out,
		"{\"priority\": %u, \"tx_packets\": %" PRIu64 ", \"tx_bytes\": %" PRIu64
		", \"rx_packets\": %" PRIu64 ", \"rx_bytes\": %" PRIu64 ", \"rx_ce\": %" PRIu64
		", \"rx_lost\": %" PRIu64 ", \"rx_reordered\": %" PRIu64
		", \"rx_overflow\": %" PRIu64 ", \"pfc_rx\": %" PRIu64 ", \"pfc_tx\": %" PRIu64
		", \"paused_ns\": %" PRIu64 ", \"peer_paused_ns\": %" PRIu64 "}",
		prio, s->tx_packets, s->tx_bytes, s->rx_packets, s->rx_bytes, s->rx_ce, s->rx_lost,
		s->rx_reordered, s->rx_overflow, s->pfc_rx, s->pfc_tx, s->paused_ns,
		s->peer_paused_ns);
}

static void report(const struct runner *run, FILE *out)
{
	ns_t now = now_of(run);
	struct host_stats stats;

	host_stats_read(&run->st, now, &stats);
	fprintf(out,
		"{\"id\": %u, \"nanoseconds\": %" PRIu64 ", \"rx_stray\": %" PRIu64
		", \"rx_unstamped\": %" PRIu64 ", \"rx_untracked\": %" PRIu64
		", \"rx_global_pause\": %" PRIu64 ", \"rx_arp\": %" PRIu64 ", \"priorities\": [",
		run->config.id, now.v, stats.rx_stray, stats.rx_unstamped, stats.rx_untracked,
		stats.rx_global_pause, stats.rx_arp);
	for (uint32_t i = 0; i < PRIO_COUNT; i++) {
		report_prio(i, &stats.prio[i], out);
		fputs(i + 1 < PRIO_COUNT ? ", " : "]}\n", out);
	}
	fflush(out);
}

int main(int argc, char **argv)
{
	struct runner *run = calloc(1, sizeof(*run));
	int used = rte_eal_init(argc, argv);
	int rc;

	if (used < 0 || run == NULL) {
		fprintf(stderr, "host_dpdk: EAL: %s\n", rte_strerror(rte_errno));
		return EXIT_FAILURE;
	}
	host_config_init(&run->config, 0);
	run->config.announce = true;
	run->seconds = 5;
	run->wait_ns = 1000000000;
	signal(SIGINT, stop);
	signal(SIGTERM, stop);
	rc = parse_options(run, argc - used, argv + used);
	if (rc == 0 && rte_eth_dev_count_avail() != 1)
		rc = -ENODEV;
	if (rc == 0)
		rc = start_port(run);
	if (rc == 0) {
		run_host(run);
		report(run, stdout);
	} else {
		fprintf(stderr, "host_dpdk: %s\n", strerror(-rc));
	}
	rte_pktmbuf_free(run->pending);
	rte_eal_cleanup();
	free(run);
	return rc == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
