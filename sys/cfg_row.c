// SPDX-License-Identifier: BSD-3-Clause
//
// What the loader, edits, differences and the dump share about rows. Fields are compared by their
// bytes: cfg_value_parse() fills all of them.

#include "sys/cfg_row.h"

#include <stdio.h>
#include <string.h>

#include "sys/cfg_value.h"

const struct config_table *cfg_find_table(const struct config_table *tables, uint32_t count,
					  const char *name)
{
	if (name[0] == '\0' || strcmp(name, CFG_TOP_NAME) == 0)
		return &tables[0];
	for (uint32_t i = 1; i < count; i++) {
		if (strcmp(tables[i].name, name) == 0)
			return &tables[i];
	}
	return NULL;
}

const struct config_knob *cfg_find_knob(const struct config_table *table, const char *key)
{
	for (uint32_t i = 0; i < table->knob_count; i++) {
		if (strcmp(table->knobs[i].key, key) == 0)
			return &table->knobs[i];
	}
	return NULL;
}

void cfg_knob_list(const struct config_table *table, size_t out_bytes, char *out)
{
	size_t len = 0;

	out[0] = '\0';
	for (uint32_t i = 0; i < table->knob_count && len < out_bytes; i++)
		len += (size_t)snprintf(out + len, out_bytes - len, "%s%s", i > 0 ? " " : "",
					table->knobs[i].key);
}

const char *cfg_table_name(const struct config_table *table)
{
	return table->name[0] != '\0' ? table->name : CFG_TOP_NAME;
}

uint32_t cfg_row_count(const struct config_table *table, const void *config)
{
	uint32_t count = 1;

	if (table->count_offset != UINT32_MAX)
		memcpy(&count, (const uint8_t *)config + table->count_offset, sizeof(count));
	return count;
}

void cfg_set_row_count(const struct config_table *table, void *config, uint32_t count)
{
	memcpy((uint8_t *)config + table->count_offset, &count, sizeof(count));
}

void cfg_row_default(const struct config_table *table, uint8_t *row)
{
	memset(row, 0, table->row_bytes);
	for (uint32_t i = 0; i < table->knob_count; i++)
		cfg_value_default(&table->knobs[i], row + table->knobs[i].offset);
}

void cfg_clear_lines(void *config, const struct config_table *tables, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++) {
		for (uint32_t k = 0; k < cfg_row_count(&tables[i], config); k++)
			memset(cfg_row(&tables[i], config, k), 0, sizeof(uint32_t));
	}
}

bool cfg_field_equal(const struct config_knob *knob, const uint8_t *a, const uint8_t *b)
{
	return memcmp(a + knob->offset, b + knob->offset, cfg_field_bytes(knob->kind)) == 0;
}

bool cfg_key_equal(const struct config_table *table, const uint8_t *a, const uint8_t *b)
{
	for (uint32_t i = 0; i < table->key_count; i++) {
		if (!cfg_field_equal(&table->knobs[i], a, b))
			return false;
	}
	return true;
}

// Numbers and truth values stand bare when the file's own types can hold them.
static bool stands_bare(const struct config_knob *knob, const uint8_t *field)
{
	int64_t value;

	if (knob->kind == CONFIG_BOOL)
		return true;
	if (knob->kind != CONFIG_COUNT && knob->kind != CONFIG_INT)
		return false;
	memcpy(&value, field, sizeof(value));
	return value >= INT32_MIN && value <= INT32_MAX;
}

static void write_quoted(const char *text, char *out)
{
	*out++ = '"';
	for (const char *c = text; *c != '\0'; c++) {
		if (*c == '"' || *c == '\\')
			*out++ = '\\';
		*out++ = *c;
	}
	memcpy(out, "\"", sizeof("\""));
}

static void write_value(const struct config_knob *knob, const uint8_t *row, bool bare, char *out)
{
	char text[CFG_VALUE_TEXT_BYTES];

	if (cfg_value_unset(knob, row + knob->offset)) {
		memcpy(out, "unset", sizeof("unset"));
		return;
	}
	cfg_value_format(knob, row + knob->offset, text);
	if (bare)
		memcpy(out, text, strlen(text) + 1);
	else
		write_quoted(text, out);
}

void cfg_value_show(const struct config_knob *knob, const uint8_t *row, char *out)
{
	write_value(knob, row, stands_bare(knob, row + knob->offset), out);
}

void cfg_value_say(const struct config_knob *knob, const uint8_t *row, char *out)
{
	const bool is_text = knob->kind == CONFIG_NAME || knob->kind == CONFIG_TEXT;

	write_value(knob, row, !is_text && knob->kind != CONFIG_MASK8, out);
}

void cfg_row_label(const struct config_table *table, const uint8_t *row, char out[CFG_LABEL_BYTES])
{
	char text[CFG_VALUE_TEXT_BYTES];
	size_t used = 0; // by words and the spaces between them
	size_t shown = 0;

	for (uint32_t i = 0; i < table->key_count; i++) {
		const struct config_knob *knob = &table->knobs[i];
		const bool unset = cfg_value_unset(knob, row + knob->offset);

		text[0] = '\0';
		if (!unset)
			cfg_value_format(knob, row + knob->offset, text);
		used += (size_t)snprintf(out + used, CFG_LABEL_BYTES - used, "%s%s",
					 i > 0 ? " " : "", text[0] != '\0' ? text : "-");
		if (used >= CFG_LABEL_BYTES)
			used = CFG_LABEL_BYTES - 1;
		if (text[0] != '\0')
			shown = used;
	}
	out[shown] = '\0';
}
