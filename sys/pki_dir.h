// SPDX-License-Identifier: BSD-3-Clause
//
// The directory of an authority (pki.h) as pki.c and pki_enrol.c share it: opened, with the list of
// revoked certificates and, to sign, with its key and a lock; and files that are made in it, never
// written over. Functions that can fail give 0, or -errno after a line on `errors`.
#pragma once

#include <stdio.h>
#include <sys/types.h>

#include "sys/file_replace.h"
#include "sys/pki_x509.h"

enum { PKI_DAY_S = 24 * 3600, PKI_CERTIFICATE_DAYS = 730 };
enum { PKI_EARLY_S = 3600 }; // clocks of switches may be late

struct pki {
	const char *dir;
	FILE *errors;
	struct pki_issuer issuer;
	X509_CRL *list;
	int lock; // of authority.pem, while something changes: one at a time
};

struct path {
	char text[FILE_REPLACE_PATH_BYTES];
};

// Reads the authority; with its key if something is to be signed. Close it in any case.
int pki_open(struct pki *pki, const char *dir, bool with_key, FILE *errors);
void pki_close(struct pki *pki);

// NAME and a suffix in the directory.
struct path pki_path(const struct pki *pki, const char *name, const char *suffix);
int pki_make_directory(const struct pki *pki, const char *path);

// A line about an object; `error`.
int pki_complain(const struct pki *pki, const char *object, const char *what, int error);
int pki_complain_errno(const struct pki *pki, const char *object, int error);

// A file that was not there before. NULL after a line.
FILE *pki_create(const struct pki *pki, const char *path, mode_t mode);
// Ends it; what is not whole is taken back.
int pki_finish(const struct pki *pki, const char *path, FILE *file, bool written);

int pki_check_name(const struct pki *pki, const char *name);
// Moves a certificate away that is of no use any more; one that is good refuses.
int pki_make_room(const struct pki *pki, const char *name);

// One for `key`, as good as pki_issue() makes it. NULL: no memory, or no key.
X509 *pki_certify(const struct pki *pki, const char *name, EVP_PKEY *key);
int pki_write_key(const struct pki *pki, const char *name, EVP_PKEY *key);
int pki_write_certificate(const struct pki *pki, const char *name, X509 *certificate);
X509 *pki_read_certificate(const char *path); // NULL: there is none
