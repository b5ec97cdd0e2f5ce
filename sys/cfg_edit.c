// SPDX-License-Identifier: BSD-3-Clause
//
// Edits, one after the other on a copy. An edit that is wrong says so and the rest goes on, so one
// answer names all that is wrong with a list; then the copy is dropped.
//
// Invariant: rows in use are the first ones of their table and unused rows are zeros, as the loader
// leaves them.

#include "sys/cfg_edit.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "sys/cfg_edit_set.h"
#include "sys/cfg_load.h"
#include "sys/cfg_row.h"
#include "sys/cfg_value.h"
#include "sys/nearest.h"

const char *const cfg_edit_op_names[CFG_EDIT_OP_COUNT] = {
	[CFG_EDIT_SET] = "set",     [CFG_EDIT_INCLUDE] = "include", [CFG_EDIT_EXCLUDE] = "exclude",
	[CFG_EDIT_ADD] = "add",     [CFG_EDIT_PUT] = "put",         [CFG_EDIT_REMOVE] = "remove",
	[CFG_EDIT_CLEAR] = "clear",
};

// The edit under way.
struct editing {
	const struct cfg_edit *edit;
	const struct config_table *table;
	uint8_t *config; // the copy
	uint8_t *row;    // as the edit describes it: its key, and a new row before it goes in
	struct cfg_edit_errors errors;
};

// Errors begin with the table and the key as it was said: "port Ethernet0".
static void set_place(struct editing *ed)
{
	const size_t room = sizeof(ed->errors.place);
	const char *table = ed->table != NULL ? cfg_table_name(ed->table) : ed->edit->table;
	size_t len = (size_t)snprintf(ed->errors.place, room, "%.60s", table);

	for (uint32_t i = 0; i < ed->edit->key_count && len < room; i++)
		len += (size_t)snprintf(ed->errors.place + len, room - len, " %.60s",
					ed->edit->key[i]);
}

static int refuse_table(const struct editing *ed, const struct config_table *tables, uint32_t count)
{
	struct nearest near = nearest_to(ed->edit->table);

	for (uint32_t i = 0; i < count; i++)
		nearest_offer(&near, cfg_table_name(&tables[i]));
	if (near.best != NULL)
		return cfg_edit_refuse(&ed->errors, "no such table; did you mean %s?", near.best);
	return cfg_edit_refuse(&ed->errors, "no such table");
}

// Parses words of a key into the fields of `row`.
static int parse_key(const struct editing *ed, const char *const *key, uint32_t count, uint8_t *row)
{
	if (count > ed->table->knob_count)
		return cfg_edit_refuse(&ed->errors,
				       "the key has more words than its rows have knobs");
	for (uint32_t i = 0; i < count; i++) {
		const struct config_knob *knob = &ed->table->knobs[i];
		int rc;

		if (strcmp(key[i], "-") == 0 && strcmp(knob->def, "!") != 0)
			continue; // the row has the default already
		rc = cfg_edit_parse(knob, key[i], row, &ed->errors);
		if (rc != 0)
			return rc;
	}
	return 0;
}

static bool matches(const struct config_table *table, const uint8_t *key, uint32_t count,
		    const uint8_t *row)
{
	for (uint32_t i = 0; i < count; i++) {
		if (!cfg_field_equal(&table->knobs[i], key, row))
			return false;
	}
	return true;
}

static int refuse_missing(const struct editing *ed, const uint8_t *key, uint32_t count)
{
	char label[CFG_LABEL_BYTES];
	char wanted[CFG_LABEL_BYTES];
	char best[NEAREST_WORD_BYTES] = "";
	struct nearest near;

	cfg_row_label(ed->table, key, wanted);
	near = nearest_to(wanted);
	for (uint32_t i = 0; i < cfg_row_count(ed->table, ed->config); i++) {
		cfg_row_label(ed->table, cfg_row_const(ed->table, ed->config, i), label);
		nearest_offer(&near, label);
		if (near.best == label) {
			snprintf(best, sizeof(best), "%.*s", NEAREST_WORD_BYTES - 1, label);
			near.best = best;
		}
	}
	if (near.best != NULL)
		return cfg_edit_refuse(&ed->errors, "no such row; did you mean %s?", best);
	return cfg_edit_refuse(&ed->errors, "no such row");
}

static int refuse_many(const struct editing *ed, uint32_t found)
{
	char all[512];

	cfg_knob_list(ed->table, sizeof(all), all);
	return cfg_edit_refuse(&ed->errors, "fits %u rows; say more of: %s", found, all);
}

// The row that a key names: 0 and *at, or an error that has been said. Without `must`, -ENOENT
// when there is none and nothing said.
static int find_row(const struct editing *ed, const uint8_t *key, uint32_t count, bool must,
		    uint32_t *at)
{
	const uint32_t rows = cfg_row_count(ed->table, ed->config);
	uint32_t found = 0;

	for (uint32_t i = 0; i < rows; i++) {
		if (!matches(ed->table, key, count, cfg_row_const(ed->table, ed->config, i)))
			continue;
		if (found++ == 0)
			*at = i;
	}
	if (found > 1)
		return refuse_many(ed, found);
	if (found == 1)
		return 0;
	return must ? refuse_missing(ed, key, count) : -ENOENT;
}

// Another row than `at` with the same key.
static int check_unique(const struct editing *ed, uint32_t at, const uint8_t *row)
{
	char label[CFG_LABEL_BYTES];

	for (uint32_t i = 0; i < cfg_row_count(ed->table, ed->config); i++) {
		if (ed->table->key_count == 0 || i == at ||
		    !cfg_key_equal(ed->table, row, cfg_row_const(ed->table, ed->config, i)))
			continue;
		cfg_row_label(ed->table, row, label);
		return cfg_edit_refuse(&ed->errors, "there is a row %s already", label);
	}
	return 0;
}

// Changes knobs of a row that is there. The row is whole before it goes back.
static int change_row(struct editing *ed, uint32_t at)
{
	uint8_t *row = cfg_row(ed->table, ed->config, at);
	bool renamed;
	int rc;

	memcpy(ed->row, row, ed->table->row_bytes);
	rc = cfg_edit_settings(ed->table, ed->edit, ed->row, NULL, &ed->errors);
	if (rc != 0)
		return rc;
	renamed = !cfg_key_equal(ed->table, ed->row, row);
	if (renamed)
		rc = check_unique(ed, at, ed->row);
	if (rc == 0)
		memcpy(row, ed->row, ed->table->row_bytes);
	return rc;
}

static int check_given(const struct editing *ed, const bool *given)
{
	char allowed[256];
	int rc = 0;

	for (uint32_t i = 0; i < ed->table->knob_count; i++) {
		const struct config_knob *knob = &ed->table->knobs[i];

		if (given[i] || strcmp(knob->def, "!") != 0)
			continue;
		cfg_value_allowed(knob, sizeof(allowed), allowed);
		rc = cfg_edit_refuse(&ed->errors, "%s: missing; allowed: %s", knob->key, allowed);
	}
	return rc;
}

// Where the new row goes.
static int find_place(const struct editing *ed, uint32_t *at)
{
	uint8_t *key;
	int rc;

	*at = cfg_row_count(ed->table, ed->config);
	if (ed->edit->before_count == 0)
		return 0;
	key = malloc(ed->table->row_bytes);
	if (key == NULL)
		return -ENOMEM;
	cfg_row_default(ed->table, key);
	rc = parse_key(ed, ed->edit->before, ed->edit->before_count, key);
	if (rc == 0)
		rc = find_row(ed, key, ed->edit->before_count, true, at);
	free(key);
	return rc;
}

// The row's key is in ed->row.
static int add_row(struct editing *ed)
{
	const uint32_t rows = cfg_row_count(ed->table, ed->config);
	bool given[CFG_EDIT_KNOB_MAX] = { 0 };
	uint8_t *row;
	uint32_t at;
	int rc;

	for (uint32_t i = 0; i < ed->edit->key_count; i++)
		given[i] = true;
	rc = cfg_edit_settings(ed->table, ed->edit, ed->row, given, &ed->errors);
	if (rc == 0)
		rc = check_given(ed, given);
	if (rc == 0)
		rc = check_unique(ed, UINT32_MAX, ed->row);
	if (rc == 0)
		rc = find_place(ed, &at);
	if (rc != 0)
		return rc;
	if (rows == ed->table->row_max)
		return cfg_edit_refuse(&ed->errors, "the table is full: it has %u rows", rows);
	row = cfg_row(ed->table, ed->config, at);
	memmove(row + ed->table->row_bytes, row, (size_t)(rows - at) * ed->table->row_bytes);
	memcpy(row, ed->row, ed->table->row_bytes);
	cfg_set_row_count(ed->table, ed->config, rows + 1);
	return 0;
}

static void remove_row(struct editing *ed, uint32_t at)
{
	const uint32_t left = cfg_row_count(ed->table, ed->config) - 1;
	uint8_t *row = cfg_row(ed->table, ed->config, at);

	memmove(row, row + ed->table->row_bytes, (size_t)(left - at) * ed->table->row_bytes);
	memset(cfg_row(ed->table, ed->config, left), 0, ed->table->row_bytes);
	cfg_set_row_count(ed->table, ed->config, left);
}

static int clear_rows(struct editing *ed)
{
	for (uint32_t i = cfg_row_count(ed->table, ed->config); i-- > 0;) {
		if (matches(ed->table, ed->row, ed->edit->key_count,
			    cfg_row_const(ed->table, ed->config, i)))
			remove_row(ed, i);
	}
	return 0;
}

static int apply_top(struct editing *ed)
{
	if (ed->edit->key_count > 0)
		return cfg_edit_refuse(&ed->errors, "the top level has no rows");
	switch (ed->edit->op) {
	case CFG_EDIT_SET:
	case CFG_EDIT_PUT:
	case CFG_EDIT_INCLUDE:
	case CFG_EDIT_EXCLUDE: return change_row(ed, 0);
	case CFG_EDIT_ADD:
	case CFG_EDIT_REMOVE:
	case CFG_EDIT_CLEAR:
	case CFG_EDIT_OP_COUNT: break;
	}
	return cfg_edit_refuse(&ed->errors, "the top level has no rows");
}

static int apply_row(struct editing *ed)
{
	const enum cfg_edit_op op = ed->edit->op;
	uint32_t at = 0;
	int rc = parse_key(ed, ed->edit->key, ed->edit->key_count, ed->row);

	if (rc != 0)
		return rc;
	if (op == CFG_EDIT_CLEAR)
		return clear_rows(ed);
	if (op == CFG_EDIT_ADD)
		return add_row(ed);
	if (ed->edit->key_count == 0)
		return cfg_edit_refuse(&ed->errors, "which row? Its key begins with %s",
				       ed->table->knobs[0].key);
	rc = find_row(ed, ed->row, ed->edit->key_count, op != CFG_EDIT_PUT, &at);
	if (rc == -ENOENT)
		return add_row(ed);
	if (rc == 0 && op == CFG_EDIT_REMOVE)
		remove_row(ed, at);
	else if (rc == 0)
		rc = change_row(ed, at);
	return rc;
}

static int apply(struct editing *ed)
{
	int rc;

	WEFT_CHECK(ed->table->knob_count <= CFG_EDIT_KNOB_MAX);
	ed->row = malloc(ed->table->row_bytes);
	if (ed->row == NULL)
		return -ENOMEM;
	cfg_row_default(ed->table, ed->row);
	rc = ed->table->key_count == 0 ? apply_top(ed) : apply_row(ed);
	free(ed->row);
	return rc;
}

static int apply_all(uint8_t *config, const struct config_table *tables, uint32_t count,
		     const struct cfg_edit *edits, uint32_t edit_count, FILE *errors)
{
	uint32_t wrong = 0;

	for (uint32_t i = 0; i < edit_count && wrong < CFG_EDIT_ERRORS_MAX; i++) {
		struct editing ed = {
			.edit = &edits[i],
			.table = cfg_find_table(tables, count, edits[i].table),
			.config = config,
			.errors = { .out = errors },
		};
		int rc;

		set_place(&ed);
		rc = ed.table != NULL ? apply(&ed) : refuse_table(&ed, tables, count);
		if (rc == -ENOMEM)
			return rc;
		wrong += rc != 0;
	}
	return wrong > 0 ? -EINVAL : 0;
}

int cfg_edit_apply(void *config, const struct config_table *tables, uint32_t count,
		   const struct cfg_edit *edits, uint32_t edit_count, FILE *errors)
{
	const size_t bytes = cfg_bytes(tables, count);
	uint8_t *copy = malloc(bytes);
	int rc;

	if (copy == NULL)
		return -ENOMEM;
	memcpy(copy, config, bytes);
	rc = apply_all(copy, tables, count, edits, edit_count, errors);
	if (rc == 0)
		memcpy(config, copy, bytes);
	free(copy);
	return rc;
}
