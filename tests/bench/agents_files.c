// SPDX-License-Identifier: BSD-3-Clause
//
// Certificates of the benchmark of agents, in a directory of its own: an authority, the manager and
// one for each agent. They are not synchronised to the disk, as those of weft pki are, since they
// go with the run.

#include "tests/bench/agents.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "sys/pki_x509.h"

enum { PATH_BYTES = 96 };

void agents_must(bool good, const char *what)
{
	if (good)
		return;
	fprintf(stderr, "agents: %s\n", what);
	exit(1);
}

static void write_pem(const char *dir, const char *name, X509 *certificate, EVP_PKEY *key)
{
	char path[PATH_BYTES];
	FILE *file;

	snprintf(path, sizeof(path), "%s/%s.pem", dir, name);
	file = fopen(path, "we");
	agents_must(file != NULL && PEM_write_X509(file, certificate) == 1, path);
	fclose(file);
	snprintf(path, sizeof(path), "%s/%s.key", dir, name);
	file = fopen(path, "we");
	agents_must(file != NULL && PEM_write_PrivateKey(file, key, NULL, NULL, 0, NULL, NULL) == 1,
		    path);
	fclose(file);
}

static void make(const char *dir, const char *file, const char *name, enum pki_use use,
		 struct pki_issuer *issuer)
{
	const time_t at = time(NULL);
	const struct pki_subject subject = { name, use, at - 60, at + 3600 };
	EVP_PKEY *key = pki_make_key();
	X509 *certificate;

	if (use == PKI_AUTHORITY)
		issuer->key = key;
	certificate = pki_sign(&subject, key, issuer);
	agents_must(certificate != NULL, "no certificate");
	write_pem(dir, file, certificate, key);
	if (use == PKI_AUTHORITY) {
		issuer->certificate = certificate;
		return;
	}
	X509_free(certificate);
	EVP_PKEY_free(key);
}

void agents_make_files(char *dir, uint32_t count)
{
	struct pki_issuer issuer = { 0 };
	char name[TLS_NAME_BYTES];

	umask(077);
	agents_must(mkdtemp(dir) != NULL, "no directory");
	make(dir, "authority", "authority", PKI_AUTHORITY, &issuer);
	make(dir, TLS_MANAGER_NAME, TLS_MANAGER_NAME, PKI_SERVER, &issuer);
	for (uint32_t i = 0; i < count; i++) {
		snprintf(name, sizeof(name), "agent%u", i);
		make(dir, name, name, PKI_CLIENT, &issuer);
	}
	X509_free(issuer.certificate);
	EVP_PKEY_free(issuer.key);
}

static void files_of(const char *dir, const char *name, struct tls_files *files)
{
	agents_must(tls_files_in(dir, name, files), "a path is too long");
	files->revoked[0] = '\0';
}

void agents_manager_files(const char *dir, struct tls_files *files)
{
	files_of(dir, TLS_MANAGER_NAME, files);
}

void agents_files(const char *dir, uint32_t at, struct tls_files *files)
{
	char name[TLS_NAME_BYTES];

	snprintf(name, sizeof(name), "agent%u", at);
	files_of(dir, name, files);
}

static void remove_pair(const char *dir, const char *name)
{
	char path[PATH_BYTES];

	snprintf(path, sizeof(path), "%s/%s.pem", dir, name);
	unlink(path);
	snprintf(path, sizeof(path), "%s/%s.key", dir, name);
	unlink(path);
}

void agents_remove_files(const char *dir, uint32_t count)
{
	char name[TLS_NAME_BYTES];

	remove_pair(dir, "authority");
	remove_pair(dir, TLS_MANAGER_NAME);
	for (uint32_t i = 0; i < count; i++) {
		snprintf(name, sizeof(name), "agent%u", i);
		remove_pair(dir, name);
	}
	rmdir(dir);
}
