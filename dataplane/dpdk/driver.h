// SPDX-License-Identifier: BSD-3-Clause
//
// What is known about each DPDK driver beyond what its API tells: what its rings hold that no pause
// recalls, how long frames may be, and what it may lose without telling. One row per driver; the
// agent and the documentation walk the rows.
#pragma once

#include "dataplane/core/config.h"
#include "dataplane/dpdk/pfc_path.h"

// The proof by which a port loses nothing (docs/architecture.md, Port classes): a wire has a rate
// and a delay, a ring has only what it holds.
enum driver_class { DRIVER_WIRE, DRIVER_RING };

// What decides how many frames a ring holds.
enum driver_ring {
	DRIVER_RING_DESCRIPTORS, // the descriptors the port asks for
	DRIVER_RING_MEMIF,       // 2^rsize of the devargs
	DRIVER_RING_FRAMECNT,    // framecnt of the devargs
	DRIVER_RING_FIXED,       // ring_frames of the row
};

struct driver {
	// "pci" stands for a PCI address, "link" for an in-memory link, the others are names as in
	// devargs.
	const char *name;
	// What it may lose silently, and when.
	const char *loss;
	// Why max_mtu is less than the largest that weft supports, or NULL.
	const char *mtu_reason;
	// The argument that names the unix socket it may listen on, or NULL.
	const char *socket_key;
	uint32_t max_mtu;
	uint32_t ring_frames; // see `ring`
	uint32_t own_mbufs;   // that the driver keeps per port
	uint32_t idle_us;     // longest sleep of an idle lcore before its receive ring is at risk
	enum driver_ring ring;
	enum driver_class class;
	enum driver_pfc pfc;
	bool contiguous; // needs each frame in one mbuf
	bool rx_interrupts;
	bool restart;       // the side that connects must be started again to connect again
	bool eats_sent_pfc; // drops MAC control frames that software sends, whatever it is told
	bool xdp;           // receives by way of an XDP program, which may be ours
	bool kernel;        // sits on an interface of the kernel, named by iface=
};

extern const struct driver drivers[];
extern const uint32_t driver_count;

// Row of devargs such as "net_memif0,role=server" or "0000:3b:00.0"; NULL when none fits.
const struct driver *driver_of_devargs(const char *devargs);

// The row of devices that are named by their PCI address.
const struct driver *driver_pci(void);

// Row of a driver's own name (rte_eth_dev_info.driver_name), or `fallback`.
const struct driver *driver_of_name(const char *name, const struct driver *fallback);

// Copies the value of argument `key` in the devargs; false when it is not there or does not fit.
bool driver_argument(const char *devargs, const char *key, char *out, size_t out_bytes);

// Whether devargs name the side of a software link that connects, by the rules of the driver.
bool driver_connects(const struct driver *driver, const char *devargs);

// Writes the port's devargs with what the driver needs for the port's MTU and the file left out.
// 0 or -ENAMETOOLONG.
int driver_devargs(const struct driver *driver, const struct port_config *config, char *out,
		   size_t out_bytes);

// Largest MTU with these (completed) devargs.
uint32_t driver_max_mtu(const struct driver *driver, const char *devargs);

// Bytes one mbuf of the port must hold; 0 when frames may span several.
uint32_t driver_contiguous_bytes(const struct driver *driver, const char *devargs, uint32_t mtu);

// Frames that a ring of `descriptors` holds with these devargs.
uint32_t driver_ring_frames(const struct driver *driver, const char *devargs, uint32_t descriptors);
