// SPDX-License-Identifier: BSD-3-Clause
//
// Mutual TLS 1.3: both ends show a certificate of one authority, and who an end is, its certificate
// says: the common name of a switch's is the switch's name, that of the manager's TLS_MANAGER_NAME.
// Files are PEM, as `weft pki` or any other authority makes them.
#pragma once

#include <openssl/ssl.h>
#include <stdio.h>

#include "base/types.h"

#define TLS_MANAGER_NAME "weft-fabricd"

enum { TLS_NAME_BYTES = 64, TLS_PATH_BYTES = 256 };

struct tls_files {
	char authority[TLS_PATH_BYTES];   // certificates that others' are checked against
	char certificate[TLS_PATH_BYTES]; // own, with those between it and the authority
	char key[TLS_PATH_BYTES];         // not readable by others
	char revoked[TLS_PATH_BYTES];     // list of revoked certificates (CRL), "": none
};

// What a server or a client needs for connections. NULL after lines "FILE: what" on `errors`: a
// file that cannot be read, a key that does not fit, one that others may read, a certificate that
// has expired.
SSL_CTX *tls_open(const struct tls_files *files, bool is_server, FILE *errors);

// Reads the list of revoked certificates again; connections that are open are looked at with
// tls_is_revoked(). 0, or -errno after a line, and the list is as it was.
int tls_read_revoked(SSL_CTX *context, const struct tls_files *files, FILE *errors);

// The name of the peer's certificate into `name`. False: there is none, or it is not one name.
bool tls_peer_name(SSL *ssl, char name[TLS_NAME_BYTES]);

// Whether the peer's certificate is on the list by now, or has expired.
bool tls_is_revoked(SSL *ssl);

// Why the last operation on a connection failed, in words: "certificate has expired".
const char *tls_why(SSL *ssl);
