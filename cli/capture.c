// SPDX-License-Identifier: BSD-3-Clause
//
// The stream is cut into the blocks of pcapng (draft-ietf-opsawg-pcapng), which are counted on
// their way: packets, and in the statistics at the end what each interface has lost. A stream that
// ends without statistics was cut short.
//
// A signal asks the switch, by another connection, to end the stream; a second one ends this.

#include "cli/capture.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/run.h"
#include "cli/target.h"
#include "sys/client.h"

enum {
	TARGET_BYTES = 512,
	BLOCK_MAX = 1 << 20,
	WAIT_MS = 200,
	BLOCK_STATISTICS = 5,
	BLOCK_PACKET = 6,
	OPTION_DROPPED = 5, // isb_ifdrop
	STATISTICS_OPTIONS = 20,
};

struct writer {
	FILE *file;
	const char *name;
	uint8_t bytes[BLOCK_MAX]; // what has come and is not a whole block yet
	size_t len;
	uint64_t packets;
	uint64_t lost;
	bool ended; // there were statistics
};

// Signals that came; the handler's only way to speak.
static volatile sig_atomic_t signals;

static void on_signal(int number)
{
	(void)number;
	signals++;
}

static void watch_signals(void)
{
	const struct sigaction action = { .sa_handler = on_signal };

	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
	signal(SIGPIPE, SIG_IGN);
}

// --- the request --------------------------------------------------------------------------------

static bool add(char target[TARGET_BYTES], const char *key, const char *value)
{
	return value == NULL || target_add(target, TARGET_BYTES, key, value);
}

static bool make_target(const struct command *command, const struct options *options,
			const char *const *values, uint32_t count, const char *id,
			char target[TARGET_BYTES])
{
	const char *second = count > 1 ? values[1] : NULL;

	snprintf(target, TARGET_BYTES, "%s", command->target);
	return add(target, "port", count > 0 ? values[0] : NULL) &&
	       add(target, command->takes & TAKES_DIRECTION ? "direction" : "queue", second) &&
	       add(target, "count", options->count) && add(target, "seconds", options->seconds) &&
	       add(target, "snaplen", options->snaplen) && add(target, "reason", options->reason) &&
	       add(target, "id", id);
}

// --- the stream ---------------------------------------------------------------------------------

static uint32_t word_at(const uint8_t *at)
{
	uint32_t word;

	memcpy(&word, at, sizeof(word));
	return word;
}

// What the interface of a block of statistics has lost.
static uint64_t lost_of(const uint8_t *block, size_t len)
{
	size_t at = STATISTICS_OPTIONS;
	uint64_t lost = 0;

	while (at + 4 <= len - 4) {
		const uint32_t head = word_at(block + at);
		uint16_t code, bytes;

		memcpy(&code, block + at, sizeof(code));
		memcpy(&bytes, block + at + 2, sizeof(bytes));
		if (head == 0 || at + 4 + bytes > len - 4)
			break;
		if (code == OPTION_DROPPED && bytes == sizeof(lost))
			memcpy(&lost, block + at + 4, sizeof(lost));
		at += 4 + ((bytes + 3u) & ~3u);
	}
	return lost;
}

// Writes a whole block. False when that fails.
static bool write_block(struct writer *writer, const uint8_t *block, size_t len)
{
	const uint32_t type = word_at(block);

	if (fwrite(block, 1, len, writer->file) != len)
		return false;
	writer->packets += type == BLOCK_PACKET;
	if (type == BLOCK_STATISTICS) {
		writer->lost += lost_of(block, len);
		writer->ended = true;
	}
	return true;
}

// Writes the blocks that have come whole, and moves the rest to the front once: 0, or -errno.
static int write_blocks(struct writer *writer)
{
	size_t at = 0;

	while (writer->len - at >= 8) {
		const uint32_t bytes = word_at(writer->bytes + at + 4);

		if (bytes < 12 || bytes % 4 != 0 || bytes > BLOCK_MAX)
			return -EPROTO;
		if (writer->len - at < bytes)
			break;
		if (!write_block(writer, writer->bytes + at, bytes))
			return -errno;
		at += bytes;
	}
	memmove(writer->bytes, writer->bytes + at, writer->len - at);
	writer->len -= at;
	return fflush(writer->file) == 0 ? 0 : -errno;
}

// Asks the switch to end the stream, which then ends with statistics.
static void ask_to_stop(const struct options *options, const char *id)
{
	char target[TARGET_BYTES];
	int status;

	snprintf(target, sizeof(target), "/v1/capture/stop?id=%s", id);
	json_decref(run_ask(options, options->name, "POST", target, &status));
}

// 0 at the end of the stream, or -errno.
static int copy(struct client_stream *stream, struct writer *writer, const struct options *options,
		const char *id)
{
	bool asked = false;
	int rc = 0;

	while (rc == 0 && signals < 2) {
		ssize_t n;

		if (signals > 0 && !asked)
			ask_to_stop(options, id);
		asked = signals > 0;
		n = client_read(stream, writer->bytes + writer->len, BLOCK_MAX - writer->len,
				WAIT_MS);
		if (n == 0)
			return 0;
		if (n == -EAGAIN)
			continue;
		if (n < 0)
			return (int)n;
		writer->len += (size_t)n;
		rc = write_blocks(writer);
	}
	return rc;
}

static int report(const struct writer *writer, int rc)
{
	if (rc == -EPROTO)
		fputs("weft: the switch sends something else than a capture\n", stderr);
	else if (rc < 0)
		fprintf(stderr, "weft: %s: %s; the file is not whole\n", writer->name,
			strerror(-rc));
	else if (!writer->ended && signals < 2)
		fputs("weft: the switch has gone: what it captured until then is there\n", stderr);
	fprintf(stderr, "%" PRIu64 " frames captured, %" PRIu64 " lost%s\n", writer->packets,
		writer->lost,
		writer->lost > 0 ? ": they came faster than they could be written (--snaplen 128 "
				   "helps)" :
				   "");
	return rc == 0 && writer->ended ? EXIT_DONE : EXIT_REFUSED;
}

static FILE *open_file(const char *name)
{
	FILE *file;

	if (name == NULL) {
		fputs("weft: capture: where to? -w FILE, or -w - for a pipe as in "
		      "| tshark -r -\n",
		      stderr);
		return NULL;
	}
	if (strcmp(name, "-") == 0) {
		if (!isatty(STDOUT_FILENO))
			return stdout;
		fputs("weft: capture: this is a terminal; try | tshark -r -\n", stderr);
		return NULL;
	}
	file = fopen(name, "wb");
	if (file == NULL)
		fprintf(stderr, "weft: %s: %s\n", name, strerror(errno));
	return file;
}

int capture_run(const struct command *command, const struct options *options,
		const char *const *values, uint32_t value_count)
{
	struct writer *writer = calloc(1, sizeof(*writer));
	enum client_fault fault = CLIENT_REFUSED;
	char target[TARGET_BYTES];
	const struct client_request request = {
		.run_dir = options->run_dir,
		.name = options->name,
		.method = command->method,
		.target = target,
		.fault = &fault,
	};
	struct client_stream stream;
	int status = EXIT_USAGE;
	char id[24];
	int rc;

	if (writer == NULL) {
		fputs("weft: capture: no memory\n", stderr);
		return EXIT_REFUSED;
	}
	snprintf(id, sizeof(id), "%ld", (long)getpid());
	if (!make_target(command, options, values, value_count, id, target) ||
	    (writer->file = open_file(options->write)) == NULL)
		goto out;
	writer->name = options->write;
	watch_signals();
	status = EXIT_REFUSED;
	if (client_open(&request, &stream)) {
		rc = copy(&stream, writer, options, id);
		client_close(&stream);
		status = report(writer, rc);
	} else {
		status = run_status(fault);
	}
	if (writer->file != stdout && fclose(writer->file) != 0 && status == EXIT_DONE) {
		fprintf(stderr, "weft: %s: %s\n", writer->name, strerror(errno));
		status = EXIT_REFUSED;
	}
out:
	free(writer);
	return status;
}
