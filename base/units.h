// SPDX-License-Identifier: BSD-3-Clause
//
// Human quantities to integers and back: "400G" bits per second, "16MB" bytes, "200ms" nanoseconds,
// "5m" metres, "3,4" and "3-5" sets of 0..7. Parsing is exact integer arithmetic and refuses what
// does not fit.
//
// Decimal prefixes for rates (k, M, G, T), times (ns, us, ms, s) and lengths (m, km); for bytes K,
// M, G and KiB, MiB, GiB are powers of 1024 as in switch documentation, and kB, MB, GB are powers
// of 1000. Case matters, and there are no signs and no spaces.
#pragma once

#include "base/types.h"

enum unit { UNIT_COUNT, UNIT_BYTES, UNIT_BPS, UNIT_NS, UNIT_METRES, UNIT_PPM };

// Parses all of `text` (`len` bytes) as a quantity of `unit` into *value: an optional fraction is
// allowed when the result is whole ("2.5G"). Counts and bytes may be plain numbers; rates, times,
// lengths and probabilities need a unit unless they are 0 ("400bps", "5%", "200ppm"), since nobody
// means bits per second by 400. UNIT_COUNT takes decimal or 0x digits.
// False, and *value untouched, when the text is not a quantity of the unit or exceeds 2^63 - 1.
bool unit_parse(enum unit unit, const char *text, size_t len, uint64_t *value);

// Writes a short exact text of `value` (at most 2^63 - 1; NUL-terminated) that unit_parse() reads
// back: whole numbers with the largest unit that divides, unless a fraction of a larger unit is
// shorter, e.g. "25G", "2.5G" and "1250M" with UNIT_BPS. UNIT_PPM is written in percent.
// `out` has at least UNIT_TEXT_BYTES bytes. Returns the length.
enum { UNIT_TEXT_BYTES = 32 };
size_t unit_format(enum unit unit, uint64_t value, char *out);

// Parses a list of 0..7 ("3,4", "3-5", "" for none) into a bit mask. False, and *mask untouched,
// for anything else; ranges ascend.
bool unit_parse_mask8(const char *text, size_t len, uint8_t *mask);

// Writes a mask as the canonical list: runs of two or more as "a-b", NUL-terminated, at most
// UNIT_TEXT_BYTES bytes. Returns the length.
size_t unit_format_mask8(uint8_t mask, char *out);

// Writes a MAC address in lower case with colons, NUL-terminated. Returns the length.
enum { MAC_TEXT_BYTES = 18 };
size_t mac_format(uint64_t mac, char out[MAC_TEXT_BYTES]);
