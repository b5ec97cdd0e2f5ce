// SPDX-License-Identifier: BSD-3-Clause
//
// Snapshots and configuration become JSON objects. jansson steals references, so a value that
// cannot be made leaves its member out; the whole is still well-formed.

#include "dataplane/stats_json.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/random.h>
#include <time.h>

#include "base/bytes.h"
#include "base/units.h"
#include "dataplane/dpdk/eal.h"
#include "dataplane/dpdk/snapshot.h"
#include "dataplane/headroom.h"
#include "dataplane/hello_words.h"
#include "dataplane/lag_json.h"
#include "dataplane/lldp_json.h"
#include "dataplane/prio_rows.h"
#include "dataplane/qos_json.h"
#include "dataplane/steering.h"
#include "dataplane/take_snapshot.h"
#include "sys/time_of_day.h"

static void set_number(json_t *object, const char *key, uint64_t value)
{
	json_object_set_new(object, key, json_integer((json_int_t)value));
}

static void set_text(json_t *object, const char *key, const char *value)
{
	json_object_set_new(object, key, json_string(value));
}

static void set_bool(json_t *object, const char *key, bool value)
{
	json_object_set_new(object, key, json_boolean(value));
}

static void set_mac(json_t *object, uint64_t mac)
{
	char text[MAC_TEXT_BYTES];

	mac_format(mac, text);
	set_text(object, "mac", text);
}

// Adds every row of an object's statistics.
static json_t *add_rows(json_t *object, enum stat_object kind, const void *stats)
{
	const struct stat_table *table = &stat_tables[kind];

	for (uint32_t i = 0; i < table->count; i++) {
		const struct stat_info *row = &table->rows[i];

		set_number(object, row->key,
			   *(const uint64_t *)((const uint8_t *)stats + row->offset));
	}
	return object;
}

static json_t *pools_json(const struct snapshot *snapshot)
{
	json_t *list = json_array();

	for (uint32_t i = 0; i < snapshot->profile->pool_count; i++) {
		const struct pool_profile *pf = &snapshot->profile->pool[i];
		json_t *pool = json_object();

		set_text(pool, "name", pf->name);
		set_text(pool, "type", pf->ingress ? "ingress" : "egress");
		set_number(pool, "size_bytes", pf->size_bytes);
		set_number(pool, "shared_bytes", pf->shared_bytes);
		set_number(pool, "headroom_bytes", pf->headroom_bytes);
		json_array_append_new(list, add_rows(pool, STAT_POOL, &snapshot->pool[i]));
	}
	return list;
}

static json_t *priority_json(const struct prio_rows *known, const struct prio_stats *stats,
			     uint32_t prio)
{
	const struct stat_table *table = &stat_tables[STAT_PRIO];
	json_t *object = json_object();

	for (uint32_t i = 0; i < table->count; i++) {
		const struct stat_info *row = &table->rows[i];
		uint64_t value = *(const uint64_t *)((const uint8_t *)stats + row->offset);

		if (prio_rows_value(known, prio, row, &value))
			set_number(object, row->key, value);
		else
			json_object_set_new(object, row->key, json_null());
	}
	return object;
}

static json_t *priorities_json(const struct port *device, const struct port_snapshot *port)
{
	json_t *list = json_array();
	struct prio_rows known;

	prio_rows_read(device, &known);
	for (uint32_t i = 0; i < PRIO_COUNT; i++)
		json_array_append_new(list, priority_json(&known, &port->prio[i], i));
	return list;
}

static json_t *groups_json(const struct instance *in, uint32_t n, const struct snapshot *snapshot)
{
	const struct sw_profile *pf = snapshot->profile;
	const struct port_snapshot *port = &snapshot->port[n];
	json_t *list = json_array();
	char verdict[80];

	for (uint32_t i = 0; i < PG_COUNT; i++) {
		const struct pg_profile *pg = &pf->port[n].pg[i];
		json_t *object = json_object();

		set_bool(object, "lossless", pg->lossless);
		set_text(object, "pool", pf->pool[pg->pool].name);
		set_number(object, "reserved_bytes", pg->reserved_bytes);
		set_number(object, "xoff_bytes", pg->headroom_bytes);
		set_number(object, "xon_bytes", pg->xon_bytes);
		qos_json_group(object, &pf->port[n], i);
		if (pg->lossless) {
			headroom_verdict(in, n, i, verdict, sizeof(verdict));
			set_text(object, "headroom_verdict", verdict);
		}
		json_array_append_new(list, add_rows(object, STAT_PG, &port->pg[i]));
	}
	return list;
}

static json_t *watchdog_json(const struct watchdog_profile *pf)
{
	static const char *const actions[] = {
		[WATCHDOG_DROP] = "drop",
		[WATCHDOG_FORWARD] = "forward",
		[WATCHDOG_ALERT] = "alert",
	};
	json_t *object = json_object();

	set_text(object, "action", actions[pf->action]);
	set_number(object, "detection_time_ns", pf->pfc.detection_ns);
	set_number(object, "restoration_time_ns", pf->pfc.restoration_ns);
	return object;
}

// What the watchdogs of a switch have in common.
static json_t *watchdogs_json(const struct switch_config *config, bool big_red)
{
	json_t *object = json_object();

	set_number(object, "poll_interval_ns", config->pfc_wd_poll_interval);
	set_number(object, "threshold_ppm", config->pfc_wd_threshold);
	set_bool(object, "big_red_switch", big_red);
	return object;
}

static json_t *queues_json(const struct snapshot *snapshot, uint32_t n)
{
	const struct port_profile *pf = &snapshot->profile->port[n];
	const struct port_snapshot *port = &snapshot->port[n];
	json_t *list = json_array();

	for (uint32_t i = 0; i < QUEUE_COUNT; i++) {
		json_t *object = json_object();

		set_bool(object, "strict", pf->queue[i].strict);
		set_number(object, "weight_bytes", pf->queue[i].quantum_bytes);
		set_bool(object, "dequeue_disabled", port->hooks.dequeue_disabled >> i & 1);
		set_bool(object, "storm_forced", port->hooks.storm_forced >> i & 1);
		qos_json_queue(object, snapshot, n, i);
		if (pf->watched >> i & 1)
			json_object_set_new(object, "pfc_wd", watchdog_json(&pf->watchdog[i]));
		json_array_append_new(list, add_rows(object, STAT_QUEUE, &port->queue[i]));
	}
	return list;
}

static json_t *drops_json(const struct port_snapshot *port)
{
	json_t *object = json_object();

	for (uint32_t i = DROP_NONE + 1; i < DROP_REASON_COUNT; i++) {
		if (port->drops[i] != 0)
			set_number(object, drop_infos[i].name, port->drops[i]);
	}
	return object;
}

// How PFC gets through the device, and what is wrong if it does not.
static void set_pfc_path(json_t *object, const struct port *port)
{
	switch (port->pfc) {
	case PFC_PATH_SOFTWARE: set_text(object, "pfc_path", "software"); break;
	case PFC_PATH_DEVICE: set_text(object, "pfc_path", "device"); break;
	case PFC_PATH_NONE: set_text(object, "pfc_path", "none"); break;
	case PFC_PATH_UNUSED: set_text(object, "pfc_path", "unused"); break;
	}
	set_text(object, "pfc_path_reason", port->pfc_reason);
}

static json_t *steering_json(const struct port *port)
{
	struct steer_counters counters;
	json_t *list = json_array();

	if (!steering_read(port, &counters))
		return list;
	for (uint32_t i = 0; i < STEER_CLASS_COUNT; i++) {
		json_t *row = json_object();

		set_text(row, "class", steer_class_keys[i]);
		set_number(row, "taken_packets", counters.frames[i][STEER_TAKEN]);
		set_number(row, "left_packets", counters.frames[i][STEER_LEFT]);
		json_array_append_new(list, row);
	}
	return list;
}

// What hellos say about a fabric port; null for others.
static json_t *hello_json(const struct port_snapshot *port)
{
	const struct hello_peer *peer = &port->peer;
	char words[HELLO_WORDS_BYTES];
	json_t *object;

	if (peer->status == HELLO_OFF)
		return json_null();
	object = json_object();
	hello_words(peer, words);
	set_text(object, "state", hello_status_words[peer->status]);
	set_bool(object, "carrier", port->carrier);
	set_bool(object, "used", port->link_up);
	set_bool(object, "lossless", port->link_up && peer->mismatch == HELLO_AGREE);
	if (peer->hello.interval_us != 0) {
		set_text(object, "peer", peer->hello.name);
		set_text(object, "peer_port", peer->hello.port_name);
		if (peer->hello.edge != EDGE_NONE)
			set_number(object, "peer_edge", peer->hello.edge);
	}
	set_text(object, "why", words);
	return object;
}

static json_t *port_state(const struct port *port, const struct port_snapshot *snapshot)
{
	const struct port_config *config = port->config;
	json_t *object = json_object();
	uint64_t mbps = port->ethdev == PORT_NO_DEVICE ? 0 : port->link_mbps;

	set_text(object, "name", config->name);
	set_text(object, "alias", config->alias);
	set_bool(object, "admin", config->admin != 0);
	set_bool(object, "link", snapshot->link_up);
	set_bool(object, "present", port->ethdev != PORT_NO_DEVICE);
	set_number(object, "speed_bps", config->speed != 0 ? config->speed : mbps * 1000000);
	set_number(object, "mtu", config->mtu);
	set_mac(object, load_be48(port->mac));
	set_text(object, "driver", port->driver->name);
	set_text(object, "devargs", port->devargs);
	set_text(object, "may_lose", port->driver->loss);
	set_text(object, "class", headroom_class_name(headroom_class_of(port)));
	set_text(object, "pause", config->pause == CONFIG_PAUSE_HOLD ? "hold" : "frames");
	set_pfc_path(object, port);
	set_bool(object, "held", snapshot->held);
	set_bool(object, "tx_disabled", snapshot->hooks.tx_disabled);
	set_text(object, "steer", config->steer == CONFIG_STEER_ROCE ? "roce" : "all");
	set_number(object, "pfc_enable", config->pfc_enable);
	set_bool(object, "pfc_asymmetric", config->pfc_asymmetric != 0);
	return object;
}

static json_t *port_json(const struct instance *in, uint32_t i, const struct snapshot *snapshot,
			 uint64_t max_gap_ns)
{
	const struct port_profile *pf = &snapshot->profile->port[i];
	const struct port_snapshot *port = &snapshot->port[i];
	json_t *object = port_state(&in->port[i], port);

	set_number(object, "ring_bytes", headroom_tx_ring_bytes(&in->port[i]));
	set_number(object, "headroom_need_bytes", headroom_need_bytes(in, i));
	set_number(object, "lcore", in->io[i].lcore.v);
	set_number(object, "max_poll_gap_ns", max_gap_ns);
	set_bool(object, "pfc_stat_history", pf->pfc_history);
	json_object_set_new(object, "stats", add_rows(json_object(), STAT_PORT, &port->stats));
	json_object_set_new(object, "priorities", priorities_json(&in->port[i], port));
	json_object_set_new(object, "priority_groups", groups_json(in, i, snapshot));
	json_object_set_new(object, "queues", queues_json(snapshot, i));
	json_object_set_new(object, "drops", drops_json(port));
	json_object_set_new(object, "hello", hello_json(port));
	json_object_set_new(object, "lldp", lldp_json_seen(in, (port_t){ (uint16_t)i }));
	json_object_set_new(object, "steering", steering_json(&in->port[i]));
	return object;
}

// Counters of two answers can be compared while this stays the same: it is made anew when the
// switch starts. On the control thread only.
static const char *boot_id(void)
{
	static char text[17];
	uint64_t id = 0;

	if (text[0] == '\0' && getrandom(&id, sizeof(id), 0) == sizeof(id))
		snprintf(text, sizeof(text), "%016" PRIx64, id);
	return text;
}

json_t *stats_json(struct workers *workers, struct instance *in, enum watermark_kind watermark)
{
	struct snapshot *snapshot = take_snapshot(workers, in, watermark);
	struct lcore_stats lcore[LCORE_MAX];
	json_t *answer = NULL;
	json_t *sw = json_object();
	json_t *ports = json_array();

	if (snapshot == NULL || sw == NULL || ports == NULL)
		goto out;
	answer = json_object();
	if (answer == NULL)
		goto out;
	workers_stats(workers, lcore);
	set_text(sw, "name", in->config->sw.name);
	set_text(sw, "version", WEFT_VERSION);
	set_text(sw, "boot_id", boot_id());
	set_number(sw, "uptime_ns", snapshot->now.v);
	set_number(sw, "config_generation", in->generation);
	set_number(sw, "config_refused", in->refused);
	set_number(sw, "time_ns", time_of_day_ns());
	set_number(sw, "descriptors", snapshot->profile->descriptor_count);
	set_number(sw, "shared_descriptors", snapshot->profile->descriptor_shared);
	json_object_set_new(sw, "pfc_wd", watchdogs_json(&in->config->sw, snapshot->big_red));
	json_object_set(answer, "switch", add_rows(sw, STAT_SWITCH, &snapshot->sw));
	json_object_set_new(answer, "pools", pools_json(snapshot));
	for (uint32_t i = 0; i < in->port_count; i++)
		json_array_append_new(ports, port_json(in, i, snapshot,
						       lcore[in->io[i].lcore.v].max_gap_ns));
	json_object_set(answer, "ports", ports);
	json_object_set_new(answer, "lags", lags_json(snapshot));
out:
	free(snapshot);
	json_decref(sw);
	json_decref(ports);
	return answer;
}

json_t *stats_json_port(struct workers *workers, struct instance *in, port_t port)
{
	struct snapshot *snapshot = take_snapshot(workers, in, WATERMARK_USER);
	struct lcore_stats stats = { 0 };
	struct message message = { .kind = MESSAGE_LCORE_STATS,
				   .lcore = in->io[port.v].lcore,
				   .stats = &stats };
	json_t *answer;

	if (snapshot == NULL)
		return NULL;
	workers_call(workers, &message);
	answer = port_json(in, port.v, snapshot, stats.max_gap_ns);
	free(snapshot);
	return answer;
}

static json_t *mac_json(const struct instance *in, const struct mac_entry *entry, ns_t now)
{
	json_t *object = json_object();

	set_mac(object, entry->mac);
	set_number(object, "vlan", entry->vid);
	set_text(object, "port", profile_link_name(in->profile, entry->port));
	set_number(object, "age_ns", ns_since(now, entry->seen));
	return object;
}

json_t *stats_json_macs(struct workers *workers, struct instance *in)
{
	json_t *answer = json_object();
	json_t *entries = json_array();
	struct mac_list list = { 0 };

	while (workers_next_macs(workers, in, &list)) {
		for (uint32_t i = 0; i < list.count; i++)
			json_array_append_new(entries, mac_json(in, &list.entry[i], list.now));
	}
	json_object_set_new(answer, "entries", entries);
	return answer;
}

static json_t *acl_json(const struct acl_row *row, const struct acl_stats *stats)
{
	static const char *const actions[] = {
		[ACL_PERMIT] = "permit", [ACL_DENY] = "deny",     [ACL_COUNT] = "count",
		[ACL_REMARK] = "remark", [ACL_POLICE] = "police",
	};
	json_t *object = json_object();

	set_text(object, "name", row->name);
	set_text(object, "action", actions[row->action]);
	return add_rows(object, STAT_ACL, stats);
}

json_t *stats_json_acl(struct workers *workers, struct instance *in)
{
	const struct acl_row *row = acl_rows_of(in->profile);
	json_t *answer = json_object();
	json_t *rows = json_array();
	struct acl_list list = { 0 };
	struct message message = { .kind = MESSAGE_ACL_LIST, .instance = in, .acl = &list };

	do {
		workers_call(workers, &message);
		for (uint32_t i = 0; i < list.count; i++)
			json_array_append_new(rows, acl_json(row++, &list.stats[i]));
	} while (list.at != 0);
	json_object_set_new(answer, "rows", rows);
	return answer;
}

static json_t *lcore_json(uint32_t id, const struct lcore_stats *stats)
{
	json_t *lcore = json_object();

	set_number(lcore, "id", id);
	set_number(lcore, "polls", stats->polls);
	set_number(lcore, "busy_polls", stats->busy_polls);
	set_number(lcore, "max_poll_gap_ns", stats->max_gap_ns);
	set_number(lcore, "rx_packets", stats->rx_packets);
	set_number(lcore, "tx_packets", stats->tx_packets);
	set_number(lcore, "sleeps", stats->sleeps);
	set_number(lcore, "interrupt_waits", stats->interrupt_waits);
	set_number(lcore, "reports_lost", stats->reports_lost);
	return lcore;
}

json_t *stats_json_lcores(struct workers *workers)
{
	struct lcore_stats stats[LCORE_MAX];
	json_t *answer = json_object();
	json_t *lcores = json_array();

	workers_stats(workers, stats);
	for (uint32_t i = 0; i < workers->count; i++)
		json_array_append_new(lcores, lcore_json(i, &stats[i]));
	json_object_set_new(answer, "lcores", lcores);
	return answer;
}

json_t *stats_json_drivers(void)
{
	json_t *answer = json_object();
	json_t *list = json_array();

	for (uint32_t i = 0; i < driver_count; i++) {
		const struct driver *driver = &drivers[i];
		json_t *row = json_object();

		set_text(row, "name", driver->name);
		set_text(row, "class", driver->class == DRIVER_WIRE ? "wire" : "ring");
		set_number(row, "max_mtu", driver->max_mtu);
		set_text(row, "max_mtu_reason", driver->mtu_reason);
		set_bool(row, "contiguous", driver->contiguous);
		set_bool(row, "rx_interrupts", driver->rx_interrupts);
		set_text(row, "may_lose", driver->loss);
		json_array_append_new(list, row);
	}
	json_object_set_new(answer, "drivers", list);
	return answer;
}
