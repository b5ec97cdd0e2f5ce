// SPDX-License-Identifier: BSD-3-Clause
//
// Queues that are not served, and by whose order: a device that takes no frame, or a test hook
// (SAI_PORT_ATTR_PKT_TX_ENABLE off, a queue whose dequeue is disabled). The scheduler looks at one
// mask, what all orders come to, as of their last change: the path pays nothing for any of them.
//
// What stands still on a device's or a test's order for a queue is a received pause to the
// watchdog, so that a storm can be made without a peer. A port that sends nothing at all is not:
// queues then fill for as long as a test likes, and no watchdog empties them.

#include "dataplane/core/stage.h"

static uint8_t counted(const struct port_state *st)
{
	return st->device_blocked | st->dequeue_disabled;
}

// Times the queues whose block, as the watchdog counts it, begins or ends now.
static void settle(struct port_state *st, uint8_t before, ns_t now)
{
	const uint8_t after = counted(st);
	uint32_t changed = before ^ after;

	for (; changed != 0; changed &= changed - 1) {
		const uint32_t id = (uint32_t)__builtin_ctz(changed);
		struct queue_state *q = &st->queue[id];

		if (after >> id & 1)
			q->blocked_at = now;
		else
			q->blocked_ns += ns_since(now, q->blocked_at);
	}
	st->blocked = st->tx_disabled ? UINT8_MAX : after;
}

void sw_tx_block(struct sw *sw, port_t port, uint8_t queues)
{
	struct port_state *st = &sw->port[port.v];
	const uint8_t before = counted(st);

	st->device_blocked = queues;
	settle(st, before, lcore_of_port(sw, port)->now);
}

uint8_t sw_tx_blocked(const struct sw *sw, port_t port)
{
	return sw->port[port.v].device_blocked;
}

void sw_dequeue_disable(struct sw *sw, port_t port, uint8_t queues, bool on, ns_t now)
{
	struct port_state *st = &sw->port[port.v];
	const uint8_t before = counted(st);

	lcore_of_port(sw, port)->now = now;
	st->dequeue_disabled = on ? st->dequeue_disabled | queues :
				    st->dequeue_disabled & (uint8_t)~queues;
	settle(st, before, now);
}

void sw_tx_disable(struct sw *sw, port_t port, bool on, ns_t now)
{
	struct port_state *st = &sw->port[port.v];

	lcore_of_port(sw, port)->now = now;
	st->tx_disabled = on;
	settle(st, counted(st), now);
}

struct sw_hooks sw_hooks(const struct sw *sw, port_t port)
{
	const struct port_state *st = &sw->port[port.v];
	struct sw_hooks hooks = {
		.tx_disabled = st->tx_disabled,
		.dequeue_disabled = st->dequeue_disabled,
	};

	for (uint32_t i = 0; i < QUEUE_COUNT; i++)
		hooks.storm_forced |= (uint8_t)(st->watchdog[i].pfc.forced << i);
	return hooks;
}

uint8_t blocked_queues(const struct port_state *st)
{
	return counted(st);
}
