// SPDX-License-Identifier: BSD-3-Clause
//
// The driver table and the arithmetic of devargs.
//
// AF_PACKET's numbers come from its memory layout: a received frame lies 66 bytes into its slot of
// framesz bytes (the kernel cuts off what does not fit), and the driver insists on mbufs that hold
// framesz - 32 bytes. Slots are addressed without regard to block borders, so framesz must divide
// blocksz.
//
// AF_XDP's driver makes each object of the mempool a chunk of the UMEM, of which the kernel keeps
// 256 bytes for itself (XDP_PACKET_HEADROOM) beyond what the mbuf needs.

#include "dataplane/dpdk/driver.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dataplane/dpdk/pool.h"

enum {
	TAG_BYTES = 8,
	MTU_MAX = 9216,
	AF_PACKET_FRAMESZ = 2048, // the driver's default
	AF_PACKET_HEAD = 66,
	AF_PACKET_MBUF_LESS = 32,
	MEMIF_BSIZE = 2048, // the driver's default
	CACHE_LINE_BYTES = 64,
	AF_XDP_HEADROOM = 256, // that the kernel keeps in front of a received frame
	AF_XDP_MAX_MTU = POOL_UMEM_ROOM_BYTES - AF_XDP_HEADROOM - ETHERNET_BYTES - TAG_BYTES,
};

#define AF_PACKET_JUMBO ",blocksz=20480,framesz=10240,framecnt=512"

#define NIC_LOSS                                                                                   \
	"nothing silently: frames that find no descriptor or no buffer are reported "              \
	"(RX_MISSED, RX_NO_BUFFER)"

// What NICs have in common; `...` is what may be lost.
#define NIC(driver_name, ...)                                                                      \
	{                                                                                          \
		.name = (driver_name), .loss = __VA_ARGS__, .max_mtu = MTU_MAX, .idle_us = 5,      \
		.ring = DRIVER_RING_DESCRIPTORS, .class = DRIVER_WIRE, .pfc = DRIVER_PFC_ASK,      \
		.rx_interrupts = true,                                                             \
	}

static const char link_name[] = "link"; // no prefix of devargs: see config_link_name()

const struct driver drivers[] = {
	NIC("pci", NIC_LOSS),
	NIC("net_mlx5", NIC_LOSS),
	NIC("net_ixgbe", NIC_LOSS),
	{
		.name = "net_i40e",
		.loss = NIC_LOSS "; PFC frames made by software, by a filter of its driver",
		.max_mtu = MTU_MAX,
		.idle_us = 5,
		.ring = DRIVER_RING_DESCRIPTORS,
		.class = DRIVER_WIRE,
		.pfc = DRIVER_PFC_ASK,
		.eats_sent_pfc = true,
		.rx_interrupts = true,
	},
	NIC("net_ice", NIC_LOSS),
	{
		.name = "net_memif",
		.loss = "nothing while connected; what is in the ring when the peer goes away",
		.mtu_reason = "a frame must fit in a slot, and slots have bsize bytes of the side "
			      "with role=client: give bsize there and in these devargs",
		.socket_key = "socket",
		.max_mtu = MTU_MAX,
		.idle_us = 500,
		.ring = DRIVER_RING_MEMIF,
		.class = DRIVER_RING,
		.pfc = DRIVER_PFC_PASS,
		.restart = true,
	},
	{
		.name = "net_vhost",
		.loss = "nothing while connected; what is in the guest's ring when the guest goes "
			"away",
		.socket_key = "iface",
		.max_mtu = MTU_MAX,
		.ring_frames = 256,
		.idle_us = 500,
		.ring = DRIVER_RING_FIXED,
		.class = DRIVER_RING,
		.pfc = DRIVER_PFC_PASS,
		.rx_interrupts = true,
	},
	{
		.name = "net_virtio_user",
		.loss = "nothing while connected; what is in the ring when the backend goes away",
		.max_mtu = MTU_MAX,
		.idle_us = 500,
		.ring = DRIVER_RING_DESCRIPTORS,
		.class = DRIVER_RING,
		.pfc = DRIVER_PFC_PASS,
		.restart = true,
	},
	{
		.name = "net_af_xdp",
		.loss = "received frames while the fill ring is empty; sent frames while the "
			"kernel is short of memory",
		.mtu_reason =
			"a frame, what describes it and the kernel's headroom must fit in one "
			"page",
		.max_mtu = AF_XDP_MAX_MTU,
		.own_mbufs = 4096,
		.idle_us = 100,
		.ring = DRIVER_RING_DESCRIPTORS,
		.class = DRIVER_RING,
		.pfc = DRIVER_PFC_PASS,
		.contiguous = true,
		.xdp = true,
		.kernel = true,
	},
	{
		.name = "net_af_packet",
		.loss = "received frames while the kernel's ring is full; sent frames longer than "
			"framesz, or while the interface is down",
		.mtu_reason = "a frame must fit in a slot of framesz bytes",
		.max_mtu = MTU_MAX,
		.ring_frames = 512,
		.idle_us = 200,
		.ring = DRIVER_RING_FRAMECNT,
		.class = DRIVER_RING,
		.pfc = DRIVER_PFC_PASS,
		.contiguous = true,
		.kernel = true,
	},
	{
		.name = "net_tap",
		.loss = "sent frames while the kernel is short of memory or the interface is down",
		.mtu_reason = "the driver loses longer frames",
		.max_mtu = 1500,
		.ring_frames = 1000,
		.idle_us = 500,
		.ring = DRIVER_RING_FIXED,
		.class = DRIVER_RING,
		.pfc = DRIVER_PFC_PASS,
		.rx_interrupts = true,
	},
	{
		.name = link_name,
		.loss = "nothing while up; what is on its way when it goes down",
		.max_mtu = MTU_MAX,
		.idle_us = 500,
		.ring = DRIVER_RING_DESCRIPTORS,
		.class = DRIVER_RING,
		.pfc = DRIVER_PFC_PASS,
	},
	{
		.name = "net_ring",
		.loss = "nothing",
		.max_mtu = MTU_MAX,
		.ring_frames = 1024,
		.idle_us = 500,
		.ring = DRIVER_RING_FIXED,
		.class = DRIVER_RING,
		.pfc = DRIVER_PFC_PASS,
	},
	{
		.name = "net_pcap",
		.loss = "sent frames when the file cannot be written",
		.max_mtu = MTU_MAX,
		.idle_us = 500,
		.ring = DRIVER_RING_FIXED,
		.class = DRIVER_RING,
		.pfc = DRIVER_PFC_PASS,
	},
	{
		.name = "net_null",
		.loss = "everything sent, on purpose",
		.max_mtu = MTU_MAX,
		.idle_us = 500,
		.ring = DRIVER_RING_FIXED,
		.class = DRIVER_RING,
		.pfc = DRIVER_PFC_PASS,
	},
};

const uint32_t driver_count = sizeof(drivers) / sizeof(drivers[0]);

// "0000:3b:00.0" or "3b:00.0", with or without arguments.
static bool is_pci_address(const char *devargs)
{
	size_t len = strcspn(devargs, ",");

	return len >= 7 && strspn(devargs, "0123456789abcdefABCDEF:.") == len &&
	       devargs[len - 2] == '.';
}

const struct driver *driver_pci(void)
{
	return &drivers[0];
}

const struct driver *driver_of_devargs(const char *devargs)
{
	if (config_link_name(devargs) != NULL)
		return driver_of_name(link_name, NULL);
	if (is_pci_address(devargs))
		return driver_pci();
	for (uint32_t i = 1; i < driver_count; i++) {
		if (strncmp(devargs, drivers[i].name, strlen(drivers[i].name)) == 0 &&
		    drivers[i].name != link_name)
			return &drivers[i];
	}
	return NULL;
}

const struct driver *driver_of_name(const char *name, const struct driver *fallback)
{
	for (uint32_t i = 1; i < driver_count; i++) {
		if (strcmp(name, drivers[i].name) == 0)
			return &drivers[i];
	}
	return fallback;
}

bool driver_argument(const char *devargs, const char *key, char *out, size_t out_bytes)
{
	size_t key_len = strlen(key);

	for (const char *at = strchr(devargs, ','); at != NULL; at = strchr(at, ',')) {
		size_t len = strcspn(++at, ",");

		if (strncmp(at, key, key_len) != 0 || at[key_len] != '=')
			continue;
		at += key_len + 1;
		len -= key_len + 1;
		if (len >= out_bytes)
			return false;
		memcpy(out, at, len);
		out[len] = '\0';
		return true;
	}
	return false;
}

static uint32_t argument_number(const char *devargs, const char *key, uint32_t fallback)
{
	char text[16];
	char *end;
	unsigned long value;

	if (!driver_argument(devargs, key, text, sizeof(text)))
		return fallback;
	value = strtoul(text, &end, 10);
	return *end == '\0' && end != text && value <= UINT32_MAX ? (uint32_t)value : fallback;
}

static bool is(const struct driver *driver, const char *name)
{
	return strcmp(driver->name, name) == 0;
}

static uint32_t af_packet_max_mtu(const char *devargs)
{
	uint32_t framesz = argument_number(devargs, "framesz", AF_PACKET_FRAMESZ);
	uint32_t less = AF_PACKET_HEAD + ETHERNET_BYTES + TAG_BYTES;

	return framesz > less ? framesz - less : 0;
}

// The driver puts a frame that is longer than a slot into several, and when the ring has fewer of
// them left it loses count (seen with DPDK 22.11): from then on the ring brings old frames again
// and again. So no frame may be longer than a slot. Slots are the client's, who makes them of bsize
// bytes; a server cannot ask, and takes the bsize of its own devargs for that of its client.
static uint32_t memif_max_mtu(const char *devargs)
{
	const uint32_t bsize = argument_number(devargs, "bsize", MEMIF_BSIZE);

	return bsize > ETHERNET_BYTES + TAG_BYTES ? bsize - ETHERNET_BYTES - TAG_BYTES : 0;
}

bool driver_connects(const struct driver *driver, const char *devargs)
{
	char value[16];

	if (driver_argument(devargs, "role", value, sizeof(value)))
		return strcmp(value, "server") != 0 && strcmp(value, "master") != 0;
	if (driver_argument(devargs, "client", value, sizeof(value)))
		return strcmp(value, "0") != 0;
	if (driver_argument(devargs, "server", value, sizeof(value)))
		return strcmp(value, "0") == 0;
	return driver->restart;
}

// What is missing in the devargs for frames of this MTU.
static void complete(const struct driver *driver, const struct port_config *config, char *out,
		     size_t out_bytes)
{
	const uint32_t frame = (uint32_t)config->mtu + ETHERNET_BYTES + TAG_BYTES;
	const char *devargs = config->devargs;
	char text[16];

	if (is(driver, "net_af_packet") && config->mtu > af_packet_max_mtu("") &&
	    !driver_argument(devargs, "framesz", text, sizeof(text)))
		snprintf(out, out_bytes, AF_PACKET_JUMBO);
	if (is(driver, "net_memif") && config->mtu > memif_max_mtu("") &&
	    driver_connects(driver, devargs) &&
	    !driver_argument(devargs, "bsize", text, sizeof(text)))
		snprintf(out, out_bytes, ",bsize=%u",
			 (frame + CACHE_LINE_BYTES - 1) / CACHE_LINE_BYTES * CACHE_LINE_BYTES);
}

int driver_devargs(const struct driver *driver, const struct port_config *config, char *out,
		   size_t out_bytes)
{
	char more[64] = "";
	int len;

	complete(driver, config, more, sizeof(more));
	len = snprintf(out, out_bytes, "%s%s", config->devargs, more);
	return len < 0 || (size_t)len >= out_bytes ? -ENAMETOOLONG : 0;
}

uint32_t driver_max_mtu(const struct driver *driver, const char *devargs)
{
	if (is(driver, "net_af_packet"))
		return (uint32_t)u64_min(driver->max_mtu, af_packet_max_mtu(devargs));
	if (is(driver, "net_memif"))
		return (uint32_t)u64_min(driver->max_mtu, memif_max_mtu(devargs));
	return driver->max_mtu;
}

uint32_t driver_contiguous_bytes(const struct driver *driver, const char *devargs, uint32_t mtu)
{
	if (!driver->contiguous)
		return 0;
	if (is(driver, "net_af_packet"))
		return argument_number(devargs, "framesz", AF_PACKET_FRAMESZ) - AF_PACKET_MBUF_LESS;
	return mtu + ETHERNET_BYTES + TAG_BYTES + (driver->xdp ? AF_XDP_HEADROOM : 0);
}

uint32_t driver_ring_frames(const struct driver *driver, const char *devargs, uint32_t descriptors)
{
	switch (driver->ring) {
	case DRIVER_RING_DESCRIPTORS: return descriptors;
	case DRIVER_RING_MEMIF: return 1u << (argument_number(devargs, "rsize", 10) & 31);
	case DRIVER_RING_FRAMECNT: return argument_number(devargs, "framecnt", driver->ring_frames);
	case DRIVER_RING_FIXED: return driver->ring_frames;
	}
	return 0;
}
