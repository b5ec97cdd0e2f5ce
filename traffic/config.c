// SPDX-License-Identifier: BSD-3-Clause
//
// The descriptor tables of schema/traffic_run.def, as those of a switch's configuration are made. A
// knob that has no row here does not exist: options, help, man page and scenario files all walk
// them.

#include "traffic/config.h"

#include <string.h>

#include "sys/cfg_row.h"

#define KNOB(type, key, kind, def, min, max, words, doc)                                           \
	{ #key, def, words, doc, min, max, (uint32_t)offsetof(struct type, key), CONFIG_##kind },

#define RUN_KNOB(...) KNOB(run_config, __VA_ARGS__)
static const struct config_knob run_knobs[] = {
#include "schema/traffic_run.def"
};

#define DEVICE_KNOB(...) KNOB(device_config, __VA_ARGS__)
static const struct config_knob device_knobs[] = {
#include "schema/traffic_run.def"
};

#define RANK_KNOB(...) KNOB(rank_config, __VA_ARGS__)
static const struct config_knob rank_knobs[] = {
#include "schema/traffic_run.def"
};

#define TROUBLE_KNOB(...) KNOB(trouble_config, __VA_ARGS__)
static const struct config_knob trouble_knobs[] = {
#include "schema/traffic_run.def"
};

#define COUNT_OF(array) ((uint32_t)(sizeof(array) / sizeof((array)[0])))
// The first knob tells the rows of a table apart.
#define ROWS(table, knobs, knob_count, member)                                                     \
	{                                                                                          \
		table, knobs, knob_count,                                                          \
			(uint32_t)sizeof(((struct traffic_config *)0)->member[0]),                 \
			(uint32_t)offsetof(struct traffic_config, member),                         \
			(uint32_t)(sizeof(((struct traffic_config *)0)->member) /                  \
				   sizeof(((struct traffic_config *)0)->member[0])),               \
			(uint32_t)offsetof(struct traffic_config, member##_count), 1, true         \
	}

const struct config_table traffic_tables[TRAFFIC_TABLE_COUNT] = {
	{ "", run_knobs, COUNT_OF(run_knobs), (uint32_t)sizeof(struct run_config),
	  (uint32_t)offsetof(struct traffic_config, run), 1, UINT32_MAX, 0, true },
	ROWS("port", device_knobs, COUNT_OF(device_knobs), device),
	ROWS("host", rank_knobs, COUNT_OF(rank_knobs), rank),
	ROWS("trouble", trouble_knobs, COUNT_OF(trouble_knobs), trouble),
	ROWS("dcqcn", dcqcn_knobs, DCQCN_KNOB_COUNT, dcqcn),
};

void traffic_config_init(struct traffic_config *config)
{
	memset(config, 0, sizeof(*config));
	cfg_row_default(&traffic_tables[0], (uint8_t *)&config->run);
	config->dcqcn[0] = dcqcn_config_of(DCQCN_PAPER);
}

uint32_t traffic_host_count(const struct traffic_config *config)
{
	const bool none = config->run.hosts[0] == '\0';
	uint32_t count = none ? 0 : spec_count(config->run.hosts);

	if (traffic_has_verbs(config))
		return (uint32_t)config->run.world;
	if (!none && count == 0)
		return 0;
	for (uint32_t i = 0; i < config->device_count; i++) {
		const uint32_t more = spec_count(config->device[i].devargs);

		if (more == 0)
			return 0;
		count += more;
	}
	return count;
}

void traffic_host_device(const struct traffic_config *config, uint32_t rank, char out[SPEC_BYTES])
{
	const char *spec = config->run.hosts;
	uint32_t count = spec[0] == '\0' ? 0 : spec_count(spec);
	uint32_t before = 0;
	char one[SPEC_BYTES];

	for (uint32_t i = 0; rank >= before + count && i < config->device_count; i++) {
		before += count;
		spec = config->device[i].devargs;
		count = spec_count(spec);
	}
	spec_expand(spec, rank - before, one);
	spec_device(one, rank, (uint32_t)config->run.ring, out);
}

const struct rank_config *traffic_rank(const struct traffic_config *config, uint32_t rank)
{
	for (uint32_t i = 0; i < config->rank_count; i++) {
		if (config->rank[i].rank == rank)
			return &config->rank[i];
	}
	return NULL;
}

uint64_t traffic_host_bps(const struct traffic_config *config, uint32_t rank)
{
	const struct rank_config *own = traffic_rank(config, rank);

	return own != NULL && own->speed != CONFIG_UNSET ? own->speed : config->run.speed;
}

const struct trouble_config *traffic_trouble(const struct traffic_config *config, uint32_t rank)
{
	for (uint32_t i = 0; i < config->trouble_count; i++) {
		if (config->trouble[i].rank == rank)
			return &config->trouble[i];
	}
	return NULL;
}
