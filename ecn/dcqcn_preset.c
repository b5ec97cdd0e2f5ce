// SPDX-License-Identifier: BSD-3-Clause
//
// DCQCN parameters: the descriptors and presets of schema/dcqcn.def, and how they become the
// profiles of a host on a port of some speed. Not on the path of packets.
//
// The values of a preset are those of its source at the reference speed: SIGCOMM 2015 on 40G; the
// simulations of ConWeave (cw) and HPCC on 100G; the defaults of ConnectX firmware, as of the 25G
// generation.

#include "ecn/dcqcn.h"

#define GBPS 1000000000ull

static const struct {
	uint64_t reference_bps;
	bool up; // to faster ports too
	bool red;
	struct red_curve curve; // at the reference speed
} presets[DCQCN_PRESET_COUNT] = {
	[DCQCN_PAPER] = { 40 * GBPS, false, true, { 5000, 200000, 10000 } },
	[DCQCN_CW] = { 100 * GBPS, true, true, { 100000, 400000, 200000 } },
	[DCQCN_HPCC] = { 100 * GBPS, true, true, { 400000, 1600000, 200000 } },
	[DCQCN_MELLANOX] = { 25 * GBPS, false, false, { 0 } },
};

#define DCQCN_KNOB(key, kind, def, min, max, words, doc, ...)                                      \
	{ #key,         def, words, doc, min, max, (uint32_t)offsetof(struct dcqcn_config, key),   \
	  CONFIG_##kind },
const struct config_knob dcqcn_knobs[DCQCN_KNOB_COUNT] = {
#include "schema/dcqcn.def"
};

// Every value of a configuration is a number of 64 bits.
enum { FIXED, SCALED };
#define DCQCN_KNOB(key, kind, def, min, max, words, doc, scale, ...)                               \
	static_assert(sizeof(((struct dcqcn_config *)0)->key) == sizeof(uint64_t));
#include "schema/dcqcn.def"

static uint64_t scaled(uint64_t value, enum dcqcn_preset preset, uint64_t line_bps)
{
	const uint64_t reference_bps = presets[preset].reference_bps;

	if (line_bps > reference_bps && !presets[preset].up)
		return value;
	return (uint64_t)((unsigned __int128)value * line_bps / reference_bps);
}

// A value that is there stays so on the slowest port.
static uint64_t preset_value(uint64_t value, bool follows, enum dcqcn_preset preset,
			     uint64_t line_bps)
{
	if (!follows || value == 0)
		return value;
	return u64_max(1, scaled(value, preset, line_bps));
}

struct dcqcn_config dcqcn_config_of(enum dcqcn_preset preset)
{
#define DCQCN_KNOB(key, ...) .key = CONFIG_UNSET,
	struct dcqcn_config config = {
#include "schema/dcqcn.def"
	};

	config.preset = preset;
	return config;
}

// The configuration with every knob set.
static struct dcqcn_config filled(const struct dcqcn_config *config, uint64_t line_bps)
{
	struct dcqcn_config full = *config;
	enum dcqcn_preset preset = DCQCN_PAPER;

	if (config->preset < DCQCN_PRESET_COUNT)
		preset = (enum dcqcn_preset)config->preset;

#define DCQCN_KNOB(key, kind, def, min, max, words, doc, scale, ...)                               \
	if (full.key == CONFIG_UNSET)                                                              \
		full.key = preset_value((const uint64_t[]){ __VA_ARGS__ }[preset],                 \
					scale == SCALED, preset, line_bps);
#include "schema/dcqcn.def"
	return full;
}

void dcqcn_build(const struct dcqcn_config *config, uint64_t line_bps, struct dcqcn_rp_profile *rp,
		 struct dcqcn_np_profile *np)
{
	const struct dcqcn_config full = filled(config, line_bps);

	*rp = (struct dcqcn_rp_profile){
		.line_bps = line_bps,
		.min_bps = u64_min(full.min_rate, line_bps),
		.rai_bps = full.rai,
		.rhai_bps = full.rhai,
		.g = full.g,
		.alpha_initial = full.alpha_initial,
		.alpha_ns = full.alpha_interval,
		.cut_ns = full.cut_interval,
		.timer_ns = full.timer,
		.byte_count = (uint32_t)u64_min(full.byte_counter, UINT32_MAX),
		.stages = (uint8_t)full.stages,
		.periodic = full.law == DCQCN_PERIODIC,
		.clamp_target = full.clamp_target != 0,
	};
	*np = (struct dcqcn_np_profile){ full.np_interval };
}

bool dcqcn_preset_red(enum dcqcn_preset preset, uint64_t line_bps, struct red_curve *curve)
{
	if (!presets[preset].red)
		return false;
	*curve = presets[preset].curve;
	curve->min_bytes = scaled(curve->min_bytes, preset, line_bps);
	curve->max_bytes = scaled(curve->max_bytes, preset, line_bps);
	return true;
}
