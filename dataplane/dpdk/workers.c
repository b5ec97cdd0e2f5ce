// SPDX-License-Identifier: BSD-3-Clause
//
// Which lcores a message of the control thread concerns, and meetings of all of them.
//
// Address tables are replicas, so their changes go to every lcore, in one order: there is one
// control thread, and each channel keeps its order. A meeting is a message to each lcore as well,
// so that all replicas have seen the same changes when it begins.

#include "dataplane/dpdk/worker.h"

#include <sched.h>

#include "dataplane/dpdk/snapshot.h"

enum reach {
	REACH_PORT,    // the owner of the port; without a port the first
	REACH_LCORE,   // the one it names
	REACH_SWITCH,  // every lcore of the switch
	REACH_MEETING, // the first, while the others are still
};

static enum reach reach_of(enum message_kind kind)
{
	switch (kind) {
	case MESSAGE_LINK:
	case MESSAGE_INJECT:
	case MESSAGE_FRAME:
	case MESSAGE_RX_LOST:
	case MESSAGE_TX_DISABLE:
	case MESSAGE_DEQUEUE_DISABLE:
	case MESSAGE_FORCE_STORM: return REACH_PORT;
	case MESSAGE_MAC_SET:
	case MESSAGE_MAC_FORGET_PORT:
	case MESSAGE_MAC_AGE:
	case MESSAGE_FORGET:
	case MESSAGE_BIG_RED:
	case MESSAGE_SEED:
	case MESSAGE_CAPTURE:
	case MESSAGE_RETRY_HELD: return REACH_SWITCH;
	case MESSAGE_PROFILE:
	case MESSAGE_SWAP:
	case MESSAGE_SNAPSHOT:
	case MESSAGE_ACL_LIST:
	case MESSAGE_ROCE_LIST:
	case MESSAGE_CLEAR_WATERMARKS: return REACH_MEETING;
	case MESSAGE_SEND:
	case MESSAGE_MAC_LIST:
	case MESSAGE_LCORE_STATS:
	case MESSAGE_CLEAR_GAP:
	case MESSAGE_PARK:
	case MESSAGE_STOP:
	case MESSAGE_PUNT:
	case MESSAGE_LEARN:
	case MESSAGE_PEER:
	case MESSAGE_STORM:
	case MESSAGE_TELL:
	case MESSAGE_SOLICIT: return REACH_LCORE;
	}
	return REACH_LCORE;
}

static lcore_t owner_of(const struct message *message)
{
	const struct instance *in = message->instance;

	return message->port.v < in->port_count ? in->profile->port[message->port.v].lcore :
						  LCORE_FIRST;
}

// The lcores that get the message: `first`, and `count` of them.
static uint32_t recipients(const struct message *message, uint32_t *first)
{
	*first = 0;
	switch (reach_of(message->kind)) {
	case REACH_PORT: *first = owner_of(message).v; return 1;
	case REACH_LCORE: *first = message->lcore.v; return 1;
	case REACH_SWITCH: return message->instance->profile->lcore_count;
	case REACH_MEETING: return 1;
	}
	return 0;
}

void workers_send(struct workers *workers, const struct message *message)
{
	uint32_t first;
	uint32_t count = recipients(message, &first);

	for (uint32_t i = first; i < first + count; i++)
		channel_send(&workers->worker[i].channel, message);
}

// The first lcore works when all others have parked; they must be gone when the meeting's memory
// is.
static void meet(struct workers *workers, struct message *message)
{
	struct meeting meeting = { .wanted = workers->count - 1 };
	const struct message park = { .kind = MESSAGE_PARK, .meeting = &meeting };

	for (uint32_t i = 1; i < workers->count; i++)
		channel_send(&workers->worker[i].channel, &park);
	message->meeting = &meeting;
	channel_call(&workers->worker[0].channel, message);
	message->meeting = NULL;
	while (__atomic_load_n(&meeting.resumed, __ATOMIC_ACQUIRE) < meeting.wanted)
		sched_yield();
}

void workers_call(struct workers *workers, struct message *message)
{
	uint32_t first;
	uint32_t count = recipients(message, &first);

	if (reach_of(message->kind) == REACH_MEETING && workers->count > 1) {
		meet(workers, message);
		return;
	}
	for (uint32_t i = first; i < first + count; i++)
		channel_call(&workers->worker[i].channel, message);
}

bool workers_next_macs(struct workers *workers, struct instance *in, struct mac_list *list)
{
	struct message message = { .kind = MESSAGE_MAC_LIST, .instance = in, .macs = list };

	if (list->lcore.v == in->profile->lcore_count)
		return false;
	message.lcore = list->lcore;
	workers_call(workers, &message);
	if (list->at == 0)
		list->lcore.v++;
	return true;
}

void workers_stats(struct workers *workers, struct lcore_stats out[LCORE_MAX])
{
	for (uint8_t i = 0; i < workers->count; i++) {
		struct message message = { .kind = MESSAGE_LCORE_STATS,
					   .lcore = { i },
					   .stats = &out[i] };

		workers_call(workers, &message);
	}
}

void workers_forget_port(struct workers *workers, struct instance *in, port_t port)
{
	const struct message message = {
		.kind = MESSAGE_MAC_FORGET_PORT,
		.instance = in,
		.port = port,
	};

	if (in->profile->lcore_count > 1)
		workers_send(workers, &message);
}
