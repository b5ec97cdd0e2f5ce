// SPDX-License-Identifier: BSD-3-Clause
//
// Metric names after the conventions of Prometheus (base units, "_total" on counters), values as
// exact decimals, labels escaped as the exposition format 0.0.4 says.

#include "sys/metrics_name.h"

#include <string.h>

#include "sys/counters_packed.h"
#include "tests/table.h"

static const struct {
	const char *object;
	const char *key;
	const char *want;
	const char *unit;
	uint32_t divisor;
} name_rows[] = {
	{ "port", "if_in_octets", "weft_port_if_in_bytes", "bytes", 1 },
	{ "port", "if_in_ucast_pkts", "weft_port_if_in_ucast_packets", NULL, 1 },
	{ "priority", "rx_pause_duration_us", "weft_priority_rx_pause_duration_seconds", "seconds",
	  1000000 },
	{ "queue", "delay_watermark_ns", "weft_queue_delay_watermark_seconds", "seconds",
	  1000000000 },
	{ "pool", "watermark_bytes", "weft_pool_watermark_bytes", "bytes", 1 },
	{ "switch", "mac_moves", "weft_switch_mac_moves", NULL, 1 },
	{ "port", "_us", "weft_port__us", NULL, 1 }, // a suffix alone is no unit
};

TABLE_TEST(metrics, names, row, name_rows)
{
	struct metric_name name;

	metric_name_of(row->object, row->key, &name);
	cr_assert_str_eq(name.family, row->want);
	cr_assert_eq(name.divisor, row->divisor);
	cr_assert_eq(name.unit == NULL, row->unit == NULL);
	if (row->unit != NULL)
		cr_assert_str_eq(name.unit, row->unit);
}

enum { NAMES_MAX = 512 };

// Adds the names of an object's rows to those seen, each for the first time.
static uint32_t see_names(const struct counters_table *table, char (*seen)[METRIC_NAME_BYTES],
			  uint32_t count)
{
	for (uint32_t i = 0; i < table->count; i++) {
		struct metric_name name;

		metric_name_of(table->object, table->rows[i].key, &name);
		cr_assert_lt(strlen(name.family), METRIC_NAME_BYTES - 1);
		for (uint32_t k = 0; k < count; k++)
			cr_assert_str_neq(name.family, seen[k]);
		cr_assert_lt(count, NAMES_MAX);
		memcpy(seen[count++], name.family, METRIC_NAME_BYTES);
	}
	return count;
}

// promtool and OpenMetrics both refuse two families of one name.
Test(metrics, no_two_rows_have_one_name)
{
	static char seen[NAMES_MAX][METRIC_NAME_BYTES];
	uint32_t count = 0;

	for (uint32_t object = 0; object < COUNTERS_OBJECTS; object++)
		count = see_names(&counters_tables[object], seen, count);
	cr_assert_gt(count, 50);
}

static const struct {
	uint64_t value;
	uint32_t divisor;
	const char *want;
} value_rows[] = {
	{ 0, 1, "0" },
	{ UINT64_MAX, 1, "18446744073709551615" },
	{ 0, 1000000, "0.000000" },
	{ 1, 1000000, "0.000001" },
	{ 1500000, 1000000, "1.500000" },
	{ 12000000001, 1000000000, "12.000000001" },
	{ UINT64_MAX, 1000000000, "18446744073.709551615" },
};

TABLE_TEST(metrics, values, row, value_rows)
{
	char out[METRIC_VALUE_BYTES];

	cr_assert_eq(metric_value(row->value, row->divisor, out), strlen(row->want));
	cr_assert_str_eq(out, row->want);
}

static const struct {
	const char *text;
	size_t bytes;
	const char *want;
} label_rows[] = {
	{ "rack 7", 64, "rack 7" },   { "a\"b\\c\nd", 64, "a\\\"b\\\\c\\nd" }, { "", 64, "" },
	{ "abcdef", 5, "abc" },   // room for an escape is kept
	{ "abc\"def", 5, "abc" }, // never half of one
	{ "abc\"def", 6, "abc\\\"" },
};

TABLE_TEST(metrics, labels, row, label_rows)
{
	char out[64];

	cr_assert_eq(metric_label(row->text, out, row->bytes), strlen(row->want));
	cr_assert_str_eq(out, row->want);
}
