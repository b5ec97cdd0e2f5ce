// SPDX-License-Identifier: BSD-3-Clause
//
// CNPs per pair of addresses as JSON. Each lcore counts what it receives; a pair whose CNPs came
// in on ports of several lcores is one row (cnp_merge.h).

#include "dataplane/cnp_json.h"

#include <arpa/inet.h>
#include <stdlib.h>

#include "base/bytes.h"
#include "dataplane/cnp_merge.h"
#include "dataplane/dpdk/snapshot.h"

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
	struct cnp_pairs *all = calloc(1, sizeof(*all));
	struct message message = { .kind = MESSAGE_CNP_LIST, .instance = in };
	json_t *answer = NULL;
	json_t *flows;

	if (list == NULL || all == NULL)
		goto out;
	message.cnp = list;
	workers_call(workers, &message);
	cnp_merge(list->flows, list->lcore_count, all);
	flows = json_array();
	for (uint32_t i = 0; i < all->count; i++)
		json_array_append_new(flows, flow_json(&all->pair[i]));
	answer = json_object();
	json_object_set_new(answer, "uptime_ns", json_integer((json_int_t)list->now.v));
	json_object_set_new(answer, "flows", flows);
out:
	free(list);
	free(all);
	return answer;
}
