// SPDX-License-Identifier: BSD-3-Clause
//
// A small configuration of the tests' own, one knob of each kind, so that tests of the loader do
// not change with the schema; and how to load a text into it.
#pragma once

#include <stdlib.h>
#include <string.h>

#include "sys/cfg_load.h"
#include "tests/table.h"

enum { ITEM_MAX = 3, TEXT_BYTES = 8192 };

struct item {
	uint32_t line;
	CONFIG_FIELD(NAME, name);
	CONFIG_FIELD(COUNT, weight);
	CONFIG_FIELD(MASK8, pg);
};

struct top {
	uint32_t line;
	CONFIG_FIELD(NAME, name);
	CONFIG_FIELD(TEXT, note);
	CONFIG_FIELD(COUNT, count);
	CONFIG_FIELD(INT, level);
	CONFIG_FIELD(BYTES, size);
	CONFIG_FIELD(BPS, speed);
	CONFIG_FIELD(NS, age);
	CONFIG_FIELD(METRES, cable);
	CONFIG_FIELD(PPM, share);
	CONFIG_FIELD(BOOL, on);
	CONFIG_FIELD(ENUM, pause);
	CONFIG_FIELD(MASK8, set);
	CONFIG_FIELD(BYTES, limit);
	CONFIG_FIELD(INT, th);
};

struct config {
	struct top top;
	uint32_t item_count;
	struct item item[ITEM_MAX];
};

#define KNOB(type, key, kind, def, min, max, words)                                                \
	{                                                                                          \
#		key, def, words, "", min, max, offsetof(struct type, key), CONFIG_##kind          \
	}

static const struct config_knob top_knobs[] = {
	KNOB(top, name, NAME, "weft", 0, 0, ""),
	KNOB(top, note, TEXT, "", 0, 0, ""),
	KNOB(top, count, COUNT, "7", 1, INT64_MAX, ""),
	KNOB(top, level, INT, "-1", -8, 7, ""),
	KNOB(top, size, BYTES, "2K", 64, 9216, ""),
	KNOB(top, speed, BPS, "0", 0, 400000000000, ""),
	KNOB(top, age, NS, "300s", 1000, 86400000000000, ""),
	KNOB(top, cable, METRES, "5m", 0, 2000, ""),
	KNOB(top, share, PPM, "5%", 0, 1000000, ""),
	KNOB(top, on, BOOL, "true", 0, 1, ""),
	KNOB(top, pause, ENUM, "frames", 0, 0, "frames|hold"),
	KNOB(top, set, MASK8, "", 0, 255, ""),
	KNOB(top, limit, BYTES, "-", 0, 1 << 20, ""),
	KNOB(top, th, INT, "-", -8, 7, ""),
};

static const struct config_knob item_knobs[] = {
	KNOB(item, name, NAME, "!", 0, 0, ""),
	KNOB(item, weight, COUNT, "1", 1, 100, ""),
	KNOB(item, pg, MASK8, "!", 0, 255, ""),
};

static const struct config_table tables[] = {
	{ "", top_knobs, TABLE_COUNT(top_knobs), sizeof(struct top), offsetof(struct config, top),
	  1, UINT32_MAX, 0, false },
	{ "item", item_knobs, TABLE_COUNT(item_knobs), sizeof(struct item),
	  offsetof(struct config, item), ITEM_MAX, offsetof(struct config, item_count), 1, true },
};

// The result of loading a text, with the file's name cut from the errors.
struct outcome {
	struct config config;
	int rc;
	char errors[TEXT_BYTES];
};

static inline void remove_all(char *text, const char *what)
{
	const size_t len = strlen(what);

	while ((text = strstr(text, what)) != NULL)
		memmove(text, text + len, strlen(text + len) + 1);
}

static inline void load_file(const char *path, struct outcome *out)
{
	FILE *errors = fmemopen(out->errors, sizeof(out->errors), "w");

	out->rc = cfg_load(path, tables, TABLE_COUNT(tables), &out->config, errors);
	fclose(errors);
}

static inline void load_text(const char *text, struct outcome *out)
{
	FILE *file = tmpfile();
	char path[32];

	memset(out, 0xaa, sizeof(*out));
	memset(out->errors, 0, sizeof(out->errors));
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fileno(file));
	fputs(text, file);
	fflush(file);
	load_file(path, out);
	remove_all(out->errors, path);
	fclose(file);
}

#define COUNT_RANGE "allowed: 1 to 9223372036854775807"
