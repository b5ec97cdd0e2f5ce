// SPDX-License-Identifier: BSD-3-Clause
//
// A Torus: a switch at each place of a grid, a cable to the next one in each dimension, and one
// that closes each ring. A ring of fewer than three switches would be a pair of parallel cables, or
// a cable that leads back: there it is a mesh. Twisted, the cable that closes a ring comes out
// shifted in other dimensions.
//
// Ports of a switch: its hosts, then two per dimension, up and down, then the spines of a hybrid.

#include "fabricmgr/core/generate.h"

#include <errno.h>

#include "fabricmgr/core/generate_hosts.h"
#include "fabricmgr/core/label.h"

struct grid {
	struct fabric *fabric;
	const struct generate_options *options;
	const struct generate_torus *shape;
	uint32_t size; // switches of one pod
};

static void place_of(const struct grid *grid, uint32_t number, uint32_t place[FABRIC_DIMS_MAX])
{
	for (uint32_t d = 0; d < grid->shape->dim_count; d++) {
		place[d] = number % grid->shape->dims[d];
		number /= grid->shape->dims[d];
	}
}

// The switch behind the cable up of dimension d; *wrap: it closes the ring.
static uint32_t next_of(const struct grid *grid, uint32_t number, uint32_t d, bool *wrap)
{
	const struct generate_torus *shape = grid->shape;
	uint32_t place[FABRIC_DIMS_MAX] = { 0 };
	uint32_t next = 0;

	place_of(grid, number, place);
	place[d]++;
	*wrap = place[d] == shape->dims[d];
	for (uint32_t e = 0; *wrap && e < shape->dim_count; e++)
		place[e] += shape->shift[d][e];
	for (uint32_t e = shape->dim_count; e-- > 0;)
		next = next * shape->dims[e] + place[e] % shape->dims[e];
	return next;
}

static int add_switch(const struct grid *grid, uint32_t pod, uint32_t number)
{
	const struct generate_torus *shape = grid->shape;
	uint32_t place[FABRIC_DIMS_MAX] = { 0 };
	struct label name = { .len = 0 };
	struct fabric_switch *sw;

	place_of(grid, number, place);
	if (shape->pods > 0) {
		name = label_of("pod", pod + 1);
		label_add(&name, "-");
	}
	label_add(&name, "sw");
	for (uint32_t d = 0; d < shape->dim_count; d++)
		label_number(label_add(&name, "-"), place[d]);
	sw = fabric_add_switch(grid->fabric, name.text);
	if (sw == NULL)
		return -ENOMEM;
	sw->level = 0;
	sw->pod = (uint16_t)(shape->pods > 0 ? pod + 1 : 0);
	sw->has_place = true;
	for (uint32_t d = 0; d < shape->dim_count; d++)
		sw->place[d] = (uint16_t)place[d];
	return 0;
}

static int add_cable(const struct grid *grid, const struct generate_link *link, uint32_t a,
		     uint32_t a_port, uint32_t b, uint32_t b_port, bool wrap)
{
	struct fabric_cable *cable = fabric_add_cable(grid->fabric, a, (uint16_t)a_port, b,
						      (uint16_t)b_port);

	if (cable == NULL)
		return -ENOMEM;
	cable->speed_bps = link->speed_bps;
	cable->length_mm = link->length_mm;
	cable->weight = link->weight;
	cable->wrap = wrap;
	return 0;
}

// The cable up of one switch in dimension d, if there is one.
static int add_next(const struct grid *grid, uint32_t pod, uint32_t number, uint32_t d)
{
	const uint32_t port = grid->shape->hosts + 2 * d;
	const uint32_t first = pod * grid->size;
	bool wrap;
	const uint32_t next = next_of(grid, number, d, &wrap);

	if (wrap && grid->shape->dims[d] < 3)
		return 0;
	return add_cable(grid, &grid->options->tier[d], first + number, port, first + next,
			 port + (grid->shape->dims[d] > 2), wrap);
}

static int add_pod(const struct grid *grid, uint32_t pod)
{
	int rc = 0;

	for (uint32_t i = 0; rc == 0 && i < grid->size; i++)
		rc = add_switch(grid, pod, i);
	for (uint32_t i = 0; rc == 0 && i < grid->size * grid->shape->dim_count; i++)
		rc = add_next(grid, pod, i / grid->shape->dim_count, i % grid->shape->dim_count);
	return rc;
}

// Spines of a hybrid: each has a place for every gateway of every pod.
static int add_spine(const struct grid *grid, uint32_t number)
{
	const struct generate_torus *shape = grid->shape;
	const struct label name = label_of("spine", number + 1);
	const uint32_t port = shape->hosts + 2 * shape->dim_count + number * shape->parallel;
	const uint32_t at = grid->fabric->switch_count;
	struct fabric_switch *sw = fabric_add_switch(grid->fabric, name.text);
	int rc = 0;

	if (sw == NULL)
		return -ENOMEM;
	sw->level = 1;
	for (uint32_t i = 0; rc == 0 && i < shape->pods * shape->gateways * shape->parallel; i++) {
		const uint32_t gateway = i / shape->parallel;
		const uint32_t below = gateway / shape->gateways * grid->size +
				       gateway % shape->gateways * grid->size / shape->gateways;

		rc = add_cable(grid, &grid->options->tier[shape->dim_count], below,
			       port + i % shape->parallel, at, i, false);
	}
	return rc;
}

static int check(const struct generate_torus *shape, struct fabric_faults *faults)
{
	for (uint32_t i = 0; i < shape->dim_count * shape->dim_count; i++) {
		const uint32_t d = i / shape->dim_count;
		const uint32_t e = i % shape->dim_count;
		const struct label name = { .text = { "xyzabc"[d] } };

		if (shape->shift[d][e] == 0)
			continue;
		if (d == e || shape->dims[d] < 3)
			fabric_fail(faults, FABRIC_FAULT_TWIST, 0, name.text, "", 0, 0);
		else if (shape->shift[d][e] >= shape->dims[e])
			fabric_fail(faults, FABRIC_FAULT_TWIST_FAR, 0, name.text, "",
				    shape->shift[d][e], shape->dims[e]);
	}
	return faults->count > 0 ? -EINVAL : 0;
}

// How many switches and cables there are. False: more than a fabric may have.
static bool measure(struct grid *grid, uint32_t pods, uint32_t *cables)
{
	const struct generate_torus *shape = grid->shape;
	const uint64_t ports = (uint64_t)shape->hosts + 2ull * shape->dim_count +
			       (uint64_t)shape->spines * shape->parallel;
	uint64_t size = 1;

	for (uint32_t d = 0; d < shape->dim_count; d++) {
		size *= shape->dims[d];
		if (size > TOPO_SWITCH_MAX)
			return false;
	}
	grid->size = (uint32_t)size;
	*cables = (uint32_t)size * shape->dim_count * pods;
	return size * pods + shape->spines <= TOPO_SWITCH_MAX &&
	       size * pods * shape->hosts <= FABRIC_HOST_MAX && ports <= TOPO_DEGREE_MAX &&
	       (uint64_t)pods * shape->gateways * shape->parallel <= TOPO_DEGREE_MAX;
}

int generate_torus(struct fabric *fabric, const struct generate_options *options,
		   const struct generate_torus *shape, struct fabric_faults *faults)
{
	struct grid grid = { .fabric = fabric, .options = options, .shape = shape };
	const uint32_t pods = shape->pods > 0 ? shape->pods : 1;
	uint32_t cables;
	int rc = check(shape, faults);

	if (rc < 0)
		return rc;
	if (!measure(&grid, pods, &cables)) {
		fabric_fail(faults, FABRIC_FAULT_TOO_LARGE, 0, "switches", "", TOPO_SWITCH_MAX + 1u,
			    TOPO_SWITCH_MAX);
		return -EINVAL;
	}
	if (shape->pods > 0 && shape->gateways > grid.size) {
		fabric_fail(faults, FABRIC_FAULT_GATEWAYS, 0, "hybrid", "", shape->gateways,
			    grid.size);
		return -EINVAL;
	}
	fabric->kind = shape->pods > 0 ? FABRIC_HYBRID : FABRIC_TORUS;
	fabric->dim_count = shape->dim_count;
	for (uint32_t d = 0; d < shape->dim_count; d++) {
		fabric->dims[d] = shape->dims[d];
		for (uint32_t e = 0; e < shape->dim_count; e++)
			fabric->shift[d][e] = shape->shift[d][e];
	}
	rc = fabric_reserve(fabric, grid.size * pods + shape->spines, cables,
			    grid.size * pods * shape->hosts / options->attach,
			    grid.size * pods * shape->hosts);
	for (uint32_t i = 0; rc == 0 && i < pods; i++)
		rc = add_pod(&grid, i);
	for (uint32_t i = 0; rc == 0 && i < shape->spines; i++)
		rc = add_spine(&grid, i);
	if (rc == 0)
		return generate_hosts(fabric, options, 0, grid.size * pods, shape->hosts, faults);
	fabric_fail(faults, FABRIC_FAULT_MEMORY, 0, fabric->name, "", 0, 0);
	return rc;
}
