// SPDX-License-Identifier: BSD-3-Clause
//
// What a switch tells its fabric manager with each report: the counters that have changed, and who
// LLDP hears at which port. One report is under way at a time; what it told counts as told when it
// was answered (sys/counters_packed.h says why). Control thread only.
#pragma once

#include "dataplane/dpdk/worker.h"

struct rpc_report;
struct fabric_counters;

// NULL when memory is short. The switch and its LLDP outlive it.
struct fabric_counters *fabric_counters_open(struct workers *workers, struct instance *in);
void fabric_counters_close(struct fabric_counters *counters); // accepts NULL

// Takes a snapshot, clears the periodic watermarks, and adds to a report what the manager does not
// have. 0, or -ENOMEM: the report is not to be sent.
int fabric_counters_report(struct fabric_counters *counters, struct rpc_report *report);

// The report was answered: the manager has all of it, or asks for all `again`.
void fabric_counters_answered(struct fabric_counters *counters, bool again);

// It was not, or another manager or connection said hello: everything is told again.
void fabric_counters_forget(struct fabric_counters *counters);
