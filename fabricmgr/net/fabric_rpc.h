// SPDX-License-Identifier: BSD-3-Clause
//
// What switches call (schema/fabric.rpc), as calls of a manager. Who a switch is, its certificate
// says; on a unix socket, whose file mode says who may, its first hello does, for that connection.
//
// Nothing that a switch says reaches beyond its own records: its links, its generations and a
// bounded number of lines in the journal. One fetch of a switch waits at a time; a new one takes
// the place of the old.
#pragma once

#include "fabricmgr/net/manager.h"
#include "sys/rpc_server.h"

struct rpc_report;
struct fabric_rpc;

struct fabric_rpc_options {
	const char *socket_path;     // unix socket; NULL: none
	const char *address;         // "IP:PORT"; NULL: none
	const struct tls_files *tls; // for TCP
	uint32_t connection_max;
	// Told of each report of a switch, of its current run. True: the switch is to tell all of
	// its counters again. NULL: nobody is.
	bool (*report)(void *arg, uint32_t at, const struct rpc_report *report);
	void *report_arg;
};

// NULL after a line in the log. The manager outlives it.
struct fabric_rpc *fabric_rpc_open(struct event_base *base, struct manager *manager,
				   const struct fabric_rpc_options *options);
void fabric_rpc_close(struct fabric_rpc *rpc); // accepts NULL

// The list of revoked certificates, anew. 0 or -errno after a line in the log.
int fabric_rpc_read_revoked(struct fabric_rpc *rpc);

// Of TCP, as it is bound; 0: there is none.
uint16_t fabric_rpc_port(const struct fabric_rpc *rpc);
