// SPDX-License-Identifier: BSD-3-Clause
//
// How the switches of a process are, in a line for the service manager. That the line is made at
// all needs every lcore: each second the event loop asks all of them (check_gap() in agent.c) and
// waits for what they answer.

#include "dataplane/switch_words.h"

#include <stdio.h>

struct tally {
	uint32_t ports;
	uint32_t up;
	uint32_t waiting; // for their devices
};

static struct tally count_ports(const struct worker *first)
{
	struct tally tally = { 0 };

	for (uint32_t i = 0; i < first->instance_count; i++) {
		const struct instance *in = first->instance[i];

		for (uint32_t k = 0; k < in->port_count; k++) {
			tally.ports++;
			tally.up += in->port[k].carrier;
			tally.waiting += in->port[k].config->admin &&
					 in->port[k].ethdev == PORT_NO_DEVICE;
		}
	}
	return tally;
}

void switch_words(void *arg, char text[NOTIFY_STATUS_BYTES])
{
	const struct workers *workers = arg;
	// The first lcore has a part in every switch.
	const struct worker *first = &workers->worker[0];
	const struct tally tally = count_ports(first);
	int len;

	if (first->instance_count == 1)
		len = snprintf(text, NOTIFY_STATUS_BYTES,
			       "%s: ", first->instance[0]->config->sw.name);
	else
		len = snprintf(text, NOTIFY_STATUS_BYTES, "%u switches: ", first->instance_count);
	len += snprintf(text + len, NOTIFY_STATUS_BYTES - (size_t)len, "%u of %u ports up",
			tally.up, tally.ports);
	if (tally.waiting > 0)
		snprintf(text + len, NOTIFY_STATUS_BYTES - (size_t)len,
			 ", %u waiting for their devices", tally.waiting);
}
