// SPDX-License-Identifier: BSD-3-Clause
//
// Profile step: buffers. Binds priority groups and queues to buffer profiles and derives what SAI
// leaves to the implementation:
//
// reserve   with a shared headroom pool, the profile's `size`; otherwise headroom is inside `size`
//           and the reserve is max(0, size - xoff). That fits both styles of shipped profiles:
//           size = xon + xoff, and rows whose size is below xon + xoff.
// shared    what the reserves bound to a pool leave of its size; private headroom comes on top.
// lossless  a priority group with headroom.
//
// Descriptors: headroom of every lossless group, in minimum frames unless its profile knows better,
// is set aside, so a pause by bytes and one by descriptors are covered alike; the rest is shared.
// Groups and queues that are not bound admit nothing; no class reaches them.

#include "dataplane/core/profile_build.h"

enum { MIN_FRAME_BYTES = 60 };

static const struct buffer_profile_config *find_profile(const struct sw_config *config,
							const char *name)
{
	for (uint32_t i = 0; i < config->profile_count; i++) {
		if (name_equal(config->profile[i].name, name))
			return &config->profile[i];
	}
	return NULL;
}

static uint32_t find_pool(const struct sw_config *config, const char *name)
{
	uint32_t i = 0;

	while (i < config->pool_count && !name_equal(config->pool[i].name, name))
		i++;
	return i;
}

static int check_profile(struct build *b, const struct buffer_profile_config *row)
{
	uint32_t pool = find_pool(b->config, row->pool);
	uint64_t headroom;

	if (find_profile(b->config, row->name) != row)
		return build_fail(b, FAULT_DUPLICATE_NAME, row->line, row->name, "", 0, 0);
	if (pool == b->config->pool_count)
		return build_fail(b, FAULT_UNKNOWN_POOL, row->line, row->name, row->pool, 0, 0);
	if ((row->dynamic_th == CONFIG_UNSET_INT) == (row->static_th == CONFIG_UNSET))
		return build_fail(b, FAULT_THRESHOLD, row->line, row->name, "", 0, 0);
	headroom = b->config->pool[pool].xoff;
	if (headroom != 0 && row->xoff > headroom)
		return build_fail(b, FAULT_HEADROOM_SHARE, row->line, row->name, "", row->xoff,
				  headroom);
	return 0;
}

static int check_profiles(struct build *b)
{
	int rc = 0;

	for (uint32_t i = 0; rc == 0 && i < b->config->profile_count; i++)
		rc = check_profile(b, &b->config->profile[i]);
	return rc;
}

static struct threshold threshold_of(const struct buffer_profile_config *row)
{
	if (row->dynamic_th != CONFIG_UNSET_INT)
		return (struct threshold){ .dynamic = true, .alpha_log2 = (int8_t)row->dynamic_th };
	return (struct threshold){ .static_bytes = row->static_th == 0 ? UINT64_MAX :
									 row->static_th };
}

// Finds the profile of a binding and checks the direction of its pool.
static int bind(struct build *b, uint32_t line, const char *name, bool ingress,
		const struct buffer_profile_config **row, uint8_t *pool)
{
	*row = find_profile(b->config, name);
	if (*row == NULL)
		return build_fail(b, FAULT_UNKNOWN_PROFILE, line, "binding", name, 0, 0);
	*pool = (uint8_t)find_pool(b->config, (*row)->pool);
	if (b->pf->pool[*pool].ingress != ingress)
		return build_fail(b, FAULT_POOL_DIRECTION, line, "binding", name, 0, 0);
	return 0;
}

// Adds `mask` to what is bound of port `n`; nothing may be bound twice.
static int claim(struct build *b, uint32_t n, uint32_t line, const char *what, uint8_t mask,
		 uint8_t *bound)
{
	const uint8_t twice = *bound & mask;

	*bound |= mask;
	if (twice == 0)
		return 0;
	return build_fail(b, FAULT_OVERLAP, line, b->pf->port[n].name, what,
			  (uint64_t)__builtin_ctz(twice), 0);
}

static uint32_t descriptors_for(uint64_t bytes)
{
	uint64_t frames = bytes / MIN_FRAME_BYTES + (bytes % MIN_FRAME_BYTES != 0);

	return (uint32_t)u64_min(frames, UINT32_MAX);
}

static struct pg_profile pg_of(const struct build *b, const struct buffer_profile_config *row,
			       uint8_t pool)
{
	bool shared = b->pf->pool[pool].headroom_bytes != 0;

	return (struct pg_profile){
		.limit = threshold_of(row),
		.reserved_bytes = shared ? row->size : u64_minus(row->size, row->xoff),
		.headroom_bytes = row->xoff,
		.xon_bytes = row->xon,
		.xon_offset_bytes = row->xon_offset,
		.headroom_descriptors = row->xoff_descriptors == CONFIG_UNSET ?
						descriptors_for(row->xoff) :
						(uint32_t)row->xoff_descriptors,
		.pool = pool,
		.lossless = row->xoff != 0,
	};
}

static void set_pgs(struct port_profile *port, uint8_t mask, const struct pg_profile *pg)
{
	for (uint32_t k = 0; k < PG_COUNT; k++) {
		if (mask >> k & 1)
			port->pg[k] = *pg;
	}
}

static int bind_pg(struct build *b, const struct buffer_pg_config *binding,
		   uint8_t bound[CONFIG_PORT_MAX])
{
	const struct buffer_profile_config *row;
	uint32_t first, end;
	uint8_t pool;
	int rc = find_ports(b, binding->port, binding->line, "binding", &first, &end);

	if (rc == 0)
		rc = bind(b, binding->line, binding->profile, true, &row, &pool);
	for (uint32_t n = first; rc == 0 && n < end; n++) {
		const struct pg_profile pg = pg_of(b, row, pool);

		rc = claim(b, n, binding->line, "priority group", (uint8_t)binding->pg, &bound[n]);
		set_pgs(&b->pf->port[n], (uint8_t)binding->pg, &pg);
	}
	return rc;
}

static int bind_pgs(struct build *b, uint8_t bound[CONFIG_PORT_MAX])
{
	int rc = 0;

	for (uint32_t i = 0; rc == 0 && i < b->config->buffer_pg_count; i++)
		rc = bind_pg(b, &b->config->buffer_pg[i], bound);
	return rc;
}

static void set_queues(struct port_profile *port, uint8_t mask,
		       const struct buffer_profile_config *row, uint8_t pool)
{
	for (uint32_t k = 0; k < QUEUE_COUNT; k++) {
		if (!(mask >> k & 1))
			continue;
		port->queue[k].limit = threshold_of(row);
		port->queue[k].reserved_bytes = row->size;
		port->queue[k].pool = pool;
	}
}

static int bind_queue(struct build *b, const struct buffer_queue_config *binding,
		      uint8_t bound[CONFIG_PORT_MAX])
{
	const struct buffer_profile_config *row;
	uint32_t first, end;
	uint8_t pool;
	int rc = find_ports(b, binding->port, binding->line, "binding", &first, &end);

	if (rc == 0)
		rc = bind(b, binding->line, binding->profile, false, &row, &pool);
	for (uint32_t n = first; rc == 0 && n < end; n++) {
		rc = claim(b, n, binding->line, "queue", (uint8_t)binding->queue, &bound[n]);
		set_queues(&b->pf->port[n], (uint8_t)binding->queue, row, pool);
	}
	return rc;
}

static int bind_queues(struct build *b, uint8_t bound[CONFIG_PORT_MAX])
{
	int rc = 0;

	for (uint32_t i = 0; rc == 0 && i < b->config->buffer_queue_count; i++)
		rc = bind_queue(b, &b->config->buffer_queue[i], bound);
	return rc;
}

// What is not bound admits nothing, but belongs to a pool of its direction all the same.
static void set_default_pools(struct sw_profile *pf)
{
	const uint8_t ingress = (uint8_t)first_pool(pf, true);
	const uint8_t egress = (uint8_t)first_pool(pf, false);

	for (uint32_t n = 0; n < pf->port_count; n++) {
		for (uint32_t i = 0; i < PG_COUNT; i++)
			pf->port[n].pg[i].pool = ingress;
		for (uint32_t i = 0; i < QUEUE_COUNT; i++)
			pf->port[n].queue[i].pool = egress;
	}
}

static int check_bound_class(struct build *b, uint32_t n, uint32_t tc, uint8_t pgs, uint8_t queues)
{
	const struct port_profile *port = &b->pf->port[n];
	uint32_t line = b->config->port[n].line;
	uint32_t pg = port->tc_to_pg[tc];
	uint32_t queue = port->tc_to_queue[tc];

	if (!(pgs >> pg & 1))
		return build_fail(b, FAULT_UNBOUND, line, port->name, "priority group", pg, 0);
	if (!(queues >> queue & 1))
		return build_fail(b, FAULT_UNBOUND, line, port->name, "queue", queue, 0);
	return 0;
}

// Every group and queue that a class can reach must have a buffer.
static int check_bound(struct build *b, const uint8_t *pgs, const uint8_t *queues)
{
	int rc = 0;

	for (uint32_t n = 0; rc == 0 && n < b->pf->port_count; n++) {
		for (uint32_t tc = 0; rc == 0 && tc < TC_COUNT; tc++)
			rc = check_bound_class(b, n, tc, pgs[n], queues[n]);
	}
	return rc;
}

// The highest group that no class reaches and that has no headroom, PG_COUNT when there is none.
static uint8_t free_pg(const struct port_profile *port)
{
	for (uint8_t i = PG_COUNT; i-- > 0;) {
		if (classes_in(port->tc_to_pg, i) == 0 && !port->pg[i].lossless)
			return i;
	}
	return PG_COUNT;
}

// CNPs must not be refused because other classes have filled their group: where the map (AZURE)
// lets them share one, CNPs move to a free group under the same limit, with the reserve.
static void reserve_cnp_pg(struct port_profile *port, uint8_t cnp_tc, uint64_t reserve)
{
	const uint8_t mapped = port->tc_to_pg[cnp_tc];
	const uint8_t spare = free_pg(port);

	port->cnp_pg = mapped;
	if (classes_in(port->tc_to_pg, mapped) == 1) {
		port->pg[mapped].reserved_bytes = u64_max(port->pg[mapped].reserved_bytes, reserve);
	} else if (reserve != 0 && spare != PG_COUNT) {
		port->cnp_pg = spare;
		port->pg[spare] = port->pg[mapped];
		port->pg[spare].reserved_bytes = reserve;
	}
}

static int reserve_cnp(struct build *b)
{
	const uint8_t tc = b->pf->cnp_tc;

	for (uint32_t n = 0; n < b->pf->port_count; n++) {
		struct port_profile *port = &b->pf->port[n];
		uint64_t reserve = b->config->port[n].cnp_reserve;
		struct queue_profile *queue = &port->queue[port->tc_to_queue[tc]];

		if (port->pg[port->tc_to_pg[tc]].lossless)
			return build_fail(b, FAULT_CNP_LOSSLESS, b->config->port[n].line,
					  port->name, "", tc, 0);
		if (classes_in(port->tc_to_queue, port->tc_to_queue[tc]) == 1)
			queue->reserved_bytes = u64_max(queue->reserved_bytes, reserve);
		reserve_cnp_pg(port, tc, reserve);
	}
	return 0;
}

static int share_pools(struct build *b)
{
	uint64_t reserved[CONFIG_POOL_MAX] = { 0 };

	for (uint32_t n = 0; n < b->pf->port_count; n++) {
		const struct port_profile *port = &b->pf->port[n];

		for (uint32_t i = 0; i < PG_COUNT; i++)
			reserved[port->pg[i].pool] += port->pg[i].reserved_bytes;
		for (uint32_t i = 0; i < QUEUE_COUNT; i++)
			reserved[port->queue[i].pool] += port->queue[i].reserved_bytes;
	}
	for (uint32_t i = 0; i < b->pf->pool_count; i++) {
		struct pool_profile *pool = &b->pf->pool[i];

		if (reserved[i] > pool->size_bytes)
			return build_fail(b, FAULT_POOL_TOO_SMALL, b->config->pool[i].line,
					  pool->name, "", reserved[i], pool->size_bytes);
		pool->shared_bytes = pool->size_bytes - reserved[i];
	}
	return 0;
}

static int share_descriptors(struct build *b)
{
	uint64_t headroom = 0;

	for (uint32_t n = 0; n < b->pf->port_count; n++) {
		for (uint32_t i = 0; i < PG_COUNT; i++)
			headroom += b->pf->port[n].pg[i].headroom_descriptors;
	}
	if (headroom * 2 > b->pf->descriptor_count)
		return build_fail(b, FAULT_DESCRIPTORS, b->config->sw.line, b->pf->name, "",
				  headroom, b->pf->descriptor_count / 2);
	b->pf->descriptor_shared = b->pf->descriptor_count - (uint32_t)headroom;
	return 0;
}

int build_buffers(struct build *b)
{
	uint8_t pgs[CONFIG_PORT_MAX] = { 0 };
	uint8_t queues[CONFIG_PORT_MAX] = { 0 };
	int rc = check_profiles(b);

	set_default_pools(b->pf);
	if (rc == 0)
		rc = bind_pgs(b, pgs);
	if (rc == 0)
		rc = bind_queues(b, queues);
	if (rc == 0)
		rc = check_bound(b, pgs, queues);
	if (rc == 0)
		rc = reserve_cnp(b);
	if (rc == 0)
		rc = share_pools(b);
	return rc != 0 ? rc : share_descriptors(b);
}
