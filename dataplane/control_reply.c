// SPDX-License-Identifier: BSD-3-Clause
//
// Finds what requests are about. Ports of a switch are few and requests rare: names are looked for
// one by one, under both names that a port may have, and those of the configuration that runs now
// count.

#include "dataplane/control_reply.h"

#include <string.h>

struct port *find_port(const struct instance *in, const char *name)
{
	for (uint32_t i = 0; i < in->port_count && name != NULL; i++) {
		const struct port_config *config = in->port[i].config;

		if (strcmp(config->name, name) == 0 ||
		    (config->alias[0] != '\0' && strcmp(config->alias, name) == 0))
			return &in->port[i];
	}
	return NULL;
}
