// SPDX-License-Identifier: BSD-3-Clause
//
// Parses the command line.
//
// The last of two contradicting options counts, as with other tools; only -c adds up.

#include "dataplane/options.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char usage[] =
	"usage: weft-switch -c FILE [option ...]\n"
	"\n"
	"  -c, --config FILE     configuration of a switch; once for each switch of the process\n"
	"      --check           check the configuration and end: 0 when it is right, else 1\n"
	"      --dump[=rows]     check it and print it as canonical text, every knob; with rows:\n"
	"                        a preset (roce) as the rows that it stands for\n"
	"      --busy-poll       never sleep: lowest latency, one whole processor\n"
	"      --lcore N[,N...]  processors of the forwarding lcores (default: any)\n"
	"      --no-huge         do without hugepages\n"
	"      --huge            insist on hugepages (default: if enough are free)\n"
	"      --log text|json   lines for people and the journal (default), or JSON objects\n"
	"      --run-dir DIR     directory of the control socket (default: /run/weft)\n"
	"      --state-dir DIR   directory of what outlives a restart (default: /var/lib/weft)\n"
	"      --version\n"
	"  -h, --help\n"
	"\n"
	"Exit status: 0 ended by a signal, or nothing wrong; 1 it could not start or run, or\n"
	"--check or --dump found the configuration wrong; 2 wrong command line; 78 a start with\n"
	"a wrong configuration.\n";

enum {
	OPTION_CHECK = 256,
	OPTION_DUMP,
	OPTION_BUSY_POLL,
	OPTION_LCORE,
	OPTION_NO_HUGE,
	OPTION_HUGE,
	OPTION_LOG,
	OPTION_RUN_DIR,
	OPTION_STATE_DIR,
	OPTION_VERSION,
};

static const struct option long_options[] = {
	{ "config", required_argument, NULL, 'c' },
	{ "check", no_argument, NULL, OPTION_CHECK },
	{ "dump", optional_argument, NULL, OPTION_DUMP },
	{ "busy-poll", no_argument, NULL, OPTION_BUSY_POLL },
	{ "lcore", required_argument, NULL, OPTION_LCORE },
	{ "no-huge", no_argument, NULL, OPTION_NO_HUGE },
	{ "huge", no_argument, NULL, OPTION_HUGE },
	{ "log", required_argument, NULL, OPTION_LOG },
	{ "run-dir", required_argument, NULL, OPTION_RUN_DIR },
	{ "state-dir", required_argument, NULL, OPTION_STATE_DIR },
	{ "version", no_argument, NULL, OPTION_VERSION },
	{ "help", no_argument, NULL, 'h' },
	{ 0 },
};

// Adds the processors of "3" or "1-3" and moves *at behind it; those beyond LCORE_MAX only count.
static bool add_cpus(const char **at, struct options *options)
{
	char *end;
	long first = strtol(*at, &end, 10);
	long last = first;

	if (end != *at && *end == '-') {
		*at = end + 1;
		last = strtol(*at, &end, 10);
	}
	if (end == *at || first < 0 || last < first || last > 4095)
		return false;
	*at = end;
	for (; first <= last; first++) {
		if (options->cpu_count < LCORE_MAX)
			options->cpu[options->cpu_count] = (int)first;
		options->cpu_count++;
	}
	return true;
}

// "1", "1,3" or "1-3,6": one processor for each lcore, in this order.
static bool parse_cpus(const char *text, struct options *options)
{
	const char *at = text;
	bool valid;

	options->cpu_count = 0;
	while ((valid = add_cpus(&at, options)) && *at == ',')
		at++;
	if (!valid || *at != '\0')
		fprintf(stderr, "weft-switch: --lcore %s: not a list of processor numbers\n", text);
	else if (options->cpu_count > LCORE_MAX)
		fprintf(stderr, "weft-switch: --lcore %s: a switch has at most %d lcores\n", text,
			LCORE_MAX);
	return valid && *at == '\0' && options->cpu_count <= LCORE_MAX;
}

static bool parse_log(const char *text, struct options *options)
{
	options->log_json = strcmp(text, "json") == 0;
	if (options->log_json || strcmp(text, "text") == 0)
		return true;
	fprintf(stderr, "weft-switch: --log %s: allowed: text or json\n", text);
	return false;
}

static bool add_config(struct options *options, const char *path)
{
	if (options->config_count == OPTIONS_CONFIG_MAX) {
		fprintf(stderr, "weft-switch: more than %d configurations\n", OPTIONS_CONFIG_MAX);
		return false;
	}
	for (uint32_t i = 0; i < options->config_count; i++) {
		if (strcmp(options->config[i], path) != 0)
			continue;
		fprintf(stderr, "weft-switch: -c %s: given twice\n", path);
		return false;
	}
	options->config[options->config_count++] = path;
	return true;
}

static bool dump(struct options *options, const char *what)
{
	options->dump = true;
	options->dump_rows = what != NULL;
	if (what == NULL || strcmp(what, "rows") == 0)
		return true;
	fprintf(stderr, "weft-switch: --dump=%s: is not rows\n", what);
	return false;
}

static enum options_verdict apply(struct options *options, int option)
{
	switch (option) {
	case 'c': return add_config(options, optarg) ? OPTIONS_RUN : OPTIONS_WRONG;
	case OPTION_CHECK: options->check = true; return OPTIONS_RUN;
	case OPTION_DUMP: return dump(options, optarg) ? OPTIONS_RUN : OPTIONS_WRONG;
	case OPTION_BUSY_POLL: options->busy_poll = true; return OPTIONS_RUN;
	case OPTION_LCORE: return parse_cpus(optarg, options) ? OPTIONS_RUN : OPTIONS_WRONG;
	case OPTION_NO_HUGE: options->memory = EAL_MEMORY_NO_HUGE; return OPTIONS_RUN;
	case OPTION_HUGE: options->memory = EAL_MEMORY_HUGE; return OPTIONS_RUN;
	case OPTION_LOG: return parse_log(optarg, options) ? OPTIONS_RUN : OPTIONS_WRONG;
	case OPTION_RUN_DIR: options->run_dir = options->eal_dir = optarg; return OPTIONS_RUN;
	case OPTION_STATE_DIR: options->state_dir = optarg; return OPTIONS_RUN;
	case OPTION_VERSION: puts("weft-switch " WEFT_VERSION); return OPTIONS_DONE;
	case 'h': fputs(usage, stdout); return OPTIONS_DONE;
	default: fputs("try: weft-switch --help\n", stderr); return OPTIONS_WRONG;
	}
}

enum options_verdict options_parse(struct options *options, int argc, char **argv)
{
	enum options_verdict verdict = OPTIONS_RUN;
	int option;

	*options = (struct options){
		.run_dir = "/run/weft",
		.eal_dir = "/run", // as other programs of DPDK, and where its tools look
		.state_dir = "/var/lib/weft",
	};
	while (verdict == OPTIONS_RUN &&
	       (option = getopt_long(argc, argv, "c:h", long_options, NULL)) != -1)
		verdict = apply(options, option);
	if (verdict != OPTIONS_RUN)
		return verdict;
	if (optind < argc) {
		fprintf(stderr, "weft-switch: unexpected argument: %s\n", argv[optind]);
		return OPTIONS_WRONG;
	}
	if (options->config_count == 0) {
		fputs("weft-switch: no configuration given (-c FILE)\n", stderr);
		return OPTIONS_WRONG;
	}
	if (options->dump && options->config_count > 1) {
		fputs("weft-switch: --dump takes one configuration\n", stderr);
		return OPTIONS_WRONG;
	}
	return OPTIONS_RUN;
}
