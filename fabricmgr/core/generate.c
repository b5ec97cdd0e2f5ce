// SPDX-License-Identifier: BSD-3-Clause
//
// Trees. A switch of level l is known by the part of the tree that it is the root of copies of, and
// by which copy it is. With w(l) parents of a switch of level l - 1 and m(l) children of one of
// level l, there are m(l+1) x m(l+2) x ... parts at level l and w(1) x ... x w(l) copies of each;
// copies of a part are numbered consecutively, and so are the parts of a larger one.

#include "fabricmgr/core/generate.h"

#include <errno.h>

#include "fabricmgr/core/generate_hosts.h"
#include "fabricmgr/core/label.h"

// One level while it is made.
struct layer {
	uint32_t first; // switch
	uint32_t parts;
	uint32_t copies;
	uint32_t children; // different ones, of each switch
	uint32_t parents;
};

struct tree {
	struct fabric *fabric;
	const struct generate_options *options;
	const struct generate_level *levels;
	struct layer layer[GENERATE_TIERS_MAX];
	uint32_t count;
	uint32_t cables;
};

static int fail(struct fabric_faults *faults, enum fabric_fault_kind kind, const char *object,
		uint64_t have, uint64_t want)
{
	fabric_fail(faults, kind, 0, object, "", have, want);
	return kind == FABRIC_FAULT_MEMORY ? -ENOMEM : -EINVAL;
}

static int check_level(const struct tree *tree, uint32_t l, struct fabric_faults *faults)
{
	const struct label tier = label_of("tier ", l + 1);
	const struct generate_level *level = &tree->levels[l];
	const bool top = l + 1 == tree->count;

	if (!top && level->up == 0)
		return fail(faults, FABRIC_FAULT_NO_UPLINKS, tier.text, level->down, 0);
	if (!top && (level->parallel == 0 || level->up % level->parallel != 0))
		return fail(faults, FABRIC_FAULT_PARALLEL, tier.text, level->up, level->parallel);
	if (l > 0 && (level->down == 0 || level->down % tree->levels[l - 1].parallel != 0))
		return fail(faults, FABRIC_FAULT_TOP_PARALLEL, tier.text, level->down,
			    tree->levels[l - 1].parallel);
	return 0;
}

// Sizes of all levels. False: more than a fabric may have.
static bool measure(struct tree *tree)
{
	uint64_t parts = 1, copies = 1, switches = 0, cables = 0;

	for (uint32_t l = tree->count; l-- > 0;) {
		struct layer *layer = &tree->layer[l];

		layer->children = l > 0 ? tree->levels[l].down / tree->levels[l - 1].parallel : 0;
		layer->parents = l + 1 < tree->count ?
					 tree->levels[l].up / tree->levels[l].parallel :
					 0;
		layer->parts = (uint32_t)parts;
		parts *= l > 0 ? layer->children : 1;
		if (parts > TOPO_SWITCH_MAX)
			return false;
	}
	for (uint32_t l = 0; l < tree->count; l++) {
		struct layer *layer = &tree->layer[l];

		layer->first = (uint32_t)switches;
		layer->copies = (uint32_t)copies;
		switches += layer->parts * copies;
		cables += layer->parts * copies * tree->levels[l].up;
		copies *= layer->parents > 0 ? layer->parents : 1;
		if (switches > TOPO_SWITCH_MAX || copies > TOPO_SWITCH_MAX ||
		    cables > UINT32_MAX / 4)
			return false;
	}
	tree->cables = (uint32_t)cables;
	return true;
}

static struct label name_switch(const struct tree *tree, uint32_t l, uint32_t number)
{
	static const char *const middle[] = { "leaf",   "spine",  "tier3-", "tier4-",
					      "tier5-", "tier6-", "tier7-", "tier8-" };
	const bool top = l > 0 && l + 1 == tree->count;
	const uint32_t pods = tree->count > 2 ? tree->layer[tree->count - 1].children : 1;
	const uint32_t size = tree->layer[l].parts * tree->layer[l].copies / pods;
	struct label label = { .len = 0 };

	if (top)
		return label_of(tree->count == 2 ? "spine" : "core", number + 1);
	if (tree->count > 2) {
		label_add(&label, "pod");
		label_number(&label, number / size + 1);
		label_add(&label, "-");
		number %= size;
	}
	label_add(&label, middle[l]);
	label_number(&label, number + 1);
	return label;
}

static int add_switches(struct tree *tree, uint32_t l)
{
	const struct layer *layer = &tree->layer[l];
	const uint32_t pods = tree->count > 2 && l + 1 < tree->count ?
				      tree->layer[tree->count - 1].children :
				      0;

	for (uint32_t i = 0; i < layer->parts * layer->copies; i++) {
		const struct label name = name_switch(tree, l, i);
		struct fabric_switch *sw = fabric_add_switch(tree->fabric, name.text);

		if (sw == NULL)
			return -ENOMEM;
		sw->level = (uint8_t)l;
		sw->port_count = (uint16_t)(tree->levels[l].down + tree->levels[l].up);
		if (pods > 0)
			sw->pod = (uint16_t)(i / (layer->parts * layer->copies / pods) + 1);
	}
	return 0;
}

// The cables from one switch up.
static int add_uplinks(struct tree *tree, uint32_t l, uint32_t number)
{
	const struct layer *layer = &tree->layer[l];
	const struct layer *above = &tree->layer[l + 1];
	const struct generate_level *level = &tree->levels[l];
	const struct generate_link *link = &tree->options->tier[l];
	const uint32_t part = number / layer->copies;
	const uint32_t copy = number % layer->copies;

	for (uint32_t i = 0; i < level->up; i++) {
		const uint32_t parent = i / level->parallel;
		const uint32_t to = above->first + part / above->children * above->copies +
				    copy * layer->parents + parent;
		const uint32_t port = part % above->children * level->parallel +
				      i % level->parallel;
		struct fabric_cable *cable = fabric_add_cable(tree->fabric, layer->first + number,
							      (uint16_t)(level->down + i), to,
							      (uint16_t)port);

		if (cable == NULL)
			return -ENOMEM;
		cable->speed_bps = link->speed_bps;
		cable->length_mm = link->length_mm;
		cable->weight = link->weight;
	}
	return 0;
}

static int add_level(struct tree *tree, uint32_t l)
{
	int rc = add_switches(tree, l);

	if (l == 0)
		return rc;
	for (uint32_t i = 0; rc == 0 && i < tree->layer[l - 1].parts * tree->layer[l - 1].copies;
	     i++)
		rc = add_uplinks(tree, l - 1, i);
	return rc;
}

int generate_clos(struct fabric *fabric, const struct generate_options *options,
		  const struct generate_level *levels, uint32_t level_count,
		  struct fabric_faults *faults)
{
	struct tree tree = {
		.fabric = fabric, .options = options, .levels = levels, .count = level_count
	};
	uint32_t hosts;
	int rc = 0;

	for (uint32_t l = 0; l < level_count; l++) {
		if (levels[l].down + levels[l].up > TOPO_DEGREE_MAX)
			return fail(faults, FABRIC_FAULT_TOO_LARGE, "ports of a switch",
				    levels[l].down + levels[l].up, TOPO_DEGREE_MAX);
		rc = check_level(&tree, l, faults);
		if (rc < 0)
			return rc;
	}
	if (!measure(&tree))
		return fail(faults, FABRIC_FAULT_TOO_LARGE, "switches", TOPO_SWITCH_MAX + 1u,
			    TOPO_SWITCH_MAX);
	fabric->kind = FABRIC_TREE;
	hosts = tree.layer[0].parts * tree.layer[0].copies * levels[0].down;
	if (hosts > FABRIC_HOST_MAX)
		return fail(faults, FABRIC_FAULT_TOO_LARGE, "hosts", hosts, FABRIC_HOST_MAX);
	rc = fabric_reserve(fabric,
			    tree.layer[level_count - 1].first + tree.layer[level_count - 1].copies,
			    tree.cables, hosts / options->attach, hosts);
	for (uint32_t l = 0; rc == 0 && l < level_count; l++)
		rc = add_level(&tree, l);
	if (rc < 0)
		return fail(faults, FABRIC_FAULT_MEMORY, fabric->name, 0, 0);
	return generate_hosts(fabric, options, 0, tree.layer[0].parts * tree.layer[0].copies,
			      levels[0].down, faults);
}

int generate_fat_tree(struct fabric *fabric, const struct generate_options *options, uint32_t k,
		      struct fabric_faults *faults)
{
	const struct generate_level levels[] = { { k / 2, k / 2, 1 },
						 { k / 2, k / 2, 1 },
						 { k, 0, 1 } };

	if (k < 2 || k % 2 != 0)
		return fail(faults, FABRIC_FAULT_ODD_K, "fat_tree", k, 0);
	return generate_clos(fabric, options, levels, 3, faults);
}

// Bandwidth of a leaf's hosts over that of so many links to each spine, in units of 2^-32; at most
// 2^20 links of 2^41 bits per second each.
static uint64_t ratio(const struct generate_options *options,
		      const struct generate_leaf_spine *shape, uint64_t parallel)
{
	const unsigned __int128 down = (unsigned __int128)shape->hosts * options->host.speed_bps;
	const uint64_t up = shape->spines * parallel * options->tier[0].speed_bps;

	return up > 0 ? (uint64_t)((down << 32) / up) : 0;
}

int generate_leaf_spine(struct fabric *fabric, const struct generate_options *options,
			const struct generate_leaf_spine *shape, struct fabric_faults *faults)
{
	struct generate_level levels[2] = { { .down = shape->hosts } };
	uint32_t parallel = shape->parallel > 0 ? shape->parallel : 1;

	while (shape->parallel == 0 && shape->oversubscription > 0 && parallel < TOPO_DEGREE_MAX &&
	       ratio(options, shape, parallel) > shape->oversubscription)
		parallel++;
	if (shape->oversubscription > 0 &&
	    ratio(options, shape, parallel) > shape->oversubscription)
		return fail(faults, FABRIC_FAULT_OVERSUBSCRIBED, "leaf_spine",
			    ratio(options, shape, parallel) * 100 >> 32,
			    shape->oversubscription * 100 >> 32);
	levels[0].up = shape->spines * parallel;
	levels[0].parallel = parallel;
	levels[1].down = shape->leaves * parallel;
	levels[1].parallel = 1;
	return generate_clos(fabric, options, levels, 2, faults);
}

struct generate_level generate_split(uint32_t radix, uint64_t oversubscription, uint32_t parallel)
{
	struct generate_level level = { .parallel = parallel };

	// The fewest up with (radix - up) <= oversubscription x up.
	while (level.up < radix &&
	       (uint64_t)(radix - level.up) << 32 > (unsigned __int128)oversubscription * level.up)
		level.up++;
	level.down = radix - level.up;
	return level;
}
