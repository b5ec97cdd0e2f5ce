// SPDX-License-Identifier: BSD-3-Clause
//
// What a client of the control socket asks to change, from the JSON of its request to edits
// (sys/cfg_edit.h): any bytes in, edits or words out, and nothing else is looked at.
//
//	{ "edits": [ { "op": "set", "table": "port", "key": ["Ethernet0"],
//	               "knobs": { "mtu": "1500", "admin": true, "speed": null } } ],
//	  "force": false, "dry_run": false, "confirm_s": 60 }
//
// "op" is one of cfg_edit_op_names; "before" names the row that a new one goes before, as "key"
// does. A knob that is null goes back to its default.
#pragma once

#include <jansson.h>
#include <stdio.h>

#include "sys/cfg_edit.h"

enum {
	CONFIG_REQUEST_EDITS_MAX = 4096,
	CONFIG_REQUEST_CONFIRM_MAX_S = 3600,
};

struct config_request {
	json_t *body; // owns the text that edits point at
	struct cfg_edit *edits;
	uint32_t edit_count;
	uint32_t confirm_s; // 0: nothing to confirm
	bool force;
	bool dry_run;
};

// Reads a request; an empty one asks for nothing. Returns 0, or -EINVAL after lines on `errors`,
// also when memory is short; then there is nothing to release.
int config_request_parse(const char *text, size_t len, struct config_request *out, FILE *errors);

// Accepts a request of zeros.
void config_request_release(struct config_request *request);
