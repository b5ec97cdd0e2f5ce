// SPDX-License-Identifier: BSD-3-Clause
//
// A baseline is a whole answer in $XDG_CACHE_HOME/weft/SWITCH.json (or ~/.cache/weft), replaced in
// one step, with the parts that have been cleared as its member "cleared". Objects are found again
// by name or place, counters by their rows in the schema, so a port or a pool that is new has no
// baseline.
//
// Invariant: no difference is below 0. A switch that was started again has another boot_id, and its
// counters are shown as they are.

#include "cli/baseline.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/types.h"

enum { PATH_BYTES = 512 };

struct counter_row {
	const char *key;
	bool is_counter;
};

enum { KIND_COUNTER = true, KIND_GAUGE = false, KIND_WATERMARK = false };

#define ROW(kind, field) { #field, KIND_##kind },

#define SWITCH_STAT(kind, name, field, doc) ROW(kind, field)
static const struct counter_row switch_rows[] = {
#include "schema/stats.def"
	{ NULL, false },
};

#define POOL_STAT(kind, name, field, doc) ROW(kind, field)
static const struct counter_row pool_rows[] = {
#include "schema/stats.def"
	{ NULL, false },
};

#define PORT_STAT(kind, name, field, doc) ROW(kind, field)
static const struct counter_row port_rows[] = {
#include "schema/stats.def"
	{ NULL, false },
};

#define PRIO_STAT(kind, name, field, doc) ROW(kind, field)
static const struct counter_row prio_rows[] = {
#include "schema/stats.def"
	{ NULL, false },
};

#define PG_STAT(kind, name, field, doc) ROW(kind, field)
static const struct counter_row pg_rows[] = {
#include "schema/stats.def"
	{ NULL, false },
};

#define QUEUE_STAT(kind, name, field, doc) ROW(kind, field)
static const struct counter_row queue_rows[] = {
#include "schema/stats.def"
	{ NULL, false },
};

// --- the file -----------------------------------------------------------------------------------

// Directory of baselines; false when the user has no place for it.
static bool find_directory(char out[PATH_BYTES])
{
	const char *cache = getenv("XDG_CACHE_HOME");
	const char *home = getenv("HOME");
	int len = -1;

	if (cache != NULL && cache[0] == '/')
		len = snprintf(out, PATH_BYTES, "%s/weft", cache);
	else if (home != NULL && home[0] == '/')
		len = snprintf(out, PATH_BYTES, "%s/.cache/weft", home);
	return len > 0 && len < PATH_BYTES;
}

static const char *text_of(const json_t *reply, const char *key)
{
	return json_string_value(json_object_get(json_object_get(reply, "switch"), key));
}

// The file of a switch. Its name comes from outside: one that could leave the directory has none.
static bool find_file(const json_t *reply, const char *suffix, char out[PATH_BYTES])
{
	const char *name = text_of(reply, "name");
	char directory[PATH_BYTES];

	if (name == NULL || name[0] == '\0' || name[0] == '.' || strchr(name, '/') != NULL ||
	    !find_directory(directory))
		return false;
	return snprintf(out, PATH_BYTES, "%s/%s%s", directory, name, suffix) < PATH_BYTES;
}

// Makes the directories of a file; what fails shows when the file is written.
static void make_directories(const char *file)
{
	char path[PATH_BYTES];

	snprintf(path, sizeof(path), "%s", file);
	for (char *slash = strchr(path + 1, '/'); slash != NULL; slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		mkdir(path, 0700);
		*slash = '/';
	}
}

static int write_whole(const json_t *reply, const char *path)
{
	char draft[PATH_BYTES + 16];

	make_directories(path);
	snprintf(draft, sizeof(draft), "%s.%ld", path, (long)getpid());
	errno = EIO;
	if (json_dump_file(reply, draft, JSON_COMPACT) == 0 && rename(draft, path) == 0)
		return 0;
	fprintf(stderr, "weft: %s: %s\n", path, strerror(errno));
	unlink(draft);
	return -EIO;
}

// --- differences --------------------------------------------------------------------------------

static void subtract(json_t *object, const char *key, const json_t *before)
{
	const json_t *now = json_object_get(object, key);
	const json_t *then = json_object_get(before, key);
	json_int_t count;

	if (!json_is_integer(now) || !json_is_integer(then))
		return;
	count = json_integer_value(now) - json_integer_value(then);
	json_object_set_new(object, key, json_integer(count < 0 ? 0 : count));
}

static void subtract_rows(json_t *object, const json_t *before, const struct counter_row *rows)
{
	for (; rows->key != NULL; rows++) {
		if (rows->is_counter)
			subtract(object, rows->key, before);
	}
}

// Lists whose elements have their places by number: priorities, groups, queues.
static void subtract_places(json_t *port, const json_t *before, const char *list,
			    const struct counter_row *rows)
{
	const json_t *then = json_object_get(before, list);
	json_t *element;
	size_t at;

	json_array_foreach(json_object_get(port, list), at, element)
		subtract_rows(element, json_array_get(then, at), rows);
}

// Reasons that have not happened since are left out, as the switch does with those that never did.
static void subtract_drops(json_t *port, const json_t *before)
{
	json_t *drops = json_object_get(port, "drops");
	const json_t *then = json_object_get(before, "drops");
	const char *reason;
	json_t *count;
	void *next;

	json_object_foreach_safe(drops, next, reason, count)
	{
		subtract(drops, reason, then);
		if (json_integer_value(json_object_get(drops, reason)) == 0)
			json_object_del(drops, reason);
	}
}

static void subtract_port(json_t *port, const json_t *before)
{
	subtract_rows(json_object_get(port, "stats"), json_object_get(before, "stats"), port_rows);
	subtract_places(port, before, "priorities", prio_rows);
	subtract_places(port, before, "priority_groups", pg_rows);
	subtract_places(port, before, "queues", queue_rows);
	subtract_drops(port, before);
}

static void subtract_pool(json_t *pool, const json_t *before)
{
	subtract_rows(pool, before, pool_rows);
}

// The element of a list that has the same name, NULL when there is none.
static const json_t *find_named(const json_t *list, const json_t *element)
{
	const json_t *name = json_object_get(element, "name");

	for (size_t i = 0; name != NULL && i < json_array_size(list); i++) {
		if (json_equal(json_object_get(json_array_get(list, i), "name"), name))
			return json_array_get(list, i);
	}
	return NULL;
}

static void subtract_named(json_t *reply, const json_t *before, const char *list,
			   void (*subtract_one)(json_t *, const json_t *))
{
	const json_t *then = json_object_get(before, list);
	json_t *element;
	size_t at;

	json_array_foreach(json_object_get(reply, list), at, element)
		subtract_one(element, find_named(then, element));
}

// The baseline of a switch, NULL: there is none of this life of it. A new reference.
static json_t *load(const char *path, const char *boot)
{
	json_t *before = json_load_file(path, 0, NULL);
	const char *then = text_of(before, "boot_id");

	if (then != NULL && strcmp(then, boot) == 0)
		return before;
	json_decref(before);
	return NULL;
}

// What has been cleared: a baseline that does not say was made for all.
static enum baseline_part parts_of(const json_t *before)
{
	const json_t *parts = json_object_get(before, "cleared");

	if (before == NULL)
		return 0;
	return json_is_integer(parts) ? json_integer_value(parts) & BASELINE_ALL : BASELINE_ALL;
}

enum baseline_part baseline_apply(json_t *reply)
{
	const char *boot = text_of(reply, "boot_id");
	enum baseline_part parts;
	char path[PATH_BYTES];
	json_t *before;

	if (boot == NULL || !find_file(reply, ".json", path))
		return 0;
	before = load(path, boot);
	parts = parts_of(before);
	if (before != NULL) {
		subtract_rows(json_object_get(reply, "switch"), json_object_get(before, "switch"),
			      switch_rows);
		subtract_named(reply, before, "pools", subtract_pool);
		subtract_named(reply, before, "ports", subtract_port);
	}
	json_decref(before);
	return parts;
}

// --- baselines of some counters -----------------------------------------------------------------

// Counters of a draft that become what they were in the baseline before: 0 if there was none.
static void restore_rows(json_t *object, const json_t *before, const struct counter_row *rows)
{
	for (; rows->key != NULL; rows++) {
		json_t *then = json_object_get(before, rows->key);

		if (!rows->is_counter || json_object_get(object, rows->key) == NULL)
			continue;
		if (json_is_integer(then))
			json_object_set(object, rows->key, then);
		else
			json_object_set_new(object, rows->key, json_integer(0));
	}
}

// Part of a queue's counter, and of a port's: sums of drops go with the reasons that they are sums
// of, or those that a screen takes off them would have another beginning.
static enum baseline_part queue_part(const char *key)
{
	return strncmp(key, "pfc_wd_", 7) == 0 ? BASELINE_PFCWD : BASELINE_QUEUE;
}

static enum baseline_part port_part(const char *key)
{
	return strcmp(key, "in_dropped_pkts") == 0 || strcmp(key, "out_dropped_pkts") == 0 ?
		       BASELINE_DROPS :
		       BASELINE_SWITCH;
}

// Likewise of an object whose counters belong to several parts: those that are not in `parts`.
static void restore_others(json_t *object, const json_t *before, const struct counter_row *rows,
			   enum baseline_part (*part_of)(const char *key), enum baseline_part parts)
{
	for (; rows->key != NULL; rows++) {
		const struct counter_row one[2] = { *rows, { NULL, false } };

		if (!(part_of(rows->key) & parts))
			restore_rows(object, before, one);
	}
}

static void restore_port(json_t *port, const json_t *before, enum baseline_part parts)
{
	restore_others(json_object_get(port, "stats"), json_object_get(before, "stats"), port_rows,
		       port_part, parts);
	for (size_t i = 0; i < QUEUE_COUNT; i++) {
		json_t *one = json_array_get(json_object_get(port, "queues"), i);
		json_t *then = json_array_get(json_object_get(before, "queues"), i);

		restore_others(one, then, queue_rows, queue_part, parts);
		one = json_array_get(json_object_get(port, "priorities"), i);
		then = json_array_get(json_object_get(before, "priorities"), i);
		if (!(parts & BASELINE_PRIO))
			restore_rows(one, then, prio_rows);
		one = json_array_get(json_object_get(port, "priority_groups"), i);
		then = json_array_get(json_object_get(before, "priority_groups"), i);
		if (!(parts & BASELINE_PG))
			restore_rows(one, then, pg_rows);
	}
	if (parts & BASELINE_DROPS)
		return;
	json_object_del(port, "drops");
	if (json_is_object(json_object_get(before, "drops")))
		json_object_set(port, "drops", json_object_get(before, "drops"));
}

// Makes a draft what it is to be: counters of `parts` as they are, the others as before.
static void restore(json_t *draft, const json_t *before, enum baseline_part parts)
{
	json_t *one;
	size_t at;

	json_array_foreach(json_object_get(draft, "ports"), at, one)
		restore_port(one, find_named(json_object_get(before, "ports"), one), parts);
	if (parts & BASELINE_SWITCH)
		return;
	restore_rows(json_object_get(draft, "switch"), json_object_get(before, "switch"),
		     switch_rows);
	json_array_foreach(json_object_get(draft, "pools"), at, one)
		restore_rows(one, find_named(json_object_get(before, "pools"), one), pool_rows);
}

int baseline_save(const json_t *reply, enum baseline_part parts)
{
	const char *boot = text_of(reply, "boot_id");
	char path[PATH_BYTES];
	json_t *before, *draft;
	int rc;

	if (boot == NULL) {
		fputs("weft: this switch is too old: its answer has no boot_id\n", stderr);
		return -ENOTSUP;
	}
	if (!find_file(reply, ".json", path)) {
		fputs("weft: no place to keep cleared counters: HOME is not set\n", stderr);
		return -ENOENT;
	}
	before = load(path, boot);
	draft = json_deep_copy(reply);
	restore(draft, before, parts);
	json_object_set_new(draft, "cleared", json_integer(parts | parts_of(before)));
	rc = write_whole(draft, path);
	json_decref(draft);
	json_decref(before);
	return rc;
}

json_t *baseline_look(const json_t *reply)
{
	char path[PATH_BYTES];
	json_t *before;

	if (!find_file(reply, ".look", path))
		return NULL;
	before = json_load_file(path, 0, NULL);
	write_whole(reply, path);
	return before;
}
