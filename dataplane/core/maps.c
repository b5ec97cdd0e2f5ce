// SPDX-License-Identifier: BSD-3-Clause
//
// Maps between code points, traffic classes, queues and priority groups: the built-in ones, and
// the parser that turns a text into a table. Runs when a profile is built, never per packet.
//
// Facts of "AZURE": sonic-buildimage files/build_templates/qos_config.j2. In "roce", CNP (class 6)
// has a priority group of its own, so that lossy data cannot use up what it is admitted from.

#include "dataplane/core/maps.h"

#include "base/units.h"

enum {
	MAP_TYPE_COUNT = CONFIG_MAP_PFC_TO_PG + 1,
	ETHERTYPE_MIN = 0x0600, // below it the field is a length (IEEE 802.3 3.2.6)
	ETHERTYPE_MAX = 0xffff,
	VALUE_MAX = 7,
};

#define IDENTITY "0:0 1:1 2:2 3:3 4:4 5:5 6:6 7:7"

struct builtin {
	const char *name;
	const char *text[MAP_TYPE_COUNT];
};

static const struct builtin builtins[] = {
	{ "AZURE",
	  {
		  [CONFIG_MAP_DSCP_TO_TC] = "3:3 4:4 5:2 8:0 46:5 48:6 *:1",
		  [CONFIG_MAP_DOT1P_TO_TC] = "0:1 1:0 2:2 3:3 4:4 5:5 6:6 7:7",
		  [CONFIG_MAP_ETHERTYPE_TO_TC] = "",
		  [CONFIG_MAP_TC_TO_QUEUE] = IDENTITY,
		  [CONFIG_MAP_TC_TO_PG] = "3:3 4:4 7:7 *:0",
		  [CONFIG_MAP_PFC_TO_QUEUE] = IDENTITY,
		  [CONFIG_MAP_PFC_TO_PG] = "3:3 4:4",
	  } },
	{ "roce",
	  {
		  [CONFIG_MAP_DSCP_TO_TC] = "26:3 48:6 *:0",
		  [CONFIG_MAP_DOT1P_TO_TC] = "3:3 6:6 *:0",
		  [CONFIG_MAP_ETHERTYPE_TO_TC] = "0x8915:3",
		  [CONFIG_MAP_TC_TO_QUEUE] = IDENTITY,
		  [CONFIG_MAP_TC_TO_PG] = "3:3 6:6 *:0",
		  [CONFIG_MAP_PFC_TO_QUEUE] = IDENTITY,
		  [CONFIG_MAP_PFC_TO_PG] = "3:3",
	  } },
};

struct key_range {
	uint64_t first;
	uint64_t last;
};

static const struct key_range key_limits[MAP_TYPE_COUNT] = {
	[CONFIG_MAP_DSCP_TO_TC] = { 0, 63 },
	[CONFIG_MAP_DOT1P_TO_TC] = { 0, 7 },
	[CONFIG_MAP_ETHERTYPE_TO_TC] = { ETHERTYPE_MIN, ETHERTYPE_MAX },
	[CONFIG_MAP_TC_TO_QUEUE] = { 0, 7 },
	[CONFIG_MAP_TC_TO_PG] = { 0, 7 },
	[CONFIG_MAP_PFC_TO_QUEUE] = { 0, 7 },
	[CONFIG_MAP_PFC_TO_PG] = { 0, 7 },
};

// A map while it is read; bit k of `named` says that value[k] was given.
struct draft {
	struct class_map map;
	uint64_t named;
	bool closed; // `*` was read, nothing may follow
};

// Bytes up to the first `stop` or the end of the text, at most `max`.
static size_t span_until(const char *text, size_t max, char stop)
{
	size_t len = 0;

	while (len < max && text[len] != '\0' && text[len] != stop)
		len++;
	return len;
}

static bool parse_range(const char *text, size_t len, const struct key_range *limit,
			struct key_range *out)
{
	const size_t first_len = span_until(text, len, '-');

	if (!unit_parse(UNIT_COUNT, text, first_len, &out->first))
		return false;
	out->last = out->first;
	if (first_len < len &&
	    !unit_parse(UNIT_COUNT, text + first_len + 1, len - first_len - 1, &out->last))
		return false;
	return limit->first <= out->first && out->first <= out->last && out->last <= limit->last;
}

static bool name_ethertype(struct class_map *map, uint16_t ethertype, uint8_t tc)
{
	for (uint32_t i = 0; i < map->row_count; i++) {
		if (map->row[i].ethertype == ethertype)
			return false;
	}
	if (map->row_count == CLASS_MAP_ETHERTYPES)
		return false;
	map->row[map->row_count].ethertype = ethertype;
	map->row[map->row_count].tc = tc;
	map->row_count++;
	return true;
}

static bool name_key(struct draft *draft, enum config_map_type type, uint64_t key, uint8_t value)
{
	if (type == CONFIG_MAP_ETHERTYPE_TO_TC)
		return name_ethertype(&draft->map, (uint16_t)key, value);
	if (draft->named >> key & 1)
		return false;
	draft->named |= 1ull << key;
	draft->map.value[key] = value;
	return true;
}

// Gives every key of the type that was not named a value: `value`, or the key itself.
static void fill_unnamed(struct draft *draft, enum config_map_type type, uint8_t value,
			 bool identity)
{
	if (type == CONFIG_MAP_ETHERTYPE_TO_TC)
		return;
	for (uint32_t key = 0; key <= key_limits[type].last; key++) {
		if ((draft->named >> key & 1) == 0)
			draft->map.value[key] = identity ? (uint8_t)key : value;
	}
}

static bool parse_pair(struct draft *draft, enum config_map_type type, const char *text, size_t len)
{
	const size_t key_len = span_until(text, len, ':');
	struct key_range keys;
	uint64_t value;

	if (draft->closed || key_len == len ||
	    !unit_parse(UNIT_COUNT, text + key_len + 1, len - key_len - 1, &value) ||
	    value > VALUE_MAX)
		return false;
	if (key_len == 1 && text[0] == '*') {
		fill_unnamed(draft, type, (uint8_t)value, false);
		draft->closed = true;
		return type != CONFIG_MAP_ETHERTYPE_TO_TC;
	}
	if (!parse_range(text, key_len, &key_limits[type], &keys))
		return false;
	// At most 64 rounds: an EtherType range ends when the rows are full.
	for (uint64_t key = keys.first; key <= keys.last; key++) {
		if (!name_key(draft, type, key, (uint8_t)value))
			return false;
	}
	return true;
}

bool map_parse(enum config_map_type type, const char *text, struct class_map *out)
{
	const bool identity = type == CONFIG_MAP_PFC_TO_QUEUE || type == CONFIG_MAP_PFC_TO_PG;
	struct draft draft = { 0 };

	while (*text != '\0') {
		const size_t len = span_until(text, SIZE_MAX, ' ');

		if (len == 0) {
			text++;
			continue;
		}
		if (!parse_pair(&draft, type, text, len))
			return false;
		text += len;
	}
	if (!draft.closed)
		fill_unnamed(&draft, type, 0, identity);
	*out = draft.map;
	return true;
}

static bool same_name(const char *a, const char *b)
{
	while (*a != '\0' && *a == *b) {
		a++;
		b++;
	}
	return *a == *b;
}

const char *map_builtin(enum config_map_type type, const char *name)
{
	for (size_t i = 0; i < sizeof(builtins) / sizeof(builtins[0]); i++) {
		if (same_name(builtins[i].name, name))
			return builtins[i].text[type];
	}
	return NULL;
}
