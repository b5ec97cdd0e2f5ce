// SPDX-License-Identifier: BSD-3-Clause
//
// The command line of weft-traffic: what it makes of words, what it says of wrong ones, files under
// options, and the specs of hosts.

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "tests/table.h"
#include "traffic/options.h"
#include "traffic/profile.h"
#include "traffic/spec.h"

enum { WORDS_MAX = 12 };

struct line {
	const char *what;
	const char *word[WORDS_MAX]; // behind the program's name
	const char *says;            // all of standard error; or a part of the dump
};

// One rank of a run on RDMA devices.
#define VERBS(workload, rank, world)                                                               \
	workload, "--verbs", "rxe0", "--rank", rank, "--world", world, "--coordinator",            \
		"10.0.0.1:18600"

struct outcome {
	enum options_verdict verdict;
	char *out;
	char *errors;
	size_t out_len;
	size_t errors_len;
};

static struct traffic_config config;

static struct outcome parse(const char *const word[WORDS_MAX], const char *more)
{
	struct outcome got = { 0 };
	char copy[WORDS_MAX + 2][256];
	char *argv[WORDS_MAX + 2];
	int argc = 0;
	FILE *out = open_memstream(&got.out, &got.out_len);
	FILE *errors = open_memstream(&got.errors, &got.errors_len);

	snprintf(copy[argc++], sizeof(copy[0]), "weft-traffic");
	for (uint32_t i = 0; i < WORDS_MAX && word[i] != NULL; i++)
		snprintf(copy[argc++], sizeof(copy[0]), "%s", word[i]);
	if (more != NULL)
		snprintf(copy[argc++], sizeof(copy[0]), "%s", more);
	for (int i = 0; i < argc; i++)
		argv[i] = copy[i];
	got.verdict = options_parse(&config, argc, argv, out, errors);
	fclose(out);
	fclose(errors);
	return got;
}

static void release(struct outcome *got)
{
	free(got->out);
	free(got->errors);
}

static const struct line wrong[] = {
	{ "no workload",
	  { "--hosts", "pair" },
	  "weft-traffic: no workload given, such as write or all-reduce; see weft-traffic "
	  "--help\n" },
	{ "a mistyped workload",
	  { "al-reduce", "--hosts", "pair" },
	  "weft-traffic: workload: \"al-reduce\" is unknown; did you mean all-reduce?\n" },
	{ "a collective without an element for each",
	  { "all-reduce", "--hosts", "pair", "--size", "7" },
	  "weft-traffic: --size 7: a collective of 2 hosts has 8 bytes or more, an element of 4 "
	  "for each\n" },
	{ "willing without PFC",
	  { "write", "--hosts", "pair", "--dcbx", "willing", "--no-pfc" },
	  "weft-traffic: --dcbx willing: not of hosts that do not know PFC\n" },
	{ "no host",
	  { "write" },
	  "weft-traffic: 0 hosts given, two or more needed: --hosts pair is the simplest, then "
	  "--hosts SPEC or --port DEVARGS\n" },
	{ "a mistyped option",
	  { "write", "--hosts", "pair", "--itres", "5" },
	  "weft-traffic: unknown option --itres; did you mean --iters?\n" },
	{ "a mistyped option of two words",
	  { "write", "--retry-timout", "5s" },
	  "weft-traffic: unknown option --retry-timout; did you mean --retry-timeout?\n" },
	{ "a short option that is none",
	  { "write", "-x" },
	  "weft-traffic: unknown option -x; see weft-traffic --help\n" },
	{ "a value without its unit",
	  { "write", "--speed", "10" },
	  "weft-traffic: --speed: \"10\" is not valid; allowed: 1M to 1.6T\n" },
	{ "a value out of range",
	  { "write", "--mtu=8K" },
	  "weft-traffic: --mtu: \"8K\" is too large; allowed: 1 to 4K\n" },
	{ "a missing value", { "write", "--size" }, "weft-traffic: --size: needs a value\n" },
	{ "a word of a set",
	  { "all-reduce", "--algorithm", "tre" },
	  "weft-traffic: --algorithm: \"tre\" is unknown; did you mean tree?\n" },
	{ "braces without an end",
	  { "write", "--hosts", "memif:/run/{0-7" },
	  "weft-traffic: --hosts memif:/run/{0-7: braces hold numbers as {0-7} or words as {a,b}, "
	  "as many in each\n" },
	{ "braces of different counts",
	  { "write", "--hosts", "net_tap{0-1},iface=t{0-2}" },
	  "weft-traffic: --hosts net_tap{0-1},iface=t{0-2}: braces hold numbers as {0-7} or words "
	  "as {a,b}, as many in each\n" },
	{ "a host that is none",
	  { "write", "--hosts", "pair", "--host", "2:speed=1G" },
	  "weft-traffic: --host 2: hosts are 0 to 1\n" },
	{ "a host of another family",
	  { "write", "--hosts", "pair", "--host", "1:ip=fd00::1" },
	  "weft-traffic: --host 1: its address is not of the family of --ip\n" },
	{ "a knob that a host does not have",
	  { "write", "--hosts", "pair", "--host", "1:sped=1G" },
	  "weft-traffic: --host sped: unknown; did you mean speed?\n" },
	{ "a trouble that is none",
	  { "write", "--hosts", "pair", "--trouble", "1:strom=3" },
	  "weft-traffic: --trouble strom: unknown; did you mean storm?\n" },
	{ "a preset that is none",
	  { "write", "--hosts", "pair", "--dcqcn", "papr" },
	  "weft-traffic: --dcqcn: \"papr\" is unknown; did you mean paper?\n" },
	{ "an odd number of hosts for pairs",
	  { "write", "--hosts", "memif:/s{0-2}" },
	  "weft-traffic: write, read and send are for pairs of hosts, not for 3\n" },
	{ "latency of a read",
	  { "read", "--hosts", "pair", "--latency" },
	  "weft-traffic: --latency: of write and send only\n" },
	{ "a permutation onto itself",
	  { "permutation", "--hosts", "pair", "--shift", "2" },
	  "weft-traffic: --shift 2: each of 2 hosts would send to itself\n" },
	{ "two hosts for a perftest",
	  { "perftest", "--hosts", "pair", "--listen" },
	  "weft-traffic: perftest: one host, not 2\n" },
	{ "a perftest without a peer",
	  { "perftest", "--hosts", "memif:/s" },
	  "weft-traffic: perftest: needs --connect ADDRESS or --listen, and not both\n" },
	{ "a perftest both ways",
	  { "perftest", "--hosts", "memif:/s", "--listen", "--connect", "10.0.0.1" },
	  "weft-traffic: perftest: needs --connect ADDRESS or --listen, and not both\n" },
	{ "a perftest over IPv6",
	  { "perftest", "--hosts", "memif:/s", "--connect", "fd00::1" },
	  "weft-traffic: perftest: meets over IPv4 only; IPv6 of its queue pairs is --gid\n" },
	{ "an MTU that verbs have not",
	  { "perftest", "--hosts", "memif:/s", "--listen", "--mtu", "1500" },
	  "weft-traffic: --mtu 1500: perftest knows 256, 512, 1024, 2048 and 4096\n" },
	{ "queue pairs of a perftest",
	  { "perftest", "--hosts", "memif:/s", "--listen", "--qps", "129" },
	  "weft-traffic: perftest: at most 128 queue pairs\n" },
	{ "a perftest for a time",
	  { "perftest", "--hosts", "memif:/s", "--listen", "--duration", "2s" },
	  "weft-traffic: perftest: bandwidth, and a number of messages\n" },
	{ "a GID of IPv4",
	  { "perftest", "--hosts", "memif:/s", "--listen", "--gid", "10.0.0.1" },
	  "weft-traffic: --gid: an IPv6 address; IPv4 is --ip's\n" },
	{ "a rank without a device",
	  { "write", "--hosts", "pair", "--rank", "1" },
	  "weft-traffic: --rank, --world and --coordinator: of --verbs\n" },
	{ "a device without a world",
	  { "write", "--verbs", "rxe0", "--rank", "1", "--coordinator", "10.0.0.1:1" },
	  "weft-traffic: --verbs: needs --rank, --world and --coordinator\n" },
	{ "a device and hosts in software",
	  { VERBS("write", "1", "2"), "--hosts", "pair" },
	  "weft-traffic: --verbs: is the host of this machine, without --hosts or --port\n" },
	{ "a rank past the last",
	  { VERBS("write", "2", "2") },
	  "weft-traffic: --rank 2: ranks are 0 to 1\n" },
	{ "an odd world for pairs",
	  { VERBS("write", "1", "3") },
	  "weft-traffic: write, read and send are for pairs of hosts, not for 3\n" },
	{ "a device and a switch that is asked",
	  { VERBS("write", "1", "2"), "--switch-name=lab" },
	  "weft-traffic: --switch-name: is asked by hosts in software only\n" },
	{ "trouble of a device",
	  { VERBS("write", "1", "2"), "--trouble", "0:storm=3" },
	  "weft-traffic: --verbs: RDMA devices know neither --selective nor --trouble\n" },
	{ "an MTU that devices have not",
	  { VERBS("write", "1", "2"), "--mtu", "1000" },
	  "weft-traffic: --mtu 1000: verbs know 256, 512, 1024, 2048 and 4096\n" },
	{ "a perftest on a device",
	  { VERBS("perftest", "0", "2") },
	  "weft-traffic: --verbs: RDMA devices do neither perftest, which is there anyway, nor "
	  "replay\n" },
	{ "an odd ring",
	  { "write", "--hosts", "pair", "--ring", "33" },
	  "weft-traffic: --ring 33: is not a power of two\n" },
	{ "a duration of a collective",
	  { "all-gather", "--hosts", "pair", "--duration", "1s" },
	  "weft-traffic: --duration: of flows; a collective has --iters\n" },
	{ "sizes without a load",
	  { "write", "--hosts", "pair", "--sizes", "/s" },
	  "weft-traffic: --sizes: needs --load, such as --load 50%\n" },
	{ "a load of a collective",
	  { "all-gather", "--hosts", "pair", "--load", "50%" },
	  "weft-traffic: --load: of flows only, and not of a trace or a capture\n" },
	{ "a load of ping-pong",
	  { "write", "--hosts", "pair", "--load", "50%", "--latency" },
	  "weft-traffic: --load: not with --latency, which waits for answers\n" },
	{ "a load and a gap",
	  { "write", "--hosts", "pair", "--load", "50%", "--gap", "1ms" },
	  "weft-traffic: --gap: --load says when messages are due\n" },
	{ "a replay that asks the switch",
	  { "replay", "--hosts", "pair", "--pcap", "/s", "--switch-name", "lab" },
	  "weft-traffic: --switch-name: not of replay\n" },
	{ "a replay without its capture",
	  { "replay", "--hosts", "pair" },
	  "weft-traffic: replay: needs --pcap FILE\n" },
	{ "a capture of something else",
	  { "write", "--hosts", "pair", "--pcap", "/s" },
	  "weft-traffic: --pcap: of the workload replay only\n" },
	{ "a trace without its file",
	  { "trace", "--hosts", "pair" },
	  "weft-traffic: trace: needs --trace FILE\n" },
	{ "a trace of something else",
	  { "write", "--hosts", "pair", "--trace", "/s" },
	  "weft-traffic: --trace: of the workload trace only\n" },
	{ "a duration of a trace",
	  { "trace", "--hosts", "pair", "--trace", "/s", "--duration", "1s" },
	  "weft-traffic: --duration: the trace says how long\n" },
	{ "data with the DSCP of CNPs",
	  { "write", "--hosts", "pair", "--dscp", "48" },
	  "weft-traffic: --dscp 48: is that of CNPs, which go in priority 6\n" },
	{ "a file that is none",
	  { "write", "-c", "/nonexistent/file" },
	  "/nonexistent/file: No such file or directory\n" },
};

TABLE_TEST(traffic_options, wrong, row, wrong)
{
	struct outcome got = parse(row->word, NULL);

	cr_expect_str_eq(got.errors, row->says, "%s: %s", row->what, got.errors);
	cr_expect_eq(got.verdict, OPTIONS_WRONG, "%s", row->what);
	cr_expect_eq(got.out_len, 0, "%s", row->what);
	release(&got);
}

// Each row in the words of a scenario file.
static const struct line right[] = {
	{ "a word of its own", { "all-to-all" }, "workload = \"all-to-all\";" },
	{ "bytes, apart and together", { "write", "--size", "64K" }, "size = \"64K\";" },
	{ "an equals sign", { "write", "--size=64K" }, "size = \"64K\";" },
	{ "options before the workload", { "--qps", "4", "write" }, "qps = 4;" },
	{ "the last one counts", { "write", "--qps", "4", "--qps", "5" }, "qps = 5;" },
	{ "a truth value", { "write", "--json" }, "json = true;" },
	{ "one that is taken back", { "write", "--no-pfc" }, "pfc = false;" },
	{ "one that is written out", { "write", "--ecn=false" }, "ecn = false;" },
	{ "two words", { "write", "--retry-timeout", "20ms" }, "retry_timeout = \"20ms\";" },
	{ "underscores as in a file",
	  { "write", "--retry_timeout", "2s" },
	  "retry_timeout = \"2s\";" },
	{ "a rank on a device",
	  { VERBS("all-reduce", "1", "300") },
	  "verbs = \"rxe0\";\nrank = 1;\nworld = 300;\ncoordinator = \"10.0.0.1:18600\";" },
	{ "the peer of a perftest",
	  { "perftest", "--connect", "10.0.0.1" },
	  "connect = \"10.0.0.1\";" },
	{ "devices",
	  { "write", "--port", "net_tap0,iface=a", "--port", "net_tap1,iface=b" },
	  "port = ({\n\tdevargs = \"net_tap0,iface=a\";\n}, {\n"
	  "\tdevargs = \"net_tap1,iface=b\";\n});" },
	{ "a slow host",
	  { "write", "--host", "3:speed=500M" },
	  "host = ({\n\trank = 3;\n\tspeed = \"500M\";\n});" },
	{ "a host with addresses of its own",
	  { "write", "--host", "1:mac=02:00:00:00:01:07,ip=10.2.0.7/24" },
	  "host = ({\n\trank = 1;\n\tmac = \"02:00:00:00:01:07\";\n\tip = \"10.2.0.7/24\";\n});" },
	{ "a storm on two priorities, and a second trouble of the same host",
	  { "write", "--trouble", "1:storm=3,4,storm-gap=1ms", "--trouble", "1:ecn_blind" },
	  "trouble = ({\n\trank = 1;\n\tstorm = \"3-4\";\n\tstorm_quanta = 65535;\n"
	  "\tstorm_gap = \"1ms\";\n\tstorm_start = \"0\";\n\tstorm_stop = \"0\";\n"
	  "\tslow = \"0\";\n\tbuffer = \"1M\";\n\tignore_pfc = false;\n"
	  "\tecn_blind = true;\n\tcorrupt = \"0\";\n\treorder = \"0\";\n});" },
	{ "a preset with a parameter",
	  { "write", "--dcqcn", "paper", "--dcqcn", "cw:timer=100us" },
	  "dcqcn = ({\n\tpreset = \"cw\";\n\ttimer = \"100us\";\n});" },
	{ "no DCQCN", { "write", "--dcqcn", "off" }, "congestion_control = false;" },
};

TABLE_TEST(traffic_options, right, row, right)
{
	struct outcome got = parse(row->word, "--dump");

	cr_expect_eq(got.verdict, OPTIONS_DONE, "%s: %s", row->what, got.errors);
	cr_expect_not_null(strstr(got.out, row->says), "%s: %s", row->what, got.out);
	release(&got);
}

// On machines of their own there may be more hosts than one process has.
Test(traffic_options, ranks_of_devices)
{
	const char *word[WORDS_MAX] = { VERBS("all-reduce", "299", "300") };
	struct outcome got = parse(word, NULL);

	cr_assert_eq(got.verdict, OPTIONS_RUN, "%s", got.errors);
	cr_assert_eq(traffic_host_count(&config), 300);
	cr_assert_eq(config.run.gid_index, CONFIG_UNSET);
	release(&got);
}

Test(traffic_options, scenario)
{
	char path[] = "/tmp/traffic_options.XXXXXX";
	const char *word[WORDS_MAX] = { "--size", "2K", "-c", path };
	const int fd = mkstemp(path);
	FILE *file = fdopen(fd, "w");
	struct outcome got;

	fputs("workload = \"incast\";\nhosts = \"memif:/s{0-3}\";\nsize = 4096;\nqps = 2;\n"
	      "host = ( { rank = 3; speed = \"1G\"; } );\n",
	      file);
	fclose(file);
	got = parse(word, NULL);
	unlink(path);
	cr_assert_eq(got.verdict, OPTIONS_RUN, "%s", got.errors);
	cr_expect_eq(config.run.workload, TRAFFIC_INCAST);
	cr_expect_eq(config.run.size, 2048);
	cr_expect_eq(config.run.qps, 2);
	cr_expect_eq(traffic_host_count(&config), 4);
	cr_expect_eq(traffic_host_bps(&config, 3), 1000000000);
	cr_expect_eq(traffic_host_bps(&config, 2), 10000000000);
	release(&got);
}

Test(traffic_options, help)
{
	const char *word[WORDS_MAX] = { "--help" };
	struct outcome got = parse(word, NULL);

	cr_assert_eq(got.verdict, OPTIONS_DONE);
	for (uint32_t i = 1; i < traffic_tables[0].knob_count; i++) {
		char option[64];

		snprintf(option, sizeof(option), "%s", traffic_tables[0].knobs[i].key);
		for (char *c = strchr(option, '_'); c != NULL; c = strchr(c, '_'))
			*c = '-';
		cr_expect_not_null(strstr(got.out, option), "%s", option);
	}
	release(&got);
}

// --- specs ------------------------------------------------------------------------------------

struct spec_row {
	const char *what;
	uint32_t count;
	uint32_t i;
	const char *device; // of host i, in rings of 32, as number 7
};

static const struct spec_row specs[] = {
	{ "pair", 2, 1, "pair" },
	{ "memif:/run/lab/{0-7}.sock", 8, 5,
	  "net_memif7,role=client,socket=/run/lab/5.sock,socket-abstract=no,rsize=5,bsize=4224" },
	{ "memif:/one", 1, 0,
	  "net_memif7,role=client,socket=/one,socket-abstract=no,rsize=5,bsize=4224" },
	{ "net_af_packet{0-1},iface={left,right}", 2, 1, "net_af_packet1,iface=right" },
	{ "0000:3b:00.{0-1}", 2, 0, "0000:3b:00.0" },
	{ "{8-10}", 3, 2, "10" },
	{ "{3-1}", 0, 0, "" },
	{ "{}", 0, 0, "" },
	{ "a}", 0, 0, "" },
	{ "", 0, 0, "" },
	{ "{0-99999}", 0, 0, "" },
	{ "{0-1234567}", 0, 0, "" },
	{ "{1234567-1234568}", 0, 0, "" },
	{ "{0-}", 0, 0, "" },
	{ "{0-a}", 1, 0, "0-a" },
};

TABLE_TEST(traffic_spec, expand, row, specs)
{
	char one[SPEC_BYTES];
	char device[SPEC_BYTES];

	cr_assert_eq(spec_count(row->what), row->count, "%s: %u", row->what, spec_count(row->what));
	if (row->count == 0)
		return;
	spec_expand(row->what, row->i, one);
	spec_device(one, 7, 32, device);
	cr_expect_str_eq(device, row->device, "%s: %s", row->what, device);
}

Test(traffic_spec, pci)
{
	cr_expect(spec_is_pci("0000:3b:00.1"));
	cr_expect(spec_is_pci("3b:00.1,arg=1"));
	cr_expect_not(spec_is_pci("net_tap0"));
	cr_expect_not(spec_is_pci("pair"));
}

// --- profiles ---------------------------------------------------------------------------------

Test(traffic_profile, host)
{
	const char *word[WORDS_MAX] = { "incast",
					"--hosts",
					"memif:/s{0-3}",
					"--ip",
					"10.1.0.254",
					"--mac",
					"02:00:00:00:00:ff",
					"--host",
					"2:speed=1G",
					"--host",
					"3:mac=06:00:00:00:00:09,ip=10.9.0.1" };
	struct outcome got = parse(word, "--trouble=2:slow=500M,buffer=400000");
	const struct workload workload = { .host_count = 4, .job = { .receive_depth = 100 } };
	struct endpoint_profile pf;

	cr_assert_eq(got.verdict, OPTIONS_RUN, "%s", got.errors);
	profile_make(&config, &workload, 2, 5, ROCE_CRC_TABLE, &pf);
	// Both addresses carry into the next byte.
	cr_expect_eq(pf.mac, 0x020000000101);
	cr_expect(pf.has_ipv4 && !pf.has_ipv6);
	cr_expect_arr_eq(pf.ipv4, ((const uint8_t[]){ 10, 1, 1, 0 }), 4);
	cr_expect_eq(pf.bps, 1000000000);
	cr_expect_eq(pf.rp.line_bps, 1000000000);
	cr_expect_eq(pf.dscp_to_prio[26], 3);
	cr_expect_eq(pf.dscp_to_prio[48], 6);
	cr_expect_eq(pf.qp_count, 5);
	cr_expect_eq(pf.send_count, 128);
	cr_expect_eq(pf.receiver.bps, 500000000);
	cr_expect_eq(pf.receiver.xoff_bytes, 200000);
	cr_expect_eq(pf.receiver.xon_bytes, 100000);
	profile_make(&config, &workload, 0, 5, ROCE_CRC_TABLE, &pf);
	cr_expect_eq(pf.mac, 0x0200000000ff);
	cr_expect_eq(pf.bps, 10000000000);
	cr_expect_eq(pf.receiver.bps, 0);
	profile_make(&config, &workload, 3, 5, ROCE_CRC_TABLE, &pf);
	cr_expect_eq(pf.mac, 0x060000000009);
	cr_expect_arr_eq(pf.ipv4, ((const uint8_t[]){ 10, 9, 0, 1 }), 4);
	release(&got);
}

struct storm_row {
	const char *what;
	const char *trouble;
	uint64_t start;
	uint64_t stop;
};

// Of a job that begins after 40 ms.
static const struct storm_row storms[] = {
	{ "from the beginning for ever", "--trouble=1:storm=3", 40000000, 0 },
	{ "from the beginning on", "--trouble=1:storm=3,storm_stop=300ms", 40000000, 340000000 },
	{ "later", "--trouble=1:storm=3,storm_start=1ms,storm_stop=2ms", 41000000, 42000000 },
};

TABLE_TEST(traffic_profile, storm, row, storms)
{
	const char *word[WORDS_MAX] = { "write", "--hosts", "pair" };
	struct outcome got = parse(word, row->trouble);
	const struct workload workload = { .host_count = 2 };
	struct endpoint_profile pf;

	cr_assert_eq(got.verdict, OPTIONS_RUN, "%s", got.errors);
	profile_make(&config, &workload, 1, 1, ROCE_CRC_TABLE, &pf);
	cr_expect_eq(pf.trouble.storm, 0, "%s", row->what);
	profile_begin(&config, 1, (ns_t){ 40000000 }, &pf);
	cr_expect_eq(pf.trouble.storm, 1 << 3, "%s", row->what);
	cr_expect_eq(pf.trouble.storm_start.v, row->start, "%s", row->what);
	cr_expect_eq(pf.trouble.storm_stop.v, row->stop, "%s", row->what);
	profile_make(&config, &workload, 0, 1, ROCE_CRC_TABLE, &pf);
	profile_begin(&config, 0, (ns_t){ 40000000 }, &pf);
	cr_expect_eq(pf.trouble.storm, 0, "%s", row->what);
	release(&got);
}
