// SPDX-License-Identifier: BSD-3-Clause
//
// Those are suspects at first that a caller has lost and none sees; then those that something
// speaks for are taken off, and since a live neighbour speaks for its neighbours, again until
// nothing changes. A part that only lost its manager is not found, nor is the inside of a large one
// that died: its links are lost all the same, so nothing is planned through it.

#include "fabricmgr/core/deaths.h"

enum { SUSPECT = 1, BEFORE = 2 }; // while it is found out

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

// Whether one that does not call, but may be alive, may have a link to it that is up. For one that
// was dead before it must have said so: a manager that starts has not heard of anybody yet.
static bool may_be_reached(const struct topo *topo, const uint8_t *there, const uint8_t *word,
			   const uint8_t *dead, uint32_t at)
{
	const bool was_dead = (dead[at] & BEFORE) != 0;

	for (uint32_t link = topo->link_first[at]; link < topo->link_first[at + 1]; link++) {
		const uint32_t back = topo->link_peer[link];
		const uint32_t far = topo->link_switch[back];

		if (there[far] != 0 || dead[far] != 0)
			continue;
		if (word[back] == DEATHS_UP || (!was_dead && word[back] == DEATHS_NOTHING))
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
		const bool before = dead[at] != 0;

		dead[at] = 0;
		if (there[at] == 0 && !votes.up && (votes.down || before))
			dead[at] = before ? SUSPECT | BEFORE : SUSPECT;
	}
	// Each round but the last takes one off, at least.
	while (spare(topo, there, word, dead)) {}
	for (uint32_t at = 0; at < topo->switch_count; at++)
		dead[at] = dead[at] != 0;
}
