// SPDX-License-Identifier: BSD-3-Clause
//
// CNPs per pair of addresses as JSON. Each lcore counts what it receives; a pair whose CNPs came
// in on ports of several lcores is added up here, errors too, which keeps both bounds.

#include "dataplane/cnp_json.h"

#include <arpa/inet.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "dataplane/dpdk/snapshot.h"

enum { FLOWS_MAX = LCORE_MAX * CNP_FLOW_COUNT };

struct all_flows {
	uint32_t count;
	struct cnp_flow flow[FLOWS_MAX];
};

static bool same_pair(const struct cnp_flow *a, const struct cnp_flow *b)
{
	return a->src_hi == b->src_hi && a->src_lo == b->src_lo && a->dst_hi == b->dst_hi &&
	       a->dst_lo == b->dst_lo;
}

static void add_flow(struct all_flows *all, const struct cnp_flow *flow)
{
	for (uint32_t i = 0; i < all->count; i++) {
		if (!same_pair(&all->flow[i], flow))
			continue;
		all->flow[i].count += flow->count;
		all->flow[i].error += flow->error;
		return;
	}
	all->flow[all->count++] = *flow;
}

static int most_first(const void *a, const void *b)
{
	const struct cnp_flow *x = a;
	const struct cnp_flow *y = b;

	return (x->count < y->count) - (x->count > y->count);
}

static void set_address(json_t *object, const char *key, uint64_t hi, uint64_t lo)
{
	const bool v4 = hi == 0 && lo >> 32 == 0xffff;
	char text[INET6_ADDRSTRLEN] = "";
	uint8_t address[16];

	store_be32(address, (uint32_t)(hi >> 32));
	store_be32(address + 4, (uint32_t)hi);
	store_be32(address + 8, (uint32_t)(lo >> 32));
	store_be32(address + 12, (uint32_t)lo);
	inet_ntop(v4 ? AF_INET : AF_INET6, v4 ? address + 12 : address, text, sizeof(text));
	json_object_set_new(object, key, json_string(text));
}

static json_t *flow_json(const struct cnp_flow *flow)
{
	json_t *object = json_object();

	set_address(object, "src", flow->src_hi, flow->src_lo);
	set_address(object, "dst", flow->dst_hi, flow->dst_lo);
	json_object_set_new(object, "count", json_integer((json_int_t)flow->count));
	json_object_set_new(object, "error", json_integer((json_int_t)flow->error));
	return object;
}

json_t *cnp_json(struct workers *workers, struct instance *in)
{
	struct cnp_list *list = calloc(1, sizeof(*list));
	struct all_flows *all = calloc(1, sizeof(*all));
	struct message message = { .kind = MESSAGE_CNP_LIST, .instance = in };
	json_t *answer = NULL;
	json_t *flows;

	if (list == NULL || all == NULL)
		goto out;
	message.cnp = list;
	workers_call(workers, &message);
	for (uint32_t i = 0; i < list->lcore_count; i++) {
		for (uint32_t k = 0; k < list->flows[i].used; k++)
			add_flow(all, &list->flows[i].flow[k]);
	}
	qsort(all->flow, all->count, sizeof(all->flow[0]), most_first);
	flows = json_array();
	for (uint32_t i = 0; i < all->count; i++)
		json_array_append_new(flows, flow_json(&all->flow[i]));
	answer = json_object();
	json_object_set_new(answer, "uptime_ns", json_integer((json_int_t)list->now.v));
	json_object_set_new(answer, "flows", flows);
out:
	free(list);
	free(all);
	return answer;
}
