// SPDX-License-Identifier: BSD-3-Clause
//
// One answer of /v1/stats, summed over the ports of a switch. What is not there is 0: a switch of
// another version is no reason to stop.

#include "traffic/switch_counts.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "sys/client.h"

enum { PATH_BYTES = 128 };

static const char run_dir[] = "/run/weft";
static const char suffix[] = ".sock";

// Where its socket is, and its name, which follows from that.
static int place_of(const char *name, char dir[PATH_BYTES], char short_name[PATH_BYTES])
{
	const char *slash = strrchr(name, '/');
	const char *file = slash == NULL ? name : slash + 1;
	size_t len = strlen(file);

	if (slash != NULL) {
		if (len <= strlen(suffix) || strcmp(file + len - strlen(suffix), suffix) != 0) {
			fprintf(stderr,
				"weft-traffic: --switch-name %s: a socket is named NAME.sock\n",
				name);
			return -EINVAL;
		}
		len -= strlen(suffix);
	}
	if (strlen(name) >= PATH_BYTES) {
		fprintf(stderr, "weft-traffic: --switch-name %s: %s\n", name,
			strerror(ENAMETOOLONG));
		return -ENAMETOOLONG;
	}
	// The root's slash is all of its name.
	snprintf(dir, PATH_BYTES, "%.*s",
		 slash == NULL ? (int)sizeof(run_dir) : (int)(slash - name + (slash == name)),
		 slash == NULL ? run_dir : name);
	snprintf(short_name, PATH_BYTES, "%.*s", (int)len, file);
	return 0;
}

static uint64_t number(const json_t *object, const char *key)
{
	const json_int_t value = json_integer_value(json_object_get(object, key));

	return value > 0 ? (uint64_t)value : 0;
}

static void add_reason(const char *name, uint64_t packets, struct switch_counts *out)
{
	uint32_t i = 0;

	while (i < out->reason_count && strcmp(out->reason[i].name, name) != 0)
		i++;
	if (i == SWITCH_REASONS_MAX)
		return;
	if (i == out->reason_count) {
		snprintf(out->reason[i].name, SWITCH_REASON_BYTES, "%s", name);
		out->reason[i].packets = 0;
		out->reason_count++;
	}
	out->reason[i].packets += packets;
}

static void add_groups(const json_t *groups, struct switch_counts *out)
{
	const json_t *group;
	size_t i;

	json_array_foreach(groups, i, group) {
		const uint64_t headroom = number(group, "xoff_room_watermark_bytes");

		if (!json_is_true(json_object_get(group, "lossless")))
			continue;
		out->lossless_drops += number(group, "dropped_packets");
		if (headroom > out->headroom_bytes)
			out->headroom_bytes = headroom;
	}
}

static void add_port(json_t *port, prio_t prio, struct switch_counts *out)
{
	const json_t *queues = json_object_get(port, "queues");
	const json_t *priority = json_array_get(json_object_get(port, "priorities"), prio.v);
	const char *name;
	const json_t *queue, *packets;
	size_t i;

	add_groups(json_object_get(port, "priority_groups"), out);
	out->lossless_drops += number(json_array_get(queues, prio.v), "dropped_packets");
	out->xoffs += number(priority, "pfc_tx_pkts");
	json_array_foreach(queues, i, queue)
		out->ce_marked += number(queue, "wred_ecn_marked_packets");
	json_object_foreach(json_object_get(port, "drops"), name, packets)
		add_reason(name, (uint64_t)json_integer_value(packets), out);
}

int switch_counts_read(const char *name, prio_t prio, struct switch_counts *out)
{
	char dir[PATH_BYTES], short_name[PATH_BYTES];
	const json_t *boot_id;
	const int rc = place_of(name, dir, short_name);
	json_t *answer, *port;
	size_t i;

	*out = (struct switch_counts){ 0 };
	if (rc != 0)
		return rc;
	answer = client_call(&(struct client_request){ .run_dir = dir,
						       .name = short_name,
						       .method = "GET",
						       .target = "/v1/stats?watermark=user" });
	if (answer == NULL)
		return -ENOTCONN;
	boot_id = json_object_get(json_object_get(answer, "switch"), "boot_id");
	if (json_is_string(boot_id))
		snprintf(out->boot_id, sizeof(out->boot_id), "%s", json_string_value(boot_id));
	json_array_foreach(json_object_get(answer, "ports"), i, port)
		add_port(port, prio, out);
	for (uint32_t k = 0; k < out->reason_count; k++)
		out->drops += out->reason[k].packets;
	json_decref(answer);
	return 0;
}

static uint64_t packets_of(const struct switch_counts *counts, const char *name)
{
	for (uint32_t i = 0; i < counts->reason_count; i++) {
		if (strcmp(counts->reason[i].name, name) == 0)
			return counts->reason[i].packets;
	}
	return 0;
}

void switch_counts_since(const struct switch_counts *before, const struct switch_counts *now,
			 struct switch_counts *out)
{
	*out = *now;
	out->drops -= before->drops;
	out->lossless_drops -= before->lossless_drops;
	out->xoffs -= before->xoffs;
	out->ce_marked -= before->ce_marked;
	out->reason_count = 0;
	for (uint32_t i = 0; i < now->reason_count; i++) {
		const uint64_t more = now->reason[i].packets -
				      packets_of(before, now->reason[i].name);

		if (more != 0)
			add_reason(now->reason[i].name, more, out);
	}
}
