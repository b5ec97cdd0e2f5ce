// SPDX-License-Identifier: BSD-3-Clause
//
// Hosts around one switch: the star of tests/issues/star.h on the event loop of tests/rig/net.h.
// Links are full duplex at STAR_BPS; the switch's ports are paced at that rate unless a test gave
// them another, so queues form in the switch and nowhere else.

#include "tests/issues/star.h"

#include <stdlib.h>

#include "base/check.h"

struct sw_config *star_config(uint32_t ports)
{
	struct sw_config *c = setup_kvm(ports);

	for (uint32_t i = 0; i < ports; i++)
		c->port[i].speed = STAR_BPS;
	setup_find_pool(c, KVM_INGRESS_POOL)->size = 200000ull * ports;
	setup_find_pool(c, KVM_LOSSY_POOL)->size = 100000ull * ports;
	return c;
}

void star_hosts(struct host_config *hosts, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++)
		host_config_init(&hosts[i], i);
}

struct star star_new(struct sw_config *config, const struct host_config *hosts)
{
	struct star star = { .net = net_new(), .count = config->port_count };

	WEFT_CHECK(star.count <= STAR_PORTS_MAX);
	star.rig = rig_new(config);
	star.sw = net_add_switch(star.net, star.rig);
	for (uint32_t i = 0; i < star.count; i++) {
		star.host[i] = net_add_host(star.net, &hosts[i]);
		net_join(star.net, star.host[i], 0, star.sw, i, STAR_BPS, STAR_DELAY_NS);
	}
	return star;
}

struct host_prio_stats star_prio(const struct star *star, uint32_t host, uint32_t prio)
{
	return net_host_stats(star->net, star->host[host]).prio[prio];
}

uint64_t star_sent(const struct star *star, uint32_t prio)
{
	uint64_t sent = 0;

	for (uint32_t i = 0; i < star->count; i++)
		sent += star_prio(star, i, prio).tx_packets;
	return sent;
}

void star_finish(struct star *star, uint64_t at_ns)
{
	for (uint32_t i = 0; i < star->count; i++) {
		struct host_config *host = net_host_config(star->net, star->host[i]);

		for (uint32_t f = 0; f < host->flow_count; f++)
			host->flow[f].stop = (ns_t){ at_ns };
	}
	net_run(star->net, at_ns + 200 * STAR_MS);
}

enum profile_fault_id star_fault(struct sw_config *config)
{
	struct sw_profile *pf = malloc(profile_bytes(config));
	struct profile_fault fault = { .id = FAULT_NONE };

	WEFT_CHECK(pf != NULL);
	profile_build(config, pf, &fault);
	free(pf);
	free(config);
	return fault.id;
}
