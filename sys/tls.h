// SPDX-License-Identifier: BSD-3-Clause
//
// Mutual TLS 1.3: both ends show a certificate of one authority, and who an end is, its certificate
// says: the common name of a switch's is the switch's name, that of the manager's TLS_MANAGER_NAME.
// Files are PEM, as `weft pki` or any other authority makes them. No session is resumed: each
// connection shows its certificate.
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
	char revoked[TLS_PATH_BYTES];     // lists (CRL) of those revoked, of every authority in a
					  // chain; "": none
};

// Where files are if nobody says otherwise: TLS_DIR/authority.pem, NAME.pem, NAME.key, revoked.pem.
#define TLS_DIR "/etc/weft/tls"

// Those of `name` in a directory. False: too long.
bool tls_files_in(const char *dir, const char *name, struct tls_files *files);

// What a server or a client needs for connections; a client accepts TLS_MANAGER_NAME alone. NULL
// after a line "FILE: what" on `errors`: a file that cannot be read, a key that does not fit, one
// that others may read, a certificate that has expired.
SSL_CTX *tls_open(const struct tls_files *files, bool is_server, FILE *errors);

enum { TLS_FINGERPRINT_BYTES = 32 };

// Of a client without files yet: it shows no certificate, and knows the authority by the SHA-256 of
// its certificate, which the server shows along with its own. `fingerprint` outlives it. NULL: no
// memory.
SSL_CTX *tls_open_guest(const uint8_t fingerprint[TLS_FINGERPRINT_BYTES]);

// Of a server: clients need not show a certificate.
void tls_allow_guests(SSL_CTX *context);

// Whether a name may be that of an end: letters, digits, '_', '-', '.', fewer than TLS_NAME_BYTES.
bool tls_name_is_right(const char *name);

// Changes when one of the files does: whoever keeps a context opens it anew then.
uint64_t tls_stamp(const struct tls_files *files);

// The common name of a certificate into `name`. False: it has not exactly one that is right.
bool tls_certificate_name(const X509 *certificate, char name[TLS_NAME_BYTES]);

// The name of the peer's certificate into `name`. False: there is none, or it is not one name.
bool tls_peer_name(const SSL *ssl, char name[TLS_NAME_BYTES]);

// Why the peer of a connection would be refused by now, in words: its certificate is on the list of
// `context`, has expired, or is of another authority. NULL: it would not.
const char *tls_refused(SSL_CTX *context, const SSL *ssl);

// Seconds since 1970 at which the first of the peer's certificates expires.
int64_t tls_expiry(const SSL *ssl);

enum { TLS_WHY_BYTES = 160 };

// Why a connection failed, in words: "certificate has expired", or "the other end says: unknown
// ca". `error` is what OpenSSL said, 0: nothing.
void tls_why(const SSL *ssl, unsigned long error, char why[TLS_WHY_BYTES]);

// Whether a connection failed for a certificate, that of either end.
bool tls_is_refusal(const SSL *ssl, unsigned long error);
