// SPDX-License-Identifier: BSD-3-Clause
//
// The event loop. Two kinds of events: a frame arrives at the end of a link, and a node asks to be
// polled. A node has at most one poll that counts, the earliest; later ones find it gone and do
// nothing.
//
// Invariant: events of equal time run in the order they were made, so a run is the same every time.

#include "tests/rig/net.h"

#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/check.h"
#include "base/rng.h"
#include "tests/rig/events.h"

// One direction of a link, kept by its sending end.
struct wire {
	bool joined;
	bool up;
	bool mute;
	uint32_t peer, peer_port;
	struct pacer_profile rate;
	uint64_t delay_ns;
	struct pacer_state busy; // `ready`: the wire is free
	uint32_t life;           // grows with each link down: frames of an earlier life are lost
	// switch ends
	uint64_t pfc_taken; // of the rig's log
	struct net_frame *ring_head, *ring_tail;
	uint64_t ring_count, ring_most;
	struct impair_line line; // of a port with an impairment
};

struct node {
	struct rig *rig; // NULL: a host or an endpoint
	uint64_t rig_start;
	struct host_config config;
	struct host_state *host; // NULL: an endpoint
	struct endpoint_profile endpoint_pf;
	struct endpoint_state *endpoint;
	struct wire *wire;
	uint32_t wire_count;
	uint64_t poll_at;
	uint64_t lag_ns;
	uint64_t away_until; // by lag_ns
	struct rng dice;
};

struct net {
	uint64_t now;
	uint64_t lost;
	bool watch;
	void (*visit)(void *context, uint32_t node); // NULL: nobody
	void *context;
	uint32_t node_count;
	struct node node[NET_NODE_MAX];
	struct events events;
};

// --- links ------------------------------------------------------------------------------------

static bool wire_free(const struct net *net, const struct wire *wire)
{
	return wire->busy.ready.v <= net->now;
}

// Puts bytes on the wire, which must be free.
static void transmit(struct net *net, struct wire *wire, const uint8_t *data, uint32_t len)
{
	struct net_frame *frame;

	pacer_charge(&wire->rate, &wire->busy, frame_wire_bytes(len), (ns_t){ net->now });
	if (!wire->up || wire->mute) {
		net->lost++;
		return;
	}
	frame = malloc(sizeof(*frame) + len);
	WEFT_CHECK(frame != NULL);
	frame->next = NULL;
	frame->len = len;
	memcpy(frame->data, data, len);
	events_push(&net->events, (struct event){ .at = wire->busy.ready.v + wire->delay_ns,
						  .frame = frame,
						  .node = wire->peer,
						  .port = wire->peer_port,
						  .life = wire->life });
}

static void ask_poll(struct net *net, uint32_t index, uint64_t at)
{
	struct node *node = &net->node[index];

	at = u64_max(at, net->now);
	if (at >= node->poll_at || at == UINT64_MAX)
		return;
	node->poll_at = at;
	events_push(&net->events, (struct event){ .at = at, .node = index });
}

// --- hosts ------------------------------------------------------------------------------------

static void poll_host(struct net *net, uint32_t index)
{
	struct node *node = &net->node[index];
	struct wire *wire = &node->wire[0];
	ns_t now = { net->now };
	uint8_t out[FRAME_MAX_BYTES];
	uint64_t at;

	if (wire->joined && wire_free(net, wire)) {
		uint32_t len = host_tx(&node->config, node->host, now, out);

		if (len != 0)
			transmit(net, wire, out, len);
	}
	host_tick(&node->config, node->host, now);
	at = host_deadline(&node->config, node->host, now).v;
	ask_poll(net, index, wire_free(net, wire) ? at : u64_max(at, wire->busy.ready.v));
}

static void poll_endpoint(struct net *net, uint32_t index)
{
	struct node *node = &net->node[index];
	struct wire *wire = &node->wire[0];
	const ns_t now = { net->now };
	uint8_t out[ROCE_FRAME_MAX];
	uint64_t at;

	if (net->visit != NULL)
		net->visit(net->context, index);
	if (wire->joined && wire_free(net, wire)) {
		const uint32_t len = endpoint_tx(&node->endpoint_pf, node->endpoint, now, out);

		if (len != 0)
			transmit(net, wire, out, len);
	}
	at = endpoint_deadline(&node->endpoint_pf, node->endpoint, now).v;
	ask_poll(net, index, wire_free(net, wire) ? at : u64_max(at, wire->busy.ready.v));
}

static void poll_end(struct net *net, uint32_t index)
{
	if (net->node[index].host != NULL)
		poll_host(net, index);
	else
		poll_endpoint(net, index);
}

static void receive_end(struct net *net, struct node *node, const struct net_frame *frame)
{
	const ns_t now = { net->now };

	if (node->host != NULL)
		host_rx(&node->config, node->host, frame->data, frame->len, now);
	else
		endpoint_rx(&node->endpoint_pf, node->endpoint, frame->data, frame->len, now);
}

// --- switches ---------------------------------------------------------------------------------

// Sends the oldest PFC frame that waits for the wire; false when there is none.
static bool send_pfc(struct net *net, struct node *node, uint32_t port)
{
	const struct rig_pfc *log = &node->rig->pfc[port];
	struct wire *wire = &node->wire[port];
	uint8_t bytes[PFC_FRAME_BYTES];
	uint8_t src[6];

	if (wire->pfc_taken == log->count)
		return false;
	WEFT_CHECK(log->count - wire->pfc_taken <= RIG_PFC_LOG);
	store_be48(src, 0x02eeee000000u + port);
	pfc_frame_encode(&log->log[wire->pfc_taken++ % RIG_PFC_LOG].frame, src, bytes);
	transmit(net, wire, bytes, sizeof(bytes));
	return true;
}

static bool send_hello(struct net *net, struct node *node, uint32_t port)
{
	uint8_t bytes[HELLO_FRAME_MAX];
	uint8_t src[6];

	if (!node->rig->hello_due[port])
		return false;
	node->rig->hello_due[port] = false;
	store_be48(src, 0x02eeee000000u + port);
	transmit(net, &node->wire[port], bytes,
		 sw_hello(node->rig->sw, (port_t){ (uint16_t)port }, src, bytes));
	return true;
}

// A frame of the switch's own that goes ahead of data.
static bool control_waits(const struct node *node, uint32_t port)
{
	return node->wire[port].pfc_taken != node->rig->pfc[port].count ||
	       node->rig->hello_due[port];
}

static void receive(struct net *net, struct node *node, uint32_t port, struct net_frame *frame)
{
	struct pkt *p = rig_alloc(node->rig, frame->len);

	memcpy(p->data, frame->data, frame->len);
	free(frame);
	rig_rx(node->rig, port, &p, 1);
}

static const struct impair_profile *impairment_of(const struct node *node, uint32_t port)
{
	return &node->rig->pf->port[port].impair;
}

// Puts a frame that came over the wire on the line that makes the link worse.
static void impair(struct node *node, uint32_t port, struct net_frame *frame)
{
	struct pkt *p = rig_alloc(node->rig, frame->len);

	memcpy(p->data, frame->data, frame->len);
	free(frame);
	if (impair_take(impairment_of(node, port), &node->wire[port].line, &p, 1, node->rig->now))
		rig_free(node->rig, p);
}

// Receives what has come to the end of the line.
static void drain_line(struct node *node, uint32_t port)
{
	struct pkt *p;

	while (!sw_held(node->rig->sw, (port_t){ (uint16_t)port }) &&
	       impair_give(&node->wire[port].line, &p, 1, node->rig->now) == 1)
		rig_rx(node->rig, port, &p, 1);
}

static uint64_t line_deadline(const struct node *node, uint32_t port)
{
	uint64_t at = impair_deadline(&node->wire[port].line).v;

	if (at == UINT64_MAX || sw_held(node->rig->sw, (port_t){ (uint16_t)port }))
		return UINT64_MAX;
	return u64_minus(at, node->rig_start);
}

// Receives what waits in the ring of a port until it is held again.
static void drain_ring(struct net *net, struct node *node, uint32_t port)
{
	struct wire *wire = &node->wire[port];

	while (wire->ring_head != NULL && !sw_held(node->rig->sw, (port_t){ (uint16_t)port })) {
		struct net_frame *frame = wire->ring_head;

		wire->ring_head = frame->next;
		wire->ring_count--;
		receive(net, node, port, frame);
	}
}

static void send_data(struct net *net, struct node *node, uint32_t port)
{
	struct pkt *p = rig_take(node->rig, port);

	if (p == NULL)
		return;
	transmit(net, &node->wire[port], p->data, p->len);
	rig_free(node->rig, p);
}

static void poll_switch(struct net *net, uint32_t index)
{
	struct node *node = &net->node[index];
	struct rig *rig = node->rig;
	uint64_t busy_until = UINT64_MAX;
	uint64_t at;

	if (net->now < node->away_until) {
		ask_poll(net, index, node->away_until);
		return;
	}
	if (node->lag_ns != 0)
		node->away_until = net->now + rng_next64(&node->dice) % node->lag_ns;
	rig_advance(rig, node->rig_start + net->now - rig->now.v);
	if (node->lag_ns != 0) {
		sw_renew_pauses(rig->sw, LCORE_FIRST, rig->now);
		rig_drain(rig);
	}
	for (uint32_t port = 0; port < node->wire_count; port++) {
		struct wire *wire = &node->wire[port];

		if (!wire->joined)
			continue;
		drain_ring(net, node, port);
		drain_line(node, port);
		busy_until = u64_min(busy_until, line_deadline(node, port));
		if (wire_free(net, wire) && !send_pfc(net, node, port) &&
		    !send_hello(net, node, port))
			send_data(net, node, port);
		if (!wire_free(net, wire) && (sw_backlogged(rig->sw, (port_t){ (uint16_t)port }) ||
					      control_waits(node, port)))
			busy_until = u64_min(busy_until, wire->busy.ready.v);
	}
	// A deadline of now can only be a port whose wire is busy, or one that just became ready.
	at = sw_deadline(rig->sw, LCORE_FIRST, rig->now).v;
	at = at == UINT64_MAX ? at : u64_minus(at, node->rig_start);
	if (at <= net->now && busy_until != UINT64_MAX)
		at = busy_until;
	at = u64_max(at, net->now + 1);
	ask_poll(net, index, u64_min(at, busy_until));
	// A release on one port may have made XON or data for another that was looked at before.
	for (uint32_t port = 0; port < node->wire_count; port++) {
		struct wire *wire = &node->wire[port];

		if (wire->joined && wire_free(net, wire) &&
		    (control_waits(node, port) || wire->ring_head != NULL) &&
		    !sw_held(rig->sw, (port_t){ (uint16_t)port }))
			ask_poll(net, index, net->now);
	}
}

// --- events -----------------------------------------------------------------------------------

static void arrive_switch(struct net *net, const struct event *event)
{
	struct node *node = &net->node[event->node];
	struct wire *wire = &node->wire[event->port];

	if (impairment_of(node, event->port)->on) {
		rig_advance(node->rig, node->rig_start + net->now - node->rig->now.v);
		impair(node, event->port, event->frame);
		poll_switch(net, event->node);
		return;
	}
	event->frame->next = NULL;
	if (wire->ring_head == NULL)
		wire->ring_head = event->frame;
	else
		wire->ring_tail->next = event->frame;
	wire->ring_tail = event->frame;
	wire->ring_count++;
	if (net->now >= node->away_until) {
		rig_advance(node->rig, node->rig_start + net->now - node->rig->now.v);
		drain_ring(net, node, event->port);
	}
	wire->ring_most = u64_max(wire->ring_most, wire->ring_count);
	poll_switch(net, event->node);
}

static void arrive(struct net *net, const struct event *event)
{
	struct node *node = &net->node[event->node];
	const struct wire *back = &node->wire[event->port];

	// Both directions of a link share their lives.
	if (!back->up || event->life != back->life) {
		net->lost++;
		free(event->frame);
	} else if (node->rig != NULL) {
		arrive_switch(net, event);
	} else {
		receive_end(net, node, event->frame);
		free(event->frame);
		poll_end(net, event->node);
	}
}

static void poll(struct net *net, const struct event *event)
{
	struct node *node = &net->node[event->node];

	if (node->poll_at != event->at)
		return;
	node->poll_at = UINT64_MAX;
	if (node->rig != NULL)
		poll_switch(net, event->node);
	else
		poll_end(net, event->node);
}

static void check_node(const struct net *net, uint32_t index)
{
	if (net->node[index].rig != NULL)
		WEFT_CHECK(sw_conserved(net->node[index].rig->sw));
}

static void step(struct net *net)
{
	struct event event = events_pop(&net->events);

	net->now = event.at;
	if (event.frame != NULL)
		arrive(net, &event);
	else
		poll(net, &event);
	if (net->watch)
		check_node(net, event.node);
}

// Ports without a cable are down, so that nothing is flooded into them and waits for ever.
static void close_ports(struct node *node)
{
	if (node->rig == NULL)
		return;
	for (uint32_t port = 0; port < node->wire_count; port++) {
		if (!node->wire[port].joined)
			rig_link(node->rig, port, false);
	}
}

static void start(struct net *net)
{
	for (uint32_t i = 0; i < net->node_count; i++) {
		close_ports(&net->node[i]);
		ask_poll(net, i, net->now);
	}
}

void net_run(struct net *net, uint64_t until_ns)
{
	start(net);
	while (net->events.count > 0 && net->events.heap[0].at <= until_ns)
		step(net);
	net->now = until_ns;
}

bool net_run_dry(struct net *net, uint64_t limit_ns)
{
	start(net);
	while (net->events.count > 0 && net->events.heap[0].at <= limit_ns)
		step(net);
	return net->events.count == 0;
}

// --- building and reading ---------------------------------------------------------------------

struct net *net_new(void)
{
	struct net *net = calloc(1, sizeof(*net));

	WEFT_CHECK(net != NULL);
	return net;
}

static struct node *add_node(struct net *net, uint32_t wires)
{
	struct node *node = &net->node[net->node_count];

	WEFT_CHECK(net->node_count < NET_NODE_MAX);
	net->node_count++;
	node->wire = calloc(wires, sizeof(*node->wire));
	WEFT_CHECK(node->wire != NULL);
	node->wire_count = wires;
	node->poll_at = UINT64_MAX;
	return node;
}

uint32_t net_add_switch(struct net *net, struct rig *rig)
{
	struct node *node = add_node(net, rig->pf->port_count);

	node->rig = rig;
	rig->mac += net->node_count;
	node->rig_start = rig->now.v - net->now;
	for (uint32_t port = 0; port < node->wire_count; port++)
		impair_init(&node->wire[port].line, rig->config->sw.seed + port);
	return net->node_count - 1;
}

uint32_t net_add_host(struct net *net, const struct host_config *config)
{
	struct node *node = add_node(net, 1);

	node->config = *config;
	node->host = malloc(sizeof(*node->host));
	WEFT_CHECK(node->host != NULL);
	host_init(&node->config, node->host);
	return net->node_count - 1;
}

uint32_t net_add_endpoint(struct net *net, const struct endpoint_profile *pf,
			  const struct rc_region *region, uint32_t region_count)
{
	struct node *node = add_node(net, 1);
	void *memory = aligned_alloc(64, endpoint_bytes(pf));

	WEFT_CHECK(memory != NULL);
	memset(memory, 0, endpoint_bytes(pf));
	node->endpoint_pf = *pf;
	node->endpoint = endpoint_init(&node->endpoint_pf, region, region_count, memory);
	return net->node_count - 1;
}

void net_join(struct net *net, uint32_t a, uint32_t a_port, uint32_t b, uint32_t b_port,
	      uint64_t bps, uint64_t delay_ns)
{
	struct wire wire = { .joined = true, .up = true, .rate = { bps, 0 }, .delay_ns = delay_ns };

	WEFT_CHECK(a_port < net->node[a].wire_count && b_port < net->node[b].wire_count);
	wire.peer = b;
	wire.peer_port = b_port;
	wire.line = net->node[a].wire[a_port].line;
	net->node[a].wire[a_port] = wire;
	wire.line = net->node[b].wire[b_port].line;
	wire.peer = a;
	wire.peer_port = a_port;
	net->node[b].wire[b_port] = wire;
}

static void clear_line(struct node *node, uint32_t port)
{
	struct pkt *p;

	while (impair_clear(&node->wire[port].line, &p, 1) == 1)
		rig_free(node->rig, p);
}

void net_link(struct net *net, uint32_t node, uint32_t port, bool up)
{
	struct wire *wire = &net->node[node].wire[port];
	const uint32_t ends[2][2] = { { node, port }, { wire->peer, wire->peer_port } };

	for (uint32_t i = 0; i < 2; i++) {
		struct node *end = &net->node[ends[i][0]];

		end->wire[ends[i][1]].up = up;
		end->wire[ends[i][1]].life += !up;
		if (end->endpoint != NULL) {
			endpoint_lldp_link(&end->endpoint_pf, end->endpoint, up,
					   (ns_t){ net->now });
			ask_poll(net, ends[i][0], net->now);
		}
		if (end->rig == NULL)
			continue;
		rig_advance(end->rig, end->rig_start + net->now - end->rig->now.v);
		rig_link(end->rig, ends[i][1], up);
		if (!up)
			clear_line(end, ends[i][1]);
	}
}

void net_mute(struct net *net, uint32_t node, uint32_t port, bool mute)
{
	net->node[node].wire[port].mute = mute;
}

void net_lag(struct net *net, uint32_t node, uint64_t lag_ns, uint64_t seed)
{
	net->node[node].lag_ns = lag_ns;
	rng_seed(&net->node[node].dice, seed);
}

struct host_stats net_host_stats(const struct net *net, uint32_t node)
{
	struct host_stats stats;

	host_stats_read(net->node[node].host, (ns_t){ net->now }, &stats);
	return stats;
}

struct host_state *net_host(struct net *net, uint32_t node)
{
	return net->node[node].host;
}

struct host_config *net_host_config(struct net *net, uint32_t node)
{
	return &net->node[node].config;
}

struct endpoint_profile *net_endpoint_profile(struct net *net, uint32_t node)
{
	return &net->node[node].endpoint_pf;
}

struct endpoint_state *net_endpoint(struct net *net, uint32_t node)
{
	return net->node[node].endpoint;
}

ns_t net_now(const struct net *net)
{
	return (ns_t){ net->now };
}

struct rig *net_rig(struct net *net, uint32_t node)
{
	return net->node[node].rig;
}

struct impair_stats net_impair_stats(const struct net *net, uint32_t node, uint32_t port)
{
	return net->node[node].wire[port].line.stats;
}

uint64_t net_ring_watermark(const struct net *net, uint32_t node, uint32_t port)
{
	return net->node[node].wire[port].ring_most;
}

uint64_t net_lost(const struct net *net)
{
	return net->lost;
}

void net_visit(struct net *net, void (*visit)(void *context, uint32_t node), void *context)
{
	net->visit = visit;
	net->context = context;
}

void net_wake(struct net *net, uint32_t node, ns_t at)
{
	ask_poll(net, node, at.v);
}

void net_watch(struct net *net)
{
	net->watch = true;
}

static void free_node(struct node *node)
{
	for (uint32_t port = 0; port < node->wire_count; port++) {
		clear_line(node, port);
		while (node->wire[port].ring_head != NULL) {
			struct net_frame *frame = node->wire[port].ring_head;

			node->wire[port].ring_head = frame->next;
			free(frame);
		}
	}
	if (node->rig != NULL)
		rig_end(node->rig);
	free(node->host);
	free(node->endpoint);
	free(node->wire);
}

void net_end(struct net *net)
{
	events_free(&net->events);
	for (uint32_t i = 0; i < net->node_count; i++)
		free_node(&net->node[i]);
	free(net);
}
