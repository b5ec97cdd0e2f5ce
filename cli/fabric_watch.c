// SPDX-License-Identifier: BSD-3-Clause
//
// Reads server-sent events (WHATWG HTML, 9.2) as far as the fabric manager makes use of them: lines
// "id:", "event:" and "data:", an empty one behind each event, and lines with a colon alone as
// signs of life. Lines may come in pieces; one that is longer than any of the manager's ends it.

#include "cli/fabric_watch.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <string.h>

#include "cli/fabric_text.h"
#include "cli/run.h"
#include "cli/target.h"

enum { LINE_BYTES = 64 << 10, TARGET_BYTES = 128, WAIT_MS = 1000, KIND_BYTES = 32 };

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

struct reader {
	const struct options *options;
	char line[LINE_BYTES];
	size_t len;
	char kind[KIND_BYTES];
	json_t *data;
	uint64_t printed;
};

static void print_status(const json_t *status)
{
	char time[FABRIC_TEXT_BYTES];
	char generation[FABRIC_TEXT_BYTES];
	char repair[FABRIC_TEXT_BYTES];
	const char *why =
		json_string_value(json_object_get(json_object_get(status, "hold"), "why"));

	printf("%s  plan     generation %s; %s%s%s\n",
	       fabric_text_clock(json_integer_value(json_object_get(status, "wall_ms")), time),
	       fabric_text_generation(status, generation), fabric_text_repair(status, repair),
	       why != NULL && why[0] != '\0' ? "; held: " : "", why != NULL ? why : "");
}

static void print_event(const struct reader *reader)
{
	char text[FABRIC_TEXT_BYTES];

	if (reader->options->json) {
		json_dumpf(reader->data, stdout, JSON_COMPACT | JSON_REAL_PRECISION(12));
		putchar('\n');
	} else if (strcmp(reader->kind, "status") == 0) {
		print_status(reader->data);
	} else {
		puts(fabric_text_event(reader->data, text));
	}
	fflush(stdout);
}

// Takes a whole line. False: there is enough.
static bool take_line(struct reader *reader)
{
	const char *line = reader->line;

	if (strncmp(line, "event: ", 7) == 0)
		snprintf(reader->kind, KIND_BYTES, "%.*s", KIND_BYTES - 1, line + 7);
	if (strncmp(line, "data: ", 6) == 0) {
		json_decref(reader->data);
		reader->data = json_loads(line + 6, 0, NULL);
	}
	if (line[0] != '\0' || reader->data == NULL)
		return true;
	print_event(reader);
	json_decref(reader->data);
	reader->data = NULL;
	reader->printed++;
	return !ferror(stdout) &&
	       (reader->options->looks == 0 || reader->printed < reader->options->looks);
}

// Takes a byte of a line. False: there is enough, or it is no event.
static bool take_byte(struct reader *reader, char byte)
{
	if (byte == '\n') {
		reader->line[reader->len] = '\0';
		reader->len = 0;
		return take_line(reader);
	}
	reader->line[reader->len++] = byte;
	if (reader->len < LINE_BYTES)
		return true;
	fputs("weft: the fabric manager says something else than events\n", stderr);
	return false;
}

static bool take(struct reader *reader, const char *bytes, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		if (!take_byte(reader, bytes[i]))
			return false;
	}
	return true;
}

// False: the manager ended before anybody wanted it.
static bool read_all(struct client_stream *stream, struct reader *reader)
{
	char bytes[4096];
	ssize_t count;

	do {
		count = client_read(stream, bytes, sizeof(bytes), WAIT_MS);
		if (count > 0 && !take(reader, bytes, (size_t)count))
			return true;
	} while (!ended && (count > 0 || count == -EAGAIN));
	if (!ended)
		fputs("weft: the fabric manager has ended\n", stderr);
	return ended;
}

int fabric_watch_run(const struct options *options)
{
	static struct reader reader;
	char target[TARGET_BYTES] = "/v1/fabric/watch";
	enum client_fault fault = CLIENT_REFUSED;
	struct client_stream stream;
	bool good;

	if (options->since != NULL && !target_add(target, sizeof(target), "since", options->since))
		return EXIT_USAGE;
	reader.options = options;
	catch_signals();
	if (!client_open(&(struct client_request){ .run_dir = options->run_dir,
						   .fabric = true,
						   .method = "GET",
						   .target = target,
						   .fault = &fault },
			 &stream))
		return run_status(fault);
	good = read_all(&stream, &reader);
	client_close(&stream);
	json_decref(reader.data);
	return good && !ferror(stdout) ? EXIT_DONE : EXIT_REFUSED;
}
