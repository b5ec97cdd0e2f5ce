// SPDX-License-Identifier: BSD-3-Clause
//
// One interface per port, in the order of the configuration, and behind them one for frames that
// the switch made and dropped before they had a port. Comments are words that people read and
// `tshark -T fields -e frame.comment` prints: the drop reason first, else the queue.

#include "dataplane/capture.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "dataplane/pcapng.h"
#include "sys/time_of_day.h"

enum { RING_BYTES = 4 << 20 };

struct capture {
	struct workers *workers;
	struct instance *in;
	struct capture_options options;
	uint64_t start_ns; // since 1970
	int64_t offset_ns; // of the time of day to the switch's clock
	uint64_t count;
	bool tapped;
	struct tap *tap[LCORE_MAX];
	uint64_t captured[TAP_PORTS]; // by interface
	_Alignas(8) uint8_t block[PCAPNG_BLOCK_MAX];
};

static uint32_t interface_of(const struct capture *capture, port_t port)
{
	return port.v < capture->in->port_count ? port.v : capture->in->port_count;
}

static const char *port_name(const struct capture *capture, port_t port)
{
	return port.v < capture->in->port_count ? capture->in->config->port[port.v].name :
						  "the switch";
}

static void add_interface(struct capture *capture, struct evbuffer *out, const char *name,
			  const char *description, uint64_t speed_bps)
{
	const struct pcapng_interface interface = {
		.name = name,
		.description = description,
		.speed_bps = speed_bps,
		.snaplen = capture->options.filter.snaplen,
	};

	evbuffer_add(out, capture->block, pcapng_interface(capture->block, &interface));
}

static void add_head(struct capture *capture, struct evbuffer *out)
{
	const struct instance *in = capture->in;

	evbuffer_add(out, capture->block,
		     pcapng_section(capture->block, "weft " WEFT_VERSION,
				    capture->options.comment));
	for (uint32_t i = 0; i < in->port_count; i++) {
		const struct port *port = &in->port[i];
		char text[2 * CONFIG_TEXT_BYTES];

		snprintf(text, sizeof(text), "%s%s%s", port->config->alias,
			 port->config->alias[0] != '\0' ? ", " : "", port->devargs);
		add_interface(capture, out, port->config->name, text, port->config->speed);
	}
	add_interface(capture, out, "switch", "frames of the switch itself, without a port", 0);
}

static bool add_taps(struct capture *capture)
{
	struct message message = { .kind = MESSAGE_CAPTURE, .instance = capture->in };

	for (uint32_t i = 0; i < capture->in->profile->lcore_count; i++) {
		capture->tap[i] = tap_new(&capture->options.filter,
					  &capture->workers->worker[i].clock, RING_BYTES);
		if (capture->tap[i] == NULL)
			return false;
	}
	message.capture.tap = capture->tap;
	message.capture.on = true;
	workers_call(capture->workers, &message);
	capture->tapped = true;
	return true;
}

void capture_stop(struct capture *capture)
{
	struct message message = { .kind = MESSAGE_CAPTURE, .instance = capture->in };

	message.capture.tap = capture->tap;
	if (capture->tapped)
		workers_call(capture->workers, &message);
	capture->tapped = false;
}

struct capture *capture_open(struct workers *workers, struct instance *in,
			     const struct capture_options *options, struct evbuffer *out)
{
	struct capture *capture = calloc(1, sizeof(*capture));

	if (capture == NULL)
		return NULL;
	capture->workers = workers;
	capture->in = in;
	capture->options = *options;
	capture->start_ns = time_of_day_ns();
	capture->offset_ns = (int64_t)(capture->start_ns - clock_now(&workers->worker[0].clock).v);
	add_head(capture, out);
	if (add_taps(capture))
		return capture;
	capture_close(capture);
	return NULL;
}

// Which of the things that a dropped packet met say more than the reason does.
static size_t drop_words(const struct capture *capture, const struct tap_record *r, char *out,
			 size_t bytes)
{
	const enum drop_reason reason = (enum drop_reason)r->reason;
	int len = snprintf(out, bytes, "drop %s, from %s", drop_infos[reason].name,
			   port_name(capture, r->in_port));

	if (r->out_port.v < capture->in->port_count)
		len += snprintf(out + len, bytes - (size_t)len, ", to %s",
				port_name(capture, r->out_port));
	if (reason == DROP_PG_LOSSY_FULL || reason == DROP_PG_LOSSLESS_FULL ||
	    reason == DROP_CNP_PG_FULL || reason == DROP_PFC_WD_RX)
		len += snprintf(out + len, bytes - (size_t)len, ", priority group %u", r->pg);
	// The member of a LAG that is down is not known, nor its queue.
	if (drop_infos[reason].side == DROP_SIDE_OUT && reason != DROP_EGRESS_DOWN)
		len += snprintf(out + len, bytes - (size_t)len, ", queue %u", r->queue);
	return (size_t)len;
}

static void comment_on(const struct capture *capture, const struct tap_record *r, char *out,
		       size_t bytes)
{
	static const char *const ecn[] = { "", "", "", ", CE" };

	out[0] = '\0';
	switch ((enum tap_what)r->what) {
	case TAP_DROPPED: drop_words(capture, r, out, bytes); return;
	case TAP_SENT:
		snprintf(out, bytes, "queue %u, %" PRIu64 " bytes queued, from %s%s", r->queue,
			 r->queued_bytes, port_name(capture, r->in_port),
			 r->flags & PKT_MARKED ? ", marked CE here" : ecn[r->ecn]);
		return;
	case TAP_RECEIVED:
	case TAP_OWN: return;
	}
}

static enum pcapng_direction direction_of(const struct tap_record *r)
{
	switch ((enum tap_what)r->what) {
	case TAP_DROPPED:
		return drop_infos[r->reason].side == DROP_SIDE_IN ? PCAPNG_INBOUND :
								    PCAPNG_OUTBOUND;
	case TAP_RECEIVED: return PCAPNG_INBOUND;
	case TAP_SENT:
	case TAP_OWN: return PCAPNG_OUTBOUND;
	}
	return PCAPNG_DIRECTION_UNKNOWN;
}

static void add_packet(struct capture *capture, struct evbuffer *out, const struct tap_record *r)
{
	char comment[PCAPNG_TEXT_MAX + 1];
	const struct pcapng_packet packet = {
		.interface = interface_of(capture, r->port),
		.direction = direction_of(r),
		.ns = (uint64_t)((int64_t)r->at.v + capture->offset_ns),
		.lost = r->lost,
		.data = r->data,
		.caught = r->caught,
		.len = r->len,
		.comment = comment,
	};

	comment_on(capture, r, comment, sizeof(comment));
	evbuffer_add(out, capture->block, pcapng_packet(capture->block, &packet));
	capture->captured[packet.interface]++;
	capture->count++;
}

// The tap with the oldest record that is there, NULL when there is none.
static struct tap *oldest(const struct capture *capture, const struct tap_record **record)
{
	struct tap *found = NULL;

	for (uint32_t i = 0; i < LCORE_MAX && capture->tap[i] != NULL; i++) {
		const struct tap_record *r = tap_peek(capture->tap[i]);

		if (r == NULL || (found != NULL && (*record)->at.v <= r->at.v))
			continue;
		found = capture->tap[i];
		*record = r;
	}
	return found;
}

bool capture_drain(struct capture *capture, struct evbuffer *out, size_t bytes_max)
{
	const size_t begin = evbuffer_get_length(out);

	while (evbuffer_get_length(out) - begin < bytes_max) {
		const struct tap_record *record = NULL;
		struct tap *tap;

		if (capture->options.count != 0 && capture->count == capture->options.count)
			return false;
		tap = oldest(capture, &record);
		if (tap == NULL)
			return capture->tapped;
		add_packet(capture, out, record);
		tap_pop(tap, record);
	}
	return true;
}

static uint64_t lost_on(const struct capture *capture, port_t port)
{
	uint64_t lost = 0;

	for (uint32_t i = 0; i < LCORE_MAX && capture->tap[i] != NULL; i++)
		lost += tap_lost(capture->tap[i], port);
	return lost;
}

void capture_finish(struct capture *capture, struct evbuffer *out)
{
	const uint32_t count = capture->in->port_count;

	for (uint32_t i = 0; i <= count; i++) {
		const port_t port = { i < count ? (uint16_t)i : PORT_NONE.v };
		const uint64_t lost = lost_on(capture, port);
		const struct pcapng_statistics statistics = {
			.interface = i,
			.start_ns = capture->start_ns,
			.end_ns = time_of_day_ns(),
			.selected = capture->captured[i] + lost,
			.lost = lost,
		};

		evbuffer_add(out, capture->block, pcapng_statistics(capture->block, &statistics));
	}
}

uint64_t capture_count(const struct capture *capture)
{
	return capture->count;
}

uint64_t capture_lost(const struct capture *capture)
{
	uint64_t lost = lost_on(capture, PORT_NONE);

	for (uint32_t i = 0; i < capture->in->port_count; i++)
		lost += lost_on(capture, (port_t){ (uint16_t)i });
	return lost;
}

void capture_close(struct capture *capture)
{
	if (capture == NULL)
		return;
	capture_stop(capture);
	for (uint32_t i = 0; i < LCORE_MAX; i++)
		tap_free(capture->tap[i]);
	free(capture);
}
