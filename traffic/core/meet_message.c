// SPDX-License-Identifier: BSD-3-Clause
//
// Messages between ranks as bytes. A reader takes field by field from what is left; once something
// is missing all that follows is 0 and the message is refused as a whole, so that no field needs a
// check of its own.

#include "traffic/core/meet_message.h"

#include "base/bytes.h"

enum {
	NUMBER_COUNT = sizeof(struct meet_numbers) / sizeof(uint64_t),
	BUCKET_BYTES = 12, // number and samples
	HISTOGRAM_HEAD_BYTES = 36,
};
static_assert(NUMBER_COUNT * sizeof(uint64_t) == sizeof(struct meet_numbers),
	      "nothing but numbers");

#define MAGIC 0x77724d54u

// --- fields -----------------------------------------------------------------------------------

struct reader {
	const uint8_t *at;
	uint32_t left;
	bool bad;
};

// The next bytes, NULL: there are not so many.
static const uint8_t *take(struct reader *in, uint64_t bytes)
{
	const uint8_t *at = in->at;

	in->bad |= bytes > in->left;
	if (in->bad)
		return NULL;
	in->at += bytes;
	in->left -= (uint32_t)bytes;
	return at;
}

static uint32_t take_u32(struct reader *in)
{
	const uint8_t *at = take(in, 4);

	return at == NULL ? 0 : load_be32(at);
}

static uint64_t take_u64(struct reader *in)
{
	const uint8_t *at = take(in, 8);

	return at == NULL ? 0 : load_be64(at);
}

// A count, and so many things of a list behind it.
static const uint8_t *take_list(struct reader *in, uint32_t bytes_each, uint32_t *count)
{
	const uint8_t *at;

	*count = take_u32(in);
	at = take(in, (uint64_t)*count * bytes_each);
	if (at == NULL)
		*count = 0;
	return at;
}

static uint8_t *put_u32(uint8_t *out, uint32_t value)
{
	store_be32(out, value);
	return out + 4;
}

static uint8_t *put_u64(uint8_t *out, uint64_t value)
{
	return put_u32(put_u32(out, (uint32_t)(value >> 32)), (uint32_t)value);
}

static uint8_t *put_bytes(uint8_t *out, const uint8_t *data, uint32_t bytes)
{
	if (bytes != 0)
		memcpy(out, data, bytes);
	return out + bytes;
}

static uint8_t *put_list(uint8_t *out, const uint8_t *list, uint32_t count, uint32_t bytes_each)
{
	return put_bytes(put_u32(out, count), list, count * bytes_each);
}

// --- members of lists -------------------------------------------------------------------------

uint32_t meet_number(const uint8_t *list, uint32_t i)
{
	return load_be32(list + (size_t)i * MEET_NUMBER_BYTES);
}

void meet_set_number(uint8_t *list, uint32_t i, uint32_t number)
{
	store_be32(list + (size_t)i * MEET_NUMBER_BYTES, number);
}

struct meet_host meet_host(const uint8_t *list, uint32_t i)
{
	const uint8_t *at = list + (size_t)i * MEET_HOST_BYTES;
	struct meet_host host = {
		.va = load_be64(at + 16),
		.rkey = load_be32(at + 24),
	};

	memcpy(host.gid, at, sizeof(host.gid));
	return host;
}

void meet_set_host(uint8_t *list, uint32_t i, const struct meet_host *host)
{
	uint8_t *at = list + (size_t)i * MEET_HOST_BYTES;

	put_u32(put_u64(put_bytes(at, host->gid, sizeof(host->gid)), host->va), host->rkey);
}

struct meet_flow meet_flow(const uint8_t *list, uint32_t i)
{
	const uint8_t *at = list + (size_t)i * MEET_FLOW_BYTES;

	return (struct meet_flow){
		.flow = load_be32(at),
		.result = { .messages = load_be64(at + 4),
			    .bytes = load_be64(at + 12),
			    .first = { load_be64(at + 20) },
			    .last = { load_be64(at + 28) } },
	};
}

void meet_set_flow(uint8_t *list, uint32_t i, const struct meet_flow *flow)
{
	uint8_t *at = put_u32(list + (size_t)i * MEET_FLOW_BYTES, flow->flow);

	at = put_u64(put_u64(at, flow->result.messages), flow->result.bytes);
	put_u64(put_u64(at, flow->result.first.v), flow->result.last.v);
}

// --- messages of fixed parts and lists --------------------------------------------------------

static void read_hello(struct reader *in, struct meet_hello *out)
{
	const uint8_t *host;

	out->rank = take_u32(in);
	out->world = take_u32(in);
	out->digest = take_u64(in);
	host = take(in, MEET_HOST_BYTES);
	if (host != NULL)
		out->host = meet_host(host, 0);
	out->qps = take_list(in, MEET_NUMBER_BYTES, &out->qp_count);
}

static uint8_t *write_hello(const struct meet_hello *hello, uint8_t *out)
{
	out = put_u64(put_u32(put_u32(out, hello->rank), hello->world), hello->digest);
	meet_set_host(out, 0, &hello->host);
	return put_list(out + MEET_HOST_BYTES, hello->qps, hello->qp_count, MEET_NUMBER_BYTES);
}

static void read_peers(struct reader *in, struct meet_peers *out)
{
	out->hosts = take_list(in, MEET_HOST_BYTES, &out->host_count);
	out->qps = take_list(in, MEET_NUMBER_BYTES, &out->qp_count);
}

static uint8_t *write_peers(const struct meet_peers *peers, uint8_t *out)
{
	out = put_list(out, peers->hosts, peers->host_count, MEET_HOST_BYTES);
	return put_list(out, peers->qps, peers->qp_count, MEET_NUMBER_BYTES);
}

static void read_ready(struct reader *in, struct meet_ready *out)
{
	out->round = take_u32(in);
	out->last_ns = take_u64(in);
}

static void read_fail(struct reader *in, struct meet_fail *out)
{
	out->rank = take_u32(in);
	out->text = take_list(in, 1, &out->text_bytes);
	in->bad |= out->text_bytes > MEET_TEXT_BYTES;
	for (uint32_t i = 0; i < out->text_bytes; i++)
		in->bad |= out->text[i] < ' ' || out->text[i] > '~';
}

// --- results ----------------------------------------------------------------------------------

static uint32_t bucket_count(const struct histogram *h)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < HISTOGRAM_BUCKETS; i++)
		count += h->bucket[i] != 0;
	return count;
}

// Buckets in their order, none empty, and as many samples in them as are said to be.
static void read_histogram(struct reader *in, struct histogram *out)
{
	uint64_t samples = 0;
	uint32_t count;
	uint32_t least = 0;

	out->count = take_u64(in);
	out->sum = take_u64(in);
	out->least = take_u64(in);
	out->most = take_u64(in);
	count = take_u32(in);
	for (uint32_t i = 0; i < count && !in->bad; i++) {
		const uint32_t bucket = take_u32(in);
		const uint64_t there = take_u64(in);

		in->bad |= bucket < least || bucket >= HISTOGRAM_BUCKETS || there == 0 ||
			   there > out->count - samples;
		if (in->bad)
			return;
		out->bucket[bucket] = there;
		samples += there;
		least = bucket + 1;
	}
	in->bad |= samples != out->count;
}

static uint8_t *write_histogram(const struct histogram *h, uint8_t *out)
{
	out = put_u64(put_u64(put_u64(put_u64(out, h->count), h->sum), h->least), h->most);
	out = put_u32(out, bucket_count(h));
	for (uint32_t i = 0; i < HISTOGRAM_BUCKETS; i++) {
		if (h->bucket[i] != 0)
			out = put_u64(put_u32(out, i), h->bucket[i]);
	}
	return out;
}

static void read_result(struct reader *in, struct meet_result *out)
{
	uint64_t number[NUMBER_COUNT] = { 0 };

	memset(out, 0, sizeof(*out));
	for (uint32_t i = 0; i < NUMBER_COUNT; i++)
		number[i] = take_u64(in);
	memcpy(&out->numbers, number, sizeof(number));
	in->bad |= out->numbers.status > RC_FLUSHED || out->numbers.stuck > 1 ||
		   out->numbers.waited_for > JOB_NONE;
	for (uint32_t i = 0; i < MEET_HISTOGRAMS; i++)
		read_histogram(in, &out->histogram[i]);
	out->flows = take_list(in, MEET_FLOW_BYTES, &out->flow_count);
}

static uint8_t *write_result(const struct meet_result *result, uint8_t *out)
{
	uint64_t number[NUMBER_COUNT];

	memcpy(number, &result->numbers, sizeof(number));
	for (uint32_t i = 0; i < NUMBER_COUNT; i++)
		out = put_u64(out, number[i]);
	for (uint32_t i = 0; i < MEET_HISTOGRAMS; i++)
		out = write_histogram(&result->histogram[i], out);
	return put_list(out, result->flows, result->flow_count, MEET_FLOW_BYTES);
}

// --- all of them ------------------------------------------------------------------------------

static uint32_t result_bytes(uint32_t buckets, uint32_t flows)
{
	return NUMBER_COUNT * 8 + MEET_HISTOGRAMS * HISTOGRAM_HEAD_BYTES + buckets * BUCKET_BYTES +
	       4 + flows * MEET_FLOW_BYTES;
}

static uint32_t buckets_of(const struct meet_result *result)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < MEET_HISTOGRAMS; i++)
		count += bucket_count(&result->histogram[i]);
	return count;
}

static uint32_t hello_bytes(uint32_t qps)
{
	return 16 + MEET_HOST_BYTES + 4 + qps * MEET_NUMBER_BYTES;
}

static uint32_t peers_bytes(uint32_t ranks, uint32_t qps)
{
	return 8 + ranks * MEET_HOST_BYTES + qps * MEET_NUMBER_BYTES;
}

uint32_t meet_bytes_max(uint32_t ranks, uint32_t qps, uint32_t flows)
{
	const uint64_t most =
		u64_max(u64_max(hello_bytes(qps), peers_bytes(ranks, qps)),
			u64_max(result_bytes(MEET_HISTOGRAMS * HISTOGRAM_BUCKETS, flows),
				8 + MEET_TEXT_BYTES));

	return MEET_HEAD_BYTES + (uint32_t)most;
}

uint32_t meet_bytes(const struct meet_message *message)
{
	switch (message->kind) {
	case MEET_HELLO: return MEET_HEAD_BYTES + hello_bytes(message->hello.qp_count);
	case MEET_PEERS:
		return MEET_HEAD_BYTES +
		       peers_bytes(message->peers.host_count, message->peers.qp_count);
	case MEET_READY:
	case MEET_GO: return MEET_HEAD_BYTES + 12;
	case MEET_RESULT:
		return MEET_HEAD_BYTES +
		       result_bytes(buckets_of(message->result), message->result->flow_count);
	case MEET_END: return MEET_HEAD_BYTES + 4;
	case MEET_FAIL: return MEET_HEAD_BYTES + 8 + message->fail.text_bytes;
	case MEET_STOP:
	case MEET_ALIVE:
	case MEET_KINDS: break;
	}
	return MEET_HEAD_BYTES;
}

void meet_write(const struct meet_message *message, uint8_t *out)
{
	store_be32(out, MAGIC);
	store_be16(out + 4, MEET_VERSION);
	store_be16(out + 6, (uint16_t)message->kind);
	store_be32(out + 8, meet_bytes(message) - MEET_HEAD_BYTES);
	out += MEET_HEAD_BYTES;
	switch (message->kind) {
	case MEET_HELLO: write_hello(&message->hello, out); break;
	case MEET_PEERS: write_peers(&message->peers, out); break;
	case MEET_READY:
	case MEET_GO: put_u64(put_u32(out, message->ready.round), message->ready.last_ns); break;
	case MEET_RESULT: write_result(message->result, out); break;
	case MEET_END: put_u32(out, message->good); break;
	case MEET_FAIL:
		put_list(put_u32(out, message->fail.rank), message->fail.text,
			 message->fail.text_bytes, 1);
		break;
	case MEET_STOP:
	case MEET_ALIVE:
	case MEET_KINDS: break;
	}
}

enum meet_verdict meet_read_head(const uint8_t *head, enum meet_kind *kind, uint32_t *bytes)
{
	const uint32_t number = load_be16(head + 6);

	if (load_be32(head) != MAGIC)
		return MEET_MALFORMED;
	if (load_be16(head + 4) != MEET_VERSION)
		return MEET_OTHER_VERSION;
	if (number < MEET_HELLO || number >= MEET_KINDS)
		return MEET_MALFORMED;
	*kind = (enum meet_kind)number;
	*bytes = load_be32(head + 8);
	return MEET_OK;
}

enum meet_verdict meet_read(enum meet_kind kind, const uint8_t *data, uint32_t bytes,
			    struct meet_result *room, struct meet_message *out)
{
	struct reader in = { .at = data, .left = bytes };

	memset(out, 0, sizeof(*out));
	out->kind = kind;
	switch (kind) {
	case MEET_HELLO: read_hello(&in, &out->hello); break;
	case MEET_PEERS: read_peers(&in, &out->peers); break;
	case MEET_READY:
	case MEET_GO: read_ready(&in, &out->ready); break;
	case MEET_RESULT:
		in.bad = room == NULL;
		out->result = room;
		if (room != NULL)
			read_result(&in, room);
		break;
	case MEET_END:
		out->good = take_u32(&in);
		in.bad |= out->good > 1;
		break;
	case MEET_FAIL: read_fail(&in, &out->fail); break;
	case MEET_STOP:
	case MEET_ALIVE:
	case MEET_KINDS: break;
	}
	return in.bad || in.left != 0 ? MEET_MALFORMED : MEET_OK;
}
