// SPDX-License-Identifier: BSD-3-Clause
//
// Sides are compared as they are in operation (IEEE 802.1Q 38.4): a peer that is willing says what
// it has taken over, so it differs only until it has.

#include "dataplane/dcbx_words.h"

#include <stdio.h>
#include <string.h>

#include "base/units.h"

enum {
	NO_PRIORITY = PRIO_COUNT,
	ROUNDING_PERCENT = 1,
};

// The priority of RoCE: of its UDP port, or of that port over anything.
static uint32_t roce_priority(const struct dcbx *side)
{
	for (uint32_t i = 0; i < side->app_count; i++) {
		const struct dcbx_app *app = &side->app[i];

		if (app->protocol == ROCE_UDP_PORT &&
		    (app->selector == DCBX_SELECT_UDP || app->selector == DCBX_SELECT_PORT))
			return app->priority;
	}
	return NO_PRIORITY;
}

// A port that holds its peer back loses nothing for want of PFC, whatever the peer has.
static bool differs_pfc(const struct dcbx_pfc *ours, const struct dcbx_pfc *theirs)
{
	return ours->present && theirs->present && !ours->held && ours->enable != theirs->enable;
}

static bool differs_roce(const struct dcbx *ours, const struct dcbx *theirs)
{
	const uint32_t here = roce_priority(ours);
	const uint32_t there = roce_priority(theirs);

	return here != NO_PRIORITY && there != NO_PRIORITY && here != there;
}

static uint8_t classes_in_use(const struct dcbx_ets *ets)
{
	uint8_t classes = 0;

	for (uint32_t i = 0; i < PRIO_COUNT; i++)
		classes |= (uint8_t)(1u << (ets->prio_class[i] & 7));
	return classes;
}

// Shares are compared where the classes are the same.
static bool differs_shares(const struct dcbx_ets *ours, const struct dcbx_ets *theirs)
{
	const uint8_t classes = classes_in_use(ours);

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

static void classes_side(const struct dcbx_ets *ets, char out[DCBX_WORDS_BYTES])
{
	size_t at = 0;

	for (uint32_t i = 0; i < PRIO_COUNT; i++)
		at += (size_t)snprintf(out + at, DCBX_WORDS_BYTES - at, "%s%u:%u",
				       i == 0 ? "" : " ", i, ets->prio_class[i]);
}

static void shares_side(const struct dcbx_ets *ets, char out[DCBX_WORDS_BYTES])
{
	const uint8_t classes = classes_in_use(ets);
	size_t at = 0;

	for (uint32_t i = 0; i < TC_COUNT; i++) {
		const char *gap = at == 0 ? "" : " ";
		char *to = out + at;
		const size_t room = DCBX_WORDS_BYTES - at;

		if (!(classes >> i & 1) && ets->percent[i] == 0)
			continue;
		switch (ets->algorithm[i]) {
		case DCBX_TSA_STRICT:
			at += (size_t)snprintf(to, room, "%s%u:strict", gap, i);
			break;
		case DCBX_TSA_CREDIT:
			at += (size_t)snprintf(to, room, "%s%u:credit", gap, i);
			break;
		case DCBX_TSA_ETS:
			at += (size_t)snprintf(to, room, "%s%u:%u%%", gap, i, ets->percent[i]);
			break;
		default:
			at += (size_t)snprintf(to, room, "%s%u:algorithm %u", gap, i,
					       ets->algorithm[i]);
			break;
		}
	}
}

void dcbx_side(const struct dcbx *side, enum dcbx_topic topic, char out[DCBX_WORDS_BYTES])
{
	snprintf(out, DCBX_WORDS_BYTES, "-");
	switch (topic) {
	case DCBX_PFC:
		if (side->pfc.present && unit_format_mask8(side->pfc.enable, out) == 0)
			snprintf(out, DCBX_WORDS_BYTES, "none");
		return;
	case DCBX_ROCE:
		if (roce_priority(side) != NO_PRIORITY)
			snprintf(out, DCBX_WORDS_BYTES, "%u", roce_priority(side));
		return;
	case DCBX_CLASSES:
		if (side->ets.present)
			classes_side(&side->ets, out);
		return;
	case DCBX_SHARES:
		if (side->ets.present)
			shares_side(&side->ets, out);
		return;
	case DCBX_TOPIC_COUNT: return;
	}
}

static const char *const verb[DCBX_TOPIC_COUNT] = {
	[DCBX_PFC] = "enables PFC on",
	[DCBX_ROCE] = "has RoCE (UDP 4791) on priority",
	[DCBX_CLASSES] = "has priorities in classes",
	[DCBX_SHARES] = "shares its bandwidth",
};

static const char *const preposition[DCBX_TOPIC_COUNT] = {
	[DCBX_PFC] = "on ",
	[DCBX_ROCE] = "on ",
	[DCBX_CLASSES] = "in ",
	[DCBX_SHARES] = "",
};

void dcbx_words(const struct dcbx *ours, const struct dcbx *theirs, const char *name,
		enum dcbx_topic topic, char out[DCBX_WORDS_BYTES])
{
	char here[DCBX_WORDS_BYTES];
	char there[DCBX_WORDS_BYTES];

	dcbx_side(ours, topic, here);
	dcbx_side(theirs, topic, there);
	snprintf(out, DCBX_WORDS_BYTES, "peer %.64s %s %.128s, this port %s%.128s", name,
		 verb[topic], there, preposition[topic], here);
}
