// SPDX-License-Identifier: BSD-3-Clause
//
// All statistics of a switch, of the lcores and of the control thread, for whoever shows them: as
// JSON or to Prometheus. Control thread only.
#pragma once

#include "dataplane/dpdk/snapshot.h"
#include "dataplane/dpdk/worker.h"

// To be freed; NULL when memory is short. Takes some microseconds per port.
struct snapshot *take_snapshot(struct workers *workers, struct instance *in,
			       enum watermark_kind watermark);
