// SPDX-License-Identifier: BSD-3-Clause
//
// Tokens: 128 random bits each, of which the directory keeps the hash alone. A token is used up
// before the certificate is made: what fails behind that costs a token, never a second certificate.
//
// Comparing takes as long for a wrong token as for a right one.

#include "sys/pki.h"

#include <errno.h>
#include <openssl/crypto.h>
#include <openssl/rand.h>
#include <openssl/sha.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sys/pki_dir.h"

enum { HASH_BYTES = 2 * SHA256_DIGEST_LENGTH + 1, RANDOM_BYTES = 16 };

static void to_hex(const unsigned char *bytes, size_t count, char *text)
{
	for (size_t i = 0; i < count; i++)
		snprintf(text + 2 * i, 3, "%02x", bytes[i]);
}

static void hash_token(const char *token, char hash[HASH_BYTES])
{
	unsigned char digest[SHA256_DIGEST_LENGTH];

	SHA256((const unsigned char *)token, strlen(token), digest);
	to_hex(digest, sizeof(digest), hash);
}

static struct path token_path(const struct pki *pki, const char *name)
{
	char file[FILE_REPLACE_PATH_BYTES];

	snprintf(file, sizeof(file), "tokens/%s", name);
	return pki_path(pki, file, "");
}

static int write_token(const struct pki *pki, const char *name, const char *token)
{
	const struct path path = token_path(pki, name);
	const long long until = (long long)time(NULL) + PKI_DAY_S;
	char hash[HASH_BYTES];
	FILE *file;
	int rc = pki_make_directory(pki, pki_path(pki, "tokens", "").text);

	if (rc < 0)
		return rc;
	if (unlink(path.text) != 0 && errno != ENOENT)
		return pki_complain_errno(pki, path.text, -errno);
	file = pki_create(pki, path.text, 0600);
	if (file == NULL)
		return -EIO;
	hash_token(token, hash);
	return pki_finish(pki, path.text, file, fprintf(file, "%s %lld\n", hash, until) > 0);
}

int pki_token(const char *dir, const char *name, char token[PKI_TOKEN_BYTES],
	      char fingerprint[PKI_FINGERPRINT_BYTES], FILE *errors)
{
	unsigned char bytes[RANDOM_BYTES];
	unsigned char digest[SHA256_DIGEST_LENGTH];
	struct pki pki;
	int rc = pki_open(&pki, dir, true, errors);

	if (rc == 0)
		rc = pki_check_name(&pki, name);
	if (rc == 0)
		rc = pki_make_room(&pki, name);
	if (rc == 0 && (RAND_bytes(bytes, sizeof(bytes)) != 1 ||
			X509_digest(pki.issuer.certificate, EVP_sha256(), digest, NULL) != 1))
		rc = pki_complain(&pki, name, "no randomness, or no memory", -ENOMEM);
	if (rc == 0) {
		to_hex(bytes, sizeof(bytes), token);
		to_hex(digest, sizeof(digest), fingerprint);
		rc = write_token(&pki, name, token);
	}
	pki_close(&pki);
	return rc;
}

// Whether it is the token of that name, and still good.
static bool is_token(const struct pki *pki, const char *name, const char *token)
{
	FILE *file = fopen(token_path(pki, name).text, "re");
	char stored[HASH_BYTES] = "";
	char hash[HASH_BYTES];
	char line[128] = "";
	long long until;

	if (file == NULL)
		return false;
	if (fgets(line, sizeof(line), file) == NULL)
		line[0] = '\0';
	fclose(file);
	if (strlen(line) < HASH_BYTES || line[HASH_BYTES - 1] != ' ')
		return false;
	memcpy(stored, line, HASH_BYTES - 1);
	until = strtoll(line + HASH_BYTES, NULL, 10);
	hash_token(token, hash);
	return CRYPTO_memcmp(stored, hash, sizeof(hash)) == 0 && time(NULL) < until;
}

static int certify(const struct pki *pki, const char *name, EVP_PKEY *key)
{
	X509 *certificate = pki_certify(pki, name, key);
	const int rc = certificate != NULL ? pki_write_certificate(pki, name, certificate) :
					     pki_complain(pki, name, "no memory", -ENOMEM);

	X509_free(certificate);
	return rc;
}

int pki_enrol(const char *dir, const char *name, const char *token, const void *request,
	      size_t bytes, FILE *errors)
{
	EVP_PKEY *key = pki_read_request(request, bytes);
	struct pki pki;
	int rc = pki_open(&pki, dir, true, errors);

	if (rc == 0)
		rc = pki_check_name(&pki, name);
	if (rc == 0 && key == NULL)
		rc = pki_complain(&pki, name, "no request that is signed with a P-256 key",
				  -EINVAL);
	if (rc == 0 && !is_token(&pki, name, token))
		rc = pki_complain(&pki, name, "no such token, or it is too old", -EACCES);
	if (rc == 0)
		rc = pki_make_room(&pki, name);
	if (rc == 0 && unlink(token_path(&pki, name).text) != 0)
		rc = pki_complain(&pki, name, "its token cannot be used up", -EACCES);
	if (rc == 0)
		rc = certify(&pki, name, key);
	EVP_PKEY_free(key);
	pki_close(&pki);
	return rc;
}
