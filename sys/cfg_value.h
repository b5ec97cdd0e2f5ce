// SPDX-License-Identifier: BSD-3-Clause
//
// One value of one knob between text and its field, by the descriptor of schema/config.h. The
// loader, the defaults, the dump and the command line share it, so a value is spelled and judged
// the same everywhere.
#pragma once

#include "schema/config.h"

enum cfg_verdict {
	CFG_VALUE_OK,
	CFG_VALUE_MALFORMED, // not of the knob's kind
	CFG_VALUE_BELOW,
	CFG_VALUE_ABOVE,
	CFG_VALUE_TOO_LONG,
	CFG_VALUE_EMPTY,   // but the knob is mandatory
	CFG_VALUE_CONTROL, // a control character in a name or text
};

enum { CFG_VALUE_TEXT_BYTES = CONFIG_TEXT_BYTES };

// Bytes of a field of this kind (schema/config.h).
size_t cfg_field_bytes(enum config_kind kind);

// "is too small" and so on.
const char *cfg_verdict_text(enum cfg_verdict verdict);

// Stores `text` into `field`, which has the size of the knob's kind (schema/config.h); names and
// texts are padded with zeros. Anything but CFG_VALUE_OK leaves the field as it was.
enum cfg_verdict cfg_value_parse(const struct config_knob *knob, const char *text, void *field);

// Stores the knob's default, or its kind's "unset". A mandatory knob gets zeros.
void cfg_value_default(const struct config_knob *knob, void *field);

// True when the field holds "unset".
bool cfg_value_unset(const struct config_knob *knob, const void *field);

// Writes the canonical text of a field that is not unset; cfg_value_parse() reads it back. `out`
// has CFG_VALUE_TEXT_BYTES bytes.
void cfg_value_format(const struct config_knob *knob, const void *field, char *out);

// Writes what is allowed, as in "68 to 9K" or "frames or hold".
void cfg_value_allowed(const struct config_knob *knob, size_t out_bytes, char *out);
