// SPDX-License-Identifier: BSD-3-Clause
//
// Identifiers and texts come from a peer: they are shown as printable ASCII. Names of subtypes are
// those that lldpd and SONiC show.

#include "dataplane/lldp_json.h"

#include <arpa/inet.h>

#include "base/units.h"
#include "dataplane/dcbx_words.h"
#include "dataplane/lldp.h"

#define SECOND_NS 1000000000ull

static void set_number(json_t *object, const char *key, uint64_t value)
{
	json_object_set_new(object, key, json_integer((json_int_t)value));
}

static void set_text(json_t *object, const char *key, const char *value)
{
	json_object_set_new(object, key, json_string(value));
}

static void set_words(json_t *object, const char *key, const struct lldp_text *text)
{
	char words[LLDP_WORDS_BYTES];

	lldp_text_words(text, words);
	set_text(object, key, words);
}

static const char *chassis_kind(uint8_t subtype)
{
	static const char *const kinds[] = {
		[LLDP_CHASSIS_COMPONENT] = "component", [LLDP_CHASSIS_IFALIAS] = "ifalias",
		[LLDP_CHASSIS_PORT] = "port",           [LLDP_CHASSIS_MAC] = "mac",
		[LLDP_CHASSIS_NETWORK] = "ip",          [LLDP_CHASSIS_IFNAME] = "ifname",
		[LLDP_CHASSIS_LOCAL] = "local",
	};

	return subtype >= LLDP_CHASSIS_COMPONENT && subtype <= LLDP_CHASSIS_LOCAL ? kinds[subtype] :
										    "unknown";
}

static const char *port_kind(uint8_t subtype)
{
	static const char *const kinds[] = {
		[LLDP_PORT_IFALIAS] = "ifalias", [LLDP_PORT_COMPONENT] = "component",
		[LLDP_PORT_MAC] = "mac",         [LLDP_PORT_NETWORK] = "ip",
		[LLDP_PORT_IFNAME] = "ifname",   [LLDP_PORT_CIRCUIT] = "circuit",
		[LLDP_PORT_LOCAL] = "local",
	};

	return subtype >= LLDP_PORT_IFALIAS && subtype <= LLDP_PORT_LOCAL ? kinds[subtype] :
									    "unknown";
}

static json_t *capabilities_json(uint16_t mask)
{
	static const char *const names[] = { "Other",
					     "Repeater",
					     "Bridge",
					     "Wlan",
					     "Router",
					     "Telephone",
					     "DOCSIS cable device",
					     "Station" };
	json_t *list = json_array();

	for (uint32_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (mask >> i & 1)
			json_array_append_new(list, json_string(names[i]));
	}
	return list;
}

static void set_address(json_t *object, const struct lldp_info *info)
{
	char text[INET6_ADDRSTRLEN] = "";

	if (info->address_family == ADDRESS_FAMILY_IPV4 && info->address_len == 4)
		inet_ntop(AF_INET, info->address, text, sizeof(text));
	if (info->address_family == ADDRESS_FAMILY_IPV6 && info->address_len == 16)
		inet_ntop(AF_INET6, info->address, text, sizeof(text));
	if (text[0] != '\0')
		set_text(object, "management_address", text);
}

static json_t *numbers_json(const uint8_t *numbers, uint32_t count)
{
	json_t *list = json_array();

	for (uint32_t i = 0; i < count; i++)
		json_array_append_new(list, json_integer(numbers[i]));
	return list;
}

static json_t *ets_json(const struct dcbx_ets *ets, bool configuration)
{
	json_t *object = json_object();

	if (configuration) {
		json_object_set_new(object, "willing", json_boolean(ets->willing));
		json_object_set_new(object, "credit_based_shaper", json_boolean(ets->credit));
		set_number(object, "classes", ets->class_count);
	}
	json_object_set_new(object, "priority_class", numbers_json(ets->prio_class, PRIO_COUNT));
	json_object_set_new(object, "percent", numbers_json(ets->percent, TC_COUNT));
	json_object_set_new(object, "algorithm", numbers_json(ets->algorithm, TC_COUNT));
	return object;
}

static json_t *pfc_json(const struct dcbx_pfc *pfc)
{
	char mask[UNIT_TEXT_BYTES];

	unit_format_mask8(pfc->enable, mask);
	return json_pack("{s:b, s:b, s:i, s:s}", "willing", pfc->willing, "macsec_bypass",
			 pfc->bypass, "capability", pfc->capability, "enable", mask);
}

static json_t *apps_json(const struct dcbx *dcbx)
{
	json_t *list = json_array();

	for (uint32_t i = 0; i < dcbx->app_count; i++)
		json_array_append_new(list, json_pack("{s:i, s:i, s:i}", "priority",
						      dcbx->app[i].priority, "selector",
						      dcbx->app[i].selector, "protocol",
						      dcbx->app[i].protocol));
	return list;
}

static json_t *dcbx_json(const struct dcbx *dcbx)
{
	json_t *object = json_object();

	if (dcbx->ets.present)
		json_object_set_new(object, "ets", ets_json(&dcbx->ets, true));
	if (dcbx->recommended.present)
		json_object_set_new(object, "ets_recommended", ets_json(&dcbx->recommended, false));
	if (dcbx->pfc.present)
		json_object_set_new(object, "pfc", pfc_json(&dcbx->pfc));
	if (dcbx->has_apps)
		json_object_set_new(object, "applications", apps_json(dcbx));
	return object;
}

static json_t *info_json(const struct lldp_info *info)
{
	char words[LLDP_WORDS_BYTES];
	json_t *object = json_object();

	set_text(object, "chassis_kind", chassis_kind(info->chassis.subtype));
	lldp_chassis_words(&info->chassis, words);
	set_text(object, "chassis", words);
	set_text(object, "port_kind", port_kind(info->port.subtype));
	lldp_port_words(&info->port, words);
	set_text(object, "port", words);
	set_number(object, "ttl_s", info->ttl_seconds);
	set_words(object, "port_description", &info->port_description);
	set_words(object, "system_name", &info->system_name);
	set_words(object, "system_description", &info->system_description);
	if (info->has_capabilities) {
		json_object_set_new(object, "capabilities", capabilities_json(info->capabilities));
		json_object_set_new(object, "enabled", capabilities_json(info->enabled));
	}
	set_address(object, info);
	if (info->pvid != 0)
		set_number(object, "pvid", info->pvid);
	if (info->max_frame_bytes != 0)
		set_number(object, "max_frame_bytes", info->max_frame_bytes);
	json_object_set_new(object, "dcbx", dcbx_json(&info->dcbx));
	return object;
}

// A row for each thing that the two ends could differ in.
static json_t *comparison_json(const struct dcbx *ours, const struct lldp_info *theirs)
{
	static const char *const topics[DCBX_TOPIC_COUNT] = {
		[DCBX_PFC] = "PFC priorities",
		[DCBX_ROCE] = "RoCE priority",
		[DCBX_CLASSES] = "priority:class",
		[DCBX_SHARES] = "class:share",
	};
	const uint8_t found = dcbx_differences(ours, &theirs->dcbx);
	char name[LLDP_WORDS_BYTES];
	json_t *list = json_array();

	lldp_name(theirs, name);
	for (uint32_t i = 0; i < DCBX_TOPIC_COUNT; i++) {
		char here[DCBX_WORDS_BYTES], there[DCBX_WORDS_BYTES], words[DCBX_WORDS_BYTES];
		json_t *row = json_object();

		dcbx_side(ours, (enum dcbx_topic)i, here);
		dcbx_side(&theirs->dcbx, (enum dcbx_topic)i, there);
		dcbx_words(ours, &theirs->dcbx, name, (enum dcbx_topic)i, words);
		set_text(row, "topic", topics[i]);
		set_text(row, "ours", here);
		set_text(row, "theirs", there);
		json_object_set_new(row, "differs", json_boolean(found >> i & 1));
		if (found >> i & 1)
			set_text(row, "why", words);
		json_array_append_new(list, row);
	}
	return list;
}

static json_t *neighbor_json(const struct lldp_neighbor *neighbor, const struct dcbx *ours,
			     ns_t now)
{
	json_t *object = info_json(&neighbor->info);
	char name[LLDP_WORDS_BYTES];

	lldp_name(&neighbor->info, name);
	set_text(object, "name", name);
	set_number(object, "index", neighbor->index);
	set_number(object, "age_s", ns_since(now, neighbor->since) / SECOND_NS);
	set_number(object, "expires_s", ns_since(neighbor->expires, now) / SECOND_NS);
	json_object_set_new(object, "comparison", comparison_json(ours, &neighbor->info));
	return object;
}

static json_t *port_json(const struct instance *in, port_t port, ns_t now)
{
	const struct lldp_port *state = lldp_port_of(in->lldp, port);
	const struct lldp_profile pf = lldp_profile_of(in->lldp, port);
	const struct lldp_info nobody = { 0 };
	json_t *object = json_object();
	json_t *list = json_array();
	struct lldp_info ours;

	lldp_ours(in->lldp, port, &ours);
	set_text(object, "name", in->config->port[port.v].name);
	set_text(object, "alias", in->config->port[port.v].alias);
	json_object_set_new(object, "sends", json_boolean(pf.send));
	json_object_set_new(object, "receives", json_boolean(pf.receive));
	json_object_set_new(object, "up", json_boolean(state->up));
	json_object_set_new(object, "ours", info_json(&ours));
	for (uint32_t i = 0; i < state->neighbor_count; i++)
		json_array_append_new(list, neighbor_json(&state->neighbor[i], &ours.dcbx, now));
	if (state->neighbor_count == 0)
		json_object_set_new(object, "comparison", comparison_json(&ours.dcbx, &nobody));
	json_object_set_new(object, "neighbors", list);
	return object;
}

json_t *lldp_json_seen(const struct instance *in, port_t port)
{
	const struct lldp_port *state = lldp_port_of(in->lldp, port);
	const struct lldp_info *info = &state->neighbor[0].info;
	char name[LLDP_WORDS_BYTES];
	char at[LLDP_WORDS_BYTES];

	if (state->neighbor_count == 0)
		return json_null();
	lldp_name(info, name);
	lldp_port_words(&info->port, at);
	return json_pack("{s:s, s:s}", "neighbor", name, "port", at);
}

json_t *lldp_json(const struct instance *in)
{
	json_t *object = json_object();
	json_t *list = json_array();

	set_number(object, "interval_s", in->config->sw.lldp_interval / SECOND_NS);
	for (uint16_t i = 0; i < in->port_count; i++)
		json_array_append_new(list, port_json(in, (port_t){ i }, lldp_now(in->lldp)));
	json_object_set_new(object, "ports", list);
	return object;
}
