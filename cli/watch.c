// SPDX-License-Identifier: BSD-3-Clause
//
// Live rates. A look is an answer of /v1/stats; rates are the differences to the look before over
// the switch's own time between them, so a command that was late shows no wrong rates. A switch
// that restarted has none for one look.

#include "cli/watch.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "cli/keys.h"
#include "cli/ports.h"
#include "cli/rate.h"
#include "cli/run.h"
#include "sys/client.h"

static const struct column columns[] = {
	{ "Port", "name", CELL_TEXT },
	{ "RX", "rx_bps", CELL_SPEED },
	{ "RX/pps", "rx_pps", CELL_COUNT },
	{ "RX use", "rx_share_ppm", CELL_SHARE },
	{ "TX", "tx_bps", CELL_SPEED },
	{ "TX/pps", "tx_pps", CELL_COUNT },
	{ "TX use", "tx_share_ppm", CELL_SHARE },
	{ "DRP/s", "dropped_per_second", CELL_COUNT },
	{ "CE/s", "ecn_marked_per_second", CELL_COUNT },
	{ "CNP/s", "cnp_per_second", CELL_COUNT },
	{ "Paused by peer", "rx_paused_ppm", CELL_SHARE },
	{ "Pauses peer", "tx_paused_ppm", CELL_SHARE },
};

// A port at two looks.
struct seen {
	const json_t *port;
	const json_t *before;
	uint64_t elapsed_ns; // > 0
};

// By how much two counters of the port grew together.
static uint64_t grown(const struct seen *seen, const char *a, const char *b)
{
	const json_t *now = json_object_get(seen->port, "stats");
	const json_t *then = json_object_get(seen->before, "stats");
	uint64_t x, y = 0;

	if (!rate_difference(then, now, a, &x) || (b != NULL && !rate_difference(then, now, b, &y)))
		return 0;
	return x + y;
}

static void row_direction(json_t *row, const struct seen *seen, const char *octets,
			  const char *unicast, const char *others)
{
	const uint64_t bps = rate_per_second(grown(seen, octets, NULL), 8, seen->elapsed_ns);
	const json_t *speed = json_object_get(seen->port, "speed_bps");

	row_number(row, bps);
	row_number(row, rate_per_second(grown(seen, unicast, others), 1, seen->elapsed_ns));
	row_number(row, rate_share_ppm(bps, (uint64_t)json_integer_value(speed)));
}

// The share of the time that each priority was paused.
static void row_pauses(json_t *row, const struct seen *seen, const char *key)
{
	json_t *shares = json_array();

	for (size_t i = 0; i < PRIO_COUNT; i++) {
		uint64_t us;

		if (!rate_difference(port_element(seen->before, "priorities", i),
				     port_element(seen->port, "priorities", i), key, &us))
			us = 0;
		json_array_append_new(shares, json_integer((json_int_t)rate_share_ppm(
						      us * 1000, seen->elapsed_ns)));
	}
	json_array_append_new(row, shares);
}

static void add_port(struct table *table, const struct seen *seen)
{
	json_t *row = table_row(table);

	row_member(row, seen->port, "name");
	row_direction(row, seen, port_key.if_in_octets, port_key.if_in_ucast_pkts,
		      port_key.if_in_non_ucast_pkts);
	row_direction(row, seen, port_key.if_out_octets, port_key.if_out_ucast_pkts,
		      port_key.if_out_non_ucast_pkts);
	row_number(row,
		   rate_per_second(grown(seen, port_key.in_dropped_pkts, port_key.out_dropped_pkts),
				   1, seen->elapsed_ns));
	row_number(row, rate_per_second(grown(seen, port_key.ecn_marked_packets, NULL), 1,
					seen->elapsed_ns));
	row_number(row, rate_per_second(grown(seen, port_key.cnp_rx_packets, NULL), 1,
					seen->elapsed_ns));
	row_pauses(row, seen, prio_key.rx_pause_duration_us);
	row_pauses(row, seen, prio_key.tx_pause_duration_us);
}

int cmd_watch(const struct query *query, struct report *report)
{
	struct table *table = report_table(report, "ports", COLUMNS(columns));
	const uint64_t elapsed = rate_elapsed_ns(query->before, query->reply);
	const json_t *sw = json_object_get(query->reply, "switch");
	const char *name = json_string_value(json_object_get(sw, "name"));
	struct seen seen = { .elapsed_ns = elapsed };
	size_t at = 0;

	table_heading(table, "%s, up %.1f s, rates of %.1f s%s", name != NULL ? name : "-",
		      (double)json_integer_value(json_object_get(sw, "uptime_ns")) / 1e9,
		      (double)elapsed / 1e9, elapsed == 0 ? ": it has just started" : "");
	while (elapsed > 0 && (seen.port = port_next(query, &at)) != NULL) {
		seen.before = rate_same_port(query->before, seen.port);
		if (seen.before != NULL)
			add_port(table, &seen);
	}
	return 0;
}

// --- the loop -----------------------------------------------------------------------------------

static volatile sig_atomic_t ended;

static void end(int number)
{
	ended = number;
}

// Without SA_RESTART, so that a signal ends a wait.
static void catch_signals(void)
{
	struct sigaction action = { .sa_handler = end };

	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
}

// A switch that is watched. Its name is NULL when it is the only one.
struct watched {
	const char *name;
	json_t *before;
};

static void print_line(const struct query *query, const struct report *report)
{
	const json_t *sw = json_object_get(query->reply, "switch");
	json_t *line = json_object();
	json_t *tables = report_json(report);

	json_object_set(line, "switch", json_object_get(sw, "name"));
	json_object_set(line, "uptime_ns", json_object_get(sw, "uptime_ns"));
	json_object_set_new(line, "interval_ns",
			    json_integer((json_int_t)rate_elapsed_ns(query->before, query->reply)));
	json_object_update(line, tables);
	json_dumpf(line, stdout, JSON_COMPACT);
	putchar('\n');
	json_decref(tables);
	json_decref(line);
}

static int look(struct watched *one, const struct options *options, const char *port)
{
	struct query query = { .before = one->before, .port = port };
	struct report report = { 0 };
	int status = EXIT_DONE;

	query.reply = run_ask(options, one->name, "GET", "/v1/stats", &status);
	if (query.reply == NULL)
		return ended ? EXIT_DONE : status;
	if (port_check(&query) < 0)
		status = EXIT_REFUSED;
	else if (one->before != NULL)
		cmd_watch(&query, &report);
	if (report.table_count > 0 && options->json) {
		print_line(&query, &report);
	} else if (report.table_count > 0) {
		out_table(&report, stdout);
		putchar('\n');
	}
	fflush(stdout);
	report_release(&report);
	json_decref(one->before);
	one->before = query.reply;
	return status;
}

static int look_at_all(struct watched *all, uint32_t count, const struct options *options,
		       const char *port)
{
	int status = EXIT_DONE;

	for (uint32_t i = 0; i < count && status == EXIT_DONE && !ended; i++)
		status = look(&all[i], options, port);
	return status;
}

int watch_run(const struct command *command, const struct options *options, const char *port)
{
	const uint64_t interval = options->interval_ns != 0 ? options->interval_ns : 1000000000;
	const bool redraw = !options->json && isatty(STDOUT_FILENO);
	struct watched all[CLIENT_NAMES_MAX] = { { options->name, NULL } };
	struct client_names names;
	uint32_t count = 1;
	int status;

	if (options->name != NULL && strcmp(options->name, "all") == 0 &&
	    client_list(options->run_dir, &names) == 0 && names.count > 0) {
		count = names.count;
		for (uint32_t i = 0; i < count; i++)
			all[i].name = names.name[i];
	}
	catch_signals();
	status = look_at_all(all, count, options, port);
	for (uint64_t i = 0; status == EXIT_DONE && !ended; i++) {
		if (options->looks != 0 && i == options->looks)
			break;
		run_wait(interval);
		if (ended)
			break;
		if (redraw)
			fputs("\033[H\033[J", stdout);
		status = look_at_all(all, count, options, port);
		if (ferror(stdout))
			break;
	}
	for (uint32_t i = 0; i < count; i++)
		json_decref(all[i].before);
	return status;
}
