// SPDX-License-Identifier: BSD-3-Clause
//
// Health of a fabric: what switches report, kept as latest values, rates, an hour of history, and
// alarms with hysteresis (schema/alarms.def). Nothing here changes what a switch does. Pure: time
// and memory are the caller's.
//
// Bounded: COUNTERS_BLOCK numbers (4 KB) and struct health_port for each port that the intent
// knows, and history_bytes of history whatever the fabric: an hour always fits, in steps of whole
// seconds that are as many as it takes; its pages are touched as time goes on. Ports that report
// beyond the intent's are passed over.
#pragma once

#include "fabricmgr/core/fabric.h"
#include "routing/arena.h"
#include "schema/counters.h"

enum {
	HEALTH_HISTORY_SECONDS = 3600,
	HEALTH_CHANGES_MAX = 256, // of alarms, kept for who writes them down
	HEALTH_FLAPS_MAX = 8,     // losses of a link that are remembered
	HEALTH_FLAP_SECONDS = 60, // and for how long
	HEALTH_TEXT_BYTES = 64,   // of what LLDP says
	HEALTH_BUCKETS = 12,      // of a histogram, that without end included
};

// Rates of a port: per second, but for shares of time (1: always) and the peak.
#define HEALTH_ROWS(ROW)                                                                           \
	ROW(TX_BYTES, tx_bytes, "bytes per second sent")                                           \
	ROW(RX_BYTES, rx_bytes, "bytes per second received")                                       \
	ROW(TX_PACKETS, tx_packets, "frames per second sent")                                      \
	ROW(RX_PACKETS, rx_packets, "frames per second received")                                  \
	ROW(DROPS, drops, "frames per second dropped at the port")                                 \
	ROW(LOSSLESS_DROPS, lossless_drops, "those of lossless groups and queues")                 \
	ROW(HEADROOM_DROPS, headroom_drops, "those that the headroom had no room for")             \
	ROW(ERRORS, errors, "frames per second lost before the switch, or damaged")                \
	ROW(ECN_MARKS, ecn_marks, "frames per second given CE")                                    \
	ROW(XOFF_RX, xoff_rx, "pauses per second begun by the peer")                               \
	ROW(XOFF_TX, xoff_tx, "pauses per second begun towards the peer")                          \
	ROW(STORMS, storms, "storms per second that the PFC watchdog found")                       \
	ROW(PAUSED, paused, "share of time that the peer paused the port's worst priority")        \
	ROW(PAUSING, pausing, "share of time that the port paused its peer's worst priority")      \
	ROW(PEAK_BYTES, peak_bytes, "most bytes in one queue of the port at once")

enum health_row {
#define HEALTH_ROW(name, key, doc) HEALTH_##name,
	HEALTH_ROWS(HEALTH_ROW)
#undef HEALTH_ROW
		HEALTH_ROW_COUNT,
	HEALTH_SUMS = HEALTH_PAUSED, // the rows before are rates of counters
};

extern const char *const health_row_keys[HEALTH_ROW_COUNT];
extern const char *const health_row_docs[HEALTH_ROW_COUNT];

enum health_object { HEALTH_PORT, HEALTH_SWITCH };
enum health_severity { HEALTH_WARNING, HEALTH_ERROR };

enum alarm_kind {
#define ALARM(name, object, severity, unit, raise, raise_s, clear, clear_s, doc) ALARM_##name,
#include "schema/alarms.def"
#undef ALARM
	ALARM_COUNT,
};

struct alarm_limits {
	double raise;
	double clear;
	uint32_t raise_s;
	uint32_t clear_s;
};

struct alarm_info {
	const char *name; // "LOSSLESS_DROPS"
	const char *unit;
	const char *doc;
	enum health_object object;
	enum health_severity severity;
	struct alarm_limits limits; // defaults
};

extern const struct alarm_info alarm_infos[ALARM_COUNT];

struct health_alarm {
	bool on;
	bool waits;   // the level is beyond the limit that would change `on`
	ns_t beyond;  // since when
	ns_t since;   // of `on`
	double level; // as of the last second
};

struct health_change {
	ns_t at;
	uint32_t object; // a port of the fabric, or a switch
	enum alarm_kind kind;
	bool on;
	double level;
};

// What LLDP hears; empty: nobody.
struct health_neighbor {
	char name[HEALTH_TEXT_BYTES];
	char port[HEALTH_TEXT_BYTES];
	char chassis[HEALTH_TEXT_BYTES];
};

struct health_port {
	uint64_t counted[HEALTH_SUMS]; // as of the last report
	uint64_t paused_us[COUNTERS_PARTS];
	uint64_t pausing_us[COUNTERS_PARTS];
	uint64_t lossless; // groups and queues that `counted` is of
	float rate[HEALTH_ROW_COUNT];
	float sum[HEALTH_ROW_COUNT]; // of this step of history: rate x seconds, largest peak
	ns_t lost[HEALTH_FLAPS_MAX]; // when the link went down, the last ones
	uint32_t losses;             // all of them
	bool up;                     // as was said last
	struct health_neighbor neighbor;
	struct health_alarm alarm[ALARM_COUNT]; // of ports
};

// How often values were up to a limit; [HEALTH_BUCKETS - 1] has none.
struct health_histogram {
	uint64_t count[HEALTH_BUCKETS]; // each value once
	uint64_t sum;
};

extern const uint64_t health_depth_limits[HEALTH_BUCKETS - 1]; // bytes
extern const uint64_t health_delay_limits[HEALTH_BUCKETS - 1]; // ns

struct health_switch {
	uint64_t *values;    // counters_count(port_count), where a report is decoded to
	uint64_t uptime_ns;  // of the last report; 0: none yet
	ns_t reported;       // likewise
	double step_seconds; // reported in this step of history
	bool there;          // as the distributor says
	bool seen;           // it was there since the manager started
	bool unreadable;
	struct health_histogram depth[COUNTERS_PARTS]; // peak of each queue in each second
	struct health_histogram delay[COUNTERS_PARTS]; // longest stay likewise
	struct health_alarm alarm[ALARM_COUNT];        // of switches
};

struct health {
	const struct fabric *fabric;
	const uint32_t *first_port; // [switch_count + 1] of a switch's ports among all
	uint32_t port_count;
	struct fabric_plugs plugs; // who the intent has at each port
	struct health_switch *switches;
	struct health_port *ports;
	struct alarm_limits limits[ALARM_COUNT];
	// History: [slot][port][row], slot n of the time n x step_s, at n % slots. Below 0:
	// unknown.
	float *history;
	uint32_t step_s;
	uint32_t slots;
	uint64_t slot; // that is being filled
	ns_t began;    // slots before this time are unknown
	uint64_t change_count;
	struct health_change change[HEALTH_CHANGES_MAX]; // number n at n % max
};

// Seconds of a step of history for so many ports in so many bytes.
uint32_t health_step_seconds(uint32_t port_count, size_t history_bytes);

// Bytes of the arena that a fabric takes.
size_t health_bytes(const struct fabric *fabric, size_t history_bytes);

// Nothing is known of any switch. 0, or -ENOMEM.
int health_init(struct health *health, const struct fabric *fabric, size_t history_bytes, ns_t now,
		struct arena *keep);

// A report came `now`, and the values of the switch are whole again: rates are as of it.
void health_report(struct health *health, uint32_t at, ns_t now);

// LLDP at a port; texts are cut to fit, an empty name is nobody. Unknown ports are passed over.
void health_neighbor(struct health *health, uint32_t at, uint32_t port, const char *name,
		     const char *remote_port, const char *chassis);

// The switch begins anew to say who its neighbours are.
void health_forget_neighbors(struct health *health, uint32_t at);

// What a switch says of the link of a port. That it is down is a loss only if it was up: who says
// hello tells of all links, as they are.
void health_link(struct health *health, uint32_t at, uint32_t port, bool up, ns_t now);

// Whether the switch calls.
void health_life(struct health *health, uint32_t at, bool there);

// Once a second: history goes on, and alarms are raised and cleared.
void health_second(struct health *health, ns_t now);

// Rates of a port are of this much time ago or less; older ones are history.
bool health_is_fresh(const struct health *health, uint32_t at, ns_t now);

// The switch that has a port of the fabric.
uint32_t health_switch_of(const struct health *health, uint32_t port);

static inline uint32_t health_port_of(const struct health *health, uint32_t at, uint32_t port)
{
	return health->first_port[at] + port;
}

// One value of history, `ago` steps before the one that is being filled (1..slots - 1); below 0:
// unknown. That of slot `health->slot - ago`.
double health_past(const struct health *health, uint32_t port, enum health_row row, uint32_t ago);

// Level of an alarm as of now, and what the alarm makes of it; health_second() does so for all.
double health_port_level(const struct health *health, uint32_t at, uint32_t port,
			 enum alarm_kind kind, ns_t now);
double health_switch_level(const struct health *health, uint32_t at, enum alarm_kind kind);
bool health_alarm_step(struct health_alarm *alarm, const struct alarm_limits *limits, double level,
		       ns_t now);

void health_histogram_add(struct health_histogram *histogram,
			  const uint64_t limits[HEALTH_BUCKETS - 1], uint64_t value);
