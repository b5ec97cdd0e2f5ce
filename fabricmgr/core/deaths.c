// SPDX-License-Identifier: BSD-3-Clause
//
// All that could be dead are suspects at first; then those that something speaks for are taken off,
// and since a live neighbour speaks for its neighbours, again until nothing changes. A whole part
// of a fabric that dies at once is found like a single switch, and a part that only lost its
// manager is not.

#include "fabricmgr/core/deaths.h"

// What neighbours that call say.
struct votes {
	bool up;
	bool down;
};

static struct votes count_votes(const struct topo *topo, const uint8_t *there, const uint8_t *word,
				uint32_t at)
{
	struct votes votes = { false, false };

	for (uint32_t link = topo->link_first[at]; link < topo->link_first[at + 1]; link++) {
		const uint32_t back = topo->link_peer[link];

		if (there[topo->link_switch[back]] == 0)
			continue;
		votes.up |= word[back] == DEATHS_UP;
		votes.down |= word[back] == DEATHS_DOWN;
	}
	return votes;
}

// Whether one that does not call, but may be alive, has a link to it that it did not say is down.
static bool may_be_reached(const struct topo *topo, const uint8_t *there, const uint8_t *word,
			   const uint8_t *dead, uint32_t at)
{
	for (uint32_t link = topo->link_first[at]; link < topo->link_first[at + 1]; link++) {
		const uint32_t back = topo->link_peer[link];
		const uint32_t far = topo->link_switch[back];

		if (there[far] == 0 && dead[far] == 0 && word[back] != DEATHS_DOWN)
			return true;
	}
	return false;
}

// Takes those off that may be reached. Whether there were any.
static bool spare(const struct topo *topo, const uint8_t *there, const uint8_t *word, uint8_t *dead)
{
	bool changed = false;

	for (uint32_t at = 0; at < topo->switch_count; at++) {
		if (dead[at] == 0 || !may_be_reached(topo, there, word, dead, at))
			continue;
		dead[at] = 0;
		changed = true;
	}
	return changed;
}

void deaths_find(const struct topo *topo, const uint8_t *there, const uint8_t *word, uint8_t *dead)
{
	for (uint32_t at = 0; at < topo->switch_count; at++) {
		const struct votes votes = count_votes(topo, there, word, at);

		dead[at] = there[at] == 0 && !votes.up && (votes.down || dead[at] != 0);
	}
	// Each round but the last takes one off, at least.
	while (spare(topo, there, word, dead)) {}
}
