// SPDX-License-Identifier: BSD-3-Clause
//
// Ports of hosts: opened, waited for, polled, closed.
//
// Two hosts of a "pair" have rings between them, and frames change hands without a copy.

#include "traffic/port_host.h"

#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include <rte_dev.h>
#include <rte_errno.h>
#include <rte_eth_ring.h>
#include <rte_ethdev.h>
#include <rte_ring.h>

#include "sys/dpdk/interrupt.h"
#include "traffic/port_memory.h"

enum {
	RX_RING = 512,
	TX_RING = 256,
	MBUF_CACHE = 128,
	PAIR_RING = 64, // frames on their way between two hosts of a pair
	WAIT_STEP_US = 2000,
	START_STEPS = 25,    // of these between two tries to start a port
	RESTART_STEPS = 500, // and until one that has started is started again
	NAMED_MAX = 4,       // ports that a line names
	SPINS = 64,          // rounds without a frame before it sleeps
	NAP_NS = 20000,
};

// Why a port cannot be opened. The EAL and drivers have codes of their own for what is wrong with a
// device's words, after lines of their own.
static const char *reason(int rc)
{
	switch (rc) {
	case -EFAULT: return "no driver has this name";
	case -EPERM: return "its driver does not take it";
	}
	return strerror(-rc);
}

// The path of a memif socket in a file system; false: it is not in one, or no memif.
static bool socket_path(const char *device, char path[SPEC_BYTES])
{
	const char *at = strstr(device, ",socket=");

	if (strncmp(device, "net_memif", 9) != 0 || at == NULL ||
	    strstr(device, ",socket-abstract=no") == NULL)
		return false;
	at = strchr(at, '=') + 1;
	snprintf(path, SPEC_BYTES, "%.*s", (int)strcspn(at, ","), at);
	return true;
}

int port_hosts_check_paths(const struct port_host *host, uint32_t count)
{
	const struct sockaddr_un *address = NULL;

	for (uint32_t i = 0; i < count; i++) {
		char path[SPEC_BYTES];
		char *slash;
		int rc = 0;

		if (!socket_path(host[i].device, path))
			continue;
		slash = strrchr(path, '/');
		if (strlen(path) >= sizeof(address->sun_path))
			rc = -ENAMETOOLONG;
		else if (slash == NULL)
			rc = -ENOENT; // the driver wants a directory
		if (rc == 0) {
			*slash = '\0';
			rc = access(slash == path ? "/" : path, R_OK | W_OK) == 0 ? 0 : -errno;
			*slash = '/';
		}
		if (rc == 0)
			continue;
		fprintf(stderr, "weft-traffic: host %u: no socket can be at %s: %s\n", i, path,
			strerror(-rc));
		return rc;
	}
	return 0;
}

static int make_pool(struct port_host *host, uint32_t number)
{
	const uint32_t count = port_mbuf_count(host->device);
	char name[RTE_MEMPOOL_NAMESIZE];

	// The cache gives back what was freed last and is still in the processor's. One thread
	// takes and frees all, so nothing is out of its reach in there.
	snprintf(name, sizeof(name), "host%u", number);
	host->pool = rte_pktmbuf_pool_create(name, count, count < MBUF_CACHE ? 0 : MBUF_CACHE, 0,
					     PORT_MBUF_ROOM, SOCKET_ID_ANY);
	return host->pool == NULL ? -rte_errno : 0;
}

// --- open -------------------------------------------------------------------------------------

static int join_pair(struct port_host *host, uint32_t number)
{
	struct rte_ring *ring[2];
	char name[2][RTE_RING_NAMESIZE];
	int id;

	for (uint32_t i = 0; i < 2; i++) {
		snprintf(name[i], sizeof(name[i]), "pair%u", number + i);
		ring[i] = rte_ring_create(name[i], PAIR_RING, SOCKET_ID_ANY,
					  RING_F_SP_ENQ | RING_F_SC_DEQ);
		if (ring[i] == NULL)
			return -rte_errno;
	}
	for (uint32_t i = 0; i < 2; i++) {
		id = rte_eth_from_rings(name[i], &ring[i], 1, &ring[1 - i], 1, SOCKET_ID_ANY);
		if (id < 0)
			return -rte_errno;
		host[i].ethdev = (uint16_t)id;
		host[i].open = true;
	}
	return 0;
}

static int probe(struct port_host *host)
{
	struct rte_dev_iterator iterator;
	uint16_t port = RTE_MAX_ETHPORTS;
	int rc = rte_dev_probe(host->device);

	if (rc != 0 && rc != -EEXIST)
		return rc;
	RTE_ETH_FOREACH_MATCHING_DEV(port, host->device, &iterator)
	{
		host->ethdev = port;
		host->open = true;
		rte_eth_iterator_cleanup(&iterator);
		return 0;
	}
	return -ENODEV;
}

static int configure(struct port_host *host)
{
	const struct rte_eth_conf conf = { 0 };
	uint16_t rx = RX_RING, tx = TX_RING;
	int rc = rte_eth_dev_configure(host->ethdev, 1, 1, &conf);

	if (rc == 0)
		rc = rte_eth_dev_adjust_nb_rx_tx_desc(host->ethdev, &rx, &tx);
	if (rc == 0)
		rc = rte_eth_rx_queue_setup(host->ethdev, 0, rx, SOCKET_ID_ANY, NULL, host->pool);
	if (rc == 0)
		rc = rte_eth_tx_queue_setup(host->ethdev, 0, tx, SOCKET_ID_ANY, NULL);
	// Virtual devices refuse it and pass such frames all the same.
	if (rc == 0)
		rte_eth_dev_set_mtu(host->ethdev, (uint16_t)host->profile.mtu);
	return rc;
}

int port_hosts_open(struct port_host *host, uint32_t count)
{
	uint32_t i;
	int rc = 0;

	for (i = 0; i < count; i++) {
		rc = make_pool(&host[i], i);
		if (rc == 0 && !host[i].open)
			rc = spec_is_pair(host[i].device) ? join_pair(&host[i], i) :
							    probe(&host[i]);
		if (rc == 0)
			rc = configure(&host[i]);
		if (rc != 0)
			break;
	}
	if (rc != 0)
		fprintf(stderr, "weft-traffic: %s: the port cannot be opened: %s\n", host[i].device,
			reason(rc));
	return rc;
}

// --- links ------------------------------------------------------------------------------------

static bool is_memif(const struct port_host *host)
{
	return strncmp(host->device, "net_memif", 9) == 0;
}

// A memif client cannot start before its switch listens, and when that goes away in between it has
// to be started again. What else has started is on its way: a start would begin it anew.
static void try_start(struct port_host *host, uint64_t step)
{
	if (step % START_STEPS != 0)
		return;
	if (host->started && (step == 0 || step % RESTART_STEPS != 0 || !is_memif(host)))
		return;
	if (host->started)
		interrupt_stop_port(host->ethdev);
	host->started = rte_eth_dev_start(host->ethdev) == 0;
	if (host->started)
		rte_eth_promiscuous_enable(host->ethdev);
}

static bool is_up(const struct port_host *host)
{
	struct rte_eth_link link = { 0 };

	return host->started && rte_eth_link_get_nowait(host->ethdev, &link) == 0 &&
	       link.link_status == RTE_ETH_LINK_UP;
}

static uint32_t count_down(struct port_host *host, uint32_t count, uint64_t step)
{
	uint32_t down = 0;

	for (uint32_t i = 0; i < count; i++) {
		if (is_up(&host[i]))
			continue;
		down++;
		try_start(&host[i], step);
	}
	return down;
}

static void name_down(const struct port_host *host, uint32_t count)
{
	uint32_t down = 0;

	for (uint32_t i = 0; i < count; i++) {
		if (is_up(&host[i]))
			continue;
		if (++down <= NAMED_MAX)
			fprintf(stderr, "weft-traffic: host %u: no link: %s\n", i, host[i].device);
	}
	if (down > NAMED_MAX)
		fprintf(stderr, "weft-traffic: and %u more\n", down - NAMED_MAX);
}

int port_hosts_wait(struct port_host *host, uint32_t count, uint64_t timeout_ns,
		    const volatile sig_atomic_t *stop)
{
	const uint64_t steps = timeout_ns / 1000 / WAIT_STEP_US;

	for (uint64_t step = 0; step <= steps && !*stop; step++) {
		if (count_down(host, count, step) == 0)
			return 0;
		rte_delay_us_sleep(WAIT_STEP_US);
	}
	if (*stop)
		fputs("weft-traffic: stopped while it waited for links\n", stderr);
	name_down(host, count);
	return *stop ? -EINTR : -ENOLINK;
}

int port_hosts_check(struct port_host *host, uint32_t count, ns_t now)
{
	bool gone = false;

	for (uint32_t i = 0; i < count; i++) {
		const bool down = !is_up(&host[i]);

		if (down && !host[i].down)
			host[i].down_since = now;
		if (down != host[i].down)
			endpoint_lldp_link(&host[i].profile, host[i].endpoint, !down, now);
		host[i].down = down;
		gone |= down && ns_since(now, host[i].down_since) >= PORT_HOST_DOWN_NS;
	}
	if (gone)
		name_down(host, count);
	return gone ? -ENOLINK : 0;
}

// --- frames -----------------------------------------------------------------------------------

static void take(struct port_host *host, const uint8_t *frame, uint32_t len, ns_t now)
{
	if (host->tally != NULL && replay_count(host->tally, frame, len))
		return;
	if (host->kernel == NULL || kernel_side_receive(host->kernel, frame, len))
		endpoint_rx(&host->profile, host->endpoint, frame, len, now);
}

void port_visit_begin(struct port_visits *visits, struct port_host *host, uint32_t count, ns_t now)
{
	const uint64_t gap = ns_since(now, visits->begun);

	poller_turn(&visits->poller);
	visits->begun = now;
	if (gap <= PORT_HOST_AWAY_NS)
		return;
	visits->starved_ns += gap - PORT_HOST_AWAY_NS;
	for (uint32_t i = 0; i < count; i++)
		endpoint_away(&host[i].profile, host[i].endpoint, gap - PORT_HOST_AWAY_NS);
}

void port_hosts_leave(struct port_host *host, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++)
		endpoint_lldp_leave(&host[i].profile, host[i].endpoint);
}

void port_visit_end(struct port_visits *visits)
{
	poller_turn(&visits->poller);
}

uint32_t port_host_receive(struct port_host *host, const struct clock *clock)
{
	struct rte_mbuf *mbufs[PORT_HOST_BURST];
	const uint16_t count = rte_eth_rx_burst(host->ethdev, 0, mbufs, PORT_HOST_BURST);
	ns_t now;

	if (count == 0)
		return 0;
	now = clock_now(clock);
	for (uint16_t i = 0; i < count; i++) {
		struct rte_mbuf *m = mbufs[i];

		if (rte_pktmbuf_linearize(m) == 0)
			take(host, rte_pktmbuf_mtod(m, uint8_t *), rte_pktmbuf_pkt_len(m), now);
		else
			host->unreadable++;
		rte_pktmbuf_free(m);
	}
	return count;
}

// The next frame that leaves.
static uint32_t make(struct port_host *host, bool ask_kernel, uint8_t *out, ns_t now)
{
	uint32_t len = 0;

	if (ask_kernel)
		len = kernel_side_transmit(host->kernel, out, ROCE_FRAME_MAX);
	return len != 0 ? len : endpoint_tx(&host->profile, host->endpoint, now, out);
}

// Builds the next frame if there is an mbuf for it, and one may leave.
static bool build(struct port_host *host, bool ask_kernel, ns_t now)
{
	struct rte_mbuf *m = rte_pktmbuf_alloc(host->pool);
	uint32_t len;

	if (m == NULL)
		return false;
	len = make(host, ask_kernel, rte_pktmbuf_mtod(m, uint8_t *), now);
	if (len == 0) {
		rte_pktmbuf_free(m);
		return false;
	}
	m->data_len = (uint16_t)len;
	m->pkt_len = len;
	host->pending = m;
	return true;
}

static void drop_pending(struct port_host *host)
{
	rte_pktmbuf_free(host->pending);
	host->pending = NULL;
}

// Hands the frame over that is built. False when the driver does not take it.
static bool send_pending(struct port_host *host)
{
	if (rte_eth_tx_burst(host->ethdev, 0, &host->pending, 1) == 1) {
		host->pending = NULL;
		return true;
	}
	if (host->down)
		drop_pending(host);
	return false;
}

// A frame that is built does not obey a pause any more, so there is one at most, and what has come
// is looked at before the next one. The kernel is asked once: that is a system call.
uint32_t port_host_transmit(struct port_host *host, const struct clock *clock)
{
	ns_t now = clock_now(clock);
	uint32_t moved = 0;

	for (uint32_t i = 0; i < PORT_HOST_TX_BURST; i++) {
		const uint32_t came = i == 0 ? 0 : port_host_receive(host, clock);

		moved += came;
		if (came != 0)
			now = clock_now(clock);
		if (host->pending == NULL && !build(host, i == 0 && host->kernel != NULL, now))
			break;
		if (!send_pending(host))
			break;
		moved++;
	}
	return moved;
}

void port_hosts_give_way(uint32_t moved, uint32_t *idle)
{
	const struct timespec nap = { .tv_nsec = NAP_NS };

	*idle = moved != 0 ? 0 : *idle + 1;
	if (*idle > SPINS)
		nanosleep(&nap, NULL);
	else if (*idle != 0)
		sched_yield();
}

void port_hosts_close(struct port_host *host, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++) {
		drop_pending(&host[i]);
		if (!host[i].open)
			continue;
		interrupt_close_port(host[i].ethdev);
		host[i].open = false;
	}
}
