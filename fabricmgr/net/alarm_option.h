// SPDX-License-Identifier: BSD-3-Clause
//
// Limits of an alarm as an operator writes them: NAME:RAISE:SECONDS:CLEAR:SECONDS, the four columns
// of schema/alarms.def in whole numbers. What is left out at the end, or empty, stays: "PAUSED:30",
// "FLAPPING:::0:300".
#pragma once

#include "fabricmgr/core/health.h"

enum { ALARM_OPTION_WHY_BYTES = 192 };

// Changes the limits of one alarm of `limits`. False: nothing is changed, and `why` says why.
bool alarm_option_parse(const char *text, struct alarm_limits limits[ALARM_COUNT],
			char why[ALARM_OPTION_WHY_BYTES]);
