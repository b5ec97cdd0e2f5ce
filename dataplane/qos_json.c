// SPDX-License-Identifier: BSD-3-Clause
//
// Quality of service as JSON. Numbers are in base units; a row of the configuration has what its
// descriptor says, so a new knob appears here by itself. Names of queues are found as the profile
// finds them: the last row that names a port and a queue counts.

#include "dataplane/qos_json.h"

#include <string.h>

#include "dataplane/core/maps.h"
#include "sys/cfg_row.h"
#include "sys/cfg_value.h"

static void set_number(json_t *object, const char *key, uint64_t value)
{
	json_object_set_new(object, key, json_integer((json_int_t)value));
}

static void set_text(json_t *object, const char *key, const char *value)
{
	json_object_set_new(object, key, json_string(value));
}

static void set_threshold(json_t *object, const struct threshold *limit)
{
	if (limit->dynamic)
		json_object_set_new(object, "dynamic_th", json_integer(limit->alpha_log2));
	else if (limit->static_bytes != UINT64_MAX)
		set_number(object, "static_th_bytes", limit->static_bytes);
}

// Positions below PRIO_COUNT where `map` has `value` and `mask` its bit.
static json_t *priorities_of(const uint8_t map[PRIO_COUNT], uint32_t value, uint8_t mask)
{
	json_t *list = json_array();

	for (uint32_t i = 0; i < PRIO_COUNT; i++) {
		if (map[i] == value && (mask >> i & 1))
			json_array_append_new(list, json_integer(i));
	}
	return list;
}

static json_t *curve_json(const struct red_curve *curve)
{
	json_t *object = json_object();

	set_number(object, "min_bytes", curve->min_bytes);
	set_number(object, "max_bytes", curve->max_bytes);
	set_number(object, "probability_ppm", curve->prob_ppm);
	return object;
}

static void set_wred(json_t *object, const struct wred_profile *pf)
{
	if (pf->ecn) {
		json_t *curve = curve_json(&pf->mark);

		set_text(curve, "mark_at", pf->mark_at_enqueue ? "enqueue" : "dequeue");
		json_object_set_new(object, "ecn", curve);
	}
	if (pf->wred)
		json_object_set_new(object, "wred", curve_json(&pf->drop));
}

// What the queue's lossy traffic may hold now; lossless traffic has no limit at egress.
static json_t *limit_json(const struct snapshot *snapshot, const struct queue_profile *pf)
{
	const struct pool_profile *pool = &snapshot->profile->pool[pf->pool];
	const uint64_t used = snapshot->pool[pf->pool].shared_curr_occupancy_bytes;
	const uint64_t left = used < pool->shared_bytes ? pool->shared_bytes - used : 0;
	const uint64_t shared = threshold_bytes(&pf->limit, left);
	uint64_t limit;

	if (shared == UINT64_MAX)
		return json_null();
	limit = pf->reserved_bytes + (shared < left ? shared : left);
	return json_integer((json_int_t)limit);
}

void qos_json_queue(json_t *object, const struct snapshot *snapshot, uint32_t port, uint32_t queue)
{
	const struct port_profile *row = &snapshot->profile->port[port];
	const struct queue_profile *pf = &row->queue[queue];

	set_text(object, "pool", snapshot->profile->pool[pf->pool].name);
	json_object_set_new(object, "lossless", json_boolean(row->lossless_queues >> queue & 1));
	set_number(object, "reserved_bytes", pf->reserved_bytes);
	set_threshold(object, &pf->limit);
	json_object_set_new(object, "limit_bytes", limit_json(snapshot, pf));
	if (pf->has_wred)
		set_wred(object, &pf->wred);
	set_number(object, "pir_bps", pf->shaper.bps);
	json_object_set_new(object, "blocked",
			    json_boolean(snapshot->port[port].blocked >> queue & 1));
	json_object_set_new(object, "priorities",
			    priorities_of(row->prio_to_queue, queue, row->rx.obey));
}

void qos_json_group(json_t *object, const struct port_profile *port, uint32_t group)
{
	set_threshold(object, &port->pg[group].limit);
	json_object_set_new(object, "priorities",
			    priorities_of(port->prio_to_pg, group,
					  (uint8_t)(port->gen.enable | port->held.enable)));
}

// --- rows of the configuration ------------------------------------------------------------------

static json_t *knob_json(const struct config_knob *knob, const uint8_t *field)
{
	char text[CFG_VALUE_TEXT_BYTES];
	int64_t number;

	switch (knob->kind) {
	case CONFIG_COUNT:
	case CONFIG_INT:
	case CONFIG_BYTES:
	case CONFIG_BPS:
	case CONFIG_NS:
	case CONFIG_METRES:
	case CONFIG_PPM: memcpy(&number, field, sizeof(number)); return json_integer(number);
	case CONFIG_BOOL: memcpy(&number, field, sizeof(number)); return json_boolean(number != 0);
	case CONFIG_NAME:
	case CONFIG_TEXT:
	case CONFIG_RATIO:
	case CONFIG_ENUM:
	case CONFIG_MASK8:
	case CONFIG_MAC:
	case CONFIG_PREFIX:
	case CONFIG_ADDRESS:
	case CONFIG_NUMBERS: break;
	}
	cfg_value_format(knob, field, text);
	return json_string(text);
}

// The word of an enumeration, as the file has it.
static json_t *word_json(const char *table, const char *key, uint64_t value)
{
	const struct config_table *in = cfg_find_table(config_tables, CONFIG_TABLE_COUNT, table);

	return knob_json(cfg_find_knob(in, key), (const uint8_t *)&value);
}

static json_t *row_json(const struct config_table *table, const uint8_t *row)
{
	json_t *object = json_object();

	for (uint32_t i = 0; i < table->knob_count; i++) {
		const struct config_knob *knob = &table->knobs[i];
		const uint8_t *field = row + knob->offset;

		if (!cfg_value_unset(knob, field))
			json_object_set_new(object, knob->key, knob_json(knob, field));
	}
	return object;
}

static json_t *table_json(const struct config_table *table, const struct sw_config *config)
{
	const uint8_t *bytes = (const uint8_t *)config;
	const uint8_t *rows = bytes + table->rows_offset;
	json_t *list = json_array();
	uint32_t count;

	memcpy(&count, bytes + table->count_offset, sizeof(count));
	for (uint32_t i = 0; i < count; i++)
		json_array_append_new(list, row_json(table, rows + (size_t)i * table->row_bytes));
	return list;
}

static bool is_wanted(const char *table)
{
	static const char *const wanted[] = { "buffer_pool",  "buffer_profile", "scheduler",
					      "wred_profile", "vlan",           "interface" };

	for (size_t i = 0; i < sizeof(wanted) / sizeof(wanted[0]); i++) {
		if (strcmp(table, wanted[i]) == 0)
			return true;
	}
	return false;
}

static json_t *tables_json(const struct sw_config *config)
{
	json_t *object = json_object();

	for (uint32_t i = 0; i < CONFIG_TABLE_COUNT; i++) {
		const struct config_table *table = &config_tables[i];

		if (is_wanted(table->name))
			json_object_set_new(object, table->name, table_json(table, config));
	}
	return object;
}

// --- maps ---------------------------------------------------------------------------------------

enum { MAP_TYPES = CONFIG_MAP_PFC_TO_PG + 1 };

static const char *map_of(const struct port_config *port, enum config_map_type type)
{
	switch (type) {
	case CONFIG_MAP_DSCP_TO_TC: return port->dscp_to_tc_map;
	case CONFIG_MAP_DOT1P_TO_TC: return port->dot1p_to_tc_map;
	case CONFIG_MAP_ETHERTYPE_TO_TC: return port->ethertype_to_tc_map;
	case CONFIG_MAP_TC_TO_QUEUE: return port->tc_to_queue_map;
	case CONFIG_MAP_TC_TO_PG: return port->tc_to_pg_map;
	case CONFIG_MAP_PFC_TO_QUEUE: return port->pfc_to_queue_map;
	case CONFIG_MAP_PFC_TO_PG: return port->pfc_to_pg_map;
	}
	return "";
}

static const char *map_text(const struct sw_config *config, enum config_map_type type,
			    const char *name)
{
	const char *text = map_builtin(type, name);

	for (uint32_t i = 0; i < config->map_count; i++) {
		if (config->map[i].type == (uint64_t)type && strcmp(config->map[i].name, name) == 0)
			text = config->map[i].map;
	}
	return text != NULL ? text : "";
}

static bool is_listed(const json_t *list, const json_t *type, const char *name)
{
	for (size_t i = 0; i < json_array_size(list); i++) {
		const json_t *map = json_array_get(list, i);

		if (json_equal(json_object_get(map, "type"), type) &&
		    strcmp(json_string_value(json_object_get(map, "name")), name) == 0)
			return true;
	}
	return false;
}

// The maps that some port uses, by type.
static json_t *maps_json(const struct sw_config *config)
{
	json_t *list = json_array();

	for (uint32_t i = 0; i < MAP_TYPES * config->port_count; i++) {
		const enum config_map_type type = (enum config_map_type)(i / config->port_count);
		const char *name = map_of(&config->port[i % config->port_count], type);
		json_t *word = word_json("map", "type", type);

		if (!is_listed(list, word, name))
			json_array_append_new(list,
					      json_pack("{s:O, s:s, s:s}", "type", word, "name",
							name, "map", map_text(config, type, name)));
		json_decref(word);
	}
	return list;
}

// --- ports --------------------------------------------------------------------------------------

static bool names_port(const char *row_port, const char *port)
{
	return strcmp(row_port, "all") == 0 || strcmp(row_port, port) == 0;
}

static void set_queue_names(json_t *object, const struct sw_config *config, const char *port,
			    uint32_t queue)
{
	for (uint32_t i = 0; i < config->buffer_queue_count; i++) {
		const struct buffer_queue_config *row = &config->buffer_queue[i];

		if (names_port(row->port, port) && (row->queue >> queue & 1))
			set_text(object, "buffer_profile", row->profile);
	}
	for (uint32_t i = 0; i < config->queue_count; i++) {
		const struct queue_config *row = &config->queue[i];

		if (!names_port(row->port, port) || !(row->queue >> queue & 1))
			continue;
		if (row->scheduler[0] != '\0')
			set_text(object, "scheduler", row->scheduler);
		if (row->wred_profile[0] != '\0')
			set_text(object, "wred_profile", row->wred_profile);
	}
}

static void set_group_names(json_t *object, const struct sw_config *config, const char *port,
			    uint32_t group)
{
	for (uint32_t i = 0; i < config->buffer_pg_count; i++) {
		const struct buffer_pg_config *row = &config->buffer_pg[i];

		if (names_port(row->port, port) && (row->pg >> group & 1))
			set_text(object, "buffer_profile", row->profile);
	}
}

static json_t *port_json(const struct sw_config *config, const struct port_config *row)
{
	json_t *object = json_object();
	json_t *maps = json_object();
	json_t *queues = json_array();
	json_t *groups = json_array();

	set_text(object, "name", row->name);
	set_text(object, "alias", row->alias);
	json_object_set_new(object, "trust", word_json("port", "trust", row->trust));
	for (uint32_t i = 0; i < MAP_TYPES; i++) {
		json_t *type = word_json("map", "type", i);

		set_text(maps, json_string_value(type), map_of(row, (enum config_map_type)i));
		json_decref(type);
	}
	for (uint32_t i = 0; i < QUEUE_COUNT; i++) {
		json_t *queue = json_object();

		set_queue_names(queue, config, row->name, i);
		json_array_append_new(queues, queue);
	}
	for (uint32_t i = 0; i < PG_COUNT; i++) {
		json_t *group = json_object();

		set_group_names(group, config, row->name, i);
		json_array_append_new(groups, group);
	}
	json_object_set_new(object, "maps", maps);
	json_object_set_new(object, "queues", queues);
	json_object_set_new(object, "priority_groups", groups);
	return object;
}

// --- VLANs --------------------------------------------------------------------------------------

// Members in use: ports by their own names, whose LAG the row of the configuration may have named.
static json_t *vlan_json(const struct sw_profile *pf, const struct vlan_profile *vlan)
{
	json_t *object = json_object();
	json_t *members = json_array();

	set_number(object, "vlan", vlan->vid);
	for (uint16_t i = 0; i < pf->port_count; i++) {
		json_t *member;

		if (!port_set_has(&vlan->members, pf->port[i].logical))
			continue;
		member = json_object();
		set_text(member, "name", pf->port[i].name);
		set_text(member, "tagging",
			 port_set_has(&vlan->untagged, (port_t){ i }) ? "untagged" : "tagged");
		json_array_append_new(members, member);
	}
	json_object_set_new(object, "members", members);
	return object;
}

json_t *qos_json(const struct instance *in)
{
	json_t *answer = json_object();
	json_t *ports = json_array();
	json_t *vlans = json_array();

	json_object_set_new(answer, "tables", tables_json(in->config));
	json_object_set_new(answer, "maps", maps_json(in->config));
	for (uint32_t i = 0; i < in->config->port_count; i++)
		json_array_append_new(ports, port_json(in->config, &in->config->port[i]));
	json_object_set_new(answer, "ports", ports);
	for (uint32_t i = 0; i < in->profile->vlan_count; i++)
		json_array_append_new(vlans, vlan_json(in->profile, &in->profile->vlan[i]));
	json_object_set_new(answer, "vlans", vlans);
	return answer;
}
