// SPDX-License-Identifier: BSD-3-Clause
//
// In-memory links: two ports of this process, of one switch or of two, whose devargs name the same
// link ("link:NAME"), joined by one bounded ring each way. Frames cross as they are, mbufs and all
// (pool.h says why none is copied). A ring holds the tx_ring of the port that fills it; what it
// does not take waits in `pending` of that port (pktio.h), so nothing is lost while the link is up.
//
// The link has carrier while both ends are open (admin up) and it is not cut. All of it belongs to
// the control thread, except that the lcores of the two ports fill and empty the rings in between:
// one producer and one consumer each, be they the same lcore or two.
#pragma once

#include <stdio.h>

#include "dataplane/dpdk/port.h"

struct rte_ring;

struct link {
	struct link *next;
	char name[CONFIG_NAME_BYTES];
	struct port *end[2];
	const char *path[2];      // configuration that each end stands in
	struct rte_ring *ring[2]; // [i]: what end i has sent
	bool open[2];             // port_open()ed
	bool cut;
	bool carrier;
};

struct links {
	struct link *first;
};

// --- all links of the process -----------------------------------------------------------------

// Makes the port, which port_prepare() has accepted and `path` configures, an end of the link that
// its devargs name, if they name one. 0, or -errno with the reason on `errors`.
int links_join(struct links *links, struct port *port, const char *path, FILE *errors);

// Once all ports have joined: -EINVAL with a line on `errors` for each link with one end.
int links_check(const struct links *links, FILE *errors);

// Once the EAL has started: makes the rings. 0 or -errno, logged.
int links_create(struct links *links);

// The lcores have ended: frees what is in the rings, and all that was made.
void links_destroy(struct links *links);

// --- one end ----------------------------------------------------------------------------------

// What port.c does with a device, for a port that has a link.
void link_open(struct port *port);
void link_close(struct port *port);
bool link_poll(const struct port *port);

// What the port's lcore receives from, and sends to.
struct rte_ring *link_rx_ring(const struct port *port);
struct rte_ring *link_tx_ring(const struct port *port);

// Takes the carrier away from both ends, or lets it come back, as a cable that is pulled and
// plugged. What is on its way at that moment is lost.
void link_cut(struct port *port, bool cut);
