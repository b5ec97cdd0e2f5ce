// SPDX-License-Identifier: BSD-3-Clause
//
// The command line of weft-traffic: a workload, options, and a scenario file whose values they
// override. An option is a knob of schema/traffic_run.def with - for _: a truth value needs no
// value, and --no-NAME takes it back. An option for a list is KEY[:KNOB=VALUE[,KNOB=VALUE]...], and
// may come again.
#pragma once

#include <stdio.h>

#include "traffic/config.h"

enum options_verdict {
	OPTIONS_RUN,
	OPTIONS_DONE,  // what was asked for stands on `out`
	OPTIONS_WRONG, // a line on `errors` says what
};

enum options_verdict options_parse(struct traffic_config *config, int argc, char **argv, FILE *out,
				   FILE *errors);
