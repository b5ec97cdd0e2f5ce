// SPDX-License-Identifier: BSD-3-Clause
//
// Every command, declared once: its words, what it asks the switch, the function that makes tables
// of the answer, and a line of help. The functions are in cmd_*.c, one file per group.
#pragma once

#include <jansson.h>
#include <stdio.h>

#include "cli/baseline.h"
#include "cli/report.h"
#include "sys/nearest.h"

enum { COMMAND_WORDS_MAX = 8, COMMAND_ALIAS_WORDS = 4, COUNTS_SHIFT = 20 };

struct query {
	json_t *reply;  // the switch's answer
	json_t *before; // an earlier one, of commands that ask TWICE
	json_t *also_before;
	json_t *lldp;      // of /v1/lldp, for ALSO_LLDP; NULL: the switch does not have it
	json_t *also;      // the answer of the command's other target
	const char *port;  // name or alias of the only port wanted, NULL: all
	const char *queue; // the word behind the port, NULL: none
	const char *kind;  // of watermarks
	bool nonzero;
	bool check_storm; // look for a queue that is stormed
	bool history;     // of received pauses
};

// Fills `report`. Returns 0, or -errno after a line on stderr.
typedef int command_fn(const struct query *query, struct report *report);

enum command_takes {
	TAKES_NOTHING,
	TAKES_PORT = 1, // one more word: a port
	TAKES_KIND = 2, // the target gets ?watermark=KIND
	TAKES_BOTH = TAKES_PORT | TAKES_KIND,
	TAKES_ONE_PORT = 4,         // with TAKES_PORT: must be given, and goes with the request
	TAKES_QUEUE_ON = 16,        // three more words: a port, a queue, on or off
	TAKES_ON = 32,              // one more word: on or off
	TAKES_PREFIX = 64,          // one more word: an address or network, goes with the request
	TAKES_QUEUE = 128,          // with TAKES_PORT: a queue may follow the port
	TAKES_PERSISTENT = 256,     // the target gets ?watermark=persistent
	TWICE = 512,                // asks a second time, a moment later
	ALSO_QOS = 1024,            // asks for /v1/qos too
	ALSO_ROCE = 1 << 16,        // asks for /v1/roce too
	ALSO_ACL = 2048,            // asks for /v1/acl too
	TAKES_PORT_ON = 4096,       // two more words: a port, on or off
	TAKES_SEED = 8192,          // one more word: a number
	ALSO_LLDP = 1 << 18,        // asks for /v1/lldp too, if the switch has it
	NEEDS_PORT = 1 << 17,       // with TAKES_PORT: must be given
	CAPTURES = 8,               // the answer is a stream of frames (cli/capture.h)
	TAKES_PORT_QUEUE = 1 << 14, // two more words: a port, a queue
	TAKES_DIRECTION = 1 << 15,  // with TAKES_PORT: in or out may follow the port
	LOOPS = 1 << 19,            // looks again and again (cli/watch.h)
	ASKS_FABRIC = 1 << 26,      // asks the fabric manager, and no switch
	TAKES_OBJECT = 1 << 27,     // one more word: a switch, or a link as SWITCH:PORT
	TAKES_ENDS = 1 << 28,       // two more words: hosts or switches
	TAKES_ROUTE = 1 << 29,      // one or two more words: a switch, and where to
	TAKES_INTENT = 1 << 30,     // one more word: a file, which goes with the request
	TAKES_PLACE = 1u << 31,     // up to two more words: a switch, and a port of it
	// shows counters, without what the user has cleared: which parts of cli/baseline.h
	COUNTS_PORTS = BASELINE_SWITCH << COUNTS_SHIFT,
	COUNTS_PRIOS = BASELINE_PRIO << COUNTS_SHIFT,
	COUNTS_GROUPS = BASELINE_PG << COUNTS_SHIFT,
	COUNTS_QUEUES = BASELINE_QUEUE << COUNTS_SHIFT,
	COUNTS_PFCWD = BASELINE_PFCWD << COUNTS_SHIFT,
	COUNTS_DROPS = BASELINE_DROPS << COUNTS_SHIFT,
	COUNTS = BASELINE_ALL << COUNTS_SHIFT,
};

struct command {
	const char *words; // separated by spaces
	const char *help;
	const char *method;
	const char *target;
	command_fn *run;
	enum command_takes takes;
};

// Other words for the first words of a command.
struct command_alias {
	const char *words;
	const char *to[COMMAND_ALIAS_WORDS]; // NULL behind the last
};

extern const struct command commands[];
extern const uint32_t command_count;
extern const struct command_alias command_aliases[];
extern const uint32_t command_alias_count;

// Puts the words of a command in the place of an alias that the words begin with; there is room for
// COMMAND_WORDS_MAX of them.
void command_expand(const char **words, uint32_t *count);

// The words that may follow these, which are as the table spells them, in its order; their number,
// at most `max`.
uint32_t command_next_words(const char *const *words, uint32_t count,
			    char out[][NEAREST_WORD_BYTES], uint32_t max);

enum { COMMAND_NEXT_MAX = 64 };

// Where words lead, each of which may be cut short, without a line on stderr: the words that may
// follow, and their number; *command is the command that the words name, NULL if they name none,
// and *values how many of them are behind its own.
uint32_t command_look(const char *const *words, uint32_t count,
		      char next[COMMAND_NEXT_MAX][NEAREST_WORD_BYTES],
		      const struct command **command, uint32_t *values);

// The words that a command takes as values of its query: their keys, separated by spaces and in
// order, "" for none; and how many they are at most. The file of an intent is no value: its key is
// "file".
const char *command_value_keys(const struct command *command);
uint32_t command_value_count(const struct command *command);

// Finds the command of the words, each of which may be cut short while it is clear which one is
// meant; *values are the words behind its own. NULL and an explanation when
// there is none: a list of the commands that begin so in *listed, or a line on stderr.
const struct command *command_find(const char *const *words, uint32_t count,
				   const char *const **values, bool *listed);

// Whether there is help about the words: commands that begin with them, or one that takes the last
// of them as values. False after a line on stderr.
bool command_known(const char *const *words, uint32_t count);

// Prints commands that begin with the words, with a line of help each.
void command_help(const char *const *words, uint32_t count, FILE *out);

command_fn cmd_show_interface;
command_fn cmd_show_interface_status;
command_fn cmd_show_interface_counters;
command_fn cmd_show_interface_description;
command_fn cmd_show_interface_pfc;
command_fn cmd_show_interface_headroom;
command_fn cmd_show_pfc_counters;
command_fn cmd_show_pfc_pause;
command_fn cmd_show_pfc_priority;
command_fn cmd_show_pfc_asymmetric;
command_fn cmd_show_pfc_history;
command_fn cmd_show_pfcwd_config;
command_fn cmd_show_pfcwd_stats;
command_fn cmd_debug;
command_fn cmd_show_queue_counters;
command_fn cmd_show_queue_watermark;
command_fn cmd_show_queue_wredcounters;
command_fn cmd_show_pg_watermark;
command_fn cmd_show_pg_watermark_shared;
command_fn cmd_show_pg_watermark_headroom;
command_fn cmd_show_pg_drops;
command_fn cmd_show_drops;
command_fn cmd_show_steering;
command_fn cmd_show_fabric_links;
command_fn cmd_show_fabric_manager;
command_fn cmd_show_lldp_table;
command_fn cmd_show_lldp_neighbors;
command_fn cmd_show_dcbx;
command_fn cmd_show_buffer;
command_fn cmd_show_buffer_information;
command_fn cmd_show_pool_watermark;
command_fn cmd_show_headroom_watermark;
command_fn cmd_show_mmu;
command_fn cmd_show_ecn;
command_fn cmd_show_scheduler;
command_fn cmd_show_qos_maps;
command_fn cmd_show_vlan;
command_fn cmd_show_roce;
command_fn cmd_show_acl;
command_fn cmd_show_route;
command_fn cmd_show_group;
command_fn cmd_show_arp;
command_fn cmd_show_hash;
command_fn cmd_show_hash_capabilities;
command_fn cmd_show_turns;
command_fn cmd_show_why;
command_fn cmd_show_lag;
command_fn cmd_show_mac;
command_fn cmd_show_lcores;
command_fn cmd_show_drivers;
command_fn cmd_show_switch;
command_fn cmd_clear_counters;
command_fn cmd_clear_queue_counters;
command_fn cmd_clear_pfc_counters;
command_fn cmd_clear_pfcwd_stats;
command_fn cmd_clear_pg_drops;
command_fn cmd_clear_drops;
command_fn cmd_clear_watermark;
command_fn cmd_link;
command_fn cmd_watch;
command_fn cmd_fabric_status;
command_fn cmd_fabric_topology;
command_fn cmd_fabric_links;
command_fn cmd_fabric_errors;
command_fn cmd_fabric_routes;
command_fn cmd_fabric_balance;
command_fn cmd_fabric_events;
command_fn cmd_fabric_hosts;
command_fn cmd_fabric_trace;
command_fn cmd_fabric_order;
command_fn cmd_fabric_counters;
command_fn cmd_fabric_alarms;
command_fn cmd_fabric_health;
