// SPDX-License-Identifier: BSD-3-Clause
//
// Paces, addresses and counts of a replay.
//
// Addresses of 01:80:c2:00:00:0x are for neighbours (PFC, LLDP, LACP; IEEE 802.1Q table 8-1): a
// switch sends such frames, and passes none on, so that they are nobody's replay.

#include "traffic/core/replay.h"

#include "base/bytes.h"

#define NEIGHBORS 0x0180c2000000ull
enum { MILLION = 1000000, GROUP = 1 };

ns_t replay_due(struct replay_pace *pace, ns_t captured)
{
	uint64_t ns, whole;

	if (!pace->begun)
		pace->first = captured;
	pace->begun = true;
	if (pace->rate_ppm == 0)
		return pace->start;
	ns = ns_since(captured, pace->first);
	whole = ns / pace->rate_ppm;
	if (whole > UINT64_MAX / MILLION / 2)
		return NS_NEVER;
	return ns_add(pace->start,
		      whole * MILLION + ns % pace->rate_ppm * MILLION / pace->rate_ppm);
}

void replay_readdress(uint8_t *frame, uint64_t src_mac, uint64_t dst_mac)
{
	if ((frame[0] & GROUP) == 0)
		store_be48(frame, dst_mac);
	store_be48(frame + 6, src_mac);
}

bool replay_count(struct replay_tally *tally, const uint8_t *frame, uint32_t len)
{
	if (!tally->counts || len < REPLAY_FRAME_MIN || load_be48(frame) >> 4 == NEIGHBORS >> 4)
		return false;
	if (tally->src_mac != 0 && load_be48(frame + 6) != tally->src_mac)
		return false;
	tally->frames++;
	tally->bytes += len;
	return true;
}
