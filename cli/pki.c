// SPDX-License-Identifier: BSD-3-Clause
//
// The words of weft pki by one table, which the help walks as well. Each is done for one name after
// the other, and the first that fails ends it: what was done stays done.

#include "cli/pki.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "cli/pki_serve.h"
#include "cli/run.h"
#include "sys/nearest.h"
#include "sys/pki.h"

struct verb {
	const char *name;
	const char *words; // behind it
	const char *help;
	int words_least;
	int words_most;
	int (*each)(const char *dir, const char *name); // for each name, or once without any
	int (*whole)(int argc, char **argv);            // instead: an exit status
};

static int run_init(const char *dir, const char *name)
{
	const int rc = pki_init(dir, stderr);

	if (rc == 0)
		printf("%s: authority.pem and revoked.pem are for everybody, authority.key stays\n",
		       dir);
	return rc;
}

static int run_issue(const char *dir, const char *name)
{
	const int rc = pki_issue(dir, name, stderr);

	if (rc == 0)
		printf("%s/%s.pem, %s/%s.key\n", dir, name, dir, name);
	return rc;
}

static int run_revoke(const char *dir, const char *name)
{
	const int rc = pki_revoke(dir, name, stderr);

	if (rc == 0)
		printf("%s: revoked in %s/revoked.pem\n", name, dir);
	return rc;
}

static int run_list(const char *dir, const char *name)
{
	return pki_list(dir, stdout, stderr);
}

// Who has the line may take part under that name: it goes the way that a password goes.
static int run_token(const char *dir, const char *name)
{
	char token[PKI_TOKEN_BYTES];
	char fingerprint[PKI_FINGERPRINT_BYTES];
	const int rc = pki_token(dir, name, token, fingerprint, stderr);

	if (rc == 0)
		printf("%s %s.%s\n", name, fingerprint, token);
	return rc;
}

static const struct verb verbs[] = {
	{ "init", "DIR", "make an authority in a directory", 1, 1, run_init, NULL },
	{ "issue", "DIR NAME...", "make a key and a certificate for each name", 2, INT_MAX,
	  run_issue, NULL },
	{ "revoke", "DIR NAME...", "put certificates on the list of revoked ones", 2, INT_MAX,
	  run_revoke, NULL },
	{ "list", "DIR", "show all certificates and whether they are good", 1, 1, run_list, NULL },
	{ "token", "DIR NAME...", "let each name ask for its certificate, once, for a day", 2,
	  INT_MAX, run_token, NULL },
	{ "serve", "DIR IP:PORT", "answer those who ask, until Ctrl-C", 2, 2, NULL, pki_serve_run },
	{ "ask", "DIR HOST:PORT NAME TOKEN", "make a key, and ask for the certificate of a name", 4,
	  4, NULL, pki_ask_run },
};

enum { VERB_COUNT = sizeof(verbs) / sizeof(verbs[0]) };

static void help(FILE *out)
{
	fputs("usage: weft pki WORD DIR [NAME]...\n\n", out);
	for (int i = 0; i < VERB_COUNT; i++)
		fprintf(out, "  weft pki %-7s %-25s %s\n", verbs[i].name, verbs[i].words,
			verbs[i].help);
	fputs("\nNAME is that of a switch, or weft-fabricd for the fabric manager. A key is "
	      "NAME.key, which only its\nowner may read; nothing is written over.\n\n"
	      "Exit status: 0 done; 1 refused; 2 the command line is wrong.\n",
	      out);
}

static const struct verb *find_verb(const char *word)
{
	struct nearest near = nearest_to(word);

	for (int i = 0; i < VERB_COUNT; i++) {
		if (strcmp(word, verbs[i].name) == 0)
			return &verbs[i];
		nearest_offer(&near, verbs[i].name);
	}
	if (near.best != NULL)
		fprintf(stderr, "weft: pki: unknown word %s; did you mean %s?\n", word, near.best);
	else
		fprintf(stderr, "weft: pki: unknown word %s; see weft pki --help\n", word);
	return NULL;
}

// Whether what is behind the word is as many as it takes.
static bool check_count(const struct verb *verb, int count)
{
	if (count >= verb->words_least && count <= verb->words_most)
		return true;
	fprintf(stderr, "weft: usage: weft pki %s %s\n", verb->name, verb->words);
	return false;
}

int pki_run(int argc, char **argv)
{
	const struct verb *verb;
	int rc = 0;

	if (argc == 0) {
		help(stderr);
		return EXIT_USAGE;
	}
	for (int i = 0; i < argc; i++) {
		if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0) {
			help(stdout);
			return EXIT_DONE;
		}
	}
	verb = find_verb(argv[0]);
	if (verb == NULL || !check_count(verb, argc - 1))
		return EXIT_USAGE;
	if (verb->whole != NULL)
		return verb->whole(argc - 1, argv + 1);
	if (argc == 2)
		rc = verb->each(argv[1], NULL);
	for (int i = 2; i < argc && rc == 0; i++)
		rc = verb->each(argv[1], argv[i]);
	return rc == 0 ? EXIT_DONE : EXIT_REFUSED;
}
