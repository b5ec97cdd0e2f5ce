// SPDX-License-Identifier: BSD-3-Clause
//
// A token on the command line is FINGERPRINT.SECRET, as weft pki token prints it: the first part
// says which authority to believe, the second one is believed by it.

#include "cli/pki_serve.h"

#include <event2/event.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "cli/run.h"
#include "sys/pki.h"
#include "sys/pki_serve.h"

static void on_signal(evutil_socket_t fd, short what, void *arg)
{
	event_base_loopbreak(arg);
}

// Until a signal comes.
static void run(struct event_base *base)
{
	struct event *ends[] = { evsignal_new(base, SIGINT, on_signal, base),
				 evsignal_new(base, SIGTERM, on_signal, base) };

	for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++) {
		if (ends[i] != NULL)
			event_add(ends[i], NULL);
	}
	event_base_dispatch(base);
	for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++) {
		if (ends[i] != NULL)
			event_free(ends[i]);
	}
}

int pki_serve_run(int argc, char **argv)
{
	struct event_base *base = event_base_new();
	struct pki_server *server;

	signal(SIGPIPE, SIG_IGN);
	server = base != NULL ? pki_server_open(base, argv[0], argv[1]) : NULL;
	if (server != NULL) {
		printf("port %u\n", pki_server_port(server));
		fflush(stdout);
		run(base);
	}
	pki_server_close(server);
	if (base != NULL)
		event_base_free(base);
	return server != NULL ? EXIT_DONE : EXIT_REFUSED;
}

int pki_ask_run(int argc, char **argv)
{
	char fingerprint[PKI_FINGERPRINT_BYTES];
	const char *dot = strchr(argv[3], '.');
	const struct pki_invitation invitation = { argv[1], argv[2], dot != NULL ? dot + 1 : "",
						   fingerprint };
	struct event_base *base;
	int rc = -1;

	if (dot == NULL || (size_t)(dot - argv[3]) != sizeof(fingerprint) - 1) {
		fprintf(stderr, "weft: pki: not a token as weft pki token prints it\n");
		return EXIT_USAGE;
	}
	snprintf(fingerprint, sizeof(fingerprint), "%.*s", (int)(dot - argv[3]), argv[3]);
	signal(SIGPIPE, SIG_IGN);
	base = event_base_new();
	if (base != NULL) {
		rc = pki_ask(base, argv[0], &invitation, stderr);
		event_base_free(base);
	}
	if (rc == 0)
		printf("%s/%s.pem, %s/%s.key\n", argv[0], argv[2], argv[0], argv[2]);
	return rc == 0 ? EXIT_DONE : EXIT_REFUSED;
}
