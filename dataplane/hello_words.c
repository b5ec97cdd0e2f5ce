// SPDX-License-Identifier: BSD-3-Clause
//
// What hellos found, in words: the state of the peer first, since lanes do not matter while it is
// gone. Numbers of the peer come before our own. Plain code of the shell: no DPDK, so that it is
// tested alone.

#include "dataplane/hello_words.h"

#include <stdio.h>

#include "base/units.h"

// "3-4,6" of 0x58.
static void priorities(uint8_t mask, char out[UNIT_TEXT_BYTES])
{
	if (unit_format_mask8(mask, out) == 0)
		snprintf(out, UNIT_TEXT_BYTES, "none");
}

static void pfc_words(const struct hello_peer *peer, char out[HELLO_WORDS_BYTES])
{
	char here[UNIT_TEXT_BYTES];
	char there[UNIT_TEXT_BYTES];

	priorities(peer->have, here);
	priorities(peer->want, there);
	if (peer->mismatch == HELLO_PFC_SENT)
		snprintf(out, HELLO_WORDS_BYTES,
			 "no lossless traffic: PFC is on for priorities %s at the peer, %s here",
			 there, here);
	else if (peer->want != 0)
		snprintf(out, HELLO_WORDS_BYTES,
			 "no lossless traffic: the peer does not obey PFC of priorities %s", there);
	else
		snprintf(out, HELLO_WORDS_BYTES,
			 "no lossless traffic: we do not obey the peer's PFC of priorities %s",
			 here);
}

static void mismatch_words(const struct hello_peer *peer, char out[HELLO_WORDS_BYTES])
{
	switch (peer->mismatch) {
	case HELLO_AGREE: return;
	case HELLO_LANE_COUNT:
		snprintf(out, HELLO_WORDS_BYTES,
			 "no lossless traffic: peer has %u lane%s, we have %u", peer->want,
			 peer->want == 1 ? "" : "s", peer->have);
		return;
	case HELLO_LANE_PRIORITY:
		snprintf(out, HELLO_WORDS_BYTES,
			 "no lossless traffic: lane %u is priority %u at the peer, %u here",
			 peer->at, peer->want, peer->have);
		return;
	case HELLO_LANE_TAG:
		snprintf(out, HELLO_WORDS_BYTES,
			 "no lossless traffic: lane_tag is %s at the peer, %s here",
			 peer->want ? "on" : "off", peer->have ? "on" : "off");
		return;
	case HELLO_PFC_SENT:
	case HELLO_PFC_OBEYED: pfc_words(peer, out); return;
	}
}

void hello_words(const struct hello_peer *peer, char out[HELLO_WORDS_BYTES])
{
	const char *words = "";

	switch (peer->status) {
	case HELLO_SILENT: words = "not used: no hello from the peer any more"; break;
	case HELLO_DEAF: words = "not used: the peer does not hear our hellos"; break;
	case HELLO_LOOPED: words = "not used: our own hellos come back"; break;
	case HELLO_RETURNING: words = "not used: the peer is back, but not for long enough"; break;
	case HELLO_UNHEARD:
	case HELLO_HEARD: words = peer->usable ? "" : "not used: waits for hellos both ways"; break;
	case HELLO_OFF:
	case HELLO_UP: break;
	}
	snprintf(out, HELLO_WORDS_BYTES, "%s", words);
	if (words[0] == '\0')
		mismatch_words(peer, out);
}
