// SPDX-License-Identifier: BSD-3-Clause
//
// Two snapshots a second: one with the watermarks that people read, which stay, and one with the
// periodic kind, which is cleared at once, so that each report has the peaks of its own time. Peaks
// of a report that was not answered are kept for the next one.

#include "dataplane/fabric_counters.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "dataplane/counters_fill.h"
#include "dataplane/lldp.h"
#include "dataplane/prio_rows.h"
#include "dataplane/take_snapshot.h"
#include "schema/fabric.gen.h"
#include "sys/counters_packed.h"

// As schema/fabric.rpc has them.
enum { COUNTERS_BYTES = 48 * 1024, NEIGHBORS_AT_ONCE = 64, TEXT_BYTES = 64 };

struct fabric_counters {
	struct workers *workers;
	struct instance *in;
	bool anew;
	bool under_way; // a report is not answered yet
	uint32_t from;
	uint64_t *now;
	uint64_t *told;
	uint64_t neighbor_told[CONFIG_PORT_MAX];   // hash of what was said, 0: nobody
	uint64_t neighbor_saying[CONFIG_PORT_MAX]; // by the report under way
	size_t size;                               // of its bytes
	uint8_t bytes[COUNTERS_BYTES];
};

struct fabric_counters *fabric_counters_open(struct workers *workers, struct instance *in)
{
	const uint32_t count = counters_count(in->port_count);
	struct fabric_counters *fc = calloc(1, sizeof(*fc));

	if (fc == NULL)
		return NULL;
	fc->workers = workers;
	fc->in = in;
	fc->anew = true;
	fc->now = calloc(count, sizeof(*fc->now));
	fc->told = calloc(count, sizeof(*fc->told));
	if (fc->now == NULL || fc->told == NULL) {
		fabric_counters_close(fc);
		return NULL;
	}
	return fc;
}

void fabric_counters_close(struct fabric_counters *fc)
{
	if (fc == NULL)
		return;
	free(fc->now);
	free(fc->told);
	free(fc);
}

// Rows of a priority of which the device, and only the device, knows.
static void fill_prio(const struct prio_rows *known, uint32_t prio, uint64_t *rows)
{
	const struct stat_table *table = &stat_tables[STAT_PRIO];

	for (uint32_t i = 0; i < table->count; i++) {
		if (!prio_rows_value(known, prio, &table->rows[i], &rows[i]))
			rows[i] = COUNTERS_UNKNOWN;
	}
}

static void fill_device(struct fabric_counters *fc, uint32_t at)
{
	const struct port *port = &fc->in->port[at];
	const uint64_t mbps = port->ethdev == PORT_NO_DEVICE ? 0 : port->link_mbps;
	uint64_t *block = &fc->now[counters_port_at(at)];
	struct prio_rows known;

	block[PORT_STATE_ADMIN_UP] = port->config->admin;
	block[PORT_STATE_PRESENT] = port->ethdev != PORT_NO_DEVICE;
	block[PORT_STATE_SPEED] = port->config->speed != 0 ? port->config->speed / 8 :
							     mbps * 125000;
	prio_rows_read(port, &known);
	for (uint32_t i = 0; known.is_device && i < PRIO_COUNT; i++)
		fill_prio(&known, i, &fc->now[counters_prio_at(at, i)]);
}

// Peaks that nobody is known to have are not forgotten.
static void keep_peaks(const struct fabric_counters *fc, struct snapshot *peak)
{
	for (uint32_t i = 0; i < fc->in->port_count; i++) {
		for (uint32_t q = 0; q < QUEUE_COUNT; q++) {
			const uint64_t *was = &fc->now[counters_queue_at(i, q)];
			struct queue_stats *is = &peak->port[i].queue[q];

			is->watermark_bytes = u64_max(is->watermark_bytes,
						      was[QUEUE_STATE_PEAK_BYTES]);
			is->delay_watermark_ns = u64_max(is->delay_watermark_ns,
							 was[QUEUE_STATE_PEAK_DELAY_NS]);
		}
	}
}

static int look(struct fabric_counters *fc)
{
	struct message clear = { .kind = MESSAGE_CLEAR_WATERMARKS,
				 .instance = fc->in,
				 .watermark = WATERMARK_PERIODIC };
	struct snapshot *snapshot = take_snapshot(fc->workers, fc->in, WATERMARK_USER);
	struct snapshot *peak = take_snapshot(fc->workers, fc->in, WATERMARK_PERIODIC);

	if (snapshot == NULL || peak == NULL) {
		free(snapshot);
		free(peak);
		return -ENOMEM;
	}
	workers_call(fc->workers, &clear);
	if (fc->under_way || fc->from != 0)
		keep_peaks(fc, peak);
	counters_fill(snapshot, peak, fc->in->port_count, fc->now);
	for (uint32_t i = 0; i < fc->in->port_count; i++)
		fill_device(fc, i);
	free(snapshot);
	free(peak);
	return 0;
}

struct neighbor_words {
	char name[LLDP_WORDS_BYTES];
	char port[LLDP_WORDS_BYTES];
	char chassis[LLDP_WORDS_BYTES];
};

// The neighbour of a port in words that fit; the hash of them, 0: there is none.
static uint64_t neighbor_words(const struct fabric_counters *fc, uint16_t at,
			       struct neighbor_words *out)
{
	const struct lldp_port *state = lldp_port_of(fc->in->lldp, (port_t){ at });
	const struct lldp_info *info = &state->neighbor[0].info;
	uint64_t hash;

	*out = (struct neighbor_words){ 0 };
	if (state->neighbor_count == 0)
		return 0;
	lldp_name(info, out->name);
	lldp_port_words(&info->port, out->port);
	lldp_chassis_words(&info->chassis, out->chassis);
	out->name[TEXT_BYTES - 1] = out->port[TEXT_BYTES - 1] = out->chassis[TEXT_BYTES - 1] = '\0';
	hash = hash_add(hash_add(hash_text(out->name), hash_text(out->port)),
			hash_text(out->chassis));
	return hash == 0 ? 1 : hash;
}

static int add_neighbor(struct rpc_report *report, uint32_t at, const struct neighbor_words *words)
{
	struct rpc_neighbor *row = rpc_report_add_neighbors(report);

	if (row == NULL)
		return -ENOMEM;
	row->port = at;
	row->has_port = true;
	if (rpc_neighbor_set_name(row, words->name) != 0 ||
	    rpc_neighbor_set_remote_port(row, words->port) != 0 ||
	    rpc_neighbor_set_chassis(row, words->chassis) != 0)
		return -ENOMEM;
	return 0;
}

static int add_neighbors(struct fabric_counters *fc, struct rpc_report *report)
{
	struct neighbor_words words;
	int rc = 0;

	for (uint16_t i = 0; i < fc->in->port_count && rc == 0; i++) {
		const uint64_t hash = neighbor_words(fc, i, &words);

		fc->neighbor_saying[i] = fc->neighbor_told[i];
		if (hash == fc->neighbor_told[i] || report->neighbors_count == NEIGHBORS_AT_ONCE)
			continue;
		rc = add_neighbor(report, i, &words);
		fc->neighbor_saying[i] = hash;
	}
	return rc;
}

int fabric_counters_report(struct fabric_counters *fc, struct rpc_report *report)
{
	int rc = look(fc);

	if (rc != 0)
		return rc;
	fc->size = counters_encode(fc->now, fc->told, fc->in->port_count, fc->anew, &fc->from,
				   fc->bytes, sizeof(fc->bytes));
	if (fc->size > 0)
		rc = rpc_report_set_counters(report, fc->bytes, fc->size);
	if (rc == 0)
		rc = add_neighbors(fc, report);
	fc->under_way = true;
	return rc;
}

void fabric_counters_answered(struct fabric_counters *fc, bool again)
{
	if (!fc->under_way)
		return;
	fc->under_way = false;
	fc->anew = false;
	memcpy(fc->neighbor_told, fc->neighbor_saying, sizeof(fc->neighbor_told));
	if (fc->size > 0)
		counters_decode(fc->bytes, fc->size, fc->told, fc->in->port_count);
	if (again)
		fabric_counters_forget(fc);
}

void fabric_counters_forget(struct fabric_counters *fc)
{
	fc->anew = true;
	fc->from = 0;
	fc->size = 0;
	memset(fc->told, 0, counters_count(fc->in->port_count) * sizeof(*fc->told));
	memset(fc->neighbor_told, 0, sizeof(fc->neighbor_told));
}
