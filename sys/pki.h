// SPDX-License-Identifier: BSD-3-Clause
//
// An authority for labs, in a directory: who wants to be told from others in earnest uses one that
// keeps its key elsewhere, and gives the same files (docs/pki.md).
//
//	authority.pem  revoked.pem   for everybody
//	authority.key                never leaves the directory, mode 0600
//	NAME.pem  NAME.key           for NAME alone, key of mode 0600
//	old/NAME-SERIAL.pem          revoked or expired, and followed by another
//	tokens/NAME                  hash of a token, and until when it is good
//
// No file is written over; the list of revoked certificates is replaced as a whole. All functions
// give 0, or -errno after a line on `errors` that says what to do.
#pragma once

#include <stdio.h>

#include "base/types.h"

int pki_init(const char *dir, FILE *errors);

// A key and a certificate for a switch, or for the manager if its name is TLS_MANAGER_NAME. The
// certificate that the name has must be revoked or have expired.
int pki_issue(const char *dir, const char *name, FILE *errors);

int pki_revoke(const char *dir, const char *name, FILE *errors);

enum {
	PKI_TOKEN_BYTES = 33,       // 128 bits in hex, and the end
	PKI_FINGERPRINT_BYTES = 65, // SHA-256 in hex, and the end
};

// A token with which NAME may get a certificate for a key of its own, once, within a day; and the
// fingerprint of the authority, by which it knows whom it talks to. A second token takes the place
// of the first.
int pki_token(const char *dir, const char *name, char token[PKI_TOKEN_BYTES],
	      char fingerprint[PKI_FINGERPRINT_BYTES], FILE *errors);

// Makes NAME.pem for the key of a request (PKCS #10, DER), and uses the token up. -EACCES: it is
// not the token of that name, or is too old.
int pki_enrol(const char *dir, const char *name, const char *token, const void *request,
	      size_t bytes, FILE *errors);

// One line for each certificate, old ones too: name, serial number, last day, state.
int pki_list(const char *dir, FILE *out, FILE *errors);
