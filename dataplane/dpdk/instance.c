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
#include "sys/cfg_place.h"
#include "sys/fault.h"
#include "sys/log.h"

enum {
	OVERHEAD_BYTES = 1 << 20,      // what malloc loses
	PORT_OVERHEAD_BYTES = 1 << 20, // rings, devices
};

static void print_fault(const struct profile_fault *fault, const char *path, FILE *errors)
{
	char place[CFG_PLACE_BYTES];
	char text[512];

	fault_render(text, sizeof(text), profile_fault_texts[fault->id], fault->object,
		     fault->detail, fault->have, fault->want);
	fprintf(errors, "%s: %s\n", cfg_place_line(path, fault->line, place), text);
}

int instance_resolve(const struct sw_config *written, struct sw_config *config,
		     struct profile_fault *fault)
{
	struct preset_port ports[CONFIG_PORT_MAX];

	for (uint32_t i = 0; i < written->port_count; i++)
		headroom_foresee(written, i, &ports[i]);
	return preset_expand(written, ports, config, fault);
}

// What a preset makes depends on the drivers.
static int check_drivers(const struct sw_config *written, const char *path, FILE *errors)
{
	const struct driver *driver;
	int rc = 0;

	for (uint32_t i = 0; i < written->port_count; i++) {
		if (port_find_driver(&written->port[i], path, errors, &driver) != 0)
			rc = -EINVAL;
	}
	return rc;
}

static int resolve(const struct sw_config *written, const char *path, FILE *errors,
		   struct sw_config **out)
{
	struct profile_fault fault = { 0 };
	int rc = check_drivers(written, path, errors);

	*out = NULL;
	if (rc != 0)
		return rc;
	*out = calloc(1, sizeof(**out));
	if (*out == NULL)
		return -ENOMEM;
	rc = instance_resolve(written, *out, &fault);
	if (rc == 0)
		return 0;
	print_fault(&fault, path, errors);
	free(*out);
	*out = NULL;
	return rc;
}

static int build_profile(const struct sw_config *config, const char *path, FILE *errors,
			 struct sw_profile **out)
{
	struct profile_fault fault = { 0 };
	int rc;

	*out = calloc(1, profile_bytes(config));
	if (*out == NULL)
		return -ENOMEM;
	rc = profile_build(config, *out, &fault);
	if (rc == 0)
		return 0;
	print_fault(&fault, path, errors);
	free(*out);
	*out = NULL;
	return rc;
}

static int build_tables(const struct sw_config *config, const struct sw_profile *pf,
			const char *path, FILE *errors, struct sw_tables **out)
{
	const uint32_t neighbors = (uint32_t)config->sw.neighbor_count;
	const size_t bytes = tables_bytes(config, neighbors);
	struct profile_fault fault = { 0 };
	void *memory;
	int rc;

	*out = NULL;
	if (bytes == 0)
		return 0;
	memory = aligned_alloc(64, bytes);
	if (memory == NULL)
		return -ENOMEM;
	rc = tables_build(config, pf, neighbors, memory, out, &fault);
	if (rc == 0)
		return 0;
	print_fault(&fault, path, errors);
	*out = NULL;
	free(memory);
	return rc;
}

int instance_build(const struct sw_config *written, const char *path, FILE *errors,
		   struct sw_config **config, struct sw_profile **profile,
		   struct sw_tables **tables)
{
	int rc = resolve(written, path, errors, config);

	*profile = NULL;
	*tables = NULL;
	if (rc == 0)
		rc = build_profile(*config, path, errors, profile);
	if (rc == 0)
		rc = build_tables(*config, *profile, path, errors, tables);
	if (rc == 0)
		return 0;
	free(*profile);
	free(*config);
	*profile = NULL;
	*config = NULL;
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

int instance_prepare_ports(const struct sw_config *config, const struct sw_profile *pf,
			   const char *path, FILE *errors, struct port **ports,
			   struct pool_need *need)
{
	int rc = 0;

	*ports = calloc(config->port_count, sizeof(**ports));
	if (*ports == NULL)
		return -ENOMEM;
	*need = pool_need_of(pf->descriptor_count + line_mbufs(pf));
	for (uint32_t i = 0; i < config->port_count; i++) {
		struct port *port = &(*ports)[i];

		if (port_prepare(port, config->sw.name, &config->port[i], pf,
				 (port_t){ (uint16_t)i }, path, errors) != 0) {
			rc = -EINVAL;
			continue;
		}
		pool_need_port(need, port_ring_mbufs(port), (uint32_t)port->config->tx_ring,
			       port->driver->own_mbufs);
		pool_need_room(need, port_contiguous_bytes(port), port->driver->xdp);
	}
	if (rc == 0)
		return 0;
	free(*ports);
	*ports = NULL;
	return rc;
}

static bool same_device(const char *a, const char *b)
{
	const size_t len = strcspn(a, ",");

	return config_link_name(a) == NULL && strcspn(b, ",") == len && memcmp(a, b, len) == 0;
}

int instance_check_devices(const struct instance *in, const struct sw_config *next,
			   const char *path, FILE *errors)
{
	const struct sw_config *own = in->config;
	char place[CFG_PLACE_BYTES];

	for (uint32_t n = 0; n < own->port_count * next->port_count; n++) {
		const struct port_config *port = &next->port[n % next->port_count];

		if (!same_device(own->port[n / next->port_count].devargs, port->devargs))
			continue;
		fprintf(errors, "%s: port %s: its device belongs to a port of %s already\n",
			cfg_place_line(path, port->line, place), port->name, in->path);
		return -EINVAL;
	}
	return 0;
}

int instance_read(struct instance *in, const char *path, FILE *errors)
{
	int rc;

	*in = (struct instance){ .path = path };
	in->written = calloc(1, sizeof(*in->written));
	if (in->written == NULL)
		return -ENOMEM;
	rc = cfg_load(path, config_tables, CONFIG_TABLE_COUNT, in->written, errors);
	if (rc != 0)
		instance_unload(in);
	return rc;
}

int instance_make(struct instance *in, FILE *errors)
{
	int rc = instance_build(in->written, in->path, errors, &in->config, &in->profile,
				&in->tables);

	if (rc == 0)
		rc = instance_prepare_ports(in->config, in->profile, in->path, errors, &in->port,
					    &in->need);
	if (rc != 0) {
		instance_unload(in);
		return rc;
	}
	in->port_count = in->config->port_count;
	in->descriptors = in->profile->descriptor_count;
	return 0;
}

uint64_t instance_bytes(const struct instance *in)
{
	return sw_bytes(in->profile) + OVERHEAD_BYTES +
	       in->port_count * (uint64_t)PORT_OVERHEAD_BYTES;
}

static void prepare_line(struct instance *in, uint32_t i)
{
	struct pktio *io = &in->io[i];

	impair_init(&io->line_memory, in->config->sw.seed + i);
	if (in->profile->port[i].impair.on)
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
		in->io[i].taps = &in->taps[in->io[i].lcore.v];
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
	if (in->sw != NULL)
		free(sw_more(in->sw));
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
