// SPDX-License-Identifier: BSD-3-Clause
//
// Names in an intent: which switch, port or host is meant, and what is said when there is none.
// Rows of all tables are looked up here while a fabric is made, so a name is spelled and refused
// the same everywhere.
#pragma once

#include <stdio.h>

#include "fabricmgr/core/fabric.h"
#include "fabricmgr/intent.h"

enum { MAKER_ERRORS_MAX = 20 };

// A fabric while it is made of an intent.
struct maker {
	const struct intent *intent;
	const char *path;
	struct fabric *fabric;
	struct arena *scratch;
	FILE *errors;
	uint32_t error_count;
	uint32_t made_hosts; // by the shape: host h has ports h x attach and on
	uint32_t attach;
	bool by_mention; // a switch exists as soon as a link names it
};

// A place in the fabric, "leaf1:Ethernet4" or "leaf1".
struct maker_end {
	uint32_t at; // switch
	uint16_t port;
	bool has_port;
};

// One line "FILE:LINE: where: what" on the maker's errors, the first MAKER_ERRORS_MAX of them.
__attribute__((format(printf, 4, 5))) void maker_complain(struct maker *maker, uint32_t line,
							  const char *where, const char *format,
							  ...);

// Find what a text names, or complain and return false. Ports: a number, or a name that ends in
// one; what is before it is common to the ports of a switch.
bool maker_end(struct maker *maker, uint32_t line, const char *where, const char *text,
	       struct maker_end *end);
bool maker_switch(struct maker *maker, uint32_t line, const char *where, const char *text,
		  uint32_t *at);
bool maker_host(struct maker *maker, uint32_t line, const char *where, const char *text,
		uint32_t *host);

// The port of an end; without one the next behind those in use.
uint16_t maker_port(const struct maker *maker, const struct maker_end *end);
