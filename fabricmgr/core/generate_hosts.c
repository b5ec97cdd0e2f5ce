// SPDX-License-Identifier: BSD-3-Clause
//
// Switches are taken in groups of as many as a host is attached to; a host has the same port number
// at each switch of its group, as where every NIC of a server has a leaf of its own.

#include "fabricmgr/core/generate_hosts.h"

#include <errno.h>

#include "fabricmgr/core/label.h"

// MAC addresses are local ones, counted from 1.
#define MAC_FIRST 0x020000000001u

static int add_host(struct fabric *fabric, const struct generate_options *options, uint32_t first,
		    uint32_t port)
{
	const uint32_t number = fabric->host_count;
	const struct label name = label_of("host", number + 1);

	if (fabric_add_host(fabric, name.text) == NULL)
		return -ENOMEM;
	for (uint32_t i = 0; i < options->attach; i++) {
		struct fabric_host_port *host_port = fabric_add_host_port(fabric, number, first + i,
									  (uint16_t)port);

		if (host_port == NULL)
			return -ENOMEM;
		host_port->rail = (uint16_t)(options->rails ? i : 0);
		host_port->speed_bps = options->host.speed_bps;
		host_port->length_mm = options->host.length_mm;
		host_port->mac = MAC_FIRST + fabric->host_port_count - 1;
	}
	return 0;
}

int generate_hosts(struct fabric *fabric, const struct generate_options *options, uint32_t first,
		   uint32_t count, uint32_t per_switch, struct fabric_faults *faults)
{
	const uint32_t groups = count / options->attach;
	int rc = 0;

	if (count % options->attach != 0) {
		fabric_fail(faults, FABRIC_FAULT_RAILS, 0, fabric->name, "", count,
			    options->attach);
		return -EINVAL;
	}
	for (uint32_t i = 0; rc == 0 && i < groups * per_switch; i++)
		rc = add_host(fabric, options, first + i / per_switch * options->attach,
			      i % per_switch);
	if (rc < 0)
		fabric_fail(faults, FABRIC_FAULT_MEMORY, 0, fabric->name, "", 0, 0);
	return rc;
}
