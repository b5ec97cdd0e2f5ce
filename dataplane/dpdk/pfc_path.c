// SPDX-License-Identifier: BSD-3-Clause
//
// Decides how PFC gets through a device.
//
// A driver that accepts "forward MAC control frames" and does not say so when it is asked again has
// ignored it (several copy only the fields they know), so the answer counts and not the acceptance.
// What is known to pass needs no answer: virtual devices mostly have no flow control to ask about.

#include "dataplane/dpdk/pfc_path.h"

#include <stdio.h>
#include <string.h>

static enum pfc_path none(const struct pfc_answers *a, const char *why, int err, char *reason,
			  size_t out_bytes)
{
	snprintf(reason, out_bytes, "%s%s%s%s", why, err != 0 ? ": " : "",
		 err != 0 ? strerror(-err) : "",
		 a->own_pfc ? "; the PFC that it offers itself is not used" : "");
	return PFC_PATH_NONE;
}

enum pfc_path pfc_path_decide(const struct pfc_answers *a, char *reason, size_t out_bytes)
{
	reason[0] = '\0';
	if (!a->needed) {
		snprintf(reason, out_bytes, "no priority of the port uses PFC");
		return PFC_PATH_UNUSED;
	}
	if (a->wanted == PFC_PATH_TRUST)
		return PFC_PATH_SOFTWARE;
	if (a->eats_sent)
		return none(a, "drops PFC frames that software sends", 0, reason, out_bytes);
	if (a->driver == DRIVER_PFC_PASS)
		return PFC_PATH_SOFTWARE;
	if (a->get != 0)
		return none(a, "does not tell about flow control", a->get, reason, out_bytes);
	if (a->set != 0)
		return none(a, "refuses to hand PFC frames over", a->set, reason, out_bytes);
	if (a->again != 0 || !a->forwards)
		return none(a, "accepts to hand PFC frames over, but does not do it", a->again,
			    reason, out_bytes);
	return PFC_PATH_SOFTWARE;
}
