// SPDX-License-Identifier: BSD-3-Clause
//
// The rules of what another profile would lose, one row of a table each. Not on the packet path,
// but run while all lcores are parked: plain loops over ports, groups and queues.
//
// A limit that shrinks below what a lossless group holds is no loss by itself: the next packet
// raises XOFF and goes to headroom, as ever. It is one where headroom itself is taken away while
// it is needed, and it is named where a whole pool shrinks below what it holds, since then all of
// its groups stop until that has left.

#include "dataplane/core/losses.h"

#include "dataplane/core/profile_build.h"
#include "dataplane/core/state.h"

const char *const sw_loss_texts[LOSS_COUNT] = {
#define LOSS(name, text) [LOSS_##name] = (text),
#include "schema/losses.def"
#undef LOSS
};

// Where a rule looks.
struct place {
	const struct sw *sw;
	const struct sw_profile *old;
	const struct sw_profile *new;
	port_t port;   // of rules about a port or a part of it
	uint32_t part; // number of the pool, group or queue
};

static const struct port_profile *old_port(const struct place *at)
{
	return &at->old->port[at->port.v];
}

static const struct port_profile *new_port(const struct place *at)
{
	return &at->new->port[at->port.v];
}

static const struct port_state *state_of(const struct place *at)
{
	return &at->sw->port[at->port.v];
}

// --- the switch -------------------------------------------------------------------------------

static bool fewer_descriptors(const struct place *at, struct sw_loss *loss)
{
	loss->want = at->new->descriptor_shared;
	for (uint32_t i = 0; i < at->sw->lcore_count; i++)
		loss->have += at->sw->lcore[i].descriptors_used;
	return at->new->descriptor_shared < at->old->descriptor_shared && loss->have > loss->want;
}

static bool drops_storm(const struct port_profile *pf, uint32_t queue)
{
	return pf->watched >> queue & 1 && pf->watchdog[queue].action == WATCHDOG_DROP;
}

static bool may_drop(const struct port_profile *pf)
{
	bool any = false;

	for (uint32_t i = 0; i < QUEUE_COUNT; i++)
		any |= drops_storm(pf, i);
	return any;
}

static bool big_red(const struct place *at, struct sw_loss *loss)
{
	if (!at->new->big_red_switch || sw_big_red_on(at->sw))
		return false;
	for (uint32_t n = 0; n < at->new->port_count; n++) {
		if (may_drop(&at->new->port[n]))
			return true;
	}
	return false;
}

// --- pools ------------------------------------------------------------------------------------

// The same pool before, or NULL.
static const struct pool_profile *old_pool(const struct place *at)
{
	for (uint32_t i = 0; i < at->old->pool_count; i++) {
		if (name_equal(at->old->pool[i].name, at->new->pool[at->part].name))
			return &at->old->pool[i];
	}
	return NULL;
}

// What the groups and queues that are the pool's from now on hold.
static uint64_t pool_use(const struct place *at)
{
	uint64_t bytes = 0;

	for (uint32_t n = 0; n < at->new->port_count; n++) {
		const struct port_profile *pf = &at->new->port[n];
		const struct port_state *st = &at->sw->port[n];

		for (uint32_t i = 0; i < PG_COUNT; i++)
			bytes += pf->pg[i].pool == at->part ? st->pg[i].used : 0;
		for (uint32_t i = 0; i < QUEUE_COUNT; i++)
			bytes += pf->queue[i].pool == at->part ? st->queue[i].bytes : 0;
	}
	return bytes;
}

static bool pool_size(const struct place *at, struct sw_loss *loss)
{
	const struct pool_profile *before = old_pool(at);

	loss->want = at->new->pool[at->part].size_bytes;
	if (before != NULL && loss->want >= before->size_bytes)
		return false;
	loss->have = pool_use(at);
	return loss->have > loss->want;
}

static bool is_stopped(const struct port_state *st, uint32_t group)
{
	return st->pg[group].xoff || st->pg[group].headroom > 0;
}

// What the pool's groups hold in headroom; true when one of them needs it now.
static bool headroom_use(const struct place *at, uint64_t *bytes)
{
	bool stopped = false;

	for (uint32_t n = 0; n < at->new->port_count *PG_COUNT; n++) {
		const uint32_t port = n / PG_COUNT;
		const uint32_t group = n % PG_COUNT;

		if (at->new->port[port].pg[group].pool != at->part)
			continue;
		stopped |= is_stopped(&at->sw->port[port], group);
		*bytes += at->sw->port[port].pg[group].headroom;
	}
	return stopped;
}

// A pool whose headroom was private to each group had no bound for all of them.
static bool pool_headroom(const struct place *at, struct sw_loss *loss)
{
	const struct pool_profile *before = old_pool(at);

	loss->want = at->new->pool[at->part].headroom_bytes;
	if (loss->want == 0 ||
	    (before != NULL && before->headroom_bytes != 0 && loss->want >= before->headroom_bytes))
		return false;
	return headroom_use(at, &loss->have);
}

// --- groups and queues ------------------------------------------------------------------------

static bool group_lossy(const struct place *at, struct sw_loss *loss)
{
	return old_port(at)->pg[at->part].lossless && !new_port(at)->pg[at->part].lossless;
}

// Others count on all of a shared headroom: it is not made larger for a group that comes with some.
static bool joins_headroom(const struct place *at, const struct pg_profile *before,
			   const struct pg_profile *after)
{
	const struct pool_profile *to = &at->new->pool[after->pool];

	return to->headroom_bytes != 0 && !name_equal(at->old->pool[before->pool].name, to->name);
}

static bool group_headroom(const struct place *at, struct sw_loss *loss)
{
	const struct pg_profile *before = &old_port(at)->pg[at->part];
	const struct pg_profile *after = &new_port(at)->pg[at->part];

	loss->have = state_of(at)->pg[at->part].headroom;
	loss->want = after->headroom_bytes;
	return before->lossless && after->lossless && is_stopped(state_of(at), at->part) &&
	       (after->headroom_bytes < before->headroom_bytes ||
		after->headroom_descriptors < before->headroom_descriptors ||
		joins_headroom(at, before, after));
}

static bool queue_storm(const struct place *at, struct sw_loss *loss)
{
	return state_of(at)->watchdog[at->part].pfc.stormed &&
	       drops_storm(new_port(at), at->part) && !drops_storm(old_port(at), at->part);
}

// --- ports that are up ------------------------------------------------------------------------

static bool port_hold(const struct place *at, struct sw_loss *loss)
{
	return sw_held(at->sw, at->port) && !new_port(at)->hold;
}

static bool port_mtu(const struct place *at, struct sw_loss *loss)
{
	loss->have = old_port(at)->max_frame_bytes;
	loss->want = new_port(at)->max_frame_bytes;
	return loss->want < loss->have;
}

static bool in_vlan(const struct sw_profile *pf, uint16_t vid, port_t port)
{
	const uint16_t row = pf->vlan_index[vid];

	return row != 0 && port_set_has(&pf->vlan[row - 1].members, logical_port(pf, port));
}

static bool port_vlan(const struct place *at, struct sw_loss *loss)
{
	for (uint32_t i = 0; i < at->old->vlan_count; i++) {
		const uint16_t vid = at->old->vlan[i].vid;

		loss->part = vid;
		if (in_vlan(at->old, vid, at->port) && !in_vlan(at->new, vid, at->port))
			return true;
	}
	return false;
}

static bool is_lossless(const struct port_profile *pf, uint8_t tc)
{
	return pf->pg[pf->tc_to_pg[tc]].lossless;
}

// With lanes it is they that say what is lossless.
static bool maps_count(const struct place *at)
{
	return !old_port(at)->lanes && !new_port(at)->lanes;
}

static bool port_dscp(const struct place *at, struct sw_loss *loss)
{
	if (!maps_count(at) || !old_port(at)->trust_dscp || !new_port(at)->trust_dscp)
		return false;
	for (uint32_t i = 0; i < 64; i++) {
		loss->part = i;
		if (is_lossless(old_port(at), old_port(at)->dscp_to_tc[i]) &&
		    !is_lossless(new_port(at), new_port(at)->dscp_to_tc[i]))
			return true;
	}
	return false;
}

static bool port_pcp(const struct place *at, struct sw_loss *loss)
{
	for (uint32_t i = 0; i < PRIO_COUNT && maps_count(at); i++) {
		loss->part = i;
		if (is_lossless(old_port(at), old_port(at)->pcp_to_tc[i]) &&
		    !is_lossless(new_port(at), new_port(at)->pcp_to_tc[i]))
			return true;
	}
	return false;
}

static bool port_trust(const struct place *at, struct sw_loss *loss)
{
	if (old_port(at)->trust_dscp == new_port(at)->trust_dscp || !maps_count(at))
		return false;
	for (uint8_t tc = 0; tc < TC_COUNT; tc++) {
		if (is_lossless(old_port(at), tc))
			return true;
	}
	return false;
}

// Whether the member of a LAG could be sent to at once.
static bool stays_usable(const struct place *at, port_t port)
{
	const struct lag_profile *before = lag_profile_of(at->old, port);
	const struct lag_profile *after = lag_profile_of(at->new, port);

	return sw_port_usable(at->sw, port) &&
	       (after == NULL || !after->lacp || (before != NULL && before->lacp));
}

static bool port_lag(const struct place *at, struct sw_loss *loss)
{
	return sw_port_usable(at->sw, at->port) && !stays_usable(at, at->port);
}

// Said once for a LAG, at its lowest member.
static bool port_links(const struct place *at, struct sw_loss *loss)
{
	const struct lag_profile *lag = lag_profile_of(at->new, at->port);

	if (lag == NULL || lag->logical.v != at->port.v)
		return false;
	PORT_SET_FOR_EACH(port, &lag->members) {
		loss->have += stays_usable(at, port);
		loss->part |= sw_link_reachable(at->sw, port);
	}
	loss->want = lag->min_links;
	return loss->part != 0 && loss->have < loss->want;
}

static bool port_hello(const struct place *at, struct sw_loss *loss)
{
	const struct hello_profile *before = &old_port(at)->hello;
	const struct hello_profile *after = &new_port(at)->hello;

	return after->on && after->required && (!before->on || !before->required);
}

static bool port_peer(const struct place *at, struct sw_loss *loss)
{
	struct hello_peer peer = *sw_peer(at->sw, at->port);

	if (!new_port(at)->hello.on || !old_port(at)->hello.on || peer.mismatch != HELLO_AGREE)
		return false;
	hello_peer_agree(&new_port(at)->hello, &peer);
	return peer.mismatch != HELLO_AGREE;
}

// --- the table --------------------------------------------------------------------------------

enum scope { OF_SWITCH, OF_POOL, OF_PORT, OF_GROUP, OF_QUEUE };

static const struct rule {
	enum sw_loss_id id;
	enum scope scope;
} rules[] = {
	{ LOSS_DESCRIPTORS, OF_SWITCH }, { LOSS_BIG_RED, OF_SWITCH },
	{ LOSS_POOL_SIZE, OF_POOL },     { LOSS_POOL_HEADROOM, OF_POOL },
	{ LOSS_GROUP_LOSSY, OF_GROUP },  { LOSS_GROUP_HEADROOM, OF_GROUP },
	{ LOSS_QUEUE_STORM, OF_QUEUE },  { LOSS_PORT_HOLD, OF_PORT },
	{ LOSS_PORT_MTU, OF_PORT },      { LOSS_PORT_VLAN, OF_PORT },
	{ LOSS_PORT_DSCP, OF_PORT },     { LOSS_PORT_PCP, OF_PORT },
	{ LOSS_PORT_TRUST, OF_PORT },    { LOSS_PORT_LAG, OF_PORT },
	{ LOSS_PORT_LINKS, OF_PORT },    { LOSS_PORT_HELLO, OF_PORT },
	{ LOSS_PORT_PEER, OF_PORT },
};

enum { RULE_COUNT = sizeof(rules) / sizeof(rules[0]) };
static_assert((int)RULE_COUNT == (int)LOSS_COUNT, "every row of schema/losses.def has a rule");

// Asks one rule, with `loss` cleared but for object and part: it fills the rest.
static bool loses(enum sw_loss_id id, const struct place *at, struct sw_loss *loss)
{
	switch (id) {
	case LOSS_DESCRIPTORS: return fewer_descriptors(at, loss);
	case LOSS_BIG_RED: return big_red(at, loss);
	case LOSS_POOL_SIZE: return pool_size(at, loss);
	case LOSS_POOL_HEADROOM: return pool_headroom(at, loss);
	case LOSS_GROUP_LOSSY: return group_lossy(at, loss);
	case LOSS_GROUP_HEADROOM: return group_headroom(at, loss);
	case LOSS_QUEUE_STORM: return queue_storm(at, loss);
	case LOSS_PORT_HOLD: return port_hold(at, loss);
	case LOSS_PORT_MTU: return port_mtu(at, loss);
	case LOSS_PORT_VLAN: return port_vlan(at, loss);
	case LOSS_PORT_DSCP: return port_dscp(at, loss);
	case LOSS_PORT_PCP: return port_pcp(at, loss);
	case LOSS_PORT_TRUST: return port_trust(at, loss);
	case LOSS_PORT_LAG: return port_lag(at, loss);
	case LOSS_PORT_LINKS: return port_links(at, loss);
	case LOSS_PORT_HELLO: return port_hello(at, loss);
	case LOSS_PORT_PEER: return port_peer(at, loss);
	case LOSS_COUNT: break;
	}
	return false;
}

struct list {
	struct sw_loss *out;
	uint32_t max;
	uint32_t count;
};

static void ask(const struct rule *rule, const struct place *at, const char *object,
		struct list *list)
{
	struct sw_loss loss = { .id = rule->id, .object = object, .part = at->part };

	if (!loses(rule->id, at, &loss))
		return;
	if (list->count < list->max)
		list->out[list->count] = loss;
	list->count++;
}

static void ask_ports(const struct rule *rule, struct place *at, uint32_t parts, struct list *list)
{
	for (uint32_t n = 0; n < at->new->port_count; n++) {
		at->port = (port_t){ (uint16_t)n };
		if (!port_is_up(&at->sw->port[n]))
			continue;
		for (at->part = 0; at->part < parts; at->part++)
			ask(rule, at, at->new->port[n].name, list);
	}
}

static void ask_pools(const struct rule *rule, struct place *at, struct list *list)
{
	for (at->part = 0; at->part < at->new->pool_count; at->part++)
		ask(rule, at, at->new->pool[at->part].name, list);
}

uint32_t sw_losses(const struct sw *sw, const struct sw_profile *pf, struct sw_loss *out,
		   uint32_t max)
{
	struct list list = { out, max, 0 };

	for (uint32_t i = 0; i < RULE_COUNT; i++) {
		struct place at = { .sw = sw, .old = sw->pf, .new = pf };

		switch (rules[i].scope) {
		case OF_SWITCH: ask(&rules[i], &at, "", &list); break;
		case OF_POOL: ask_pools(&rules[i], &at, &list); break;
		case OF_PORT: ask_ports(&rules[i], &at, 1, &list); break;
		case OF_GROUP: ask_ports(&rules[i], &at, PG_COUNT, &list); break;
		case OF_QUEUE: ask_ports(&rules[i], &at, QUEUE_COUNT, &list); break;
		}
	}
	return list.count;
}
