// SPDX-License-Identifier: BSD-3-Clause
//
// Bit vectors per field: building and looking up. A look-up costs a binary search per field in use
// and one pass over the words up to the first row met; nothing depends on what rows look like, so
// no set of rows makes it slow.
//
// Invariant: intervals of a field begin at 0, ascend and cover every value.

#include "dataplane/core/acl_index.h"

#include <string.h>

enum { WORD_BITS = 64 };

static uint32_t words_of(uint32_t row_count)
{
	return (row_count + WORD_BITS - 1) / WORD_BITS;
}

static size_t align16(size_t bytes)
{
	return (bytes + 15) & ~(size_t)15;
}

static address_t *starts_of(struct acl_index *index, enum acl_field field)
{
	void *starts = (uint8_t *)index + index->field[field].start_at;

	return starts;
}

static uint64_t *bits_of(struct acl_index *index, enum acl_field field, uint32_t interval)
{
	uint64_t *bits = (uint64_t *)((uint8_t *)index + index->field[field].bits_at);

	return bits + (size_t)interval * index->word_count;
}

static uint64_t *absent_of(struct acl_index *index, enum acl_field field)
{
	return (uint64_t *)((uint8_t *)index + index->field[field].absent_at);
}

void acl_build_begin(struct acl_builder *b, uint32_t row_count)
{
	*b = (struct acl_builder){ .pass = ACL_PASS_COUNT, .row_count = row_count };
}

// Bytes of one field, in the order in which acl_build_bounds() lays them out.
static size_t field_bytes(const struct acl_builder *b, enum acl_field field)
{
	const size_t vector = words_of(b->row_count) * sizeof(uint64_t);
	const size_t intervals = b->bounds[field] + 1u;

	return align16(intervals * (sizeof(address_t) + vector) + vector);
}

size_t acl_build_bytes(const struct acl_builder *b)
{
	size_t bytes = align16(sizeof(struct acl_index));

	for (uint32_t i = 0; i < ACL_FIELD_COUNT; i++) {
		if (b->fields >> i & 1)
			bytes += field_bytes(b, (enum acl_field)i);
	}
	return bytes;
}

void acl_build_bounds(struct acl_builder *b, void *memory)
{
	size_t at = align16(sizeof(struct acl_index));

	memset(memory, 0, acl_build_bytes(b));
	b->pass = ACL_PASS_BOUNDS;
	b->index = memory;
	b->index->row_count = b->row_count;
	b->index->word_count = words_of(b->row_count);
	b->index->fields = b->fields;
	for (uint32_t i = 0; i < ACL_FIELD_COUNT; i++) {
		struct acl_intervals *field = &b->index->field[i];
		const size_t intervals = b->bounds[i] + 1u;

		if (!(b->fields >> i & 1))
			continue;
		field->start_at = (uint32_t)at;
		field->bits_at = (uint32_t)(at + intervals * sizeof(address_t));
		field->absent_at = (uint32_t)(field->bits_at + intervals * words_of(b->row_count) *
								       sizeof(uint64_t));
		field->count = 1; // from 0 on
		at += field_bytes(b, (enum acl_field)i);
	}
}

// Restores the heap below `root`: every parent is at least its children.
static void sift(address_t *heap, uint32_t root, uint32_t count)
{
	const address_t value = heap[root];

	for (uint32_t child = 2 * root + 1; child < count; child = 2 * root + 1) {
		if (child + 1 < count && heap[child] < heap[child + 1])
			child++;
		if (value >= heap[child])
			break;
		heap[root] = heap[child];
		root = child;
	}
	heap[root] = value;
}

static void sort(address_t *value, uint32_t count)
{
	for (uint32_t i = count / 2; i > 0; i--)
		sift(value, i - 1, count);
	for (uint32_t i = count; i > 1; i--) {
		const address_t largest = value[0];

		value[0] = value[i - 1];
		value[i - 1] = largest;
		sift(value, 0, i - 1);
	}
}

static uint32_t drop_repeats(address_t *value, uint32_t count)
{
	uint32_t kept = 1;

	for (uint32_t i = 1; i < count; i++) {
		if (value[i] != value[kept - 1])
			value[kept++] = value[i];
	}
	return kept;
}

// Until a row restricts a field it meets all of its values.
void acl_build_rows(struct acl_builder *b)
{
	struct acl_index *index = b->index;
	const size_t vector = index->word_count * sizeof(uint64_t);

	b->pass = ACL_PASS_ROWS;
	for (uint32_t i = 0; i < ACL_FIELD_COUNT; i++) {
		const enum acl_field field = (enum acl_field)i;

		if (!(b->fields >> i & 1))
			continue;
		sort(starts_of(index, field), index->field[i].count);
		index->field[i].count = drop_repeats(starts_of(index, field),
						     index->field[i].count);
		memset(absent_of(index, field), 0xff, vector);
	}
}

void acl_build_restrict(struct acl_builder *b, enum acl_field field, uint32_t row)
{
	b->fields |= 1u << field;
	if (b->pass == ACL_PASS_ROWS)
		absent_of(b->index, field)[row / WORD_BITS] &= ~(1ull << row % WORD_BITS);
}

// The interval that holds `value`.
static inline uint32_t find_interval(const address_t *start, uint32_t count, address_t value)
{
	uint32_t low = 0;

	while (count > 1) {
		const uint32_t half = count / 2;

		low = start[low + half] <= value ? low + half : low;
		count -= half;
	}
	return low;
}

static void add_bound(struct acl_index *index, enum acl_field field, address_t start)
{
	starts_of(index, field)[index->field[field].count++] = start;
}

void acl_build_range(struct acl_builder *b, enum acl_field field, uint32_t row, address_t first,
		     address_t last)
{
	const address_t *start;
	uint32_t count;

	switch (b->pass) {
	case ACL_PASS_COUNT: b->bounds[field] += 2; return;
	case ACL_PASS_BOUNDS:
		add_bound(b->index, field, first);
		if (last != ~(address_t)0)
			add_bound(b->index, field, last + 1);
		return;
	case ACL_PASS_ROWS: break;
	}
	start = starts_of(b->index, field);
	count = b->index->field[field].count;
	for (uint32_t i = find_interval(start, count, first); i < count && start[i] <= last; i++)
		bits_of(b->index, field, i)[row / WORD_BITS] |= 1ull << row % WORD_BITS;
}

void acl_build_end(struct acl_builder *b)
{
	struct acl_index *index = b->index;

	for (uint32_t f = 0; f < ACL_FIELD_COUNT; f++) {
		const enum acl_field field = (enum acl_field)f;

		for (uint32_t i = 0; i < index->field[f].count * index->word_count; i++)
			bits_of(index, field, 0)[i] |= absent_of(index,
								 field)[i % index->word_count];
	}
}

void acl_query_value(const struct acl_index *index, struct acl_query *query, enum acl_field field,
		     address_t value)
{
	const struct acl_intervals *in = &index->field[field];
	const uint8_t *base = (const uint8_t *)index;
	const uint32_t interval = find_interval((const address_t *)(base + in->start_at), in->count,
						value);

	query->bits[query->count++] = (const uint64_t *)(base + in->bits_at) +
				      (size_t)interval * index->word_count;
}

void acl_query_absent(const struct acl_index *index, struct acl_query *query, enum acl_field field)
{
	query->bits[query->count++] =
		(const uint64_t *)((const uint8_t *)index + index->field[field].absent_at);
}

uint32_t acl_query_next(const struct acl_index *index, const struct acl_query *query, uint32_t from)
{
	uint64_t mask = UINT64_MAX << from % WORD_BITS;

	for (uint32_t i = from / WORD_BITS; i < index->word_count; i++) {
		uint64_t met = mask;

		for (uint32_t k = 0; k < query->count; k++)
			met &= query->bits[k][i];
		if (met != 0) {
			const uint32_t row = i * WORD_BITS + (uint32_t)__builtin_ctzll(met);

			return row < index->row_count ? row : index->row_count;
		}
		mask = UINT64_MAX;
	}
	return index->row_count;
}
