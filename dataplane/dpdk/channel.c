// SPDX-License-Identifier: BSD-3-Clause
//
// Rings of messages by value, with an eventfd each to end a sleep. The lcore writes its eventfd
// only when control has read since, so a burst of reports costs one system call.
//
// Rings are for one thread at each end; `done` of a call lives on the caller's stack.

#include "dataplane/dpdk/channel.h"

#include <errno.h>
#include <stdio.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#include <rte_errno.h>
#include <rte_mbuf.h>
#include <rte_ring_elem.h>

enum { CHANNEL_MESSAGES = 1024, WAIT_NS = 20000 };

static struct rte_ring *ring_create(const char *name, const char *kind)
{
	char text[RTE_RING_NAMESIZE];

	snprintf(text, sizeof(text), "%s_%.16s", kind, name);
	return rte_ring_create_elem(text, sizeof(struct message), CHANNEL_MESSAGES, SOCKET_ID_ANY,
				    RING_F_SP_ENQ | RING_F_SC_DEQ);
}

int channel_open(struct channel *channel, const char *name)
{
	int err;

	*channel = (struct channel){ .wake_control = -1, .wake_lcore = -1 };
	channel->to_lcore = ring_create(name, "down");
	channel->to_control = ring_create(name, "up");
	if (channel->to_lcore == NULL || channel->to_control == NULL) {
		err = -rte_errno;
		goto err;
	}
	channel->wake_control = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
	channel->wake_lcore = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
	if (channel->wake_control < 0 || channel->wake_lcore < 0) {
		err = -errno;
		goto err;
	}
	return 0;

err:
	channel_close(channel);
	return err;
}

static void ring_destroy(struct rte_ring *ring)
{
	struct message message;

	if (ring == NULL)
		return;
	while (rte_ring_dequeue_elem(ring, &message, sizeof(message)) == 0) {
		if (message.kind == MESSAGE_PUNT || message.kind == MESSAGE_INJECT ||
		    message.kind == MESSAGE_FRAME || message.kind == MESSAGE_SEND)
			rte_pktmbuf_free(message.mbuf);
		if (message.kind == MESSAGE_TELL)
			rte_pktmbuf_free(message.tell.mbuf);
	}
	rte_ring_free(ring);
}

void channel_close(struct channel *channel)
{
	ring_destroy(channel->to_lcore);
	ring_destroy(channel->to_control);
	if (channel->to_lcore != NULL && channel->wake_control >= 0)
		close(channel->wake_control);
	if (channel->to_lcore != NULL && channel->wake_lcore >= 0)
		close(channel->wake_lcore);
	*channel = (struct channel){ .wake_control = -1, .wake_lcore = -1 };
}

static void wake(int fd)
{
	uint64_t one = 1;

	// Full counters mean that the other side is being woken already.
	if (write(fd, &one, sizeof(one)) < 0)
		return;
}

static void pause_briefly(void)
{
	const struct timespec wait = { .tv_nsec = WAIT_NS };

	nanosleep(&wait, NULL);
}

void channel_send(struct channel *channel, const struct message *message)
{
	while (rte_ring_enqueue_elem(channel->to_lcore, (void *)(uintptr_t)message,
				     sizeof(*message)) != 0)
		pause_briefly();
	wake(channel->wake_lcore);
}

void channel_call(struct channel *channel, struct message *message)
{
	uint32_t done = 0;

	message->done = &done;
	channel_send(channel, message);
	while (__atomic_load_n(&done, __ATOMIC_ACQUIRE) == 0)
		pause_briefly();
	message->done = NULL;
}

bool channel_take(struct channel *channel, struct message *out)
{
	return rte_ring_dequeue_elem(channel->to_lcore, out, sizeof(*out)) == 0;
}

void channel_done(const struct message *message)
{
	if (message->done != NULL)
		__atomic_store_n(message->done, 1, __ATOMIC_RELEASE);
}

bool channel_report(struct channel *channel, const struct message *message)
{
	if (rte_ring_enqueue_elem(channel->to_control, (void *)(uintptr_t)message,
				  sizeof(*message)) != 0) {
		channel->lost++;
		return false;
	}
	if (__atomic_exchange_n(&channel->control_woken, 1, __ATOMIC_SEQ_CST) == 0)
		wake(channel->wake_control);
	return true;
}

bool channel_read(struct channel *channel, struct message *out)
{
	return rte_ring_dequeue_elem(channel->to_control, out, sizeof(*out)) == 0;
}

void channel_rewake(struct channel *channel)
{
	__atomic_store_n(&channel->control_woken, 1, __ATOMIC_SEQ_CST);
	wake(channel->wake_control);
}

void channel_awake(struct channel *channel)
{
	uint64_t count;

	if (read(channel->wake_control, &count, sizeof(count)) < 0)
		return;
	// Before the ring is read: a report after this writes the eventfd again.
	__atomic_exchange_n(&channel->control_woken, 0, __ATOMIC_SEQ_CST);
}
