// SPDX-License-Identifier: BSD-3-Clause
//
// Knobs of one row: set, back to the default, and members into and out of sets (MASK8) and lists of
// words (TEXT). A member that is there already, or is not there to be taken out, is no error: an
// edit says how things should be, not how they were.

#include "sys/cfg_edit_set.h"

#include <errno.h>
#include <stdarg.h>
#include <string.h>

#include "sys/cfg_row.h"
#include "sys/cfg_value.h"
#include "sys/nearest.h"

int cfg_edit_refuse(const struct cfg_edit_errors *errors, const char *format, ...)
{
	va_list args;

	fprintf(errors->out, "%s: ", errors->place);
	va_start(args, format);
	vfprintf(errors->out, format, args);
	va_end(args);
	fputc('\n', errors->out);
	return -EINVAL;
}

int cfg_edit_parse(const struct config_knob *knob, const char *text, uint8_t *row,
		   const struct cfg_edit_errors *errors)
{
	const enum cfg_verdict verdict = cfg_value_parse(knob, text, row + knob->offset);
	char allowed[256];

	if (verdict == CFG_VALUE_OK)
		return 0;
	if (verdict == CFG_VALUE_CONTROL)
		text = "...";
	cfg_value_allowed(knob, sizeof(allowed), allowed);
	return cfg_edit_refuse(errors, "%s: \"%.60s\" %s; allowed: %s", knob->key, text,
			       cfg_verdict_text(verdict), allowed);
}

static int refuse_knob(const struct config_table *table, const char *key,
		       const struct cfg_edit_errors *errors)
{
	struct nearest near = nearest_to(key);
	char all[1024];

	for (uint32_t i = 0; i < table->knob_count; i++)
		nearest_offer(&near, table->knobs[i].key);
	if (near.best != NULL)
		return cfg_edit_refuse(errors, "%.60s: unknown; did you mean %s?", key, near.best);
	cfg_knob_list(table, sizeof(all), all);
	return cfg_edit_refuse(errors, "%.60s: unknown; allowed: %s", key, all);
}

// The next word of a list, its length in *len; NULL at the end.
static const char *next_word(const char *text, size_t *len)
{
	text += strspn(text, " ");
	*len = strcspn(text, " ");
	return *len > 0 ? text : NULL;
}

static bool has_word(const char *list, const char *word, size_t len)
{
	size_t n;

	for (const char *at = list; (at = next_word(at, &n)) != NULL; at += n) {
		if (n == len && memcmp(at, word, len) == 0)
			return true;
	}
	return false;
}

// Adds a word to the list in `out`; false when there is no room.
static bool append_word(char out[CONFIG_TEXT_BYTES], const char *word, size_t len)
{
	const size_t used = strlen(out);
	const size_t gap = used > 0;

	if (used + gap + len >= CONFIG_TEXT_BYTES)
		return false;
	if (gap > 0)
		out[used] = ' ';
	memcpy(out + used + gap, word, len);
	out[used + gap + len] = '\0';
	return true;
}

// The words of `have`, with or without those of `words`, into `out`.
static bool merge_words(const char *have, const char *words, bool include,
			char out[CONFIG_TEXT_BYTES])
{
	bool fits = true;
	size_t len;

	out[0] = '\0';
	for (const char *at = have; (at = next_word(at, &len)) != NULL; at += len) {
		if (include || !has_word(words, at, len))
			fits = fits && append_word(out, at, len);
	}
	for (const char *at = words; include && (at = next_word(at, &len)) != NULL; at += len) {
		if (!has_word(out, at, len))
			fits = fits && append_word(out, at, len);
	}
	return fits;
}

static int merge_text(const struct config_knob *knob, const char *words, bool include, uint8_t *row,
		      const struct cfg_edit_errors *errors)
{
	const char *have = (const char *)row + knob->offset;
	char text[CONFIG_TEXT_BYTES];

	if (merge_words(have, words, include, text))
		return cfg_edit_parse(knob, text, row, errors);
	return cfg_edit_refuse(errors,
			       "%s: \"%.60s\" is too long with what is there; allowed: %d bytes",
			       knob->key, words, CONFIG_TEXT_BYTES - 1);
}

static int merge_mask(const struct config_knob *knob, const char *value, bool include, uint8_t *row,
		      const struct cfg_edit_errors *errors)
{
	uint64_t have;
	uint64_t mask;
	int rc;

	memcpy(&have, row + knob->offset, sizeof(have));
	rc = cfg_edit_parse(knob, value, row, errors);
	if (rc != 0)
		return rc;
	memcpy(&mask, row + knob->offset, sizeof(mask));
	have = include ? have | mask : have & ~mask;
	memcpy(row + knob->offset, &have, sizeof(have));
	return 0;
}

static int merge(const struct config_knob *knob, const char *value, bool include, uint8_t *row,
		 const struct cfg_edit_errors *errors)
{
	if (value != NULL && knob->kind == CONFIG_MASK8)
		return merge_mask(knob, value, include, row, errors);
	if (value != NULL && knob->kind == CONFIG_TEXT)
		return merge_text(knob, value, include, row, errors);
	return cfg_edit_refuse(errors, "%s: is no set and no list of words; give it a whole value",
			       knob->key);
}

static int set(const struct config_knob *knob, const char *value, uint8_t *row,
	       const struct cfg_edit_errors *errors)
{
	if (value != NULL)
		return cfg_edit_parse(knob, value, row, errors);
	if (strcmp(knob->def, "!") != 0) {
		cfg_value_default(knob, row + knob->offset);
		return 0;
	}
	return cfg_edit_refuse(errors, "%s: must be given, it has no default", knob->key);
}

int cfg_edit_settings(const struct config_table *table, const struct cfg_edit *edit, uint8_t *row,
		      bool *given, const struct cfg_edit_errors *errors)
{
	const bool include = edit->op == CFG_EDIT_INCLUDE;
	int worst = 0;

	for (uint32_t i = 0; i < edit->setting_count; i++) {
		const struct cfg_setting *setting = &edit->setting[i];
		const struct config_knob *knob = cfg_find_knob(table, setting->knob);
		int rc;

		if (knob == NULL)
			rc = refuse_knob(table, setting->knob, errors);
		else if (include || edit->op == CFG_EDIT_EXCLUDE)
			rc = merge(knob, setting->value, include, row, errors);
		else
			rc = set(knob, setting->value, row, errors);
		if (knob != NULL && given != NULL)
			given[knob - table->knobs] = true;
		if (rc != 0)
			worst = rc;
	}
	return worst;
}
