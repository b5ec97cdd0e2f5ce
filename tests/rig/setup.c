// SPDX-License-Identifier: BSD-3-Clause
//
// Rows by descriptor: a new row of any table gets the defaults of schema/config.def through the
// same code as a configuration file, so tests and files cannot differ in what a default means.

#include "tests/rig/setup.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "sys/cfg_value.h"

static void fill_defaults(const struct config_table *table, uint8_t *row)
{
	for (uint32_t i = 0; i < table->knob_count; i++)
		cfg_value_default(&table->knobs[i], row + table->knobs[i].offset);
}

void *setup_add_row(struct sw_config *c, const char *table_name)
{
	for (uint32_t i = 1; i < CONFIG_TABLE_COUNT; i++) {
		const struct config_table *table = &config_tables[i];
		uint32_t *count = (uint32_t *)((uint8_t *)c + table->count_offset);
		uint8_t *row = (uint8_t *)c + table->rows_offset + *count * table->row_bytes;

		if (strcmp(table->name, table_name) != 0)
			continue;
		WEFT_CHECK(*count < table->row_max);
		fill_defaults(table, row);
		(*count)++;
		return row;
	}
	WEFT_CHECK(false);
	return NULL;
}

void setup_name(char out[CONFIG_NAME_BYTES], const char *name)
{
	WEFT_CHECK(strlen(name) < CONFIG_NAME_BYTES);
	snprintf(out, CONFIG_NAME_BYTES, "%s", name);
}

void setup_text(char out[CONFIG_TEXT_BYTES], const char *text)
{
	WEFT_CHECK(strlen(text) < CONFIG_TEXT_BYTES);
	snprintf(out, CONFIG_TEXT_BYTES, "%s", text);
}

struct sw_config *setup_blank(void)
{
	struct sw_config *c = calloc(1, sizeof(*c));

	WEFT_CHECK(c != NULL);
	fill_defaults(&config_tables[0], (uint8_t *)&c->sw);
	return c;
}

void setup_port_name(uint32_t port, char out[CONFIG_NAME_BYTES])
{
	snprintf(out, CONFIG_NAME_BYTES, "Ethernet%u", 4 * port);
}

static void add_kvm_buffers(struct sw_config *c)
{
	struct buffer_profile_config *row;

	setup_pool(c, KVM_INGRESS_POOL, CONFIG_POOL_INGRESS, KVM_POOL_BYTES);
	setup_pool(c, KVM_EGRESS_POOL, CONFIG_POOL_EGRESS, KVM_POOL_BYTES);
	setup_pool(c, KVM_LOSSY_POOL, CONFIG_POOL_EGRESS, KVM_LOSSY_POOL_BYTES);

	row = setup_profile(c, KVM_PG_LOSSLESS, KVM_INGRESS_POOL);
	row->size = KVM_SIZE_BYTES;
	row->xon = KVM_XON_BYTES;
	row->xon_offset = KVM_XON_OFFSET_BYTES;
	row->xoff = KVM_XOFF_BYTES;
	row->dynamic_th = -KVM_ALPHA_SHIFT;
	row = setup_profile(c, KVM_PG_LOSSY, KVM_INGRESS_POOL);
	row->dynamic_th = 3;
	row = setup_profile(c, KVM_QUEUE_LOSSLESS, KVM_EGRESS_POOL);
	row->static_th = KVM_POOL_BYTES;
	row = setup_profile(c, KVM_QUEUE_LOSSY, KVM_LOSSY_POOL);
	row->size = KVM_LOSSY_QUEUE_BYTES;
	row->dynamic_th = 3;

	setup_pg(c, "all", 0x18, KVM_PG_LOSSLESS);
	setup_pg(c, "all", 0xe7, KVM_PG_LOSSY);
	setup_buffer_queue(c, "all", 0x18, KVM_QUEUE_LOSSLESS);
	setup_buffer_queue(c, "all", 0xe7, KVM_QUEUE_LOSSY);
}

struct sw_config *setup_kvm(uint32_t ports)
{
	struct sw_config *c = setup_blank();

	c->sw.descriptors = 1u << 22;
	c->sw.mac_count = 1024;
	for (uint32_t i = 0; i < ports; i++) {
		char name[CONFIG_NAME_BYTES];
		struct port_config *port;

		setup_port_name(i, name);
		port = setup_port(c, name);
		port->pfc_enable = 0x18;
		port->flood_rate = 0;
		port->cnp_reserve = 0;
	}
	add_kvm_buffers(c);
	return c;
}

struct pool_config *setup_pool(struct sw_config *c, const char *name, enum config_pool_type type,
			       uint64_t size_bytes)
{
	struct pool_config *row = setup_add_row(c, "buffer_pool");

	setup_name(row->name, name);
	row->type = type;
	row->size = size_bytes;
	return row;
}

struct buffer_profile_config *setup_profile(struct sw_config *c, const char *name, const char *pool)
{
	struct buffer_profile_config *row = setup_add_row(c, "buffer_profile");

	setup_name(row->name, name);
	setup_name(row->pool, pool);
	return row;
}

struct port_config *setup_port(struct sw_config *c, const char *name)
{
	struct port_config *row = setup_add_row(c, "port");

	setup_name(row->name, name);
	row->hello = CONFIG_HELLO_OFF; // tests that want silence outnumber those that do not
	snprintf(row->devargs, sizeof(row->devargs), "net_null%u", c->port_count);
	return row;
}

void setup_pg(struct sw_config *c, const char *port, uint8_t pgs, const char *profile)
{
	struct buffer_pg_config *row = setup_add_row(c, "buffer_pg");

	setup_name(row->port, port);
	setup_name(row->profile, profile);
	row->pg = pgs;
}

void setup_buffer_queue(struct sw_config *c, const char *port, uint8_t queues, const char *profile)
{
	struct buffer_queue_config *row = setup_add_row(c, "buffer_queue");

	setup_name(row->port, port);
	setup_name(row->profile, profile);
	row->queue = queues;
}

void setup_map(struct sw_config *c, enum config_map_type type, const char *name, const char *text)
{
	struct map_config *row = setup_add_row(c, "map");

	row->type = type;
	setup_name(row->name, name);
	setup_text(row->map, text);
}

struct scheduler_config *setup_scheduler(struct sw_config *c, const char *name,
					 enum config_scheduler_type type, uint64_t weight)
{
	struct scheduler_config *row = setup_add_row(c, "scheduler");

	setup_name(row->name, name);
	row->type = type;
	row->weight = weight;
	return row;
}

struct wred_config *setup_wred(struct sw_config *c, const char *name, uint64_t min_bytes,
			       uint64_t max_bytes, uint64_t ppm)
{
	struct wred_config *row = setup_add_row(c, "wred_profile");

	setup_name(row->name, name);
	row->ecn = 1;
	row->green_min_threshold = min_bytes;
	row->green_max_threshold = max_bytes;
	row->green_drop_probability = ppm;
	return row;
}

void setup_queue(struct sw_config *c, const char *port, uint8_t queues, const char *scheduler,
		 const char *wred)
{
	struct queue_config *row = setup_add_row(c, "queue");

	setup_name(row->port, port);
	row->queue = queues;
	setup_name(row->scheduler, scheduler);
	setup_name(row->wred_profile, wred);
}

void setup_vlan(struct sw_config *c, uint16_t id, const char *untagged, const char *tagged)
{
	struct vlan_config *row = setup_add_row(c, "vlan");

	row->id = id;
	setup_text(row->untagged, untagged);
	setup_text(row->tagged, tagged);
}

struct acl_config *setup_acl(struct sw_config *c, const char *name, enum acl_action action)
{
	struct acl_config *row = setup_add_row(c, "acl");

	setup_name(row->name, name);
	row->action = action;
	return row;
}

void setup_prefix(struct ip_prefix *out, const char *text)
{
	static const struct config_knob prefix = { .key = "prefix",
						   .def = "!",
						   .kind = CONFIG_PREFIX };

	WEFT_CHECK(cfg_value_parse(&prefix, text, out) == CFG_VALUE_OK);
}

void setup_binding(struct sw_config *c, const char *port, uint64_t mac, const char *ip)
{
	struct binding_config *row = setup_add_row(c, "binding");

	setup_name(row->port, port);
	row->mac = mac;
	setup_prefix(&row->ip, ip);
}

void setup_acl_group(struct sw_config *c, const char *name, const char *prefix)
{
	struct acl_group_config *row = setup_add_row(c, "acl_group");

	setup_name(row->name, name);
	setup_prefix(&row->prefix, prefix);
}

struct lag_config *setup_lag(struct sw_config *c, const char *name, const char *members)
{
	struct lag_config *row = setup_add_row(c, "lag");

	setup_name(row->name, name);
	setup_text(row->members, members);
	return row;
}

struct pfc_wd_config *setup_pfc_wd(struct sw_config *c, const char *port,
				   enum watchdog_action action)
{
	struct pfc_wd_config *row = setup_add_row(c, "pfc_wd");

	setup_name(row->port, port);
	row->action = action;
	return row;
}

struct impairment_config *setup_impairment(struct sw_config *c, const char *port)
{
	struct impairment_config *row = setup_add_row(c, "impairment");

	setup_name(row->port, port);
	return row;
}

struct pool_config *setup_find_pool(struct sw_config *c, const char *name)
{
	for (uint32_t i = 0; i < c->pool_count; i++) {
		if (strcmp(c->pool[i].name, name) == 0)
			return &c->pool[i];
	}
	WEFT_CHECK(false);
	return NULL;
}

struct buffer_profile_config *setup_find_profile(struct sw_config *c, const char *name)
{
	for (uint32_t i = 0; i < c->profile_count; i++) {
		if (strcmp(c->profile[i].name, name) == 0)
			return &c->profile[i];
	}
	WEFT_CHECK(false);
	return NULL;
}

void setup_unbind_pgs(struct sw_config *c)
{
	c->buffer_pg_count = 0;
}

void setup_unbind_queues(struct sw_config *c)
{
	c->buffer_queue_count = 0;
}
