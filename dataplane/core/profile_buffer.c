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
// Descriptors: headroom of every lossless group in minimum frames is set aside, so a pause by
// bytes and one by descriptors are covered alike; the rest is shared.

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

static int check_profiles(struct build *b)
{
	for (uint32_t i = 0; i < b->config->profile_count; i++) {
		const struct buffer_profile_config *row = &b->config->profile[i];
		uint32_t pool = find_pool(b->config, row->pool);

		if (find_profile(b->config, row->name) != row)
			return build_fail(b, FAULT_DUPLICATE_NAME, row->line, row->name, "", 0, 0);
		if (pool == b->config->pool_count)
			return build_fail(b, FAULT_UNKNOWN_POOL, row->line, row->name, row->pool, 0,
					  0);
		if ((row->dynamic_th == CONFIG_UNSET_INT) == (row->static_th == CONFIG_UNSET))
			return build_fail(b, FAULT_THRESHOLD, row->line, row->name, "", 0, 0);
		if (b->config->pool[pool].xoff != 0 && row->xoff > b->config->pool[pool].xoff)
			return build_fail(b, FAULT_HEADROOM_SHARE, row->line, row->name, "",
					  row->xoff, b->config->pool[pool].xoff);
	}
	return 0;
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

static uint8_t first_bit(uint8_t mask)
{
	return (uint8_t)__builtin_ctz(mask);
}

static int bind_pgs(struct build *b, uint8_t bound[CONFIG_PORT_MAX])
{
	for (uint32_t i = 0; i < b->config->buffer_pg_count; i++) {
		const struct buffer_pg_config *binding = &b->config->buffer_pg[i];
		const struct buffer_profile_config *row;
		uint32_t first, end;
		uint8_t pool;
		int rc = find_ports(b, binding->port, binding->line, &first, &end);

		if (rc == 0)
			rc = bind(b, binding->line, binding->profile, true, &row, &pool);
		if (rc != 0)
			return rc;
		for (uint32_t n = first; n < end; n++) {
			bool shared = b->pf->pool[pool].headroom_bytes != 0;

			if (bound[n] & binding->pg)
				return build_fail(b, FAULT_OVERLAP, binding->line,
						  b->pf->port[n].name, "priority group",
						  first_bit(bound[n] & (uint8_t)binding->pg), 0);
			bound[n] |= (uint8_t)binding->pg;
			for (uint32_t k = 0; k < PG_COUNT; k++) {
				if (!(binding->pg >> k & 1))
					continue;
				b->pf->port[n].pg[k] = (struct pg_profile){
					.limit = threshold_of(row),
					.reserved_bytes = shared ? row->size :
								   u64_minus(row->size, row->xoff),
					.headroom_bytes = row->xoff,
					.xon_bytes = row->xon,
					.xon_offset_bytes = row->xon_offset,
					.headroom_descriptors =
						(uint32_t)((row->xoff + MIN_FRAME_BYTES - 1) /
							   MIN_FRAME_BYTES),
					.pool = pool,
					.lossless = row->xoff != 0,
				};
			}
		}
	}
	return 0;
}

static int bind_queues(struct build *b, uint8_t bound[CONFIG_PORT_MAX])
{
	for (uint32_t i = 0; i < b->config->buffer_queue_count; i++) {
		const struct buffer_queue_config *binding = &b->config->buffer_queue[i];
		const struct buffer_profile_config *row;
		uint32_t first, end;
		uint8_t pool;
		int rc = find_ports(b, binding->port, binding->line, &first, &end);

		if (rc == 0)
			rc = bind(b, binding->line, binding->profile, false, &row, &pool);
		if (rc != 0)
			return rc;
		for (uint32_t n = first; n < end; n++) {
			if (bound[n] & binding->queue)
				return build_fail(b, FAULT_OVERLAP, binding->line,
						  b->pf->port[n].name, "queue",
						  first_bit(bound[n] & (uint8_t)binding->queue), 0);
			bound[n] |= (uint8_t)binding->queue;
			for (uint32_t k = 0; k < QUEUE_COUNT; k++) {
				struct queue_profile *queue = &b->pf->port[n].queue[k];

				if (!(binding->queue >> k & 1))
					continue;
				queue->limit = threshold_of(row);
				queue->reserved_bytes = row->size;
				queue->pool = pool;
			}
		}
	}
	return 0;
}

// Every group and queue that a class can reach must have a buffer.
static int check_bound(struct build *b, const uint8_t *pgs, const uint8_t *queues)
{
	for (uint32_t n = 0; n < b->pf->port_count; n++) {
		const struct port_profile *port = &b->pf->port[n];
		uint32_t line = b->config->port[n].line;

		for (uint32_t tc = 0; tc < TC_COUNT; tc++) {
			uint32_t pg = port->tc_to_pg[tc];
			uint32_t queue = port->tc_to_queue[tc];

			if (!(pgs[n] >> pg & 1))
				return build_fail(b, FAULT_UNBOUND, line, port->name,
						  "priority group", pg, 0);
			if (!(queues[n] >> queue & 1))
				return build_fail(b, FAULT_UNBOUND, line, port->name, "queue",
						  queue, 0);
		}
	}
	return 0;
}

// CNPs must neither starve nor be starved: their queue, and their group where it is theirs alone,
// has a reserve.
static void reserve_cnp(struct build *b)
{
	for (uint32_t n = 0; n < b->pf->port_count; n++) {
		struct port_profile *port = &b->pf->port[n];
		uint64_t reserve = b->config->port[n].cnp_reserve;
		struct queue_profile *queue = &port->queue[port->tc_to_queue[b->pf->cnp_tc]];
		uint8_t id = port->tc_to_pg[b->pf->cnp_tc];
		uint32_t classes = 0;

		queue->reserved_bytes = u64_max(queue->reserved_bytes, reserve);
		for (uint32_t tc = 0; tc < TC_COUNT; tc++)
			classes += port->tc_to_pg[tc] == id;
		if (classes == 1 && !port->pg[id].lossless)
			port->pg[id].reserved_bytes = u64_max(port->pg[id].reserved_bytes, reserve);
	}
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

	if (rc == 0)
		rc = bind_pgs(b, pgs);
	if (rc == 0)
		rc = bind_queues(b, queues);
	if (rc == 0)
		rc = check_bound(b, pgs, queues);
	if (rc != 0)
		return rc;
	reserve_cnp(b);
	rc = share_pools(b);
	return rc != 0 ? rc : share_descriptors(b);
}
