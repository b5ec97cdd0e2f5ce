// SPDX-License-Identifier: BSD-3-Clause
//
// The words of weft pki by one table, which the help walks as well. Each is done for one name after
// the other, and the first that fails ends it: what was done stays done.

#include "cli/pki.h"

#include <stdio.h>
#include <string.h>

#include "cli/run.h"
#include "sys/nearest.h"
#include "sys/pki.h"

struct verb {
	const char *name;
	const char *words; // behind it
	const char *help;
	int (*run)(const char *dir, const char *name);
	bool takes_names; // one at least
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

static const struct verb verbs[] = {
	{ "init", "DIR", "make an authority in a directory", run_init, false },
	{ "issue", "DIR NAME...", "make a key and a certificate for each name", run_issue, true },
	{ "revoke", "DIR NAME...", "put certificates on the list of revoked ones", run_revoke,
	  true },
	{ "list", "DIR", "show all certificates and whether they are good", run_list, false },
};

enum { VERB_COUNT = sizeof(verbs) / sizeof(verbs[0]) };

static void help(FILE *out)
{
	fputs("usage: weft pki WORD DIR [NAME]...\n\n", out);
	for (int i = 0; i < VERB_COUNT; i++)
		fprintf(out, "  weft pki %-7s %-12s %s\n", verbs[i].name, verbs[i].words,
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
	const int least = verb->takes_names ? 2 : 1;

	if (count >= least && (verb->takes_names || count == least))
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
	if (!verb->takes_names)
		return verb->run(argv[1], NULL) == 0 ? EXIT_DONE : EXIT_REFUSED;
	for (int i = 2; i < argc && rc == 0; i++)
		rc = verb->run(argv[1], argv[i]);
	return rc == 0 ? EXIT_DONE : EXIT_REFUSED;
}
