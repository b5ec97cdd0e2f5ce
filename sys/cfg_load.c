// SPDX-License-Identifier: BSD-3-Clause
//
// The loader walks what libconfig parsed, setting by setting in the order of the file, finds each
// setting's descriptor and hands its text to cfg_value_parse(). It keeps going after an error, so
// one run shows what is wrong with a whole file.
//
// Invariant: rows are built in a fresh copy; the caller's configuration changes as a whole or not
// at all.

#include "sys/cfg_load.h"

#include <errno.h>
#include <libconfig.h>
#include <stdlib.h>
#include <string.h>

#include "sys/cfg_place.h"
#include "sys/cfg_report.h"
#include "sys/cfg_row.h"
#include "sys/cfg_scan.h"
#include "sys/cfg_value.h"
#include "sys/nearest.h"

struct loader {
	const struct config_table *tables;
	uint32_t count;
	uint8_t *config; // under construction
	struct cfg_report report;
	struct cfg_scan scan;
};

// Where a value goes.
struct place {
	const struct config_table *table;
	const struct config_knob *knob;
	uint8_t *row;
};

size_t cfg_bytes(const struct config_table *tables, uint32_t count)
{
	size_t bytes = 0;

	for (uint32_t i = 0; i < count; i++) {
		const struct config_table *table = &tables[i];
		const size_t rows_end = table->rows_offset +
					(size_t)table->row_max * table->row_bytes;

		if (rows_end > bytes)
			bytes = rows_end;
		if (table->count_offset != UINT32_MAX && table->count_offset + 4u > bytes)
			bytes = table->count_offset + 4u;
	}
	return bytes;
}

static const char *type_text(const config_setting_t *setting)
{
	switch (config_setting_type(setting)) {
	case CONFIG_TYPE_INT:
	case CONFIG_TYPE_INT64: return "a number";
	case CONFIG_TYPE_FLOAT: return "a fraction";
	case CONFIG_TYPE_STRING: return "text";
	case CONFIG_TYPE_BOOL: return "true or false";
	case CONFIG_TYPE_ARRAY: return "an array";
	case CONFIG_TYPE_LIST: return "a list";
	case CONFIG_TYPE_GROUP: return "a group";
	}
	return "nothing";
}

static bool is_number(const config_setting_t *setting)
{
	return config_setting_type(setting) == CONFIG_TYPE_INT ||
	       config_setting_type(setting) == CONFIG_TYPE_INT64;
}

static bool kind_has_unit(enum config_kind kind)
{
	return kind == CONFIG_BPS || kind == CONFIG_NS || kind == CONFIG_METRES ||
	       kind == CONFIG_PPM;
}

// Whether a setting is an array of whole numbers, none of them misread.
static bool is_numbers(const struct loader *ld, const config_setting_t *setting)
{
	const int count = config_setting_length(setting);
	const char *file = cfg_report_file(&ld->report, setting);

	if (config_setting_type(setting) != CONFIG_TYPE_ARRAY)
		return false;
	for (int i = 0; i < count; i++) {
		const config_setting_t *each = config_setting_get_elem(setting, (unsigned int)i);

		if (!is_number(each) ||
		    cfg_scan_find(&ld->scan, file, config_setting_source_line(setting),
				  config_setting_get_int64(each)) != NULL)
			return false;
	}
	return true;
}

// Whether a setting of this type can be a value of the kind; text can be any.
static bool kind_takes(const struct loader *ld, enum config_kind kind,
		       const config_setting_t *setting)
{
	const int type = config_setting_type(setting);

	if (kind == CONFIG_NUMBERS && is_numbers(ld, setting))
		return true;
	if (kind == CONFIG_RATIO && type == CONFIG_TYPE_FLOAT)
		return true;

	if (is_number(setting))
		return kind_has_unit(kind) || kind == CONFIG_COUNT || kind == CONFIG_INT ||
		       kind == CONFIG_BYTES || kind == CONFIG_MASK8 || kind == CONFIG_RATIO;
	return type == CONFIG_TYPE_STRING || (type == CONFIG_TYPE_BOOL && kind == CONFIG_BOOL);
}

enum { TEXT_BYTES = 64 };

// As many numbers of an array as there is room for; what is cut is too many in any case.
static const char *text_of_array(const config_setting_t *setting, char buf[TEXT_BYTES])
{
	const int count = config_setting_length(setting);
	size_t len = 0;

	buf[0] = '\0';
	for (int i = 0; i < count && len < TEXT_BYTES; i++)
		len += (size_t)snprintf(buf + len, TEXT_BYTES - len, "%s%lld", i > 0 ? "," : "",
					config_setting_get_int64_elem(setting, i));
	return buf;
}

// The setting as text in `buf`, or its own when it is text already.
static const char *text_of(const config_setting_t *setting, char buf[TEXT_BYTES])
{
	if (config_setting_type(setting) == CONFIG_TYPE_STRING)
		return config_setting_get_string(setting);
	if (config_setting_type(setting) == CONFIG_TYPE_BOOL)
		return config_setting_get_bool(setting) ? "true" : "false";
	if (config_setting_type(setting) == CONFIG_TYPE_ARRAY)
		return text_of_array(setting, buf);
	if (config_setting_type(setting) == CONFIG_TYPE_FLOAT)
		snprintf(buf, TEXT_BYTES, "%.9f", config_setting_get_float(setting));
	else
		snprintf(buf, TEXT_BYTES, "%lld", config_setting_get_int64(setting));
	return buf;
}

// Refuses what the value's own parser cannot see: types, and numbers that lost their meaning.
static bool setting_usable(struct loader *ld, const config_setting_t *setting,
			   const struct place *to, const char *allowed)
{
	const char *table = to->table->name;
	const char *key = to->knob->key;
	const struct cfg_wide *wide = NULL;

	if (!kind_takes(ld, to->knob->kind, setting)) {
		cfg_report_at(&ld->report, setting, table, key, "is %s; allowed: %s",
			      type_text(setting), allowed);
		return false;
	}
	if (is_number(setting))
		wide = cfg_scan_find(&ld->scan, cfg_report_file(&ld->report, setting),
				     config_setting_source_line(setting),
				     config_setting_get_int64(setting));
	if (wide != NULL) {
		cfg_report_at(&ld->report, setting, table, key,
			      "%s does not fit a plain number; write it in quotes; allowed: %s",
			      wide->text, allowed);
		return false;
	}
	if (is_number(setting) && kind_has_unit(to->knob->kind) &&
	    config_setting_get_int64(setting) != 0) {
		cfg_report_at(&ld->report, setting, table, key,
			      "%lld has no unit; write it in quotes with one; allowed: %s",
			      config_setting_get_int64(setting), allowed);
		return false;
	}
	return true;
}

static void load_value(struct loader *ld, const config_setting_t *setting, const struct place *to)
{
	const char *quote = config_setting_type(setting) == CONFIG_TYPE_STRING ? "\"" : "";
	char allowed[256];
	char buf[TEXT_BYTES];
	const char *text;
	enum cfg_verdict verdict;

	cfg_value_allowed(to->knob, sizeof(allowed), allowed);
	if (!setting_usable(ld, setting, to, allowed))
		return;
	text = text_of(setting, buf);
	verdict = cfg_value_parse(to->knob, text, to->row + to->knob->offset);
	if (verdict == CFG_VALUE_CONTROL)
		text = "...";
	if (verdict != CFG_VALUE_OK)
		cfg_report_at(&ld->report, setting, to->table->name, to->knob->key,
			      "%s%.60s%s %s; allowed: %s", quote, text, quote,
			      cfg_verdict_text(verdict), allowed);
}

// Of those that have a name in the file.
static const struct config_table *find_table(const struct loader *ld, const char *name)
{
	const struct config_table *table = cfg_find_table(ld->tables, ld->count, name);

	return table != &ld->tables[0] ? table : NULL;
}

// A key that nothing is called: the top level also has the names of tables.
static void complain_unknown(struct loader *ld, const config_setting_t *setting,
			     const struct config_table *table)
{
	const char *key = config_setting_name(setting);
	struct nearest near = nearest_to(key);
	char all[1024];
	size_t len = 0;

	for (uint32_t i = 0; i < table->knob_count && len < sizeof(all); i++) {
		nearest_offer(&near, table->knobs[i].key);
		len += (size_t)snprintf(all + len, sizeof(all) - len, " %s", table->knobs[i].key);
	}
	for (uint32_t i = 0; table->name[0] == '\0' && i < ld->count && len < sizeof(all); i++) {
		nearest_offer(&near, ld->tables[i].name);
		if (ld->tables[i].name[0] != '\0')
			len += (size_t)snprintf(all + len, sizeof(all) - len, " %s",
						ld->tables[i].name);
	}
	if (near.best != NULL)
		cfg_report_at(&ld->report, setting, table->name, key, "unknown; did you mean %s?",
			      near.best);
	else
		cfg_report_at(&ld->report, setting, table->name, key, "unknown; allowed:%s", all);
}

static void check_mandatory(struct loader *ld, const config_setting_t *group,
			    const struct config_table *table)
{
	char allowed[256];

	for (uint32_t i = 0; i < table->knob_count; i++) {
		const struct config_knob *knob = &table->knobs[i];

		if (strcmp(knob->def, "!") != 0 ||
		    config_setting_get_member(group, knob->key) != NULL)
			continue;
		cfg_value_allowed(knob, sizeof(allowed), allowed);
		cfg_report_at(&ld->report, group, table->name, knob->key, "missing; allowed: %s",
			      allowed);
	}
}

static void load_row(struct loader *ld, const config_setting_t *group,
		     const struct config_table *table, uint8_t *row)
{
	const uint32_t line = config_setting_source_line(group);
	const int count = config_setting_length(group);

	cfg_row_default(table, row);
	memcpy(row, &line, sizeof(line));
	check_mandatory(ld, group, table);
	for (int i = 0; i < count; i++) {
		const config_setting_t *setting = config_setting_get_elem(group, (unsigned int)i);
		const struct place to = { table, cfg_find_knob(table, config_setting_name(setting)),
					  row };

		if (to.knob == NULL)
			complain_unknown(ld, setting, table);
		else
			load_value(ld, setting, &to);
	}
}

// A row of a table with one knob may be that knob's value alone.
static bool rows_are_values(const struct config_table *table)
{
	return table->knob_count == 1 && table->row_max > 1;
}

static void load_element(struct loader *ld, const config_setting_t *element,
			 const struct config_table *table, uint32_t at)
{
	uint8_t *row = ld->config + table->rows_offset + (size_t)at * table->row_bytes;
	const struct place to = { table, &table->knobs[0], row };
	const uint32_t line = config_setting_source_line(element);

	if (config_setting_type(element) == CONFIG_TYPE_GROUP) {
		load_row(ld, element, table, row);
	} else if (rows_are_values(table) && config_setting_is_scalar(element)) {
		cfg_row_default(table, row);
		memcpy(row, &line, sizeof(line));
		load_value(ld, element, &to);
	} else {
		cfg_report_at(&ld->report, element, table->name, "",
			      "row %u is %s; allowed: a group { ... }", at + 1, type_text(element));
	}
}

// How a table may be written: where there is one row, as that row; where a row is one value, as an
// array of them.
static bool is_table(const config_setting_t *setting, const struct config_table *table)
{
	const int type = config_setting_type(setting);

	return type == CONFIG_TYPE_LIST || (type == CONFIG_TYPE_GROUP && table->row_max == 1) ||
	       (type == CONFIG_TYPE_ARRAY && rows_are_values(table));
}

static void complain_table(struct loader *ld, const config_setting_t *setting,
			   const struct config_table *table)
{
	const char *words = "a list of groups,";
	const char *shape = "( { ... }, { ... } )";

	if (table->row_max == 1) {
		words = "a group,";
		shape = "{ ... }";
	} else if (rows_are_values(table)) {
		words = "an array,";
		shape = "[ \"...\", \"...\" ]";
	}
	cfg_report_at(&ld->report, setting, table->name, "", "is %s; allowed: %s %s = %s;",
		      type_text(setting), words, table->name, shape);
}

static void load_table(struct loader *ld, const config_setting_t *list,
		       const struct config_table *table)
{
	const uint32_t count = (uint32_t)config_setting_length(list);

	if (!is_table(list, table)) {
		complain_table(ld, list, table);
		return;
	}
	if (config_setting_type(list) == CONFIG_TYPE_GROUP) {
		load_element(ld, list, table, 0);
		cfg_set_row_count(table, ld->config, 1);
		return;
	}
	for (uint32_t i = 0; i < count; i++) {
		if (i == table->row_max) {
			cfg_report_at(&ld->report, config_setting_get_elem(list, i), table->name,
				      "", "has %u rows; allowed: %u", count, table->row_max);
			return;
		}
		load_element(ld, config_setting_get_elem(list, i), table, i);
	}
	cfg_set_row_count(table, ld->config, count);
}

// The top level mixes the knobs of its own table with the other tables.
static void load_top(struct loader *ld, const config_setting_t *root)
{
	const struct config_table *top = &ld->tables[0];
	const int count = config_setting_length(root);

	cfg_row_default(top, ld->config + top->rows_offset);
	check_mandatory(ld, root, top);
	for (int i = 0; i < count; i++) {
		const config_setting_t *setting = config_setting_get_elem(root, (unsigned int)i);
		const char *key = config_setting_name(setting);
		const struct config_table *table = find_table(ld, key);
		const struct place to = { top, cfg_find_knob(top, key),
					  ld->config + top->rows_offset };

		if (table != NULL)
			load_table(ld, setting, table);
		else if (to.knob != NULL)
			load_value(ld, setting, &to);
		else
			complain_unknown(ld, setting, top);
	}
}

// Parses, walks, and reports what is wrong.
static void load(struct loader *ld, const char *path, const char *dir)
{
	config_t parsed;

	config_init(&parsed);
	config_set_include_dir(&parsed, dir);
	if (config_read_file(&parsed, path))
		load_top(ld, config_root_setting(&parsed));
	else
		cfg_report_syntax(&ld->report, &parsed);
	cfg_report_end(&ld->report);
	config_destroy(&parsed);
}

int cfg_load_new(const char *path, const struct config_table *tables, uint32_t count, void **out,
		 FILE *errors)
{
	struct loader *ld = calloc(1, sizeof(*ld));
	uint8_t *config = calloc(1, cfg_bytes(tables, count));
	char *dir = cfg_directory(path);
	int rc = -ENOMEM;

	if (ld == NULL || config == NULL || dir == NULL) {
		fprintf(errors, "%s: %s\n", path, strerror(ENOMEM));
		goto out;
	}
	ld->report = (struct cfg_report){
		.path = path, .dir = dir, .out = errors, .max = CFG_LOAD_ERRORS_MAX
	};
	ld->tables = tables;
	ld->count = count;
	ld->config = config;
	rc = cfg_scan(path, dir, &ld->scan, errors);
	if (rc < 0)
		goto out;
	load(ld, path, dir);
	rc = ld->report.count > 0 ? -EINVAL : 0;
	if (rc == 0) {
		*out = config;
		config = NULL;
	}
out:
	free(dir);
	free(config);
	free(ld);
	return rc;
}

int cfg_load(const char *path, const struct config_table *tables, uint32_t count, void *out,
	     FILE *errors)
{
	void *config;
	const int rc = cfg_load_new(path, tables, count, &config, errors);

	if (rc < 0)
		return rc;
	memcpy(out, config, cfg_bytes(tables, count));
	free(config);
	return 0;
}

int cfg_hash(const char *path, uint64_t *hash, FILE *errors)
{
	struct cfg_scan *scan = calloc(1, sizeof(*scan));
	char *dir = cfg_directory(path);
	int rc = -ENOMEM;

	if (scan != NULL && dir != NULL)
		rc = cfg_scan(path, dir, scan, errors);
	if (rc == 0)
		*hash = scan->hash;
	free(dir);
	free(scan);
	return rc;
}
