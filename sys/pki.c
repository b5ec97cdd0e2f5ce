// SPDX-License-Identifier: BSD-3-Clause
//
// The directory of an authority. What a certificate is, its file says, and whether it is revoked,
// the list says: there is no other record that could be lost or disagree.
//
// Keys are made here for convenience, which a lab can afford; they are to be moved to the switches.

#include "sys/pki.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sys/pki_dir.h"
#include "sys/tls.h"

enum {
	AUTHORITY_DAYS = 3650,
	SERIAL_CHARS = 16,
};

static const char authority_name[] = "authority";
static const char list_name[] = "revoked";

struct path pki_path(const struct pki *pki, const char *name, const char *suffix)
{
	struct path path;

	snprintf(path.text, sizeof(path.text), "%s/%s%s", pki->dir, name, suffix);
	return path;
}

int pki_complain(const struct pki *pki, const char *object, const char *what, int error)
{
	fprintf(pki->errors, "%s: %s\n", object, what);
	ERR_clear_error();
	return error;
}

int pki_complain_errno(const struct pki *pki, const char *object, int error)
{
	return pki_complain(pki, object, strerror(-error), error);
}

// --- files ---------------------------------------------------------------------------------------

FILE *pki_create(const struct pki *pki, const char *path, mode_t mode)
{
	const int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, mode);

	if (fd < 0) {
		pki_complain_errno(pki, path, -errno);
		return NULL;
	}
	return fdopen(fd, "w");
}

int pki_finish(const struct pki *pki, const char *path, FILE *file, bool written)
{
	const bool stored = fflush(file) == 0 && fsync(fileno(file)) == 0;

	if (fclose(file) == 0 && stored && written)
		return 0;
	unlink(path);
	return pki_complain(pki, path, "cannot be written", -EIO);
}

int pki_write_key(const struct pki *pki, const char *name, EVP_PKEY *key)
{
	const struct path path = pki_path(pki, name, ".key");
	FILE *file = pki_create(pki, path.text, 0600);

	if (file == NULL)
		return -EEXIST;
	return pki_finish(pki, path.text, file,
			  PEM_write_PKCS8PrivateKey(file, key, NULL, NULL, 0, NULL, NULL) == 1);
}

int pki_write_certificate(const struct pki *pki, const char *name, X509 *certificate)
{
	const struct path path = pki_path(pki, name, ".pem");
	FILE *file = pki_create(pki, path.text, 0644);

	if (file == NULL)
		return -EEXIST;
	return pki_finish(pki, path.text, file, PEM_write_X509(file, certificate) == 1);
}

// A key with its certificate: both, or none.
static int write_pair(const struct pki *pki, const char *name, EVP_PKEY *key, X509 *certificate)
{
	const struct path path = pki_path(pki, name, ".key");
	int rc = 0;

	if (key == NULL || certificate == NULL)
		return pki_complain(pki, name, "no certificate could be made: no memory", -ENOMEM);
	rc = pki_write_key(pki, name, key);
	if (rc == 0) {
		rc = pki_write_certificate(pki, name, certificate);
		if (rc < 0)
			unlink(path.text);
	}
	return rc;
}

static int write_list(const struct pki *pki)
{
	const struct path path = pki_path(pki, list_name, ".pem");
	struct file_replace replace;
	int rc = file_replace_open(&replace, path.text);

	if (rc == 0) {
		// A list that is cut would be found out by its signature, and refused by all.
		PEM_write_X509_CRL(replace.file, pki->list);
		fchmod(fileno(replace.file), 0644);
		rc = file_replace_finish(&replace);
	}
	return rc < 0 ? pki_complain_errno(pki, path.text, rc) : 0;
}

X509 *pki_read_certificate(const char *path)
{
	FILE *file = fopen(path, "re");
	X509 *certificate;

	if (file == NULL)
		return NULL;
	certificate = PEM_read_X509(file, NULL, NULL, NULL);
	fclose(file);
	ERR_clear_error();
	return certificate;
}

// --- the authority -------------------------------------------------------------------------------

void pki_close(struct pki *pki)
{
	X509_free(pki->issuer.certificate);
	EVP_PKEY_free(pki->issuer.key);
	X509_CRL_free(pki->list);
	if (pki->lock >= 0)
		close(pki->lock);
}

static int read_key(struct pki *pki)
{
	const struct path path = pki_path(pki, authority_name, ".key");
	FILE *file = fopen(path.text, "re");

	if (file == NULL)
		return pki_complain_errno(pki, path.text, -errno);
	pki->issuer.key = PEM_read_PrivateKey(file, NULL, NULL, NULL);
	fclose(file);
	if (pki->issuer.key == NULL ||
	    X509_check_private_key(pki->issuer.certificate, pki->issuer.key) != 1)
		return pki_complain(pki, path.text, "not the key of authority.pem", -EINVAL);
	return 0;
}

static int read_list(struct pki *pki)
{
	const struct path path = pki_path(pki, list_name, ".pem");
	FILE *file = fopen(path.text, "re");
	EVP_PKEY *key;
	bool right;

	if (file == NULL)
		return pki_complain_errno(pki, path.text, -errno);
	pki->list = PEM_read_X509_CRL(file, NULL, NULL, NULL);
	fclose(file);
	key = X509_get0_pubkey(pki->issuer.certificate);
	right = pki->list != NULL && key != NULL && X509_CRL_verify(pki->list, key) == 1;
	return right ? 0 : pki_complain(pki, path.text, "not a list of this authority", -EINVAL);
}

int pki_open(struct pki *pki, const char *dir, bool with_key, FILE *errors)
{
	struct path path;
	int rc = 0;

	*pki = (struct pki){ .dir = dir, .errors = errors, .lock = -1 };
	path = pki_path(pki, authority_name, ".pem");
	pki->issuer.certificate = pki_read_certificate(path.text);
	if (pki->issuer.certificate == NULL && access(path.text, F_OK) != 0)
		return pki_complain(pki, dir, "no authority here; weft pki init makes one",
				    -ENOENT);
	if (pki->issuer.certificate == NULL)
		return pki_complain(pki, path.text, "no certificate in PEM", -EINVAL);
	pki->lock = with_key ? open(path.text, O_RDONLY | O_CLOEXEC) : -1;
	if (pki->lock >= 0)
		flock(pki->lock, LOCK_EX);
	rc = with_key ? read_key(pki) : 0;
	return rc == 0 ? read_list(pki) : rc;
}

int pki_make_directory(const struct pki *pki, const char *path)
{
	if (mkdir(path, 0700) == 0 || errno == EEXIST)
		return 0;
	return pki_complain_errno(pki, path, -errno);
}

static int make_authority(struct pki *pki)
{
	const time_t now = time(NULL);
	const time_t until = now + (time_t)AUTHORITY_DAYS * PKI_DAY_S;
	const struct pki_subject subject = { "weft lab authority", PKI_AUTHORITY, now - PKI_EARLY_S,
					     until };
	int rc = 0;

	pki->issuer.key = pki_make_key();
	if (pki->issuer.key != NULL)
		pki->issuer.certificate = pki_sign(&subject, pki->issuer.key, &pki->issuer);
	if (pki->issuer.certificate != NULL)
		pki->list = pki_make_list(&pki->issuer, now - PKI_EARLY_S, until);
	if (pki->list == NULL)
		return pki_complain(pki, pki->dir, "no authority could be made: no memory",
				    -ENOMEM);
	rc = write_pair(pki, authority_name, pki->issuer.key, pki->issuer.certificate);
	return rc == 0 ? write_list(pki) : rc;
}

int pki_init(const char *dir, FILE *errors)
{
	struct pki pki = { .dir = dir, .errors = errors, .lock = -1 };
	int rc = pki_make_directory(&pki, dir);

	if (rc == 0 && access(pki_path(&pki, authority_name, ".pem").text, F_OK) == 0)
		rc = pki_complain(&pki, dir, "there is an authority already", -EEXIST);
	if (rc == 0)
		rc = make_authority(&pki);
	pki_close(&pki);
	return rc;
}

// --- certificates --------------------------------------------------------------------------------

enum state { STATE_VALID, STATE_REVOKED, STATE_EXPIRED, STATE_FOREIGN };

static const char *const state_words[] = {
	[STATE_VALID] = "valid",
	[STATE_REVOKED] = "revoked",
	[STATE_EXPIRED] = "expired",
	[STATE_FOREIGN] = "of another authority",
};

static enum state state_of(const struct pki *pki, X509 *certificate)
{
	EVP_PKEY *key = X509_get0_pubkey(pki->issuer.certificate);
	X509_REVOKED *entry;

	if (key == NULL || X509_verify(certificate, key) != 1) {
		ERR_clear_error();
		return STATE_FOREIGN;
	}
	if (X509_CRL_get0_by_cert(pki->list, &entry, certificate) == 1)
		return STATE_REVOKED;
	if (X509_cmp_current_time(X509_get0_notAfter(certificate)) < 0)
		return STATE_EXPIRED;
	return STATE_VALID;
}

// As much of the serial number as tells one certificate from another.
static void print_serial(const X509 *certificate, char serial[SERIAL_CHARS + 1])
{
	const ASN1_INTEGER *number = X509_get0_serialNumber(certificate);
	const unsigned char *bytes = ASN1_STRING_get0_data(number);
	const int count = ASN1_STRING_length(number);

	serial[0] = '\0';
	for (int i = 0; i < count && i < SERIAL_CHARS / 2; i++)
		snprintf(serial + 2 * i, 3, "%02x", bytes[i]);
}

// "2036-11-28", the last day.
static void print_until(const X509 *certificate, char until[16])
{
	struct tm at = { 0 };

	ASN1_TIME_to_tm(X509_get0_notAfter(certificate), &at);
	strftime(until, 16, "%Y-%m-%d", &at);
}

int pki_check_name(const struct pki *pki, const char *name)
{
	if (!tls_name_is_right(name) || name[0] == '.' || name[0] == '-')
		return pki_complain(pki, name,
				    "not a name: letters, digits, '_', '-' and '.', 63 at most",
				    -EINVAL);
	if (strcmp(name, authority_name) == 0 || strcmp(name, list_name) == 0)
		return pki_complain(pki, name, "a name that the directory needs itself", -EINVAL);
	return 0;
}

// A certificate that is of no use any more makes room for the next one.
static int move_away(const struct pki *pki, const char *name, const X509 *certificate)
{
	char serial[SERIAL_CHARS + 1];
	char old[TLS_NAME_BYTES + SERIAL_CHARS + 8];
	struct path from = pki_path(pki, name, ".pem");
	struct path to;
	int rc = pki_make_directory(pki, pki_path(pki, "old", "").text);

	if (rc < 0)
		return rc;
	print_serial(certificate, serial);
	snprintf(old, sizeof(old), "old/%s-%s", name, serial);
	to = pki_path(pki, old, ".pem");
	if (rename(from.text, to.text) != 0)
		return pki_complain_errno(pki, from.text, -errno);
	from = pki_path(pki, name, ".key");
	to = pki_path(pki, old, ".key");
	// The key may have been moved to its switch.
	if (rename(from.text, to.text) != 0 && errno != ENOENT)
		return pki_complain_errno(pki, from.text, -errno);
	return 0;
}

int pki_make_room(const struct pki *pki, const char *name)
{
	const struct path path = pki_path(pki, name, ".pem");
	X509 *certificate = pki_read_certificate(path.text);
	char until[16];
	int rc = 0;

	if (certificate == NULL)
		return 0; // what else is there is not written over
	switch (state_of(pki, certificate)) {
	case STATE_REVOKED:
	case STATE_EXPIRED: rc = move_away(pki, name, certificate); break;
	case STATE_FOREIGN:
		rc = pki_complain(pki, path.text, "of another authority", -EEXIST);
		break;
	case STATE_VALID:
		print_until(certificate, until);
		fprintf(pki->errors, "%s: has a certificate until %s; revoke it first\n", name,
			until);
		rc = -EEXIST;
		break;
	}
	X509_free(certificate);
	return rc;
}

X509 *pki_certify(const struct pki *pki, const char *name, EVP_PKEY *key)
{
	const bool is_manager = strcmp(name, TLS_MANAGER_NAME) == 0;
	const time_t now = time(NULL);
	const struct pki_subject subject = { name, is_manager ? PKI_SERVER : PKI_CLIENT,
					     now - PKI_EARLY_S,
					     now + (time_t)PKI_CERTIFICATE_DAYS * PKI_DAY_S };

	return key != NULL ? pki_sign(&subject, key, &pki->issuer) : NULL;
}

static int make_certificate(const struct pki *pki, const char *name)
{
	EVP_PKEY *key = pki_make_key();
	X509 *certificate = pki_certify(pki, name, key);
	const int rc = write_pair(pki, name, key, certificate);

	X509_free(certificate);
	EVP_PKEY_free(key);
	return rc;
}

int pki_issue(const char *dir, const char *name, FILE *errors)
{
	struct pki pki;
	int rc = pki_open(&pki, dir, true, errors);

	if (rc == 0)
		rc = pki_check_name(&pki, name);
	if (rc == 0)
		rc = pki_make_room(&pki, name);
	if (rc == 0)
		rc = make_certificate(&pki, name);
	pki_close(&pki);
	return rc;
}

static int revoke_certificate(struct pki *pki, const char *name)
{
	const time_t now = time(NULL);
	X509 *certificate = pki_read_certificate(pki_path(pki, name, ".pem").text);
	int rc = 0;

	if (certificate == NULL)
		return pki_complain(pki, name, "has no certificate here", -ENOENT);
	switch (state_of(pki, certificate)) {
	case STATE_REVOKED: rc = pki_complain(pki, name, "is revoked already", -EALREADY); break;
	case STATE_FOREIGN: rc = pki_complain(pki, name, "of another authority", -EINVAL); break;
	case STATE_EXPIRED:
	case STATE_VALID:
		rc = pki_add_revoked(pki->list, &pki->issuer, certificate, now,
				     now + (time_t)AUTHORITY_DAYS * PKI_DAY_S) ?
			     write_list(pki) :
			     pki_complain(pki, name, "no memory", -ENOMEM);
		break;
	}
	X509_free(certificate);
	return rc;
}

int pki_revoke(const char *dir, const char *name, FILE *errors)
{
	struct pki pki;
	int rc = pki_open(&pki, dir, true, errors);

	if (rc == 0)
		rc = pki_check_name(&pki, name);
	if (rc == 0)
		rc = revoke_certificate(&pki, name);
	pki_close(&pki);
	return rc;
}

// --- lists ---------------------------------------------------------------------------------------

static int is_certificate(const struct dirent *entry)
{
	const size_t bytes = strlen(entry->d_name);

	return bytes > strlen(".pem") &&
	       strcmp(entry->d_name + bytes - strlen(".pem"), ".pem") == 0;
}

static void list_file(const struct pki *pki, const char *path, FILE *out)
{
	X509 *certificate = pki_read_certificate(path);
	char serial[SERIAL_CHARS + 1];
	char until[16];
	char name[TLS_NAME_BYTES];

	if (certificate == NULL)
		return; // the list of revoked ones is in PEM as well
	if (tls_certificate_name(certificate, name)) {
		print_serial(certificate, serial);
		print_until(certificate, until);
		fprintf(out, "%-24s %-16s %s %s\n", name, serial, until,
			state_words[state_of(pki, certificate)]);
	}
	X509_free(certificate);
}

static int list_directory(const struct pki *pki, const char *dir, FILE *out)
{
	struct dirent **entries;
	const int count = scandir(dir, &entries, is_certificate, alphasort);
	char path[FILE_REPLACE_PATH_BYTES + sizeof(entries[0]->d_name)];

	if (count < 0)
		return errno == ENOENT ? 0 : pki_complain_errno(pki, dir, -errno);
	for (int i = 0; i < count; i++) {
		snprintf(path, sizeof(path), "%s/%s", dir, entries[i]->d_name);
		list_file(pki, path, out);
		free(entries[i]);
	}
	free(entries);
	return 0;
}

int pki_list(const char *dir, FILE *out, FILE *errors)
{
	struct pki pki;
	int rc = pki_open(&pki, dir, false, errors);

	if (rc == 0) {
		fprintf(out, "%-24s %-16s %-10s %s\n", "NAME", "SERIAL", "UNTIL", "STATE");
		rc = list_directory(&pki, dir, out);
	}
	if (rc == 0)
		rc = list_directory(&pki, pki_path(&pki, "old", "").text, out);
	pki_close(&pki);
	return rc;
}
