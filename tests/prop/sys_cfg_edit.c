// SPDX-License-Identifier: BSD-3-Clause
//
// Properties of edits and differences over the real schema.
//
//   - Edits reach every configuration from every other, and then there is no difference left.
//   - Edits that are undone one by one leave the bytes as they were; in between there is a
//     difference exactly when bytes differ.
//   - What edits leave can be dumped and loaded again.

#include "dataplane/core/config.h"
#include "sys/cfg_diff.h"
#include "sys/cfg_edit.h"
#include "sys/cfg_row.h"
#include "sys/cfg_value.h"
#include "tests/cfg_again.h"
#include "tests/prop/random_rows.h"
#include "tests/table.h"

enum { ROUNDS = 6, EDITS = 24, KNOBS_MAX = 64 };

// An edit and the text it points at.
struct written {
	struct cfg_edit edit;
	char key[CFG_EDIT_KEY_MAX][CFG_VALUE_TEXT_BYTES];
	char before[CFG_EDIT_KEY_MAX][CFG_VALUE_TEXT_BYTES];
	char value[KNOBS_MAX][CFG_VALUE_TEXT_BYTES];
};

static void write_start(struct written *w, const struct config_table *table, enum cfg_edit_op op)
{
	w->edit = (struct cfg_edit){ .op = op, .table = table->name };
}

// The key of a row in full.
static uint32_t write_words(const struct config_table *table, const uint8_t *row,
			    char (*text)[CFG_VALUE_TEXT_BYTES], const char **words)
{
	for (uint32_t i = 0; i < table->key_count; i++) {
		const struct config_knob *knob = &table->knobs[i];

		words[i] = cfg_value_unset(knob, row + knob->offset) ? "-" : text[i];
		if (words[i] == text[i])
			cfg_value_format(knob, row + knob->offset, text[i]);
	}
	return table->key_count;
}

static void write_knob(struct written *w, const struct config_knob *knob, const uint8_t *row)
{
	const uint32_t at = w->edit.setting_count++;

	w->edit.setting[at] = (struct cfg_setting){ .knob = knob->key };
	if (cfg_value_unset(knob, row + knob->offset))
		return;
	cfg_value_format(knob, row + knob->offset, w->value[at]);
	w->edit.setting[at].value = w->value[at];
}

static void write_knobs(struct written *w, const struct config_table *table, const uint8_t *row)
{
	for (uint32_t i = 0; i < table->knob_count; i++)
		write_knob(w, &table->knobs[i], row);
}

static int apply(struct sw_config *config, const struct written *w)
{
	return cfg_edit_apply(config, config_tables, CONFIG_TABLE_COUNT, &w->edit, 1, stderr);
}

static int64_t differences(const struct sw_config *from, const struct sw_config *to)
{
	FILE *nowhere = fopen("/dev/null", "w");
	const int64_t lines = cfg_diff(from, to, config_tables, CONFIG_TABLE_COUNT, nowhere);

	fclose(nowhere);
	return lines;
}

static void clear_lines(struct sw_config *config)
{
	cfg_clear_lines(config, config_tables, CONFIG_TABLE_COUNT);
}

// Removes rows whose key an earlier one has: edits cannot make such rows.
static void make_unique(const struct config_table *table, struct sw_config *config)
{
	for (uint32_t i = cfg_row_count(table, config); i-- > 1;) {
		const uint32_t left = cfg_row_count(table, config) - 1;
		uint8_t *row = cfg_row(table, config, i);
		bool twice = false;

		for (uint32_t k = 0; k < i; k++)
			twice |= cfg_key_equal(table, row, cfg_row(table, config, k));
		if (!twice)
			continue;
		memmove(row, row + table->row_bytes, (size_t)(left - i) * table->row_bytes);
		memset(cfg_row(table, config, left), 0, table->row_bytes);
		cfg_set_row_count(table, config, left);
	}
}

static struct sw_config *random_unique(struct rng *rng)
{
	struct sw_config *config = malloc(sizeof(*config));

	random_rows(rng, config);
	for (uint32_t i = 1; i < CONFIG_TABLE_COUNT; i++)
		make_unique(&config_tables[i], config);
	return config;
}

// Makes a table of `config` what it is in `want`.
static void rebuild(const struct config_table *table, struct sw_config *config,
		    const struct sw_config *want, struct written *w)
{
	const bool top = table->key_count == 0;

	write_start(w, table, top ? CFG_EDIT_SET : CFG_EDIT_CLEAR);
	if (top)
		write_knobs(w, table, cfg_row_const(table, want, 0));
	cr_assert_eq(apply(config, w), 0);
	for (uint32_t i = 0; !top && i < cfg_row_count(table, want); i++) {
		write_start(w, table, CFG_EDIT_ADD);
		write_knobs(w, table, cfg_row_const(table, want, i));
		cr_assert_eq(apply(config, w), 0);
	}
}

SEED_TEST(cfg_edit, edits_reach_every_configuration, rng, 4)
{
	struct written *w = malloc(sizeof(*w));

	for (uint32_t i = 0; i < ROUNDS; i++) {
		struct sw_config *config = random_unique(rng);
		struct sw_config *want = random_unique(rng);

		cr_assert_gt(differences(config, want), 0);
		for (uint32_t t = 0; t < CONFIG_TABLE_COUNT; t++)
			rebuild(&config_tables[t], config, want, w);
		cr_assert_eq(differences(config, want), 0);
		cr_assert_eq(memcmp(config, want, sizeof(*want)), 0);
		free(want);
		free(config);
	}
	free(w);
}

// A random row that is not in the table yet.
static bool random_new_row(struct rng *rng, const struct config_table *table,
			   struct sw_config *config, uint8_t *row)
{
	memset(row, 0, table->row_bytes);
	random_row(rng, table, row);
	for (uint32_t i = 0; i < cfg_row_count(table, config); i++) {
		if (cfg_key_equal(table, row, cfg_row(table, config, i)))
			return false;
	}
	return cfg_row_count(table, config) < table->row_max;
}

// A new row somewhere, and its removal.
static bool write_add(struct rng *rng, const struct config_table *table, struct sw_config *config,
		      struct written *w, struct written *undo)
{
	const uint32_t at = rng_below(rng, cfg_row_count(table, config) + 1);
	uint8_t *row = malloc(table->row_bytes);
	const bool fits = random_new_row(rng, table, config, row);

	write_start(w, table, CFG_EDIT_ADD);
	write_knobs(w, table, row);
	if (at < cfg_row_count(table, config))
		w->edit.before_count = write_words(table, cfg_row(table, config, at), w->before,
						   w->edit.before);
	write_start(undo, table, CFG_EDIT_REMOVE);
	undo->edit.key_count = write_words(table, row, undo->key, undo->edit.key);
	free(row);
	return fits;
}

// The removal of a row, and the row in its place again.
static void write_remove(const struct config_table *table, struct sw_config *config, uint32_t at,
			 struct written *w, struct written *undo)
{
	write_start(undo, table, CFG_EDIT_ADD);
	write_knobs(undo, table, cfg_row(table, config, at));
	if (at + 1 < cfg_row_count(table, config))
		undo->edit.before_count = write_words(table, cfg_row(table, config, at + 1),
						      undo->before, undo->edit.before);
	write_start(w, table, CFG_EDIT_REMOVE);
	w->edit.key_count = write_words(table, cfg_row(table, config, at), w->key, w->edit.key);
}

// Another value for a knob that is not of the key, and the value it had.
static bool write_set(struct rng *rng, const struct config_table *table, struct sw_config *config,
		      uint32_t at, struct written *w, struct written *undo)
{
	uint8_t *other = calloc(1, table->row_bytes);
	uint8_t *row = cfg_row(table, config, at);
	const uint32_t rest = table->knob_count - table->key_count;
	const struct config_knob *knob = NULL;

	if (rest > 0)
		knob = &table->knobs[table->key_count + rng_below(rng, rest)];
	random_row(rng, table, other);
	write_start(w, table, CFG_EDIT_SET);
	write_start(undo, table, CFG_EDIT_SET);
	w->edit.key_count = write_words(table, row, w->key, w->edit.key);
	undo->edit.key_count = write_words(table, row, undo->key, undo->edit.key);
	if (knob != NULL) {
		write_knob(w, knob, other);
		write_knob(undo, knob, row);
	}
	free(other);
	return knob != NULL;
}

// One random edit of a random table and its opposite; false when the dice found none.
static bool write_random(struct rng *rng, struct sw_config *config, struct written *w,
			 struct written *undo)
{
	const struct config_table *table = &config_tables[rng_below(rng, CONFIG_TABLE_COUNT)];
	const uint32_t rows = cfg_row_count(table, config);
	const uint32_t kind = rng_below(rng, 3);
	const uint32_t at = rows > 0 ? rng_below(rng, rows) : 0;

	if (table->key_count > 0 && (rows == 0 || kind == 0))
		return write_add(rng, table, config, w, undo);
	if (table->key_count == 0 || kind == 1)
		return write_set(rng, table, config, at, w, undo);
	write_remove(table, config, at, w, undo);
	return true;
}

SEED_TEST(cfg_edit, undone_edits_leave_the_bytes, rng, 6)
{
	struct written *undo = malloc(EDITS * sizeof(*undo));
	struct written *w = malloc(sizeof(*w));
	struct sw_config *config = random_unique(rng);
	struct sw_config *first = malloc(sizeof(*first));
	uint32_t done = 0;

	*first = *config;
	for (uint32_t i = 0; i < EDITS; i++) {
		if (!write_random(rng, config, w, &undo[done]))
			continue;
		cr_assert_eq(apply(config, w), 0);
		done++;
		cr_assert_eq(differences(first, config) == 0,
			     memcmp(first, config, sizeof(*first)) == 0);
	}
	cr_assert_gt(done, EDITS / 2);
	cr_assert(cfg_again(config, config_tables, CONFIG_TABLE_COUNT, stderr));
	while (done-- > 0)
		cr_assert_eq(apply(config, &undo[done]), 0, "undo %u", done);
	clear_lines(config);
	clear_lines(first);
	cr_assert_eq(memcmp(first, config, sizeof(*first)), 0);
	cr_assert_eq(differences(first, config), 0);
	free(first);
	free(config);
	free(w);
	free(undo);
}
