// SPDX-License-Identifier: BSD-3-Clause
//
// Deltas between packed tables. Groups are known by what they are, not by their numbers: the result
// is numbered by first use again, as every table is, so a change of one row is one row on the wire
// even where it shifts all numbers behind it. What a delta says is checked last, by the hash of the
// table that it makes.

#include "routing/packed.h"

#include <errno.h>
#include <string.h>

#include "routing/packed_io.h"

enum { DELTA_HAS_TURNS = 1, ROW_BYTES = 4 };

// Two tables side by side.
struct comparison {
	const struct packed_table *base;
	const struct packed_table *next;
	uint16_t *known_as; // [groups of next] number in the base, or behind its groups
	uint32_t new_groups;
	uint32_t changed_rows;
	bool new_turns;
};

// The row of `next` as the delta writes it.
static uint16_t row_of(const struct comparison *c, uint32_t edge)
{
	const uint16_t row = c->next->plan.row[edge];

	return plan_is_group(row) ? c->known_as[row] : row;
}

static bool is_changed(const struct comparison *c, uint32_t edge)
{
	const uint16_t before = edge < c->base->plan.edge_count ? c->base->plan.row[edge] :
								  (uint16_t)PLAN_NONE;

	return row_of(c, edge) != before;
}

static bool same_turns(const struct packed_table *a, const struct packed_table *b)
{
	const struct turn_rules *x = &a->plan.turns;
	const struct turn_rules *y = &b->plan.turns;
	const size_t lanes = (size_t)x->class_count * x->class_count * LANE_MAX;

	if (a->link_count != b->link_count || x->lane_count != y->lane_count ||
	    x->class_count != y->class_count || x->exception_count != y->exception_count)
		return false;
	for (uint32_t i = 0; i < x->exception_count; i++) {
		const struct turn_exception *e = &x->exception[i];
		const struct turn_exception *f = &y->exception[i];

		if (e->in != f->in || e->out != f->out || e->lane != f->lane || e->to != f->to)
			return false;
	}
	return memcmp(a->port, b->port, a->link_count * sizeof(*a->port)) == 0 &&
	       memcmp(x->link_class, y->link_class, a->link_count) == 0 &&
	       memcmp(x->lane, y->lane, lanes) == 0;
}

static int compare(struct comparison *c, struct arena *scratch)
{
	const struct plan *base = &c->base->plan;
	const struct plan *next = &c->next->plan;

	c->known_as = arena_take_raw(scratch, next->group_count, sizeof(*c->known_as));
	if (c->known_as == NULL)
		return -ENOMEM;
	for (uint32_t g = 0; g < next->group_count; g++) {
		const struct plan_group *group = &next->group[g];

		c->known_as[g] = plan_find_group(base, next->hop + group->first, group->hop_count,
						 group->pin);
		if (c->known_as[g] != PLAN_NONE)
			continue;
		if (base->group_count + c->new_groups == PLAN_GROUP_MAX)
			return -EOVERFLOW;
		c->known_as[g] = (uint16_t)(base->group_count + c->new_groups++);
	}
	for (uint32_t e = 0; e < next->edge_count; e++)
		c->changed_rows += is_changed(c, e);
	c->new_turns = !same_turns(c->base, c->next);
	return 0;
}

static void put_delta(struct packed_out *out, const struct comparison *c)
{
	const struct plan *next = &c->next->plan;

	packed_put16(out, PACKED_VERSION);
	packed_put16(out, c->new_turns ? DELTA_HAS_TURNS : 0);
	packed_put16(out, (uint16_t)next->edge_count);
	packed_put16(out, (uint16_t)c->new_groups);
	packed_put32(out, c->changed_rows);
	packed_put64(out, c->base->hash);
	packed_put64(out, c->next->hash);
	for (uint32_t g = 0; g < next->group_count; g++) {
		if (c->known_as[g] >= c->base->plan.group_count)
			packed_put_group(out, next, g);
	}
	for (uint32_t e = 0; e < next->edge_count; e++) {
		if (!is_changed(c, e))
			continue;
		packed_put16(out, (uint16_t)e);
		packed_put16(out, row_of(c, e));
	}
	if (c->new_turns)
		packed_put_turns(out, c->next);
}

int packed_delta_encode(const struct packed_table *base, const struct packed_table *next,
			struct arena *keep, struct arena *scratch, struct packed_bytes *delta)
{
	const size_t mark = arena_mark(scratch);
	struct comparison c = { .base = base, .next = next };
	struct packed_out out = packed_out_to(NULL);
	int rc = compare(&c, scratch);

	if (rc == 0) {
		put_delta(&out, &c);
		delta->size = out.size;
		delta->data = arena_take_raw(keep, out.size, 1);
		out = packed_out_to(delta->data);
		rc = delta->data == NULL ? -ENOMEM : 0;
	}
	if (rc == 0)
		put_delta(&out, &c);
	arena_release(scratch, mark);
	return rc;
}

// A delta as it is read.
struct change {
	const struct packed_table *base;
	struct plan added; // groups that the base does not have
	uint16_t flags;
	uint16_t edge_count;
	uint16_t group_count;
	uint32_t row_count;
	uint64_t hash;
};

static int get_header(struct packed_in *in, struct change *d)
{
	const uint16_t version = packed_get16(in);
	uint64_t base_hash;

	d->flags = packed_get16(in);
	d->edge_count = packed_get16(in);
	d->group_count = packed_get16(in);
	d->row_count = packed_get32(in);
	base_hash = packed_get64(in);
	d->hash = packed_get64(in);
	if (!in->short_of && version != PACKED_VERSION)
		return -EPROTONOSUPPORT;
	if (in->short_of || d->flags > DELTA_HAS_TURNS || d->row_count > d->edge_count ||
	    d->base->plan.group_count + d->group_count > PLAN_GROUP_MAX)
		return -EBADMSG;
	return base_hash == d->base->hash ? 0 : -ESTALE;
}

static int get_added(struct packed_in *in, struct arena *scratch, struct change *d)
{
	const struct topo nothing = { 0 };
	struct plan_hop hops[PLAN_HOP_MAX];
	uint32_t count, pin;
	int rc = plan_init(&nothing, scratch, &d->added);

	for (uint32_t i = 0; i < d->group_count && rc == 0; i++) {
		uint16_t number;

		rc = packed_get_group(in, hops, &count, &pin);
		if (rc == 0)
			rc = plan_group(&d->added, hops, count, pin, &number);
		if (rc == 0 && number != i)
			rc = -EBADMSG;
	}
	return rc;
}

// Rows as the delta numbers their groups.
static int get_rows(struct packed_in *in, const struct change *d, struct packed_table *table)
{
	const struct plan *base = &d->base->plan;
	const uint32_t known = (uint32_t)u64_min(base->edge_count, d->edge_count);
	uint32_t least = 0;

	memcpy(table->plan.row, base->row, known * sizeof(*base->row));
	if (in->left / ROW_BYTES < d->row_count)
		return -EBADMSG;
	for (uint32_t i = 0; i < d->row_count; i++) {
		const uint16_t edge = packed_get16(in);
		const uint16_t row = packed_get16(in);

		if (edge < least || edge >= d->edge_count ||
		    (plan_is_group(row) && row >= base->group_count + d->group_count))
			return -EBADMSG;
		table->plan.row[edge] = row;
		least = edge + 1u;
	}
	return 0;
}

// Gives the groups that rows name to the table, which numbers them by first use.
static int take_groups(const struct change *d, struct packed_table *table)
{
	const struct plan *base = &d->base->plan;
	int rc = 0;

	for (uint32_t e = 0; e < d->edge_count && rc == 0; e++) {
		const uint16_t row = table->plan.row[e];
		const bool is_old = row < base->group_count;
		const struct plan *of = is_old ? base : &d->added;
		const struct plan_group *group;

		if (!plan_is_group(row))
			continue;
		group = &of->group[is_old ? row : row - base->group_count];
		rc = plan_group(&table->plan, of->hop + group->first, group->hop_count, group->pin,
				&table->plan.row[e]);
	}
	return rc;
}

static int apply(struct packed_in *in, struct change *d, struct arena *keep, struct arena *scratch,
		 struct packed_table *table)
{
	int rc = get_header(in, d);

	if (rc == 0)
		rc = get_added(in, scratch, d);
	if (rc == 0)
		rc = packed_init(d->edge_count, keep, table);
	if (rc == 0)
		rc = get_rows(in, d, table);
	if (rc == 0)
		rc = take_groups(d, table);
	if (rc != 0)
		return rc;
	if (d->flags & DELTA_HAS_TURNS)
		rc = packed_get_turns(in, keep, table);
	else
		rc = packed_copy_turns(d->base, keep, table);
	if (rc == 0 && (in->left != 0 || !packed_hops_exist(table)))
		rc = -EBADMSG;
	return rc;
}

int packed_delta_apply(const struct packed_table *base, const uint8_t *data, size_t size,
		       struct arena *keep, struct arena *scratch, struct packed_table *table)
{
	struct packed_in in = { .data = data, .left = size };
	struct change d = { .base = base };
	const size_t keep_mark = arena_mark(keep);
	const size_t scratch_mark = arena_mark(scratch);
	int rc = size > PACKED_BYTES_MAX ? -EBADMSG : apply(&in, &d, keep, scratch, table);

	arena_release(scratch, scratch_mark);
	if (rc == 0) {
		packed_seal(table);
		rc = table->hash == d.hash ? 0 : -EBADMSG;
	}
	if (rc != 0)
		arena_release(keep, keep_mark);
	return rc;
}
