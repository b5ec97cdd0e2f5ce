// SPDX-License-Identifier: BSD-3-Clause
//
// Profiles of hosts. What no knob says is as NICs and soft-RoCE have it: CNPs with DSCP 48 in
// priority 6, an acknowledgement for every sixteenth packet, receivers that ask for 10 us when they
// are not ready. An acknowledgement that nobody asked for may wait for longer than sixteen packets
// take at 1G, or it is sent at each look at a port: twice as many at 100M.

#include "traffic/profile.h"

#include <string.h>

enum {
	QUANTA = UINT16_MAX,
	ACK_EVERY = 16,
	ACK_DELAY_NS = 200000,
	READ_DEPTH = 16,
	RNR_TIMER = 1, // 10 us
	ETHERNET_BYTES = 18,
	SEND_MIN = 64,
};
#define LLDP_INTERVAL_NS 30000000000 // IEEE 802.1AB 9.2.5.7

static_assert((int)TRAFFIC_DCBX_OFF == (int)ENDPOINT_DCBX_OFF &&
	      (int)TRAFFIC_DCBX_ANNOUNCE == (int)ENDPOINT_DCBX_ANNOUNCE &&
	      (int)TRAFFIC_DCBX_WILLING == (int)ENDPOINT_DCBX_WILLING);

static uint32_t power_of_two(uint64_t least)
{
	uint32_t n = 1;

	while (n < least)
		n *= 2;
	return n;
}

struct ip_prefix profile_address(const struct traffic_config *config, uint32_t rank)
{
	const struct rank_config *own = traffic_rank(config, rank);
	struct ip_prefix address = config->run.ip;
	const uint32_t bytes = ip_family_bits(address.family) / 8;
	uint32_t carry = rank;

	if (own != NULL && own->ip.family != IP_NONE)
		return own->ip;
	for (uint32_t i = bytes; i-- > 0 && carry != 0;) {
		carry += address.address[i];
		address.address[i] = (uint8_t)carry;
		carry >>= 8;
	}
	return address;
}

static void set_address(const struct traffic_config *config, uint32_t rank,
			struct endpoint_profile *out)
{
	const struct ip_prefix address = profile_address(config, rank);
	const struct rank_config *own = traffic_rank(config, rank);

	out->mac = own != NULL && own->mac != CONFIG_UNSET ?
			   own->mac :
			   (config->run.mac + rank) & 0xffffffffffff;
	out->has_ipv4 = address.family == IP_V4;
	out->has_ipv6 = address.family == IP_V6;
	if (out->has_ipv4)
		memcpy(out->ipv4, address.address, sizeof(out->ipv4));
	else
		memcpy(out->ipv6, address.address, sizeof(out->ipv6));
}

static void set_trouble(const struct traffic_config *config, const struct trouble_config *trouble,
			struct endpoint_profile *out)
{
	const uint8_t paused = config->run.pfc ? (uint8_t)(1 << config->run.priority) : 0;

	out->trouble = (struct endpoint_trouble){
		.storm_quanta = (uint16_t)trouble->storm_quanta,
		.storm_gap_ns = trouble->storm_gap,
		.storm_start = { trouble->storm_start },
		.storm_stop = { trouble->storm_stop },
		.ecn_blind = trouble->ecn_blind,
		.corrupt_ppm = (uint32_t)trouble->corrupt,
		.reorder_ppm = (uint32_t)trouble->reorder,
	};
	if (trouble->ignore_pfc) {
		out->obey = 0;
		if (out->lldp.dcbx == ENDPOINT_DCBX_WILLING)
			out->lldp.dcbx = ENDPOINT_DCBX_ANNOUNCE;
	}
	if (trouble->slow != 0)
		out->receiver = (struct receiver_profile){
			.bps = trouble->slow,
			.buffer_bytes = trouble->buffer,
			.xoff_bytes = trouble->buffer / 2,
			.xon_bytes = trouble->buffer / 4,
			.gen = receiver_gen(paused, QUANTA, out->bps),
		};
}

static struct rc_profile make_rc(const struct run_config *run)
{
	return (struct rc_profile){
		.mtu = (uint32_t)run->mtu,
		.window = power_of_two(run->window),
		.ack_every = ACK_EVERY,
		.request_every = ACK_EVERY,
		.read_depth = READ_DEPTH,
		.timeout_ns = run->retry_timeout,
		.ack_delay_ns = ACK_DELAY_NS,
		.retry_limit = (uint8_t)run->retries,
		.rnr_limit = RC_RNR_FOR_EVER,
		.rnr_timer = RNR_TIMER,
		.selective = run->selective,
		.reorder_ns = run->reorder_time,
	};
}

void profile_make(const struct traffic_config *config, const struct workload *workload,
		  uint32_t rank, uint32_t qp_count, enum roce_crc crc, struct endpoint_profile *out)
{
	const struct run_config *run = &config->run;
	const struct trouble_config *trouble = traffic_trouble(config, rank);
	const uint32_t depth = workload->job.receive_depth;

	*out = (struct endpoint_profile){
		.bps = traffic_host_bps(config, rank),
		.mtu = ROCE_OVERHEAD_MAX - ETHERNET_BYTES + (uint32_t)run->mtu,
		.obey = run->pfc ? (uint8_t)(1 << run->priority) : 0,
		.burst_ns = run->burst,
		.cnp_dscp = PROFILE_CNP_DSCP,
		.dcqcn = run->congestion_control,
		.rc = make_rc(run),
		.crc = crc,
		.qp_base = PROFILE_QP_BASE,
		.qp_count = qp_count,
		.neighbor_count = workload->host_count,
		.send_count = power_of_two(depth > SEND_MIN ? depth : SEND_MIN),
		.receive_count = power_of_two(depth > SEND_MIN ? depth : SEND_MIN),
		.lldp = { .interval_ns = LLDP_INTERVAL_NS,
			  .dcbx = (enum endpoint_dcbx)run->dcbx,
			  .dscp = (uint8_t)run->dscp,
			  .rank = rank },
		.seed = run->seed + rank,
	};
	set_address(config, rank, out);
	out->dscp_to_prio[run->dscp] = (uint8_t)run->priority;
	out->dscp_to_prio[PROFILE_CNP_DSCP] = PROFILE_CNP_PRIO;
	dcqcn_build(&config->dcqcn[0], out->bps, &out->rp, &out->np);
	if (trouble != NULL)
		set_trouble(config, trouble, out);
}

void profile_begin(const struct traffic_config *config, uint32_t rank, ns_t now,
		   struct endpoint_profile *pf)
{
	const struct trouble_config *trouble = traffic_trouble(config, rank);

	if (trouble == NULL)
		return;
	pf->trouble.storm = (uint8_t)trouble->storm;
	pf->trouble.storm_start = ns_add(now, trouble->storm_start);
	if (trouble->storm_stop != 0)
		pf->trouble.storm_stop = ns_add(now, trouble->storm_stop);
}
