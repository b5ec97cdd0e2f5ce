// SPDX-License-Identifier: BSD-3-Clause
//
// An authority for labs, in a directory: who wants to be told from others in earnest uses one that
// keeps its key elsewhere, and gives the same files (docs/pki.md).
//
//	authority.pem  revoked.pem   for everybody
//	authority.key                never leaves the directory, mode 0600
//	NAME.pem  NAME.key           for NAME alone, key of mode 0600
//	old/NAME-SERIAL.pem          revoked or expired, and followed by another
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

// One line for each certificate, old ones too: name, serial number, last day, state.
int pki_list(const char *dir, FILE *out, FILE *errors);
