// SPDX-License-Identifier: BSD-3-Clause
//
// Shares as small whole numbers: scales are tried from 1 up, so the first that fits has no common
// divisor, and shares that are alike are 1 each.

#include "routing/share.h"

// The weight that a share has when the largest has `scale`, rounded, 1 at least.
static uint64_t scaled(uint64_t value, uint64_t most, uint32_t scale)
{
	const unsigned __int128 part = (unsigned __int128)value * scale;
	const uint64_t weight = (uint64_t)((part + most / 2) / most);

	return weight == 0 ? 1 : weight;
}

static bool fits(const struct share *share, uint64_t most, uint32_t scale)
{
	const unsigned __int128 wanted = (unsigned __int128)share->value * scale;
	const unsigned __int128 got = (unsigned __int128)scaled(share->value, most, scale) * most;

	return (got > wanted ? got - wanted : wanted - got) <= wanted / 256;
}

void share_hops(const struct share *shares, uint32_t count, struct plan_hop *hops)
{
	uint64_t most = 1;
	uint32_t scale = 1;

	for (uint32_t i = 0; i < count; i++)
		most = shares[i].value > most ? shares[i].value : most;
	for (uint32_t i = 0; i < count && scale < SHARE_WEIGHT_MAX; i++) {
		// What fitted a smaller scale must fit the new one too.
		if (!fits(&shares[i], most, scale)) {
			scale++;
			i = UINT32_MAX;
		}
	}
	for (uint32_t i = 0; i < count; i++)
		hops[i] = (struct plan_hop){
			.link = shares[i].link,
			.weight = (uint16_t)scaled(shares[i].value, most, scale),
		};
	share_reduce(hops, count);
}

void share_reduce(struct plan_hop *hops, uint32_t count)
{
	uint32_t divisor = 0;

	for (uint32_t i = 0; i < count && divisor != 1; i++) {
		uint32_t a = hops[i].weight;

		while (a != 0) {
			const uint32_t rest = divisor % a;

			divisor = a;
			a = rest;
		}
	}
	for (uint32_t i = 0; i < count && divisor > 1; i++)
		hops[i].weight = (uint16_t)(hops[i].weight / divisor);
}
