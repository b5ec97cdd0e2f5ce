// SPDX-License-Identifier: BSD-3-Clause
//
// Configurations of random rows over the real schema: whatever a file could hold, whether or not it
// makes sense together. Values are drawn from the descriptors: both ends of each range, round
// numbers and odd ones, names with everything a string may hold.
#pragma once

#include <string.h>

#include "base/rng.h"
#include "dataplane/core/config.h"

enum { RANDOM_ROWS_MAX = 4 };

static inline void random_text(struct rng *rng, size_t bytes, char *out)
{
	const uint32_t len = 1 + rng_below(rng, (uint32_t)bytes - 1);

	memset(out, 0, bytes);
	for (uint32_t i = 0; i < len; i++) {
		do {
			out[i] = (char)(' ' + rng_below(rng, 256 - ' '));
		} while (out[i] == 0x7f);
	}
}

static inline uint32_t word_count(const char *words)
{
	uint32_t count = 1;

	for (; *words != '\0'; words++)
		count += *words == '|';
	return count;
}

static inline int64_t random_number(struct rng *rng, const struct config_knob *knob)
{
	const uint64_t span = (uint64_t)knob->max - (uint64_t)knob->min;
	const uint32_t shift = rng_below(rng, 64);
	uint64_t above = rng_next64(rng) >> shift;

	if (rng_below(rng, 2) == 0)
		above -= above % 1000;
	if (rng_below(rng, 8) == 0)
		return rng_below(rng, 2) == 0 ? knob->min : knob->max;
	return (int64_t)((uint64_t)knob->min + (above > span ? span : above));
}

static inline uint64_t random_value(struct rng *rng, const struct config_knob *knob)
{
	if (strcmp(knob->def, "-") == 0 && rng_below(rng, 2) == 0)
		return knob->kind == CONFIG_INT ? (uint64_t)CONFIG_UNSET_INT : CONFIG_UNSET;
	if (knob->kind == CONFIG_ENUM)
		return rng_below(rng, word_count(knob->words));
	if (knob->kind == CONFIG_MASK8)
		return 1 + rng_below(rng, 255);
	return (uint64_t)random_number(rng, knob);
}

static inline struct ip_prefix random_prefix(struct rng *rng, const struct config_knob *knob)
{
	struct ip_prefix prefix = { .family = (uint8_t)(IP_V4 + rng_below(rng, 2)) };
	const uint32_t bits = ip_family_bits(prefix.family);
	const uint32_t kept = knob->kind == CONFIG_PREFIX ? rng_below(rng, bits + 1) : bits;

	prefix.len = (uint8_t)(knob->kind == CONFIG_PREFIX ? kept : rng_below(rng, bits + 1));
	for (uint32_t i = 0; i < kept; i++)
		prefix.address[i / 8] |= (uint8_t)(rng_below(rng, 2) << (7 - i % 8));
	return prefix;
}

static inline void random_row(struct rng *rng, const struct config_table *table, uint8_t *row)
{
	for (uint32_t i = 0; i < table->knob_count; i++) {
		const struct config_knob *knob = &table->knobs[i];
		uint8_t *field = row + knob->offset;

		if (knob->kind == CONFIG_NAME) {
			random_text(rng, CONFIG_NAME_BYTES, (char *)field);
		} else if (knob->kind == CONFIG_TEXT) {
			random_text(rng, CONFIG_TEXT_BYTES, (char *)field);
		} else if (knob->kind == CONFIG_PREFIX || knob->kind == CONFIG_ADDRESS) {
			const struct ip_prefix prefix = random_prefix(rng, knob);

			memcpy(field, &prefix, sizeof(prefix));
		} else {
			const uint64_t value = random_value(rng, knob);

			memcpy(field, &value, sizeof(value));
		}
	}
}

static inline void random_table(struct rng *rng, const struct config_table *table, uint8_t *config)
{
	uint32_t count = rng_below(rng, RANDOM_ROWS_MAX + 1);

	if (table->count_offset == UINT32_MAX)
		count = 1;
	else
		memcpy(config + table->count_offset, &count, sizeof(count));
	for (uint32_t i = 0; i < count; i++)
		random_row(rng, table, config + table->rows_offset + i * table->row_bytes);
}

static inline void random_rows(struct rng *rng, struct sw_config *config)
{
	memset(config, 0, sizeof(*config));
	for (uint32_t t = 0; t < CONFIG_TABLE_COUNT; t++)
		random_table(rng, &config_tables[t], (uint8_t *)config);
}
