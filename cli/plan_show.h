// SPDX-License-Identifier: BSD-3-Clause
//
// What weft plan prints: for people tables and sentences, for programs one JSON object. What was
// not asked for, or could not be measured because there is no plan, is left out.
#pragma once

#include <jansson.h>

#include "cli/plan_work.h"
#include "cli/report.h"

// 0, or -EIO.
int plan_show(const struct plan_options *options, const struct plan_work *work);

// The size of a fabric that was read without an error.
void plan_show_check(const struct plan_options *options, const struct plan_work *work);

// Text only: engines that refused, and why.
void plan_show_refusals(const struct plan_work *work, FILE *out);

// "leaf1:Ethernet4 lane 0 > spine1:Ethernet1 lane 0", hop by hop.
void plan_show_hops(const struct plan_work *work, const struct violation_hop *hops, uint32_t count,
		    FILE *out);

// Adds tables of priorities and kinds of ports (cli/plan_qos.c).
void plan_show_qos(const struct plan_work *work, struct report *report);

// The JSON object (cli/plan_json.c), which the caller owns.
json_t *plan_json(const struct plan_options *options, const struct plan_work *work);
