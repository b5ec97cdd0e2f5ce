// SPDX-License-Identifier: BSD-3-Clause
//
// Rules in tables: which knobs a restart must change, and which a device can only be given when it
// is opened. What is in neither changes with the profile alone.

#include "dataplane/live_port.h"

#include <errno.h>
#include <string.h>

#include "dataplane/dpdk/link.h"
#include "dataplane/port_keeper.h"
#include "sys/cfg_place.h"

// --- what needs a restart ---------------------------------------------------------------------

static bool other_name(const struct instance *in, const struct live_next *next)
{
	return strcmp(in->config->sw.name, next->config->sw.name) != 0;
}

static bool other_seed(const struct instance *in, const struct live_next *next)
{
	return in->config->sw.seed != next->config->sw.seed;
}

static bool other_manager(const struct instance *in, const struct live_next *next)
{
	const struct switch_config *a = &in->config->sw;
	const struct switch_config *b = &next->config->sw;

	return strcmp(a->manager, b->manager) != 0 ||
	       strcmp(a->manager_authority, b->manager_authority) != 0 ||
	       strcmp(a->manager_certificate, b->manager_certificate) != 0 ||
	       strcmp(a->manager_key, b->manager_key) != 0;
}

static bool more_descriptors(const struct instance *in, const struct live_next *next)
{
	return next->pf->descriptor_count > in->descriptors;
}

static bool more_macs(const struct instance *in, const struct live_next *next)
{
	return next->config->sw.mac_count > sw_mac_room(in->sw);
}

static bool more_control(const struct instance *in, const struct live_next *next)
{
	return next->need->control > in->need.control;
}

static bool other_lcores(const struct instance *in, const struct live_next *next)
{
	return in->profile->lcore_count != next->pf->lcore_count;
}

static const struct switch_rule {
	bool (*broken)(const struct instance *in, const struct live_next *next);
	const char *text;
} switch_rules[] = {
	{ other_name, "name needs a restart: the control socket and the state directory have it" },
	{ other_seed, "seed needs a restart: the dice are thrown already" },
	{ other_manager, "manager and its certificates need a restart: it is dialled at start" },
	{ more_descriptors, "descriptors beyond those at start need a restart: packet buffers are "
			    "made then" },
	{ more_macs, "mac_count beyond that at start needs a restart: the table is made then" },
	{ more_control, "longer transmit rings (tx_ring) of all ports need a restart: the frames "
			"that the switch makes itself have their buffers from then" },
	{ other_lcores, "lcore needs a restart: forwarding lcores are started then" },
};

static bool other_lcore(const struct instance *in, const struct live_next *next, uint32_t i)
{
	return in->profile->port[i].lcore.v != next->pf->port[i].lcore.v;
}

// The link of a port's devargs, or NULL.
static const char *link_of(const struct port *port)
{
	return config_link_name(port->devargs);
}

static bool other_link(const struct instance *in, const struct live_next *next, uint32_t i)
{
	const char *a = link_of(&in->port[i]);
	const char *b = link_of(&next->port[i]);

	return (a == NULL) != (b == NULL) || (a != NULL && strcmp(a, b) != 0);
}

static bool other_link_ring(const struct instance *in, const struct live_next *next, uint32_t i)
{
	return in->port[i].link != NULL &&
	       in->port[i].config->tx_ring != next->config->port[i].tx_ring;
}

static bool wider_buffers(const struct instance *in, const struct live_next *next, uint32_t i)
{
	const uint32_t bytes = port_contiguous_bytes(&next->port[i]);
	struct rte_mempool *pool = pools_rx(in->pools, bytes, next->port[i].driver->xdp);

	return bytes != 0 && (pool == NULL || bytes + (uint32_t)RTE_PKTMBUF_HEADROOM >
						      rte_pktmbuf_data_room_size(pool));
}

static const struct port_rule {
	bool (*broken)(const struct instance *in, const struct live_next *next, uint32_t port);
	const char *text;
} port_rules[] = {
	{ other_lcore, "lcore needs a restart: a port stays with the lcore that has charged what "
		       "it holds" },
	{ other_link, "devargs: an in-memory link needs a restart: links are made then" },
	{ other_link_ring, "tx_ring of an in-memory link needs a restart: its ring is made then" },
	{ wider_buffers, "mtu needs a restart: packet buffers for frames of that length are made "
			 "then" },
};

static void say(FILE *errors, const char *path, uint32_t line, const char *port, const char *text)
{
	char place[CFG_PLACE_BYTES];

	fprintf(errors, "%s: %s%s%s%s\n", cfg_place_line(path, line, place),
		port != NULL ? "port " : "", port != NULL ? port : "", port != NULL ? ": " : "",
		text);
}

// Ports are counted by their place: state, buffers and peers know them by that.
static int check_names(const struct instance *in, const struct live_next *next, FILE *errors)
{
	const struct sw_config *config = next->config;
	int rc = 0;

	if (config->port_count != in->port_count) {
		say(errors, next->path, 0, NULL,
		    "another number of ports needs a restart: their state and packet buffers are "
		    "made then");
		return -EINVAL;
	}
	for (uint32_t i = 0; i < config->port_count; i++) {
		if (strcmp(config->port[i].name, in->config->port[i].name) == 0)
			continue;
		say(errors, next->path, config->port[i].line, config->port[i].name,
		    "other names or another order of ports need a restart");
		rc = -EINVAL;
	}
	return rc;
}

static int check_port(const struct instance *in, const struct live_next *next, uint32_t i,
		      FILE *errors)
{
	const struct port_config *config = &next->config->port[i];
	int rc = 0;

	for (uint32_t k = 0; k < sizeof(port_rules) / sizeof(port_rules[0]); k++) {
		if (!port_rules[k].broken(in, next, i))
			continue;
		say(errors, next->path, config->line, config->name, port_rules[k].text);
		rc = -EINVAL;
	}
	return rc;
}

int live_check_restart(const struct instance *in, const struct live_next *next, FILE *errors)
{
	const int names = check_names(in, next, errors);
	int rc = names;

	for (uint32_t k = 0; k < sizeof(switch_rules) / sizeof(switch_rules[0]); k++) {
		if (!switch_rules[k].broken(in, next))
			continue;
		say(errors, next->path, 0, NULL, switch_rules[k].text);
		rc = -EINVAL;
	}
	for (uint32_t i = 0; i < in->port_count && names == 0; i++)
		rc |= check_port(in, next, i, errors);
	return rc != 0 ? -EINVAL : 0;
}

// --- what a device is opened with -------------------------------------------------------------

struct port_pair {
	const struct port *now;
	const struct port *next;
	const struct port_profile *pf_now;
	const struct port_profile *pf_next;
	const struct pools *pools;
};

static bool other_devargs(const struct port_pair *p)
{
	return strcmp(p->now->devargs, p->next->devargs) != 0;
}

static bool other_rx_ring(const struct port_pair *p)
{
	return p->now->link == NULL && p->now->config->rx_ring != p->next->config->rx_ring;
}

static bool other_tx_ring(const struct port_pair *p)
{
	return p->now->config->tx_ring != p->next->config->tx_ring;
}

static bool other_steer(const struct port_pair *p)
{
	return p->now->config->steer != p->next->config->steer ||
	       strcmp(p->now->config->steer_prefixes, p->next->config->steer_prefixes) != 0;
}

static bool other_path(const struct port_pair *p)
{
	return p->now->config->pfc_path != p->next->config->pfc_path;
}

static bool other_wire_mtu(const struct port_pair *p)
{
	return p->now->config->mtu != p->next->config->mtu && p->now->link == NULL &&
	       (p->now->driver->class == DRIVER_WIRE ||
		port_pool(p->now, p->pools) != port_pool(p->next, p->pools));
}

static bool other_device_pfc(const struct port_pair *p)
{
	return p->now->pfc == PFC_PATH_DEVICE &&
	       (p->now->config->pfc_quanta != p->next->config->pfc_quanta ||
		port_keeper_needs_pfc(p->pf_now) != port_keeper_needs_pfc(p->pf_next) ||
		// NOLINTNEXTLINE(bugprone-suspicious-memory-comparison,cert-*): it was cleared
		memcmp(&p->now->plan, &p->next->plan, sizeof(p->now->plan)) != 0);
}

// PFC begins on a port that was opened without.
static bool starts_pfc(const struct port_pair *p)
{
	return port_keeper_needs_pfc(p->pf_next) && p->now->pfc == PFC_PATH_UNUSED;
}

// What software does with the frames of a device that passes them needs no device.
static bool asks_device(const struct port_pair *p)
{
	return starts_pfc(p) && p->now->link == NULL && p->now->driver->pfc == DRIVER_PFC_ASK;
}

static const struct open_rule {
	bool (*differs)(const struct port_pair *p);
	const char *knob;
} open_rules[] = {
	{ other_devargs, "devargs" },       { other_rx_ring, "rx_ring" },
	{ other_tx_ring, "tx_ring" },       { other_steer, "steer" },
	{ other_path, "pfc_path" },         { other_wire_mtu, "mtu" },
	{ other_device_pfc, "pfc_enable" }, { asks_device, "pfc_enable" },
};

// The other end of a link must take frames of the same length.
static int check_link_mtu(const struct instance *in, const struct live_next *next, uint32_t i,
			  FILE *errors)
{
	const struct port *port = &in->port[i];
	const struct port *other;
	char place[CFG_PLACE_BYTES];
	uint64_t mtu;

	if (port->link == NULL)
		return 0;
	other = port->link->end[port->link_end ^ 1];
	mtu = other->config->mtu;
	if (other >= in->port && other < in->port + in->port_count)
		mtu = next->config->port[other - in->port].mtu;
	if (mtu == next->config->port[i].mtu)
		return 0;
	fprintf(errors, "%s: port %s: link \"%s\" has MTU %u here and %u at its other end\n",
		cfg_place_line(next->path, next->config->port[i].line, place),
		next->config->port[i].name, port->link->name, (uint32_t)next->config->port[i].mtu,
		(uint32_t)mtu);
	return -EINVAL;
}

// A device that eats what software sends has no software PFC.
static int check_software_pfc(const struct port_pair *p, const struct live_next *next, FILE *errors)
{
	char place[CFG_PLACE_BYTES];

	if (!starts_pfc(p) || p->now->link != NULL || !p->now->driver->eats_sent_pfc ||
	    p->next->config->pfc_path == PFC_PATH_TRUST)
		return 0;
	fprintf(errors,
		"%s: port %s: pfc_enable: the device (%s) drops PFC frames that software "
		"sends\n",
		cfg_place_line(next->path, p->next->config->line, place), p->next->config->name,
		p->now->driver->name);
	return -EINVAL;
}

int live_plan_port(const struct instance *in, const struct live_next *next, uint32_t i,
		   struct live_port *out, FILE *errors)
{
	const struct port_pair pair = { &in->port[i], &next->port[i], &in->profile->port[i],
					&next->pf->port[i], in->pools };

	*out = (struct live_port){ .step = LIVE_PORT_STAYS };
	if (check_link_mtu(in, next, i, errors) != 0)
		return -EINVAL;
	if (pair.now->ethdev == PORT_NO_DEVICE)
		return 0;
	if (!pair.next->config->admin) {
		out->step = LIVE_PORT_CLOSES;
		return 0;
	}
	for (uint32_t k = 0; k < sizeof(open_rules) / sizeof(open_rules[0]); k++) {
		if (!open_rules[k].differs(&pair))
			continue;
		out->step = LIVE_PORT_REOPENS;
		out->why = open_rules[k].knob;
		return 0;
	}
	if (pair.now->config->mtu != pair.next->config->mtu)
		out->mtu = (uint32_t)pair.next->config->mtu;
	out->software_pfc = starts_pfc(&pair);
	return check_software_pfc(&pair, next, errors);
}

void live_adopt_port(struct port *port, const struct port *from, const struct live_port *step)
{
	const bool closed = port->ethdev == PORT_NO_DEVICE;

	port->config = from->config;
	if (closed || port->pfc != PFC_PATH_DEVICE)
		port->plan = from->plan;
	if (closed) {
		port->driver = from->driver;
		memcpy(port->devargs, from->devargs, sizeof(port->devargs));
		port->failed = false;
	} else if (step->software_pfc) {
		port->pfc = PFC_PATH_SOFTWARE;
		port->pfc_reason[0] = '\0';
	}
}
