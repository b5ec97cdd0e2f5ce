// SPDX-License-Identifier: BSD-3-Clause
//
// Storm generators of the bench. A period of 0 is nine tenths of the pause time at the port's rate:
// each frame arrives before the timer of the last one runs out.

#include "tests/rig/storm.h"

#include "base/check.h"

enum { PAUSE_MAX = 65535 };

struct sw_config *storm_config(uint32_t ports, enum watchdog_action action)
{
	struct sw_config *c = setup_kvm(ports);
	struct pfc_wd_config *row = setup_pfc_wd(c, "all", action);

	c->sw.pfc_wd_poll_interval = STORM_POLL * STORM_MS;
	row->detection_time = STORM_DETECTION * STORM_MS;
	row->restoration_time = STORM_RESTORATION * STORM_MS;
	return c;
}

static uint64_t pause_ns(const struct rig *rig, uint32_t port)
{
	return pfc_quanta_ns(PAUSE_MAX, rig->pf->port[port].rx.bps);
}

static void send_due(struct rig *rig, struct storm *storm)
{
	for (uint32_t i = 0; i < rig->pf->port_count; i++) {
		uint64_t period = storm->period_ns != 0 ? storm->period_ns :
							  pause_ns(rig, i) * 9 / 10;

		if (storm->enable[i] == 0 || ns_before(rig->now, storm->next[i]))
			continue;
		rig_send_pfc(rig, i, storm->enable[i], PAUSE_MAX);
		storm->next[i] = ns_add(rig->now, period);
	}
}

static uint64_t next_frame_ns(const struct rig *rig, const struct storm *storm)
{
	uint64_t wait = UINT64_MAX;

	for (uint32_t i = 0; i < rig->pf->port_count; i++) {
		if (storm->enable[i] != 0)
			wait = u64_min(wait, ns_since(storm->next[i], rig->now));
	}
	return wait;
}

void storm_step(struct rig *rig, struct storm *storm, uint64_t step_ns)
{
	WEFT_CHECK(rig->pf->port_count <= STORM_PORTS);
	send_due(rig, storm);
	while (step_ns > 0) {
		uint64_t ns = u64_min(step_ns, next_frame_ns(rig, storm));

		rig_advance(rig, ns);
		send_due(rig, storm);
		step_ns -= ns;
	}
}

void storm_stop(struct rig *rig, struct storm *storm, uint32_t port)
{
	rig_send_pfc(rig, port, storm->enable[port], 0);
	storm->enable[port] = 0;
	storm->next[port] = (ns_t){ 0 };
}

uint64_t storm_wait(struct rig *rig, struct storm *storm, uint32_t port, uint32_t queue,
		    bool stormed, uint32_t limit_ms)
{
	for (uint32_t ms = 0; ms <= limit_ms; ms++) {
		if (rig_queue(rig, port, queue).pfc_wd_status == stormed)
			return ms;
		storm_step(rig, storm, STORM_MS);
	}
	WEFT_CHECK(false);
	return 0;
}
