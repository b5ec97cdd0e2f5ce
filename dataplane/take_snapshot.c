// SPDX-License-Identifier: BSD-3-Clause
//
// The lcores fill what the core counts while they are between two polls; next hops, what was asked
// for them and LLDP are the control thread's to count, and stand in the same rows.

#include "dataplane/take_snapshot.h"

#include <stdlib.h>

#include "dataplane/lldp.h"
#include "dataplane/routes.h"

struct snapshot *take_snapshot(struct workers *workers, struct instance *in,
			       enum watermark_kind watermark)
{
	struct snapshot *snapshot = calloc(1, snapshot_bytes(in->port_count));
	struct message message = { .kind = MESSAGE_SNAPSHOT, .instance = in };

	if (snapshot == NULL)
		return NULL;
	snapshot->watermark = watermark;
	message.snapshot = snapshot;
	workers_call(workers, &message);
	routes_count(in->routes, &snapshot->sw);
	lldp_count(in->lldp, snapshot);
	return snapshot;
}
