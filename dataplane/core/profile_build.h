// SPDX-License-Identifier: BSD-3-Clause
//
// The steps of building a profile, in the order profile_build() takes them. Private to
// dataplane/core/profile*.c. Each step returns 0 or -EINVAL with the fault filled.
#pragma once

#include <string.h>

#include "dataplane/core/maps.h"
#include "dataplane/core/profile.h"

enum { TAG_BYTES = 8 }; // a frame may carry two VLAN tags beyond the MTU

struct build {
	const struct sw_config *config;
	struct sw_profile *pf;
	struct profile_fault *fault;
};

// profile_port.c: names, rates, maps, PFC, policers.
int build_ports(struct build *b);

// profile_buffer.c: bindings of groups and queues to buffer profiles, shared parts, descriptors.
int build_buffers(struct build *b);

// profile_queue.c: schedulers, shapers, WRED.
int build_queues(struct build *b);

// profile_queue.c: gives the CNP queue its default cap, by the port's rates as they are.
void cap_cnp_queue(const struct sw_profile *pf, struct port_profile *port);

// profile_vlan.c
int build_vlans(struct build *b);

// profile_lag.c: LAGs and their members.
int build_lags(struct build *b);

// profile_lag.c: the members of a LAG are alike.
int check_lags(struct build *b);

// profile_lag.c: index of the port that this name stands for, a port's or a LAG's; port_count when
// there is none.
uint32_t find_link(const struct sw_config *config, const char *name);

// profile_lag.c: as find_ports(), for rows that name LAGs instead of their members.
int find_links(struct build *b, const char *name, uint32_t line, const char *object,
	       uint32_t *first, uint32_t *end);

// profile_watchdog.c
int build_watchdogs(struct build *b);

// profile_fabric.c: router address, hash, lanes.
int build_fabric(struct build *b);

// profile_fabric.c: what lanes need of ports, groups and queues.
int check_lanes(struct build *b);

// profile_impair.c
int build_impairments(struct build *b);

// profile_guard.c: bindings of source guard, behind the access list.
int build_guard(struct build *b);
size_t profile_guard_bytes(const struct sw_config *config);

// profile_acl.c: rows of the access list and their index, behind the ports.
int build_acl(struct build *b);
size_t profile_acl_bytes(const struct sw_config *config);

// profile_check.c: what only the whole shows (lossless from end to end).
int check_lossless(struct build *b);

// profile_name.c: names of switch and ports, which become names of files and words of commands.
int check_names(struct build *b);

// profile_name.c: letters, digits, _ - and ., beginning with a letter or digit.
bool is_name(const char *name);

// profile_name.c: next word of a space-separated list into `word`; false at the end.
bool next_word(const char **text, char word[CONFIG_NAME_BYTES]);

// Fills the fault; `object` and `detail` may be "".
int build_fail(struct build *b, enum profile_fault_id id, uint32_t line, const char *object,
	       const char *detail, uint64_t have, uint64_t want);

static inline size_t profile_ports_bytes(const struct sw_config *config)
{
	return (sizeof(struct sw_profile) + config->port_count * sizeof(struct port_profile) + 15) &
	       ~(size_t)15;
}

// The time that `bytes` take at `bps`: how far a policer may fall behind.
static inline uint64_t bytes_ns(uint64_t bytes, uint64_t bps)
{
	return bps == 0 ? 0 : bytes * 8 * 1000000000u / bps;
}

// Names are NUL-terminated within CONFIG_NAME_BYTES.
static inline bool name_equal(const char *a, const char *b)
{
	size_t i = 0;

	while (a[i] != '\0' && a[i] == b[i])
		i++;
	return a[i] == b[i];
}

// Length of the device's name in devargs: its arguments follow a comma.
static inline size_t device_name_length(const char *devargs)
{
	size_t len = 0;

	while (devargs[len] != '\0' && devargs[len] != ',')
		len++;
	return len;
}

// Copies at most CONFIG_NAME_BYTES - 1 characters and terminates.
static inline void name_copy(char out[CONFIG_NAME_BYTES], const char *in)
{
	size_t i = 0;

	// cppcheck-suppress arrayIndexOutOfBoundsCond // `in` may be shorter: it ends with its NUL
	for (; i + 1 < CONFIG_NAME_BYTES && in[i] != '\0'; i++)
		out[i] = in[i];
	out[i] = '\0';
}

// How many of the classes that `map` takes to eight groups or queues end in `id`.
static inline uint32_t classes_in(const uint8_t map[TC_COUNT], uint8_t id)
{
	uint32_t count = 0;

	for (uint32_t tc = 0; tc < TC_COUNT; tc++)
		count += map[tc] == id;
	return count;
}

// Index of the port, or port_count when there is none of that name.
static inline uint32_t find_port(const struct sw_config *config, const char *name)
{
	uint32_t i = 0;

	while (i < config->port_count && !name_equal(config->port[i].name, name))
		i++;
	return i;
}

// Index of the first pool of a direction, or pool_count when there is none.
static inline uint32_t first_pool(const struct sw_profile *pf, bool ingress)
{
	uint32_t i = 0;

	while (i < pf->pool_count && pf->pool[i].ingress != ingress)
		i++;
	return i;
}

// The range of ports that a row of `object` names: one, or all of them for "all".
static inline int find_ports(struct build *b, const char *name, uint32_t line, const char *object,
			     uint32_t *first, uint32_t *end)
{
	if (name_equal(name, "all")) {
		*first = 0;
		*end = b->config->port_count;
		return 0;
	}
	*first = find_port(b->config, name);
	*end = *first + 1;
	if (*first == b->config->port_count)
		return build_fail(b, FAULT_UNKNOWN_PORT, line, object, name, 0, 0);
	return 0;
}
