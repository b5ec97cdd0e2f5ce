// SPDX-License-Identifier: BSD-3-Clause
//
// Making and unmaking a run: devices, DPDK, memory, endpoints, queue pairs; and its figures in the
// end.

#include "traffic/run.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "traffic/crc.h"
#include "traffic/profile.h"
#include "traffic/zeroed.h"

enum {
	RKEY = 0x5a, // the one region has index 0 in the upper bits, below them any key
	PSN_FIRST = 0x100000,
};

// Where a host's memory is for its peers: apart from that of others, so that a mistake shows.
static uint64_t va_of(uint32_t rank)
{
	return (uint64_t)(rank + 1) << 40;
}

static int make_job(struct run *run)
{
	int rc = workload_make(run->config, run->host_count, &run->workload);
	void *memory;

	if (rc != 0)
		return rc;
	memory = zeroed(job_bytes(&run->workload.job));
	if (memory == NULL)
		return -ENOMEM;
	run->job = job_init(&run->workload.job, memory);
	return 0;
}

static int make_host(struct run *run, uint32_t rank, enum roce_crc crc)
{
	struct port_host *host = &run->host[rank];
	struct rc_region *region = &run->region[rank];

	profile_make(run->config, &run->workload, rank, job_qp_count(run->job, rank), crc,
		     &host->profile);
	*region = (struct rc_region){
		.va = va_of(rank),
		.bytes = job_memory_bytes(run->job),
		.data = zeroed(job_memory_bytes(run->job)),
		.rkey = (uint8_t)(RKEY + rank),
		.remote_write = true,
		.remote_read = true,
	};
	run->memory[rank] = zeroed(endpoint_bytes(&host->profile));
	if (region->data == NULL || run->memory[rank] == NULL)
		return -ENOMEM;
	host->endpoint = endpoint_init(&host->profile, region, 1, run->memory[rank]);
	job_attach(run->job, rank, region->data, region->va, region->rkey);
	return 0;
}

static uint32_t first_psn(uint32_t rank, uint32_t qp)
{
	return psn_add(PSN_FIRST * (rank % 15 + 1), qp * 64);
}

static int connect_qp(struct run *run, uint32_t rank, uint32_t qp)
{
	const struct job_link link = job_link(run->job, rank, qp);
	const struct ip_prefix address = profile_address(run->config, link.rank);
	struct port_host *host = &run->host[rank];
	struct endpoint_peer peer = {
		.ipv6 = address.family == IP_V6,
		.qp = run->host[link.rank].profile.qp_base + link.qp,
		.send_psn = first_psn(rank, qp),
		.receive_psn = first_psn(link.rank, link.qp),
		.dscp = link.dscp,
		.ecn = run->config->run.ecn ? ECN_ECT0 : ECN_NOT_ECT,
	};

	memcpy(peer.ip, address.address, sizeof(peer.ip));
	return endpoint_connect(&host->profile, host->endpoint, qp, &peer, (ns_t){ 0 });
}

static int connect_host(struct run *run, uint32_t rank)
{
	int rc = 0;

	for (uint32_t qp = 0; qp < job_qp_count(run->job, rank) && rc == 0; qp++)
		rc = connect_qp(run, rank, qp);
	return rc;
}

static int make_hosts(struct run *run)
{
	const enum roce_crc crc = crc_method();
	int rc = 0;

	for (uint32_t i = 0; i < run->host_count && rc == 0; i++)
		rc = make_host(run, i, crc);
	for (uint32_t i = 0; i < run->host_count && rc == 0; i++)
		rc = connect_host(run, i);
	return rc;
}

int run_open(struct run *run, const struct traffic_config *config)
{
	const uint64_t memory = config->run.memory;
	int rc;

	*run = (struct run){ .config = config, .host_count = traffic_host_count(config) };
	run->host = calloc(run->host_count, sizeof(*run->host));
	run->region = calloc(run->host_count, sizeof(*run->region));
	run->memory = calloc(run->host_count, sizeof(*run->memory));
	run->pause = calloc(run->host_count, sizeof(*run->pause));
	rc = run->host == NULL || run->region == NULL || run->memory == NULL || run->pause == NULL ?
		     -ENOMEM :
		     0;
	if (rc == 0) {
		for (uint32_t i = 0; i < run->host_count; i++)
			traffic_host_device(config, i, run->host[i].device);
		rc = make_job(run);
	}
	if (rc == 0)
		rc = make_hosts(run);
	if (rc == -ENOMEM)
		fputs("weft-traffic: out of memory\n", stderr);
	else if (rc == -ENOSPC)
		fputs("weft-traffic: more neighbours than a host may have\n", stderr);
	if (rc == 0 && config->run.switch_name[0] != '\0')
		rc = switch_counts_read(config->run.switch_name,
					(prio_t){ (uint8_t)config->run.priority },
					&run->switch_before);
	if (rc == 0)
		rc = port_hosts_check_paths(run->host, run->host_count);
	if (rc == 0)
		rc = port_hosts_start_dpdk(run->host, run->host_count,
					   memory == CONFIG_UNSET ? 0 : memory);
	run->has_dpdk = rc == 0;
	if (rc == 0) {
		unmap_waits_for(&run->visits.poller);
		rc = port_hosts_open(run->host, run->host_count);
	}
	return rc;
}

void run_close(struct run *run)
{
	if (run->host != NULL)
		port_hosts_close(run->host, run->host_count);
	if (run->has_dpdk)
		port_hosts_stop_dpdk();
	for (uint32_t i = 0; i < run->host_count && run->memory != NULL; i++)
		free(run->memory[i]);
	for (uint32_t i = 0; i < run->host_count && run->region != NULL; i++)
		free(run->region[i].data);
	free(run->job);
	workload_free(&run->workload);
	free(run->pause);
	free(run->memory);
	free(run->region);
	free(run->host);
}

// --- figures ----------------------------------------------------------------------------------

static void read_host(struct run *run, uint32_t rank, struct report_host *out)
{
	const struct port_host *host = &run->host[rank];
	endpoint_stats_read(&host->profile, host->endpoint, &out->stats, &out->rc);
	job_rank_result(run->job, rank, &out->job);
	out->paused_ns = run->pause[rank].held_ns;
	out->pausing_ns = run->pause[rank].holding_ns;
	out->unreadable = host->unreadable;
}

int run_report(struct run *run, struct report *report)
{
	struct report_host *host = calloc(run->host_count, sizeof(*host));
	int rc = -ENOMEM;

	for (uint32_t i = 0; i < run->host_count && host != NULL; i++)
		read_host(run, i, &host[i]);
	if (host != NULL)
		rc = report_of_job(
			run->job,
			&(struct report_input){ .config = run->config,
						.workload = &run->workload,
						.host = host,
						.elapsed_ns = ns_since(run->ended, run->begun),
						.at_switch = &run->switch_during,
						.stuck = run->stuck || run->switch_lost,
						.starved_ns = run->visits.starved_ns,
						.outcome = run->outcome },
			report);
	free(host);
	return rc;
}
