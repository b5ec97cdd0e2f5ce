// SPDX-License-Identifier: BSD-3-Clause
//
// Coordinates from links alone. In a Torus two neighbours of a switch that lie in different
// dimensions have one more common neighbour, the fourth corner of their square; two that lie
// opposite each other have none, but in a ring of 4, which is as good as two dimensions of 2.
//
// From an origin whose neighbours can be told apart, directions are carried over squares and
// straight on. A switch reached on two ways with different coordinates says how long a ring is. The
// result is checked link by link; a damaged surrounding of the origin makes the next one be tried.

#include "routing/torus.h"

#include <string.h>

enum {
	DIM_MAX = 2 * TORUS_DIMS_MAX, // those of 2 included
	NEIGHBOR_MAX = 2 * TORUS_DIMS_MAX,
	NONE = 0xff,
	TRY_MAX = 16, // origins
};

// A direction is dimension x 2 + 1 for the - side; a dimension of 2 has only the + side.
struct around {
	uint32_t at[NEIGHBOR_MAX];
	uint8_t count;
	uint8_t direction[NEIGHBOR_MAX];
	bool placed;
	bool queued;
	int16_t place[DIM_MAX];
};

struct finder {
	const struct topo *topo;
	struct around *around; // [switch_count]
	uint32_t *queue;       // [switch_count], a ring
	uint32_t head;
	uint32_t waiting;
	uint32_t dim_count;
	uint32_t length[DIM_MAX]; // 2, of a ring, or 0: not known to close
	bool failed;
	uint32_t failed_at;
};

// Where a switch is among the neighbours, or their count.
static uint32_t with_switch(const struct around *a, uint32_t at)
{
	uint32_t i = 0;

	while (i < a->count && a->at[i] != at)
		i++;
	return i;
}

// Each neighbour once. False: there are too many.
static bool read_neighbors(const struct topo *topo, uint32_t at, struct around *a)
{
	a->count = 0;
	for (uint32_t link = topo->link_first[at]; link < topo->link_first[at + 1]; link++) {
		const uint32_t far = topo_far(topo, link);

		if (with_switch(a, far) < a->count)
			continue;
		if (a->count == NEIGHBOR_MAX)
			return false;
		a->at[a->count++] = far;
	}
	return true;
}

// A common neighbour of two switches other than `but`. TOPO_NONE: there is none, or several.
static uint32_t fourth_corner(const struct finder *f, uint32_t a, uint32_t b, uint32_t but,
			      uint32_t *count)
{
	const struct around *x = &f->around[a];
	const struct around *y = &f->around[b];
	uint32_t corner = TOPO_NONE;

	*count = 0;
	for (uint32_t i = 0; i < x->count; i++) {
		if (x->at[i] == but || with_switch(y, x->at[i]) == y->count)
			continue;
		corner = x->at[i];
		++*count;
	}
	return *count == 1 ? corner : TOPO_NONE;
}

static bool opposite(const struct finder *f, uint32_t a, uint32_t b, uint32_t between)
{
	uint32_t count;

	fourth_corner(f, a, b, between, &count);
	return count == 0;
}

static uint8_t reverse(const struct finder *f, uint8_t direction)
{
	return f->length[direction / 2] == 2 ? direction : direction ^ 1;
}

static uint32_t with_direction(const struct around *a, uint8_t direction)
{
	for (uint32_t i = 0; i < a->count; i++) {
		if (a->direction[i] == direction)
			return i;
	}
	return NONE;
}

static void queue(struct finder *f, uint32_t at)
{
	if (f->around[at].queued)
		return;
	f->around[at].queued = true;
	f->queue[(f->head + f->waiting++) % f->topo->switch_count] = at;
}

static void fail(struct finder *f, uint32_t at)
{
	if (!f->failed)
		f->failed_at = at;
	f->failed = true;
}

static uint32_t divisor(uint32_t a, uint32_t b)
{
	while (b != 0) {
		const uint32_t rest = a % b;

		a = b;
		b = rest;
	}
	return a;
}

// What a switch's coordinates are, and what they would be by another way: the difference is whole
// rings.
static void learn_lengths(struct finder *f, uint32_t at, const int16_t *other)
{
	for (uint32_t d = 0; d < f->dim_count; d++) {
		const int32_t apart = f->around[at].place[d] - other[d];

		if (apart == 0)
			continue;
		if (f->length[d] == 2) {
			fail(f, at);
			continue;
		}
		f->length[d] = divisor(f->length[d], (uint32_t)(apart < 0 ? -apart : apart));
		if (f->length[d] < TORUS_RING_MIN)
			fail(f, at);
	}
}

// The link from a placed switch to its i-th neighbour has a direction: so has the way back.
static void direct(struct finder *f, uint32_t at, uint32_t i, uint8_t direction)
{
	struct around *a = &f->around[at];
	struct around *far = &f->around[a->at[i]];
	const uint32_t back = with_switch(far, at);
	const uint8_t reversed = reverse(f, direction);
	int16_t place[DIM_MAX];

	if (a->direction[i] == direction)
		return;
	if (a->direction[i] != NONE || far->direction[back] != NONE ||
	    with_direction(a, direction) != NONE || with_direction(far, reversed) != NONE) {
		fail(f, at);
		return;
	}
	a->direction[i] = direction;
	far->direction[back] = reversed;
	memcpy(place, a->place, sizeof(place));
	if (f->length[direction / 2] == 2)
		place[direction / 2] ^= 1;
	else
		place[direction / 2] = (int16_t)(place[direction / 2] + (direction % 2 ? -1 : 1));
	if (far->placed)
		learn_lengths(f, a->at[i], place);
	else
		memcpy(far->place, place, sizeof(place));
	far->placed = true;
	queue(f, at);
	queue(f, a->at[i]);
}

// The square over two neighbours in different dimensions.
static void close_square(struct finder *f, uint32_t at, uint32_t i, uint32_t k)
{
	const struct around *a = &f->around[at];
	const uint8_t u = a->direction[i];
	const uint8_t v = a->direction[k];
	struct around *x = &f->around[a->at[i]];
	struct around *y = &f->around[a->at[k]];
	uint32_t corner, count;

	if (u == NONE || v == NONE || u / 2 == v / 2 ||
	    (with_direction(x, v) != NONE && with_direction(y, u) != NONE))
		return;
	corner = fourth_corner(f, a->at[i], a->at[k], at, &count);
	if (corner == TOPO_NONE)
		return;
	direct(f, a->at[i], with_switch(x, corner), v);
	direct(f, a->at[k], with_switch(y, corner), u);
}

// The neighbour that lies opposite one whose direction is known, if only one can.
static void go_straight(struct finder *f, uint32_t at, uint32_t i)
{
	const struct around *a = &f->around[at];
	uint32_t ahead = NONE;

	if (a->direction[i] == NONE || f->length[a->direction[i] / 2] == 2 ||
	    with_direction(a, a->direction[i] ^ 1) != NONE)
		return;
	for (uint32_t k = 0; k < a->count; k++) {
		if (a->direction[k] != NONE || !opposite(f, a->at[i], a->at[k], at))
			continue;
		if (ahead != NONE)
			return;
		ahead = k;
	}
	if (ahead != NONE)
		direct(f, at, ahead, a->direction[i] ^ 1);
}

// A neighbour that has got its coordinates otherwise.
static void look_beside(struct finder *f, uint32_t at, uint32_t i)
{
	const struct around *a = &f->around[at];
	const struct around *far = &f->around[a->at[i]];
	uint32_t differ = 0;
	uint8_t direction = NONE;

	if (a->direction[i] != NONE || !far->placed)
		return;
	for (uint32_t d = 0; d < f->dim_count; d++) {
		const int32_t apart = far->place[d] - a->place[d];

		differ += apart != 0;
		if (apart == 1 || (apart == -1 && f->length[d] == 2))
			direction = (uint8_t)(2 * d);
		else if (apart == -1)
			direction = (uint8_t)(2 * d + 1);
	}
	if (differ == 1 && direction != NONE)
		direct(f, at, i, direction);
}

static void look_around(struct finder *f, uint32_t at)
{
	const uint32_t count = f->around[at].count;

	for (uint32_t i = 0; i < count; i++)
		look_beside(f, at, i);
	for (uint32_t i = 0; i < count; i++) {
		for (uint32_t k = i + 1; k < count; k++)
			close_square(f, at, i, k);
	}
	for (uint32_t i = 0; i < count; i++)
		go_straight(f, at, i);
}

static void spread(struct finder *f)
{
	while (f->waiting > 0 && !f->failed) {
		const uint32_t at = f->queue[f->head];

		f->head = (f->head + 1) % f->topo->switch_count;
		f->waiting--;
		f->around[at].queued = false;
		look_around(f, at);
	}
}

// The neighbour that may lie opposite the i-th, NONE when it has none. False: there are several.
static bool find_partner(const struct finder *f, uint32_t origin, uint32_t i, uint32_t *partner)
{
	const struct around *a = &f->around[origin];

	*partner = NONE;
	for (uint32_t k = 0; k < a->count; k++) {
		if (k == i || !opposite(f, a->at[i], a->at[k], origin))
			continue;
		if (*partner != NONE)
			return false;
		*partner = k;
	}
	return true;
}

// Pairs the neighbours of the origin.
static bool begin_at(struct finder *f, uint32_t origin)
{
	struct around *a = &f->around[origin];
	uint32_t partner[NEIGHBOR_MAX];

	for (uint32_t i = 0; i < a->count; i++) {
		if (!find_partner(f, origin, i, &partner[i]))
			return false;
	}
	f->dim_count = 0;
	a->placed = true;
	if (a->count == 0)
		f->length[f->dim_count++] = 1;
	for (uint32_t i = 0; i < a->count; i++) {
		const uint32_t d = f->dim_count;

		if (partner[i] != NONE && partner[i] < i)
			continue;
		f->dim_count++;
		f->length[d] = partner[i] == NONE ? 2 : 0;
		direct(f, origin, i, (uint8_t)(2 * d));
		if (partner[i] != NONE)
			direct(f, origin, partner[i], (uint8_t)(2 * d + 1));
	}
	return true;
}

static void forget(struct finder *f)
{
	for (uint32_t s = 0; s < f->topo->switch_count; s++) {
		struct around *a = &f->around[s];

		memset(a->direction, NONE, sizeof(a->direction));
		memset(a->place, 0, sizeof(a->place));
		a->placed = false;
		a->queued = false;
	}
	f->head = 0;
	f->waiting = 0;
	f->failed = false;
}

// Coordinates from 0 on. False: some switch has none.
static bool settle_dim(struct finder *f, uint32_t d)
{
	int32_t low = INT16_MAX;
	int32_t high = INT16_MIN;

	for (uint32_t s = 0; s < f->topo->switch_count; s++) {
		const struct around *a = &f->around[s];

		if (!a->placed) {
			fail(f, s);
			return false;
		}
		low = a->place[d] < low ? a->place[d] : low;
		high = a->place[d] > high ? a->place[d] : high;
	}
	if (f->length[d] == 0)
		f->length[d] = (uint32_t)(high - low + 1);
	for (uint32_t s = 0; s < f->topo->switch_count; s++) {
		int16_t *place = &f->around[s].place[d];

		*place = (int16_t)((uint32_t)(*place - low) % f->length[d]);
	}
	return true;
}

static void write_dim(const struct finder *f, uint32_t d, uint32_t with, struct torus_shape *shape)
{
	const uint32_t to = shape->dim_count++;

	shape->dims[to] = with == NONE ? f->length[d] : 4;
	for (uint32_t s = 0; s < f->topo->switch_count; s++) {
		const int16_t *place = f->around[s].place;

		// Around the square of two dimensions of 2: 00, 01, 11, 10.
		shape->place[s][to] = (uint16_t)(with == NONE  ? place[d] :
						 place[d] == 0 ? place[with] :
								 3 - place[with]);
	}
}

// Dimensions of 2 by twos. A hypercube of 12 is the largest there is.
static void write_twos(const struct finder *f, struct torus_shape *shape)
{
	uint32_t single = NONE;

	for (uint32_t d = 0; d < f->dim_count; d++) {
		if (f->length[d] != 2)
			continue;
		if (single != NONE)
			write_dim(f, single, d, shape);
		single = single == NONE ? d : NONE;
	}
	if (single != NONE)
		write_dim(f, single, NONE, shape);
}

// No more than NEIGHBOR_MAX neighbours are no more than TORUS_DIMS_MAX dimensions of two each, but
// of a mesh an origin may be an end.
static bool write_shape(struct finder *f, struct torus_shape *shape)
{
	uint32_t twos = 0;

	shape->dim_count = 0;
	for (uint32_t d = 0; d < f->dim_count; d++) {
		if (!settle_dim(f, d))
			return false;
		twos += f->length[d] == 2;
	}
	if (f->dim_count - twos + (twos + 1) / 2 > TORUS_DIMS_MAX)
		return false;
	for (uint32_t d = 0; d < f->dim_count; d++) {
		if (f->length[d] != 2)
			write_dim(f, d, NONE, shape);
	}
	write_twos(f, shape);
	return true;
}

// One origin: whether its coordinates fit every link.
static struct plan_fault try_origin(struct finder *f, uint32_t origin, struct torus_shape *shape,
				    struct arena *scratch)
{
	const size_t mark = arena_mark(scratch);
	struct plan_fault fault = { PLAN_FAULT_NOT_A_TORUS, .at = origin };
	struct torus torus;

	forget(f);
	if (!begin_at(f, origin))
		return fault;
	spread(f);
	if (f->failed || !write_shape(f, shape)) {
		fault.at = f->failed ? f->failed_at : origin;
		return fault;
	}
	if (!torus_init(f->topo, shape, scratch, &torus, &fault) && fault.kind != PLAN_FAULT_MEMORY)
		fault.kind = PLAN_FAULT_NOT_A_TORUS;
	arena_release(scratch, mark);
	return fault;
}

// Switches with the most neighbours, as only they can be in the middle of everything.
static struct plan_fault try_origins(struct finder *f, struct torus_shape *shape,
				     struct arena *scratch)
{
	struct plan_fault first = { PLAN_FAULT_NOT_A_TORUS, .at = TOPO_NONE };
	uint32_t most = 0;
	uint32_t tries = 0;

	for (uint32_t s = 0; s < f->topo->switch_count; s++)
		most = f->around[s].count > most ? f->around[s].count : most;
	for (uint32_t s = 0; s < f->topo->switch_count && tries < TRY_MAX; s++) {
		struct plan_fault fault;

		if (f->around[s].count != most)
			continue;
		fault = try_origin(f, s, shape, scratch);
		if (fault.kind != PLAN_FAULT_NOT_A_TORUS)
			return fault;
		if (tries++ == 0)
			first = fault;
	}
	return first;
}

static struct plan_fault find(struct finder *f, struct torus_shape *shape, struct arena *scratch)
{
	for (uint32_t s = 0; s < f->topo->switch_count; s++) {
		if (!read_neighbors(f->topo, s, &f->around[s]))
			return (struct plan_fault){ PLAN_FAULT_NOT_A_TORUS, .at = s };
	}
	return try_origins(f, shape, scratch);
}

bool torus_find(const struct topo *topo, struct arena *keep, struct arena *scratch,
		struct torus_shape *shape, struct plan_fault *fault)
{
	const size_t mark = arena_mark(scratch);
	struct finder f = {
		.topo = topo,
		.around = arena_take_raw(scratch, topo->switch_count, sizeof(*f.around)),
		.queue = arena_take_raw(scratch, topo->switch_count, sizeof(*f.queue)),
	};

	*shape = (struct torus_shape){
		.place = arena_take(keep, topo->switch_count, sizeof(*shape->place)),
	};
	if (shape->place == NULL || f.around == NULL || f.queue == NULL)
		*fault = (struct plan_fault){ .kind = PLAN_FAULT_MEMORY };
	else
		*fault = find(&f, shape, scratch);
	arena_release(scratch, mark);
	return fault->kind == PLAN_FAULT_NONE;
}
