// SPDX-License-Identifier: BSD-3-Clause
//
// Opens and closes DPDK devices.
//
// Virtual devices refuse a large MTU in rte_eth_dev_configure(), and many also when it is set, but
// pass large frames all the same: configure with 1500, then set it, and where a virtual device
// refuses, the driver table is what counts.

#include "dataplane/dpdk/port.h"

#include <errno.h>
#include <net/if.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <rte_dev.h>

#include "base/bytes.h"
#include "base/hash.h"
#include "dataplane/dpdk/link.h"
#include "dataplane/dpdk/pktio.h"
#include "dataplane/dpdk/port_pfc.h"
#include "sys/cfg_place.h"
#include "sys/dpdk/interrupt.h"
#include "sys/log.h"
#include "sys/stale_socket.h"

// A name as those of ports, short enough to be kept.
static bool is_link_name(const char *name)
{
	size_t len = strlen(name);

	return len > 0 && len < CONFIG_NAME_BYTES &&
	       strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-.") ==
		       len;
}

static int check_link_name(const struct port_config *config, const char *path, FILE *errors)
{
	const char *name = config_link_name(config->devargs);
	char place[CFG_PLACE_BYTES];

	if (name == NULL || is_link_name(name))
		return 0;
	fprintf(errors, "%s: port %s: a link's name has 1 to %d letters, digits, _ - and .\n",
		cfg_place_line(path, config->line, place), config->name, CONFIG_NAME_BYTES - 1);
	return -EINVAL;
}

static int check_link_pfc(const struct port_config *config, const char *path, FILE *errors)
{
	char place[CFG_PLACE_BYTES];

	if (config_link_name(config->devargs) == NULL || config->pfc_path != PFC_PATH_OWN)
		return 0;
	fprintf(errors,
		"%s: port %s: a link is no device and has no PFC of its own: leave pfc_path "
		"at its default\n",
		cfg_place_line(path, config->line, place), config->name);
	return -EINVAL;
}

int port_find_driver(const struct port_config *config, const char *path, FILE *errors,
		     const struct driver **out)
{
	char place[CFG_PLACE_BYTES];

	*out = driver_of_devargs(config->devargs);
	if (*out != NULL)
		return 0;
	fprintf(errors, "%s: port %s: no driver for devargs \"%s\"\n",
		cfg_place_line(path, config->line, place), config->name, config->devargs);
	return -EINVAL;
}

int port_prepare(struct port *port, const char *switch_name, const struct port_config *config,
		 const struct sw_profile *pf, port_t id, const char *path, FILE *errors)
{
	char place[CFG_PLACE_BYTES];
	uint32_t max_mtu;

	*port = (struct port){ .config = config, .ethdev = PORT_NO_DEVICE };
	snprintf(port->label, sizeof(port->label), "%s %s", switch_name, config->name);
	device_plan(pf, id, &port->plan);
	if (port_find_driver(config, path, errors, &port->driver) != 0)
		return -EINVAL;
	if (check_link_name(config, path, errors) != 0 || check_link_pfc(config, path, errors) != 0)
		return -EINVAL;
	if (driver_devargs(port->driver, config, port->devargs, sizeof(port->devargs)) != 0) {
		fprintf(errors, "%s: port %s: devargs are too long\n",
			cfg_place_line(path, config->line, place), config->name);
		return -EINVAL;
	}
	max_mtu = driver_max_mtu(port->driver, port->devargs);
	if (config->mtu > max_mtu) {
		fprintf(errors, "%s: port %s: MTU %u is not possible with %s, at most %u: %s\n",
			cfg_place_line(path, config->line, place), config->name,
			(uint32_t)config->mtu, port->driver->name, max_mtu,
			port->driver->mtu_reason);
		return -EINVAL;
	}
	return 0;
}

uint32_t port_contiguous_bytes(const struct port *port)
{
	return driver_contiguous_bytes(port->driver, port->devargs, (uint32_t)port->config->mtu);
}

struct rte_mempool *port_pool(const struct port *port, const struct pools *pools)
{
	return pools_rx(pools, port_contiguous_bytes(port), port->driver->xdp);
}

// Whether its device may be opened with a queue per priority: what it answers is not known yet.
static bool may_use_own_pfc(const struct port *port)
{
	const enum pfc_path_wanted wanted = (enum pfc_path_wanted)port->config->pfc_path;

	return wanted == PFC_PATH_OWN ||
	       (wanted == PFC_PATH_AUTO && port->driver->pfc == DRIVER_PFC_ASK);
}

uint32_t port_ring_mbufs(const struct port *port)
{
	uint64_t rx_ring = config_link_name(port->devargs) != NULL ? 0 : port->config->rx_ring;
	uint64_t tx_ring = port->config->tx_ring;

	if (!may_use_own_pfc(port))
		return (uint32_t)(rx_ring + tx_ring); // a link's other end counts its own
	return (uint32_t)(rx_ring * port->plan.rx_count +
			  (tx_ring + PKTIO_BURST) * port->plan.tx_count);
}

// Runs in a thread of the EAL.
static int on_removed(uint16_t ethdev, enum rte_eth_event_type event, void *arg, void *result)
{
	struct port *port = arg;

	__atomic_store_n(&port->removed, 1, __ATOMIC_RELEASE);
	return 0;
}

// Says once why a port cannot be opened, until it has been open again.
static int fail(struct port *port, int rc, const char *what)
{
	if (!port->failed)
		log_err("%s: %s (%s): %s", port->label, what, port->devargs, strerror(-rc));
	port->failed = true;
	return rc;
}

static int find_device(struct port *port)
{
	char name[RTE_ETH_NAME_MAX_LEN];
	size_t len = strcspn(port->devargs, ",");
	const char *bus = memchr(port->devargs, ':', len);
	// A PCI address may be written without its domain, the device's name never is.
	bool whole = port->driver != driver_pci() ||
		     (bus != NULL && memchr(bus + 1, ':', len - (size_t)(bus + 1 - port->devargs)));

	snprintf(name, sizeof(name), "%s%.*s", whole ? "" : "0000:", (int)len, port->devargs);
	return rte_eth_dev_get_port_by_name(name, &port->ethdev);
}

// The listening side of a software link binds a file that an earlier process may have left.
static void clear_socket(const struct port *port)
{
	char path[CONFIG_TEXT_BYTES];

	if (port->driver->socket_key != NULL && !driver_connects(port->driver, port->devargs) &&
	    driver_argument(port->devargs, port->driver->socket_key, path, sizeof(path)))
		stale_socket_remove(path);
}

// Asks the kernel about the interface that the device is made of; -ENODEV when there is none.
static int kernel_request(const struct port *port, unsigned long what, struct ifreq *request)
{
	int fd;
	int rc;

	if (!port->driver->kernel ||
	    !driver_argument(port->devargs, "iface", request->ifr_name, sizeof(request->ifr_name)))
		return -ENODEV;
	fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return -errno;
	rc = ioctl(fd, what, request) == 0 ? 0 : -errno;
	close(fd);
	return rc;
}

// Others may live on the interface: what the port changes there ends with it.
static void remember_kernel(struct port *port)
{
	struct ifreq request = { 0 };

	port->kernel_mtu = 0;
	port->kernel_promiscuous = true;
	if (kernel_request(port, SIOCGIFMTU, &request) == 0)
		port->kernel_mtu = (uint32_t)request.ifr_mtu;
	if (kernel_request(port, SIOCGIFFLAGS, &request) == 0)
		port->kernel_promiscuous = (request.ifr_flags & IFF_PROMISC) != 0;
}

static void restore_kernel_mtu(struct port *port)
{
	struct ifreq request = { .ifr_mtu = (int)port->kernel_mtu };

	if (port->kernel_mtu != 0 && port->kernel_mtu != port->config->mtu)
		kernel_request(port, SIOCSIFMTU, &request);
	port->kernel_mtu = 0;
}

static int probe(struct port *port)
{
	char devargs[sizeof(port->devargs) + 64];
	char iface[IF_NAMESIZE];
	int rc;

	port->kernel_index = 0;
	if (port->driver->kernel && driver_argument(port->devargs, "iface", iface, sizeof(iface))) {
		port->kernel_index = if_nametoindex(iface);
		if (port->kernel_index == 0)
			return fail(port, -ENODEV, "its kernel interface does not exist");
	}
	// The bus answers for a device that is there already as if it had made it.
	if (port->driver->class != DRIVER_WIRE && find_device(port) == 0) {
		port->ethdev = PORT_NO_DEVICE;
		return fail(port, -EINVAL, "another port has this device");
	}
	clear_socket(port);
	remember_kernel(port);
	snprintf(devargs, sizeof(devargs), "%s%s%s", port->devargs,
		 port->xdp_program != NULL ? ",xdp_prog=" : "",
		 port->xdp_program != NULL ? port->xdp_program : "");
	rc = rte_dev_probe(devargs);
	if (rc < 0)
		return fail(port, rc == -1 ? -ENODEV : rc, "the device cannot be probed");
	rc = find_device(port);
	if (rc < 0) {
		port->ethdev = PORT_NO_DEVICE;
		return fail(port, rc, "the device is no Ethernet port");
	}
	return 0;
}

// Frames longer than an interface's MTU would be lost in the kernel.
static int set_kernel_mtu(const struct port *port, uint32_t mtu)
{
	struct ifreq request = { .ifr_mtu = (int)mtu };
	int rc = kernel_request(port, SIOCSIFMTU, &request);

	return rc == -ENODEV ? 0 : rc;
}

// Drivers on kernel interfaces report a link whatever the interface does.
static bool kernel_down(const struct port *port)
{
	struct ifreq request = { 0 };

	return kernel_request(port, SIOCGIFFLAGS, &request) == 0 &&
	       (request.ifr_flags & (IFF_UP | IFF_RUNNING)) != (IFF_UP | IFF_RUNNING);
}

static int set_mtu(struct port *port, const struct rte_eth_dev_info *info, uint32_t mtu)
{
	uint32_t frame_bytes = mtu + RTE_ETHER_HDR_LEN + RTE_ETHER_CRC_LEN;
	int rc = -ENOTSUP;

	// Most virtual devices name a limit of 1518 bytes that they do not mean: port_prepare() has
	// asked the driver table.
	if (port->driver->class == DRIVER_WIRE || frame_bytes <= info->max_rx_pktlen)
		rc = rte_eth_dev_set_mtu(port->ethdev, (uint16_t)mtu);
	if (rc == -ENOTSUP)
		rc = set_kernel_mtu(port, mtu);
	if (rc == 0)
		return 0;
	log_err("%s: MTU %u is refused by %s (%s): %s", port->label, mtu, port->driver->name,
		port->devargs, strerror(-rc));
	return -EINVAL;
}

int port_set_mtu(struct port *port, uint32_t mtu)
{
	struct rte_eth_dev_info info;
	int rc;

	if (port->ethdev == PORT_NO_DEVICE || port->ethdev == PORT_LINK)
		return 0;
	rc = rte_eth_dev_info_get(port->ethdev, &info);
	return rc != 0 ? rc : set_mtu(port, &info, mtu);
}

uint16_t port_rx_queues(const struct port *port)
{
	return port->pfc == PFC_PATH_DEVICE ? port->plan.rx_count : 1;
}

uint16_t port_tx_queues(const struct port *port)
{
	return port->pfc == PFC_PATH_DEVICE ? port->plan.tx_count : 1;
}

// A receive queue that drops when it is full would leave the device nothing to pause for.
static int setup_rx_queues(const struct port *port, const struct rte_eth_dev_info *info,
			   uint16_t ring, struct rte_mempool *pool)
{
	struct rte_eth_rxconf conf = info->default_rxconf;
	const bool own = port->pfc == PFC_PATH_DEVICE;
	int rc = 0;

	conf.rx_drop_en = 0;
	for (uint16_t i = 0; rc == 0 && i < port_rx_queues(port); i++)
		rc = rte_eth_rx_queue_setup(port->ethdev, i, ring, SOCKET_ID_ANY,
					    own ? &conf : NULL, pool);
	return rc;
}

static int setup_queues(struct port *port, const struct rte_eth_dev_info *info,
			struct rte_mempool *pool)
{
	uint16_t rx_ring = (uint16_t)port->config->rx_ring;
	uint16_t tx_ring = (uint16_t)port->config->tx_ring;
	int rc;

	rc = rte_eth_dev_adjust_nb_rx_tx_desc(port->ethdev, &rx_ring, &tx_ring);
	if (rc == 0)
		rc = setup_rx_queues(port, info, rx_ring, pool);
	for (uint16_t i = 0; rc == 0 && i < port_tx_queues(port); i++)
		rc = rte_eth_tx_queue_setup(port->ethdev, i, tx_ring, SOCKET_ID_ANY, NULL);
	port->rx_ring_frames = driver_ring_frames(port->driver, port->devargs, rx_ring);
	port->tx_ring_frames = driver_ring_frames(port->driver, port->devargs, tx_ring);
	return rc;
}

static int configure(struct port *port, const struct rte_eth_dev_info *info, bool scattered)
{
	struct rte_eth_conf conf = { .rxmode.mtu = RTE_ETHER_MTU };

	if (scattered)
		conf.rxmode.offloads = info->rx_offload_capa & RTE_ETH_RX_OFFLOAD_SCATTER;
	conf.txmode.offloads = info->tx_offload_capa & RTE_ETH_TX_OFFLOAD_MULTI_SEGS;
	conf.intr_conf.rxq = port->driver->rx_interrupts;
	return rte_eth_dev_configure(port->ethdev, port_rx_queues(port), port_tx_queues(port),
				     &conf);
}

static bool is_zero_mac(const uint8_t mac[6])
{
	static const uint8_t zero[6];

	return memcmp(mac, zero, sizeof(zero)) == 0;
}

static void make_mac(struct port *port, const char *seed)
{
	port->mac[0] = 2; // locally administered
	port->mac[1] = 0x77;
	store_be32(port->mac + 2, (uint32_t)hash_text(seed));
}

// PFC frames need a real source address, and some virtual devices have none.
static void read_mac(struct port *port)
{
	struct rte_ether_addr addr = { 0 };

	if (rte_eth_macaddr_get(port->ethdev, &addr) == 0)
		memcpy(port->mac, addr.addr_bytes, sizeof(port->mac));
	if (is_zero_mac(port->mac))
		make_mac(port, port->devargs);
}

static int size(struct port *port, const struct rte_eth_dev_info *info)
{
	int rc = configure(port, info, port_contiguous_bytes(port) == 0);

	if (rc != 0)
		return fail(port, rc, "the device cannot be configured");
	rc = set_mtu(port, info, (uint32_t)port->config->mtu);
	port->failed |= rc != 0;
	return rc;
}

// Sized with one queue it is asked for its PFC; the answer may be a queue per priority.
static int size_for_pfc(struct port *port, const struct rte_eth_dev_info *info, bool needs_pfc)
{
	int rc;

	port->pfc = PFC_PATH_UNUSED;
	rc = size(port, info);
	if (rc == 0)
		rc = port_pfc_ask(port, info, needs_pfc);
	if (rc == 0 && port->pfc == PFC_PATH_DEVICE)
		rc = size(port, info);
	return rc;
}

static int start(struct port *port, struct rte_mempool *pool, bool needs_pfc)
{
	struct rte_eth_dev_info info;
	int rc = rte_eth_dev_info_get(port->ethdev, &info);

	if (rc != 0)
		return fail(port, rc, "the device tells nothing about itself");
	port->driver = driver_of_name(info.driver_name, port->driver);
	rc = size_for_pfc(port, &info, needs_pfc);
	if (rc != 0)
		return rc;
	// Its UMEM is the pool's first piece, and it would receive into memory beyond.
	if (port->driver->xdp && pool->nb_mem_chunks != 1)
		return fail(port, -EINVAL, "the packet buffers are not in one piece");
	rc = setup_queues(port, &info, pool);
	if (rc != 0)
		return fail(port, rc, "its queues cannot be set up");
	rc = port_pfc_set_queues(port);
	if (rc != 0)
		return rc;
	rte_eth_dev_callback_register(port->ethdev, RTE_ETH_EVENT_INTR_RMV, on_removed, port);
	rc = rte_eth_dev_start(port->ethdev);
	if (rc != 0)
		return fail(port, rc == -1 ? -EAGAIN : rc, "the device does not start");
	rc = port_pfc_started(port);
	if (rc != 0)
		return rc;
	// Virtual devices have no filter and say so with an error.
	rte_eth_promiscuous_enable(port->ethdev);
	rte_eth_allmulticast_enable(port->ethdev);
	read_mac(port);
	return 0;
}

// While a port is being retried its driver would repeat its complaint with each attempt.
static void quiet_drivers(bool quiet)
{
	rte_log_set_level_pattern("pmd.*", quiet ? RTE_LOG_CRIT : RTE_LOG_ERR);
	rte_log_set_level_pattern("lib.eal", quiet ? RTE_LOG_CRIT : RTE_LOG_ERR);
}

static int open_device(struct port *port, struct rte_mempool *pool, bool needs_pfc)
{
	int rc;

	quiet_drivers(port->failed);
	rc = probe(port);
	if (rc == 0)
		rc = start(port, pool, needs_pfc);
	if (rc != 0)
		port_close(port);
	quiet_drivers(false);
	return rc;
}

int port_open(struct port *port, struct rte_mempool *pool, bool needs_pfc)
{
	int rc = 0;

	port->removed = 0;
	port->carrier = false;
	port->was_up = false;
	port->last = (struct rte_eth_stats){ 0 };
	if (port->link == NULL) {
		rc = open_device(port, pool, needs_pfc);
	} else {
		link_open(port);
		port->pfc = needs_pfc ? PFC_PATH_SOFTWARE : PFC_PATH_UNUSED;
		make_mac(port, port->label);
	}
	if (rc != 0)
		return rc;
	port->failed = false;
	log_info("%s: %s is open (%s), MTU %u", port->label, port->driver->name, port->devargs,
		 (uint32_t)port->config->mtu);
	return 0;
}

static void close_device(struct port *port)
{
	struct rte_eth_dev_info info = { 0 };

	if (rte_eth_dev_info_get(port->ethdev, &info) != 0)
		info.device = NULL;
	if (!port->kernel_promiscuous)
		rte_eth_promiscuous_disable(port->ethdev);
	rte_eth_dev_callback_unregister(port->ethdev, RTE_ETH_EVENT_INTR_RMV, on_removed, port);
	interrupt_close_port(port->ethdev);
	if (info.device != NULL)
		rte_dev_remove(info.device);
	restore_kernel_mtu(port);
}

void port_close(struct port *port)
{
	if (port->ethdev == PORT_NO_DEVICE)
		return;
	if (port->link != NULL)
		link_close(port);
	else
		close_device(port);
	port->ethdev = PORT_NO_DEVICE;
	port->carrier = false;
}

bool port_vanished(const struct port *port)
{
	char iface[IF_NAMESIZE];

	if (port->ethdev == PORT_NO_DEVICE || port->ethdev == PORT_LINK)
		return false;
	if (__atomic_load_n(&port->removed, __ATOMIC_ACQUIRE) != 0)
		return true;
	if (port->kernel_index != 0 &&
	    driver_argument(port->devargs, "iface", iface, sizeof(iface)) &&
	    if_nametoindex(iface) != port->kernel_index)
		return true;
	// The side that connects must be started again to connect again, unless its driver does it.
	return port->driver->restart && port->was_up && !port->carrier &&
	       driver_connects(port->driver, port->devargs);
}

bool port_poll_link(struct port *port)
{
	struct rte_eth_link link = { 0 };

	if (port->ethdev == PORT_LINK)
		return port->carrier = link_poll(port);
	if (port->ethdev == PORT_NO_DEVICE || rte_eth_link_get_nowait(port->ethdev, &link) != 0)
		link.link_status = RTE_ETH_LINK_DOWN;
	port->carrier = link.link_status == RTE_ETH_LINK_UP && !kernel_down(port);
	port->was_up |= port->carrier;
	port->link_mbps = link.link_speed == RTE_ETH_SPEED_NUM_UNKNOWN ? 0 : link.link_speed;
	return port->carrier;
}

// Some drivers start counting anew when their peer reconnects.
static uint64_t advance(uint64_t now, uint64_t *last)
{
	uint64_t delta = now >= *last ? now - *last : now;

	*last = now;
	return delta;
}

void port_poll_lost(struct port *port, uint64_t *no_buffer, uint64_t *missed)
{
	struct rte_eth_stats now;

	*no_buffer = 0;
	*missed = 0;
	if (port->ethdev == PORT_NO_DEVICE || port->ethdev == PORT_LINK ||
	    rte_eth_stats_get(port->ethdev, &now) != 0)
		return;
	*no_buffer = advance(now.rx_nombuf, &port->last.rx_nombuf);
	*missed = advance(now.imissed, &port->last.imissed);
}
