// SPDX-License-Identifier: BSD-3-Clause
//
// The help: usage, then each option from its descriptor, wrapped for a terminal.
//
// devtools/genman.py takes the examples (lines that begin with two spaces and the program's name)
// and what stands behind "Exit status:" into the man page.

#include "traffic/options_help.h"

#include <string.h>

#include "sys/cfg_value.h"
#include "traffic/config.h"

enum { LEFT_COLUMNS = 28, COLUMNS = 80, DOC_BYTES = 1024, NAME_BYTES = 2 * CONFIG_NAME_BYTES };

static const char head[] =
	"usage: weft-traffic WORKLOAD --hosts SPEC [--OPTION VALUE]...\n"
	"       weft-traffic -c FILE [--OPTION VALUE]...\n"
	"\n"
	"RoCEv2 hosts in software on the ports of a switch, or of any DPDK device.\n"
	"\n"
	"  weft-traffic write --hosts pair\n"
	"  weft-traffic incast --hosts 'memif:/run/lab/{0-7}.sock' --speed 1G --json\n"
	"  weft-traffic all-reduce --hosts 'memif:/run/lab/{0-7}.sock' --size 16M\n"
	"  weft-traffic all-reduce --verbs mlx5_0 --rank 3 --world 8 --coordinator 10.0.0.1:18600\n"
	"\n"
	"Workloads: write, read, send, incast, victim, permutation, mesh, trace, replay,\n"
	"perftest, all-to-all, all-reduce, all-gather, reduce-scatter, moe.\n"
	"\n";

static const char tail[] =
	"\n"
	"Exit status: 0 all arrived; 1 something was lost, wrong, failed or not over in time;\n"
	"2 the command line, the scenario or a port is wrong.\n";

static const char *value_word(enum config_kind kind)
{
	switch (kind) {
	case CONFIG_NAME:
	case CONFIG_TEXT: return "TEXT";
	case CONFIG_COUNT:
	case CONFIG_INT: return "N";
	case CONFIG_BYTES: return "BYTES";
	case CONFIG_BPS: return "RATE";
	case CONFIG_NS: return "TIME";
	case CONFIG_METRES: return "LENGTH";
	case CONFIG_PPM: return "PART";
	case CONFIG_RATIO: return "RATIO";
	case CONFIG_BOOL: return "";
	case CONFIG_ENUM: return "WORD";
	case CONFIG_MASK8: return "PRIORITIES";
	case CONFIG_MAC: return "MAC";
	case CONFIG_PREFIX:
	case CONFIG_ADDRESS: return "ADDRESS";
	case CONFIG_NUMBERS: return "N,N,...";
	}
	return "";
}

// Prints text in the right column, beginning at column `at`.
static void put_wrapped(const char *text, size_t at, FILE *out)
{
	size_t column = at;

	while (*text != '\0') {
		const size_t len = strcspn(text, " ");

		if (column + 1 + len > COLUMNS) {
			fprintf(out, "\n%*s", LEFT_COLUMNS, "");
			column = LEFT_COLUMNS;
		} else if (column > LEFT_COLUMNS) {
			fputc(' ', out);
			column++;
		}
		fprintf(out, "%.*s", (int)len, text);
		column += len;
		text += len + (text[len] == ' ');
	}
	fputc('\n', out);
}

static void put_row(const char *left, const char *doc, FILE *out)
{
	const size_t len = strlen(left);

	fprintf(out, "%-*s", LEFT_COLUMNS, left);
	if (len >= LEFT_COLUMNS)
		fprintf(out, "\n%*s", LEFT_COLUMNS, "");
	put_wrapped(doc, LEFT_COLUMNS, out);
}

// "doc (words; default)".
static void describe(const struct config_knob *knob, char doc[DOC_BYTES])
{
	const bool words = knob->kind == CONFIG_ENUM;
	const bool shown = knob->def[0] != '\0' && knob->def[0] != '-' && knob->def[0] != '!' &&
			   knob->kind != CONFIG_BOOL && strcmp(knob->def, "0") != 0;
	size_t len = (size_t)snprintf(doc, DOC_BYTES, "%s", knob->doc);
	char allowed[256];

	if (words)
		cfg_value_allowed(knob, sizeof(allowed), allowed);
	if (words || shown)
		snprintf(doc + len, DOC_BYTES - len, " (%s%s%s%s)", words ? allowed : "",
			 words && shown ? "; " : "", shown ? "default " : "",
			 shown ? knob->def : "");
}

static void put_knob(const char *before, const char *after, const struct config_knob *knob,
		     FILE *out)
{
	const bool on = knob->kind == CONFIG_BOOL && strcmp(knob->def, "true") == 0;
	const char *word = value_word(knob->kind);
	char left[NAME_BYTES];
	char doc[DOC_BYTES];

	snprintf(left, sizeof(left), "%s%s%s%s%s", before, on ? "[no-]" : "", knob->key,
		 word[0] != '\0' ? after : "", word);
	for (char *c = strchr(left, '_'); c != NULL && before[6] == '-'; c = strchr(c, '_'))
		*c = '-';
	describe(knob, doc);
	put_row(left, doc, out);
}

static void put_list(const struct config_table *table, FILE *out)
{
	const struct config_knob *key = &table->knobs[0];
	char left[NAME_BYTES];
	char doc[DOC_BYTES];

	snprintf(left, sizeof(left), "      --%.20s %.20s%s", table->name, key->key,
		 table->knob_count > 1 ? "[:KNOB=VALUE,...]" : "");
	describe(key, doc);
	put_row(left, doc, out);
	for (uint32_t i = 1; i < table->knob_count; i++)
		put_knob("          ", "=", &table->knobs[i], out);
}

void options_help(FILE *out)
{
	const struct config_table *top = &traffic_tables[0];

	fputs(head, out);
	put_row("  -c, --config FILE", "scenario: knobs as below, _ for -; options come on top",
		out);
	put_row("      --dump", "print the scenario that options and file make, and end", out);
	put_row("  -h, --help", "print this", out);
	put_row("  -V, --version", "print the version", out);
	for (uint32_t i = 0; i < top->knob_count; i++) {
		if (strcmp(top->knobs[i].key, "workload") != 0)
			put_knob("      --", " ", &top->knobs[i], out);
	}
	for (uint32_t i = 1; i < TRAFFIC_TABLE_COUNT; i++)
		put_list(&traffic_tables[i], out);
	fputs(tail, out);
}

void options_offer(struct nearest *near)
{
	const struct config_table *top = &traffic_tables[0];

	for (uint32_t i = 0; i < top->knob_count; i++)
		nearest_offer(near, top->knobs[i].key);
	for (uint32_t i = 1; i < TRAFFIC_TABLE_COUNT; i++)
		nearest_offer(near, traffic_tables[i].name);
	nearest_offer(near, "config");
	nearest_offer(near, "help");
	nearest_offer(near, "dump");
}
