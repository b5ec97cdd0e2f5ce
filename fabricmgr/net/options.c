// SPDX-License-Identifier: BSD-3-Clause
//
// Parses the command line. The last of two contradicting options counts, as with other tools.
// Quantities are written as in files: "10s", "25%".

#include "fabricmgr/net/options.h"

#include <getopt.h>
#include <stdio.h>
#include <string.h>

#include "base/units.h"
#include "fabricmgr/net/alarm_option.h"

static const char usage[] =
	"usage: weft-fabricd -i INTENT [option ...]\n"
	"\n"
	"  -i, --intent FILE       what the fabric is meant to be, or dot:FILE, json:FILE,\n"
	"                          ibnetdiscover:FILE; read again at SIGHUP\n"
	"      --listen IP:PORT    where switches call over TLS; needs the next three\n"
	"      --authority FILE    certificates that those of switches are checked against\n"
	"      --certificate FILE  certificate of the manager, whose name is weft-fabricd\n"
	"      --key FILE          its key\n"
	"      --revoked FILE      list of revoked certificates; read again at SIGHUP\n"
	"      --http PORT         of 127.0.0.1, where GET requests are answered as well\n"
	"      --damping TIME      half-life of what losses of a link count (default: 10s; 0s:\n"
	"                          links are not damped)\n"
	"      --mass SHARE        of the cables: a loss of more at once waits to be confirmed\n"
	"                          (default: 25%; 0%: none does)\n"
	"      --alarm LIMITS      of one alarm, NAME:RAISE:SECONDS:CLEAR:SECONDS, where the\n"
	"                          defaults of docs/alarms.md do not fit; may be given again\n"
	"      --log text|json     lines for people and the journal (default), or JSON objects\n"
	"      --run-dir DIR       directory of the sockets (default: /run/weft)\n"
	"      --state-dir DIR     directory of what outlives a restart (default:\n"
	"                          /var/lib/weft/fabric)\n"
	"      --version\n"
	"  -h, --help\n"
	"\n"
	"Switches of this machine call at RUN_DIR/fabricd.rpc, operators ask (weft fabric) at\n"
	"RUN_DIR/fabric.socket.\n"
	"\n"
	"Exit status: 0 ended by a signal; 1 it could not start or run; 2 wrong command line;\n"
	"78 the intent or what was stored is wrong.\n";

enum {
	OPTION_LISTEN = 256,
	OPTION_AUTHORITY,
	OPTION_CERTIFICATE,
	OPTION_KEY,
	OPTION_REVOKED,
	OPTION_HTTP,
	OPTION_DAMPING,
	OPTION_MASS,
	OPTION_ALARM,
	OPTION_LOG,
	OPTION_RUN_DIR,
	OPTION_STATE_DIR,
	OPTION_VERSION,
	DAMPING_MS_MAX = 3600000,
};

static const struct option long_options[] = {
	{ "intent", required_argument, NULL, 'i' },
	{ "listen", required_argument, NULL, OPTION_LISTEN },
	{ "authority", required_argument, NULL, OPTION_AUTHORITY },
	{ "certificate", required_argument, NULL, OPTION_CERTIFICATE },
	{ "key", required_argument, NULL, OPTION_KEY },
	{ "revoked", required_argument, NULL, OPTION_REVOKED },
	{ "http", required_argument, NULL, OPTION_HTTP },
	{ "damping", required_argument, NULL, OPTION_DAMPING },
	{ "mass", required_argument, NULL, OPTION_MASS },
	{ "alarm", required_argument, NULL, OPTION_ALARM },
	{ "log", required_argument, NULL, OPTION_LOG },
	{ "run-dir", required_argument, NULL, OPTION_RUN_DIR },
	{ "state-dir", required_argument, NULL, OPTION_STATE_DIR },
	{ "version", no_argument, NULL, OPTION_VERSION },
	{ "help", no_argument, NULL, 'h' },
	{ 0 },
};

static enum options_verdict set_path(char out[TLS_PATH_BYTES], const char *text)
{
	if ((size_t)snprintf(out, TLS_PATH_BYTES, "%s", text) < TLS_PATH_BYTES)
		return OPTIONS_RUN;
	fprintf(stderr, "weft-fabricd: %s: the name is too long\n", text);
	return OPTIONS_WRONG;
}

static enum options_verdict set_quantity(const char *option, enum unit unit, const char *text,
					 uint64_t scale, uint64_t most, uint32_t *out)
{
	uint64_t value;

	if (unit_parse(unit, text, strlen(text), &value) && value / scale <= most) {
		*out = (uint32_t)(value / scale);
		return OPTIONS_RUN;
	}
	fprintf(stderr, "weft-fabricd: %s %s: allowed: %s\n", option, text,
		unit == UNIT_NS ? "0s to 1h, as in 10s or 500ms" : "0% to 100%");
	return OPTIONS_WRONG;
}

static enum options_verdict set_port(struct options *options, const char *text)
{
	uint64_t port;

	if (unit_parse(UNIT_COUNT, text, strlen(text), &port) && port > 0 && port <= UINT16_MAX) {
		options->http = (uint16_t)port;
		return OPTIONS_RUN;
	}
	fprintf(stderr, "weft-fabricd: --http %s: allowed: a port, 1 to 65535\n", text);
	return OPTIONS_WRONG;
}

static enum options_verdict set_alarm(struct options *options, const char *text)
{
	char why[ALARM_OPTION_WHY_BYTES];

	if (alarm_option_parse(text, options->alarms, why))
		return OPTIONS_RUN;
	fprintf(stderr, "weft-fabricd: --alarm %s: %s\n", text, why);
	return OPTIONS_WRONG;
}

static enum options_verdict set_log(struct options *options, const char *text)
{
	options->log_json = strcmp(text, "json") == 0;
	if (options->log_json || strcmp(text, "text") == 0)
		return OPTIONS_RUN;
	fprintf(stderr, "weft-fabricd: --log %s: allowed: text or json\n", text);
	return OPTIONS_WRONG;
}

static enum options_verdict apply(struct options *options, int option)
{
	switch (option) {
	case 'i': options->intent = optarg; return OPTIONS_RUN;
	case OPTION_LISTEN: options->listen = optarg; return OPTIONS_RUN;
	case OPTION_AUTHORITY: return set_path(options->tls.authority, optarg);
	case OPTION_CERTIFICATE: return set_path(options->tls.certificate, optarg);
	case OPTION_KEY: return set_path(options->tls.key, optarg);
	case OPTION_REVOKED: return set_path(options->tls.revoked, optarg);
	case OPTION_HTTP: return set_port(options, optarg);
	case OPTION_DAMPING:
		return set_quantity("--damping", UNIT_NS, optarg, 1000000, DAMPING_MS_MAX,
				    &options->damping_ms);
	case OPTION_MASS:
		return set_quantity("--mass", UNIT_PPM, optarg, 1, 1000000, &options->mass_ppm);
	case OPTION_ALARM: return set_alarm(options, optarg);
	case OPTION_LOG: return set_log(options, optarg);
	case OPTION_RUN_DIR: options->run_dir = optarg; return OPTIONS_RUN;
	case OPTION_STATE_DIR: options->state_dir = optarg; return OPTIONS_RUN;
	case OPTION_VERSION: puts("weft-fabricd " WEFT_VERSION); return OPTIONS_DONE;
	case 'h': fputs(usage, stdout); return OPTIONS_DONE;
	default: fputs("try: weft-fabricd --help\n", stderr); return OPTIONS_WRONG;
	}
}

static enum options_verdict check(const struct options *options, int argc, char **argv)
{
	const struct tls_files *tls = &options->tls;

	if (optind < argc) {
		fprintf(stderr, "weft-fabricd: unexpected argument: %s\n", argv[optind]);
		return OPTIONS_WRONG;
	}
	if (options->intent == NULL) {
		fputs("weft-fabricd: no intent given (-i FILE)\n", stderr);
		return OPTIONS_WRONG;
	}
	if (options->listen != NULL &&
	    (tls->authority[0] == '\0' || tls->certificate[0] == '\0' || tls->key[0] == '\0')) {
		fputs("weft-fabricd: --listen needs --authority, --certificate and --key\n",
		      stderr);
		return OPTIONS_WRONG;
	}
	return OPTIONS_RUN;
}

enum options_verdict options_parse(struct options *options, int argc, char **argv)
{
	enum options_verdict verdict = OPTIONS_RUN;
	int option;

	*options = (struct options){
		.run_dir = "/run/weft",
		.state_dir = "/var/lib/weft/fabric",
		.damping_ms = 10000,
		.mass_ppm = 250000,
	};
	for (uint32_t i = 0; i < ALARM_COUNT; i++)
		options->alarms[i] = alarm_infos[i].limits;
	while (verdict == OPTIONS_RUN &&
	       (option = getopt_long(argc, argv, "i:h", long_options, NULL)) != -1)
		verdict = apply(options, option);
	return verdict == OPTIONS_RUN ? check(options, argc, argv) : verdict;
}
