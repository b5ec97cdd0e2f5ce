// SPDX-License-Identifier: BSD-3-Clause
//
// Buckets are pacers (base/pacer.h) whose bytes are errors.
//
// Invariant: an error that is refused costs neither bucket anything, so a source that is over its
// rate takes nothing from the switch's.

#include "dataplane/icmp_limit.h"

#include "base/bytes.h"
#include "base/rng.h"

static struct pacer_profile bucket(uint64_t rate)
{
	return (struct pacer_profile){
		.bps = 8 * rate,
		.burst_ns = (ICMP_LIMIT_BURST - 1) * 1000000000ull / rate,
	};
}

void icmp_limit_init(struct icmp_limit *limit, uint64_t rate, uint64_t source_rate, uint64_t key)
{
	*limit = (struct icmp_limit){
		.all_profile = bucket(rate),
		.each_profile = bucket(source_rate),
		.key = key,
	};
}

static uint32_t bucket_of(const struct icmp_limit *limit, const uint8_t address[16])
{
	uint64_t mix = limit->key ^ load_be64(address);

	mix = rng_splitmix64(&mix) ^ load_be64(address + 8);
	return (uint32_t)(rng_splitmix64(&mix) % ICMP_LIMIT_SOURCES);
}

bool icmp_limit_take(struct icmp_limit *limit, const uint8_t address[16], ns_t now)
{
	struct pacer_state *each = &limit->each[bucket_of(limit, address)];

	if (!pacer_ready(&limit->all, now) || !pacer_ready(each, now))
		return false;
	pacer_charge(&limit->all_profile, &limit->all, 1, now);
	pacer_charge(&limit->each_profile, each, 1, now);
	return true;
}
