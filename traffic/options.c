// SPDX-License-Identifier: BSD-3-Clause
//
// The command line by walking the descriptors of the configuration, so that an option cannot be
// known to one of parser, help and scenario file only.

#include "traffic/options.h"

#include <errno.h>
#include <stdarg.h>
#include <string.h>

#include "sys/cfg_load.h"
#include "sys/cfg_row.h"
#include "sys/cfg_value.h"
#include "sys/nearest.h"
#include "traffic/core/perftest.h"
#include "traffic/options_help.h"
#include "traffic/profile.h"
#include "traffic/spec.h"

enum { KEY_BYTES = CONFIG_NAME_BYTES, ALLOWED_BYTES = 256, TEXT_BYTES = 512, WORDS_MAX = 16 };

// A row of any list.
union list_row {
	struct device_config device;
	struct rank_config rank;
	struct trouble_config trouble;
	struct dcqcn_config dcqcn;
};

struct parser {
	struct traffic_config *config;
	FILE *out;
	FILE *errors;
	int argc;
	char **argv;
	int at;
};

__attribute__((format(printf, 2, 3))) static enum options_verdict refuse(
	const struct parser *parser, const char *format, ...)
{
	va_list args;

	fputs("weft-traffic: ", parser->errors);
	va_start(args, format);
	vfprintf(parser->errors, format, args);
	va_end(args);
	fputc('\n', parser->errors);
	return OPTIONS_WRONG;
}

// The name of a knob from `len` letters of an option, "_" for "-". False: it is too long for one.
static bool key_of(const char *text, size_t len, char key[KEY_BYTES])
{
	if (len >= KEY_BYTES)
		return false;
	for (size_t i = 0; i < len; i++)
		key[i] = text[i];
	key[len] = '\0';
	for (char *c = strchr(key, '-'); c != NULL; c = strchr(c, '-'))
		*c = '_';
	return true;
}

// The word among those of an ENUM that was probably meant; NULL: none.
static const char *nearest_word(const struct config_knob *knob, const char *text, char *word)
{
	struct nearest near = nearest_to(text);
	char words[WORDS_MAX][KEY_BYTES];
	const char *at = knob->words;

	for (uint32_t i = 0; i < WORDS_MAX && *at != '\0'; i++) {
		const size_t len = strcspn(at, "|");

		snprintf(words[i], KEY_BYTES, "%.*s", (int)len, at);
		nearest_offer(&near, words[i]);
		at += len + (at[len] == '|');
	}
	if (near.best == NULL)
		return NULL;
	snprintf(word, KEY_BYTES, "%s", near.best);
	return word;
}

static enum options_verdict set_value(const struct parser *parser, const struct config_knob *knob,
				      const char *option, const char *text, uint8_t *row)
{
	const enum cfg_verdict verdict = cfg_value_parse(knob, text, row + knob->offset);
	char allowed[ALLOWED_BYTES];
	char word[KEY_BYTES];

	if (verdict == CFG_VALUE_OK)
		return OPTIONS_RUN;
	if (verdict == CFG_VALUE_CONTROL)
		text = "...";
	if (knob->kind == CONFIG_ENUM && nearest_word(knob, text, word) != NULL)
		return refuse(parser, "%s: \"%.60s\" is unknown; did you mean %s?", option, text,
			      word);
	cfg_value_allowed(knob, sizeof(allowed), allowed);
	return refuse(parser, "%s: \"%.60s\" %s; allowed: %s", option, text,
		      cfg_verdict_text(verdict), allowed);
}

// --- lists ------------------------------------------------------------------------------------

// Where the next setting of "KNOB=VALUE,KNOB=VALUE" begins: a comma without a name and "=" behind
// it belongs to the value.
static const char *setting_end(const char *at)
{
	for (at = strchr(at, ','); at != NULL; at = strchr(at + 1, ',')) {
		const size_t len = strspn(at + 1, "abcdefghijklmnopqrstuvwxyz_-");

		if (len > 0 && at[1 + len] == '=')
			return at;
	}
	return NULL;
}

static enum options_verdict set_setting(const struct parser *parser,
					const struct config_table *table, char *setting,
					uint8_t *row)
{
	char *value = strchr(setting, '=');
	const size_t len = strcspn(setting, "=");
	const struct config_knob *knob;
	struct nearest near;
	char option[2 * KEY_BYTES];
	char key[KEY_BYTES];

	if (!key_of(setting, len, key))
		snprintf(key, sizeof(key), "%.40s", setting);
	snprintf(option, sizeof(option), "--%.40s %s", table->name, key);
	knob = cfg_find_knob(table, key);
	if (knob == NULL) {
		near = nearest_to(key);
		for (uint32_t i = 1; i < table->knob_count; i++)
			nearest_offer(&near, table->knobs[i].key);
		return near.best != NULL ?
			       refuse(parser, "%s: unknown; did you mean %s?", option, near.best) :
			       refuse(parser, "%s: unknown; see weft-traffic --help", option);
	}
	if (value == NULL && knob->kind != CONFIG_BOOL)
		return refuse(parser, "%s: needs =VALUE", option);
	return set_value(parser, knob, option, value == NULL ? "true" : value + 1, row);
}

static enum options_verdict set_settings(const struct parser *parser,
					 const struct config_table *table, char *text, uint8_t *row)
{
	enum options_verdict verdict = OPTIONS_RUN;

	while (text != NULL && verdict == OPTIONS_RUN) {
		char *end = (char *)(uintptr_t)setting_end(text);

		if (end != NULL)
			*end++ = '\0';
		verdict = set_setting(parser, table, text, row);
		text = end;
	}
	return verdict;
}

// The row of this key; a new one when there is none. NULL: there are too many.
static uint8_t *row_of(const struct parser *parser, const struct config_table *table,
		       const uint8_t *key)
{
	const uint32_t count = cfg_row_count(table, parser->config);

	for (uint32_t i = 0; i < count && table->knob_count > 1; i++) {
		uint8_t *row = cfg_row(table, parser->config, i);

		if (cfg_key_equal(table, row, key))
			return row;
	}
	// Of a list of one, the new one takes the place of the old.
	if (count == table->row_max && count > 1)
		return NULL;
	cfg_set_row_count(table, parser->config, count == table->row_max ? count : count + 1);
	memcpy(cfg_row(table, parser->config, count == table->row_max ? 0 : count), key,
	       table->row_bytes);
	return cfg_row(table, parser->config, count == table->row_max ? 0 : count);
}

static enum options_verdict take_row(const struct parser *parser, const struct config_table *table,
				     const char *value)
{
	union list_row made;
	uint8_t *fresh = (uint8_t *)&made;
	const bool bare = table->knob_count == 1; // the value is all there is
	const size_t key_len = bare ? strlen(value) : strcspn(value, ":");
	enum options_verdict verdict;
	char option[KEY_BYTES];
	char text[TEXT_BYTES];
	uint8_t *row;

	if (strlen(value) >= sizeof(text))
		return refuse(parser, "--%s: too long", table->name);
	snprintf(text, sizeof(text), "%s", value);
	snprintf(option, sizeof(option), "--%.40s", table->name);
	cfg_row_default(table, fresh);
	text[key_len] = '\0';
	verdict = set_value(parser, &table->knobs[0], option, text, fresh);
	if (verdict != OPTIONS_RUN)
		return verdict;
	row = row_of(parser, table, fresh);
	if (row == NULL)
		return refuse(parser, "%s: there are %u already", option, table->row_max);
	return value[key_len] == '\0' ? OPTIONS_RUN :
					set_settings(parser, table, text + key_len + 1, row);
}

// --- one option -------------------------------------------------------------------------------

static enum options_verdict unknown(const struct parser *parser, const char *key, const char *arg)
{
	struct nearest near = nearest_to(key);
	char option[KEY_BYTES + 4];

	options_offer(&near);
	if (near.best == NULL)
		return refuse(parser, "unknown option %.60s; see weft-traffic --help", arg);
	snprintf(option, sizeof(option), "--%s", near.best);
	for (char *c = strchr(option, '_'); c != NULL; c = strchr(c, '_'))
		*c = '-';
	return refuse(parser, "unknown option %.60s; did you mean %s?", arg, option);
}

// The value of an option: behind its "=", or the next word. NULL: there is none.
static const char *value_of(struct parser *parser, const char *equals)
{
	if (equals != NULL)
		return equals + 1;
	return parser->at + 1 < parser->argc ? parser->argv[++parser->at] : NULL;
}

static enum options_verdict take_knob(struct parser *parser, const struct config_knob *knob,
				      const char *arg, const char *equals)
{
	uint8_t *row = (uint8_t *)&parser->config->run;
	const char *value = equals == NULL && knob->kind == CONFIG_BOOL ? "true" :
									  value_of(parser, equals);
	char option[KEY_BYTES];

	snprintf(option, sizeof(option), "%.*s", (int)strcspn(arg, "="), arg);
	if (value == NULL)
		return refuse(parser, "%s: needs a value", option);
	return set_value(parser, knob, option, value, row);
}

static enum options_verdict take_option(struct parser *parser)
{
	const struct config_table *top = &traffic_tables[0];
	const char *arg = parser->argv[parser->at];
	const char *equals = strchr(arg, '=');
	const size_t len = strcspn(arg + 2, "=");
	const struct config_table *table;
	const struct config_knob *knob;
	const char *value;
	char key[KEY_BYTES];

	if (!key_of(arg + 2, len, key))
		return refuse(parser, "unknown option %.60s; see weft-traffic --help", arg);
	knob = cfg_find_knob(top, key);
	if (knob != NULL)
		return take_knob(parser, knob, arg, equals);
	knob = strncmp(key, "no_", 3) == 0 && equals == NULL ? cfg_find_knob(top, key + 3) : NULL;
	if (knob != NULL && knob->kind == CONFIG_BOOL)
		return set_value(parser, knob, arg, "false", (uint8_t *)&parser->config->run);
	table = cfg_find_table(traffic_tables, TRAFFIC_TABLE_COUNT, key);
	if (table == NULL || table == top)
		return unknown(parser, key, arg);
	value = value_of(parser, equals);
	if (value == NULL)
		return refuse(parser, "--%s: needs a value", table->name);
	if (strcmp(table->name, "dcqcn") == 0) {
		parser->config->run.congestion_control = strcmp(value, "off") != 0;
		if (!parser->config->run.congestion_control)
			return OPTIONS_RUN;
	}
	return take_row(parser, table, value);
}

// --- the whole line ---------------------------------------------------------------------------

static bool is_config(const char *arg)
{
	return strcmp(arg, "-c") == 0 || strcmp(arg, "--config") == 0 ||
	       strncmp(arg, "--config=", 9) == 0;
}

static enum options_verdict load(struct parser *parser)
{
	const char *value = value_of(parser, strchr(parser->argv[parser->at], '='));

	if (value == NULL)
		return refuse(parser, "-c: needs the name of a file");
	return cfg_load(value, traffic_tables, TRAFFIC_TABLE_COUNT, parser->config,
			parser->errors) == 0 ?
		       OPTIONS_RUN :
		       OPTIONS_WRONG;
}

// The file first, wherever its option stands.
static enum options_verdict load_files(struct parser *parser)
{
	enum options_verdict verdict = OPTIONS_RUN;
	uint32_t count = 0;

	for (parser->at = 1; parser->at < parser->argc && verdict == OPTIONS_RUN; parser->at++) {
		if (!is_config(parser->argv[parser->at]))
			continue;
		if (count++ != 0)
			return refuse(parser, "-c: given twice");
		verdict = load(parser);
	}
	return verdict;
}

static bool is_word(const char *arg, const char *brief, const char *name)
{
	return strcmp(arg, brief) == 0 || strcmp(arg, name) == 0;
}

static enum options_verdict take(struct parser *parser, bool *dump)
{
	const char *arg = parser->argv[parser->at];
	const struct config_knob *workload = cfg_find_knob(&traffic_tables[0], "workload");
	uint8_t *row = (uint8_t *)&parser->config->run;

	if (is_config(arg)) {
		parser->at += strchr(arg, '=') == NULL;
		return OPTIONS_RUN;
	}
	if (is_word(arg, "-h", "--help")) {
		options_help(parser->out);
		return OPTIONS_DONE;
	}
	if (is_word(arg, "-V", "--version")) {
		fputs("weft-traffic " WEFT_VERSION "\n", parser->out);
		return OPTIONS_DONE;
	}
	if (strcmp(arg, "--dump") == 0) {
		*dump = true;
		return OPTIONS_RUN;
	}
	if (arg[0] != '-')
		return set_value(parser, workload, "workload", arg, row);
	if (arg[1] != '-' || arg[2] == '\0')
		return refuse(parser, "unknown option %.60s; see weft-traffic --help", arg);
	return take_option(parser);
}

// --- what values say together -----------------------------------------------------------------

static enum options_verdict judge_ranks(const struct parser *parser, uint32_t count)
{
	const struct traffic_config *config = parser->config;

	for (uint32_t i = 0; i < config->rank_count; i++) {
		if (config->rank[i].rank >= count)
			return refuse(parser, "--host %u: hosts are 0 to %u",
				      (uint32_t)config->rank[i].rank, count - 1);
		if (config->rank[i].ip.family != IP_NONE &&
		    config->rank[i].ip.family != config->run.ip.family)
			return refuse(parser, "--host %u: its address is not of the family of --ip",
				      (uint32_t)config->rank[i].rank);
	}
	for (uint32_t i = 0; i < config->trouble_count; i++) {
		if (config->trouble[i].rank >= count)
			return refuse(parser, "--trouble %u: hosts are 0 to %u",
				      (uint32_t)config->trouble[i].rank, count - 1);
	}
	return OPTIONS_RUN;
}

static enum options_verdict judge_devices(const struct parser *parser)
{
	const struct traffic_config *config = parser->config;

	if (config->run.hosts[0] != '\0' && spec_count(config->run.hosts) == 0)
		return refuse(parser,
			      "--hosts %s: braces hold numbers as {0-7} or words as {a,b}, "
			      "as many in each",
			      config->run.hosts);
	for (uint32_t i = 0; i < config->device_count; i++) {
		if (spec_count(config->device[i].devargs) == 0)
			return refuse(parser,
				      "--port %s: braces hold numbers as {0-7} or words as "
				      "{a,b}, as many in each",
				      config->device[i].devargs);
	}
	return OPTIONS_RUN;
}

static bool is_mtu_of_verbs(uint64_t mtu)
{
	return mtu >= 256 && mtu <= ROCE_PAYLOAD_MAX && (mtu & (mtu - 1)) == 0;
}

// Hosts with RDMA devices: what is about the wire is the device's own affair.
static enum options_verdict judge_verbs(const struct parser *parser)
{
	const struct traffic_config *config = parser->config;
	const struct run_config *run = &config->run;

	if (!traffic_has_verbs(config)) {
		if (run->world != CONFIG_UNSET || run->rank != CONFIG_UNSET ||
		    run->coordinator[0] != '\0')
			return refuse(parser, "--rank, --world and --coordinator: of --verbs");
		return OPTIONS_RUN;
	}
	if (run->hosts[0] != '\0' || config->device_count != 0)
		return refuse(parser, "--verbs: is the host of this machine, without --hosts or "
				      "--port");
	if (run->rank == CONFIG_UNSET || run->world == CONFIG_UNSET || run->coordinator[0] == '\0')
		return refuse(parser, "--verbs: needs --rank, --world and --coordinator");
	if (run->rank >= run->world)
		return refuse(parser, "--rank %u: ranks are 0 to %u", (uint32_t)run->rank,
			      (uint32_t)run->world - 1);
	if (run->workload == TRAFFIC_PERFTEST || run->workload == TRAFFIC_REPLAY)
		return refuse(parser, "--verbs: RDMA devices do neither perftest, which is there "
				      "anyway, nor replay");
	if (run->switch_name[0] != '\0')
		return refuse(parser, "--switch-name: is asked by hosts in software only");
	if (run->selective || config->trouble_count != 0)
		return refuse(parser, "--verbs: RDMA devices know neither --selective nor "
				      "--trouble");
	if (!is_mtu_of_verbs(run->mtu))
		return refuse(parser, "--mtu %u: verbs know 256, 512, 1024, 2048 and 4096",
			      (uint32_t)run->mtu);
	return OPTIONS_RUN;
}

static enum options_verdict judge_perftest(const struct parser *parser, uint32_t count)
{
	const struct run_config *run = &parser->config->run;
	const bool connects = run->connect.family != IP_NONE;

	if (count != 1)
		return refuse(parser, "perftest: one host, not %u", count);
	if (connects == (run->listen != 0))
		return refuse(parser,
			      "perftest: needs --connect ADDRESS or --listen, and not both");
	if (run->ip.family != IP_V4 || (connects && run->connect.family != IP_V4))
		return refuse(parser, "perftest: meets over IPv4 only; IPv6 of its queue pairs "
				      "is --gid");
	if (run->switch_name[0] != '\0')
		return refuse(parser, "--switch-name: not of perftest");
	if (run->latency || run->duration != CONFIG_UNSET)
		return refuse(parser, "perftest: bandwidth, and a number of messages");
	if (run->qps > PERFTEST_QPS_MAX)
		return refuse(parser, "perftest: at most %u queue pairs", PERFTEST_QPS_MAX);
	if (run->gid.family != IP_NONE && run->gid.family != IP_V6)
		return refuse(parser, "--gid: an IPv6 address; IPv4 is --ip's");
	if (!is_mtu_of_verbs(run->mtu))
		return refuse(parser, "--mtu %u: perftest knows 256, 512, 1024, 2048 and 4096",
			      (uint32_t)run->mtu);
	if (run->size == 0)
		return refuse(parser, "--size 0: a message has bytes");
	return judge_ranks(parser, count);
}

// Flows that send whenever they can, or when the dice or a trace say.
static enum options_verdict judge_open(const struct parser *parser)
{
	const struct run_config *run = &parser->config->run;
	const enum traffic_workload workload = (enum traffic_workload)run->workload;
	const bool loads = run->load != CONFIG_UNSET;
	const bool traces = workload == TRAFFIC_TRACE;
	const bool replays = workload == TRAFFIC_REPLAY;

	if (replays != (run->pcap[0] != '\0'))
		return replays ? refuse(parser, "replay: needs --pcap FILE") :
				 refuse(parser, "--pcap: of the workload replay only");
	if (traces != (run->trace[0] != '\0'))
		return traces ? refuse(parser, "trace: needs --trace FILE") :
				refuse(parser, "--trace: of the workload trace only");
	if (replays && run->switch_name[0] != '\0')
		return refuse(parser, "--switch-name: not of replay");
	if (loads && (traces || replays || traffic_is_collective(workload)))
		return refuse(parser, "--load: of flows only, and not of a trace or a capture");
	if (run->sizes[0] != '\0' && !loads)
		return refuse(parser, "--sizes: needs --load, such as --load 50%%");
	if (loads && run->latency)
		return refuse(parser, "--load: not with --latency, which waits for answers");
	if ((loads || traces) && run->gap != 0)
		return refuse(parser, "--gap: %s says when messages are due",
			      loads ? "--load" : "the trace");
	if (traces && run->duration != CONFIG_UNSET)
		return refuse(parser, "--duration: the trace says how long");
	return OPTIONS_RUN;
}

// What a flow or an operation carries must be more than nothing.
static enum options_verdict judge_size(const struct parser *parser, uint32_t count)
{
	const struct run_config *run = &parser->config->run;
	const enum traffic_workload workload = (enum traffic_workload)run->workload;
	const uint32_t least = count * COLLECTIVE_ELEMENT_BYTES;

	if (!traffic_is_collective(workload))
		return run->size != 0 ? OPTIONS_RUN :
					refuse(parser, "--size 0: a message has bytes");
	if (run->size < least)
		return refuse(parser,
			      "--size %u: a collective of %u hosts has %u bytes or more, an "
			      "element of %u for each",
			      (uint32_t)run->size, count, least, COLLECTIVE_ELEMENT_BYTES);
	return OPTIONS_RUN;
}

static enum options_verdict judge(const struct parser *parser)
{
	const struct run_config *run = &parser->config->run;
	const uint32_t count = traffic_host_count(parser->config);
	const enum traffic_workload workload = (enum traffic_workload)run->workload;

	if (run->workload == CONFIG_UNSET)
		return refuse(parser, "no workload given, such as write or all-reduce; see "
				      "weft-traffic --help");
	if (judge_verbs(parser) != OPTIONS_RUN || judge_devices(parser) != OPTIONS_RUN)
		return OPTIONS_WRONG;
	if ((run->ring & (run->ring - 1)) != 0)
		return refuse(parser, "--ring %u: is not a power of two", (uint32_t)run->ring);
	if (run->dscp == PROFILE_CNP_DSCP)
		return refuse(parser, "--dscp %u: is that of CNPs, which go in priority %u",
			      PROFILE_CNP_DSCP, PROFILE_CNP_PRIO);
	if (!run->pfc && run->dcbx == TRAFFIC_DCBX_WILLING)
		return refuse(parser, "--dcbx willing: not of hosts that do not know PFC");
	if (workload == TRAFFIC_PERFTEST)
		return judge_perftest(parser, count);
	if (count < 2)
		return refuse(parser,
			      "%u hosts given, two or more needed: --hosts pair is the "
			      "simplest, then --hosts SPEC or --port DEVARGS",
			      count);
	if (count > TRAFFIC_RANK_MAX && !traffic_has_verbs(parser->config))
		return refuse(parser, "--hosts: %u hosts, at most %u in one process", count,
			      TRAFFIC_RANK_MAX);
	if (run->latency && workload != TRAFFIC_WRITE && workload != TRAFFIC_SEND)
		return refuse(parser, "--latency: of write and send only");
	if (run->latency && run->bidirectional)
		return refuse(parser, "--latency: goes both ways already, without --bidirectional");
	if (workload <= TRAFFIC_SEND && count % 2 != 0)
		return refuse(parser, "write, read and send are for pairs of hosts, not for %u",
			      count);
	if (workload == TRAFFIC_VICTIM && count < 4)
		return refuse(parser,
			      "victim: %u hosts, four or more needed: two that send, one "
			      "that both send to, and one for the victim",
			      count);
	if (workload == TRAFFIC_PERMUTATION && run->shift % count == 0)
		return refuse(parser, "--shift %u: each of %u hosts would send to itself",
			      (uint32_t)run->shift, count);
	if (judge_size(parser, count) != OPTIONS_RUN)
		return OPTIONS_WRONG;
	if (traffic_is_collective(workload) && run->duration != CONFIG_UNSET)
		return refuse(parser, "--duration: of flows; a collective has --iters");
	if (judge_open(parser) != OPTIONS_RUN)
		return OPTIONS_WRONG;
	return judge_ranks(parser, count);
}

enum options_verdict options_parse(struct traffic_config *config, int argc, char **argv, FILE *out,
				   FILE *errors)
{
	struct parser parser = { config, out, errors, argc, argv, 1 };
	enum options_verdict verdict;
	bool dump = false;

	traffic_config_init(config);
	verdict = load_files(&parser);
	if (verdict == OPTIONS_RUN && config->dcqcn_count == 0)
		config->dcqcn[0] = dcqcn_config_of(DCQCN_PAPER);
	for (parser.at = 1; parser.at < argc && verdict == OPTIONS_RUN; parser.at++)
		verdict = take(&parser, &dump);
	if (verdict == OPTIONS_RUN && argc == 1) {
		options_help(errors);
		return OPTIONS_WRONG;
	}
	if (verdict != OPTIONS_RUN)
		return verdict;
	if (dump) {
		cfg_dump(config, traffic_tables, TRAFFIC_TABLE_COUNT, out);
		return OPTIONS_DONE;
	}
	return judge(&parser);
}
