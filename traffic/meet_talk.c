// SPDX-License-Identifier: BSD-3-Clause
//
// Connections between ranks. What is read waits in libevent's buffer until a message is whole; the
// buffer holds one message at most, so that nobody can make it larger.

#include "traffic/meet_talk.h"

#include <arpa/inet.h>
#include <errno.h>
#include <event2/buffer.h>
#include <event2/bufferevent.h>
#include <event2/util.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	STRANGERS = 16, // connections that have not introduced themselves, besides ranks
	BACKLOG = 128,
};

static const struct timeval hello_time = { .tv_sec = 5 };
static const struct timeval retry_time = { .tv_usec = 200000 };

// --- links ------------------------------------------------------------------------------------

static void end_link(struct meet_link *link)
{
	if (link->rank != JOB_NONE)
		link->talk->of_rank[link->rank] = NULL;
	bufferevent_free(link->stream);
	link->stream = NULL;
	link->rank = JOB_NONE;
}

static void name_rank(struct meet_link *link, uint32_t rank)
{
	link->rank = rank;
	link->talk->of_rank[rank] = link;
}

// The link ends, and the owner hears of it when it was a rank's.
static void lose(struct meet_link *link, const char *why)
{
	struct meet_talk *talk = link->talk;
	const uint32_t rank = link->rank;

	if (rank == JOB_NONE && !link->refused)
		fprintf(stderr, "weft-traffic: %s: %s\n", link->peer, why);
	end_link(link);
	if (rank != JOB_NONE)
		talk->owner->loses(talk->owner->context, rank, why);
}

static void write_to(struct meet_link *link, const struct meet_message *message)
{
	const uint32_t bytes = meet_bytes(message);
	uint8_t *data = malloc(bytes);

	if (data == NULL)
		return; // the peer misses it, and does not wait for ever
	meet_write(message, data);
	bufferevent_write(link->stream, data, bytes);
	free(data);
}

static void refuse(struct meet_link *link, const char *why)
{
	const struct meet_message message = {
		.kind = MEET_FAIL,
		.fail = { JOB_NONE, (uint32_t)strlen(why), (const uint8_t *)why },
	};

	fprintf(stderr, "weft-traffic: %s is refused: %s\n", link->peer, why);
	write_to(link, &message);
	link->refused = true;
	// What it says now is not read; it has the time of an introduction to go.
	bufferevent_disable(link->stream, EV_READ);
	bufferevent_set_timeouts(link->stream, &hello_time, &hello_time);
}

static void introduce(struct meet_link *link, const struct meet_hello *hello)
{
	struct meet_talk *talk = link->talk;
	const char *why = talk->owner->joins(talk->owner->context, hello);

	if (why != NULL) {
		refuse(link, why);
		return;
	}
	name_rank(link, hello->rank);
	bufferevent_set_timeouts(link->stream, NULL, NULL);
}

// --- reading ----------------------------------------------------------------------------------

// Takes one message; false: there is none whole, or the link has ended.
static bool take(struct meet_link *link)
{
	struct meet_talk *talk = link->talk;
	struct evbuffer *in = bufferevent_get_input(link->stream);
	uint8_t head[MEET_HEAD_BYTES];
	enum meet_kind kind;
	enum meet_verdict verdict;
	uint32_t bytes;

	if (evbuffer_copyout(in, head, sizeof(head)) != sizeof(head))
		return false;
	verdict = meet_read_head(head, &kind, &bytes);
	if (verdict == MEET_OK && bytes > talk->bytes_max - MEET_HEAD_BYTES)
		verdict = MEET_MALFORMED;
	if (verdict == MEET_OK && evbuffer_get_length(in) < MEET_HEAD_BYTES + (size_t)bytes)
		return false;
	if (verdict == MEET_OK)
		verdict = meet_read(kind,
				    evbuffer_pullup(in, MEET_HEAD_BYTES + (ev_ssize_t)bytes) +
					    MEET_HEAD_BYTES,
				    bytes, talk->room, &talk->message);
	// Rank 0 is known from the beginning; whoever comes to it is not.
	if (verdict == MEET_OK && (link->rank == JOB_NONE) != (kind == MEET_HELLO))
		verdict = MEET_MALFORMED;
	if (verdict != MEET_OK) {
		lose(link, verdict == MEET_OTHER_VERSION ? "speaks another version" :
							   "says what this version does not");
		return false;
	}
	if (kind == MEET_HELLO)
		introduce(link, &talk->message.hello);
	else
		talk->owner->hears(talk->owner->context, link->rank, &talk->message);
	evbuffer_drain(in, MEET_HEAD_BYTES + bytes);
	return (bufferevent_get_enabled(link->stream) & EV_READ) != 0;
}

static void on_read(struct bufferevent *stream, void *context)
{
	while (take(context))
		;
}

// Small messages leave at once.
static void hurry(struct bufferevent *stream)
{
	const int on = 1;

	setsockopt(bufferevent_getfd(stream), IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
}

static void on_event(struct bufferevent *stream, short what, void *context)
{
	struct meet_link *link = context;
	struct meet_talk *talk = link->talk;

	if (what & BEV_EVENT_CONNECTED) {
		hurry(stream);
		name_rank(link, 0);
		talk->owner->meets(talk->owner->context);
		return;
	}
	// Rank 0 may be late.
	if (talk->listener == NULL && link->rank == JOB_NONE) {
		end_link(link);
		evtimer_add(talk->again, &retry_time);
		return;
	}
	if (what & BEV_EVENT_TIMEOUT)
		lose(link, "does not introduce itself");
	else if (what & BEV_EVENT_EOF)
		lose(link, "has gone");
	else
		lose(link, strerror(errno));
}

static void start_link(struct meet_link *link)
{
	bufferevent_setcb(link->stream, on_read, NULL, on_event, link);
	bufferevent_setwatermark(link->stream, EV_READ, 0, link->talk->bytes_max);
	bufferevent_enable(link->stream, EV_READ | EV_WRITE);
}

// --- connecting -------------------------------------------------------------------------------

static uint16_t port_of(const struct sockaddr *address)
{
	return ntohs(address->sa_family == AF_INET ?
			     ((const struct sockaddr_in *)address)->sin_port :
			     ((const struct sockaddr_in6 *)address)->sin6_port);
}

static void name_peer(struct meet_link *link, const struct sockaddr *address)
{
	char text[INET6_ADDRSTRLEN] = "";

	if (address->sa_family == AF_INET)
		inet_ntop(AF_INET, &((const struct sockaddr_in *)address)->sin_addr, text,
			  sizeof(text));
	else
		inet_ntop(AF_INET6, &((const struct sockaddr_in6 *)address)->sin6_addr, text,
			  sizeof(text));
	snprintf(link->peer, sizeof(link->peer), "%s port %u", text, port_of(address));
}

static void on_connection(struct evconnlistener *listener, evutil_socket_t fd,
			  struct sockaddr *address, int bytes, void *context)
{
	struct meet_talk *talk = context;
	struct meet_link *link = NULL;

	for (uint32_t i = 0; i < talk->link_count && link == NULL; i++) {
		if (talk->link[i].stream == NULL)
			link = &talk->link[i];
	}
	if (link != NULL)
		link->stream = bufferevent_socket_new(talk->base, fd, BEV_OPT_CLOSE_ON_FREE);
	if (link == NULL || link->stream == NULL) {
		evutil_closesocket(fd);
		return;
	}
	link->refused = false;
	name_peer(link, address);
	hurry(link->stream);
	bufferevent_set_timeouts(link->stream, &hello_time, NULL);
	start_link(link);
}

static void call(struct meet_talk *talk)
{
	struct meet_link *link = &talk->link[0];

	link->stream = bufferevent_socket_new(talk->base, -1, BEV_OPT_CLOSE_ON_FREE);
	if (link->stream == NULL)
		return;
	name_peer(link, (struct sockaddr *)talk->address);
	start_link(link);
	bufferevent_socket_connect(link->stream, (struct sockaddr *)talk->address,
				   talk->address_bytes);
}

static void on_again(evutil_socket_t fd, short what, void *context)
{
	call(context);
}

static int listen_at(struct meet_talk *talk)
{
	talk->listener = evconnlistener_new_bind(
		talk->base, on_connection, talk,
		LEV_OPT_CLOSE_ON_FREE | LEV_OPT_CLOSE_ON_EXEC | LEV_OPT_REUSEABLE, BACKLOG,
		(struct sockaddr *)talk->address, talk->address_bytes);
	if (talk->listener != NULL)
		return 0;
	fprintf(stderr, "weft-traffic: --coordinator: listen: %s\n", strerror(errno));
	return -EADDRNOTAVAIL;
}

int meet_talk_open(struct meet_talk *talk, struct event_base *base,
		   const struct meet_talk_owner *owner, const char *address, uint32_t rank,
		   uint32_t world, uint32_t bytes_max)
{
	*talk = (struct meet_talk){ .base = base, .owner = owner, .bytes_max = bytes_max };
	talk->link_count = rank == 0 ? world - 1 + STRANGERS : 1;
	talk->link = calloc(talk->link_count, sizeof(*talk->link));
	talk->of_rank = calloc(world, sizeof(struct meet_link *));
	talk->room = rank == 0 ? malloc(sizeof(*talk->room)) : NULL;
	talk->address = calloc(1, sizeof(*talk->address));
	talk->again = evtimer_new(base, on_again, talk);
	if (talk->link == NULL || talk->of_rank == NULL || (rank == 0 && talk->room == NULL) ||
	    talk->address == NULL || talk->again == NULL) {
		fputs("weft-traffic: out of memory\n", stderr);
		return -ENOMEM;
	}
	for (uint32_t i = 0; i < talk->link_count; i++)
		talk->link[i] = (struct meet_link){ .talk = talk, .rank = JOB_NONE };
	talk->address_bytes = sizeof(*talk->address);
	if (evutil_parse_sockaddr_port(address, (struct sockaddr *)talk->address,
				       &talk->address_bytes) != 0 ||
	    port_of((struct sockaddr *)talk->address) == 0) {
		fprintf(stderr, "weft-traffic: --coordinator %s: not ADDRESS:PORT\n", address);
		return -EINVAL;
	}
	if (rank == 0)
		return listen_at(talk);
	call(talk);
	return 0;
}

// --- saying -----------------------------------------------------------------------------------

void meet_talk_say(struct meet_talk *talk, uint32_t rank, const struct meet_message *message)
{
	if (talk->of_rank[rank] != NULL)
		write_to(talk->of_rank[rank], message);
}

const char *meet_talk_peer(const struct meet_talk *talk, uint32_t rank)
{
	return talk->of_rank[rank] == NULL ? "" : talk->of_rank[rank]->peer;
}

uint32_t meet_talk_count(const struct meet_talk *talk)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < talk->link_count; i++)
		count += talk->link[i].stream != NULL && talk->link[i].rank != JOB_NONE;
	return count;
}

bool meet_talk_is_busy(const struct meet_talk *talk)
{
	for (uint32_t i = 0; i < talk->link_count; i++) {
		if (talk->link[i].stream != NULL &&
		    evbuffer_get_length(bufferevent_get_output(talk->link[i].stream)) != 0)
			return true;
	}
	return false;
}

void meet_talk_close(struct meet_talk *talk)
{
	for (uint32_t i = 0; talk->link != NULL && i < talk->link_count; i++) {
		if (talk->link[i].stream != NULL)
			end_link(&talk->link[i]);
	}
	if (talk->listener != NULL)
		evconnlistener_free(talk->listener);
	if (talk->again != NULL)
		event_free(talk->again);
	free(talk->link);
	free(talk->of_rank);
	free(talk->room);
	free(talk->address);
}
