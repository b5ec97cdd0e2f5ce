// SPDX-License-Identifier: BSD-3-Clause
//
// The state of a port here is: no device (waiting for `retry.at`), device without carrier, device
// with carrier and polled by the lcore (pktio.active).

#include "dataplane/port_keeper.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "dataplane/dpdk/link.h"
#include "dataplane/steering.h"
#include "sys/log.h"

enum {
	PAUSE_FIRST_MS = 100,
	PAUSE_MAX_MS = 5000,
};

static const uint64_t ms_ns = 1000000;

static bool sends_pfc(const struct instance *in, uint32_t i)
{
	return in->profile->port[i].gen.enable != 0;
}

bool port_keeper_needs_pfc(const struct port_profile *pf)
{
	return pf->gen.enable != 0 || (!pf->hold && pf->rx.obey);
}

static void close_device(struct port *port)
{
	port_close(port);
	steering_stop(port);
}

static int open_device(struct port_keeper *keeper, uint32_t i)
{
	struct instance *in = keeper->in;
	struct port *port = &in->port[i];
	int rc = steering_prepare(port);

	if (rc == 0)
		rc = port_open(port, port_pool(port, in->pools),
			       port_keeper_needs_pfc(&in->profile->port[i]));
	if (rc == 0)
		rc = steering_start(port);
	if (rc != 0)
		close_device(port);
	return rc;
}

static int open_port(struct port_keeper *keeper, uint32_t i)
{
	struct instance *in = keeper->in;
	struct port *port = &in->port[i];
	struct pktio *io = &in->io[i];
	int rc = open_device(keeper, i);

	if (rc != 0)
		return rc;
	io->ethdev = port->ethdev;
	io->link_rx = port->link != NULL ? link_rx_ring(port) : NULL;
	io->link_tx = port->link != NULL ? link_tx_ring(port) : NULL;
	io->linear = port_pool(port, in->pools);
	io->queues = NULL;
	if (port->pfc == PFC_PATH_DEVICE)
		device_open(io, &port->plan);
	io->interrupts = port->driver->rx_interrupts && port_rx_queues(port) == 1;
	io->contiguous = port->driver->contiguous;
	io->wire = port->driver->class == DRIVER_WIRE;
	io->idle_ns = u64_min(port->driver->idle_us * 1000ull, IDLE_NS_MAX);
	memcpy(io->mac, port->mac, sizeof(io->mac));
	return 0;
}

static void tell_link(struct port_keeper *keeper, uint32_t i, bool up)
{
	struct message message = {
		.kind = MESSAGE_LINK,
		.instance = keeper->in,
		.port = { (uint16_t)i },
		.up = up,
	};

	// Waits: once the link is down the device is ours.
	workers_call(keeper->workers, &message);
	if (!up)
		workers_forget_port(keeper->workers, keeper->in, message.port);
	log_info("%s: link %s", keeper->in->port[i].label, up ? "up" : "down");
}

static void put_off(struct port_retry *retry, ns_t now)
{
	uint64_t pause = retry->pause_ns == 0 ? PAUSE_FIRST_MS * ms_ns : 2 * retry->pause_ns;

	retry->pause_ns = u64_min(pause, PAUSE_MAX_MS * ms_ns);
	retry->at = ns_add(now, retry->pause_ns);
}

int port_keeper_start(struct port_keeper *keeper, struct workers *workers, struct instance *in)
{
	int worst = 0;

	*keeper = (struct port_keeper){ .workers = workers, .in = in };
	keeper->retry = calloc(in->port_count, sizeof(*keeper->retry));
	if (keeper->retry == NULL)
		return -ENOMEM;
	in->keeper = keeper;
	for (uint32_t i = 0; i < in->port_count; i++) {
		if (in->config->port[i].admin && open_port(keeper, i) == -EINVAL)
			worst = -EINVAL;
	}
	return worst;
}

static void warn_pause(const char *label, const struct port_profile *pf)
{
	uint64_t pause_ns = pfc_quanta_ns(pf->gen.quanta, pf->rx.bps);

	if (pause_ns < PROFILE_PAUSE_MIN_NS)
		log_warn(
			"%s: pfc_quanta give a pause of %llu ns at the link's rate of %llu Mbit/s, "
			"less than %d: the peer may resume on its own; raise pfc_quanta",
			label, (unsigned long long)pause_ns,
			(unsigned long long)(pf->rx.bps / 1000000), PROFILE_PAUSE_MIN_NS);
}

// The peer on a wire counts pause quanta at the rate of the wire, whatever `speed` shapes us to.
// Software links have no rate but the configured one.
static uint64_t wire_bps(const struct port *port)
{
	return port->driver->class == DRIVER_WIRE ? port->link_mbps * 1000000ull : 0;
}

void port_keeper_adopt_rates(const struct port_keeper *keeper, struct sw_profile *pf)
{
	for (uint32_t i = 0; i < keeper->in->port_count; i++) {
		const uint64_t bps = wire_bps(&keeper->in->port[i]);

		if (bps != 0 && pf->port[i].rx.bps != bps)
			profile_adopt_rate(pf, (port_t){ (uint16_t)i }, bps);
	}
}

static void adopt_rate(struct port_keeper *keeper, uint32_t i)
{
	struct instance *in = keeper->in;
	const struct port *port = &in->port[i];
	size_t bytes = profile_bytes(in->config);
	uint64_t bps = wire_bps(port);
	struct sw_profile *pf;
	struct message message = { .kind = MESSAGE_PROFILE, .instance = in };

	if (bps == 0 || in->profile->port[i].rx.bps == bps)
		return;
	pf = malloc(bytes);
	if (pf == NULL) {
		log_err("%s: no memory to take over the link's rate, pauses may be too short",
			port->label);
		return;
	}
	memcpy(pf, in->profile, bytes);
	profile_adopt_rate(pf, (port_t){ (uint16_t)i }, bps);
	message.profile = pf;
	workers_call(keeper->workers, &message);
	free(in->profile);
	in->profile = pf;
	if (sends_pfc(in, i))
		warn_pause(port->label, &pf->port[i]);
}

static void close_port(struct port_keeper *keeper, uint32_t i)
{
	if (keeper->in->io[i].active)
		tell_link(keeper, i, false);
	close_device(&keeper->in->port[i]);
}

void port_keeper_close(struct port_keeper *keeper, uint32_t i)
{
	close_port(keeper, i);
	keeper->retry[i] = (struct port_retry){ 0 };
}

// True when the link came up.
static bool poll_port(struct port_keeper *keeper, uint32_t i, ns_t now)
{
	struct port *port = &keeper->in->port[i];
	struct port_retry *retry = &keeper->retry[i];
	bool up;

	if (port->ethdev == PORT_NO_DEVICE) {
		if (!port->config->admin || ns_before(now, retry->at))
			return false;
		if (open_port(keeper, i) != 0) {
			put_off(retry, now);
			return false;
		}
	}
	up = port_poll_link(port);
	if (port_vanished(port)) {
		log_warn("%s: the device is gone, looking for it", port->label);
		close_port(keeper, i);
		put_off(retry, now);
		return false;
	}
	if (up == keeper->in->io[i].active)
		return false;
	if (up) {
		retry->pause_ns = 0;
		adopt_rate(keeper, i);
	}
	tell_link(keeper, i, up);
	return up;
}

struct port_set port_keeper_poll(struct port_keeper *keeper, ns_t now)
{
	struct port_set came_up = { 0 };

	for (uint32_t i = 0; i < keeper->in->port_count; i++) {
		if (poll_port(keeper, i, now))
			port_set_add(&came_up, (port_t){ (uint16_t)i });
	}
	return came_up;
}

void port_keeper_count_lost(struct port_keeper *keeper)
{
	for (uint32_t i = 0; i < keeper->in->port_count; i++) {
		struct message message = {
			.kind = MESSAGE_RX_LOST,
			.instance = keeper->in,
			.port = { (uint16_t)i },
		};

		port_poll_lost(&keeper->in->port[i], &message.lost.no_buffer, &message.lost.missed);
		if (message.lost.no_buffer + message.lost.missed > 0)
			workers_send(keeper->workers, &message);
	}
}

void port_keeper_steer(struct port_keeper *keeper)
{
	for (uint32_t i = 0; i < keeper->in->port_count; i++)
		steering_refresh(&keeper->in->port[i]);
}

void port_keeper_stop(struct port_keeper *keeper)
{
	if (keeper->retry == NULL)
		return;
	for (uint32_t i = 0; i < keeper->in->port_count; i++)
		close_port(keeper, i);
	free(keeper->retry);
	keeper->in->keeper = NULL;
	*keeper = (struct port_keeper){ 0 };
}
