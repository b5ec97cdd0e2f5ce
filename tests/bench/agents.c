// SPDX-License-Identifier: BSD-3-Clause
//
// agents [--count N] [--table BYTES] [--generations N] [--hostile] [--gate]: a new generation for
// all switches of a fabric over mutual TLS on the loopback interface: each has a certificate, holds
// a long poll, is told to prepare, acknowledges, is told to commit, and acknowledges that.
//
// Reported are the time and the processor's until all are there, and those of a generation until
// the last acknowledgement of its commit. --hostile has peers attack meanwhile, and the memory of
// the server is watched. The gate is twice the bound of the project: 5 s for 2000 agents.

#include "tests/bench/agents.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "schema/fabric.gen.h"
#include "sys/rpc_conn.h"

enum { CHILD_AGENTS, CHILD_ATTACK, CHILD_COUNT };

enum {
	GATE_MS = 10000,
	GUARD_S = 90,
	SKIPPED = 77,
	FILES_SPARE = 800,
	HOSTILE_MAX_KB = 96 << 10, // of memory, with so many handshakes that stand still
	HOSTILE_GUESTS = 200,
};

struct round {
	double ms;
	double cpu_ms;
};

struct stand {
	struct agents_options options;
	struct event_base *base;
	struct rpc_server *server;
	struct rpc_fetch_reply reply; // of the round
	struct rpc_call *waiting[AGENTS_MAX];
	uint32_t waiting_count;
	uint32_t guests_max;        // at a time, without a certificate
	uint64_t acked[AGENTS_MAX]; // round
	uint32_t acked_count;       // of this round
	uint64_t round;             // prepare and commit in turns
	uint32_t generation;        // that has been measured last
	struct round began;
	struct round *rounds;
	struct round connected;
	char dir[32];
	pid_t owner;
	pid_t child[CHILD_COUNT];
};

static double now_ms(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}

static struct round now(void)
{
	return (struct round){ now_ms(CLOCK_MONOTONIC), now_ms(CLOCK_PROCESS_CPUTIME_ID) };
}

static struct round since(const struct round *start)
{
	const struct round end = now();

	return (struct round){ end.ms - start->ms, end.cpu_ms - start->cpu_ms };
}

// --- the server ----------------------------------------------------------------------------------

static uint32_t agent_of(const struct stand *s, const struct rpc_call *call)
{
	const char *peer = rpc_call_peer(call);
	const uint32_t at = (uint32_t)strtoul(peer + strlen("agent"), NULL, 10);

	agents_must(strncmp(peer, "agent", strlen("agent")) == 0 && at < s->options.count, peer);
	return at;
}

// The next step, and all who wait are told.
static void publish(struct stand *s)
{
	s->round++;
	s->acked_count = 0;
	s->reply.epoch = s->round;
	s->reply.step = s->round % 2 == 1 ? 1 : 2;
	s->reply.tables_count = s->round % 2 == 1 ? 1 : 0;
	for (uint32_t i = 0; i < s->options.count; i++) {
		struct rpc_call *call = s->waiting[i];

		if (call == NULL)
			continue;
		s->waiting[i] = NULL;
		s->waiting_count--;
		rpc_reply(call, &s->reply);
	}
}

static void on_fetch(void *arg, struct rpc_call *call, const void *request)
{
	const struct rpc_fetch *fetch = request;
	struct stand *s = arg;
	const uint32_t at = agent_of(s, call);

	if (s->server->guest_count > s->guests_max)
		s->guests_max = s->server->guest_count;
	if (fetch->epoch < s->round) {
		rpc_reply(call, &s->reply);
		return;
	}
	agents_must(s->waiting[at] == NULL, "an agent has two long polls");
	s->waiting[at] = call;
	if (++s->waiting_count == s->options.count)
		event_base_loopbreak(s->base);
}

static void on_gone(void *arg, struct rpc_call *call)
{
	struct stand *s = arg;
	const uint32_t at = agent_of(s, call);

	if (s->waiting[at] == call) {
		s->waiting[at] = NULL;
		s->waiting_count--;
	}
}

static void on_ack(void *arg, struct rpc_call *call, const void *request)
{
	const struct rpc_ack *ack = request;
	const struct rpc_ack_reply reply = { .epoch = 1, .has_epoch = true };
	struct stand *s = arg;
	const uint32_t at = agent_of(s, call);
	const bool counts = ack->epoch == s->round && s->acked[at] != s->round;

	rpc_reply(call, &reply);
	if (!counts)
		return;
	s->acked[at] = s->round;
	if (++s->acked_count < s->options.count)
		return;
	if (s->round % 2 == 1)
		publish(s);
	else
		s->rounds[s->generation++] = since(&s->began);
}

static void on_hello(void *arg, struct rpc_call *call, const void *request)
{
	const struct rpc_hello_reply reply = {
		.version = 1, .has_version = true, .has_epoch = true, .has_report_ms = true
	};

	rpc_reply(call, &reply);
}

static void on_report(void *arg, struct rpc_call *call, const void *request)
{
	agents_must(false, "a report that nobody sends");
}

static const struct rpc_method methods[] = {
	{ "hello", &rpc_hello_message, &rpc_hello_reply_message, on_hello, NULL },
	{ "fetch", &rpc_fetch_message, &rpc_fetch_reply_message, on_fetch, on_gone },
	{ "ack", &rpc_ack_message, &rpc_ack_reply_message, on_ack, NULL },
	{ "report", &rpc_report_message, &rpc_report_reply_message, on_report, NULL },
};

static void make_table(struct stand *s)
{
	uint8_t *data = calloc(1, s->options.table_bytes + 1);
	struct rpc_table *table = rpc_fetch_reply_add_tables(&s->reply);

	agents_must(data != NULL && table != NULL, "no memory");
	*table = (struct rpc_table){
		.kind = 1, .has_kind = true, .version = 1, .has_version = true, .has_hash = true
	};
	agents_must(rpc_table_set_data(table, data, s->options.table_bytes) == 0,
		    "the table is too large");
	free(data);
	s->reply.has_epoch = s->reply.has_step = true;
}

// Until a handler breaks the loop.
static void run(struct stand *s, const char *what)
{
	const struct timeval guard = { .tv_sec = GUARD_S };

	event_base_loopexit(s->base, &guard);
	event_base_dispatch(s->base);
	agents_must(event_base_got_break(s->base), what);
}

// --- the whole -----------------------------------------------------------------------------------

// A process that ends with this one. In it, 0.
static pid_t start_child(void)
{
	const pid_t parent = getpid();
	const pid_t pid = fork();

	agents_must(pid >= 0, "no process");
	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (getppid() != parent)
			_exit(1);
	}
	return pid;
}

static void stop_children(struct stand *s)
{
	for (uint32_t i = 0; i < CHILD_COUNT; i++) {
		if (s->child[i] <= 0)
			continue;
		kill(s->child[i], SIGKILL);
		waitpid(s->child[i], NULL, 0);
		s->child[i] = 0;
	}
}

// Children are started before the server and its loop are there, and wait for the port.
static void start(struct stand *s)
{
	struct tls_files files;
	struct rpc_server_options options = { .address = "127.0.0.1:0", .tls = &files };
	uint16_t port = 0;
	int pipes[2][2];

	for (uint32_t i = 0; i < (s->options.hostile ? 2 : 1); i++) {
		agents_must(pipe(pipes[i]) == 0, "no pipe");
		s->child[i] = start_child();
		if (s->child[i] != 0)
			continue;
		agents_must(read(pipes[i][0], &port, sizeof(port)) == sizeof(port), "no port");
		if (i == 0)
			agents_run(&s->options, s->dir, port);
		agents_attack(&s->options, s->dir, port);
	}
	agents_manager_files(s->dir, &files);
	options.connection_max = 2 * s->options.count + FILES_SPARE / 2;
	options.peer_connection_max = 4;
	s->base = event_base_new();
	s->server = rpc_server_open(s->base, &options, methods,
				    sizeof(methods) / sizeof(methods[0]), s);
	agents_must(s->server != NULL, "no server");
	port = rpc_server_port(s->server);
	s->began = now();
	// The attack comes first.
	for (uint32_t i = s->options.hostile ? 2 : 1; i-- > 0;)
		agents_must(write(pipes[i][1], &port, sizeof(port)) == sizeof(port), "no port");
}

static void measure(struct stand *s)
{
	run(s, "not all agents came");
	s->connected = since(&s->began);
	while (s->generation < s->options.generations) {
		const uint32_t before = s->generation;

		s->began = now();
		publish(s);
		run(s, "not all agents have acknowledged");
		agents_must(s->generation == before + 1, "a generation was not acknowledged");
	}
}

static void report(const struct stand *s)
{
	struct rusage own;
	struct rusage others;

	getrusage(RUSAGE_SELF, &own);
	getrusage(RUSAGE_CHILDREN, &others);
	printf("%u agents, tables of %u bytes%s\n", s->options.count, s->options.table_bytes,
	       s->options.hostile ? ", under attack" : "");
	printf("  %-20s %8.0f ms %8.0f ms of the manager's processor\n", "all connected",
	       s->connected.ms, s->connected.cpu_ms);
	for (uint32_t i = 0; i < s->options.generations; i++)
		printf("  generation %-9u %8.0f ms %8.0f ms\n", i + 1, s->rounds[i].ms,
		       s->rounds[i].cpu_ms);
	printf("  memory of the manager: %ld kB; processor of all agents: %.0f ms\n", own.ru_maxrss,
	       (double)(others.ru_utime.tv_sec + others.ru_stime.tv_sec) * 1e3 +
		       (double)(others.ru_utime.tv_usec + others.ru_stime.tv_usec) / 1e3);
}

static bool judge(const struct stand *s)
{
	struct rusage own;

	getrusage(RUSAGE_SELF, &own);
	if (s->options.hostile && own.ru_maxrss > HOSTILE_MAX_KB) {
		printf("FAIL: the manager grew beyond %d kB\n", HOSTILE_MAX_KB);
		return false;
	}
	if (s->options.hostile && s->guests_max < HOSTILE_GUESTS) {
		printf("FAIL: that was no attack: %u handshakes at a time\n", s->guests_max);
		return false;
	}
	for (uint32_t i = 0; i < s->options.generations; i++) {
		if (s->rounds[i].ms <= GATE_MS)
			continue;
		printf("FAIL: a generation took more than %d ms\n", GATE_MS);
		return false;
	}
	return true;
}

static uint32_t number(const char *text, uint32_t most)
{
	char *end;
	const unsigned long value = text != NULL ? strtoul(text, &end, 10) : 0;

	agents_must(text != NULL && *end == '\0' && value > 0 && value <= most, "not a number");
	return (uint32_t)value;
}

static void read_options(char **argv, struct agents_options *options)
{
	*options = (struct agents_options){ 2000, 16384, 3, false, false };
	for (argv++; *argv != NULL; argv++) {
		if (strcmp(*argv, "--count") == 0)
			options->count = number(*++argv, AGENTS_MAX);
		else if (strcmp(*argv, "--table") == 0)
			options->table_bytes = number(*++argv, 16 << 20);
		else if (strcmp(*argv, "--generations") == 0)
			options->generations = number(*++argv, 1000);
		else if (strcmp(*argv, "--hostile") == 0)
			options->hostile = true;
		else if (strcmp(*argv, "--gate") == 0)
			options->gate = true;
		else
			agents_must(false, *argv);
	}
}

// Whether the process may have as many connections as it takes.
static bool raise_limit(uint32_t count)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) != 0)
		return false;
	limit.rlim_cur = limit.rlim_max;
	return limit.rlim_max >= 2 * count + FILES_SPARE && setrlimit(RLIMIT_NOFILE, &limit) == 0;
}

static struct stand stand;

// Whatever ended the run, but not in a child.
static void clean(void)
{
	if (getpid() != stand.owner)
		return;
	stop_children(&stand);
	agents_remove_files(stand.dir, stand.options.count + 1);
}

int main(int argc, char **argv)
{
	bool good;

	read_options(argv, &stand.options);
	signal(SIGPIPE, SIG_IGN);
	if (!raise_limit(stand.options.count)) {
		printf("SKIP: not enough files may be open\n");
		return SKIPPED;
	}
	stand.rounds = calloc(stand.options.generations, sizeof(*stand.rounds));
	agents_must(stand.rounds != NULL, "no memory");
	snprintf(stand.dir, sizeof(stand.dir), "/tmp/weft-agents-XXXXXX");
	stand.owner = getpid();
	atexit(clean);
	agents_make_files(stand.dir, stand.options.count + 1);
	make_table(&stand);
	start(&stand);
	measure(&stand);
	stop_children(&stand);
	report(&stand);
	good = judge(&stand);
	rpc_server_close(stand.server);
	event_base_free(stand.base);
	rpc_fetch_reply_clear(&stand.reply);
	free(stand.rounds);
	return good || !stand.options.gate ? 0 : 1;
}
