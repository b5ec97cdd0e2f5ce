// SPDX-License-Identifier: BSD-3-Clause
//
// Files that the programs of a lab start from. Cables between switches of one process are links in
// memory; between processes, and to hosts, they are memif, whose listening end (server) is the
// first end of a cable and the switch of a host; or, to namespaces, AF_PACKET on a veth pair.

#include "cli/lab_fabric.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "base/units.h"
#include "cli/run.h"
#include "fabricmgr/core/address.h"
#include "fabricmgr/switch_config.h"
#include "sys/cfg_address.h"

enum {
	ROCE_DSCP = 26,
	RING_LOG = 4,
	BURST_MS = 5,       // what a port catches up that was late: processors are shared
	BURST_LANES_MS = 1, // where a manager sends headroom that knows of no bursts
	LATE_US = 1100,     // a peer's answer to a pause, and what else may keep it
	FRAME_BITS = 8 * 84,
	FRAMES_KEPT = 300,            // rings at both ends, a burst in hand, long frames
	FRAMES_KEPT_BY_SOCKET = 3000, // of AF_PACKET
	FRAMES_OF_WIRE = 1200,        // headroom that a plan of several lanes has at any rate
	DESCRIPTORS_MIN = 4096,
	CELL_BYTES = 256,
	KNOBS_BYTES = 256,
};

struct writer {
	const struct lab *lab;
	const struct lab_fabric *fabric;
	struct fabric_plugs plugs;
};

static uint32_t burst_ms(const struct writer *writer)
{
	const bool sent = lab_has(writer->lab, "manager") && writer->fabric->work.verify.lanes > 1;

	return sent ? BURST_LANES_MS : BURST_MS;
}

// --- devices ----------------------------------------------------------------------------------

static void memif(const struct writer *writer, uint32_t device, const char *role, const char *dir,
		  uint32_t number, char *out, size_t bytes)
{
	snprintf(out, bytes, "net_memif%u,role=%s,socket=%s/%s/%u,socket-abstract=no,rsize=%d",
		 device, role, writer->lab->dir, dir, number, RING_LOG);
}

static const char *devargs(void *arg, const struct source *source, uint32_t at, uint16_t port,
			   char *out, size_t bytes)
{
	const struct writer *writer = arg;
	const uint32_t ends = 2 * source->fabric.cable_count;
	const uint32_t plug = fabric_plug(&writer->plugs, at, port);
	struct lab_netns netns;

	if (plug == FABRIC_NONE) {
		snprintf(out, bytes, "net_null%u,no-rx=1", port);
	} else if (plug < ends && !lab_has(writer->lab, "processes")) {
		snprintf(out, bytes, "link:cable%u", plug / 2);
	} else if (plug < ends) {
		memif(writer, plug, plug % 2 == 0 ? "server" : "client", "link", plug / 2, out,
		      bytes);
	} else if (lab_has_netns(writer->lab)) {
		lab_fabric_netns(writer->lab, writer->fabric, plug - ends, &netns);
		snprintf(out, bytes, "net_af_packet%u,iface=%s", plug - ends, netns.outside);
	} else {
		memif(writer, plug, "server", "host", plug - ends, out, bytes);
	}
	return out;
}

// --- switches ---------------------------------------------------------------------------------

// Packet buffers of a switch: headroom of its lossless groups for the smallest frames, and as many
// again to share.
static uint32_t descriptors(const struct lab *lab, const struct plan_work *work, uint32_t at)
{
	const uint32_t lanes = work->verify.lanes > 0 ? work->verify.lanes : 1;
	const uint32_t ports = work->source.fabric.switches[at].port_count;
	const uint64_t late_bits = lab_fabric_fastest(&work->source.fabric) / 1000000 *
				   (BURST_MS * 1000 + LATE_US);
	const uint32_t kept = lab_has_netns(lab) ? FRAMES_KEPT_BY_SOCKET : FRAMES_KEPT;
	uint64_t group = late_bits / FRAME_BITS + kept;
	uint64_t count;

	if (lanes > 1 && group < FRAMES_OF_WIRE)
		group = FRAMES_OF_WIRE;
	count = 2 * group * ports * lanes;

	if (count < 2ull * work->qos.headroom_worst / CELL_BYTES)
		count = 2ull * work->qos.headroom_worst / CELL_BYTES;
	return count < DESCRIPTORS_MIN ? DESCRIPTORS_MIN : (uint32_t)count;
}

static void top_knobs(const struct writer *writer, uint32_t at, char out[KNOBS_BYTES])
{
	const uint32_t count = descriptors(writer->lab, &writer->fabric->work, at);
	char path[LAB_PATH_BYTES];

	if (lab_has(writer->lab, "manager"))
		snprintf(out, KNOBS_BYTES, "descriptors = %u;\nmanager = \"unix:%s\";", count,
			 lab_path(writer->lab, "run/fabricd.rpc", path));
	else
		snprintf(out, KNOBS_BYTES, "descriptors = %u;", count);
}

static int write_switch(struct writer *writer, uint32_t at)
{
	const struct plan_work *work = &writer->fabric->work;
	char path[LAB_PATH_BYTES], file[LAB_PATH_BYTES], own[KNOBS_BYTES], ports[KNOBS_BYTES];
	const struct switch_config_lab lab = {
		.devargs = devargs,
		.arg = writer,
		.port_knobs = ports,
		.switch_knobs = own,
		.late_ns = burst_ms(writer) * 1000000ull + LATE_US * 1000ull,
	};
	FILE *out;
	int rc;

	top_knobs(writer, at, own);
	snprintf(ports, sizeof(ports), "burst = \"%ums\"; tx_ring = %d;", burst_ms(writer),
		 1 << RING_LOG);
	snprintf(file, sizeof(file), "config/%.64s.cfg", work->source.fabric.switches[at].name);
	out = fopen(lab_path(writer->lab, file, path), "we");
	if (out == NULL) {
		fprintf(stderr, "weft: %s: %s\n", path, strerror(errno));
		return EXIT_USAGE;
	}
	rc = switch_config_write(&work->source, &work->planner.plan, &work->qos, at, &lab,
				 !lab_has(writer->lab, "manager"), out, stderr);
	if (fclose(out) != 0 && rc == 0)
		rc = -errno;
	return rc < 0 ? EXIT_USAGE : EXIT_DONE;
}

// --- hosts ------------------------------------------------------------------------------------

// What hosts send: RoCE as usual, or else the first lossless class, with its priority in lane 0.
struct host_class {
	uint32_t prio;
	uint32_t dscp;
};

static struct host_class class_of(const struct qos *qos, const struct qos_options *options)
{
	struct host_class found = { .prio = 3, .dscp = ROCE_DSCP };

	for (uint32_t i = PRIO_COUNT; i-- > 0;) {
		const struct qos_prio *prio = &qos->prio[i];
		const bool sent = prio->use == QOS_LOSSLESS && prio->lane == 0;
		const uint64_t dscp = sent ? options->class[prio->class].dscp : 0;

		if (dscp >> ROCE_DSCP & 1)
			return (struct host_class){ i, ROCE_DSCP };
		if (dscp != 0)
			found = (struct host_class){ i, (uint32_t)__builtin_ctzll(dscp) };
	}
	return found;
}

static void write_host(const struct fabric *own, uint32_t number, uint32_t rank, FILE *out)
{
	const struct fabric_host_port *port = &own->host_ports[number];
	char mac[MAC_TEXT_BYTES], ip[IP_PREFIX_TEXT_BYTES], speed[UNIT_TEXT_BYTES];

	mac_format(fabric_host_mac(own, number), mac);
	ip_prefix_format(&port->ip, ip);
	unit_format(UNIT_BPS, port->speed_bps, speed);
	fprintf(out, "%s\n\t{ rank = %u; speed = \"%s\"; mac = \"%s\"; ip = \"%s\"; }",
		rank > 0 ? "," : "", rank, speed, mac, ip);
}

static void write_hosts(const struct writer *writer, FILE *out)
{
	const struct plan_work *work = &writer->fabric->work;
	const struct fabric *own = &work->source.fabric;
	const struct qos_options options = source_qos(&work->source, work->verify.lanes);
	const struct host_class class = class_of(&work->qos, &options);
	uint32_t rank = 0;

	fprintf(out, "# The hosts of %s, for weft lab traffic.\nhosts = \"memif:%s/host/{",
		own->name, writer->lab->dir);
	for (uint32_t i = 0; i < own->host_port_count; i++) {
		if (!own->hosts[own->host_ports[i].host].external)
			fprintf(out, "%s%u", rank++ > 0 ? "," : "", i);
	}
	fprintf(out, "}\";\nring = %d;\nburst = \"%ums\";\ndscp = %u;\npriority = %u;\nhost = (",
		1 << RING_LOG, burst_ms(writer), class.dscp, class.prio);
	rank = 0;
	for (uint32_t i = 0; i < own->host_port_count; i++) {
		if (!own->hosts[own->host_ports[i].host].external)
			write_host(own, i, rank++, out);
	}
	fputs("\n);\n", out);
}

static int write_hosts_file(const struct writer *writer)
{
	char path[LAB_PATH_BYTES];
	FILE *out = fopen(lab_path(writer->lab, "hosts.cfg", path), "we");

	if (out != NULL)
		write_hosts(writer, out);
	if (out != NULL && fclose(out) == 0)
		return EXIT_DONE;
	fprintf(stderr, "weft: %s: %s\n", path, strerror(errno));
	return EXIT_USAGE;
}

int lab_fabric_configure(const struct lab *lab, const struct lab_fabric *fabric)
{
	struct writer writer = { .lab = lab, .fabric = fabric };
	struct arena keep = fabric->work.source.keep; // what is made here is forgotten again
	int status = EXIT_DONE;

	if (fabric_plugs_build(&fabric->work.source.fabric, &keep, &writer.plugs) < 0) {
		fputs("weft: memory is short\n", stderr);
		return EXIT_USAGE;
	}
	for (uint32_t i = 0; status == EXIT_DONE && i < fabric->work.source.fabric.switch_count;
	     i++)
		status = write_switch(&writer, i);
	return status == EXIT_DONE ? write_hosts_file(&writer) : status;
}
