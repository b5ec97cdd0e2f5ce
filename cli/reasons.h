// SPDX-License-Identifier: BSD-3-Clause
//
// Reasons of drops by the rows of schema/drops.def: an id for code that means one of them, so that
// a renamed row is a compile error there, and the row behind a name of a switch's answer.
#pragma once

enum reason_id {
#define DROP(name, side, doc) REASON_##name,
#include "schema/drops.def"
#undef DROP
	REASON_COUNT,
};

struct reason {
	const char *name;
	const char *side; // "IN" or "OUT"
	const char *doc;
};

extern const struct reason reasons[REASON_COUNT];

// The row of a name; REASON_COUNT: a switch newer than this command has reasons unknown to it.
enum reason_id reason_find(const char *name);
