// SPDX-License-Identifier: BSD-3-Clause
//
// A replay in its parts: captures of all formats byte by byte, times, addresses, what counts as
// arrived, and an endpoint that sends a frame as it is unless its priority is paused.

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/bytes.h"
#include "pfc/pfc.h"
#include "tests/table.h"
#include "traffic/core/endpoint.h"
#include "traffic/core/replay.h"
#include "traffic/pcap_file.h"

#define SECOND 1000000000ull
#define US 1000ull

// --- captures ---------------------------------------------------------------------------------

enum { FILE_MAX = 512, FRAME = 60 };

struct writer {
	uint8_t bytes[FILE_MAX];
	uint32_t len;
	bool big;
};

static void put(struct writer *w, uint32_t value, uint32_t bytes)
{
	for (uint32_t i = 0; i < bytes; i++)
		w->bytes[w->len++] = (uint8_t)(value >> 8 * (w->big ? bytes - 1 - i : i));
}

// libpcap's savefile format: pcap-savefile(5).
static void put_pcap(struct writer *w, uint32_t magic, uint32_t link_type)
{
	put(w, magic, 4);
	put(w, 2, 2);
	put(w, 4, 2);
	put(w, 0, 4);
	put(w, 0, 4);
	put(w, 65535, 4);
	put(w, link_type, 4);
}

static void put_frame(struct writer *w, uint32_t seconds, uint32_t fraction, uint32_t caught,
		      uint32_t len)
{
	put(w, seconds, 4);
	put(w, fraction, 4);
	put(w, caught, 4);
	put(w, len, 4);
	for (uint32_t i = 0; i < caught && w->len < FILE_MAX; i++)
		w->bytes[w->len++] = (uint8_t)i;
}

// Section header, interface description with nanoseconds (if_tsresol 9), enhanced packet.
static void put_pcapng(struct writer *w)
{
	const uint64_t ns = SECOND + 5 * US;

	put(w, 0x0a0d0d0a, 4);
	put(w, 28, 4);
	put(w, 0x1a2b3c4d, 4);
	put(w, 1, 2);
	put(w, 0, 2);
	put(w, UINT32_MAX, 4);
	put(w, UINT32_MAX, 4);
	put(w, 28, 4);
	put(w, 1, 4);
	put(w, 32, 4);
	put(w, 1, 2);
	put(w, 0, 2);
	put(w, 65535, 4);
	put(w, 9, 2);
	put(w, 1, 2);
	w->bytes[w->len] = 9;
	w->len += 4;
	put(w, 0, 4);
	put(w, 32, 4);
	put(w, 6, 4);
	put(w, 32 + FRAME, 4);
	put(w, 0, 4);
	put(w, (uint32_t)(ns >> 32), 4);
	put(w, (uint32_t)ns, 4);
	put(w, FRAME, 4);
	put(w, FRAME, 4);
	for (uint32_t i = 0; i < FRAME; i++)
		w->bytes[w->len++] = (uint8_t)i;
	put(w, 32 + FRAME, 4);
}

static void save(const struct writer *w, char path[32])
{
	int fd;

	snprintf(path, 32, "/tmp/weft-pcap.XXXXXX");
	fd = mkstemp(path);
	cr_assert_geq(fd, 0);
	cr_assert_eq(write(fd, w->bytes, w->len), w->len);
	close(fd);
}

struct format_row {
	const char *what;
	uint32_t magic; // 0: pcapng
	bool big;
	uint32_t fraction; // of the time stamp: 5 us
};

static const struct format_row formats[] = {
	{ "microseconds, least byte first", 0xa1b2c3d4, false, 5 },
	{ "microseconds, most first", 0xa1b2c3d4, true, 5 },
	{ "nanoseconds, least byte first", 0xa1b23c4d, false, 5000 },
	{ "nanoseconds, most first", 0xa1b23c4d, true, 5000 },
	{ "pcapng, least byte first", 0, false, 0 },
	{ "pcapng, most first", 0, true, 0 },
};

TABLE_TEST(traffic_replay, format, row, formats)
{
	struct writer w = { .big = row->big };
	struct pcap_frame frame;
	struct pcap_file file;
	char path[32];

	if (row->magic == 0) {
		put_pcapng(&w);
	} else {
		put_pcap(&w, row->magic, 1);
		put_frame(&w, 1, row->fraction, FRAME, FRAME);
	}
	save(&w, path);
	cr_assert_eq(pcap_file_open(&file, path, stderr), 0, "%s", row->what);
	cr_assert_eq(pcap_file_next(&file, &frame), 1, "%s", row->what);
	cr_expect_eq(frame.at.v, SECOND + 5 * US, "%s: %lu", row->what, frame.at.v);
	cr_expect_eq(frame.len, FRAME);
	cr_expect_eq(frame.caught, FRAME);
	cr_expect_eq(frame.data[FRAME - 1], FRAME - 1);
	cr_expect_eq(pcap_file_next(&file, &frame), 0);
	pcap_file_close(&file);
	unlink(path);
}

struct refusal_row {
	const char *what;
	uint32_t link_type;
	uint32_t seconds;
	uint32_t fraction;
	uint32_t caught;
	uint32_t len;
	uint32_t cut; // bytes missing at the end
	const char *says;
};

static const struct refusal_row refusals[] = {
	{ "no Ethernet", 101, 0, 0, FRAME, FRAME, 0, ": frames are not those of Ethernet\n" },
	{ "no header", 1, 0, 0, 13, 13, 0, ": frame 2: shorter than an Ethernet header\n" },
	{ "a jumbo frame", 1, 0, 0, 100, 9000, 0,
	  ": frame 2: longer than a host of weft-traffic can send\n" },
	{ "more bytes than it had", 1, 0, 0, 100, 99, 0,
	  ": frame 2: longer than a host of weft-traffic can send\n" },
	{ "cut off", 1, 0, 0, 100, 100, 1, ": frame 2: truncated dump file" },
	{ "a fraction of two seconds", 1, 0, 2000000, FRAME, FRAME, 0,
	  ": frame 2: its time stamp is no time\n" },
};

TABLE_TEST(traffic_replay, refusal, row, refusals)
{
	struct writer w = { 0 };
	char *said = NULL;
	size_t len;
	FILE *errors = open_memstream(&said, &len);
	struct pcap_frame frame;
	struct pcap_file file;
	char path[32];
	int rc;

	put_pcap(&w, 0xa1b2c3d4, row->link_type);
	put_frame(&w, 1, 0, FRAME, FRAME);
	put_frame(&w, row->seconds, row->fraction, row->caught, row->len);
	w.len -= row->cut;
	save(&w, path);
	rc = pcap_file_open(&file, path, errors);
	if (rc == 0)
		cr_expect_eq(pcap_file_next(&file, &frame), 1);
	if (rc == 0)
		rc = pcap_file_next(&file, &frame);
	fclose(errors);
	cr_expect_lt(rc, 0, "%s", row->what);
	cr_expect_eq(strncmp(said, path, strlen(path)), 0, "%s", said);
	cr_expect_eq(strncmp(said + strlen(path), row->says, strlen(row->says)), 0, "%s: %s",
		     row->what, said);
	pcap_file_close(&file);
	unlink(path);
	free(said);
}

// --- times, addresses, counts -----------------------------------------------------------------

struct due_row {
	const char *what;
	uint64_t rate_ppm;
	uint64_t captured; // behind a first frame at 1000 s
	uint64_t due;      // behind the start at 5 s
};

static const struct due_row due_rows[] = {
	{ "as it was", 1000000, 3 * SECOND, 3 * SECOND },
	{ "twice as fast", 2000000, 3 * SECOND, 3 * SECOND / 2 },
	{ "a third as fast", 333333, SECOND, 3000003000 },
	{ "at once", 0, 3 * SECOND, 0 },
	{ "a day, to the nanosecond", 1000000, 86400 * SECOND + 1, 86400 * SECOND + 1 },
};

TABLE_TEST(traffic_replay, due, row, due_rows)
{
	struct replay_pace pace = { .rate_ppm = row->rate_ppm, .start = { 5 * SECOND } };
	const uint64_t first = replay_due(&pace, (ns_t){ 1000 * SECOND }).v;
	const uint64_t due = replay_due(&pace, (ns_t){ 1000 * SECOND + row->captured }).v;

	cr_expect_eq(first, 5 * SECOND);
	cr_expect_eq(due, 5 * SECOND + row->due, "%s: %lu", row->what, due);
	// One that was captured before the first is due with it.
	cr_expect_eq(replay_due(&pace, (ns_t){ 999 * SECOND }).v, 5 * SECOND);
}

struct count_row {
	const char *what;
	uint64_t dst;
	uint64_t src;
	bool any; // whoever sent it
	bool counts;
};

static const struct count_row count_rows[] = {
	{ "of the sender", 0x020000000002, 0x020000000001, false, true },
	{ "of the sender, to all", 0xffffffffffff, 0x020000000001, false, true },
	{ "of another", 0x020000000002, 0x020000000003, false, false },
	{ "of another, when all count", 0x020000000002, 0x020000000003, true, true },
	{ "PFC", 0x0180c2000001, 0x020000000001, false, false },
	{ "LLDP, when all count", 0x0180c200000e, 0x020000000003, true, false },
	{ "a group that is not for neighbours", 0x0180c2000010, 0x020000000003, true, true },
};

TABLE_TEST(traffic_replay, count, row, count_rows)
{
	struct replay_tally tally = { .src_mac = row->any ? 0 : 0x020000000001 };
	uint8_t frame[FRAME] = { 0 };

	store_be48(frame, row->dst);
	store_be48(frame + 6, row->src);
	cr_expect_not(replay_count(&tally, frame, FRAME), "%s: before the beginning", row->what);
	tally.counts = true;
	cr_expect_eq(replay_count(&tally, frame, FRAME), row->counts, "%s", row->what);
	cr_expect_eq(tally.frames, row->counts);
	cr_expect_eq(tally.bytes, row->counts ? FRAME : 0);
	cr_expect_not(replay_count(&tally, frame, 13));
}

Test(traffic_replay, addresses)
{
	uint8_t frame[FRAME] = { 0x00, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 0x08 };

	replay_readdress(frame, 0x020000000001, 0x020000000002);
	cr_expect_eq(load_be48(frame), 0x020000000002);
	cr_expect_eq(load_be48(frame + 6), 0x020000000001);
	cr_expect_eq(frame[12], 0x08);
	store_be48(frame, 0x01005e000001);
	replay_readdress(frame, 0x020000000003, 0x020000000004);
	cr_expect_eq(load_be48(frame), 0x01005e000001);
	cr_expect_eq(load_be48(frame + 6), 0x020000000003);
}

// --- an endpoint that sends it ----------------------------------------------------------------

struct raw_row {
	const char *what;
	uint8_t head[6]; // from the type on
	uint8_t prio;
};

static const struct raw_row raw_rows[] = {
	{ "DSCP 26 of IPv4", { 0x08, 0x00, 0x45, 26 << 2 }, 3 },
	{ "DSCP 26 of IPv6", { 0x86, 0xdd, 0x60 | 26 >> 2, (26 << 6) & 0xff }, 3 },
	{ "DSCP 0", { 0x08, 0x00, 0x45, 0 }, 0 },
	{ "a tag of priority 5, whatever the DSCP", { 0x81, 0x00, 5 << 5, 1, 0x08, 0x00 }, 5 },
	{ "a service tag", { 0x88, 0xa8, 7 << 5, 1, 0x81, 0x00 }, 7 },
	{ "neither", { 0x08, 0x06, 0, 1 }, 0 },
};

static struct endpoint_state *open_endpoint(struct endpoint_profile *pf)
{
	void *memory;

	*pf = (struct endpoint_profile){
		.mac = 0x020000000001, .bps = SECOND, .mtu = 1500, .obey = 0xff, .cnp_dscp = 48
	};
	pf->dscp_to_prio[26] = 3;
	memory = aligned_alloc(64, endpoint_bytes(pf));
	memset(memory, 0, endpoint_bytes(pf));
	return endpoint_init(pf, NULL, 0, memory);
}

// Held while its priority is, and let through while all others are; byte by byte as it was.
TABLE_TEST(traffic_replay, raw, row, raw_rows)
{
	const uint8_t switch_mac[6] = { 2, 0, 0, 0, 0, 9 };
	struct pfc_frame pause = { .enable = 1 << 3 };
	uint8_t frame[FRAME] = { 2, 0, 0, 0, 0, 2, 2, 0, 0, 0, 0, 1 };
	uint8_t pfc[PFC_FRAME_BYTES];
	uint8_t out[ROCE_FRAME_MAX];
	struct endpoint_profile pf;
	struct endpoint_state *st = open_endpoint(&pf);

	memcpy(frame + 12, row->head, sizeof(row->head));
	pause.enable = (uint8_t)(1 << row->prio);
	pause.quanta[row->prio] = 65535;
	pfc_frame_encode(&pause, switch_mac, pfc);
	endpoint_rx(&pf, st, pfc, sizeof(pfc), (ns_t){ 1000 });
	cr_assert(endpoint_offer(st, frame, FRAME));
	cr_expect_not(endpoint_offer(st, frame, FRAME), "one at a time");
	cr_expect_eq(endpoint_tx(&pf, st, (ns_t){ 2000 }, out), 0, "%s", row->what);
	cr_expect(endpoint_offers(st));
	// 65535 quanta of 512 bits at 1 Gb/s are 33.55 ms.
	cr_expect_eq(endpoint_deadline(&pf, st, (ns_t){ 2000 }).v, 1000 + 65535 * 512ull);

	pause.enable = 0xff;
	for (uint32_t i = 0; i < PRIO_COUNT; i++)
		pause.quanta[i] = i == row->prio ? 0 : 65535;
	pfc_frame_encode(&pause, switch_mac, pfc);
	endpoint_rx(&pf, st, pfc, sizeof(pfc), (ns_t){ 3000 });
	cr_expect_eq(endpoint_tx(&pf, st, (ns_t){ 3000 }, out), FRAME, "%s", row->what);
	cr_expect_arr_eq(out, frame, FRAME);
	cr_expect_not(endpoint_offers(st));
	free(st);
}
