// SPDX-License-Identifier: BSD-3-Clause
//
// Devices of a fabric on one machine: a cable is named by its first end, a host's socket by the
// host. All switches of one process find each other by these names; whoever has other devices
// edits devargs alone.

#include "cli/plan_configs.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "cli/run.h"
#include "fabricmgr/switch_config.h"

enum {
	PATH_BYTES = 4096,
	SLOT_BYTES = 2048, // of memif, unless told otherwise
	FRAME_EXTRA = 22,  // Ethernet header and two tags
	SLOT_STEP = 64,
};

static void write_link(const struct source *source, uint32_t link, char *out, size_t bytes)
{
	const struct topo *topo = &source->graph.topo;
	const uint32_t end = source->graph.link_cable[link] & FABRIC_FAR_END ?
				     topo->link_peer[link] :
				     link;

	snprintf(out, bytes, "link:%s.%u", source->fabric.switches[topo->link_switch[end]].name,
		 topo->link_port[end]);
}

static void write_memif(const struct source *source, uint32_t host_port, char *out, size_t bytes)
{
	const struct fabric_host *host =
		&source->fabric.hosts[source->fabric.host_ports[host_port].host];
	const uint32_t frame = (uint32_t)source->intent->fabric.mtu + FRAME_EXTRA;
	char number[16] = "", slots[32] = "";

	if (host->port_count > 1)
		snprintf(number, sizeof(number), "-%u", host_port - host->first_port + 1);
	if (frame > SLOT_BYTES)
		snprintf(slots, sizeof(slots), ",bsize=%u",
			 (frame + SLOT_STEP - 1) / SLOT_STEP * SLOT_STEP);
	snprintf(out, bytes,
		 "net_memif%u,role=server,socket=/run/weft/%s%s.sock,socket-abstract=no%s",
		 host_port, host->name, number, slots);
}

static const char *devargs(void *arg, const struct source *source, uint32_t at, uint16_t port,
			   char *out, size_t bytes)
{
	const struct fabric_plugs *plugs = arg;
	const uint32_t cables = source->fabric.cable_count;
	const uint32_t user = fabric_plug(plugs, at, port);

	if (user == FABRIC_NONE)
		snprintf(out, bytes, "net_null%u", port);
	else if (user >= 2 * cables)
		write_memif(source, user - 2 * cables, out, bytes);
	else
		write_link(source, topo_link_at(&source->graph.topo, at, port), out, bytes);
	return out;
}

static int complain(const char *path, int error)
{
	fprintf(stderr, "weft: %s: %s\n", path, strerror(error));
	return EXIT_USAGE;
}

static int write_one(const char *directory, const struct plan_work *work,
		     const struct switch_config_lab *lab, uint32_t at)
{
	char path[PATH_BYTES];
	FILE *out;
	int rc;

	snprintf(path, sizeof(path), "%s/%s.cfg", directory, work->source.fabric.switches[at].name);
	out = fopen(path, "we");
	if (out == NULL)
		return complain(path, errno);
	rc = switch_config_write(&work->source, &work->planner.plan, &work->qos, at, lab, true, out,
				 stderr);
	if (fclose(out) != 0 && rc == 0)
		return complain(path, errno);
	return rc < 0 ? EXIT_USAGE : EXIT_DONE;
}

int plan_configs_write(const char *directory, const struct plan_work *work)
{
	struct arena scratch = work->source.scratch;
	struct fabric_plugs plugs;
	const struct switch_config_lab lab = { .devargs = devargs, .arg = &plugs };
	int status = EXIT_DONE;

	if (!work->good || !work->with_turns) {
		fprintf(stderr, "weft: %s: not written: the plan is not proven\n", directory);
		return EXIT_USAGE;
	}
	if (fabric_plugs_build(&work->source.fabric, &scratch, &plugs) < 0)
		return complain(directory, ENOMEM);
	if (mkdir(directory, 0777) < 0 && errno != EEXIST)
		return complain(directory, errno);
	for (uint32_t at = 0; status == EXIT_DONE && at < work->source.fabric.switch_count; at++)
		status = write_one(directory, work, &lab, at);
	return status;
}
