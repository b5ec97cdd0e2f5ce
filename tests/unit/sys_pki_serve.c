// SPDX-License-Identifier: BSD-3-Clause
//
// A machine asks for its certificate: who has a token gets one, once, and nobody else gets
// anything, nor is a token used up by it. Both ends are real, on one loop and the loopback
// interface.

#include "sys/pki_serve.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sys/pki.h"
#include "tests/table.h"

struct scene {
	struct event_base *base;
	struct pki_server *server;
	char dir[40]; // of the scene
	char lab[48];
	char tls[48]; // of the machine
	char address[32];
	char token[PKI_TOKEN_BYTES];
	char fingerprint[PKI_FINGERPRINT_BYTES];
	char text[512]; // of errors
	FILE *errors;
};

static const char *path_of(const char *dir, const char *file)
{
	static char paths[4][96];
	static uint32_t next;
	char *path = paths[next++ % 4];

	snprintf(path, sizeof(paths[0]), "%s/%s", dir, file);
	return path;
}

static void start(struct scene *s)
{
	*s = (struct scene){ .dir = "/tmp/weft-enrol-XXXXXX", .base = event_base_new() };
	signal(SIGPIPE, SIG_IGN);
	cr_assert_not_null(mkdtemp(s->dir));
	snprintf(s->lab, sizeof(s->lab), "%s/lab", s->dir);
	snprintf(s->tls, sizeof(s->tls), "%s/tls", s->dir);
	s->errors = fmemopen(s->text, sizeof(s->text), "w");
	setbuf(s->errors, NULL);
	cr_assert_eq(pki_init(s->lab, s->errors), 0, "%s", s->text);
	cr_assert_eq(pki_issue(s->lab, TLS_MANAGER_NAME, s->errors), 0, "%s", s->text);
	cr_assert_eq(pki_token(s->lab, "leaf1", s->token, s->fingerprint, s->errors), 0);
	s->server = pki_server_open(s->base, s->lab, "127.0.0.1:0");
	cr_assert_not_null(s->server);
	snprintf(s->address, sizeof(s->address), "127.0.0.1:%u", pki_server_port(s->server));
}

static int remove_one(const char *path, const struct stat *status, int kind, struct FTW *walk)
{
	return remove(path);
}

static void stop(struct scene *s)
{
	pki_server_close(s->server);
	event_base_free(s->base);
	fclose(s->errors);
	cr_assert_eq(nftw(s->dir, remove_one, 8, FTW_DEPTH | FTW_PHYS), 0);
}

static int ask(struct scene *s, const char *name, const char *token, const char *fingerprint)
{
	const struct pki_invitation invitation = { s->address, name, token, fingerprint };

	return pki_ask(s->base, s->tls, &invitation, s->errors);
}

Test(pki_serve, once)
{
	struct tls_files files;
	struct stat status;
	SSL_CTX *context;
	struct scene s;

	start(&s);
	cr_assert_eq(ask(&s, "leaf1", s.token, s.fingerprint), 0, "%s", s.text);
	cr_assert_eq(stat(path_of(s.tls, "leaf1.key"), &status), 0);
	cr_assert_eq(status.st_mode & 0777, 0600);
	cr_assert_eq(access(path_of(s.lab, "leaf1.key"), F_OK), -1, "the key has not travelled");
	cr_assert_eq(access(path_of(s.lab, "tokens/leaf1"), F_OK), -1);
	cr_assert(tls_files_in(s.tls, "leaf1", &files));
	context = tls_open(&files, false, s.errors);
	cr_assert_not_null(context, "%s", s.text);
	SSL_CTX_free(context);
	// The same token from another machine.
	snprintf(s.tls, sizeof(s.tls), "%s/tls2", s.dir);
	cr_assert_eq(ask(&s, "leaf1", s.token, s.fingerprint), -EPROTO);
	cr_assert_not_null(strstr(s.text, "no such token"), "%s", s.text);
	stop(&s);
}

static const struct {
	const char *what;
	const char *name;
	const char *token;       // NULL: the right one
	const char *fingerprint; // likewise
	int want;
	const char *why;
} askers[] = {
	{ "another token", "leaf1", "00000000000000000000000000000000", NULL, -EPROTO,
	  "no such token" },
	{ "no token", "leaf1", "", NULL, -EPROTO, "no such token" },
	{ "the hash of a token", "leaf1",
	  "0000000000000000000000000000000000000000000000000000000000000000", NULL, -EPROTO,
	  "no such token" },
	{ "the token of another name", "leaf2", NULL, NULL, -EPROTO, "no such token" },
	{ "the manager", TLS_MANAGER_NAME, NULL, NULL, -EPROTO, "no such token" },
	{ "no name", "../leaf1", NULL, NULL, -EINVAL, "not a name" },
	{ "another authority", "leaf1", NULL,
	  "0000000000000000000000000000000000000000000000000000000000000000", -EACCES,
	  "certificate" },
	{ "no fingerprint", "leaf1", NULL, "00", -EINVAL, "" },
};

TABLE_TEST(pki_serve, refused, row, askers)
{
	struct scene s;

	start(&s);
	cr_assert_eq(ask(&s, row->name, row->token != NULL ? row->token : s.token,
			 row->fingerprint != NULL ? row->fingerprint : s.fingerprint),
		     row->want, "%s: %s", row->what, s.text);
	cr_assert_not_null(strstr(s.text, row->why), "%s: %s", row->what, s.text);
	cr_assert_eq(access(path_of(s.tls, "leaf1.key"), F_OK), -1, "no key is left behind");
	cr_assert_eq(access(path_of(s.lab, "leaf1.pem"), F_OK), -1, "%s", row->what);
	cr_assert_eq(ask(&s, "leaf1", s.token, s.fingerprint), 0, "the token is still good: %s",
		     s.text);
	stop(&s);
}

// A day later, and after another token for the same name.
Test(pki_serve, old_tokens)
{
	char second[PKI_TOKEN_BYTES];
	char line[128];
	struct scene s;
	FILE *file;

	start(&s);
	cr_assert_eq(pki_token(s.lab, "leaf1", second, s.fingerprint, s.errors), 0);
	cr_assert_neq(strcmp(second, s.token), 0);
	cr_assert_eq(ask(&s, "leaf1", s.token, s.fingerprint), -EPROTO);
	file = fopen(path_of(s.lab, "tokens/leaf1"), "r+");
	cr_assert_not_null(fgets(line, sizeof(line), file));
	cr_assert_null(strstr(line, second), "the token itself is stored");
	rewind(file);
	fprintf(file, "%.64s %lld\n", line, (long long)time(NULL) - 1);
	fclose(file);
	cr_assert_eq(ask(&s, "leaf1", second, s.fingerprint), -EPROTO);
	cr_assert_not_null(strstr(s.text, "too old"), "%s", s.text);
	stop(&s);
}

// A certificate that is good is not followed by another one for a token.
Test(pki_serve, has_one_already)
{
	struct scene s;

	start(&s);
	cr_assert_eq(pki_issue(s.lab, "leaf1", s.errors), 0);
	cr_assert_eq(ask(&s, "leaf1", s.token, s.fingerprint), -EPROTO);
	cr_assert_not_null(strstr(s.text, "revoke it first"), "%s", s.text);
	cr_assert_eq(pki_token(s.lab, "leaf1", s.token, s.fingerprint, s.errors), -EEXIST);
	stop(&s);
}
