// SPDX-License-Identifier: BSD-3-Clause
//
// The canonical text of a configuration: tables and knobs in the order of the schema, every knob
// that is set, defaults included, so that the text means the same when a default changes later.
// Invariant: cfg_load() of the dump gives the same rows, so dump, load, dump gives the same text.

#include "sys/cfg_load.h"

#include <errno.h>

#include "sys/cfg_row.h"
#include "sys/cfg_value.h"

static void dump_row(const struct config_table *table, const uint8_t *row, const char *indent,
		     FILE *out)
{
	char text[CFG_SHOWN_BYTES];

	for (uint32_t i = 0; i < table->knob_count; i++) {
		const struct config_knob *knob = &table->knobs[i];

		if (cfg_value_unset(knob, row + knob->offset))
			continue;
		cfg_value_show(knob, row, text);
		fprintf(out, "%s%s = %s;\n", indent, knob->key, text);
	}
}

static void dump_table(const struct config_table *table, const uint8_t *config, FILE *out)
{
	const uint32_t count = cfg_row_count(table, config);

	fprintf(out, "\n%s = (", table->name);
	for (uint32_t i = 0; i < count; i++) {
		fputs(i == 0 ? "{\n" : ", {\n", out);
		dump_row(table, cfg_row_const(table, config, i), "\t", out);
		fputc('}', out);
	}
	fputs(");\n", out);
}

static void dump_part(const void *config, const struct config_table *table, FILE *out)
{
	if (table->key_count == 0)
		dump_row(table, cfg_row_const(table, config, 0), "", out);
	else
		dump_table(table, config, out);
}

static int finish(FILE *out)
{
	if (fflush(out) != 0)
		return -errno;
	return ferror(out) ? -EIO : 0;
}

int cfg_dump(const void *config, const struct config_table *tables, uint32_t count, FILE *out)
{
	for (uint32_t i = 0; i < count; i++)
		dump_part(config, &tables[i], out);
	return finish(out);
}

int cfg_dump_table(const void *config, const struct config_table *table, FILE *out)
{
	dump_part(config, table, out);
	return finish(out);
}
