// SPDX-License-Identifier: BSD-3-Clause
//
// The messages of perftest as bytes. Keys are text of fixed columns, lower-case hexadecimal with
// colons behind each field and a NUL at the end; numbers are big endian, fractions IEEE doubles;
// the MTU is the digit of its verbs code.

#include "traffic/core/perftest.h"

enum { OLDEST = 533, LINE_MAX = 4096 };

static const char done_text[5] = "done";

// --- steps ------------------------------------------------------------------------------------

#define HEAD                                                                                       \
	PERFTEST_VERSION, PERFTEST_BUFFER, PERFTEST_LINE, PERFTEST_MTU, PERFTEST_KEYS,             \
		PERFTEST_CONNECT
#define REPORT                                                                                     \
	PERFTEST_REPORT_SIZE, PERFTEST_REPORT_COUNT, PERFTEST_REPORT_PEAK,                         \
		PERFTEST_REPORT_AVERAGE, PERFTEST_REPORT_RATE

// Of READ and WRITE: those that work both ways wait for each other before, the others behind.
static const uint8_t one_sided[] = {
	HEAD,   PERFTEST_AGAIN, PERFTEST_SYNC, PERFTEST_TEST, PERFTEST_SYNC,
	REPORT, PERFTEST_SYNC,  PERFTEST_DONE, PERFTEST_END,
};
static const uint8_t one_sided_both[] = {
	HEAD,   PERFTEST_AGAIN, PERFTEST_SYNC, PERFTEST_SYNC, PERFTEST_TEST,
	REPORT, PERFTEST_SYNC,  PERFTEST_DONE, PERFTEST_END,
};
// The server of SENDs that go one way counts for itself, so nobody reports.
static const uint8_t two_sided[] = {
	HEAD,          PERFTEST_SYNC, PERFTEST_AGAIN, PERFTEST_SYNC,
	PERFTEST_TEST, PERFTEST_SYNC, PERFTEST_DONE,  PERFTEST_END,
};
static const uint8_t two_sided_both[] = {
	HEAD,   PERFTEST_SYNC, PERFTEST_AGAIN, PERFTEST_SYNC, PERFTEST_TEST,
	REPORT, PERFTEST_SYNC, PERFTEST_DONE,  PERFTEST_END,
};
static_assert(sizeof(two_sided_both) + 2 * PERFTEST_QPS_MAX < PERFTEST_TURNS_MAX, "an end comes");

struct perftest_turn perftest_turn(const struct perftest_shape *shape, uint32_t at)
{
	const uint8_t *steps = shape->both ? one_sided_both : one_sided;

	if (shape->op == RC_SEND)
		steps = shape->both ? two_sided_both : two_sided;
	for (uint32_t i = 0; steps[i] != PERFTEST_END; i++) {
		const bool each = steps[i] == PERFTEST_KEYS || steps[i] == PERFTEST_AGAIN;
		const uint32_t turns = each ? shape->qps : 1;

		if (at < turns)
			return (struct perftest_turn){ (enum perftest_step)steps[i], at };
		at -= turns;
	}
	return (struct perftest_turn){ PERFTEST_END, 0 };
}

uint32_t perftest_bytes(enum perftest_step step)
{
	switch (step) {
	case PERFTEST_VERSION: return PERFTEST_VERSION_BYTES;
	case PERFTEST_BUFFER:
	case PERFTEST_LINE: return 4;
	case PERFTEST_MTU: return 2;
	case PERFTEST_KEYS:
	case PERFTEST_AGAIN:
	case PERFTEST_SYNC: return PERFTEST_BYTES_MAX;
	case PERFTEST_REPORT_SIZE:
	case PERFTEST_REPORT_COUNT:
	case PERFTEST_REPORT_PEAK:
	case PERFTEST_REPORT_AVERAGE:
	case PERFTEST_REPORT_RATE: return 8;
	case PERFTEST_DONE: return sizeof(done_text);
	case PERFTEST_CONNECT:
	case PERFTEST_TEST:
	case PERFTEST_END: break;
	}
	return 0;
}

// --- fields of text ---------------------------------------------------------------------------

// Writes so many digits and a colon, and returns what follows.
static uint8_t *put_hex(uint8_t *out, uint64_t value, uint32_t digits)
{
	for (uint32_t i = 0; i < digits; i++)
		out[i] = (uint8_t) "0123456789abcdef"[value >> 4 * (digits - 1 - i) & 15];
	out[digits] = ':';
	return out + digits + 1;
}

static int digit_of(uint8_t c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

// Reads what put_hex() wrote and moves on. After a wrong digit or colon *good is false.
static uint64_t get_hex(const uint8_t **at, uint32_t digits, bool *good)
{
	uint64_t value = 0;

	for (uint32_t i = 0; i < digits; i++) {
		const int digit = digit_of((*at)[i]);

		*good &= digit >= 0;
		value = value << 4 | (uint64_t)(digit & 15);
	}
	*good &= (*at)[digits] == ':';
	*at += digits + 1;
	return value;
}

static void write_keys(const struct perftest_keys *keys, uint8_t *out)
{
	out = put_hex(out, keys->lid, 4);
	out = put_hex(out, keys->reads, 4);
	out = put_hex(out, keys->qp, 6);
	out = put_hex(out, keys->psn, 6);
	out = put_hex(out, keys->rkey, 8);
	out = put_hex(out, keys->va, 16);
	for (uint32_t i = 0; i < sizeof(keys->gid); i++)
		out = put_hex(out, keys->gid[i], 2);
	out = put_hex(out, keys->srq, 8);
	*out = '\0';
}

static bool read_keys(const uint8_t *data, struct perftest_keys *out)
{
	struct perftest_keys keys;
	bool good = true;

	keys.lid = (uint16_t)get_hex(&data, 4, &good);
	keys.reads = (uint16_t)get_hex(&data, 4, &good);
	keys.qp = (uint32_t)get_hex(&data, 6, &good);
	keys.psn = (uint32_t)get_hex(&data, 6, &good);
	keys.rkey = (uint32_t)get_hex(&data, 8, &good);
	keys.va = get_hex(&data, 16, &good);
	for (uint32_t i = 0; i < sizeof(keys.gid); i++)
		keys.gid[i] = (uint8_t)get_hex(&data, 2, &good);
	keys.srq = (uint32_t)get_hex(&data, 8, &good);
	if (!good || *data != '\0')
		return false;
	*out = keys;
	return true;
}

// New keys are of another queue pair than those before, and later ones of the same as at first:
// that is where peers with another number of them differ.
static enum perftest_verdict take_keys(struct perftest_turn turn, const uint8_t *data,
				       struct perftest_side *peer)
{
	struct perftest_keys keys;

	if (!read_keys(data, &keys))
		return PERFTEST_MALFORMED;
	if (turn.step != PERFTEST_KEYS)
		return keys.qp == peer->keys[turn.qp].qp ? PERFTEST_OK : PERFTEST_MORE_QPS;
	for (uint32_t i = 0; i < turn.qp; i++) {
		if (keys.qp == peer->keys[i].qp)
			return PERFTEST_FEWER_QPS;
	}
	peer->keys[turn.qp] = keys;
	return PERFTEST_OK;
}

// A version in hundredths, as perftest compares them: a decimal fraction. 0: it is none.
static uint32_t version_of(const uint8_t *text)
{
	uint32_t value = 0, at = 0;

	for (; at < 3 && text[at] >= '0' && text[at] <= '9'; at++)
		value = value * 10 + (uint32_t)(text[at] - '0');
	if (at == 0 || text[at] != '.')
		return 0;
	at++;
	for (uint32_t i = 0; i < 2; i++) {
		const bool digit = text[at] >= '0' && text[at] <= '9';

		value = value * 10 + (digit ? (uint32_t)(text[at] - '0') : 0);
		at += digit;
	}
	for (; at < PERFTEST_VERSION_BYTES - 1 && text[at] >= '0' && text[at] <= '9'; at++)
		;
	return text[at] == '\0' ? value : 0;
}

static enum perftest_verdict read_version(const uint8_t *data, struct perftest_side *peer)
{
	const uint32_t version = version_of(data);

	if (version == 0)
		return PERFTEST_MALFORMED;
	if (version < OLDEST)
		return PERFTEST_OLD;
	memcpy(peer->version, data, sizeof(peer->version));
	peer->version[sizeof(peer->version) - 1] = '\0';
	return PERFTEST_OK;
}

// --- numbers ----------------------------------------------------------------------------------

static enum perftest_verdict read_number(const uint8_t *data, uint32_t max, uint32_t *out)
{
	const uint32_t value = load_be32(data);

	if (value == 0 || value > max)
		return PERFTEST_MALFORMED;
	*out = value;
	return PERFTEST_OK;
}

// Codes 1 to 5 are 256 to 4096.
static enum perftest_verdict read_mtu(const uint8_t *data, uint32_t *out)
{
	if (data[0] < '1' || data[0] > '5' || data[1] != '\0')
		return PERFTEST_MALFORMED;
	*out = 128u << (data[0] - '0');
	return PERFTEST_OK;
}

static void write_mtu(uint32_t mtu, uint8_t *out)
{
	uint32_t code = 1;

	while (code < 5 && 128u << (code + 1) <= mtu)
		code++;
	out[0] = (uint8_t)('0' + code);
	out[1] = '\0';
}

static void store_number(uint8_t *out, uint64_t value)
{
	store_be32(out, (uint32_t)(value >> 32));
	store_be32(out + 4, (uint32_t)value);
}

static double load_double(const uint8_t *data)
{
	const uint64_t bits = load_be64(data);
	double value;

	memcpy(&value, &bits, sizeof(value));
	return value;
}

static void store_double(uint8_t *out, double value)
{
	uint64_t bits;

	memcpy(&bits, &value, sizeof(bits));
	store_number(out, bits);
}

// --- messages ---------------------------------------------------------------------------------

void perftest_write(struct perftest_turn turn, const struct perftest_side *own, uint8_t *out)
{
	switch (turn.step) {
	case PERFTEST_VERSION: memcpy(out, own->version, sizeof(own->version)); break;
	case PERFTEST_BUFFER: store_be32(out, own->buffer_bytes); break;
	case PERFTEST_LINE: store_be32(out, own->line_bytes); break;
	case PERFTEST_MTU: write_mtu(own->mtu, out); break;
	case PERFTEST_KEYS:
	case PERFTEST_AGAIN:
	case PERFTEST_SYNC: write_keys(&own->keys[turn.qp], out); break;
	case PERFTEST_REPORT_SIZE: store_number(out, own->report.size); break;
	case PERFTEST_REPORT_COUNT: store_number(out, own->report.count); break;
	case PERFTEST_REPORT_PEAK: store_double(out, own->report.peak); break;
	case PERFTEST_REPORT_AVERAGE: store_double(out, own->report.average); break;
	case PERFTEST_REPORT_RATE: store_double(out, own->report.rate); break;
	case PERFTEST_DONE: memcpy(out, done_text, sizeof(done_text)); break;
	case PERFTEST_CONNECT:
	case PERFTEST_TEST:
	case PERFTEST_END: break;
	}
}

static enum perftest_verdict read_report(const struct perftest_shape *shape,
					 enum perftest_step step, const uint8_t *data,
					 struct perftest_report *out)
{
	const uint64_t number = load_be64(data);

	// One way, the client is free to do more than its server was told, or less.
	if (shape->both && step == PERFTEST_REPORT_SIZE && number != shape->size)
		return PERFTEST_OTHER_SIZE;
	if (shape->both && step == PERFTEST_REPORT_COUNT && number != shape->count)
		return PERFTEST_OTHER_COUNT;
	if (step == PERFTEST_REPORT_SIZE)
		out->size = number;
	else
		out->count = number;
	return PERFTEST_OK;
}

enum perftest_verdict perftest_read(const struct perftest_shape *shape, struct perftest_turn turn,
				    const uint8_t *data, struct perftest_side *peer)
{
	switch (turn.step) {
	case PERFTEST_VERSION: return read_version(data, peer);
	case PERFTEST_BUFFER: return read_number(data, PERFTEST_BUFFER_MAX, &peer->buffer_bytes);
	case PERFTEST_LINE: return read_number(data, LINE_MAX, &peer->line_bytes);
	case PERFTEST_MTU: return read_mtu(data, &peer->mtu);
	case PERFTEST_KEYS:
	case PERFTEST_AGAIN:
	case PERFTEST_SYNC: return take_keys(turn, data, peer);
	case PERFTEST_REPORT_SIZE:
	case PERFTEST_REPORT_COUNT: return read_report(shape, turn.step, data, &peer->report);
	case PERFTEST_REPORT_PEAK: peer->report.peak = load_double(data); break;
	case PERFTEST_REPORT_AVERAGE: peer->report.average = load_double(data); break;
	case PERFTEST_REPORT_RATE: peer->report.rate = load_double(data); break;
	case PERFTEST_DONE:
		if (memcmp(data, done_text, sizeof(done_text)) != 0)
			return PERFTEST_MALFORMED;
		break;
	case PERFTEST_CONNECT:
	case PERFTEST_TEST:
	case PERFTEST_END: break;
	}
	return PERFTEST_OK;
}

// --- addresses --------------------------------------------------------------------------------

static const uint8_t mapped[12] = { 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff };

bool perftest_gid_ipv4(const uint8_t gid[16], uint8_t ipv4[4])
{
	if (memcmp(gid, mapped, sizeof(mapped)) != 0)
		return false;
	memcpy(ipv4, gid + sizeof(mapped), 4);
	return true;
}

void perftest_gid_of_ipv4(const uint8_t ipv4[4], uint8_t gid[16])
{
	memcpy(gid, mapped, sizeof(mapped));
	memcpy(gid + sizeof(mapped), ipv4, 4);
}
