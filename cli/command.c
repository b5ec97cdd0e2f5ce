// SPDX-License-Identifier: BSD-3-Clause
//
// The command table and how words find their row. The longest row whose words are all given wins;
// a word that fits nowhere gets the nearest one that would.

#include "cli/command.h"

#include <string.h>

#include "sys/nearest.h"

#define STATS "GET", "/v1/stats"

static const struct command commands[] = {
	{ "show interface", "state and counters of ports", STATS, cmd_show_interface,
	  TAKES_PORT | COUNTS },
	{ "show interface headroom", "what each port needs for lossless classes, and has", STATS,
	  cmd_show_interface_headroom, TAKES_PORT },
	{ "show pfc counters", "PFC frames per priority", STATS, cmd_show_pfc_counters,
	  TAKES_PORT | COUNTS },
	{ "show pfc pause", "how often and how long priorities were paused", STATS,
	  cmd_show_pfc_pause, TAKES_PORT | COUNTS },
	{ "show pfcwd config", "queues that the PFC watchdog watches, and how", STATS,
	  cmd_show_pfcwd_config, TAKES_PORT },
	{ "show pfcwd stats", "storms of watched queues, and what passed and was dropped", STATS,
	  cmd_show_pfcwd_stats, TAKES_PORT },
	{ "show queue counters", "frames and bytes sent, dropped and marked per queue", STATS,
	  cmd_show_queue_counters, TAKES_PORT | COUNTS },
	{ "show queue watermark", "highest use of the shared pool and longest stay per queue",
	  STATS, cmd_show_queue_watermark, TAKES_BOTH },
	{ "show priority-group watermark", "highest shared and headroom use per priority group",
	  STATS, cmd_show_pg_watermark, TAKES_BOTH },
	{ "show priority-group drop counters", "frames that a full priority group refused", STATS,
	  cmd_show_pg_drops, TAKES_PORT | COUNTS },
	{ "show drops", "dropped frames by reason", STATS, cmd_show_drops, TAKES_PORT | COUNTS },
	{ "show fabric links", "what fabric ports know of the switches behind them", STATS,
	  cmd_show_fabric_links, TAKES_PORT | COUNTS },
	{ "show steering", "frames taken from and left to the kernel, by class", STATS,
	  cmd_show_steering, TAKES_PORT },
	{ "show buffer", "pools and lossless priority groups", STATS, cmd_show_buffer,
	  TAKES_BOTH | COUNTS },
	{ "show route", "where packets are routed to; of an address: the route it takes", "GET",
	  "/v1/route", cmd_show_route, TAKES_PREFIX },
	{ "show group", "next-hop groups and their members", "GET", "/v1/group", cmd_show_group,
	  TAKES_NOTHING },
	{ "show arp", "neighbours of routing, of both families", "GET", "/v1/arp", cmd_show_arp,
	  TAKES_NOTHING },
	{ "show switch-hash global", "what spreads flows over groups", "GET", "/v1/hash",
	  cmd_show_hash, TAKES_NOTHING },
	{ "show switch-hash capabilities", "what could be set to spread flows", "GET", "/v1/hash",
	  cmd_show_hash_capabilities, TAKES_NOTHING },
	{ "show turns", "turns that packets may take from port to port", "GET", "/v1/turn",
	  cmd_show_turns, TAKES_NOTHING },
	{ "show mac", "learned addresses", "GET", "/v1/mac", cmd_show_mac, TAKES_NOTHING },
	{ "show lag", "LAGs, their ports, and what LACP says of them", STATS, cmd_show_lag,
	  TAKES_NOTHING },
	{ "show acl", "rows of the access list and what they met", "GET", "/v1/acl", cmd_show_acl,
	  TAKES_NOTHING },
	{ "show lcores", "polling cores and their worst gap", "GET", "/v1/lcore", cmd_show_lcores,
	  TAKES_NOTHING },
	{ "show drivers", "kinds of ports, and what each may lose without a trace", "GET",
	  "/v1/driver", cmd_show_drivers, TAKES_NOTHING },
	{ "show switch", "counters of the whole switch", STATS, cmd_show_switch,
	  TAKES_KIND | COUNTS },
	{ "debug storm", "make the watchdog see a storm", "POST", "/v1/storm", cmd_debug,
	  TAKES_QUEUE_ON },
	{ "debug big-red", "apply the action of every watched queue", "POST", "/v1/big-red",
	  cmd_debug, TAKES_ON },
	{ "clear counters", "show you counters from here on; others see them all", STATS,
	  cmd_clear_counters, TAKES_NOTHING },
	{ "clear watermark", "restart watermarks of one kind", "POST", "/v1/clear",
	  cmd_clear_watermark, TAKES_KIND },
	{ "link cut", "take an in-memory link down, as by pulling its cable", "POST",
	  "/v1/link?cut=1", cmd_link, TAKES_PORT | TAKES_ONE_PORT },
	{ "link heal", "let a link that was cut come back", "POST", "/v1/link?heal=1", cmd_link,
	  TAKES_PORT | TAKES_ONE_PORT },
};

enum { COMMAND_COUNT = sizeof(commands) / sizeof(commands[0]) };

// The word at position `at` of a row, empty beyond the last; in `out` of NEAREST_WORD_BYTES.
static void word_at(const struct command *command, uint32_t at, char out[NEAREST_WORD_BYTES])
{
	const char *word = command->words;
	size_t len;

	for (; at > 0 && *word != '\0'; at--) {
		word += strcspn(word, " ");
		word += *word == ' ';
	}
	len = strcspn(word, " ");
	if (len >= NEAREST_WORD_BYTES)
		len = NEAREST_WORD_BYTES - 1;
	memcpy(out, word, len);
	out[len] = '\0';
}

// How many of the given words a row begins with.
static uint32_t matching_words(const struct command *command, const char *const *words,
			       uint32_t count)
{
	char word[NEAREST_WORD_BYTES];
	uint32_t i = 0;

	for (; i < count; i++) {
		word_at(command, i, word);
		if (word[0] == '\0' || strcmp(word, words[i]) != 0)
			break;
	}
	return i;
}

static bool ends_at(const struct command *command, uint32_t at)
{
	char word[NEAREST_WORD_BYTES];

	word_at(command, at, word);
	return word[0] == '\0';
}

// Says that words[at] fits nowhere, and what would.
static void complain_unknown(const char *const *words, uint32_t at)
{
	struct nearest near = nearest_to(words[at]);
	char best[NEAREST_WORD_BYTES] = "";
	char word[NEAREST_WORD_BYTES];

	for (uint32_t i = 0; i < COMMAND_COUNT; i++) {
		if (matching_words(&commands[i], words, at) != at)
			continue;
		word_at(&commands[i], at, word);
		nearest_offer(&near, word);
		if (near.best == word) {
			memcpy(best, word, sizeof(best));
			near.best = best;
		}
	}
	fputs("weft:", stderr);
	for (uint32_t i = 0; i < at; i++)
		fprintf(stderr, " %s", words[i]);
	if (near.best != NULL)
		fprintf(stderr, " %s: unknown; did you mean %s?\n", words[at], near.best);
	else
		fprintf(stderr, " %s: unknown; see weft help\n", words[at]);
}

const char *command_value_keys(const struct command *command)
{
	if (command->takes & TAKES_QUEUE_ON)
		return "port queue on";
	return command->takes & TAKES_ON ? "on" : "";
}

uint32_t command_value_count(const struct command *command)
{
	if (command->takes & TAKES_QUEUE_ON)
		return 3;
	return (command->takes & TAKES_ON) != 0;
}

static const char *value_usage(const struct command *command)
{
	if (command->takes & TAKES_QUEUE_ON)
		return "PORT QUEUE on|off";
	return command->takes & TAKES_ON ? "on|off" : "";
}

// One more word than its own.
static bool takes_word(const struct command *command)
{
	return command->takes & (TAKES_PORT | TAKES_PREFIX);
}

const struct command *command_find(const char *const *words, uint32_t count, const char **word,
				   bool *listed)
{
	const struct command *found = NULL;
	uint32_t found_words = 0;
	uint32_t deepest = 0;

	*word = NULL;
	*listed = false;
	for (uint32_t i = 0; i < COMMAND_COUNT; i++) {
		const uint32_t depth = matching_words(&commands[i], words, count);

		if (depth > deepest)
			deepest = depth;
		if (depth > found_words && ends_at(&commands[i], depth)) {
			found = &commands[i];
			found_words = depth;
		}
	}
	if (found != NULL && count == found_words && (found->takes & TAKES_ONE_PORT)) {
		fprintf(stderr, "weft: %s: which port?\n", found->words);
		return NULL;
	}
	if (found != NULL && count == found_words + command_value_count(found))
		return found;
	if (found != NULL && command_value_count(found) > 0) {
		fprintf(stderr, "weft: %s: needs %s\n", found->words, value_usage(found));
		return NULL;
	}
	if (found != NULL && takes_word(found) && count == found_words + 1) {
		*word = words[found_words];
		return found;
	}
	if (found != NULL) {
		fprintf(stderr, "weft: %s: one word too many: %s\n", found->words,
			words[found_words + takes_word(found)]);
	} else if (deepest == count) {
		command_help(words, count, stdout);
		*listed = true;
	} else {
		complain_unknown(words, deepest);
	}
	return NULL;
}

static const char *word_name(const struct command *command)
{
	if (command->takes & TAKES_PREFIX)
		return "[PREFIX]";
	if (command->takes & TAKES_ONE_PORT)
		return "PORT";
	return command->takes & TAKES_PORT ? "[PORT]" : "";
}

void command_help(const char *const *words, uint32_t count, FILE *out)
{
	for (uint32_t i = 0; i < COMMAND_COUNT; i++) {
		const struct command *command = &commands[i];
		const char *usage = value_usage(command);
		char line[64];

		if (matching_words(command, words, count) != count)
			continue;
		snprintf(line, sizeof(line), "%s%s%s", command->words, usage[0] != '\0' ? " " : "",
			 usage);
		fprintf(out, "  weft %-33s %-8s %s\n", line, word_name(command), command->help);
	}
}
