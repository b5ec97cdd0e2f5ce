// SPDX-License-Identifier: BSD-3-Clause
//
// The last word of a key is its unit in SAI's or our spelling; the table turns it into the one that
// Prometheus knows (its "metric and label naming" and the OpenMetrics specification 1.0).

#include "sys/metrics_name.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static const struct {
	const char *suffix;
	const char *word;
	const char *unit;
	uint32_t divisor;
} units[] = {
	{ "_us", "_seconds", "seconds", 1000000 }, { "_ns", "_seconds", "seconds", 1000000000 },
	{ "_octets", "_bytes", "bytes", 1 },       { "_bytes", "_bytes", "bytes", 1 },
	{ "_pkts", "_packets", NULL, 1 },
};

void metric_name_of(const char *object, const char *key, struct metric_name *out)
{
	size_t len = strlen(key);
	const char *word = "";

	out->unit = NULL;
	out->divisor = 1;
	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
		const size_t suffix = strlen(units[i].suffix);

		if (len <= suffix || strcmp(key + len - suffix, units[i].suffix) != 0)
			continue;
		len -= suffix;
		word = units[i].word;
		out->unit = units[i].unit;
		out->divisor = units[i].divisor;
		break;
	}
	snprintf(out->family, sizeof(out->family), "weft_%s_%.*s%s", object, (int)len, key, word);
}

size_t metric_value(uint64_t value, uint32_t divisor, char out[METRIC_VALUE_BYTES])
{
	size_t len = (size_t)snprintf(out, METRIC_VALUE_BYTES, "%" PRIu64, value / divisor);

	if (divisor == 1)
		return len;
	out[len++] = '.';
	for (divisor /= 10; divisor > 0; divisor /= 10)
		out[len++] = (char)('0' + value / divisor % 10);
	out[len] = '\0';
	return len;
}

size_t metric_label(const char *text, char *out, size_t bytes)
{
	size_t len = 0;

	for (; *text != '\0' && len + 2 < bytes; text++) {
		const bool line = *text == '\n';

		if (line || *text == '\\' || *text == '"')
			out[len++] = '\\';
		out[len++] = line ? 'n' : *text;
	}
	out[len] = '\0';
	return len;
}
