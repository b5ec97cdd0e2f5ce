// SPDX-License-Identifier: BSD-3-Clause
//
// From a configuration file to a switch that could forward.
//
// Loading needs no DPDK environment, so that --check can use it and so that the memory a switch
// will need is known before the environment starts. The lcore borrows what instance_create() makes.

#include "dataplane/dpdk/instance.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rte_malloc.h>

#include "dataplane/dpdk/headroom_path.h"
#include "sys/cfg_load.h"
#include "sys/fault.h"
#include "sys/log.h"

enum {
	OVERHEAD_BYTES = 1 << 20,      // what malloc loses
	PORT_OVERHEAD_BYTES = 1 << 20, // rings, devices
};

static void print_fault(const struct profile_fault *fault, const char *path, FILE *errors)
{
	char text[512];

	fault_render(text, sizeof(text), profile_fault_texts[fault->id], fault->object,
		     fault->detail, fault->have, fault->want);
	if (fault->line != 0)
		fprintf(errors, "%s:%u: %s\n", path, fault->line, text);
	else
		fprintf(errors, "%s: %s\n", path, text);
}

int instance_resolve(const struct sw_config *written, struct sw_config *config,
		     struct profile_fault *fault)
{
	struct preset_port ports[CONFIG_PORT_MAX];

	for (uint32_t i = 0; i < written->port_count; i++)
		headroom_foresee(written, i, &ports[i]);
	return preset_expand(written, ports, config, fault);
}

static int resolve(struct instance *in, const char *path, FILE *errors)
{
	struct profile_fault fault = { 0 };
	int rc;

	in->config = calloc(1, sizeof(*in->config));
	if (in->config == NULL)
		return -ENOMEM;
	rc = instance_resolve(in->written, in->config, &fault);
	if (rc != 0)
		print_fault(&fault, path, errors);
	return rc;
}

static int build_profile(struct instance *in, const char *path, FILE *errors)
{
	struct profile_fault fault = { 0 };
	int rc;

	in->profile = calloc(1, profile_bytes(in->config));
	if (in->profile == NULL)
		return -ENOMEM;
	rc = profile_build(in->config, in->profile, &fault);
	if (rc != 0)
		print_fault(&fault, path, errors);
	return rc;
}

static int build_tables(struct instance *in, const char *path, FILE *errors)
{
	const uint32_t neighbors = (uint32_t)in->config->sw.neighbor_count;
	const size_t bytes = tables_bytes(in->config, neighbors);
	struct profile_fault fault = { 0 };
	void *memory;
	int rc;

	if (bytes == 0)
		return 0;
	memory = aligned_alloc(64, bytes);
	if (memory == NULL)
		return -ENOMEM;
	rc = tables_build(in->config, in->profile, neighbors, memory, &in->tables, &fault);
	if (rc == 0)
		return 0;
	print_fault(&fault, path, errors);
	in->tables = NULL;
	free(memory);
	return rc;
}

// What impaired links hold, which is charged to nobody.
static uint32_t line_mbufs(const struct sw_profile *pf)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < pf->port_count; i++)
		count += pf->port[i].impair.limit;
	return count;
}

static int prepare_ports(struct instance *in, const char *path, FILE *errors)
{
	int rc = 0;

	in->port_count = in->config->port_count;
	in->port = calloc(in->port_count, sizeof(*in->port));
	if (in->port == NULL)
		return -ENOMEM;
	in->need = pool_need_of(in->profile->descriptor_count + line_mbufs(in->profile));
	for (uint32_t i = 0; i < in->port_count; i++) {
		struct port *port = &in->port[i];

		if (port_prepare(port, in->config->sw.name, &in->config->port[i], in->profile,
				 (port_t){ (uint16_t)i }, path, errors) != 0) {
			rc = -EINVAL;
			continue;
		}
		pool_need_port(&in->need, port_ring_mbufs(port), (uint32_t)port->config->tx_ring,
			       port->driver->own_mbufs);
		pool_need_room(&in->need, port_contiguous_bytes(port), port->driver->xdp);
	}
	return rc;
}

int instance_load(struct instance *in, const char *path, FILE *errors)
{
	int rc;

	*in = (struct instance){ 0 };
	in->written = calloc(1, sizeof(*in->written));
	if (in->written == NULL)
		return -ENOMEM;
	rc = cfg_load(path, config_tables, CONFIG_TABLE_COUNT, in->written, errors);
	if (rc == 0)
		rc = resolve(in, path, errors);
	if (rc == 0)
		rc = build_profile(in, path, errors);
	if (rc == 0)
		rc = build_tables(in, path, errors);
	if (rc == 0)
		rc = prepare_ports(in, path, errors);
	if (rc != 0)
		instance_unload(in);
	return rc;
}

uint64_t instance_bytes(const struct instance *in)
{
	return sw_bytes(in->profile) + OVERHEAD_BYTES +
	       in->port_count * (uint64_t)PORT_OVERHEAD_BYTES;
}

static void prepare_line(struct instance *in, uint32_t i)
{
	struct pktio *io = &in->io[i];

	if (!in->profile->port[i].impair.on)
		return;
	impair_init(&io->line_memory, in->config->sw.seed + i);
	io->line = &io->line_memory;
}

static void prepare_io(struct instance *in)
{
	for (uint32_t i = 0; i < in->port_count; i++) {
		in->io[i].control = in->pools->control;
		in->io[i].linear = port_pool(&in->port[i], in->pools);
		in->io[i].ethdev = PORT_NO_DEVICE;
		in->io[i].sw = in->sw;
		in->io[i].port = (port_t){ (uint16_t)i };
		in->io[i].lcore = in->profile->port[i].lcore;
		prepare_line(in, i);
	}
}

// A row of pfc_wd that does nothing for a port says so, once.
static void name_skipped(const struct instance *in)
{
	for (uint32_t i = 0; i < in->port_count; i++) {
		if (in->profile->port[i].watchdog_skipped)
			log_warn("%s: port %s has no PFC (pfc_enable): pfc_wd skips it",
				 in->config->sw.name, in->config->port[i].name);
	}
}

int instance_create(struct instance *in, const struct pools *pools, ns_t now)
{
	void *memory = rte_malloc("weft_sw", sw_bytes(in->profile), 64);

	in->io = rte_zmalloc("weft_io", in->port_count * sizeof(*in->io), 64);
	if (memory == NULL || in->io == NULL) {
		log_err("%s: no memory for the switch", in->config->sw.name);
		rte_free(memory);
		rte_free(in->io);
		in->io = NULL;
		return -ENOMEM;
	}
	in->pools = pools;
	in->sw = sw_init(memory, in->profile, in->config->sw.seed, now);
	sw_set_tables(in->sw, in->tables);
	prepare_io(in);
	name_skipped(in);
	return 0;
}

void instance_release(struct instance *in)
{
	rte_free(in->io);
	rte_free(in->sw);
	in->io = NULL;
	in->sw = NULL;
}

void instance_unload(struct instance *in)
{
	free(in->port);
	free(in->tables);
	free(in->profile);
	free(in->config);
	free(in->written);
	*in = (struct instance){ 0 };
}
