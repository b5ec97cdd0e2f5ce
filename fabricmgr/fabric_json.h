// SPDX-License-Identifier: BSD-3-Clause
//
// A fabric as JSON, whole: what is written is read back as the same fabric. Names stand for
// numbers; quantities are plain numbers in base units, as their keys say.
//
//	{ "name": "lab", "kind": "tree",
//	  "switches": [ { "name": "leaf1", "ports": 8, "level": 0 } ],
//	  "cables": [ { "a": "leaf1", "a_port": "Ethernet4", "b": "spine1", "b_port": "Ethernet0",
//	                "speed_bps": 100000000000, "length_mm": 3000 } ],
//	  "hosts": [ { "name": "host1", "tenant": "blue", "ports": [
//	               { "switch": "leaf1", "port": "Ethernet0", "ip": "10.0.0.1/24" } ] } ] }
#pragma once

#include <jansson.h>
#include <stdio.h>

#include "fabricmgr/core/fabric.h"

// The object, which the caller owns; NULL: memory is short. Keys at their defaults are left out.
json_t *fabric_to_json(const struct fabric *fabric);

// Fills an empty fabric, which is then to be finished. A fault names the object and says where the
// key is. 0, -EINVAL after a line to `errors`, or -ENOMEM.
int fabric_from_json(const json_t *object, struct fabric *fabric, FILE *errors);
