// SPDX-License-Identifier: BSD-3-Clause
//
// What differs is link/dcbx.h; here are the words. A side is written first, then the sentence
// around two of them; texts have room for the longest side there can be, and the name of a peer is
// cut, so that no neighbour decides how much is written.

#include "dataplane/dcbx_words.h"

#include <stdio.h>
#include <string.h>

#include "base/units.h"

static void classes_side(const struct dcbx_ets *ets, char out[DCBX_WORDS_BYTES])
{
	size_t at = 0;

	for (uint32_t i = 0; i < PRIO_COUNT; i++)
		at += (size_t)snprintf(out + at, DCBX_WORDS_BYTES - at, "%s%u:%u",
				       i == 0 ? "" : " ", i, ets->prio_class[i]);
}

static void shares_side(const struct dcbx_ets *ets, char out[DCBX_WORDS_BYTES])
{
	const uint8_t classes = dcbx_classes_in_use(ets);
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
		if (dcbx_roce_priority(side) != PRIO_COUNT)
			snprintf(out, DCBX_WORDS_BYTES, "%u", dcbx_roce_priority(side));
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
