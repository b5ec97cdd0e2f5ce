// SPDX-License-Identifier: BSD-3-Clause
//
// Enrolment over the network: where the authority is, a server gives certificates to who has a
// token; a machine without certificates makes a key, which it keeps, and asks. One knows the other
// by the token, and is known by the fingerprint of the authority.
#pragma once

#include <event2/event.h>
#include <stdio.h>

#include "sys/rpc_server.h"

struct pki_server;

// Serves the authority of `dir` at "IP:PORT", with the certificate of TLS_MANAGER_NAME in it. NULL
// after a line in the log.
struct pki_server *pki_server_open(struct event_base *base, const char *dir, const char *address);
void pki_server_close(struct pki_server *server); // accepts NULL
uint16_t pki_server_port(const struct pki_server *server);

struct pki_invitation {
	const char *address; // "HOST:PORT"
	const char *name;
	const char *token;
	const char *fingerprint;
};

// Fills `dir` with NAME.key, NAME.pem, authority.pem and revoked.pem. No key is written over. 0, or
// -errno after a line on `errors`. It runs the loop until there is an answer.
int pki_ask(struct event_base *base, const char *dir, const struct pki_invitation *invitation,
	    FILE *errors);
