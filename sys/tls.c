// SPDX-License-Identifier: BSD-3-Clause
//
// OpenSSL checks chains, dates, purposes and the list of revoked certificates; the names are looked
// at in the same step, so that a wrong one ends the handshake like a wrong certificate.
//
// What OpenSSL leaves in its queue of errors is taken out where it is reported: it would be blamed
// on the next connection otherwise.

#include "sys/tls.h"

#include <errno.h>
#include <openssl/err.h>
#include <openssl/x509.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "base/hash.h"

enum { CHAIN_DEPTH_MAX = 4, CHAIN_BYTES_MAX = 16 << 10 };

// --- names ---------------------------------------------------------------------------------------

// As names of switches are; nothing that a line of the log could not show.
bool tls_name_is_right(const char *name)
{
	const size_t bytes = strlen(name);

	return bytes > 0 && bytes < TLS_NAME_BYTES &&
	       strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-.") ==
		       bytes;
}

bool tls_certificate_name(const X509 *certificate, char name[TLS_NAME_BYTES])
{
	const X509_NAME *subject = X509_get_subject_name(certificate);
	const int at = X509_NAME_get_index_by_NID(subject, NID_commonName, -1);
	const ASN1_STRING *text;
	int bytes;

	if (at < 0 || X509_NAME_get_index_by_NID(subject, NID_commonName, at) >= 0)
		return false;
	text = X509_NAME_ENTRY_get_data(X509_NAME_get_entry(subject, at));
	bytes = ASN1_STRING_length(text);
	if (bytes <= 0 || bytes >= TLS_NAME_BYTES)
		return false;
	memcpy(name, ASN1_STRING_get0_data(text), (size_t)bytes);
	name[bytes] = '\0';
	return strlen(name) == (size_t)bytes && tls_name_is_right(name);
}

bool tls_peer_name(const SSL *ssl, char name[TLS_NAME_BYTES])
{
	const X509 *certificate = SSL_get0_peer_certificate(ssl);

	return certificate != NULL && tls_certificate_name(certificate, name);
}

static int check_name(int ok, X509_STORE_CTX *chain, bool is_server)
{
	char name[TLS_NAME_BYTES];

	if (!ok || X509_STORE_CTX_get_error_depth(chain) != 0)
		return ok;
	if (tls_certificate_name(X509_STORE_CTX_get_current_cert(chain), name) &&
	    (is_server || strcmp(name, TLS_MANAGER_NAME) == 0))
		return 1;
	X509_STORE_CTX_set_error(chain, X509_V_ERR_HOSTNAME_MISMATCH);
	return 0;
}

static int check_client(int ok, X509_STORE_CTX *chain)
{
	return check_name(ok, chain, true);
}

static int check_server(int ok, X509_STORE_CTX *chain)
{
	return check_name(ok, chain, false);
}

// --- files ---------------------------------------------------------------------------------------

static bool set_path(char path[TLS_PATH_BYTES], const char *dir, const char *name,
		     const char *suffix)
{
	return snprintf(path, TLS_PATH_BYTES, "%s/%s%s", dir, name, suffix) < TLS_PATH_BYTES;
}

bool tls_files_in(const char *dir, const char *name, struct tls_files *files)
{
	return set_path(files->authority, dir, "authority", ".pem") &&
	       set_path(files->certificate, dir, name, ".pem") &&
	       set_path(files->key, dir, name, ".key") &&
	       set_path(files->revoked, dir, "revoked", ".pem");
}

// A line about a file: what OpenSSL says is wrong with it, or `otherwise`.
static int complain(FILE *errors, const char *path, const char *otherwise)
{
	const unsigned long error = ERR_peek_error();
	const char *what = NULL;

	if (ERR_SYSTEM_ERROR(error))
		what = strerror(ERR_GET_REASON(error));
	if (what == NULL)
		what = otherwise;
	fprintf(errors, "%s: %s\n", path, what);
	ERR_clear_error();
	return -EINVAL;
}

// Its mode is looked at where it is read, so that it cannot change in between.
static EVP_PKEY *read_key(const char *path, FILE *errors)
{
	FILE *file = fopen(path, "re");
	EVP_PKEY *key = NULL;
	struct stat status;

	if (file == NULL || fstat(fileno(file), &status) != 0) {
		fprintf(errors, "%s: %s\n", path, strerror(errno));
	} else if ((status.st_mode & (S_IRWXO | S_IWGRP)) != 0) {
		fprintf(errors, "%s: others may read or write this key (mode %04o): chmod 600\n",
			path, status.st_mode & 07777);
	} else {
		key = PEM_read_PrivateKey(file, NULL, NULL, NULL);
		if (key == NULL)
			complain(errors, path, "no key in PEM that is readable without a password");
	}
	if (file != NULL)
		fclose(file);
	return key;
}

static int use_key(SSL_CTX *context, const char *path, FILE *errors)
{
	EVP_PKEY *key = read_key(path, errors);
	const bool fits = key != NULL && SSL_CTX_use_PrivateKey(context, key) == 1 &&
			  SSL_CTX_check_private_key(context) == 1;

	if (key != NULL && !fits)
		complain(errors, path, "not the key of the certificate");
	EVP_PKEY_free(key);
	return fits ? 0 : -EINVAL;
}

static int use_certificate(SSL_CTX *context, const char *path, FILE *errors)
{
	const X509 *own;
	char name[TLS_NAME_BYTES];

	if (SSL_CTX_use_certificate_chain_file(context, path) != 1)
		return complain(errors, path, "no certificate in PEM");
	own = SSL_CTX_get0_certificate(context);
	if (X509_cmp_current_time(X509_get0_notAfter(own)) < 0)
		return complain(errors, path, "this certificate has expired");
	if (X509_cmp_current_time(X509_get0_notBefore(own)) > 0)
		return complain(errors, path, "this certificate is not valid yet");
	if (!tls_certificate_name(own, name))
		return complain(errors, path, "no common name that is a name of a switch");
	return 0;
}

// Others' certificates are checked against these.
static int use_authority(SSL_CTX *context, const struct tls_files *files, FILE *errors)
{
	X509_STORE *store = SSL_CTX_get_cert_store(context);
	X509_LOOKUP *lookup;

	if (SSL_CTX_load_verify_file(context, files->authority) != 1)
		return complain(errors, files->authority, "no certificate in PEM");
	if (files->revoked[0] == '\0')
		return 0;
	lookup = X509_STORE_add_lookup(store, X509_LOOKUP_file());
	if (lookup == NULL || X509_load_crl_file(lookup, files->revoked, X509_FILETYPE_PEM) <= 0)
		return complain(errors, files->revoked, "no list of revoked certificates in PEM");
	X509_STORE_set_flags(store, X509_V_FLAG_CRL_CHECK | X509_V_FLAG_CRL_CHECK_ALL);
	return 0;
}

static void set_rules(SSL_CTX *context, bool is_server)
{
	SSL_CTX_set_min_proto_version(context, TLS1_3_VERSION);
	SSL_CTX_set_max_proto_version(context, TLS1_3_VERSION);
	SSL_CTX_set_verify(context, SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT,
			   is_server ? check_client : check_server);
	SSL_CTX_set_verify_depth(context, CHAIN_DEPTH_MAX);
	SSL_CTX_set_max_cert_list(context, CHAIN_BYTES_MAX);
	SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_OFF);
	SSL_CTX_set_num_tickets(context, 0);
	// A connection that waits holds no buffers.
	SSL_CTX_set_mode(context, SSL_MODE_RELEASE_BUFFERS);
}

SSL_CTX *tls_open(const struct tls_files *files, bool is_server, FILE *errors)
{
	SSL_CTX *context = SSL_CTX_new(TLS_method());

	if (context == NULL) {
		fprintf(errors, "%s: no memory\n", files->certificate);
		return NULL;
	}
	set_rules(context, is_server);
	if (use_certificate(context, files->certificate, errors) == 0 &&
	    use_key(context, files->key, errors) == 0 && use_authority(context, files, errors) == 0)
		return context;
	SSL_CTX_free(context);
	return NULL;
}

void tls_allow_guests(SSL_CTX *context)
{
	SSL_CTX_set_verify(context, SSL_VERIFY_NONE, NULL);
}

// Of what the server shows, the certificate with that fingerprint is the authority's, which the
// others are checked against.
static int check_guest(X509_STORE_CTX *chain, void *arg)
{
	const STACK_OF(X509) *shown = X509_STORE_CTX_get0_untrusted(chain);
	STACK_OF(X509) *trusted = sk_X509_new_null();
	unsigned char digest[TLS_FINGERPRINT_BYTES];
	int ok;

	for (int i = 0; trusted != NULL && i < sk_X509_num(shown); i++) {
		if (X509_digest(sk_X509_value(shown, i), EVP_sha256(), digest, NULL) == 1 &&
		    memcmp(digest, arg, sizeof(digest)) == 0)
			sk_X509_push(trusted, sk_X509_value(shown, i));
	}
	X509_STORE_CTX_set0_trusted_stack(chain, trusted);
	ok = X509_verify_cert(chain);
	sk_X509_free(trusted);
	return ok;
}

SSL_CTX *tls_open_guest(const uint8_t fingerprint[TLS_FINGERPRINT_BYTES])
{
	SSL_CTX *context = SSL_CTX_new(TLS_method());

	if (context == NULL)
		return NULL;
	set_rules(context, false);
	SSL_CTX_set_cert_verify_callback(context, check_guest, (void *)(uintptr_t)fingerprint);
	return context;
}

// What stat says of a file.
static uint64_t add_file(uint64_t stamp, const char *path)
{
	struct stat status = { 0 };
	uint64_t words[4];

	if (path[0] != '\0')
		stat(path, &status);
	words[0] = status.st_ino;
	words[1] = (uint64_t)status.st_size;
	words[2] = (uint64_t)status.st_mtim.tv_sec;
	words[3] = (uint64_t)status.st_mtim.tv_nsec;
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		stamp = hash_add(stamp, words[i]);
	return stamp;
}

uint64_t tls_stamp(const struct tls_files *files)
{
	uint64_t stamp = HASH_EMPTY;

	stamp = add_file(stamp, files->authority);
	stamp = add_file(stamp, files->certificate);
	stamp = add_file(stamp, files->key);
	return add_file(stamp, files->revoked);
}

// --- connections ---------------------------------------------------------------------------------

const char *tls_refused(SSL_CTX *context, const SSL *ssl)
{
	X509 *certificate = SSL_get0_peer_certificate(ssl);
	X509_STORE_CTX *chain = X509_STORE_CTX_new();
	const char *why = NULL;

	if (chain == NULL || certificate == NULL ||
	    X509_STORE_CTX_init(chain, SSL_CTX_get_cert_store(context), certificate,
				SSL_get_peer_cert_chain(ssl)) != 1) {
		why = "no memory to check its certificate";
	} else {
		X509_STORE_CTX_set_default(chain, SSL_is_server(ssl) ? "ssl_client" : "ssl_server");
		if (X509_verify_cert(chain) != 1)
			why = X509_verify_cert_error_string(X509_STORE_CTX_get_error(chain));
	}
	X509_STORE_CTX_free(chain);
	ERR_clear_error();
	return why;
}

int64_t tls_expiry(const SSL *ssl)
{
	const STACK_OF(X509) *chain = SSL_get0_verified_chain(ssl);
	int64_t first = INT64_MAX;

	for (int i = 0; i < sk_X509_num(chain); i++) {
		struct tm at;
		int64_t seconds;

		if (ASN1_TIME_to_tm(X509_get0_notAfter(sk_X509_value(chain, i)), &at) != 1)
			continue;
		seconds = timegm(&at);
		first = seconds < first ? seconds : first;
	}
	return first;
}

static bool own_refusal(const SSL *ssl)
{
	return SSL_get_verify_result(ssl) != X509_V_OK;
}

static const char *own_words(const SSL *ssl)
{
	if (SSL_get_verify_result(ssl) != X509_V_ERR_HOSTNAME_MISMATCH)
		return X509_verify_cert_error_string(SSL_get_verify_result(ssl));
	return SSL_is_server(ssl) ? "its common name is none that a switch can have" :
				    "its common name is not " TLS_MANAGER_NAME;
}

void tls_why(const SSL *ssl, unsigned long error, char why[TLS_WHY_BYTES])
{
	const char *alert = "alert ";
	const char *reason = ERR_reason_error_string(error);
	// "tlsv13 alert certificate required"
	const char *said = reason != NULL ? strstr(reason, alert) : NULL;

	if (own_refusal(ssl))
		snprintf(why, TLS_WHY_BYTES, "%s", own_words(ssl));
	else if (said != NULL)
		snprintf(why, TLS_WHY_BYTES, "the other end says: %s", said + strlen(alert));
	else
		snprintf(why, TLS_WHY_BYTES, "%s",
			 reason != NULL ? reason : "the connection ended");
}

bool tls_is_refusal(const SSL *ssl, unsigned long error)
{
	const int reason = ERR_GET_REASON(error);

	if (own_refusal(ssl))
		return true;
	switch (reason - SSL_AD_REASON_OFFSET) {
	case SSL_AD_NO_CERTIFICATE:
	case SSL_AD_BAD_CERTIFICATE:
	case SSL_AD_UNSUPPORTED_CERTIFICATE:
	case SSL_AD_CERTIFICATE_REVOKED:
	case SSL_AD_CERTIFICATE_EXPIRED:
	case SSL_AD_CERTIFICATE_UNKNOWN:
	case SSL_AD_UNKNOWN_CA:
	case SSL_AD_ACCESS_DENIED:
	case SSL_AD_CERTIFICATE_REQUIRED: return true;
	}
	return false;
}
