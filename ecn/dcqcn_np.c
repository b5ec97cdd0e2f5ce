// SPDX-License-Identifier: BSD-3-Clause
//
// DCQCN notification point: which of the packets that arrive marked are answered with a CNP. At
// most one per interval and queue pair, and the first at once (SIGCOMM 2015, section 3.1).
//
// Invariant: CNPs of one queue pair are interval_ns apart or more.

#include "ecn/dcqcn.h"

bool dcqcn_np_marked(const struct dcqcn_np_profile *pf, struct dcqcn_np_state *st, ns_t now)
{
	if (ns_before(now, st->next))
		return false;
	st->next = ns_add(now, pf->interval_ns);
	return true;
}
