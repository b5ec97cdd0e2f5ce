// SPDX-License-Identifier: BSD-3-Clause
//
// A plan owns all that it builds until live_apply() has swapped; then it owns what was replaced and
// frees that instead.

#include "dataplane/live.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "dataplane/dpdk/swap.h"
#include "dataplane/headroom.h"
#include "dataplane/live_port.h"
#include "dataplane/metrics.h"
#include "dataplane/port_keeper.h"
#include "dataplane/routes.h"
#include "dataplane/steering.h"
#include "sys/fault.h"
#include "sys/log.h"

enum { LINE_BYTES = 256 };

struct live_plan {
	struct workers *workers;
	struct instance *in;
	struct sw_config *written;
	struct sw_config *config; // what that means
	struct sw_profile *profile;
	struct sw_tables *tables;
	struct port *port;       // port_count, as port_prepare() left them
	struct live_port *steps; // port_count
	uint32_t port_count;
	struct pool_need need;
	struct swap swap;
	uint32_t drop_count;
	char (*drops)[LINE_BYTES]; // room for port_count and SWAP_LOSSES_MAX
};

uint32_t live_drop_count(const struct live_plan *plan)
{
	return plan->drop_count;
}

const char *live_drop(const struct live_plan *plan, uint32_t at)
{
	return plan->drops[at];
}

void live_discard(struct live_plan *plan)
{
	if (plan == NULL)
		return;
	free(plan->drops);
	free(plan->steps);
	free(plan->port);
	free(plan->tables);
	free(plan->profile);
	free(plan->config);
	free(plan->written);
	free(plan);
}

// --- what would be dropped --------------------------------------------------------------------

static void note_step(struct live_plan *plan, uint32_t i)
{
	const struct live_port *step = &plan->steps[i];
	const char *name = plan->config->port[i].name;
	char *line = plan->drops[plan->drop_count];

	if (!plan->in->io[i].active)
		return;
	switch (step->step) {
	case LIVE_PORT_STAYS: return;
	case LIVE_PORT_REOPENS:
		snprintf(line, LINE_BYTES,
			 "port %s: its device is closed and opened again (%s), what is queued and "
			 "on its way is dropped",
			 name, step->why);
		break;
	case LIVE_PORT_CLOSES:
		snprintf(line, LINE_BYTES, "port %s: admin down drops what is queued", name);
		break;
	}
	plan->drop_count++;
}

// Whether a port loses what it holds by what is done to its device.
static bool ports_drop(const struct live_plan *plan)
{
	for (uint32_t i = 0; i < plan->port_count; i++) {
		if (plan->in->io[i].active && plan->steps[i].step != LIVE_PORT_STAYS)
			return true;
	}
	return false;
}

static void note_loss(struct live_plan *plan, const struct sw_loss *loss)
{
	char part[16];

	snprintf(part, sizeof(part), "%u", loss->part);
	fault_render(plan->drops[plan->drop_count++], LINE_BYTES, sw_loss_texts[loss->id],
		     loss->object, part, loss->have, loss->want);
}

static void list_drops(struct live_plan *plan)
{
	const uint32_t count = plan->swap.loss_count;

	plan->drop_count = 0;
	for (uint32_t i = 0; i < plan->port_count; i++)
		note_step(plan, i);
	for (uint32_t i = 0; i < count && i < SWAP_LOSSES_MAX; i++)
		note_loss(plan, &plan->swap.loss[i]);
	if (count > SWAP_LOSSES_MAX)
		snprintf(plan->drops[plan->drop_count++], LINE_BYTES, "and %u more",
			 count - SWAP_LOSSES_MAX);
}

static void send_swap(struct live_plan *plan, bool judge, bool force)
{
	struct message message = { .kind = MESSAGE_SWAP, .instance = plan->in };

	plan->swap.profile = plan->profile;
	plan->swap.tables = plan->tables;
	plan->swap.judge = judge;
	plan->swap.force = force;
	plan->swap.done = false;
	message.swap = &plan->swap;
	workers_call(plan->workers, &message);
	list_drops(plan);
}

// --- planning ---------------------------------------------------------------------------------

static int plan_ports(struct live_plan *plan, const struct live_next *next, FILE *errors)
{
	int rc = live_check_restart(plan->in, next, errors);

	for (uint32_t i = 0; i < plan->port_count && rc == 0; i++) {
		if (steering_check(&plan->port[i], next->path, errors) != 0 ||
		    live_plan_port(plan->in, next, i, &plan->steps[i], errors) != 0)
			rc = -EINVAL;
	}
	return rc;
}

// Packet buffers were made at start. What links that are now impaired, or longer rings, may hold
// beyond that, the buffer gives up.
static int lend_descriptors(struct live_plan *plan, const char *path, FILE *errors)
{
	const uint32_t have = plan->in->need.data;

	if (plan->need.data <= have ||
	    profile_lend_descriptors(plan->profile, plan->need.data - have))
		return 0;
	fprintf(errors,
		"%s: %u packet buffers (descriptors, rings and limits of impairments) need a "
		"restart: %u were made at start\n",
		path, plan->need.data, have);
	return -EINVAL;
}

// Devices belong to one switch of the process.
static int check_devices(const struct live_plan *plan, const char *path, FILE *errors)
{
	// The first lcore has a part in every switch.
	const struct worker *first = &plan->workers->worker[0];
	int rc = 0;

	for (uint32_t i = 0; i < first->instance_count; i++) {
		if (first->instance[i] != plan->in)
			rc |= instance_check_devices(first->instance[i], plan->config, path,
						     errors);
	}
	return rc != 0 ? -EINVAL : 0;
}

static int build(struct live_plan *plan, const char *path, FILE *errors)
{
	struct live_next next = { .need = &plan->need, .path = path };
	int rc = instance_build(plan->written, path, errors, &plan->config, &plan->profile,
				&plan->tables);

	if (rc == 0)
		rc = metrics_check(plan->config, path, errors);
	if (rc == 0)
		rc = check_devices(plan, path, errors);
	if (rc == 0)
		rc = instance_prepare_ports(plan->config, plan->profile, path, errors, &plan->port,
					    &plan->need);
	if (rc != 0)
		return rc;
	plan->port_count = plan->config->port_count;
	plan->steps = calloc(plan->port_count, sizeof(*plan->steps));
	plan->drops = calloc(plan->port_count + SWAP_LOSSES_MAX + 1, LINE_BYTES);
	if (plan->steps == NULL || plan->drops == NULL)
		return -ENOMEM;
	next.config = plan->config;
	next.pf = plan->profile;
	next.port = plan->port;
	rc = plan_ports(plan, &next, errors);
	return rc == 0 ? lend_descriptors(plan, path, errors) : rc;
}

int live_prepare(struct workers *workers, struct instance *in, const struct sw_config *wanted,
		 const char *path, FILE *errors, struct live_plan **out)
{
	struct live_plan *plan = calloc(1, sizeof(*plan));
	int rc = -ENOMEM;

	*out = NULL;
	if (plan == NULL)
		return -ENOMEM;
	plan->workers = workers;
	plan->in = in;
	plan->written = malloc(sizeof(*plan->written));
	if (plan->written != NULL) {
		memcpy(plan->written, wanted, sizeof(*plan->written));
		rc = build(plan, path, errors);
	}
	if (rc != 0) {
		live_discard(plan);
		return rc;
	}
	port_keeper_adopt_rates(in->keeper, plan->profile);
	send_swap(plan, true, false);
	*out = plan;
	return 0;
}

// --- applying ---------------------------------------------------------------------------------

static uint32_t mtu_now(const struct live_plan *plan, uint32_t i)
{
	return (uint32_t)plan->in->port[i].config->mtu;
}

// Devices take longer frames before the switch sends them.
static int lengthen_mtus(const struct live_plan *plan, FILE *errors)
{
	for (uint32_t i = 0; i < plan->port_count; i++) {
		const struct port *port = &plan->in->port[i];
		const uint32_t mtu = plan->steps[i].mtu;

		if (mtu <= mtu_now(plan, i) || port_set_mtu(&plan->in->port[i], mtu) == 0)
			continue;
		fprintf(errors, "port %s: its device (%s) refuses an MTU of %u\n",
			port->config->name, port->devargs, mtu);
		return -EINVAL;
	}
	return 0;
}

// And stop to take them when it has stopped.
static void shorten_mtus(const struct live_plan *plan)
{
	for (uint32_t i = 0; i < plan->port_count; i++) {
		const uint32_t mtu = plan->steps[i].mtu;

		if (mtu != 0 && mtu < mtu_now(plan, i))
			port_set_mtu(&plan->in->port[i], mtu);
	}
}

static void restore_mtus(const struct live_plan *plan)
{
	for (uint32_t i = 0; i < plan->port_count; i++) {
		if (plan->steps[i].mtu > mtu_now(plan, i))
			port_set_mtu(&plan->in->port[i], mtu_now(plan, i));
	}
}

// Whether what headroom_check() looks at has changed.
static bool is_checked(const struct live_plan *plan, uint32_t i)
{
	const struct instance *in = plan->in;
	const struct port_config *a = in->port[i].config;
	const struct port_config *b = &plan->config->port[i];

	return in->io[i].active &&
	       (memcmp(in->profile->port[i].pg, plan->profile->port[i].pg,
		       sizeof(plan->profile->port[i].pg)) != 0 ||
		a->mtu != b->mtu || a->cable != b->cable || a->peer_response != b->peer_response ||
		a->peer_ring != b->peer_ring || a->pause != b->pause || a->speed != b->speed);
}

static void follow_ports(struct live_plan *plan, struct port_set *check)
{
	struct instance *in = plan->in;

	shorten_mtus(plan);
	for (uint32_t i = 0; i < plan->port_count; i++) {
		if (is_checked(plan, i))
			port_set_add(check, (port_t){ (uint16_t)i });
		if (plan->steps[i].step != LIVE_PORT_STAYS)
			port_keeper_close(in->keeper, i);
		plan->port[i].config = &plan->config->port[i];
		live_adopt_port(&in->port[i], &plan->port[i], &plan->steps[i]);
	}
}

// The lcores have the new ones: so do we, and the plan keeps the old ones, to free them.
static void exchange(struct live_plan *plan)
{
	struct instance *in = plan->in;
	struct sw_config *written = in->written;
	struct sw_config *config = in->config;
	struct sw_profile *profile = in->profile;
	struct sw_tables *tables = in->tables;

	in->written = plan->written;
	in->config = plan->config;
	in->profile = plan->profile;
	in->tables = plan->tables;
	in->generation++;
	plan->written = written;
	plan->config = config;
	plan->profile = profile;
	plan->tables = tables;
}

static void follow_routes(struct instance *in, struct routes *first)
{
	if (in->tables == NULL) {
		routes_close(in->routes);
		in->routes = NULL;
		return;
	}
	if (in->routes == NULL)
		in->routes = first;
	routes_follow(in->routes);
}

static void finish(struct live_plan *plan, struct routes *first)
{
	struct instance *in = plan->in;
	struct port_set check = { 0 };

	free(plan->swap.more);
	plan->swap.more = NULL;
	in->swap_ns = plan->swap.took_ns;
	follow_ports(plan, &check);
	exchange(plan);
	follow_routes(in, first);
	PORT_SET_FOR_EACH(port, &check)
		headroom_check(in, port.v);
	live_discard(plan);
}

// What must be there before the lcores are asked.
static int gather(struct live_plan *plan, struct routes **first)
{
	struct instance *in = plan->in;
	const struct neighbor_view next = { plan->config, plan->profile, plan->tables };
	const size_t more = sw_more_bytes(in->sw, plan->profile);

	if (more != 0) {
		plan->swap.more = aligned_alloc(64, more);
		if (plan->swap.more == NULL)
			return -ENOMEM;
	}
	if (plan->tables == NULL)
		return 0;
	routes_carry(in, &next, plan->tables);
	if (in->routes != NULL)
		return 0;
	*first = routes_open(plan->workers, in);
	return *first == NULL ? -ENOMEM : 0;
}

int live_apply(struct live_plan *plan, bool force, FILE *errors)
{
	struct instance *in = plan->in;
	struct routes *first = NULL;
	int rc = gather(plan, &first);

	if (rc == 0)
		rc = lengthen_mtus(plan, errors);
	if (rc == 0) {
		send_swap(plan, !force && ports_drop(plan), force);
		if (!plan->swap.done)
			rc = -EBUSY;
	}
	if (rc == 0) {
		finish(plan, first);
		return 0;
	}
	restore_mtus(plan);
	free(plan->swap.more);
	plan->swap.more = NULL;
	routes_close(first);
	if (rc != -EBUSY && rc != -EINVAL)
		log_err("%s: the configuration is not applied: %s", in->config->sw.name,
			strerror(-rc));
	return rc;
}
