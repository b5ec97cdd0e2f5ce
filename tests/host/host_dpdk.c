// SPDX-License-Identifier: BSD-3-Clause
//
// Test hosts over real ports: each has one DPDK port (net_memif, but any will do), one queue each
// way, for a number of seconds, with a line of JSON on standard output. All behaviour is in host.h;
// this file carries bytes, reads the clock and parses options.
//
//	host_dpdk EAL-OPTIONS -- --id 0 --seconds 5 --flow 1:3:1024 [--rate BPS] [...]
//
// With `--hosts N` one process is hosts id to id + N - 1, each on the port of its order, all with
// the same options; `--all-to-all PRIO:LEN[:BPS]` gives each a flow to every other one. All flows
// have the DSCP of `--dscp N`, without it that of their class.
//
// SIGUSR1 ends the flows as their time does, SIGTERM the process.
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
	MBUF_COUNT = 1023,
	RX_RING = 256,
	TX_RING = 32,
	LAST_BURSTS = 2 * RX_RING / BURST, // a ring, and what came meanwhile
	LINK_WAIT_SECONDS = 20,
	HOST_MAX = 16,
};

struct runner {
	struct host_config config;
	struct host_state st;
	uint16_t ethdev;
	struct rte_mempool *pool;
	struct rte_mbuf *pending; // built, not yet taken by the driver
};

// The hosts of this process; the first one's configuration is that of the options.
static struct {
	struct runner *host;
	uint32_t count;
	uint64_t seconds;
	uint64_t start_ns; // flows wait for so long
	uint64_t wait_ns;  // how long hosts still receive after their flows have stopped
	// How long the process stays after its report, idle. The memif driver takes a link down in
	// a thread of its own, and a peer that polls at that moment reads memory that is gone.
	uint64_t linger_ns;
	uint64_t nap_ns;  // sleep between two looks at the ports, which leaves the core to others
	uint64_t mesh[3]; // class, length and rate of flows from all to all; no length: none
	uint64_t dscp;    // of all flows when `dscp_given`, else each has that of its class
	bool dscp_given;
	uint64_t hz, start;
} run;

static volatile sig_atomic_t stopped;

static void stop(int sig)
{
	stopped = sig;
}

static volatile sig_atomic_t flows_over;

static void end_flows(int sig)
{
	flows_over = sig;
}

static ns_t clock_now(void)
{
	uint64_t ticks = rte_rdtsc() - run.start;

	return (ns_t){ (uint64_t)((unsigned __int128)ticks * 1000000000u / run.hz) };
}

// --- options ----------------------------------------------------------------------------------

static bool parse(enum unit unit, const char *text, uint64_t *out)
{
	return unit_parse(unit, text, strlen(text), out);
}

// `wanted` numbers with colons between them, and behind them a rate, which may be missing.
static bool parse_numbers(char *text, uint64_t *value, uint32_t wanted)
{
	uint32_t count = 0;

	for (char *word = text; word != NULL && count <= wanted; count++) {
		char *next = word + strcspn(word, ":");
		bool last = *next == '\0';

		*next = '\0';
		if (!parse(count == wanted ? UNIT_BPS : UNIT_COUNT, word, &value[count]))
			return false;
		word = last ? NULL : next + 1;
	}
	return count >= wanted;
}

// TO:PRIO:LEN[:BPS]
static bool parse_flow(struct host_config *config, char *text)
{
	uint64_t value[4] = { 0 };
	struct host_flow_config *flow;

	if (!parse_numbers(text, value, 3) || value[0] > UINT16_MAX || value[1] > 7 ||
	    value[2] > FRAME_MAX_BYTES || config->flow_count == HOST_FLOW_MAX)
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

static bool parse_option(struct host_config *config, const char *name, char *text)
{
	uint64_t value = 0;
	uint8_t mask = 0;

	if (strcmp(name, "flow") == 0)
		return parse_flow(config, text);
	if (strcmp(name, "receiver") == 0)
		return parse_receiver(config, text);
	if (strcmp(name, "seconds") == 0)
		return parse(UNIT_COUNT, text, &run.seconds);
	if (strcmp(name, "all-to-all") == 0)
		return parse_numbers(text, run.mesh, 2) && run.mesh[0] < PRIO_COUNT &&
		       run.mesh[1] > 0 && run.mesh[1] <= FRAME_MAX_BYTES;
	if (strcmp(name, "hosts") == 0 && parse(UNIT_COUNT, text, &value)) {
		run.count = (uint32_t)value;
		return value >= 1 && value <= HOST_MAX;
	}
	if (strcmp(name, "start") == 0)
		return parse(UNIT_NS, text, &run.start_ns);
	if (strcmp(name, "dscp") == 0) {
		run.dscp_given = parse(UNIT_COUNT, text, &run.dscp) && run.dscp < 64;
		return run.dscp_given;
	}
	if (strcmp(name, "linger") == 0)
		return parse(UNIT_NS, text, &run.linger_ns);
	if (strcmp(name, "nap") == 0)
		return parse(UNIT_NS, text, &run.nap_ns);
	if (strcmp(name, "wait") == 0)
		return parse(UNIT_NS, text, &run.wait_ns);
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

static int parse_options(struct host_config *config, int argc, char **argv)
{
	static const struct option options[] = {
		{ "id", required_argument, NULL, 0 },
		{ "seconds", required_argument, NULL, 0 },
		{ "flow", required_argument, NULL, 0 },
		{ "rate", required_argument, NULL, 0 },
		{ "obey", required_argument, NULL, 0 },
		{ "response", required_argument, NULL, 0 },
		{ "storm", required_argument, NULL, 0 },
		{ "receiver", required_argument, NULL, 0 },
		{ "wait", required_argument, NULL, 0 },
		{ "nap", required_argument, NULL, 0 },
		{ "hosts", required_argument, NULL, 0 },
		{ "start", required_argument, NULL, 0 },
		{ "linger", required_argument, NULL, 0 },
		{ "dscp", required_argument, NULL, 0 },
		{ "all-to-all", required_argument, NULL, 0 },
		{ 0 },
	};
	int index = 0;
	int rc;

	optind = 1;
	while ((rc = getopt_long(argc, argv, "", options, &index)) == 0) {
		if (!parse_option(config, options[index].name, optarg)) {
			fprintf(stderr, "host_dpdk: --%s: cannot use \"%s\"\n", options[index].name,
				optarg);
			return -EINVAL;
		}
	}
	return rc == -1 && optind == argc ? 0 : -EINVAL;
}

// --- port -------------------------------------------------------------------------------------

// The peer may come later; but a memif client cannot even start before its server listens.
static int wait_link(uint16_t ethdev)
{
	struct rte_eth_link link = { 0 };

	for (uint32_t ms = 0; ms < LINK_WAIT_SECONDS * 1000 && !stopped; ms++) {
		if (rte_eth_link_get_nowait(ethdev, &link) == 0 &&
		    link.link_status == RTE_ETH_LINK_UP)
			return 0;
		rte_delay_us_sleep(1000);
	}
	return -ENOLINK;
}

static int start_port(struct runner *host)
{
	const struct rte_eth_conf conf = { 0 };
	const uint16_t ethdev = host->ethdev;
	char name[16];
	int rc;

	snprintf(name, sizeof(name), "host%u", ethdev);
	host->pool = rte_pktmbuf_pool_create(name, MBUF_COUNT, 0, 0,
					     RTE_PKTMBUF_HEADROOM + FRAME_MAX_BYTES, SOCKET_ID_ANY);
	if (host->pool == NULL)
		return -ENOMEM;
	rc = rte_eth_dev_configure(ethdev, 1, 1, &conf);
	if (rc == 0)
		rc = rte_eth_rx_queue_setup(ethdev, 0, RX_RING, SOCKET_ID_ANY, NULL, host->pool);
	if (rc == 0)
		rc = rte_eth_tx_queue_setup(ethdev, 0, TX_RING, SOCKET_ID_ANY, NULL);
	if (rc == 0)
		rc = rte_eth_dev_start(ethdev);
	if (rc == 0)
		rte_eth_promiscuous_enable(ethdev);
	return rc;
}

static int start_ports(void)
{
	int rc = 0;

	for (uint32_t i = 0; i < run.count && rc == 0; i++)
		rc = start_port(&run.host[i]);
	for (uint32_t i = 0; i < run.count && rc == 0; i++)
		rc = wait_link(run.host[i].ethdev);
	return rc;
}

static void receive(struct runner *host)
{
	struct rte_mbuf *mbufs[BURST];
	uint16_t count = rte_eth_rx_burst(host->ethdev, 0, mbufs, BURST);

	for (uint16_t i = 0; i < count; i++) {
		if (rte_pktmbuf_linearize(mbufs[i]) == 0)
			host_rx(&host->config, &host->st, rte_pktmbuf_mtod(mbufs[i], uint8_t *),
				rte_pktmbuf_pkt_len(mbufs[i]), clock_now());
		rte_pktmbuf_free(mbufs[i]);
	}
}

// At most one frame: between two frames the host looks at what it has received.
static void transmit(struct runner *host)
{
	struct rte_mbuf *m = host->pending;
	uint32_t len;

	if (m == NULL) {
		m = rte_pktmbuf_alloc(host->pool);
		if (m == NULL)
			return;
		len = host_tx(&host->config, &host->st, clock_now(),
			      rte_pktmbuf_mtod(m, uint8_t *));
		if (len == 0) {
			rte_pktmbuf_free(m);
			return;
		}
		m->data_len = (uint16_t)len;
		m->pkt_len = len;
	}
	host->pending = rte_eth_tx_burst(host->ethdev, 0, &m, 1) == 1 ? NULL : m;
}

// Flows send nothing more from `at_ns` on.
static void stop_flows(uint64_t at_ns)
{
	for (uint32_t i = 0; i < run.count; i++) {
		struct host_config *config = &run.host[i].config;

		for (uint32_t k = 0; k < config->flow_count; k++)
			config->flow[k].stop = (ns_t){ at_ns };
	}
}

static void run_hosts(void)
{
	uint64_t end_ns = run.start_ns + run.seconds * 1000000000u;

	run.hz = rte_get_tsc_hz();
	run.start = rte_rdtsc();
	for (uint32_t i = 0; i < run.count; i++) {
		struct runner *host = &run.host[i];

		for (uint32_t k = 0; k < host->config.flow_count; k++)
			host->config.flow[k].start = (ns_t){ run.start_ns };
		host_init(&host->config, &host->st);
	}
	stop_flows(end_ns);
	while (!stopped && clock_now().v < end_ns + run.wait_ns) {
		if (flows_over) {
			flows_over = 0;
			end_ns = clock_now().v;
			stop_flows(end_ns);
		}
		for (uint32_t i = 0; i < run.count; i++) {
			receive(&run.host[i]);
			transmit(&run.host[i]);
		}
		if (run.nap_ns != 0)
			rte_delay_us_sleep((unsigned int)(run.nap_ns / 1000));
	}
	// What a switch has sent waits in the ring.
	for (uint32_t n = 0; n < LAST_BURSTS * run.count; n++)
		receive(&run.host[n % run.count]);
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

static void report(const struct runner *host, FILE *out)
{
	ns_t now = clock_now();
	struct host_stats stats;

	host_stats_read(&host->st, now, &stats);
	fprintf(out,
		"{\"id\": %u, \"nanoseconds\": %" PRIu64 ", \"rx_stray\": %" PRIu64
		", \"rx_unstamped\": %" PRIu64 ", \"rx_untracked\": %" PRIu64
		", \"rx_global_pause\": %" PRIu64 ", \"rx_arp\": %" PRIu64 ", \"priorities\": [",
		host->config.id, now.v, stats.rx_stray, stats.rx_unstamped, stats.rx_untracked,
		stats.rx_global_pause, stats.rx_arp);
	for (uint32_t i = 0; i < PRIO_COUNT; i++) {
		report_prio(i, &stats.prio[i], out);
		fputs(i + 1 < PRIO_COUNT ? ", " : "]}\n", out);
	}
	fflush(out);
}

static void set_dscp(struct host_config *config)
{
	for (uint32_t i = 0; i < config->flow_count && run.dscp_given; i++)
		config->flow[i].dscp = (uint8_t)run.dscp;
}

// Every host is as the first one but for its number.
static void spread_config(void)
{
	const struct host_config *first = &run.host[0].config;

	for (uint32_t i = 0; i < run.count; i++) {
		struct host_config *config = &run.host[i].config;

		*config = *first;
		config->id = first->id + i;
		config->mac = frame_host_mac(config->id);
		config->ip = frame_host_ip(config->id);
		run.host[i].ethdev = (uint16_t)i;
	}
	for (uint32_t i = 0; i < run.count * run.count && run.mesh[1] != 0; i++) {
		struct host_flow_config *flow;
		uint32_t from = i / run.count;
		uint32_t to = (from + i) % run.count;

		if (from == to)
			continue;
		flow = host_add_flow(&run.host[from].config, first->id + to, (uint8_t)run.mesh[0],
				     (uint32_t)run.mesh[1]);
		flow->bps = run.mesh[2];
		flow->qp = from << 8 | to;
	}
	for (uint32_t i = 0; i < run.count; i++)
		set_dscp(&run.host[i].config);
}

int main(int argc, char **argv)
{
	int used = rte_eal_init(argc, argv);
	int rc;

	run.host = calloc(HOST_MAX, sizeof(*run.host));
	if (used < 0 || run.host == NULL) {
		fprintf(stderr, "host_dpdk: EAL: %s\n", rte_strerror(rte_errno));
		return EXIT_FAILURE;
	}
	host_config_init(&run.host[0].config, 0);
	run.host[0].config.announce = true;
	run.count = 1;
	run.seconds = 5;
	run.wait_ns = 1000000000;
	signal(SIGINT, stop);
	signal(SIGTERM, stop);
	signal(SIGUSR1, end_flows);
	rc = parse_options(&run.host[0].config, argc - used, argv + used);
	if (rc == 0 && rte_eth_dev_count_avail() != run.count)
		rc = -ENODEV;
	if (rc == 0) {
		spread_config();
		rc = start_ports();
	}
	if (rc == 0)
		run_hosts();
	else
		fprintf(stderr, "host_dpdk: %s\n", strerror(-rc));
	for (uint32_t i = 0; i < run.count && rc == 0; i++)
		report(&run.host[i], stdout);
	rte_delay_us_sleep((unsigned int)(run.linger_ns / 1000));
	for (uint32_t i = 0; i < run.count; i++)
		rte_pktmbuf_free(run.host[i].pending);
	rte_eal_cleanup();
	free(run.host);
	return rc == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
