// SPDX-License-Identifier: BSD-3-Clause
//
// The canonical text of a configuration: tables and knobs in the order of the schema, every knob
// that is set, defaults included, so that the text means the same when a default changes later.
// Invariant: cfg_load() of the dump gives the same rows, so dump, load, dump gives the same text.

#include "sys/cfg_load.h"

#include <errno.h>
#include <string.h>

#include "sys/cfg_value.h"

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

static void dump_value(const struct config_knob *knob, const uint8_t *field, FILE *out)
{
	char text[CFG_VALUE_TEXT_BYTES];

	cfg_value_format(knob, field, text);
	if (stands_bare(knob, field)) {
		fputs(text, out);
		return;
	}
	fputc('"', out);
	for (const char *c = text; *c != '\0'; c++) {
		if (*c == '"' || *c == '\\')
			fputc('\\', out);
		fputc(*c, out);
	}
	fputc('"', out);
}

static void dump_row(const struct config_table *table, const uint8_t *row, const char *indent,
		     FILE *out)
{
	for (uint32_t i = 0; i < table->knob_count; i++) {
		const struct config_knob *knob = &table->knobs[i];

		if (cfg_value_unset(knob, row + knob->offset))
			continue;
		fprintf(out, "%s%s = ", indent, knob->key);
		dump_value(knob, row + knob->offset, out);
		fputs(";\n", out);
	}
}

static void dump_table(const struct config_table *table, const uint8_t *config, FILE *out)
{
	const uint8_t *rows = config + table->rows_offset;
	uint32_t count;

	memcpy(&count, config + table->count_offset, sizeof(count));
	fprintf(out, "\n%s = (", table->name);
	for (uint32_t i = 0; i < count; i++) {
		fputs(i == 0 ? "{\n" : ", {\n", out);
		dump_row(table, rows + (size_t)i * table->row_bytes, "\t", out);
		fputc('}', out);
	}
	fputs(");\n", out);
}

int cfg_dump(const void *config, const struct config_table *tables, uint32_t count, FILE *out)
{
	const uint8_t *bytes = config;

	dump_row(&tables[0], bytes + tables[0].rows_offset, "", out);
	for (uint32_t i = 1; i < count; i++)
		dump_table(&tables[i], bytes, out);
	if (fflush(out) != 0)
		return -errno;
	return ferror(out) ? -EIO : 0;
}
