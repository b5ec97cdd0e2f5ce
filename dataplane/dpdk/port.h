// SPDX-License-Identifier: BSD-3-Clause
//
// The life of one port: a DPDK device that is probed, configured, started, and may go away at any
// time. All of it belongs to the control thread; the lcore only gets the number of a started device
// (pktio.h) and gives it back before anything is done to the device.
#pragma once

#include <rte_ethdev.h>

#include "dataplane/core/config.h"
#include "dataplane/dpdk/device_plan.h"
#include "dataplane/dpdk/driver.h"
#include "dataplane/dpdk/pool.h"

// In place of the number of a device: there is none, or there is a link of this process.
enum { PORT_NO_DEVICE = RTE_MAX_ETHPORTS, PORT_LINK };

struct link;

struct port {
	const struct port_config *config;
	char label[2 * CONFIG_NAME_BYTES]; // "SWITCH PORT", for the log
	const struct driver *driver;
	char devargs[CONFIG_TEXT_BYTES + 64]; // completed for the driver
	uint16_t ethdev;                      // or PORT_NO_DEVICE, PORT_LINK
	bool carrier;                         // as of the last port_poll_link()
	bool was_up;                          // had carrier since it was opened
	bool failed;       // the last attempt to open it failed, and that was said
	struct link *link; // that this port is an end of (link.h), or NULL
	uint32_t link_end; // which one, 0 or 1
	uint8_t mac[6];
	struct steering *steering; // of dataplane/steering.c, which alone looks inside; NULL: none
	const char *xdp_program;   // file of the program that its driver shall load, or NULL
	uint32_t kernel_index;     // of the kernel's interface behind it, 0: none
	uint32_t kernel_mtu;       // what the interface had before, 0: not touched
	bool kernel_promiscuous;   // likewise
	uint32_t link_mbps;        // as the driver reports it
	uint32_t rx_ring_frames;   // what the rings may hold
	uint32_t tx_ring_frames;
	enum pfc_path pfc; // as of the last port_open()
	struct pfc_answers pfc_answers;
	char pfc_reason[PFC_REASON_BYTES]; // why it is not software's, or empty
	struct device_plan plan;           // its queues where the device does PFC itself
	uint32_t removed;                  // set by the driver's thread when the device is gone
	struct rte_eth_stats last;         // driver statistics already passed on
};

// The driver of a port's devargs. 0, or -EINVAL with the reason on `errors` ("FILE:LINE: ...").
int port_find_driver(const struct port_config *config, const char *path, FILE *errors,
		     const struct driver **out);

// Checks what can be told from the configuration alone (driver known, MTU possible), completes the
// devargs and plans the queues of port `id` of the profile. 0, or -EINVAL with the reason on
// `errors`, which names file, line, port and driver.
int port_prepare(struct port *port, const char *switch_name, const struct port_config *config,
		 const struct sw_profile *pf, port_t id, const char *path, FILE *errors);

// Bytes one mbuf must hold for this port; 0 when frames may span several.
uint32_t port_contiguous_bytes(const struct port *port);

// The pool that feeds the port.
struct rte_mempool *port_pool(const struct port *port, const struct pools *pools);

// Mbufs that the rings of this port may hold, and what it waits with for them.
uint32_t port_ring_mbufs(const struct port *port);

// Probes, configures and starts the device; frames come from `pool`. `needs_pfc` says that the port
// generates or obeys PFC: a device that neither lets it pass nor does it itself is refused. 0, or
// -errno with the reason logged, once per row of failures. -EINVAL will not get better by itself;
// others may.
int port_open(struct port *port, struct rte_mempool *pool, bool needs_pfc);

// Queues each way that it is opened with, as of the last port_open().
uint16_t port_rx_queues(const struct port *port);
uint16_t port_tx_queues(const struct port *port);

// Stops and removes the device. Harmless when there is none.
void port_close(struct port *port);

// Another MTU for an open device that is no wire and whose buffers stay the same. 0, or -errno,
// logged. Nothing to do without a device.
int port_set_mtu(struct port *port, uint32_t mtu);

// True when the device is of no use any more and must be closed and opened again.
bool port_vanished(const struct port *port);

// Carrier now; updates link_mbps.
bool port_poll_link(struct port *port);

// Frames that the driver lost since the last call.
void port_poll_lost(struct port *port, uint64_t *no_buffer, uint64_t *missed);

// Largest frame on the wire, tags included, without FCS.
static inline uint32_t port_frame_bytes(const struct port *port)
{
	return (uint32_t)port->config->mtu + 14 + 8;
}
