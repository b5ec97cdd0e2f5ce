// SPDX-License-Identifier: BSD-3-Clause
//
// Values to rates, rates to history. A rate is what a counter grew by over the time that the
// switch's own clock went on, so that a report that comes late or after lost ones is no peak. What
// cannot be told from two reports (the first one, a switch that started anew) is no rate.

#include "fabricmgr/core/health.h"

#include <errno.h>

#include "fabricmgr/core/label.h"

#define SECOND_NS 1000000000ull

#define ROW_KEY(name, key, doc) [HEALTH_##name] = #key,
const char *const health_row_keys[HEALTH_ROW_COUNT] = { HEALTH_ROWS(ROW_KEY) };

#define ROW_DOC(name, key, doc) [HEALTH_##name] = doc,
const char *const health_row_docs[HEALTH_ROW_COUNT] = { HEALTH_ROWS(ROW_DOC) };

const uint64_t health_depth_limits[HEALTH_BUCKETS - 1] = {
	0,         1 << 10,   4 << 10,   16 << 10, 32 << 10, 64 << 10,
	128 << 10, 256 << 10, 512 << 10, 1 << 20,  4 << 20,
};

const uint64_t health_delay_limits[HEALTH_BUCKETS - 1] = {
	1000, 5000, 10000, 50000, 100000, 500000, 1000000, 5000000, 10000000, 50000000, 100000000,
};

static size_t rounded(size_t bytes)
{
	return (bytes + 63) & ~(size_t)63;
}

static uint32_t ports_of(const struct fabric *fabric)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < fabric->switch_count; i++)
		count += fabric->switches[i].port_count;
	return count;
}

uint32_t health_step_seconds(uint32_t port_count, size_t history_bytes)
{
	const size_t slot_bytes = (size_t)port_count * HEALTH_ROW_COUNT * sizeof(float);
	uint32_t step = 1;

	// One slot more than the hour needs: the one that is being filled.
	while (step < HEALTH_HISTORY_SECONDS &&
	       (HEALTH_HISTORY_SECONDS / step + 1) * slot_bytes > history_bytes)
		step++;
	return step;
}

static size_t history_bytes_of(uint32_t ports, uint32_t step)
{
	return (HEALTH_HISTORY_SECONDS / step + 1) * (size_t)ports * HEALTH_ROW_COUNT *
	       sizeof(float);
}

size_t health_bytes(const struct fabric *fabric, size_t history_bytes)
{
	const uint32_t ports = ports_of(fabric);
	size_t bytes = rounded((fabric->switch_count + 1) * sizeof(uint32_t)) +
		       rounded(ports * sizeof(uint32_t)) +
		       rounded(fabric->switch_count * sizeof(struct health_switch)) +
		       rounded(ports * sizeof(struct health_port)) +
		       rounded(history_bytes_of(ports, health_step_seconds(ports, history_bytes)));

	for (uint32_t i = 0; i < fabric->switch_count; i++)
		bytes += rounded(counters_count(fabric->switches[i].port_count) * sizeof(uint64_t));
	return bytes;
}

static int take_memory(struct health *health, struct arena *keep)
{
	const struct fabric *fabric = health->fabric;

	health->switches = arena_take(keep, fabric->switch_count, sizeof(*health->switches));
	health->ports = arena_take(keep, health->port_count, sizeof(*health->ports));
	health->history = arena_take_raw(keep, 1,
					 history_bytes_of(health->port_count, health->step_s));
	if (health->switches == NULL || health->ports == NULL || health->history == NULL)
		return -ENOMEM;
	for (uint32_t i = 0; i < fabric->switch_count; i++) {
		health->switches[i].values = arena_take(
			keep, counters_count(fabric->switches[i].port_count), sizeof(uint64_t));
		if (health->switches[i].values == NULL)
			return -ENOMEM;
	}
	return 0;
}

int health_init(struct health *health, const struct fabric *fabric, size_t history_bytes, ns_t now,
		struct arena *keep)
{
	const uint32_t ports = ports_of(fabric);

	*health = (struct health){ .fabric = fabric, .port_count = ports, .began = now };
	health->step_s = health_step_seconds(ports, history_bytes);
	health->slots = HEALTH_HISTORY_SECONDS / health->step_s + 1;
	health->slot = now.v / SECOND_NS / health->step_s;
	for (uint32_t i = 0; i < ALARM_COUNT; i++)
		health->limits[i] = alarm_infos[i].limits;
	if (fabric_plugs_build(fabric, keep, &health->plugs) != 0)
		return -ENOMEM;
	health->first_port = health->plugs.first;
	return take_memory(health, keep);
}

static uint64_t known(uint64_t value)
{
	return value == COUNTERS_UNKNOWN ? 0 : value;
}

// Frames that did not come through as they should: lost by the device or its driver, or not what
// their protocol says. A device drops what has a wrong FCS and counts it as missed, if at all.
static uint64_t errors_of(const uint64_t *block)
{
	static const enum counters_drop damaged[] = {
		COUNTERS_DROP_PARSE_TRUNCATED, COUNTERS_DROP_PARSE_LENGTH,
		COUNTERS_DROP_PARSE_HEADER,    COUNTERS_DROP_FRAME_OVERSIZE,
		COUNTERS_DROP_PFC_MALFORMED,   COUNTERS_DROP_LACP_MALFORMED,
		COUNTERS_DROP_HELLO_MALFORMED,
	};
	uint64_t count = block[COUNTERS_PORT_RX_NO_BUFFER] + block[COUNTERS_PORT_RX_MISSED] +
			 block[COUNTERS_PORT_LLDP_RX_DISCARDED_PKTS];

	for (size_t i = 0; i < sizeof(damaged) / sizeof(damaged[0]); i++)
		count += block[COUNTERS_DROP_AT + damaged[i]];
	return count;
}

// Groups and queues that PFC protects: a bit each.
static uint64_t lossless_of(const uint64_t *values, uint32_t port)
{
	uint64_t mask = 0;

	for (uint32_t i = 0; i < COUNTERS_PARTS; i++) {
		const uint64_t *pg = &values[counters_pg_at(port, i)];
		const uint64_t *queue = &values[counters_queue_at(port, i)];

		mask |= (uint64_t)(pg[PG_STATE_LOSSLESS] != 0) << i;
		mask |= (uint64_t)(queue[QUEUE_STATE_LOSSLESS] != 0) << (COUNTERS_PARTS + i);
	}
	return mask;
}

static void count_parts(const uint64_t *values, uint32_t port, uint64_t out[HEALTH_SUMS])
{
	for (uint32_t i = 0; i < COUNTERS_PARTS; i++) {
		const uint64_t *prio = &values[counters_prio_at(port, i)];
		const uint64_t *pg = &values[counters_pg_at(port, i)];
		const uint64_t *queue = &values[counters_queue_at(port, i)];

		out[HEALTH_XOFF_RX] += known(prio[COUNTERS_PRIO_RX_PAUSE_TRANSITIONS]);
		out[HEALTH_XOFF_TX] += pg[COUNTERS_PG_XOFF_EVENTS];
		out[HEALTH_STORMS] += queue[COUNTERS_QUEUE_PFC_WD_QUEUE_STATS_DEADLOCK_DETECTED];
		if (pg[PG_STATE_LOSSLESS] != 0)
			out[HEALTH_LOSSLESS_DROPS] += pg[COUNTERS_PG_DROPPED_PACKETS];
		if (queue[QUEUE_STATE_LOSSLESS] != 0)
			out[HEALTH_LOSSLESS_DROPS] += queue[COUNTERS_QUEUE_DROPPED_PACKETS];
	}
}

static void count_port(const uint64_t *values, uint32_t port, uint64_t out[HEALTH_SUMS])
{
	const uint64_t *block = &values[counters_port_at(port)];

	memset(out, 0, HEALTH_SUMS * sizeof(*out));
	out[HEALTH_TX_BYTES] = block[COUNTERS_PORT_IF_OUT_OCTETS];
	out[HEALTH_RX_BYTES] = block[COUNTERS_PORT_IF_IN_OCTETS];
	out[HEALTH_TX_PACKETS] = block[COUNTERS_PORT_IF_OUT_UCAST_PKTS] +
				 block[COUNTERS_PORT_IF_OUT_NON_UCAST_PKTS];
	out[HEALTH_RX_PACKETS] = block[COUNTERS_PORT_IF_IN_UCAST_PKTS] +
				 block[COUNTERS_PORT_IF_IN_NON_UCAST_PKTS];
	out[HEALTH_DROPS] = block[COUNTERS_PORT_IN_DROPPED_PKTS] +
			    block[COUNTERS_PORT_OUT_DROPPED_PKTS];
	out[HEALTH_HEADROOM_DROPS] = block[COUNTERS_DROP_AT + COUNTERS_DROP_PG_LOSSLESS_FULL];
	out[HEALTH_ERRORS] = errors_of(block);
	out[HEALTH_ECN_MARKS] = block[COUNTERS_PORT_ECN_MARKED_PACKETS];
	count_parts(values, port, out);
}

static uint64_t growth(uint64_t before, uint64_t now)
{
	return now > before ? now - before : 0;
}

// Shares of time of the priority that has most of it.
static void rate_pauses(struct health_port *port, const uint64_t *values, uint32_t n,
			double seconds)
{
	uint64_t paused = 0;
	uint64_t pausing = 0;

	for (uint32_t i = 0; i < COUNTERS_PARTS; i++) {
		const uint64_t *prio = &values[counters_prio_at(n, i)];
		const uint64_t rx = known(prio[COUNTERS_PRIO_RX_PAUSE_DURATION_US]);
		const uint64_t tx = known(prio[COUNTERS_PRIO_TX_PAUSE_DURATION_US]);

		paused = u64_max(paused, growth(port->paused_us[i], rx));
		pausing = u64_max(pausing, growth(port->pausing_us[i], tx));
		port->paused_us[i] = rx;
		port->pausing_us[i] = tx;
	}
	port->rate[HEALTH_PAUSED] = (float)((double)paused / 1e6 / seconds);
	port->rate[HEALTH_PAUSING] = (float)((double)pausing / 1e6 / seconds);
}

static void rate_port(struct health_port *port, const uint64_t *values, uint32_t n, double seconds)
{
	const uint64_t lossless = lossless_of(values, n);
	uint64_t counted[HEALTH_SUMS];
	uint64_t peak = 0;

	count_port(values, n, counted);
	// Drops of what became lossless meanwhile were none of lossless traffic.
	if (lossless != port->lossless)
		port->counted[HEALTH_LOSSLESS_DROPS] = counted[HEALTH_LOSSLESS_DROPS];
	port->lossless = lossless;
	for (uint32_t i = 0; i < HEALTH_SUMS; i++)
		port->rate[i] = (float)((double)growth(port->counted[i], counted[i]) / seconds);
	memcpy(port->counted, counted, sizeof(counted));
	rate_pauses(port, values, n, seconds);
	for (uint32_t i = 0; i < COUNTERS_PARTS; i++)
		peak = u64_max(peak, values[counters_queue_at(n, i) + QUEUE_STATE_PEAK_BYTES]);
	port->rate[HEALTH_PEAK_BYTES] = (float)peak;
	for (uint32_t i = 0; i < HEALTH_PEAK_BYTES; i++)
		port->sum[i] += port->rate[i] * (float)seconds;
	if (port->rate[HEALTH_PEAK_BYTES] > port->sum[HEALTH_PEAK_BYTES])
		port->sum[HEALTH_PEAK_BYTES] = port->rate[HEALTH_PEAK_BYTES];
}

void health_histogram_add(struct health_histogram *histogram,
			  const uint64_t limits[HEALTH_BUCKETS - 1], uint64_t value)
{
	uint32_t i = 0;

	while (i < HEALTH_BUCKETS - 1 && value > limits[i])
		i++;
	histogram->count[i]++;
	histogram->sum += value;
}

// Queues without a frame in that second are left out: they would drown the others.
static void add_samples(struct health_switch *sw, uint32_t port)
{
	for (uint32_t i = 0; i < COUNTERS_PARTS; i++) {
		const uint64_t *queue = &sw->values[counters_queue_at(port, i)];
		const uint64_t delay = queue[QUEUE_STATE_PEAK_DELAY_NS];

		if (queue[QUEUE_STATE_PEAK_BYTES] == 0 && delay == 0)
			continue;
		health_histogram_add(&sw->depth[i], health_depth_limits,
				     queue[QUEUE_STATE_PEAK_BYTES]);
		health_histogram_add(&sw->delay[i], health_delay_limits, delay);
	}
}

// Where rates begin: what there is now is no growth.
static void begin_port(struct health_port *port, const uint64_t *values, uint32_t n)
{
	count_port(values, n, port->counted);
	port->lossless = lossless_of(values, n);
	memset(port->rate, 0, sizeof(port->rate));
	for (uint32_t i = 0; i < COUNTERS_PARTS; i++) {
		const uint64_t *prio = &values[counters_prio_at(n, i)];

		port->paused_us[i] = known(prio[COUNTERS_PRIO_RX_PAUSE_DURATION_US]);
		port->pausing_us[i] = known(prio[COUNTERS_PRIO_TX_PAUSE_DURATION_US]);
	}
}

void health_report(struct health *health, uint32_t at, ns_t now)
{
	struct health_switch *sw = &health->switches[at];
	struct health_port *ports = &health->ports[health->first_port[at]];
	const uint32_t count = health->fabric->switches[at].port_count;
	const uint64_t uptime = sw->values[SWITCH_STATE_UPTIME_NS];
	const double seconds = (double)growth(sw->uptime_ns, uptime) / SECOND_NS;
	const bool begins = sw->uptime_ns == 0 || uptime < sw->uptime_ns;

	sw->unreadable = false;
	sw->reported = now;
	sw->uptime_ns = uptime;
	if (!begins && seconds == 0)
		return;
	for (uint32_t i = 0; i < count; i++) {
		if (begins)
			begin_port(&ports[i], sw->values, i);
		else
			rate_port(&ports[i], sw->values, i, seconds);
		if (!begins)
			add_samples(sw, i);
	}
	if (!begins)
		sw->step_seconds += seconds;
}

static void set_text(char out[HEALTH_TEXT_BYTES], const char *text)
{
	uint32_t len = 0;

	for (; len < HEALTH_TEXT_BYTES - 1 && text[len] != '\0'; len++)
		out[len] = text[len];
	memset(out + len, 0, HEALTH_TEXT_BYTES - len);
}

void health_neighbor(struct health *health, uint32_t at, uint32_t port, const char *name,
		     const char *remote_port, const char *chassis)
{
	struct health_neighbor *neighbor;

	if (port >= health->fabric->switches[at].port_count)
		return;
	neighbor = &health->ports[health_port_of(health, at, port)].neighbor;
	set_text(neighbor->name, name);
	set_text(neighbor->port, remote_port);
	set_text(neighbor->chassis, chassis);
}

void health_forget_neighbors(struct health *health, uint32_t at)
{
	for (uint32_t i = health->first_port[at]; i < health->first_port[at + 1]; i++)
		health->ports[i].neighbor = (struct health_neighbor){ 0 };
}

void health_link(struct health *health, uint32_t at, uint32_t port, bool up, ns_t now)
{
	struct health_port *row;

	if (port >= health->fabric->switches[at].port_count)
		return;
	row = &health->ports[health_port_of(health, at, port)];
	if (row->up && !up)
		row->lost[row->losses++ % HEALTH_FLAPS_MAX] = now;
	row->up = up;
}

void health_life(struct health *health, uint32_t at, bool there)
{
	struct health_switch *sw = &health->switches[at];

	sw->there = there;
	sw->seen |= there;
}

bool health_is_fresh(const struct health *health, uint32_t at, ns_t now)
{
	const struct health_switch *sw = &health->switches[at];

	return sw->uptime_ns != 0 && ns_since(now, sw->reported) < 5 * SECOND_NS;
}

uint32_t health_switch_of(const struct health *health, uint32_t port)
{
	uint32_t low = 0;
	uint32_t high = health->fabric->switch_count;

	while (high - low > 1) {
		const uint32_t middle = (low + high) / 2;

		if (health->first_port[middle] <= port)
			low = middle;
		else
			high = middle;
	}
	// Switches without ports share their place with the next one.
	while (health->first_port[low + 1] <= port)
		low++;
	return low;
}

static float *history_at(const struct health *health, uint64_t slot, uint32_t port)
{
	return &health->history[(slot % health->slots * health->port_count + port) *
				HEALTH_ROW_COUNT];
}

// Closes a step of one switch; without a report in it, it is unknown.
static void close_step(struct health *health, uint32_t at)
{
	struct health_switch *sw = &health->switches[at];

	for (uint32_t i = health->first_port[at]; i < health->first_port[at + 1]; i++) {
		struct health_port *port = &health->ports[i];
		float *row = history_at(health, health->slot, i);

		for (uint32_t k = 0; k < HEALTH_ROW_COUNT; k++)
			row[k] = sw->step_seconds > 0 ? port->sum[k] / (float)sw->step_seconds : -1;
		if (sw->step_seconds > 0)
			row[HEALTH_PEAK_BYTES] = port->sum[HEALTH_PEAK_BYTES];
		memset(port->sum, 0, sizeof(port->sum));
	}
	sw->step_seconds = 0;
}

static void follow_history(struct health *health, ns_t now)
{
	const uint64_t slot = now.v / SECOND_NS / health->step_s;

	// After a long silence of the caller all that was kept is too old, whatever is unknown.
	if (slot > health->slot + health->slots)
		health->began = (ns_t){ slot * health->step_s * SECOND_NS };
	for (uint32_t n = 0; health->slot < slot && n < health->slots; n++) {
		for (uint32_t i = 0; i < health->fabric->switch_count; i++)
			close_step(health, i);
		health->slot++;
	}
	health->slot = slot;
}

double health_past(const struct health *health, uint32_t port, enum health_row row, uint32_t ago)
{
	const uint64_t first = health->began.v / SECOND_NS / health->step_s;

	if (ago == 0 || ago >= health->slots || health->slot < first + ago)
		return -1;
	return history_at(health, health->slot - ago, port)[row];
}

static void note(struct health *health, uint32_t object, enum alarm_kind kind,
		 const struct health_alarm *alarm, ns_t now)
{
	health->change[health->change_count++ % HEALTH_CHANGES_MAX] = (struct health_change){
		.at = now,
		.object = object,
		.kind = kind,
		.on = alarm->on,
		.level = alarm->level,
	};
}

static void watch(struct health *health, struct health_alarm *alarm, enum alarm_kind kind,
		  uint32_t object, double level, ns_t now)
{
	if (health_alarm_step(alarm, &health->limits[kind], level, now))
		note(health, object, kind, alarm, now);
}

static void watch_switch(struct health *health, uint32_t at, enum alarm_kind kind, ns_t now)
{
	const uint32_t first = health->first_port[at];

	if (alarm_infos[kind].object == HEALTH_SWITCH)
		watch(health, &health->switches[at].alarm[kind], kind, at,
		      health_switch_level(health, at, kind), now);
	for (uint32_t i = first;
	     i < health->first_port[at + 1] && alarm_infos[kind].object == HEALTH_PORT; i++)
		watch(health, &health->ports[i].alarm[kind], kind, i,
		      health_port_level(health, at, i - first, kind, now), now);
}

void health_second(struct health *health, ns_t now)
{
	follow_history(health, now);
	for (uint32_t i = 0; i < health->fabric->switch_count; i++) {
		for (uint32_t kind = 0; kind < ALARM_COUNT; kind++)
			watch_switch(health, i, kind, now);
	}
}
