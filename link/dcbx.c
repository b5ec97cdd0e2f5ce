// SPDX-License-Identifier: BSD-3-Clause
//
// Sides are compared as they are in operation (IEEE 802.1Q 38.4): a peer that is willing says what
// it has taken over, so it differs only until it has.

#include "link/dcbx.h"

#include <string.h>

enum { ROUNDING_PERCENT = 1 };

uint32_t dcbx_roce_priority(const struct dcbx *side)
{
	for (uint32_t i = 0; i < side->app_count; i++) {
		const struct dcbx_app *app = &side->app[i];

		if (app->protocol == ROCE_UDP_PORT &&
		    (app->selector == DCBX_SELECT_UDP || app->selector == DCBX_SELECT_PORT))
			return app->priority;
	}
	return PRIO_COUNT;
}

// A port that holds its peer back loses nothing for want of PFC, whatever the peer has.
static bool differs_pfc(const struct dcbx_pfc *ours, const struct dcbx_pfc *theirs)
{
	return ours->present && theirs->present && !ours->held && ours->enable != theirs->enable;
}

static bool differs_roce(const struct dcbx *ours, const struct dcbx *theirs)
{
	const uint32_t here = dcbx_roce_priority(ours);
	const uint32_t there = dcbx_roce_priority(theirs);

	return here != PRIO_COUNT && there != PRIO_COUNT && here != there;
}

uint8_t dcbx_classes_in_use(const struct dcbx_ets *ets)
{
	uint8_t classes = 0;

	for (uint32_t i = 0; i < PRIO_COUNT; i++)
		classes |= (uint8_t)(1u << (ets->prio_class[i] & 7));
	return classes;
}

// Shares are compared where the classes are the same.
static bool differs_shares(const struct dcbx_ets *ours, const struct dcbx_ets *theirs)
{
	const uint8_t classes = dcbx_classes_in_use(ours);

	for (uint32_t i = 0; i < TC_COUNT; i++) {
		const int apart = ours->percent[i] - theirs->percent[i];

		if (!(classes >> i & 1))
			continue;
		if (ours->algorithm[i] != theirs->algorithm[i])
			return true;
		if (ours->algorithm[i] == DCBX_TSA_ETS &&
		    (apart > ROUNDING_PERCENT || apart < -ROUNDING_PERCENT))
			return true;
	}
	return false;
}

uint8_t dcbx_differences(const struct dcbx *ours, const struct dcbx *theirs)
{
	uint8_t found = 0;

	if (differs_pfc(&ours->pfc, &theirs->pfc))
		found |= 1 << DCBX_PFC;
	if (differs_roce(ours, theirs))
		found |= 1 << DCBX_ROCE;
	if (!ours->ets.present || !theirs->ets.present)
		return found;
	if (memcmp(ours->ets.prio_class, theirs->ets.prio_class, PRIO_COUNT) != 0)
		return found | 1 << DCBX_CLASSES;
	if (differs_shares(&ours->ets, &theirs->ets))
		found |= 1 << DCBX_SHARES;
	return found;
}
