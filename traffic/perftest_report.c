// SPDX-License-Identifier: BSD-3-Clause
//
// Figures in perftest's units: megabytes of 2^20 bytes, millions of messages. The table has
// perftest's columns, so that a script that reads one reads the other; what a server prints is what
// its client measured, except for SEND, where nobody tells it.

#include "traffic/perftest_report.h"

#include <inttypes.h>
#include <jansson.h>

static const char line[] =
	"---------------------------------------------------------------------------------------\n";

// --- figures ----------------------------------------------------------------------------------

static double megabytes(uint64_t count, uint64_t size, uint64_t ns)
{
	return ns == 0 ? 0 : (double)count * (double)size / 1048576 / ((double)ns * 1e-9);
}

void perftest_measure_whole(uint64_t count, uint64_t size, uint64_t ns, struct perftest_report *out)
{
	out->size = size;
	out->count = count;
	out->average = megabytes(count, size, ns);
	out->peak = out->average;
	out->rate = ns == 0 ? 0 : (double)count * 1e3 / (double)ns;
}

void perftest_measure(const uint64_t *done_ns, uint64_t count, const struct traffic_config *config,
		      uint64_t begun_ns, struct perftest_report *out)
{
	const uint64_t depth = config->run.depth * config->run.qps;
	const uint64_t size = config->run.size;

	perftest_measure_whole(count, size, count == 0 ? 0 : done_ns[count - 1] - begun_ns, out);
	for (uint64_t i = depth; i < count; i++) {
		const double here = megabytes(depth, size, done_ns[i] - done_ns[i - depth]);

		out->peak = here > out->peak ? here : out->peak;
	}
}

void perftest_measure_both(const struct perftest_report *own, const struct perftest_report *peer,
			   struct perftest_report *out)
{
	*out = *own;
	out->peak += peer->peak;
	out->average += peer->average;
	out->rate += peer->rate;
}

// --- text -------------------------------------------------------------------------------------

static const char *name_of(enum rc_op op)
{
	switch (op) {
	case RC_SEND: return "Send";
	case RC_WRITE: return "RDMA_Write";
	case RC_READ: return "RDMA_Read";
	}
	return "";
}

static void print_side(const char *who, const struct perftest_keys *keys, FILE *out)
{
	fprintf(out, " %s address: QPN 0x%04x PSN 0x%06x RKey 0x%08x VAddr 0x%016" PRIx64 "\n", who,
		keys->qp, keys->psn, keys->rkey, keys->va);
}

static void print_sides(const struct perftest_result *result, FILE *out)
{
	for (uint32_t i = 0; i < result->shape.qps; i++)
		print_side("local", &result->own->keys[i], out);
	for (uint32_t i = 0; i < result->shape.qps; i++)
		print_side("remote", &result->peer->keys[i], out);
}

void perftest_report_text(const struct perftest_result *result, FILE *out)
{
	const struct perftest_report *report = &result->report;

	fprintf(out, "%s                    %s %sBW Test\n", line, name_of(result->shape.op),
		result->shape.both ? "Bidirectional " : "");
	fprintf(out, " Number of qps   : %" PRIu32 "\n Mtu             : %" PRIu32 "[B]\n",
		result->shape.qps, result->mtu);
	fprintf(out, " Peer            : perftest %s\n%s", result->peer->version, line);
	print_sides(result, out);
	fprintf(out,
		"%s #bytes     #iterations    BW peak[MB/sec]    BW average[MB/sec]   "
		"MsgRate[Mpps]\n",
		line);
	fprintf(out, " %-10" PRIu64 " %-14" PRIu64 " %-18.2f %-20.2f %.6f\n%s", report->size,
		report->count, report->peak, report->average, report->rate, line);
}

// --- JSON -------------------------------------------------------------------------------------

static void put(json_t *object, const char *key, uint64_t value)
{
	json_object_set_new(object, key, json_integer((json_int_t)value));
}

// A peer's figures may be no numbers, which JSON does not have.
static void put_real(json_t *object, const char *key, double value)
{
	json_object_set_new(object, key, value - value == 0 ? json_real(value) : json_null());
}

void perftest_report_json(const struct perftest_result *result, FILE *out)
{
	const struct rc_stats *rc = &result->rc;
	json_t *object = json_object();

	json_object_set_new(object, "test", json_string(name_of(result->shape.op)));
	json_object_set_new(object, "client", json_boolean(result->client));
	json_object_set_new(object, "peer", json_string(result->peer->version));
	json_object_set_new(object, "bidirectional", json_boolean(result->shape.both));
	put(object, "qps", result->shape.qps);
	put(object, "mtu", result->mtu);
	put(object, "bytes", result->report.size);
	put(object, "iterations", result->report.count);
	put_real(object, "bw_peak", result->report.peak);
	put_real(object, "bw_average", result->report.average);
	put_real(object, "msg_rate", result->report.rate);
	put(object, "tx_packets", rc->tx_packets);
	put(object, "tx_bytes", rc->tx_bytes);
	put(object, "rx_packets", rc->rx_packets);
	put(object, "rx_bytes", rc->rx_bytes);
	put(object, "retransmits", rc->retransmits);
	put(object, "timeouts", rc->timeouts);
	put(object, "naks_received", rc->naks_received);
	put(object, "naks_sent", rc->naks_sent);
	put(object, "rnr_sent", rc->rnr_sent);
	put(object, "duplicates", rc->duplicates);
	put(object, "out_of_sequence", rc->out_of_sequence);
	put(object, "refused", rc->refused);
	put(object, "rx_bad", result->stats.rx_bad);
	put(object, "rx_icrc", result->stats.rx_icrc);
	put(object, "rx_no_qp", result->stats.rx_no_qp);
	put(object, "kernel_lost", result->kernel_lost);
	json_dumpf(object, out, JSON_INDENT(1) | JSON_REAL_PRECISION(9));
	fputc('\n', out);
	json_decref(object);
}
