// SPDX-License-Identifier: BSD-3-Clause
//
// Each step of OpenSSL's can fail, and only for want of memory or randomness: a function makes the
// whole thing or nothing.

#include "sys/pki_x509.h"

#include <openssl/ec.h>
#include <openssl/err.h>
#include <openssl/x509v3.h>
#include <stdio.h>

enum { SERIAL_BITS = 159 }; // positive in 20 octets, RFC 5280 section 4.1.2.2

EVP_PKEY *pki_make_key(void)
{
	return EVP_EC_gen("P-256");
}

static bool set_serial(X509 *certificate)
{
	BIGNUM *number = BN_new();
	const bool ok = number != NULL &&
			BN_rand(number, SERIAL_BITS, BN_RAND_TOP_ONE, BN_RAND_BOTTOM_ANY) == 1 &&
			BN_to_ASN1_INTEGER(number, X509_get_serialNumber(certificate)) != NULL;

	BN_free(number);
	return ok;
}

static bool set_name(X509 *certificate, const char *name)
{
	return X509_NAME_add_entry_by_txt(X509_get_subject_name(certificate), "CN", MBSTRING_UTF8,
					  (const unsigned char *)name, -1, -1, 0) == 1;
}

static bool add_extension(X509 *certificate, X509 *issuer, int nid, const char *value)
{
	X509_EXTENSION *extension;
	X509V3_CTX context;
	bool ok;

	X509V3_set_ctx(&context, issuer, certificate, NULL, NULL, 0);
	extension = X509V3_EXT_conf_nid(NULL, &context, nid, value);
	ok = extension != NULL && X509_add_ext(certificate, extension, -1) == 1;
	X509_EXTENSION_free(extension);
	return ok;
}

static bool add_extensions(X509 *certificate, X509 *issuer, const struct pki_subject *subject)
{
	const bool is_authority = subject->use == PKI_AUTHORITY;
	char other_name[80];

	snprintf(other_name, sizeof(other_name), "DNS:%s", subject->name);
	if (!add_extension(certificate, issuer, NID_basic_constraints,
			   is_authority ? "critical,CA:TRUE,pathlen:0" : "critical,CA:FALSE") ||
	    !add_extension(certificate, issuer, NID_key_usage,
			   is_authority ? "critical,keyCertSign,cRLSign" :
					  "critical,digitalSignature") ||
	    !add_extension(certificate, issuer, NID_subject_key_identifier, "hash") ||
	    !add_extension(certificate, issuer, NID_authority_key_identifier, "keyid:always"))
		return false;
	if (is_authority)
		return true;
	return add_extension(certificate, issuer, NID_ext_key_usage,
			     subject->use == PKI_SERVER ? "serverAuth,clientAuth" : "clientAuth") &&
	       add_extension(certificate, issuer, NID_subject_alt_name, other_name);
}

static bool fill(X509 *certificate, const struct pki_subject *subject, EVP_PKEY *key,
		 const struct pki_issuer *issuer)
{
	X509 *above = issuer->certificate != NULL ? issuer->certificate : certificate;

	return X509_set_version(certificate, X509_VERSION_3) == 1 && set_serial(certificate) &&
	       set_name(certificate, subject->name) &&
	       X509_set_issuer_name(certificate, X509_get_subject_name(above)) == 1 &&
	       ASN1_TIME_set(X509_getm_notBefore(certificate), subject->from) != NULL &&
	       ASN1_TIME_set(X509_getm_notAfter(certificate), subject->until) != NULL &&
	       X509_set_pubkey(certificate, key) == 1 &&
	       add_extensions(certificate, above, subject) &&
	       X509_sign(certificate, issuer->key, EVP_sha256()) > 0;
}

X509 *pki_sign(const struct pki_subject *subject, EVP_PKEY *key, const struct pki_issuer *issuer)
{
	X509 *certificate = X509_new();

	if (certificate != NULL && fill(certificate, subject, key, issuer))
		return certificate;
	X509_free(certificate);
	return NULL;
}

X509_REQ *pki_make_request(const char *name, EVP_PKEY *key)
{
	X509_REQ *request = X509_REQ_new();

	if (request != NULL && X509_REQ_set_version(request, X509_REQ_VERSION_1) == 1 &&
	    X509_NAME_add_entry_by_txt(X509_REQ_get_subject_name(request), "CN", MBSTRING_UTF8,
				       (const unsigned char *)name, -1, -1, 0) == 1 &&
	    X509_REQ_set_pubkey(request, key) == 1 && X509_REQ_sign(request, key, EVP_sha256()) > 0)
		return request;
	X509_REQ_free(request);
	return NULL;
}

static bool is_on_p256(const EVP_PKEY *key)
{
	char group[32] = "";
	size_t bytes;

	return EVP_PKEY_is_a(key, "EC") &&
	       EVP_PKEY_get_group_name(key, group, sizeof(group), &bytes) == 1 &&
	       OBJ_txt2nid(group) == NID_X9_62_prime256v1;
}

EVP_PKEY *pki_read_request(const void *request, size_t bytes)
{
	const unsigned char *at = request;
	X509_REQ *read = d2i_X509_REQ(NULL, &at, (long)bytes);
	EVP_PKEY *key = read != NULL ? X509_REQ_get_pubkey(read) : NULL;

	// Who signed has the key: nobody gets a certificate for that of another.
	if (key != NULL && (!is_on_p256(key) || X509_REQ_verify(read, key) != 1)) {
		EVP_PKEY_free(key);
		key = NULL;
	}
	X509_REQ_free(read);
	ERR_clear_error();
	return key;
}

// Dates of a list, one number higher than before, and its signature.
static bool sign_list(X509_CRL *list, const struct pki_issuer *issuer, time_t from, time_t until)
{
	ASN1_INTEGER *old = X509_CRL_get_ext_d2i(list, NID_crl_number, NULL, NULL);
	ASN1_INTEGER *number = ASN1_INTEGER_new();
	ASN1_TIME *at = ASN1_TIME_new();
	bool ok = number != NULL && at != NULL &&
		  ASN1_INTEGER_set_int64(number, old != NULL ? ASN1_INTEGER_get(old) + 1 : 1) ==
			  1 &&
		  X509_CRL_add1_ext_i2d(list, NID_crl_number, number, 0, X509V3_ADD_REPLACE) == 1 &&
		  ASN1_TIME_set(at, from) != NULL && X509_CRL_set1_lastUpdate(list, at) == 1 &&
		  ASN1_TIME_set(at, until) != NULL && X509_CRL_set1_nextUpdate(list, at) == 1;

	ok = ok && X509_CRL_sort(list) == 1 && X509_CRL_sign(list, issuer->key, EVP_sha256()) > 0;
	ASN1_INTEGER_free(old);
	ASN1_INTEGER_free(number);
	ASN1_TIME_free(at);
	return ok;
}

X509_CRL *pki_make_list(const struct pki_issuer *issuer, time_t from, time_t until)
{
	X509_CRL *list = X509_CRL_new();

	if (list != NULL && X509_CRL_set_version(list, X509_CRL_VERSION_2) == 1 &&
	    X509_CRL_set_issuer_name(list, X509_get_subject_name(issuer->certificate)) == 1 &&
	    sign_list(list, issuer, from, until))
		return list;
	X509_CRL_free(list);
	return NULL;
}

bool pki_add_revoked(X509_CRL *list, const struct pki_issuer *issuer, const X509 *certificate,
		     time_t now, time_t until)
{
	X509_REVOKED *entry = X509_REVOKED_new();
	ASN1_TIME *at = ASN1_TIME_set(NULL, now);
	const bool made = entry != NULL && at != NULL &&
			  X509_REVOKED_set_serialNumber(
				  entry, (ASN1_INTEGER *)X509_get0_serialNumber(certificate)) ==
				  1 &&
			  X509_REVOKED_set_revocationDate(entry, at) == 1;
	const bool added = made && X509_CRL_add0_revoked(list, entry) == 1;

	if (!added)
		X509_REVOKED_free(entry);
	ASN1_TIME_free(at);
	return added && sign_list(list, issuer, now, until);
}
