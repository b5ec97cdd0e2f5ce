// SPDX-License-Identifier: BSD-3-Clause
//
// How many ICMP errors a switch sends (RFC 1812 4.3.2.8, RFC 4443 2.4 f): a bucket for the switch,
// and one for each source, so that one host that traces or scans does not use up what others need.
//
// Sources share a fixed number of buckets by a keyed hash: whoever invents addresses fills no
// table, and cannot choose whom to share with. Time is an argument.
#pragma once

#include "base/pacer.h"

enum {
	ICMP_LIMIT_SOURCES = 1024, // buckets
	ICMP_LIMIT_BURST = 10,     // errors at once after silence
};

struct icmp_limit {
	struct pacer_profile all_profile, each_profile;
	struct pacer_state all;
	struct pacer_state each[ICMP_LIMIT_SOURCES];
	uint64_t key;
};

// Errors a second of the switch and to one source, each at least 1. `key` is secret.
void icmp_limit_init(struct icmp_limit *limit, uint64_t rate, uint64_t source_rate, uint64_t key);

// Whether one may be sent to this address now, which counts it.
bool icmp_limit_take(struct icmp_limit *limit, const uint8_t address[16], ns_t now);
