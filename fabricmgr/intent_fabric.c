// SPDX-License-Identifier: BSD-3-Clause
//
// The shape first, then what rows add, then the checks, then what rows change, then addresses: each
// step needs what is before it.

#include "fabricmgr/intent_fabric.h"

#include <errno.h>
#include <string.h>

#include "fabricmgr/core/address.h"
#include "fabricmgr/core/generate.h"
#include "fabricmgr/intent_rows.h"
#include "sys/fault.h"

enum { SENTENCE_BYTES = 256 };

void intent_faults(const struct fabric_faults *faults, const char *path, uint32_t line,
		   FILE *errors)
{
	for (uint32_t i = 0; i < faults->count && i < FABRIC_FAULTS_MAX; i++) {
		const struct fabric_fault *fault = &faults->fault[i];
		const uint32_t at = fault->line != 0 ? fault->line : line;
		char text[SENTENCE_BYTES];

		fault_render(text, sizeof(text), fabric_fault_texts[fault->kind], fault->object,
			     fault->detail, fault->have, fault->want);
		fprintf(errors, "%s:", path);
		if (at != 0)
			fprintf(errors, "%u:", at);
		fprintf(errors, " %s\n", text);
	}
	if (faults->count > FABRIC_FAULTS_MAX)
		fprintf(errors, "%s: %u more errors\n", path, faults->count - FABRIC_FAULTS_MAX);
}

// --- the shape --------------------------------------------------------------------------------

static uint32_t attach_of(const struct intent_fabric *top)
{
	if (top->attach == INTENT_SINGLE)
		return 1;
	return top->attach == INTENT_DUAL ? 2 : (uint32_t)top->rails;
}

static struct generate_options options_of(const struct intent *intent)
{
	const struct intent_fabric *top = &intent->fabric;
	const struct generate_link link = { .speed_bps = top->speed,
					    .length_mm = (uint32_t)top->length * 1000,
					    .weight = 1 };
	struct generate_options options = {
		.host = { .speed_bps = top->host_speed != CONFIG_UNSET ? top->host_speed :
									 top->speed,
			  .length_mm = (uint32_t)top->host_length * 1000 },
		.attach = attach_of(top),
		.rails = top->attach == INTENT_RAILS,
	};

	for (uint32_t i = 0; i < GENERATE_TIERS_MAX; i++)
		options.tier[i] = link;
	for (uint32_t i = 0; i < intent->tier_count; i++) {
		const struct intent_tier *row = &intent->tier[i];
		struct generate_link *tier = &options.tier[row->tier - 1];

		if (row->speed != CONFIG_UNSET)
			tier->speed_bps = row->speed;
		if (row->length != CONFIG_UNSET)
			tier->length_mm = (uint32_t)row->length * 1000;
		tier->weight = (uint16_t)row->weight;
	}
	return options;
}

static int make_leaf_spine(struct maker *maker, const struct generate_options *options,
			   struct fabric_faults *faults)
{
	const struct intent_leaf_spine *row = &maker->intent->leaf_spine[0];
	const struct generate_leaf_spine shape = {
		.leaves = (uint32_t)row->leaves,
		.spines = (uint32_t)row->spines,
		.hosts = (uint32_t)row->hosts_per_leaf,
		.parallel = row->parallel != CONFIG_UNSET ? (uint32_t)row->parallel : 0,
		.oversubscription = row->oversubscription != CONFIG_UNSET ? row->oversubscription :
									    0,
	};

	return generate_leaf_spine(maker->fabric, options, &shape, faults);
}

// One tier, either by its ports down and up or by radix.
static struct generate_level level_of(struct maker *maker, const struct intent_clos *row, bool top)
{
	const bool by_radix = row->radix != CONFIG_UNSET;
	const bool by_ports = row->down != CONFIG_UNSET;
	struct generate_level level = { .parallel = (uint32_t)row->parallel };

	if (by_radix == by_ports || (row->up != CONFIG_UNSET && !by_ports))
		maker_complain(maker, row->line, "clos.radix",
			       "a tier has either radix, or down with up");
	else if (by_radix && top)
		level.down = (uint32_t)row->radix;
	else if (by_radix)
		level = generate_split((uint32_t)row->radix, row->oversubscription,
				       (uint32_t)row->parallel);
	else
		level.down = (uint32_t)row->down;
	if (by_ports && row->up != CONFIG_UNSET)
		level.up = (uint32_t)row->up;
	if (top && level.up > 0)
		maker_complain(maker, row->line, "clos.up", "nothing is above the last tier");
	return level;
}

static int make_clos(struct maker *maker, const struct generate_options *options,
		     struct fabric_faults *faults)
{
	const uint32_t count = maker->intent->clos_count;
	struct generate_level levels[INTENT_CLOS_MAX];

	for (uint32_t i = 0; i < count; i++)
		levels[i] = level_of(maker, &maker->intent->clos[i], i + 1 == count);
	if (maker->error_count > 0)
		return -EINVAL;
	return generate_clos(maker->fabric, options, levels, count, faults);
}

static bool set_dims(struct maker *maker, uint32_t line, const char *where,
		     const struct config_numbers *dims, struct generate_torus *shape)
{
	if (dims->count > FABRIC_DIMS_MAX) {
		maker_complain(maker, line, where, "%u dimensions; allowed: %d", dims->count,
			       FABRIC_DIMS_MAX);
		return false;
	}
	shape->dim_count = dims->count;
	memcpy(shape->dims, dims->value, dims->count * sizeof(shape->dims[0]));
	for (uint32_t i = 0; i < maker->intent->twist_count; i++) {
		const struct intent_twist *row = &maker->intent->twist[i];

		if (row->wrap >= dims->count || row->along >= dims->count) {
			maker_complain(maker, row->line, "twists.wrap",
				       "there are %u dimensions, beginning with x", dims->count);
			return false;
		}
		shape->shift[row->wrap][row->along] = (uint32_t)row->by;
	}
	return true;
}

static int make_torus(struct maker *maker, const struct generate_options *options,
		      struct fabric_faults *faults)
{
	const struct intent_torus *row = &maker->intent->torus[0];
	struct generate_torus shape = { .hosts = (uint32_t)row->hosts_per_switch };

	if (!set_dims(maker, row->line, "torus.dims", &row->dims, &shape))
		return -EINVAL;
	return generate_torus(maker->fabric, options, &shape, faults);
}

static int make_hybrid(struct maker *maker, const struct generate_options *options,
		       struct fabric_faults *faults)
{
	const struct intent_hybrid *row = &maker->intent->hybrid[0];
	struct generate_torus shape = { .hosts = (uint32_t)row->hosts_per_switch,
					.pods = (uint32_t)row->pods,
					.spines = (uint32_t)row->spines,
					.parallel = (uint32_t)row->parallel };
	uint64_t size = 1;

	if (!set_dims(maker, row->line, "hybrid.dims", &row->dims, &shape))
		return -EINVAL;
	for (uint32_t d = 0; d < shape.dim_count && size <= TOPO_SWITCH_MAX; d++)
		size *= shape.dims[d];
	shape.gateways = row->gateways != CONFIG_UNSET ? (uint32_t)row->gateways : (uint32_t)size;
	return generate_torus(maker->fabric, options, &shape, faults);
}

static int make_fat_tree(struct maker *maker, const struct generate_options *options,
			 struct fabric_faults *faults)
{
	return generate_fat_tree(maker->fabric, options, (uint32_t)maker->intent->fat_tree[0].k,
				 faults);
}

struct shape {
	const char *name;
	int (*make)(struct maker *maker, const struct generate_options *options,
		    struct fabric_faults *faults);
	uint32_t count;
	uint32_t line;
};

// The one shape that is given; NULL: none, or a complaint.
static const struct shape *choose(struct maker *maker, const struct shape *shapes, uint32_t count)
{
	const struct intent *intent = maker->intent;
	const struct shape *chosen = NULL;

	for (uint32_t i = 0; i < count; i++) {
		if (shapes[i].count > 0 && chosen != NULL)
			maker_complain(maker, shapes[i].line, shapes[i].name,
				       "the fabric has a shape already, %s in line %u",
				       chosen->name, chosen->line);
		if (shapes[i].count > 0 && chosen == NULL)
			chosen = &shapes[i];
	}
	if (chosen == NULL && intent->link_count + intent->node_count == 0)
		maker_complain(maker, 0, "fabric",
			       "has no shape; allowed: fat_tree, leaf_spine, clos, torus, hybrid, "
			       "or links");
	for (uint32_t i = 0; i < intent->twist_count; i++) {
		if (intent->torus_count + intent->hybrid_count == 0)
			maker_complain(maker, intent->twist[i].line, "twists",
				       "only a torus is twisted");
	}
	return maker->error_count == 0 ? chosen : NULL;
}

static int make_shape(struct maker *maker)
{
	const struct intent *intent = maker->intent;
	const struct shape shapes[] = {
		{ "fat_tree", make_fat_tree, intent->fat_tree_count, intent->fat_tree[0].line },
		{ "leaf_spine", make_leaf_spine, intent->leaf_spine_count,
		  intent->leaf_spine[0].line },
		{ "clos", make_clos, intent->clos_count, intent->clos[0].line },
		{ "torus", make_torus, intent->torus_count, intent->torus[0].line },
		{ "hybrid", make_hybrid, intent->hybrid_count, intent->hybrid[0].line },
	};
	const struct generate_options options = options_of(intent);
	const struct shape *shape = choose(maker, shapes,
					   (uint32_t)(sizeof(shapes) / sizeof(shapes[0])));
	struct fabric_faults faults = { .count = 0 };
	int rc;

	if (maker->error_count > 0)
		return -EINVAL;
	maker->by_mention = shape == NULL && intent->node_count == 0;
	if (shape == NULL)
		return 0;
	rc = shape->make(maker, &options, &faults);
	intent_faults(&faults, maker->path, shape->line, maker->errors);
	maker->made_hosts = maker->fabric->host_count;
	maker->attach = options.attach;
	return rc;
}

// --- all of it --------------------------------------------------------------------------------

// Switches that say how many ports they have.
static void set_ports(struct maker *maker)
{
	for (uint32_t i = 0; i < maker->intent->node_count; i++) {
		const struct intent_node *row = &maker->intent->node[i];
		const uint32_t at = fabric_find_switch(maker->fabric, row->name);
		struct fabric_switch *sw = &maker->fabric->switches[at];

		if (row->ports == CONFIG_UNSET)
			continue;
		if (sw->port_count > row->ports)
			maker_complain(maker, row->line, "switches.ports",
				       "%s has %u ports in use, of %u", sw->name, sw->port_count,
				       (uint32_t)row->ports);
		sw->port_count = (uint16_t)row->ports;
	}
}

static bool add_rows(struct maker *maker)
{
	if (!maker_nodes(maker) || !maker_links(maker))
		return false;
	maker->by_mention = false;
	if (!maker_members(maker) || !maker_uplinks(maker) || !maker_tenants(maker))
		return false;
	maker_roots(maker);
	set_ports(maker);
	if (maker->intent->fabric.subnet.family == IP_V6)
		maker_complain(maker, 0, "subnet", "is of IPv6; that is subnet6");
	if (maker->intent->fabric.subnet6.family == IP_V4)
		maker_complain(maker, 0, "subnet6", "is of IPv4; that is subnet");
	return true;
}

static int finish(struct maker *maker)
{
	const struct intent_fabric *top = &maker->intent->fabric;
	const struct address_plan addresses = { .subnet = top->subnet,
						.subnet6 = top->subnet6,
						.per_leaf = top->addressing == INTENT_PER_LEAF };
	struct fabric_faults faults = { .count = 0 };
	int rc = fabric_finish(maker->fabric, maker->scratch, &faults);

	if (rc == 0 && !maker_cables(maker))
		rc = -ENOMEM;
	if (rc == 0 && maker->error_count == 0)
		rc = fabric_address(maker->fabric, &addresses, maker->scratch, &faults);
	intent_faults(&faults, maker->path, 0, maker->errors);
	return rc == 0 && maker->error_count > 0 ? -EINVAL : rc;
}

int intent_fabric(const struct intent *intent, const char *path, struct arena *keep,
		  struct arena *scratch, struct fabric *fabric, FILE *errors)
{
	struct maker maker = { .intent = intent,
			       .path = path,
			       .fabric = fabric,
			       .scratch = scratch,
			       .errors = errors };
	int rc = fabric_init(fabric, keep);

	if (rc == 0)
		rc = make_shape(&maker);
	if (rc == 0 && !add_rows(&maker))
		rc = -ENOMEM;
	if (rc == 0 && maker.error_count > 0)
		rc = -EINVAL;
	if (rc == 0)
		rc = finish(&maker);
	if (rc == 0) {
		fabric->name = fabric_text(fabric, intent->fabric.name);
		rc = fabric->name != NULL ? 0 : -ENOMEM;
	}
	if (rc == -ENOMEM)
		fprintf(errors, "%s: memory is short\n", path);
	if (maker.error_count > MAKER_ERRORS_MAX)
		fprintf(errors, "%s: %u more errors\n", path, maker.error_count - MAKER_ERRORS_MAX);
	return rc;
}
