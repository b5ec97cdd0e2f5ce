// SPDX-License-Identifier: BSD-3-Clause
//
// dataplane/dpdk/port_pfc.c over virtual devices that DPDK makes here: how many queues a port is
// opened with, and by whom PFC is then done. What a NIC would answer is the table of
// dpdk_pfc_path.c; here is that the answers of real drivers are asked for and carried out.

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "dataplane/dpdk/port_pfc.h"
#include "tests/keep.h"
#include "tests/rig/setup.h"
#include "tests/table.h"
#include "tests/unit/dpdk_eal.h"

enum { MBUFS = 8191 };

static const struct {
	const char *what;
	const char *devargs; // %d is replaced by the process
	uint8_t wanted;
	uint8_t pfc_enable;
	int want;
	enum pfc_path path;
	uint16_t queues; // each way
	const char *reason;
} rows[] = {
	{ "a virtual device, asked", "net_null0", PFC_PATH_AUTO, 0x18, 0, PFC_PATH_SOFTWARE, 1,
	  "" },
	{ "a virtual device, told", "net_null0", PFC_PATH_OWN, 0x18, 0, PFC_PATH_DEVICE, 3,
	  "though it offers no PFC" },
	{ "without PFC it has one queue", "net_null0", PFC_PATH_OWN, 0, 0, PFC_PATH_UNUSED, 1,
	  "no priority" },
	{ "memif",
	  "net_memif0,role=server,socket=/tmp/weft-unit-%d.sock,socket-abstract=no,bsize=9152",
	  PFC_PATH_OWN, 0x18, 0, PFC_PATH_DEVICE, 3, "" },
	{ "vhost with three queues", "net_vhost0,iface=/tmp/weft-unit-%d.sock,queues=3",
	  PFC_PATH_OWN, 0x18, 0, PFC_PATH_DEVICE, 3, "" },
	{ "vhost with one", "net_vhost0,iface=/tmp/weft-unit-%d.sock,queues=1", PFC_PATH_OWN, 0x18,
	  -EINVAL, PFC_PATH_NONE, 0, "fewer queues" },
};

// A configuration of one port with these knobs, two lossless classes or none.
static struct sw_config *config_of(const char *devargs, uint8_t wanted, uint8_t pfc_enable)
{
	struct sw_config *c = keep(setup_kvm(1));
	struct port_config *row = &c->port[0];

	// Rows may have a %d for a name that no other process has.
	// cppcheck-suppress wrongPrintfScanfArgNum
	snprintf(row->devargs, sizeof(row->devargs), devargs, (int)getpid());
	row->pfc_path = wanted;
	row->pfc_enable = pfc_enable;
	row->rx_ring = 64;
	row->tx_ring = 64;
	if (pfc_enable == 0) {
		setup_unbind_pgs(c);
		setup_pg(c, "all", 0xff, KVM_PG_LOSSY);
	}
	return c;
}

TABLE_TEST(port_pfc, open, row, rows)
{
	struct sw_config *c = config_of(row->devargs, row->wanted, row->pfc_enable);
	struct sw_profile *pf = keep(aligned_alloc(64, (profile_bytes(c) + 63) & ~63ul));
	struct profile_fault fault;
	struct rte_eth_dev_info info;
	struct rte_mempool *pool;
	struct port port;

	cr_assert_eq(profile_build(c, pf, &fault), 0);
	cr_assert_eq(
		port_prepare(&port, "unit", &c->port[0], pf, (port_t){ 0 }, "unit.cfg", stderr), 0);
	cr_assert(unit_start_eal());
	pool = rte_pktmbuf_pool_create("unit", MBUFS, 0, sizeof(struct pkt),
				       RTE_PKTMBUF_HEADROOM + 256, SOCKET_ID_ANY);
	cr_assert_not_null(pool);
	cr_assert_eq(port_open(&port, pool, row->pfc_enable != 0), row->want, "%s", row->what);
	cr_assert_eq(port.pfc, row->path, "%s: %d", row->what, (int)port.pfc);
	cr_assert(strstr(port.pfc_reason, row->reason) != NULL, "%s: %s", row->what,
		  port.pfc_reason);
	if (row->want == 0) {
		cr_assert_eq(rte_eth_dev_info_get(port.ethdev, &info), 0);
		cr_assert_eq(info.nb_rx_queues, row->queues, "%s: %u", row->what,
			     info.nb_rx_queues);
		cr_assert_eq(info.nb_tx_queues, row->queues, "%s: %u", row->what,
			     info.nb_tx_queues);
	}
	port_close(&port);
	unit_stop_eal();
}

// What a device does not count is unknown, and not 0.
Test(port_pfc, counters_of_a_device_without_any)
{
	struct sw_config *c = config_of("net_null0", PFC_PATH_OWN, 0x18);
	struct sw_profile *pf = keep(aligned_alloc(64, (profile_bytes(c) + 63) & ~63ul));
	struct port_pfc_counters counters;
	struct profile_fault fault;
	struct port port;

	cr_assert_eq(profile_build(c, pf, &fault), 0);
	cr_assert_eq(
		port_prepare(&port, "unit", &c->port[0], pf, (port_t){ 0 }, "unit.cfg", stderr), 0);
	cr_assert(unit_start_eal());
	memset(&counters, 0xff, sizeof(counters));
	port_pfc_read(&port, &counters);
	for (uint32_t i = 0; i < PRIO_COUNT; i++)
		cr_assert(!counters.rx_known[i] && !counters.tx_known[i]);
	unit_stop_eal();
}

// An in-memory link is no device.
Test(port_pfc, a_link_has_none)
{
	struct sw_config *c = config_of("link:loop", PFC_PATH_OWN, 0x18);
	struct sw_profile *pf = keep(aligned_alloc(64, (profile_bytes(c) + 63) & ~63ul));
	struct profile_fault fault;
	struct port port;
	char *text = NULL;
	size_t bytes;
	FILE *errors = open_memstream(&text, &bytes);

	cr_assert_eq(profile_build(c, pf, &fault), 0);
	cr_assert_eq(port_prepare(&port, "unit", &c->port[0], pf, (port_t){ 0 }, "unit.cfg",
				  errors),
		     -EINVAL);
	fclose(errors);
	cr_assert(strstr(text, "has no PFC of its own") != NULL, "%s", text);
	free(text);
}
