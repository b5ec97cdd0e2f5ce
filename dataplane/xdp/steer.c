// SPDX-License-Identifier: BSD-3-Clause
//
// Maps are found through the program that is attached to the interface, by their names, because the
// driver keeps what it has loaded to itself. The program's file is a memfd that holds the embedded
// object, so nothing has to be installed and no other version can be picked up.
//
// A program is ours by its name, and a switch is at work behind it when it takes a frame: the
// kernel empties the socket map as its sockets die. Asking costs a living switch one count.

#include "dataplane/xdp/steer.h"

#include <errno.h>
#include <net/if.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "steer_object.gen.h"

enum { STEER_MAPS_MAX = 16 };

static const char program_name[] = "weft_steer";
static const char driver_program_name[] = "xsk_def_prog"; // of ports that share nothing

enum steer_map {
	MAP_PORT,
	MAP_OWN4,
	MAP_OWN6,
	MAP_PREFIX4,
	MAP_PREFIX6,
	MAP_COUNTERS,
	MAP_COUNT,
};

static const char *const map_names[MAP_COUNT] = {
	[MAP_PORT] = "steer_port",       [MAP_OWN4] = "steer_own4",
	[MAP_OWN6] = "steer_own6",       [MAP_PREFIX4] = "steer_prefix4",
	[MAP_PREFIX6] = "steer_prefix6", [MAP_COUNTERS] = "steer_counters",
};

struct steer {
	int object;
	int map[MAP_COUNT]; // -1: not attached
	char path[32];
	struct own_addresses own; // in the maps
};

const char *const steer_class_keys[STEER_CLASS_COUNT] = {
#define STEER(name, key, doc) #key,
#include "schema/steering.def"
#undef STEER
};

// --- the program on an interface ----------------------------------------------------------------

// A descriptor of the attached program, -ENOENT when there is none, or -errno.
static int attached_program(uint32_t ifindex, char name[BPF_OBJ_NAME_LEN])
{
	struct bpf_prog_info info = { 0 };
	__u32 bytes = sizeof(info);
	__u32 id = 0;
	int fd;
	int rc = bpf_xdp_query_id((int)ifindex, 0, &id);

	if (rc != 0)
		return rc;
	if (id == 0)
		return -ENOENT;
	fd = bpf_prog_get_fd_by_id(id);
	if (fd < 0)
		return fd;
	rc = bpf_obj_get_info_by_fd(fd, &info, &bytes);
	if (rc != 0) {
		close(fd);
		return rc;
	}
	memcpy(name, info.name, BPF_OBJ_NAME_LEN);
	return fd;
}

// Whether the program takes a PFC frame from some queue of the interface. Queues the interface
// does not have end the search.
static bool takes_frames(int program, uint32_t ifindex)
{
	const uint8_t pfc[60] = { [12] = 0x88, [13] = 0x08 };
	struct xdp_md context = { .data_end = sizeof(pfc), .ingress_ifindex = ifindex };

	for (uint32_t queue = 0; queue < STEER_QUEUE_MAX; queue++) {
		LIBBPF_OPTS(bpf_test_run_opts, run, .data_in = pfc, .data_size_in = sizeof(pfc),
			    .ctx_in = &context, .ctx_size_in = sizeof(context), .repeat = 1);

		context.rx_queue_index = queue;
		if (bpf_prog_test_run_opts(program, &run) != 0)
			return false;
		if (run.retval == XDP_REDIRECT)
			return true;
	}
	return false;
}

int steer_clear(uint32_t ifindex)
{
	char name[BPF_OBJ_NAME_LEN];
	const int program = attached_program(ifindex, name);
	int rc;

	if (program < 0)
		return program == -ENOENT ? 0 : program;
	if (strcmp(name, program_name) != 0 && strcmp(name, driver_program_name) != 0)
		rc = -EEXIST;
	else if (takes_frames(program, ifindex))
		rc = -EBUSY;
	else
		rc = bpf_xdp_detach((int)ifindex, 0, NULL);
	close(program);
	return rc;
}

// --- maps ---------------------------------------------------------------------------------------

static int *slot_of(struct steer *steer, const char *name)
{
	for (uint32_t i = 0; i < MAP_COUNT; i++) {
		if (strcmp(name, map_names[i]) == 0)
			return &steer->map[i];
	}
	return NULL;
}

static void adopt_map(struct steer *steer, __u32 id)
{
	struct bpf_map_info info = { 0 };
	__u32 bytes = sizeof(info);
	int fd = bpf_map_get_fd_by_id(id);
	int *slot = NULL;

	if (fd < 0)
		return;
	if (bpf_obj_get_info_by_fd(fd, &info, &bytes) == 0)
		slot = slot_of(steer, info.name);
	if (slot != NULL && *slot < 0)
		*slot = fd;
	else
		close(fd);
}

static void close_maps(struct steer *steer)
{
	for (uint32_t i = 0; i < MAP_COUNT; i++) {
		if (steer->map[i] >= 0)
			close(steer->map[i]);
		steer->map[i] = -1;
	}
}

static int find_maps(struct steer *steer, int program)
{
	__u32 ids[STEER_MAPS_MAX] = { 0 };
	struct bpf_prog_info info = {
		.nr_map_ids = STEER_MAPS_MAX,
		.map_ids = (__u64)(uintptr_t)ids,
	};
	__u32 bytes = sizeof(info);
	int rc = bpf_obj_get_info_by_fd(program, &info, &bytes);

	if (rc != 0)
		return rc;
	for (uint32_t i = 0; i < info.nr_map_ids && i < STEER_MAPS_MAX; i++)
		adopt_map(steer, ids[i]);
	for (uint32_t i = 0; i < MAP_COUNT; i++) {
		if (steer->map[i] < 0)
			return -ENOENT;
	}
	return 0;
}

static int put(const struct steer *steer, enum steer_map map, const void *key, const void *value)
{
	return bpf_map_update_elem(steer->map[map], key, value, BPF_ANY) == 0 ? 0 : -errno;
}

static int fill_prefixes(const struct steer *steer, const struct steer_prefixes *prefixes)
{
	const uint8_t one = 1;
	int rc = 0;

	for (uint32_t i = 0; i < prefixes->count4 && rc == 0; i++)
		rc = put(steer, MAP_PREFIX4, &prefixes->v4[i], &one);
	for (uint32_t i = 0; i < prefixes->count6 && rc == 0; i++)
		rc = put(steer, MAP_PREFIX6, &prefixes->v6[i], &one);
	return rc;
}

// --- own addresses ------------------------------------------------------------------------------

struct address_list {
	const void *at;
	uint32_t count;
	size_t bytes; // of an address
};

static const void *address_of(const struct address_list *list, uint32_t i)
{
	return (const uint8_t *)list->at + i * list->bytes;
}

static bool has_address(const struct address_list *list, const void *address)
{
	for (uint32_t i = 0; i < list->count; i++) {
		if (memcmp(address_of(list, i), address, list->bytes) == 0)
			return true;
	}
	return false;
}

// What is gone goes first, so that the map has room.
static int replace(const struct steer *steer, enum steer_map map, const struct address_list *old,
		   const struct address_list *now)
{
	const uint8_t one = 1;
	int rc = 0;

	for (uint32_t i = 0; i < old->count; i++) {
		if (!has_address(now, address_of(old, i)))
			bpf_map_delete_elem(steer->map[map], address_of(old, i));
	}
	for (uint32_t i = 0; i < now->count && rc == 0; i++) {
		if (!has_address(old, address_of(now, i)))
			rc = put(steer, map, address_of(now, i), &one);
	}
	return rc;
}

static struct address_list list4(const struct own_addresses *own)
{
	return (struct address_list){ own->v4, own->count4, sizeof(own->v4[0]) };
}

static struct address_list list6(const struct own_addresses *own)
{
	return (struct address_list){ own->v6, own->count6, sizeof(own->v6[0]) };
}

int steer_refresh(struct steer *steer, const struct own_addresses *own)
{
	const struct address_list old4 = list4(&steer->own), now4 = list4(own);
	const struct address_list old6 = list6(&steer->own), now6 = list6(own);
	int rc = replace(steer, MAP_OWN4, &old4, &now4);

	if (rc == 0)
		rc = replace(steer, MAP_OWN6, &old6, &now6);
	if (rc == 0)
		steer->own = *own;
	return rc;
}

// --- life ---------------------------------------------------------------------------------------

const void *steer_object(size_t *bytes)
{
	*bytes = sizeof(steer_object_bytes);
	return steer_object_bytes;
}

static int write_object(int fd)
{
	size_t left;
	const uint8_t *at = steer_object(&left);

	while (left > 0) {
		const ssize_t written = write(fd, at, left);

		if (written < 0)
			return -errno;
		at += written;
		left -= (size_t)written;
	}
	return 0;
}

struct steer *steer_open(void)
{
	struct steer *steer = calloc(1, sizeof(*steer));
	int rc = -ENOMEM;

	if (steer == NULL)
		goto err;
	for (uint32_t i = 0; i < MAP_COUNT; i++)
		steer->map[i] = -1;
	steer->object = memfd_create("weft-steer", MFD_CLOEXEC);
	if (steer->object < 0) {
		rc = -errno;
		goto err;
	}
	snprintf(steer->path, sizeof(steer->path), "/proc/self/fd/%d", steer->object);
	rc = write_object(steer->object);
	if (rc == 0)
		return steer;
	close(steer->object);

err:
	free(steer);
	errno = -rc;
	return NULL;
}

const char *steer_path(const struct steer *steer)
{
	return steer->path;
}

// The port's entry comes last: it makes the program start.
int steer_attach_program(struct steer *steer, int program, const uint8_t mac[6],
			 const struct steer_prefixes *prefixes, const struct own_addresses *own)
{
	struct steer_port port = { .active = 1 };
	const uint32_t zero = 0;
	int rc;

	close_maps(steer);
	steer->own = (struct own_addresses){ 0 };
	rc = find_maps(steer, program);
	if (rc == 0)
		rc = fill_prefixes(steer, prefixes);
	if (rc == 0)
		rc = steer_refresh(steer, own);
	memcpy(port.mac, mac, sizeof(port.mac));
	if (rc == 0)
		rc = put(steer, MAP_PORT, &zero, &port);
	if (rc != 0)
		close_maps(steer);
	return rc;
}

int steer_attach(struct steer *steer, uint32_t ifindex, const uint8_t mac[6],
		 const struct steer_prefixes *prefixes, const struct own_addresses *own)
{
	char name[BPF_OBJ_NAME_LEN];
	const int program = attached_program(ifindex, name);
	int rc;

	if (program < 0)
		return program;
	rc = strcmp(name, program_name) == 0 ?
		     steer_attach_program(steer, program, mac, prefixes, own) :
		     -EEXIST;
	close(program);
	return rc;
}

int steer_read(const struct steer *steer, struct steer_counters *out)
{
	const int cpus = libbpf_num_possible_cpus();
	uint64_t *values;
	int rc = 0;

	*out = (struct steer_counters){ 0 };
	if (steer->map[MAP_COUNTERS] < 0)
		return 0;
	if (cpus < 0)
		return cpus;
	values = calloc((size_t)cpus, sizeof(*values));
	if (values == NULL)
		return -ENOMEM;
	for (uint32_t i = 0; i < STEER_CLASS_COUNT * STEER_VERDICT_COUNT && rc == 0; i++) {
		if (bpf_map_lookup_elem(steer->map[MAP_COUNTERS], &i, values) != 0)
			rc = -errno;
		for (int cpu = 0; cpu < cpus && rc == 0; cpu++)
			out->frames[i / STEER_VERDICT_COUNT][i % STEER_VERDICT_COUNT] +=
				values[cpu];
	}
	free(values);
	return rc;
}

void steer_close(struct steer *steer)
{
	if (steer == NULL)
		return;
	close_maps(steer);
	close(steer->object);
	free(steer);
}
