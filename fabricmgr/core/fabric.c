// SPDX-License-Identifier: BSD-3-Clause
//
// Filling a fabric: arrays that double when they are full, names in a pool, and an index of names
// by open addressing. The arena keeps what was outgrown; who knows the numbers reserves.

#include "fabricmgr/core/fabric.h"

#include <errno.h>
#include <string.h>

#include "base/hash.h"
#include "fabricmgr/core/label.h"

enum { ROOM_MIN = 16, TEXT_BYTES = 4096, INDEX_MIN = 64 };

const char *const fabric_fault_texts[FABRIC_FAULT_COUNT] = {
	"",
#define FABRIC_FAULT(name, text) text,
#include "schema/fabric_faults.def"
#undef FABRIC_FAULT
};

static void copy_name(char out[FABRIC_NAME_BYTES], const char *text)
{
	struct label label = { .len = 0 };

	memcpy(out, label_add(&label, text)->text, FABRIC_NAME_BYTES);
}

void fabric_fail(struct fabric_faults *faults, enum fabric_fault_kind kind, uint32_t line,
		 const char *object, const char *detail, uint64_t have, uint64_t want)
{
	struct fabric_fault *fault;

	if (faults->count++ >= FABRIC_FAULTS_MAX)
		return;
	fault = &faults->fault[faults->count - 1];
	*fault = (struct fabric_fault){ .kind = kind, .line = line, .have = have, .want = want };
	copy_name(fault->object, object);
	copy_name(fault->detail, detail);
}

// Room for one more object in an array; what is there moves along.
static void *grow(struct fabric *fabric, void *array, uint32_t count, uint32_t *room, size_t bytes)
{
	uint32_t larger = *room < ROOM_MIN ? ROOM_MIN : 2 * *room;
	void *moved;

	if (count < *room)
		return array;
	if (count >= FABRIC_HOST_MAX)
		return NULL;
	moved = arena_take_raw(fabric->keep, larger, bytes);
	if (moved == NULL)
		return NULL;
	if (count > 0)
		memcpy(moved, array, count * bytes);
	*room = larger;
	return moved;
}

// --- names ------------------------------------------------------------------------------------

const char *fabric_text(struct fabric *fabric, const char *text)
{
	const uint32_t len = label_length(text) < FABRIC_NAME_BYTES ? label_length(text) :
								      FABRIC_NAME_BYTES - 1;
	char *copy;

	if (fabric->text_left <= len) {
		fabric->text = arena_take_raw(fabric->keep, TEXT_BYTES, 1);
		fabric->text_left = fabric->text != NULL ? (uint32_t)TEXT_BYTES : 0;
	}
	if (fabric->text_left <= len)
		return NULL;
	copy = fabric->text;
	memcpy(copy, text, len);
	copy[len] = '\0';
	fabric->text += len + 1;
	fabric->text_left -= len + 1;
	return copy;
}

static const char *name_of(const struct fabric *fabric, const struct fabric_index *index,
			   uint32_t number)
{
	return index == &fabric->switch_index ? fabric->switches[number].name :
						fabric->hosts[number].name;
}

// The slot of a name: that which holds it, or the free one where it belongs.
static uint32_t find_slot(const struct fabric *fabric, const struct fabric_index *index,
			  const char *name)
{
	uint64_t hash = HASH_EMPTY;
	uint32_t at;

	for (const char *c = name; *c != '\0'; c++)
		hash = hash_add(hash, (uint8_t)*c);
	at = (uint32_t)(hash ^ hash >> 32) & (index->size - 1);
	while (index->slot[at] != 0 &&
	       !label_equal(name_of(fabric, index, index->slot[at] - 1), name))
		at = (at + 1) & (index->size - 1);
	return at;
}

// An index of at least twice `count` slots, with the names below `have` in it.
static int index_grow(struct fabric *fabric, struct fabric_index *index, uint32_t have,
		      uint32_t count)
{
	uint32_t size = INDEX_MIN;

	while (size < 2 * count)
		size *= 2;
	if (size <= index->size)
		return 0;
	index->slot = arena_take(fabric->keep, size, sizeof(*index->slot));
	index->size = size;
	if (index->slot == NULL)
		return -ENOMEM;
	for (uint32_t i = 0; i < have; i++) {
		const uint32_t at = find_slot(fabric, index, name_of(fabric, index, i));

		if (index->slot[at] == 0)
			index->slot[at] = i + 1;
	}
	return 0;
}

// The first to have a name keeps it; fabric_finish() finds the others.
static int index_add(struct fabric *fabric, struct fabric_index *index, uint32_t number)
{
	uint32_t at;

	if (index_grow(fabric, index, number, number + 1) < 0)
		return -ENOMEM;
	at = find_slot(fabric, index, name_of(fabric, index, number));
	if (index->slot[at] == 0)
		index->slot[at] = number + 1;
	return 0;
}

static uint32_t index_find(const struct fabric *fabric, const struct fabric_index *index,
			   const char *name)
{
	const uint32_t found = index->slot[find_slot(fabric, index, name)];

	return found != 0 ? found - 1 : FABRIC_NONE;
}

uint32_t fabric_find_switch(const struct fabric *fabric, const char *name)
{
	return index_find(fabric, &fabric->switch_index, name);
}

uint32_t fabric_find_host(const struct fabric *fabric, const char *name)
{
	return index_find(fabric, &fabric->host_index, name);
}

// --- objects ----------------------------------------------------------------------------------

int fabric_init(struct fabric *fabric, struct arena *keep)
{
	*fabric = (struct fabric){ .name = "fabric", .keep = keep };
	if (index_grow(fabric, &fabric->switch_index, 0, 1) < 0 ||
	    index_grow(fabric, &fabric->host_index, 0, 1) < 0)
		return -ENOMEM;
	return fabric_tenant(fabric, "") == 0 ? 0 : -ENOMEM;
}

int fabric_reserve(struct fabric *fabric, uint32_t switches, uint32_t cables, uint32_t hosts,
		   uint32_t host_ports)
{
	const struct {
		void *array;
		uint32_t *room;
		uint32_t have;
		uint32_t want;
		size_t bytes;
	} rows[] = {
		{ &fabric->switches, &fabric->switch_room, fabric->switch_count, switches,
		  sizeof(*fabric->switches) },
		{ &fabric->cables, &fabric->cable_room, fabric->cable_count, cables,
		  sizeof(*fabric->cables) },
		{ &fabric->hosts, &fabric->host_room, fabric->host_count, hosts,
		  sizeof(*fabric->hosts) },
		{ &fabric->host_ports, &fabric->host_port_room, fabric->host_port_count, host_ports,
		  sizeof(*fabric->host_ports) },
	};

	for (uint32_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		void *old;
		void *array;

		if (rows[i].want <= *rows[i].room)
			continue;
		array = arena_take_raw(fabric->keep, rows[i].want, rows[i].bytes);
		if (array == NULL)
			return -ENOMEM;
		memcpy(&old, rows[i].array, sizeof(old));
		if (rows[i].have > 0)
			memcpy(array, old, rows[i].have * rows[i].bytes);
		memcpy(rows[i].array, &array, sizeof(array));
		*rows[i].room = rows[i].want;
	}
	if (index_grow(fabric, &fabric->switch_index, fabric->switch_count, switches) < 0)
		return -ENOMEM;
	return index_grow(fabric, &fabric->host_index, fabric->host_count, hosts);
}

struct fabric_switch *fabric_add_switch(struct fabric *fabric, const char *name)
{
	void *array = grow(fabric, fabric->switches, fabric->switch_count, &fabric->switch_room,
			   sizeof(*fabric->switches));
	const char *kept = fabric_text(fabric, name);

	if (array == NULL || kept == NULL)
		return NULL;
	fabric->switches = array;
	fabric->switches[fabric->switch_count] = (struct fabric_switch){
		.name = kept, .port_prefix = "Ethernet", .level = FABRIC_LEVEL_NONE
	};
	if (index_add(fabric, &fabric->switch_index, fabric->switch_count) < 0)
		return NULL;
	return &fabric->switches[fabric->switch_count++];
}

static void plug_in(struct fabric *fabric, uint32_t at, uint16_t port)
{
	struct fabric_switch *sw = &fabric->switches[at];

	if (sw->port_count <= port && port <= TOPO_PORT_MAX)
		sw->port_count = (uint16_t)(port + 1);
}

struct fabric_cable *fabric_add_cable(struct fabric *fabric, uint32_t a, uint16_t a_port,
				      uint32_t b, uint16_t b_port)
{
	void *array = grow(fabric, fabric->cables, fabric->cable_count, &fabric->cable_room,
			   sizeof(*fabric->cables));

	if (array == NULL)
		return NULL;
	fabric->cables = array;
	fabric->cables[fabric->cable_count] = (struct fabric_cable){ .end_switch = { a, b },
								     .end_port = { a_port, b_port },
								     .weight = 1 };
	plug_in(fabric, a, a_port);
	plug_in(fabric, b, b_port);
	return &fabric->cables[fabric->cable_count++];
}

struct fabric_host *fabric_add_host(struct fabric *fabric, const char *name)
{
	void *array = grow(fabric, fabric->hosts, fabric->host_count, &fabric->host_room,
			   sizeof(*fabric->hosts));
	const char *kept = fabric_text(fabric, name);

	if (array == NULL || kept == NULL)
		return NULL;
	fabric->hosts = array;
	fabric->hosts[fabric->host_count] = (struct fabric_host){ .name = kept };
	if (index_add(fabric, &fabric->host_index, fabric->host_count) < 0)
		return NULL;
	return &fabric->hosts[fabric->host_count++];
}

struct fabric_host_port *fabric_add_host_port(struct fabric *fabric, uint32_t host, uint32_t at,
					      uint16_t port)
{
	void *array = grow(fabric, fabric->host_ports, fabric->host_port_count,
			   &fabric->host_port_room, sizeof(*fabric->host_ports));

	if (array == NULL)
		return NULL;
	fabric->host_ports = array;
	fabric->host_ports[fabric->host_port_count] =
		(struct fabric_host_port){ .host = host, .at = at, .port = port };
	plug_in(fabric, at, port);
	return &fabric->host_ports[fabric->host_port_count++];
}

uint32_t fabric_tenant(struct fabric *fabric, const char *name)
{
	void *array;

	for (uint32_t i = 0; i < fabric->tenant_count; i++) {
		if (label_equal(fabric->tenants[i], name))
			return i;
	}
	if (fabric->tenant_count > FABRIC_TENANT_MAX)
		return FABRIC_NONE;
	array = grow(fabric, fabric->tenants, fabric->tenant_count, &fabric->tenant_room,
		     sizeof(*fabric->tenants));
	if (array == NULL)
		return FABRIC_NONE;
	fabric->tenants = array;
	fabric->tenants[fabric->tenant_count] = fabric_text(fabric, name);
	if (fabric->tenants[fabric->tenant_count] == NULL)
		return FABRIC_NONE;
	return fabric->tenant_count++;
}
