// SPDX-License-Identifier: BSD-3-Clause
//
// The command table, in the order of the help, and other words for some of its rows: what SONiC's
// users type.

#include "cli/command.h"

#define STATS "GET", "/v1/stats"

const struct command commands[] = {
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
	{ "debug tx-disable", "let a port send nothing but what jumps its queues, as PFC does",
	  "POST", "/v1/debug/tx-disable", cmd_debug, TAKES_PORT_ON },
	{ "debug dequeue-disable", "do not serve queues (3, 5-7, all), as if they were paused",
	  "POST", "/v1/debug/dequeue-disable", cmd_debug, TAKES_QUEUE_ON },
	{ "debug seed", "begin the dice of ECN and WRED anew, so that their draws repeat", "POST",
	  "/v1/debug/seed", cmd_debug, TAKES_SEED },
	{ "clear counters", "show you counters from here on; others see them all", STATS,
	  cmd_clear_counters, TAKES_NOTHING },
	{ "clear watermark", "restart watermarks of one kind", "POST", "/v1/clear",
	  cmd_clear_watermark, TAKES_KIND },
	{ "link cut", "take an in-memory link down, as by pulling its cable", "POST",
	  "/v1/link?cut=1", cmd_link, TAKES_PORT | TAKES_ONE_PORT },
	{ "link heal", "let a link that was cut come back", "POST", "/v1/link?heal=1", cmd_link,
	  TAKES_PORT | TAKES_ONE_PORT },
};

const uint32_t command_count = sizeof(commands) / sizeof(commands[0]);

const struct command_alias command_aliases[] = {
	{ "show interfaces portchannel", { "show", "lag" } },
	{ "show interfaces", { "show", "interface" } },
	{ "show ip route", { "show", "route" } },
	{ "show ipv6 route", { "show", "route" } },
	{ "show hash", { "show", "switch-hash", "global" } },
	{ "pfcwd show", { "show", "pfcwd" } },
};

const uint32_t command_alias_count = sizeof(command_aliases) / sizeof(command_aliases[0]);
