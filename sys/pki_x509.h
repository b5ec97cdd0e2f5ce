// SPDX-License-Identifier: BSD-3-Clause
//
// Keys, certificates and lists of revoked certificates, made and signed with OpenSSL; no files.
// Keys are on P-256, signatures ECDSA with SHA-256 (RFC 5280, RFC 5758).
//
// Who a certificate is for is its common name. One of the manager is good for servers, any other
// for clients alone: a switch cannot pass for the manager.
#pragma once

#include <openssl/x509.h>
#include <time.h>

#include "base/types.h"

enum pki_use { PKI_AUTHORITY, PKI_SERVER, PKI_CLIENT };

struct pki_subject {
	const char *name;
	enum pki_use use;
	time_t from;
	time_t until;
};

// An end that signs. For an authority of its own, `certificate` is NULL.
struct pki_issuer {
	X509 *certificate;
	EVP_PKEY *key;
};

// NULL of any of these: no memory, or no randomness.
EVP_PKEY *pki_make_key(void);

// A certificate for `key`, with a serial number at random.
X509 *pki_sign(const struct pki_subject *subject, EVP_PKEY *key, const struct pki_issuer *issuer);

// A request for a certificate, signed with the key that it is for.
X509_REQ *pki_make_request(const char *name, EVP_PKEY *key);

// The key of a request that is signed with it, on P-256. NULL: it is not that; release the key.
EVP_PKEY *pki_read_request(const void *request, size_t bytes);

// An empty list, and one more on a list, which is dated anew and signed again.
X509_CRL *pki_make_list(const struct pki_issuer *issuer, time_t from, time_t until);
bool pki_add_revoked(X509_CRL *list, const struct pki_issuer *issuer, const X509 *certificate,
		     time_t now, time_t until);
