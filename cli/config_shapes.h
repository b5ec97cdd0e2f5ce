// SPDX-License-Identifier: BSD-3-Clause
//
// Commands in the shapes of SONiC's tools, one row each, and what each says in the words of edits
// (cli/config_edits.h). No code runs per command.
#pragma once

#include <jansson.h>
#include <stdio.h>

#include "base/types.h"

// Words in capitals are values, "a|b" is either word; "{PORT}" puts a value into an edit, "{MS:ms}"
// with a unit when it is a plain number. Options stand anywhere behind "config":
//
//	--action,-a:action	takes a value; the first edit gets action=VALUE
//	--time:time:ms		likewise, with a unit for a plain number
//	-p:@PROFILE		takes a value, for {PROFILE}; must be given
//	-u:@U=1			takes none; must be given
//	--history:history=on	takes none; the first edit gets history=on
struct config_shape {
	const char *words;
	const char *options;
	const char *edits; // separated by " ; "
	const char *help;
};

extern const struct config_shape config_shapes[];
extern const uint32_t config_shape_count;

// Finds the shape that the words have and appends its edits. 0, or -EINVAL after a line on stderr,
// or -ENOENT and nothing said: the words begin several and are whole for none.
int config_shape_words(const char *const *words, uint32_t count, json_t *edits);

// Prints the shapes that begin with the words; their number.
uint32_t config_shape_help(const char *const *words, uint32_t count, FILE *out);
