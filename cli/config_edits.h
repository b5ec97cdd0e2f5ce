// SPDX-License-Identifier: BSD-3-Clause
//
// The words of one edit, as JSON for the control socket:
//
//	set|add|put TABLE KEY... KNOB=VALUE...		put adds the row if there is none
//	set TABLE KEY... KNOB+=VALUE KNOB-=VALUE	members into and out of a set
//	set KNOB=VALUE					of the switch itself
//	add TABLE KEY... KNOB=VALUE... before KEY...	in a table whose order counts
//	unset TABLE KEY... KNOB[,KNOB]...		back to the default
//	remove TABLE KEY...
//	clear TABLE [KEY...]				every row that the key names, if any
#pragma once

#include <jansson.h>

#include "base/types.h"

// True when the word is an operation of an edit.
bool config_is_edit(const char *word);

// Appends the edits that the words make to a list; 0, or -EINVAL after a line on stderr.
int config_edit_words(const char *const *words, uint32_t count, json_t *edits);
