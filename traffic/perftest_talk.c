// SPDX-License-Identifier: BSD-3-Clause
//
// The session on a socket. perftest reads each message with one call and wants it whole, so each is
// written with one, and leaves at once.

#include "traffic/perftest_talk.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static int fail(const char *what, int rc)
{
	fprintf(stderr, "weft-traffic: perftest: %s: %s\n", what, strerror(-rc));
	return rc;
}

static enum perftest_talk_state failed(const char *what)
{
	fprintf(stderr, "weft-traffic: perftest: %s\n", what);
	return PERFTEST_TALK_FAILED;
}

// --- the connection ---------------------------------------------------------------------------

static void hurry(int fd)
{
	const int on = 1;

	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
}

static int serve(struct perftest_talk *talk, int fd, const struct sockaddr_in *any)
{
	const int on = 1;

	talk->listener = fd;
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
	if (bind(fd, (const struct sockaddr *)any, sizeof(*any)) != 0 || listen(fd, 1) != 0)
		return fail("listen", -errno);
	fprintf(stderr, "weft-traffic: perftest: waiting for a client on port %u\n",
		ntohs(any->sin_port));
	return 0;
}

int perftest_talk_open(struct perftest_talk *talk, const struct kernel_side *side,
		       const uint8_t address[4], uint16_t port)
{
	struct sockaddr_in peer = { .sin_family = AF_INET, .sin_port = htons(port) };
	const int fd = kernel_side_socket(side);

	talk->fd = -1;
	talk->listener = -1;
	if (fd < 0)
		return fail("socket", fd);
	if (!talk->client)
		return serve(talk, fd, &peer);
	talk->fd = fd;
	memcpy(&peer.sin_addr, address, 4);
	if (connect(fd, (const struct sockaddr *)&peer, sizeof(peer)) != 0 && errno != EINPROGRESS)
		return fail("connect", -errno);
	hurry(fd);
	return 0;
}

// True when there is a session; *state tells what else there is.
static bool is_connected(struct perftest_talk *talk, enum perftest_talk_state *state)
{
	struct pollfd ready = { .fd = talk->fd, .events = POLLOUT };
	socklen_t len = sizeof(int);
	int error = 0;

	*state = PERFTEST_TALK_WAITS;
	if (!talk->client && talk->fd < 0) {
		talk->fd = accept4(talk->listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
		talk->connected = talk->fd >= 0;
		if (talk->connected)
			hurry(talk->fd);
	}
	if (talk->connected || talk->fd < 0 || poll(&ready, 1, 0) != 1)
		return talk->connected;
	if (getsockopt(talk->fd, SOL_SOCKET, SO_ERROR, &error, &len) != 0 || error != 0)
		*state = failed(error != 0 ? strerror(error) : "no connection");
	talk->connected = *state != PERFTEST_TALK_FAILED;
	return talk->connected;
}

// --- messages ---------------------------------------------------------------------------------

static enum perftest_talk_state say(struct perftest_talk *talk, struct perftest_turn turn)
{
	const uint32_t bytes = perftest_bytes(turn.step);
	uint8_t out[PERFTEST_BYTES_MAX];

	perftest_write(turn, &talk->own, out);
	if (send(talk->fd, out, bytes, MSG_NOSIGNAL) != (ssize_t)bytes)
		return failed("the peer has gone");
	talk->said = true;
	return PERFTEST_TALK_WAITS;
}

static const char *name_of(enum perftest_step step)
{
	switch (step) {
	case PERFTEST_VERSION: return "its version";
	case PERFTEST_BUFFER: return "its buffer";
	case PERFTEST_LINE: return "its cache line";
	case PERFTEST_MTU: return "its MTU";
	case PERFTEST_KEYS: return "keys of its queue pairs";
	case PERFTEST_AGAIN: return "its keys once more, before the test";
	case PERFTEST_SYNC: return "its keys, to go on";
	case PERFTEST_REPORT_SIZE:
	case PERFTEST_REPORT_COUNT:
	case PERFTEST_REPORT_PEAK:
	case PERFTEST_REPORT_AVERAGE:
	case PERFTEST_REPORT_RATE: return "its figures";
	case PERFTEST_DONE: return "its farewell";
	case PERFTEST_CONNECT:
	case PERFTEST_TEST:
	case PERFTEST_END: break;
	}
	return "the end of the test";
}

const char *perftest_talk_wait(const struct perftest_talk *talk)
{
	if (!talk->connected)
		return "the peer";
	return name_of(perftest_turn(&talk->shape, talk->at).step);
}

// What the peer says that this side does not: nobody tells the shape of a test, so two that were
// told different ones find out by what comes next.
static enum perftest_talk_state refuse(const struct perftest_talk *talk, enum perftest_step step,
				       enum perftest_verdict verdict)
{
	char text[96] = "";

	switch (verdict) {
	case PERFTEST_OK: return PERFTEST_TALK_WAITS;
	case PERFTEST_OLD: return failed("the peer's version is before 5.33");
	case PERFTEST_FEWER_QPS:
		snprintf(text, sizeof(text),
			 "the peer has fewer queue pairs than --qps %u (its -q)", talk->shape.qps);
		break;
	case PERFTEST_MORE_QPS:
		snprintf(text, sizeof(text), "the peer has more queue pairs than --qps %u (its -q)",
			 talk->shape.qps);
		break;
	case PERFTEST_OTHER_SIZE:
		return failed("the peer goes one way (no -b), or its -s is not --size");
	case PERFTEST_OTHER_COUNT:
		return failed("the peer goes one way (no -b), or its -n is not --iters");
	case PERFTEST_MALFORMED:
		snprintf(text, sizeof(text), "what should be %s is not: other -b, or test?",
			 name_of(step));
		break;
	}
	return failed(text);
}

static enum perftest_talk_state gone(const struct perftest_talk *talk)
{
	char text[96];

	snprintf(text, sizeof(text), "the peer ended the session before %s",
		 perftest_talk_wait(talk));
	return failed(text);
}

// `got` tells whether the message is whole.
static enum perftest_talk_state hear(struct perftest_talk *talk, struct perftest_turn turn)
{
	const uint32_t bytes = perftest_bytes(turn.step);
	const ssize_t len = recv(talk->fd, talk->message + talk->got, bytes - talk->got, 0);

	if (len == 0)
		return gone(talk);
	if (len < 0 && errno != EAGAIN && errno != EINTR)
		return failed(strerror(errno));
	if (len > 0)
		talk->got += (uint32_t)len;
	if (talk->got < bytes)
		return PERFTEST_TALK_WAITS;
	return refuse(talk, turn.step,
		      perftest_read(&talk->shape, turn, talk->message, &talk->peer));
}

// One exchange, as far as it can go now; *done when it is over. The client speaks first.
static enum perftest_talk_state exchange(struct perftest_talk *talk, struct perftest_turn turn,
					 bool *done)
{
	const uint32_t bytes = perftest_bytes(turn.step);
	enum perftest_talk_state state = PERFTEST_TALK_WAITS;

	if (talk->client && !talk->said)
		state = say(talk, turn);
	if (state == PERFTEST_TALK_WAITS && talk->got < bytes)
		state = hear(talk, turn);
	if (state == PERFTEST_TALK_WAITS && talk->got == bytes && !talk->said)
		state = say(talk, turn);
	*done = state == PERFTEST_TALK_WAITS && talk->got == bytes && talk->said;
	return state;
}

// Tells the peer that no more comes. True when it has gone, or says the same: all has arrived then.
static bool part(struct perftest_talk *talk)
{
	uint8_t byte;
	ssize_t len;

	if (!talk->parted)
		shutdown(talk->fd, SHUT_WR);
	talk->parted = true;
	len = recv(talk->fd, &byte, 1, MSG_PEEK);
	return len >= 0 || (errno != EAGAIN && errno != EINTR);
}

void perftest_talk_next(struct perftest_talk *talk)
{
	talk->at++;
	talk->got = 0;
	talk->said = false;
}

enum perftest_talk_state perftest_talk_step(struct perftest_talk *talk)
{
	enum perftest_talk_state state;
	bool done;

	if (!is_connected(talk, &state))
		return state;
	for (;;) {
		const struct perftest_turn turn = perftest_turn(&talk->shape, talk->at);

		if (turn.step == PERFTEST_CONNECT)
			return PERFTEST_TALK_CONNECT;
		if (turn.step == PERFTEST_TEST)
			return PERFTEST_TALK_TEST;
		if (turn.step == PERFTEST_END)
			return part(talk) ? PERFTEST_TALK_END : PERFTEST_TALK_PARTS;
		state = exchange(talk, turn, &done);
		if (!done)
			return state;
		perftest_talk_next(talk);
	}
}

void perftest_talk_close(struct perftest_talk *talk)
{
	if (talk->fd >= 0)
		close(talk->fd);
	if (talk->listener >= 0)
		close(talk->listener);
	talk->fd = -1;
	talk->listener = -1;
}
