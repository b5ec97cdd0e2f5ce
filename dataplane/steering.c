// SPDX-License-Identifier: BSD-3-Clause
//
// A port's steering exists from just before its device is opened until just after it is closed;
// the driver attaches and detaches the program in between.
//
// Between the start of the driver and steering_start() the program leaves every frame to the
// kernel, and so it does once the switch's sockets are gone, however it ended.

#include "dataplane/steering.h"

#include <errno.h>
#include <net/if.h>
#include <stdlib.h>
#include <string.h>

#include "sys/cfg_place.h"
#include "sys/log.h"

struct steering {
	struct steer *steer;
	char interface[IF_NAMESIZE];
	bool warned_many; // addresses, more than the program can be told
	bool warned_lost; // the kernel's addresses cannot be followed
};

static bool is_shared(const struct port *port)
{
	return port->config->steer == CONFIG_STEER_ROCE;
}

int steering_check(const struct port *port, const char *path, FILE *errors)
{
	const struct port_config *config = port->config;
	struct steer_prefixes prefixes;
	char text[CONFIG_TEXT_BYTES] = "";
	char place[CFG_PLACE_BYTES];
	int rc = steer_prefixes_parse(config->steer_prefixes, &prefixes, text, sizeof(text));

	if (rc == -E2BIG)
		fprintf(errors,
			"%s: port %s: more than %d prefixes of a family in "
			"steer_prefixes\n",
			cfg_place_line(path, config->line, place), config->name, STEER_PREFIX_MAX);
	else if (rc != 0)
		fprintf(errors,
			"%s: port %s: steer_prefixes: \"%s\" is not a prefix such as "
			"10.0.0.0/8 or fd00::/64 (bits behind its length are zero)\n",
			cfg_place_line(path, config->line, place), config->name, text);
	if (rc != 0)
		return -EINVAL;
	if (!is_shared(port)) {
		if (prefixes.count4 + prefixes.count6 == 0)
			return 0;
		fprintf(errors, "%s: port %s: steer_prefixes needs steer = \"roce\"\n",
			cfg_place_line(path, config->line, place), config->name);
		return -EINVAL;
	}
	if (port->driver->xdp && driver_argument(port->devargs, "iface", text, sizeof(text)) &&
	    !driver_argument(port->devargs, "xdp_prog", text, sizeof(text)))
		return 0;
	fprintf(errors,
		"%s: port %s: steer = \"roce\" needs net_af_xdp with iface= and without "
		"xdp_prog=\n",
		cfg_place_line(path, config->line, place), config->name);
	return -EINVAL;
}

static int fail(struct port *port, int rc, const char *what)
{
	if (!port->failed)
		log_err("%s: %s (%s): %s", port->label, what, port->devargs, strerror(-rc));
	port->failed = true;
	return rc;
}

// A port that has its interface for itself shares the driver's own program with other queues.
static int make_way(struct port *port, uint32_t ifindex)
{
	const int rc = ifindex == 0 ? 0 : steer_clear(ifindex);

	if (rc == 0 || !is_shared(port))
		return 0;
	if (rc == -EBUSY)
		return fail(port, rc, "another port steers this interface");
	if (rc == -EEXIST)
		return fail(port, rc,
			    "the interface has another XDP program, remove it with ip "
			    "link set dev IFACE xdp off");
	return fail(port, rc, "its interface cannot be asked for XDP programs");
}

int steering_prepare(struct port *port)
{
	char interface[IF_NAMESIZE];
	struct steering *steering;
	int rc;

	port->xdp_program = NULL;
	if (!port->driver->xdp ||
	    !driver_argument(port->devargs, "iface", interface, sizeof(interface)))
		return 0;
	rc = make_way(port, if_nametoindex(interface));
	if (rc != 0 || !is_shared(port))
		return rc;
	steering = calloc(1, sizeof(*steering));
	if (steering == NULL)
		return -ENOMEM;
	memcpy(steering->interface, interface, sizeof(interface));
	steering->steer = steer_open();
	if (steering->steer == NULL) {
		rc = -errno;
		free(steering);
		return fail(port, rc, "no file for the steering program");
	}
	port->steering = steering;
	port->xdp_program = steer_path(steering->steer);
	return 0;
}

static int read_own(struct port *port, struct own_addresses *own)
{
	struct steering *steering = port->steering;
	const int rc = own_addresses_read(steering->interface, own);

	if (rc == -E2BIG && !steering->warned_many)
		log_warn("%s: the kernel has more than %d addresses of a family on %s; those "
			 "beyond are not kept from the switch",
			 port->label, STEER_OWN_MAX, steering->interface);
	steering->warned_many |= rc == -E2BIG;
	return rc == -E2BIG ? 0 : rc;
}

int steering_start(struct port *port)
{
	struct steer_prefixes prefixes;
	struct own_addresses own;
	char wrong[CONFIG_TEXT_BYTES];
	int rc;

	if (port->steering == NULL)
		return 0;
	rc = steer_prefixes_parse(port->config->steer_prefixes, &prefixes, wrong, sizeof(wrong));
	if (rc == 0)
		rc = read_own(port, &own);
	if (rc == 0)
		rc = steer_attach(port->steering->steer, port->kernel_index, port->mac, &prefixes,
				  &own);
	if (rc != 0)
		return fail(port, rc, "the steering program does not take its rules");
	log_info("%s: %s is shared with the kernel: %u and %u own addresses, %u and %u prefixes of "
		 "IPv4 and IPv6",
		 port->label, port->steering->interface, own.count4, own.count6, prefixes.count4,
		 prefixes.count6);
	return 0;
}

void steering_refresh(struct port *port)
{
	struct own_addresses own;
	int rc;

	if (port->steering == NULL || port->ethdev == PORT_NO_DEVICE)
		return;
	rc = read_own(port, &own);
	if (rc == 0)
		rc = steer_refresh(port->steering->steer, &own);
	if (rc != 0 && !port->steering->warned_lost)
		log_warn("%s: the kernel's addresses on %s cannot be followed: %s", port->label,
			 port->steering->interface, strerror(-rc));
	port->steering->warned_lost |= rc != 0;
}

bool steering_read(const struct port *port, struct steer_counters *out)
{
	return port->steering != NULL && steer_read(port->steering->steer, out) == 0;
}

void steering_stop(struct port *port)
{
	if (port->steering == NULL)
		return;
	steer_close(port->steering->steer);
	free(port->steering);
	port->steering = NULL;
	port->xdp_program = NULL;
}
