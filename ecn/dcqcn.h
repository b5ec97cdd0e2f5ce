// SPDX-License-Identifier: BSD-3-Clause
//
// DCQCN at hosts: the reaction point, which paces one flow, and the notification point, which
// answers marked packets of one queue pair with CNPs (Zhu et al., SIGCOMM 2015; the congestion
// point is mark.c). Mellanox's variant of the laws is a parameter.
//
// State and `now`, integers only. Time may not go backwards. Nothing depends on how often the
// owner looks: timers are brought to `now` when it calls, in bounded work after any idle time.
#pragma once

#include "ecn/ecn.h"
#include "schema/config.h"

// --- parameters: dcqcn_preset.c ---------------------------------------------------------------

#define DCQCN_KNOB(key, kind, ...) CONFIG_FIELD(kind, key);
struct dcqcn_config {
	uint32_t line;
#include "schema/dcqcn.def"
};

#define DCQCN_KNOB(key, ...) +1
enum {
	DCQCN_KNOB_COUNT = 0
#include "schema/dcqcn.def"
};

// Descriptors of struct dcqcn_config for the loader and the command line.
extern const struct config_knob dcqcn_knobs[DCQCN_KNOB_COUNT];

enum dcqcn_preset { DCQCN_PAPER, DCQCN_CW, DCQCN_HPCC, DCQCN_MELLANOX, DCQCN_PRESET_COUNT };
enum dcqcn_law { DCQCN_EVENT, DCQCN_PERIODIC };

// Fractions (alpha, g) are in units of 2^-32, 0..DCQCN_ONE.
#define DCQCN_ONE (1ull << 32)

struct dcqcn_rp_profile {
	uint64_t line_bps; // 1..2^41
	uint64_t min_bps;  // 1..line_bps
	uint64_t rai_bps;  // <= 2^41
	uint64_t rhai_bps; // <= 2^41; 0: no hyper increase
	uint64_t g;        // 1..DCQCN_ONE
	uint64_t alpha_initial;
	uint64_t alpha_ns; // > 0
	uint64_t cut_ns;
	uint64_t timer_ns;   // > 0
	uint32_t byte_count; // 0: no byte counter
	uint8_t stages;      // F, 1..250
	bool periodic;       // enum dcqcn_law
	bool clamp_target;
};

struct dcqcn_np_profile {
	uint64_t interval_ns;
};

// A configuration of nothing but the preset.
struct dcqcn_config dcqcn_config_of(enum dcqcn_preset preset);

// The profiles of a host on a port of `line_bps` (1..2^41). Knobs that are set are taken as they
// are; the others come from the preset. Its rates and its byte counter follow the speed of the port
// linearly from the preset's reference speed, since the laws are the same at every speed when rates
// and bytes are counted in units of the line rate; times and fractions are such already.
// - cw and hpcc state their rates for 100G and scale both ways, as their authors do.
// - paper (40G) and mellanox (25G) are numbers that are used as they are on faster ports, by the
//   literature and by the NICs; they scale down on slower ones only, where a step of 40 Mb/s would
//   be a large part of the port.
void dcqcn_build(const struct dcqcn_config *config, uint64_t line_bps, struct dcqcn_rp_profile *rp,
		 struct dcqcn_np_profile *np);

// The thresholds that a preset's authors give to the switch, scaled by the same rule. False, and
// nothing written, for mellanox, which has none.
bool dcqcn_preset_red(enum dcqcn_preset preset, uint64_t line_bps, struct red_curve *curve);

// --- reaction point: dcqcn_rp.c ---------------------------------------------------------------

// One flow. Until its first CNP it is not limited: it has line rate and no timer runs.
struct dcqcn_rp_state {
	uint64_t rate_bps;   // current rate, min..line
	uint64_t target_bps; // rate..line
	uint64_t alpha;      // when last looked at
	ns_t alpha_next;     // end of the period of alpha that runs
	ns_t timer_next;     // next increase by the timer
	ns_t cut_last;
	ns_t cut_at;         // a cut that waits, NS_NEVER: none
	uint32_t bytes;      // sent since the last increase by the byte counter
	uint8_t timer_stage; // increases since the last cut, at most stages + 1
	uint8_t byte_stage;
	bool limited;
	bool noted; // a CNP in this period of alpha
};
static_assert(sizeof(struct dcqcn_rp_state) == 64);

void dcqcn_rp_init(const struct dcqcn_rp_profile *pf, struct dcqcn_rp_state *st);

// Bits per second that the flow may send at now.
uint64_t dcqcn_rp_rate(const struct dcqcn_rp_profile *pf, struct dcqcn_rp_state *st, ns_t now);

// The flow has sent `bytes` (< 2^63): whatever the owner paces by, the same for all flows.
void dcqcn_rp_sent(const struct dcqcn_rp_profile *pf, struct dcqcn_rp_state *st, uint64_t bytes,
		   ns_t now);

// A CNP for the flow has arrived.
void dcqcn_rp_cnp(const struct dcqcn_rp_profile *pf, struct dcqcn_rp_state *st, ns_t now);

// When the rate changes next if nothing is sent and no CNP arrives; NS_NEVER: it does not.
ns_t dcqcn_rp_deadline(const struct dcqcn_rp_profile *pf, const struct dcqcn_rp_state *st);

// Alpha at now, for display and tests.
uint64_t dcqcn_rp_alpha(const struct dcqcn_rp_profile *pf, const struct dcqcn_rp_state *st,
			ns_t now);

// --- notification point: dcqcn_np.c -----------------------------------------------------------

// One queue pair of a receiver; zero is the start.
struct dcqcn_np_state {
	ns_t next; // no CNP before
};

// A packet marked CE has arrived. True when a CNP is to be sent.
bool dcqcn_np_marked(const struct dcqcn_np_profile *pf, struct dcqcn_np_state *st, ns_t now);
