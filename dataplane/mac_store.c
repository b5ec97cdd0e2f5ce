// SPDX-License-Identifier: BSD-3-Clause
//
// Reads and writes the address file, as a whole: after a crash there is the old file or the new one
// (sys/file_replace.h). A line is MAC, VLAN and port; what a line is not is said and skipped.

#include "dataplane/mac_store.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/hash.h"
#include "base/units.h"
#include "dataplane/dpdk/snapshot.h"
#include "sys/cfg_address.h"
#include "sys/file_replace.h"
#include "sys/log.h"

enum { LINE_BYTES = 128, VID_MAX = 4094 };

static bool parse_unicast(const char *text, uint64_t *mac)
{
	return mac_parse(text, mac) && *mac != 0 && !(*mac >> 40 & 1);
}

// Cuts the next word out of *line.
static char *next_word(char **line)
{
	char *word;

	do {
		word = strsep(line, " \t\n");
	} while (word != NULL && *word == '\0');
	return word;
}

static bool parse_line(char *line, const struct instance *in, struct mac_entry *out)
{
	const char *mac = next_word(&line);
	const char *vid = next_word(&line);
	const char *port = next_word(&line);
	char *end;
	unsigned long number;

	if (port == NULL || next_word(&line) != NULL || !parse_unicast(mac, &out->mac))
		return false;
	number = strtoul(vid, &end, 10);
	if (*end != '\0' || number > VID_MAX)
		return false;
	out->vid = (uint16_t)number;
	for (uint32_t i = 0; i < in->port_count; i++) {
		if (strcmp(in->config->port[i].name, port) != 0)
			continue;
		out->port = (port_t){ (uint16_t)i };
		return true;
	}
	return false;
}

static int read_file(struct mac_store *store, const struct instance *in)
{
	FILE *file = fopen(store->path, "re");
	char line[LINE_BYTES];
	uint32_t number = 0;
	uint32_t max = (uint32_t)in->config->sw.mac_count;

	if (file == NULL)
		return errno == ENOENT ? 0 : -errno;
	store->pending = calloc(max, sizeof(*store->pending));
	while (store->pending != NULL && store->pending_count < max &&
	       fgets(line, sizeof(line), file) != NULL) {
		number++;
		if (line[0] == '#')
			continue;
		if (parse_line(line, in, &store->pending[store->pending_count]))
			store->pending_count++;
		else
			log_warn("%s:%u: not \"MAC VLAN PORT\" of this switch, skipped",
				 store->path, number);
	}
	fclose(file);
	return store->pending == NULL ? -ENOMEM : 0;
}

int mac_store_open(struct mac_store *store, const char *state_dir, const struct instance *in)
{
	const char *name = in->config->sw.name;
	char dir[sizeof(store->path) - 8];
	int rc = 0;

	*store = (struct mac_store){ 0 };
	if (snprintf(dir, sizeof(dir), "%s/%s", state_dir, name) >= (int)sizeof(dir)) {
		log_err("%s: the path of the state directory is too long", name);
		return -ENAMETOOLONG;
	}
	if ((mkdir(state_dir, 0755) != 0 && errno != EEXIST) ||
	    (mkdir(dir, 0755) != 0 && errno != EEXIST)) {
		rc = -errno;
		log_err("%s: %s: %s", name, dir, strerror(-rc));
		return rc;
	}
	snprintf(store->path, sizeof(store->path), "%s/macs", dir);
	rc = read_file(store, in);
	if (rc != 0)
		log_err("%s: %s: %s", name, store->path, strerror(-rc));
	return rc;
}

void mac_store_restore(struct mac_store *store, struct workers *workers, struct instance *in,
		       const struct port_set *ports)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < store->pending_count; i++) {
		const struct mac_entry *entry = &store->pending[i];
		const struct message message = {
			.kind = MESSAGE_MAC_SET,
			.instance = in,
			.port = entry->port,
			.vid = entry->vid,
			.mac = entry->mac,
		};

		if (port_set_has(ports, entry->port))
			workers_send(workers, &message);
		else
			store->pending[kept++] = *entry;
	}
	store->pending_count = kept;
}

struct writer {
	const struct instance *in;
	FILE *file; // NULL: only the hash is wanted
	uint64_t hash;
};

static void write_entries(struct writer *writer, const struct mac_entry *entries, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++) {
		const struct mac_entry *entry = &entries[i];
		uint64_t place = (uint64_t)entry->vid << 16 | entry->port.v;
		char mac[MAC_TEXT_BYTES];

		writer->hash = hash_add(hash_add(writer->hash, entry->mac), place);
		if (writer->file == NULL)
			continue;
		mac_format(entry->mac, mac);
		fprintf(writer->file, "%s %u %s\n", mac, entry->vid,
			writer->in->config->port[entry->port.v].name);
	}
}

// Writes all addresses to `file`, or only hashes them when it is NULL. Those that were read and not
// restored yet stay in the file.
static uint64_t walk(const struct mac_store *store, struct workers *workers, struct instance *in,
		     FILE *file)
{
	struct writer writer = { .in = in, .file = file, .hash = HASH_EMPTY };
	struct mac_list list = { 0 };

	write_entries(&writer, store->pending, store->pending_count);
	while (workers_next_macs(workers, in, &list))
		write_entries(&writer, list.entry, list.count);
	return writer.hash;
}

static int write_file(struct mac_store *store, struct workers *workers, struct instance *in)
{
	struct file_replace replace;
	uint64_t hash;
	int rc = file_replace_open(&replace, store->path);

	if (rc != 0)
		return rc;
	fputs("# Addresses learned by weft-switch: MAC VLAN PORT. Read once at start.\n",
	      replace.file);
	hash = walk(store, workers, in, replace.file);
	rc = file_replace_finish(&replace);
	if (rc == 0)
		store->saved_hash = hash;
	return rc;
}

int mac_store_save(struct mac_store *store, struct workers *workers, struct instance *in)
{
	int rc;

	if (walk(store, workers, in, NULL) == store->saved_hash)
		return 0;
	rc = write_file(store, workers, in);
	if (rc != 0)
		log_err("%s: %s cannot be written: %s", in->config->sw.name, store->path,
			strerror(-rc));
	return rc;
}

void mac_store_close(struct mac_store *store)
{
	free(store->pending);
	*store = (struct mac_store){ 0 };
}
