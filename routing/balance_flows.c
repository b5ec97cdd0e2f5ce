// SPDX-License-Identifier: BSD-3-Clause
//
// Single flows through the switches' own hash and groups: buckets are given out as a switch gives
// them out, with all members up.
//
// Groups are built when the first flow comes to them.

#include "routing/balance.h"

#include <errno.h>
#include <string.h>

#include "routing/balance_order.h"
#include "routing/fold.h"
#include "routing/group.h"

enum {
	FIRST_ADDRESS = 10 << 24,
	PROTO_UDP = 17,
	ETHERTYPE_IPV4 = 0x0800,
	PORT_ROCE = 4791,
	PORT_SOURCE = 0xc000, // the first one of those that NICs use
	// Of a flow.
	GONE = 1, // it does not arrive
};

struct flows {
	const struct topo *topo;
	const struct topo_state *state;
	const struct plan *plan;
	const struct hash_profile *hash;
	struct arena *scratch;
	struct group **built; // [groups] NULL: not yet
	struct port_set usable;
};

static int flows_init(struct flows *f, struct arena *scratch)
{
	f->scratch = scratch;
	f->built = arena_take(scratch, f->plan->group_count, sizeof(void *));
	for (uint32_t i = 0; i < GROUP_MEMBER_MAX; i++)
		port_set_add(&f->usable, (port_t){ (uint16_t)i });
	return f->built != NULL ? 0 : -ENOMEM;
}

static int build(struct flows *f, uint32_t number)
{
	const struct plan_group *g = &f->plan->group[number];
	struct group_member members[GROUP_MEMBER_MAX] = { 0 };
	uint32_t buckets;
	int rc;

	if (g->hop_count > GROUP_MEMBER_MAX)
		return -E2BIG;
	for (uint32_t i = 0; i < g->hop_count; i++) {
		members[i].port = (port_t){ (uint16_t)i };
		members[i].next_hop = (uint16_t)i;
		members[i].weight = f->plan->hop[g->first + i].weight;
	}
	buckets = group_bucket_count(members, g->hop_count);
	f->built[number] = arena_take(f->scratch, 1, group_bytes(buckets));
	if (f->built[number] == NULL)
		return -ENOMEM;
	rc = group_build(f->built[number], members, g->hop_count, buckets, NULL);
	return rc == 0 ? 0 : -E2BIG;
}

// The link that a flow takes at a switch. 0, GONE, or an error.
static int pick(struct flows *f, uint32_t at, uint32_t edge, uint32_t to,
		const struct hash_key *key, uint32_t *link)
{
	const uint16_t row = plan_rows(f->plan, edge)[at];
	const struct plan_group *g = verify_group(f->plan, row);
	uint32_t member;
	int rc = 0;

	if (g == NULL)
		return GONE;
	if (g->pin == 0 && f->built[row] == NULL)
		rc = build(f, row);
	if (rc != 0)
		return rc;
	if (g->pin == 0) {
		const struct group_member *picked =
			group_pick(f->built[row], hash_packet(&f->hash[at], key), &f->usable);

		if (picked == NULL)
			return GONE;
		member = picked->next_hop;
	} else {
		member = to / g->pin % g->hop_count;
	}
	*link = f->topo->link_first[at] + f->plan->hop[g->first + member].link;
	return *link < f->topo->link_first[at + 1] && topo_link_up(f->topo, f->state, *link) ? 0 :
											       GONE;
}

static struct hash_key key_of(uint32_t from, uint32_t to, uint32_t qp)
{
	return (struct hash_key){
		.src_ip = { FIRST_ADDRESS + from },
		.dst_ip = { FIRST_ADDRESS + to },
		.ethertype = ETHERTYPE_IPV4,
		.protocol = PROTO_UDP,
		.src_port = PORT_SOURCE,
		.dst_port = PORT_ROCE,
		.dst_qp = qp,
	};
}

// Follows a flow, link by link in path[switch_count]. A way longer than there are switches is none.
static int follow(struct flows *f, const uint32_t *host_edge, uint32_t from, uint32_t to,
		  uint32_t qp, uint32_t *path, uint32_t *length)
{
	const uint32_t edge = host_edge[to];
	const uint32_t end = f->topo->edge_switch[edge];
	struct hash_key key = key_of(from, to, qp);
	uint32_t at = f->topo->edge_switch[host_edge[from]];

	for (*length = 0; at != end; (*length)++) {
		int rc;

		if (*length == f->topo->switch_count)
			return GONE;
		rc = pick(f, at, edge, to, &key, &path[*length]);
		if (rc != 0)
			return rc;
		key.in_port = f->topo->link_port[f->topo->link_peer[path[*length]]];
		at = topo_far(f->topo, path[*length]);
	}
	return 0;
}

static uint32_t *find_host_edges(const struct topo *topo, struct arena *scratch)
{
	uint32_t *host_edge = arena_take_raw(scratch, topo->host_count, sizeof(*host_edge));

	for (uint32_t e = 0; host_edge != NULL && e < topo->edge_count; e++) {
		for (uint32_t h = topo->edge_first_host[e]; h < topo->edge_first_host[e + 1]; h++)
			host_edge[h] = e;
	}
	return host_edge;
}

static void sum_up(const struct topo *topo, const uint32_t *load, struct balance_flows *flows)
{
	uint32_t links = 0;

	for (uint32_t link = 0; link < topo->link_count; link++) {
		links += load[link] != 0;
		flows->avg += load[link];
		if (load[link] <= flows->max)
			continue;
		flows->max = load[link];
		flows->max_link = link;
	}
	if (links != 0)
		flows->avg /= links;
}

static int load_flows(struct flows *f, const uint32_t *to_host, uint32_t qp, struct arena *scratch,
		      struct balance_flows *flows)
{
	const struct topo *topo = f->topo;
	uint32_t *host_edge = find_host_edges(topo, scratch);
	uint32_t *path = arena_take_raw(scratch, topo->switch_count, sizeof(*path));
	uint32_t *load = arena_take(scratch, topo->link_count, sizeof(*load));

	if (host_edge == NULL || path == NULL || load == NULL)
		return -ENOMEM;
	for (uint32_t h = 0; h < topo->host_count; h++) {
		uint32_t length;
		const int rc = follow(f, host_edge, h, to_host[h], qp, path, &length);

		if (rc < 0)
			return rc;
		if (rc == GONE)
			continue;
		flows->flow_count += length != 0;
		for (uint32_t i = 0; i < length; i++)
			load[path[i]]++;
	}
	sum_up(topo, load, flows);
	return 0;
}

int balance_permutation(const struct topo *topo, const struct topo_state *state,
			const struct plan *plan, const struct hash_profile *hash,
			const uint32_t *to_host, uint32_t qp, struct arena *scratch,
			struct balance_flows *flows)
{
	const size_t mark = arena_mark(scratch);
	struct flows f = { .topo = topo, .state = state, .plan = plan, .hash = hash };
	int rc = flows_init(&f, scratch);

	*flows = (struct balance_flows){ 0 };
	if (rc == 0)
		rc = load_flows(&f, to_host, qp, scratch, flows);
	arena_release(scratch, mark);
	return rc;
}

void balance_shift(uint32_t host_count, uint32_t by, uint32_t *to_host)
{
	for (uint32_t h = 0; h < host_count; h++)
		to_host[h] = (uint32_t)(((uint64_t)h + by) % host_count);
}

// Knuth's shuffle (The Art of Computer Programming, 3.4.2, algorithm P).
void balance_shuffle(struct rng *rng, uint32_t host_count, uint32_t *to_host)
{
	balance_shift(host_count, 0, to_host);
	for (uint32_t left = host_count; left > 1; left--) {
		const uint32_t other = rng_below(rng, left);
		const uint32_t swapped = to_host[left - 1];

		to_host[left - 1] = to_host[other];
		to_host[other] = swapped;
	}
}

// Counts of equal paths: a hash table of their fingerprints, which are never 0.
struct paths {
	uint64_t *print;
	uint32_t *count;
	uint32_t mask;
};

static uint64_t fingerprint(const uint32_t *path, uint32_t length)
{
	uint64_t print = FOLD_A;

	for (uint32_t i = 0; i < length; i++)
		print = fold_multiply(print ^ path[i], FOLD_B);
	return print | 1;
}

static void count_path(struct paths *paths, uint64_t print)
{
	uint32_t i = (uint32_t)(print >> 32) & paths->mask;

	while (paths->print[i] != 0 && paths->print[i] != print)
		i = (i + 1) & paths->mask;
	paths->print[i] = print;
	paths->count[i]++;
}

static int paths_init(struct paths *paths, uint32_t flow_count, struct arena *scratch)
{
	size_t slots = 1;

	while (slots < 2 * (size_t)flow_count)
		slots *= 2;
	paths->mask = (uint32_t)(slots - 1);
	paths->print = arena_take(scratch, slots, sizeof(*paths->print));
	paths->count = arena_take(scratch, slots, sizeof(*paths->count));
	return paths->print != NULL && paths->count != NULL ? 0 : -ENOMEM;
}

// Chance that two flows take the same path, from how often two of the sample do.
static double chance_of_same(const struct paths *paths, uint32_t flow_count)
{
	double same = 0;

	for (size_t i = 0; i <= paths->mask; i++)
		same += (double)paths->count[i] * (paths->count[i] - 1.0);
	return same / ((double)flow_count * (flow_count - 1.0));
}

// The same if every group split by weight: from the edge up, the squares of shares add up.
static int ideal_chance(const struct flows *f, uint32_t edge, uint32_t from, double *chance)
{
	double *same = arena_take(f->scratch, f->topo->switch_count, sizeof(*same));
	struct balance_order order;

	if (same == NULL || balance_order_init(f->topo, f->plan, f->scratch, &order) != 0)
		return -ENOMEM;
	balance_order_find(&order, edge);
	for (uint32_t n = order.count; n-- > 0;) {
		const uint32_t at = order.at[n];
		const struct plan_group *g = balance_group_at(&order, at);
		const uint64_t weight = g == NULL ? 1 : verify_group_weight(f->plan, g);

		same[at] = g == NULL ? 1 : 0;
		for (uint32_t i = 0; g != NULL && i < g->hop_count; i++) {
			const struct plan_hop *hop = &f->plan->hop[g->first + i];
			const double share = (double)hop->weight / (double)weight;

			same[at] += share * share *
				    same[order.far[f->topo->link_first[at] + hop->link]];
		}
	}
	*chance = same[f->topo->edge_switch[from]];
	return 0;
}

static int spread_flows(struct flows *f, uint32_t from, uint32_t to, uint32_t flow_count,
			struct balance_spread *spread)
{
	uint32_t *host_edge = find_host_edges(f->topo, f->scratch);
	uint32_t *path = arena_take_raw(f->scratch, f->topo->switch_count, sizeof(*path));
	struct paths paths;
	double ideal = 0;
	double used;
	int rc;

	if (host_edge == NULL || path == NULL || paths_init(&paths, flow_count, f->scratch) != 0)
		return -ENOMEM;
	for (uint32_t qp = 0; qp < flow_count; qp++) {
		uint32_t length;

		rc = follow(f, host_edge, from, to, qp, path, &length);
		if (rc < 0)
			return rc;
		count_path(&paths, fingerprint(path, length));
	}
	rc = ideal_chance(f, host_edge[to], host_edge[from], &ideal);
	used = chance_of_same(&paths, flow_count);
	spread->ideal = ideal > 0 ? 1 / ideal : 0;
	spread->used = used > 0 ? 1 / used : flow_count;
	return rc;
}

int balance_polarisation(const struct topo *topo, const struct topo_state *state,
			 const struct plan *plan, const struct hash_profile *hash, uint32_t from,
			 uint32_t to, uint32_t flow_count, struct arena *scratch,
			 struct balance_spread *spread)
{
	const size_t mark = arena_mark(scratch);
	struct flows f = { .topo = topo, .state = state, .plan = plan, .hash = hash };
	int rc = flows_init(&f, scratch);

	*spread = (struct balance_spread){ 0 };
	if (rc == 0)
		rc = spread_flows(&f, from, to, flow_count, spread);
	arena_release(scratch, mark);
	return rc;
}
