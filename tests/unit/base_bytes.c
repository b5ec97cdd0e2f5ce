// SPDX-License-Identifier: BSD-3-Clause
//
// base/bytes.h: network order is the most significant byte first (RFC 1700), and bounds that cannot
// overflow. base/checksum.h: the example of RFC 1071 section 3.

#include "base/bytes.h"
#include "base/checksum.h"

#include "tests/table.h"

static const uint8_t wire[8] = { 0x01, 0x23, 0x45, 0x67, 0x89, 0xab, 0xcd, 0xef };

Test(bytes, loads_are_big_endian)
{
	cr_assert_eq(load_be16(wire), 0x0123);
	cr_assert_eq(load_be24(wire), 0x012345);
	cr_assert_eq(load_be32(wire), 0x01234567);
	cr_assert_eq(load_be48(wire), 0x0123456789ab);
	cr_assert_eq(load_be64(wire), 0x0123456789abcdef);
}

Test(bytes, loads_need_no_alignment)
{
	cr_assert_eq(load_be16(wire + 1), 0x2345);
	cr_assert_eq(load_be24(wire + 3), 0x6789ab);
	cr_assert_eq(load_be32(wire + 3), 0x6789abcd);
	cr_assert_eq(load_be48(wire + 1), 0x23456789abcd);
}

Test(bytes, stores_are_what_loads_read)
{
	uint8_t out[8] = { 0 };

	store_be16(out + 1, 0x2345);
	cr_assert_eq(memcmp(out, (uint8_t[8]){ 0, 0x23, 0x45 }, 8), 0);
	store_be32(out + 3, 0x6789abcd);
	cr_assert_eq(memcmp(out + 1, wire + 1, 6), 0);
	store_be48(out, 0x0123456789ab);
	cr_assert_eq(memcmp(out, wire, 6), 0);
}

static const struct {
	const char *what;
	uint32_t len, offset, count;
	bool want;
} bounds_rows[] = {
	{ "all of it", 60, 0, 60, true },
	{ "one more", 60, 0, 61, false },
	{ "the last byte", 60, 59, 1, true },
	{ "nothing at the end", 60, 60, 0, true },
	{ "a byte at the end", 60, 60, 1, false },
	{ "an offset behind the end", 60, 61, 0, false },
	{ "nothing of nothing", 0, 0, 0, true },
	{ "a sum that would wrap", 60, 1, UINT32_MAX, false },
	{ "an offset that would wrap", 60, UINT32_MAX, 1, false },
};

TABLE_TEST(bytes, bounds, row, bounds_rows)
{
	cr_assert_eq(frame_has(row->len, row->offset, row->count), row->want, "%s", row->what);
}

static const struct {
	const char *what;
	uint8_t bytes[10];
	uint32_t count;
	uint16_t checksum;
} checksum_rows[] = {
	{ "nothing", { 0 }, 0, 0xffff },
	{ "RFC 1071", { 0x00, 0x01, 0xf2, 0x03, 0xf4, 0xf5, 0xf6, 0xf7 }, 8, 0xffff - 0xddf2 },
	{ "an odd byte", { 0x12 }, 1, 0xffff - 0x1200 },
	{ "a carry out of the carry", { 0xff, 0xff, 0xff, 0xff, 0x00, 0x01 }, 6, 0xfffe },
	{ "its own is there",
	  { 0x00, 0x01, 0xf2, 0x03, 0xf4, 0xf5, 0xf6, 0xf7, 0x22, 0x0d },
	  10,
	  0 },
};

TABLE_TEST(checksum, is_the_complement_of_the_sum, row, checksum_rows)
{
	cr_assert_eq(checksum_end(checksum_add(0, row->bytes, row->count)), row->checksum, "%s",
		     row->what);
}
