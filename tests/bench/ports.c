// SPDX-License-Identifier: BSD-3-Clause
//
// Ports by devargs, as a user would write them. The pcap driver reads its file once, when the port
// starts, and copies the frames into fresh mbufs ever after: what that costs is the least that any
// forwarder pays here.

#include "tests/bench/ports.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <rte_eal.h>
#include <rte_ethdev.h>

#include "dataplane/dpdk/pool.h"

enum {
	MBUF_COUNT = 16384, // standing queues of all variants, and rings
	RING = 256,
	ARG_BYTES = 256,
};

static const char *const stream_names[STREAM_COUNT] = { "udp64", "udp1024", "roce", "classes64" };

struct pcap_file_header {
	uint32_t magic;
	uint16_t major, minor;
	uint32_t zone, accuracy, snap_bytes, link;
};

struct pcap_frame_header {
	uint32_t seconds, microseconds, bytes, wire_bytes;
};

static bool write_pcap(const char *path, enum stream_id id)
{
	static const struct pcap_file_header header = { 0xa1b2c3d4, 2, 4, 0, 0, 65535, 1 };
	static struct stream stream;
	FILE *file = fopen(path, "we");
	bool written;

	if (file == NULL)
		return false;
	stream_make(id, &stream);
	written = fwrite(&header, sizeof(header), 1, file) == 1;
	for (uint32_t i = 0; i < STREAM_FRAMES; i++) {
		struct pcap_frame_header frame = { .bytes = stream.len[i],
						   .wire_bytes = stream.len[i] };

		written = written && fwrite(&frame, sizeof(frame), 1, file) == 1 &&
			  fwrite(stream.frame[i], stream.len[i], 1, file) == 1;
	}
	return fclose(file) == 0 && written;
}

static bool write_files(struct ports *ports)
{
	snprintf(ports->dir, sizeof(ports->dir), "/tmp/weft-bench-XXXXXX");
	if (mkdtemp(ports->dir) == NULL) {
		ports->dir[0] = '\0';
		return false;
	}
	for (uint32_t i = 0; i < STREAM_COUNT; i++) {
		snprintf(ports->pcap[i], sizeof(ports->pcap[i]), "%s/%s.pcap", ports->dir,
			 stream_names[i]);
		if (!write_pcap(ports->pcap[i], (enum stream_id)i))
			return false;
	}
	return true;
}

static bool start_eal(const struct ports *ports, int cpu, bool huge)
{
	static char lcores[32], memory[16], prefix[48], vdev[STREAM_COUNT][ARG_BYTES];
	char *argv[32] = { "pipeline",
			   "--lcores",
			   lcores,
			   "-m",
			   memory,
			   "--no-pci",
			   "--no-telemetry",
			   "--file-prefix",
			   prefix,
			   "--no-shconf",
			   "--log-level=*:error",
			   "--vdev",
			   "net_null0,no-rx=1",
			   huge ? "--in-memory" : "--no-huge" };
	int argc = 14;

	snprintf(lcores, sizeof(lcores), "0@%d", cpu);
	snprintf(memory, sizeof(memory), "%d", PORTS_MEMORY_MB);
	snprintf(prefix, sizeof(prefix), "weft-bench-%d", (int)getpid());
	for (uint32_t i = 0; i < STREAM_COUNT; i++) {
		snprintf(vdev[i], ARG_BYTES, "net_pcap%u,rx_pcap=%s,infinite_rx=1", i,
			 ports->pcap[i]);
		argv[argc++] = "--vdev";
		argv[argc++] = vdev[i];
	}
	return rte_eal_init(argc, argv) >= 0;
}

static bool start_port(const char *name, struct rte_mempool *pool, uint16_t *id)
{
	const struct rte_eth_conf conf = { 0 };

	return rte_eth_dev_get_port_by_name(name, id) == 0 &&
	       rte_eth_dev_configure(*id, 1, 1, &conf) == 0 &&
	       rte_eth_rx_queue_setup(*id, 0, RING, SOCKET_ID_ANY, NULL, pool) == 0 &&
	       rte_eth_tx_queue_setup(*id, 0, RING, SOCKET_ID_ANY, NULL) == 0 &&
	       rte_eth_dev_start(*id) == 0;
}

bool ports_open(struct ports *ports, int cpu, bool huge)
{
	bool started;

	memset(ports, 0, sizeof(*ports));
	if (!write_files(ports)) {
		perror("pipeline: temporary files");
		return false;
	}
	if (!start_eal(ports, cpu, huge)) {
		fprintf(stderr, "pipeline: the EAL does not start\n");
		return false;
	}
	ports->pool = rte_pktmbuf_pool_create("bench", MBUF_COUNT, POOL_CACHE, sizeof(struct pkt),
					      RTE_PKTMBUF_HEADROOM + POOL_SEGMENT_BYTES,
					      SOCKET_ID_ANY);
	started = ports->pool != NULL && start_port("net_null0", ports->pool, &ports->sink);
	for (uint32_t i = 0; started && i < STREAM_COUNT; i++) {
		char name[32];

		snprintf(name, sizeof(name), "net_pcap%u", i);
		started = start_port(name, ports->pool, &ports->source[i]);
	}
	if (!started)
		fprintf(stderr, "pipeline: the ports do not start\n");
	return started;
}

void ports_close(struct ports *ports)
{
	char path[64];

	rte_eal_cleanup();
	snprintf(path, sizeof(path), "/var/run/dpdk/weft-bench-%d", (int)getpid());
	rmdir(path);
	for (uint32_t i = 0; i < STREAM_COUNT; i++) {
		if (ports->pcap[i][0] != '\0')
			unlink(ports->pcap[i]);
	}
	if (ports->dir[0] != '\0')
		rmdir(ports->dir);
}
