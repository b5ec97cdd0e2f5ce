// SPDX-License-Identifier: BSD-3-Clause
//
// RoCE flows and CNPs as JSON. A flow leaves by a port, which one lcore owns, so the lists of the
// lcores are joined as they are; a pair whose CNPs came in on ports of several is one row
// (cnp_merge.h).

#include "dataplane/roce_json.h"

#include <arpa/inet.h>
#include <stdlib.h>

#include "base/bytes.h"
#include "dataplane/cnp_merge.h"
#include "dataplane/dpdk/snapshot.h"

// What the lcores answered, and what is made of it.
struct roce_view {
	struct roce_list list;
	struct cnp_pairs pairs;
	const struct roce_flow *flow[LCORE_MAX * ROCE_FLOW_COUNT];
	uint32_t flow_count;
	uint64_t unlisted_marks;
};

static void set_number(json_t *object, const char *key, uint64_t number)
{
	json_object_set_new(object, key, json_integer((json_int_t)number));
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

static json_t *pair_json(const struct cnp_flow *pair)
{
	json_t *object = json_object();

	set_address(object, "src", pair->src_hi, pair->src_lo);
	set_address(object, "dst", pair->dst_hi, pair->dst_lo);
	set_number(object, "count", pair->count);
	set_number(object, "error", pair->error);
	return object;
}

// CNPs go the other way than the flow that they are about.
static uint64_t cnps_about(const struct cnp_pairs *pairs, const struct roce_flow *flow)
{
	for (uint32_t i = 0; i < pairs->count; i++) {
		const struct cnp_flow *pair = &pairs->pair[i];

		if (pair->src_lo == flow->dst_lo && pair->dst_lo == flow->src_lo &&
		    pair->src_hi == flow->dst_hi && pair->dst_hi == flow->src_hi)
			return pair->count;
	}
	return 0;
}

static json_t *flow_json(const struct roce_view *view, const struct port_profile *port,
			 const struct roce_flow *flow)
{
	const struct stat_table *table = &stat_tables[STAT_FLOW];
	const struct flow_stats stats = {
		.bytes = flow->samples * ROCE_SAMPLE_BYTES,
		.ecn_marked_packets = flow->marks,
		.cnp_packets = cnps_about(&view->pairs, flow),
	};
	json_t *object = json_object();

	json_object_set_new(object, "port", json_string(port->name));
	set_address(object, "src", flow->src_hi, flow->src_lo);
	set_address(object, "dst", flow->dst_hi, flow->dst_lo);
	set_number(object, "dst_qp", flow->dst_qp);
	set_number(object, "since_ns", flow->since.v);
	for (uint32_t i = 0; i < table->count; i++)
		set_number(object, table->rows[i].key,
			   *(const uint64_t *)((const uint8_t *)&stats + table->rows[i].offset));
	return object;
}

static int most_first(const void *a, const void *b)
{
	const struct roce_flow *x = *(const struct roce_flow *const *)a;
	const struct roce_flow *y = *(const struct roce_flow *const *)b;

	return (x->samples < y->samples) - (x->samples > y->samples);
}

// Adds the flows of ports that the switch has.
static void add_flows(struct roce_view *view, const struct roce_flows *flows, uint32_t port_count)
{
	view->unlisted_marks += flows->unlisted_marks;
	for (uint32_t i = 0; i < ROCE_FLOW_COUNT; i++) {
		const struct roce_flow *flow = &flows->flow[i];

		if (roce_flow_is_used(flow) && flow->port.v < port_count)
			view->flow[view->flow_count++] = flow;
	}
}

json_t *roce_json(struct workers *workers, struct instance *in)
{
	struct roce_view *view = calloc(1, sizeof(*view));
	struct message message = { .kind = MESSAGE_ROCE_LIST, .instance = in };
	json_t *answer, *flows, *pairs;

	if (view == NULL)
		return NULL;
	message.roce = &view->list;
	workers_call(workers, &message);
	cnp_merge(view->list.cnps, view->list.lcore_count, &view->pairs);
	for (uint32_t i = 0; i < view->list.lcore_count; i++)
		add_flows(view, &view->list.flows[i], in->profile->port_count);
	qsort(view->flow, view->flow_count, sizeof(view->flow[0]), most_first);
	answer = json_object();
	flows = json_array();
	pairs = json_array();
	for (uint32_t i = 0; i < view->flow_count; i++) {
		const struct roce_flow *flow = view->flow[i];

		json_array_append_new(flows,
				      flow_json(view, &in->profile->port[flow->port.v], flow));
	}
	for (uint32_t i = 0; i < view->pairs.count; i++)
		json_array_append_new(pairs, pair_json(&view->pairs.pair[i]));
	set_number(answer, "uptime_ns", view->list.now.v);
	set_number(answer, "unlisted_marked_packets", view->unlisted_marks);
	json_object_set_new(answer, "flows", flows);
	json_object_set_new(answer, "cnp_pairs", pairs);
	free(view);
	return answer;
}
