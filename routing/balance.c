// SPDX-License-Identifier: BSD-3-Clause
//
// All pairs, edge by edge: what goes to one edge is poured down its rows, each switch after all
// that lead to it, so that it is poured once.
//
// Where a group is pinned, each host of the edge is poured alone: groups on one path go by the same
// host.

#include "routing/balance.h"

#include <errno.h>
#include <string.h>

#include "routing/balance_order.h"

struct pour {
	const struct topo *topo;
	const struct plan *plan;
	struct balance_order order;
	uint32_t *hosts_at; // [switch_count], 0 of a lost one
	double *per_weight; // [groups] 1 / the sum of weights
	double *amount;     // [switch_count]
	double *load;       // [link_count]
};

static int prepare(struct pour *p, const struct topo_state *state, struct arena *scratch)
{
	const struct topo *topo = p->topo;

	p->hosts_at = arena_take(scratch, topo->switch_count, sizeof(*p->hosts_at));
	p->per_weight = arena_take(scratch, p->plan->group_count, sizeof(*p->per_weight));
	p->amount = arena_take_raw(scratch, topo->switch_count, sizeof(*p->amount));
	if (p->hosts_at == NULL || p->per_weight == NULL || p->amount == NULL)
		return -ENOMEM;
	for (uint32_t e = 0; e < topo->edge_count; e++) {
		if (!state->switch_lost[topo->edge_switch[e]])
			p->hosts_at[topo->edge_switch[e]] += topo_edge_hosts(topo, e);
	}
	for (uint32_t i = 0; i < p->plan->group_count; i++) {
		const struct plan_group *g = verify_group(p->plan, (uint16_t)i);
		const uint64_t weight = g == NULL ? 0 : verify_group_weight(p->plan, g);

		p->per_weight[i] = weight == 0 ? 0 : 1 / (double)weight;
	}
	return balance_order_init(topo, p->plan, scratch, &p->order);
}

static void pour_by(struct pour *p, uint32_t link, double amount)
{
	p->load[link] += amount;
	p->amount[p->order.far[link]] += amount;
}

// One switch passes on what came to it, for `host` if its group is pinned.
static void pour_from(struct pour *p, uint32_t at, uint32_t host)
{
	const struct plan_group *g = balance_group_at(&p->order, at);
	const uint32_t first = p->topo->link_first[at];
	const double amount = p->amount[at];
	double part;

	if (g == NULL || amount == 0)
		return;
	if (g->pin != 0) {
		pour_by(p, first + p->plan->hop[g->first + host / g->pin % g->hop_count].link,
			amount);
		return;
	}
	part = amount * p->per_weight[p->order.row[at]];
	for (uint32_t i = 0; i < g->hop_count; i++) {
		const struct plan_hop *hop = &p->plan->hop[g->first + i];

		pour_by(p, first + hop->link, part * hop->weight);
	}
}

// All hosts send to `times` hosts of the edge.
static void pour_all(struct pour *p, uint32_t host, uint32_t times)
{
	for (uint32_t s = 0; s < p->topo->switch_count; s++)
		p->amount[s] = (double)p->hosts_at[s] * times;
	for (uint32_t n = 0; n < p->order.count; n++)
		pour_from(p, p->order.at[n], host);
}

static void pour_edge(struct pour *p, uint32_t edge)
{
	const uint32_t first = p->topo->edge_first_host[edge];
	const uint32_t end = p->topo->edge_first_host[edge + 1];

	balance_order_find(&p->order, edge);
	if (!p->order.pinned)
		pour_all(p, first, end - first);
	for (uint32_t host = first; p->order.pinned && host < end; host++)
		pour_all(p, host, 1);
}

static void add_link(struct balance_tier *tier, uint32_t link, double load, uint16_t weight)
{
	tier->avg += load;
	tier->link_count++;
	tier->capacity += weight;
	if (load <= tier->max)
		return;
	tier->max = load;
	tier->max_link = link;
}

static void report_loads(const struct pour *p, const struct topo_state *state,
			 struct balance_report *report)
{
	const struct topo *topo = p->topo;
	double fullest = 0;

	*report = (struct balance_report){ 0 };
	for (uint32_t link = 0; link < topo->link_count; link++) {
		const double load = p->load[link];
		const uint16_t weight = topo->link_weight[link];

		if (!topo_link_up(topo, state, link))
			continue;
		add_link(&report->all, link, load, weight);
		if (p->plan->link_tier[link] < BALANCE_TIERS)
			add_link(&report->tier[p->plan->link_tier[link]], link, load, weight);
		if (load > fullest * weight)
			fullest = load / weight;
	}
	if (fullest > 0)
		report->injection = (topo->host_count - 1) / fullest;
	for (uint32_t i = 0; i <= BALANCE_TIERS; i++) {
		struct balance_tier *tier = i < BALANCE_TIERS ? &report->tier[i] : &report->all;

		if (tier->link_count != 0)
			tier->avg /= tier->link_count;
	}
}

int balance_all_pairs(const struct topo *topo, const struct topo_state *state,
		      const struct plan *plan, struct arena *scratch, double *load,
		      struct balance_report *report)
{
	const size_t mark = arena_mark(scratch);
	struct pour p = { .topo = topo, .plan = plan, .load = load };
	const int rc = prepare(&p, state, scratch);

	memset(load, 0, topo->link_count * sizeof(*load));
	for (uint32_t e = 0; rc == 0 && e < topo->edge_count; e++)
		pour_edge(&p, e);
	if (rc == 0)
		report_loads(&p, state, report);
	arena_release(scratch, mark);
	return rc;
}
