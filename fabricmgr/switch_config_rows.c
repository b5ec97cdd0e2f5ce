// SPDX-License-Identifier: BSD-3-Clause
//
// Rows and knobs as libconfig text. A table is opened by its first row and closed by the first of
// another one, so a table without rows leaves no trace.

#include "fabricmgr/switch_config_parts.h"

#include <inttypes.h>
#include <stdarg.h>

#include "base/units.h"
#include "sys/cfg_address.h"

void config_fail(struct config_text *text, int rc, const char *format, ...)
{
	va_list args;

	if (text->rc != 0)
		return;
	text->rc = rc;
	fprintf(text->errors, "%s: ", config_switch(text)->name);
	va_start(args, format);
	vfprintf(text->errors, format, args);
	va_end(args);
	fputc('\n', text->errors);
}

void config_rows_end(struct config_text *text)
{
	if (text->table != NULL)
		fputs("\n);\n", text->out);
	text->table = NULL;
	text->row_count = 0;
}

bool config_row(struct config_text *text, const char *table, uint32_t max)
{
	if (text->rc != 0)
		return false;
	if (text->table != table) {
		config_rows_end(text);
		text->table = table;
		fprintf(text->out, "%s = (\n\t{", table);
	} else {
		fputs(",\n\t{", text->out);
	}
	if (++text->row_count <= max)
		return true;
	config_fail(text, -EOVERFLOW, "more rows of %s than the %" PRIu32 " that a switch takes",
		    table, max);
	return false;
}

void config_row_end(struct config_text *text)
{
	fputs(" }", text->out);
}

// In a row knobs stand side by side, at the top level in lines.
static void key_begin(struct config_text *text, const char *key)
{
	fprintf(text->out, "%s%s = ", text->table != NULL ? " " : "", key);
}

static void key_end(struct config_text *text)
{
	fputs(text->table != NULL ? ";" : ";\n", text->out);
}

void config_text(struct config_text *text, const char *key, const char *format, ...)
{
	va_list args;

	key_begin(text, key);
	fputc('"', text->out);
	va_start(args, format);
	vfprintf(text->out, format, args);
	va_end(args);
	fputc('"', text->out);
	key_end(text);
}

void config_number(struct config_text *text, const char *key, uint64_t value)
{
	key_begin(text, key);
	// libconfig takes what 32 bits do not hold for a mistake unless it is told.
	fprintf(text->out, "%" PRIu64 "%s", value, value > INT32_MAX ? "L" : "");
	key_end(text);
}

void config_bool(struct config_text *text, const char *key, bool value)
{
	key_begin(text, key);
	fputs(value ? "true" : "false", text->out);
	key_end(text);
}

void config_unit(struct config_text *text, const char *key, enum unit unit, uint64_t value)
{
	char number[UNIT_TEXT_BYTES];

	unit_format(unit, value, number);
	config_text(text, key, "%s", number);
}

void config_mask(struct config_text *text, const char *key, uint8_t mask)
{
	char list[UNIT_TEXT_BYTES];

	unit_format_mask8(mask, list);
	config_text(text, key, "%s", list);
}

void config_mac(struct config_text *text, const char *key, uint64_t mac)
{
	char address[MAC_TEXT_BYTES];

	mac_format(mac, address);
	config_text(text, key, "%s", address);
}

void config_ip(struct config_text *text, const char *key, const struct ip_prefix *ip)
{
	char address[IP_PREFIX_TEXT_BYTES];

	ip_prefix_format(ip, address);
	config_text(text, key, "%s", address);
}

void config_port_name(struct config_text *text, const char *key, uint32_t port)
{
	char name[FABRIC_NAME_BYTES];

	config_text(text, key, "%s", fabric_port_name(config_switch(text), (uint16_t)port, name));
}
