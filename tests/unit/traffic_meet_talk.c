// SPDX-License-Identifier: BSD-3-Clause
//
// Connections between ranks, over the loopback interface: who introduces itself is heard, and heard
// to leave; strangers that say anything else change nothing.

#include <arpa/inet.h>
#include <errno.h>
#include <event2/bufferevent.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "tests/table.h"
#include "traffic/meet_talk.h"

enum { WORLD = 3, BYTES_MAX = 4096, STEPS_MAX = 400, STEP_US = 5000, QUIET_STEPS = 20 };

// What one end was told.
struct ear {
	struct meet_talk talk;
	struct meet_talk_owner owner;
	uint32_t joined;
	uint32_t met;
	uint32_t heard;
	uint32_t lost;
	uint32_t rank; // of the last one
	enum meet_kind kind;
	uint32_t round;
	const char *refusal; // of whoever comes
};

static struct event_base *base;
static struct ear lead, member;
static char address[32];

static const char *joins(void *context, const struct meet_hello *hello)
{
	struct ear *ear = context;

	ear->joined += ear->refusal == NULL;
	return ear->refusal;
}

static void meets(void *context)
{
	((struct ear *)context)->met++;
}

static void hears(void *context, uint32_t rank, const struct meet_message *message)
{
	struct ear *ear = context;

	ear->heard++;
	ear->rank = rank;
	ear->kind = message->kind;
	ear->round = message->kind == MEET_READY ? message->ready.round : 0;
}

static void loses(void *context, uint32_t rank, const char *why)
{
	struct ear *ear = context;

	ear->lost++;
	ear->rank = rank;
}

static int open_ear(struct ear *ear, const char *where, uint32_t rank)
{
	memset(ear, 0, sizeof(*ear));
	ear->owner = (struct meet_talk_owner){ ear, joins, meets, hears, loses };
	return meet_talk_open(&ear->talk, base, &ear->owner, where, rank, WORLD, BYTES_MAX);
}

// Rank 0 on a port that was free a moment ago.
static void open_lead(void)
{
	struct sockaddr_in bound = { .sin_family = AF_INET };
	socklen_t bytes = sizeof(bound);
	const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	bound.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	cr_assert_eq(bind(fd, (struct sockaddr *)&bound, bytes), 0);
	cr_assert_eq(getsockname(fd, (struct sockaddr *)&bound, &bytes), 0);
	close(fd);
	snprintf(address, sizeof(address), "127.0.0.1:%u", ntohs(bound.sin_port));
	base = event_base_new();
	cr_assert_eq(open_ear(&lead, address, 0), 0);
}

static void close_lead(void)
{
	meet_talk_close(&lead.talk);
	event_base_free(base);
}

// Lets both ends work for a moment.
static void step(void)
{
	const struct timeval time = { .tv_usec = STEP_US };

	event_base_loopexit(base, &time);
	event_base_dispatch(base);
}

// Until a count has come that far; at most two seconds.
static void run_until(const uint32_t *count, uint32_t want)
{
	for (uint32_t i = 0; i < STEPS_MAX && *count < want; i++)
		step();
	cr_assert_eq(*count, want);
}

static void say_hello(struct ear *ear, uint32_t rank)
{
	uint8_t qps[MEET_NUMBER_BYTES] = { 0 };
	const struct meet_message message = {
		.kind = MEET_HELLO,
		.hello = { .rank = rank, .world = WORLD, .qp_count = 1, .qps = qps },
	};

	meet_talk_say(&ear->talk, 0, &message);
}

static void say_ready(struct ear *ear, uint32_t rank, uint32_t round)
{
	const struct meet_message message = { .kind = MEET_READY, .ready = { .round = round } };

	meet_talk_say(&ear->talk, rank, &message);
}

static void meet_lead(uint32_t rank)
{
	cr_assert_eq(open_ear(&member, address, rank), 0);
	run_until(&member.met, 1);
	say_hello(&member, rank);
}

Test(meet_talk, both_ways_and_gone)
{
	open_lead();
	meet_lead(2);
	run_until(&lead.joined, 1);
	cr_assert_eq(meet_talk_count(&lead.talk), 1);
	cr_assert_eq(strncmp(meet_talk_peer(&lead.talk, 2), "127.0.0.1 port ", 15), 0);
	cr_assert_str_empty(meet_talk_peer(&lead.talk, 1));

	for (uint32_t i = 1; i <= 100; i++)
		say_ready(&member, 0, i);
	run_until(&lead.heard, 100);
	cr_assert_eq(lead.rank, 2);
	cr_assert_eq(lead.kind, MEET_READY);
	cr_assert_eq(lead.round, 100);

	say_ready(&lead, 1, 7); // is not there
	say_ready(&lead, 2, 8);
	run_until(&member.heard, 1);
	cr_assert_eq(member.round, 8);
	cr_assert_not(meet_talk_is_busy(&lead.talk));

	meet_talk_close(&member.talk);
	run_until(&lead.lost, 1);
	cr_assert_eq(lead.rank, 2);
	cr_assert_eq(meet_talk_count(&lead.talk), 0);
	close_lead();
}

// Who comes first tries again until rank 0 listens.
Test(meet_talk, rank_0_is_late)
{
	open_lead();
	meet_talk_close(&lead.talk);
	cr_assert_eq(open_ear(&member, address, 1), 0);
	for (uint32_t i = 0; i < QUIET_STEPS; i++)
		step();
	cr_assert_eq(member.met, 0);
	cr_assert_eq(open_ear(&lead, address, 0), 0);
	run_until(&member.met, 1);
	cr_assert_eq(member.lost, 0);
	meet_talk_close(&member.talk);
	close_lead();
}

// Who is refused hears why, and is no rank.
Test(meet_talk, refused)
{
	open_lead();
	lead.refusal = "not you";
	meet_lead(1);
	run_until(&member.heard, 1);
	cr_assert_eq(member.kind, MEET_FAIL);
	cr_assert_eq(meet_talk_count(&lead.talk), 0);
	say_ready(&member, 0, 1);
	meet_talk_close(&member.talk);
	for (uint32_t i = 0; i < QUIET_STEPS; i++)
		step();
	cr_assert_eq(lead.heard, 0);
	cr_assert_eq(lead.lost, 0);
	close_lead();
}

// --- strangers --------------------------------------------------------------------------------

struct stranger_row {
	const char *what;
	uint8_t bytes[24];
	uint32_t count;
};

static const struct stranger_row strangers[] = {
	{ "a browser", "GET / HTTP/1.1\r\n\r\n", 18 },
	{ "another version", { 'w', 'r', 'M', 'T', 0, 9, 0, 1, 0, 0, 0, 0 }, 12 },
	{ "a message that is too long", { 'w', 'r', 'M', 'T', 0, 1, 0, 1, 0, 0, 0x10, 0 }, 12 },
	{ "one past 32 bits", { 'w', 'r', 'M', 'T', 0, 1, 0, 1, 255, 255, 255, 255 }, 12 },
	{ "no introduction", { 'w', 'r', 'M', 'T', 0, 1, 0, 9, 0, 0, 0, 0 }, 12 },
	{ "an introduction that is none", { 'w', 'r', 'M', 'T', 0, 1, 0, 1, 0, 0, 0, 1, 0 }, 13 },
};

static int connect_raw(void)
{
	struct sockaddr_in to = { .sin_family = AF_INET };
	const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	const char *port = strchr(address, ':');

	to.sin_port = htons((uint16_t)strtoul(port + 1, NULL, 10));
	to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	cr_assert_eq(connect(fd, (struct sockaddr *)&to, sizeof(to)), 0);
	return fd;
}

// The connection is ended, and nobody hears of it; ranks come and go on.
TABLE_TEST(meet_talk, stranger, row, strangers)
{
	ssize_t got = -1;
	char byte;
	int fd;

	open_lead();
	meet_lead(1);
	run_until(&lead.joined, 1);
	fd = connect_raw();
	cr_assert_eq(send(fd, row->bytes, row->count, MSG_NOSIGNAL), (ssize_t)row->count);
	for (uint32_t i = 0; i < STEPS_MAX && got < 0; i++) {
		step();
		got = recv(fd, &byte, 1, MSG_DONTWAIT);
		if (got < 0 && errno == ECONNRESET)
			got = 0;
	}
	cr_assert_eq(got, 0, "%s: is not ended", row->what);
	close(fd);
	cr_assert_eq(lead.joined, 1);
	cr_assert_eq(lead.heard + lead.lost, 0, "%s", row->what);
	say_ready(&member, 0, 3);
	run_until(&lead.heard, 1);
	meet_talk_close(&member.talk);
	close_lead();
}

// More connections than ranks and a few strangers can have are ended at once.
Test(meet_talk, many_strangers)
{
	enum { MANY = 64 };
	int fd[MANY];
	uint32_t ended = 0;
	char byte;

	open_lead();
	for (uint32_t i = 0; i < MANY; i++) {
		fd[i] = connect_raw();
		event_base_loop(base, EVLOOP_NONBLOCK);
	}
	for (uint32_t i = 0; i < MANY; i++)
		ended += recv(fd[i], &byte, 1, MSG_DONTWAIT) == 0;
	cr_assert_geq(ended, MANY - lead.talk.link_count);
	cr_assert_lt(ended, MANY);
	for (uint32_t i = 0; i < MANY; i++)
		close(fd[i]);
	close_lead();
}

struct address_row {
	const char *what;
	const char *address;
};

static const struct address_row addresses[] = {
	{ "a name", "host:18600" },
	{ "nothing", "" },
	{ "no port", "127.0.0.1" },
	{ "a port that there is not", "127.0.0.1:70000" },
	{ "an address that is not this machine's", "192.0.2.1:18600" },
};

TABLE_TEST(meet_talk, address, row, addresses)
{
	base = event_base_new();
	cr_assert_neq(open_ear(&lead, row->address, 0), 0, "%s", row->what);
	close_lead();
}
