// SPDX-License-Identifier: BSD-3-Clause
//
// How this processor makes an ICRC best: the pure core cannot ask which instructions there are, so
// the shell does. Carry-less multiplication takes a twentieth of the time that a table takes, and
// a host without it works all the same.
#pragma once

#include "traffic/core/roce.h"

static inline enum roce_crc crc_method(void)
{
#if defined(__x86_64__)
	if (!__builtin_cpu_supports("pclmul") || !__builtin_cpu_supports("sse4.1"))
		return ROCE_CRC_TABLE;
	if (__builtin_cpu_supports("vpclmulqdq") && __builtin_cpu_supports("avx512f"))
		return ROCE_CRC_WIDE;
	return ROCE_CRC_CLMUL;
#else
	return ROCE_CRC_TABLE;
#endif
}
