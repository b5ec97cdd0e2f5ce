// SPDX-License-Identifier: BSD-3-Clause
//
// CRC-32 by multiplication without carries (Gopal et al. 2009): four registers of 128 bits are
// folded 512 bits at a time over the data, then into one, then to 32 bits (Barrett). The constants
// are remainders of powers of x, bit-reflected and shifted left by one: a fold over D bits takes
// x^(D+32) for the earlier half of a register and x^(D-32) for the later. The file of x86-64.
//
// The compiler's builtins are used as they are, since the headers that wrap them bring an
// allocator.

#include "traffic/core/roce_crc.h"

#define CLMUL __attribute__((target("pclmul,sse4.1")))
#define CLMUL_INLINE CLMUL __attribute__((always_inline)) static inline

typedef long long lanes __attribute__((vector_size(16)));
typedef char bytes16 __attribute__((vector_size(16)));
typedef int words4 __attribute__((vector_size(16)));

static const lanes fold512 = { 0x154442bd4, 0x1c6e41596 };
static const lanes fold384 = { 0x03db1ecdc, 0x174359406 };
static const lanes fold256 = { 0x0f1da05aa, 0x15a546366 };
static const lanes fold128 = { 0x1751997d0, 0x0ccaa009e };
static const lanes fold64 = { 0x163cd6124, 0 };
static const lanes barrett = { 0x1db710641, 0x1f7011641 }; // the polynomial, and x^64 / it
static const lanes low32 = { 0xffffffff, 0 };

// From byte 16 - n: the first n bytes of a register are moved to its end. From byte 32 - n: ... the
// others to its start. What has no source becomes 0.
static const char move[48] = {
	-1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, //
	0,  1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11, 12, 13, 14, 15, //
	-1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, //
};

CLMUL_INLINE lanes load(const void *p)
{
	lanes raw;

	memcpy(&raw, p, sizeof(raw));
	return raw;
}

CLMUL_INLINE lanes fold(lanes x, lanes by)
{
	return __builtin_ia32_pclmulqdq128(x, by, 0x00) ^ __builtin_ia32_pclmulqdq128(x, by, 0x11);
}

// The last `len` bytes, 1 to 15 of them: a fold of as many bytes, and the rest moves up.
CLMUL_INLINE lanes fold_rest(lanes x, const uint8_t *data, size_t len)
{
	const bytes16 to_end = (bytes16)load(move + len);
	const bytes16 to_start = (bytes16)load(move + 16 + len);
	const lanes last = load(data + len - 16) & (lanes)(to_start < 0);

	return fold((lanes)__builtin_ia32_pshufb128((bytes16)x, to_end), fold128) ^
	       (lanes)__builtin_ia32_pshufb128((bytes16)x, to_start) ^ last;
}

// 128 bits to the register.
CLMUL_INLINE uint32_t reduce(lanes x)
{
	const words4 zero = { 0 };
	lanes t;

	x = __builtin_ia32_pclmulqdq128(x, fold128, 0x10) ^ (lanes) { x[1], 0 };
	t = (lanes)__builtin_shufflevector((words4)x, zero, 1, 2, 3, 4);
	x = __builtin_ia32_pclmulqdq128(x & low32, fold64, 0x00) ^ t;
	t = __builtin_ia32_pclmulqdq128(x & low32, barrett, 0x10);
	t = __builtin_ia32_pclmulqdq128(t & low32, barrett, 0x00);
	return (uint32_t)((words4)(x ^ t))[1];
}

CLMUL uint32_t roce_crc_clmul(const uint8_t head[ROCE_CRC_HEAD_BYTES], const uint8_t *data,
			      size_t len)
{
	lanes a = load(head), b = load(head + 16), c = load(head + 32), d = load(head + 48);

	for (; len >= 64; len -= 64, data += 64) {
		a = fold(a, fold512) ^ load(data);
		b = fold(b, fold512) ^ load(data + 16);
		c = fold(c, fold512) ^ load(data + 32);
		d = fold(d, fold512) ^ load(data + 48);
	}
	a = fold(a, fold384) ^ fold(b, fold256) ^ fold(c, fold128) ^ d;
	for (; len >= 16; len -= 16, data += 16)
		a = fold(a, fold128) ^ load(data);
	if (len > 0)
		a = fold_rest(a, data, len);
	return reduce(a);
}
