// SPDX-License-Identifier: BSD-3-Clause
//
// The rows that a preset adds, and what rows of the file leave of them: a name that is there, a
// group, a queue or a watchdog that is bound, belongs to the file (preset.h). Adders append behind
// the rows of the file and never change one.

#include "dataplane/core/preset_rows.h"

#include <errno.h>

#include "base/units.h"
#include "dataplane/core/profile_build.h"

int preset_fail_full(struct preset_expansion *x, const char *table, uint32_t max)
{
	*x->fault = (struct profile_fault){ .id = FAULT_TOO_MANY,
					    .line = x->out->sw.line,
					    .want = max };
	name_copy(x->fault->object, "roce");
	name_copy(x->fault->detail, table);
	return -EINVAL;
}

void preset_append(char out[CONFIG_NAME_BYTES], const char *text)
{
	size_t len = 0;

	while (out[len] != '\0')
		len++;
	for (size_t i = 0; text[i] != '\0' && len + 1 < CONFIG_NAME_BYTES; i++)
		out[len++] = text[i];
	out[len] = '\0';
}

void preset_name_by_bytes(char out[CONFIG_NAME_BYTES], const char *begin, uint64_t bytes)
{
	char text[UNIT_TEXT_BYTES];

	unit_format(UNIT_BYTES, bytes, text);
	name_copy(out, begin);
	preset_append(out, text);
}

int preset_add_pool(struct preset_expansion *x, const char *name, enum config_pool_type type,
		    uint64_t size, bool is_static)
{
	struct sw_config *c = x->out;

	for (uint32_t i = 0; i < c->pool_count; i++) {
		if (name_equal(c->pool[i].name, name))
			return 0;
	}
	if (c->pool_count == CONFIG_POOL_MAX)
		return preset_fail_full(x, "buffer_pool", CONFIG_POOL_MAX);
	c->pool[c->pool_count] = (struct pool_config){
		.line = c->sw.line,
		.type = type,
		.mode = is_static ? CONFIG_POOL_STATIC : CONFIG_POOL_DYNAMIC,
		.size = size,
	};
	name_copy(c->pool[c->pool_count++].name, name);
	return 0;
}

const struct buffer_profile_config *preset_find_profile(const struct sw_config *c, const char *name)
{
	for (uint32_t i = 0; i < c->profile_count; i++) {
		if (name_equal(c->profile[i].name, name))
			return &c->profile[i];
	}
	return NULL;
}

int preset_add_profile(struct preset_expansion *x, const struct buffer_profile_config *row,
		       const char *pool)
{
	struct sw_config *c = x->out;

	if (preset_find_profile(c, row->name) != NULL)
		return 0;
	if (c->profile_count == CONFIG_PROFILE_MAX)
		return preset_fail_full(x, "buffer_profile", CONFIG_PROFILE_MAX);
	c->profile[c->profile_count] = *row;
	c->profile[c->profile_count].line = c->sw.line;
	name_copy(c->profile[c->profile_count++].pool, pool);
	return 0;
}

int preset_bind_pgs(struct preset_expansion *x, const struct port_config *port, uint8_t pgs,
		    const char *profile)
{
	struct sw_config *c = x->out;

	if (pgs == 0)
		return 0;
	if (c->buffer_pg_count == CONFIG_BINDING_MAX)
		return preset_fail_full(x, "buffer_pg", CONFIG_BINDING_MAX);
	c->buffer_pg[c->buffer_pg_count] = (struct buffer_pg_config){ .line = port->line,
								      .pg = pgs };
	name_copy(c->buffer_pg[c->buffer_pg_count].port, port->name);
	name_copy(c->buffer_pg[c->buffer_pg_count++].profile, profile);
	return 0;
}

int preset_bind_queues(struct preset_expansion *x, const struct port_config *port, uint8_t queues,
		       const char *profile)
{
	struct sw_config *c = x->out;

	if (queues == 0)
		return 0;
	if (c->buffer_queue_count == CONFIG_BINDING_MAX)
		return preset_fail_full(x, "buffer_queue", CONFIG_BINDING_MAX);
	c->buffer_queue[c->buffer_queue_count] = (struct buffer_queue_config){ .line = port->line,
									       .queue = queues };
	name_copy(c->buffer_queue[c->buffer_queue_count].port, port->name);
	name_copy(c->buffer_queue[c->buffer_queue_count++].profile, profile);
	return 0;
}

int preset_serve_queues(struct preset_expansion *x, const struct port_config *port, uint8_t queues,
			const char *scheduler, const char *wred)
{
	struct sw_config *c = x->out;

	if (queues == 0)
		return 0;
	if (c->queue_count == CONFIG_BINDING_MAX)
		return preset_fail_full(x, "queue", CONFIG_BINDING_MAX);
	c->queue[c->queue_count] = (struct queue_config){ .line = port->line, .queue = queues };
	name_copy(c->queue[c->queue_count].port, port->name);
	name_copy(c->queue[c->queue_count].scheduler, scheduler);
	name_copy(c->queue[c->queue_count++].wred_profile, wred);
	return 0;
}

int preset_add_scheduler(struct preset_expansion *x, const char *name, uint8_t weight)
{
	struct sw_config *c = x->out;

	for (uint32_t i = 0; i < c->scheduler_count; i++) {
		if (name_equal(c->scheduler[i].name, name))
			return 0;
	}
	if (c->scheduler_count == CONFIG_SCHEDULER_MAX)
		return preset_fail_full(x, "scheduler", CONFIG_SCHEDULER_MAX);
	c->scheduler[c->scheduler_count] = (struct scheduler_config){ .line = c->sw.line,
								      .type = CONFIG_SCHEDULER_DWRR,
								      .weight = weight };
	name_copy(c->scheduler[c->scheduler_count++].name, name);
	return 0;
}

// --- what the file has taken ------------------------------------------------------------------

static bool is_for(const char *row_port, const struct port_config *port)
{
	return name_equal(row_port, "all") || name_equal(row_port, port->name);
}

uint8_t preset_own_pgs(const struct sw_config *c, const struct port_config *port, uint8_t *lossless)
{
	const struct buffer_profile_config *profile;
	uint8_t bound = 0;

	*lossless = 0;
	for (uint32_t i = 0; i < c->buffer_pg_count; i++) {
		const struct buffer_pg_config *row = &c->buffer_pg[i];

		if (!is_for(row->port, port))
			continue;
		bound |= (uint8_t)row->pg;
		profile = preset_find_profile(c, row->profile);
		if (profile != NULL && profile->xoff != 0)
			*lossless |= (uint8_t)row->pg;
	}
	return bound;
}

uint8_t preset_own_buffer_queues(const struct sw_config *c, const struct port_config *port)
{
	uint8_t bound = 0;

	for (uint32_t i = 0; i < c->buffer_queue_count; i++) {
		if (is_for(c->buffer_queue[i].port, port))
			bound |= (uint8_t)c->buffer_queue[i].queue;
	}
	return bound;
}

uint8_t preset_own_queues(const struct sw_config *c, const struct port_config *port,
			  uint8_t *marked)
{
	uint8_t scheduled = 0;

	*marked = 0;
	for (uint32_t i = 0; i < c->queue_count; i++) {
		const struct queue_config *row = &c->queue[i];

		if (!is_for(row->port, port))
			continue;
		if (row->scheduler[0] != '\0')
			scheduled |= (uint8_t)row->queue;
		if (row->wred_profile[0] != '\0')
			*marked |= (uint8_t)row->queue;
	}
	return scheduled;
}

bool preset_has_watchdog(const struct sw_config *c, const struct port_config *port)
{
	for (uint32_t i = 0; i < c->pfc_wd_count; i++) {
		if (is_for(c->pfc_wd[i].port, port))
			return true;
	}
	return false;
}
