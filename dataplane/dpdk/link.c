// SPDX-License-Identifier: BSD-3-Clause
//
// Pairs the ends of in-memory links, makes their rings and models their carrier.
//
// Carrier goes at once, and comes back only when both ends have been told that it was gone: then no
// lcore has the rings, and what a cut left in them is freed before the next frame is sent. Else a
// link could deliver frames from before its cut.

#include "dataplane/dpdk/link.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <rte_errno.h>
#include <rte_mbuf.h>
#include <rte_ring.h>

#include "sys/cfg_place.h"
#include "sys/log.h"

static struct link *find(const struct links *links, const char *name)
{
	struct link *link = links->first;

	while (link != NULL && strcmp(link->name, name) != 0)
		link = link->next;
	return link;
}

static struct link *add(struct links *links, const char *name)
{
	struct link *link = calloc(1, sizeof(*link));

	if (link == NULL)
		return NULL;
	snprintf(link->name, sizeof(link->name), "%s", name);
	link->next = links->first;
	links->first = link;
	return link;
}

static void complain(FILE *errors, const char *path, const struct port *port)
{
	char place[CFG_PLACE_BYTES];

	fprintf(errors, "%s: port %s: link \"%s\" ",
		cfg_place_line(path, port->config->line, place), port->config->name,
		config_link_name(port->devargs));
}

// Longer frames than the other end takes would be sent and never received.
static int check_mtu(const struct link *link, FILE *errors)
{
	const struct port_config *a = link->end[0]->config;
	const struct port_config *b = link->end[1]->config;
	char place[CFG_PLACE_BYTES];

	if (a->mtu == b->mtu)
		return 0;
	complain(errors, link->path[1], link->end[1]);
	fprintf(errors, "has MTU %u here and %u at its other end, port %s (%s)\n", (uint32_t)b->mtu,
		(uint32_t)a->mtu, a->name, cfg_place_line(link->path[0], a->line, place));
	return -EINVAL;
}

int links_join(struct links *links, struct port *port, const char *path, FILE *errors)
{
	const char *name = config_link_name(port->devargs);
	char place[2][CFG_PLACE_BYTES];
	struct link *link;

	if (name == NULL)
		return 0;
	link = find(links, name);
	if (link == NULL)
		link = add(links, name);
	if (link == NULL)
		return -ENOMEM;
	if (link->end[1] != NULL) {
		complain(errors, path, port);
		fprintf(errors, "has two ends already: port %s (%s) and port %s (%s)\n",
			link->end[0]->config->name,
			cfg_place_line(link->path[0], link->end[0]->config->line, place[0]),
			link->end[1]->config->name,
			cfg_place_line(link->path[1], link->end[1]->config->line, place[1]));
		return -EINVAL;
	}
	port->link_end = link->end[0] != NULL;
	port->link = link;
	link->end[port->link_end] = port;
	link->path[port->link_end] = path;
	return port->link_end == 0 ? 0 : check_mtu(link, errors);
}

int links_check(const struct links *links, FILE *errors)
{
	int rc = 0;

	for (const struct link *link = links->first; link != NULL; link = link->next) {
		if (link->end[1] != NULL)
			continue;
		complain(errors, link->path[0], link->end[0]);
		fputs("has no other end: no other port of the given configurations names it\n",
		      errors);
		rc = -EINVAL;
	}
	return rc;
}

// A link's name is longer than that of a ring may be, so rings are numbered.
static int create_rings(struct link *link, uint32_t id)
{
	for (uint32_t i = 0; i < 2; i++) {
		char name[RTE_RING_NAMESIZE];

		snprintf(name, sizeof(name), "link_%u_%u", id, i);
		link->ring[i] = rte_ring_create(name, (uint32_t)link->end[i]->config->tx_ring,
						SOCKET_ID_ANY,
						RING_F_SP_ENQ | RING_F_SC_DEQ | RING_F_EXACT_SZ);
		if (link->ring[i] == NULL)
			return -rte_errno;
	}
	return 0;
}

int links_create(struct links *links)
{
	uint32_t id = 0;

	for (struct link *link = links->first; link != NULL; link = link->next) {
		int rc = create_rings(link, id++);

		if (rc == 0)
			continue;
		log_err("link %s: no memory for its rings: %s", link->name, strerror(-rc));
		return rc;
	}
	return 0;
}

static void empty(struct rte_ring *ring)
{
	void *m;

	while (ring != NULL && rte_ring_sc_dequeue(ring, &m) == 0)
		rte_pktmbuf_free(m);
}

static void release(struct link *link)
{
	for (uint32_t i = 0; i < 2; i++) {
		empty(link->ring[i]);
		rte_ring_free(link->ring[i]);
		if (link->end[i] != NULL)
			link->end[i]->link = NULL;
	}
	free(link);
}

void links_destroy(struct links *links)
{
	while (links->first != NULL) {
		struct link *link = links->first;

		links->first = link->next;
		release(link);
	}
}

void link_open(struct port *port)
{
	struct link *link = port->link;

	link->open[port->link_end] = true;
	port->ethdev = PORT_LINK;
	port->tx_ring_frames = rte_ring_get_capacity(link_tx_ring(port));
	port->rx_ring_frames = rte_ring_get_capacity(link_rx_ring(port));
}

void link_close(struct port *port)
{
	port->link->open[port->link_end] = false;
	port->link->carrier = false;
}

bool link_poll(const struct port *port)
{
	struct link *link = port->link;

	if (link->carrier || !link->open[0] || !link->open[1] || link->cut)
		return link->carrier;
	// An end whose last poll saw no carrier has been told, and its lcore has let go.
	if (link->end[0]->carrier || link->end[1]->carrier)
		return false;
	empty(link->ring[0]);
	empty(link->ring[1]);
	link->carrier = true;
	return true;
}

struct rte_ring *link_rx_ring(const struct port *port)
{
	return port->link->ring[port->link_end ^ 1];
}

struct rte_ring *link_tx_ring(const struct port *port)
{
	return port->link->ring[port->link_end];
}

void link_cut(struct port *port, bool cut)
{
	port->link->cut = cut;
	if (cut)
		port->link->carrier = false;
}
