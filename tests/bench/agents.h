// SPDX-License-Identifier: BSD-3-Clause
//
// The two processes of the benchmark of agents beside the manager's: the switches of a fabric,
// which say hello, hold a long poll and acknowledge what they fetch, and peers that mean harm.
#pragma once

#include "base/types.h"
#include "sys/rpc_client.h"

enum { AGENTS_MAX = 4000, AGENTS_TIMEOUT_MS = 60000 };

struct agents_options {
	uint32_t count;
	uint32_t table_bytes; // of a generation, for each
	uint32_t generations;
	bool hostile;
	bool gate;
};

// Ends the process with a word if something is not as it must be.
void agents_must(bool good, const char *what);

// Certificates of the manager and of so many agents, in a directory whose name ends in XXXXXX.
void agents_make_files(char *dir, uint32_t count);
void agents_remove_files(const char *dir, uint32_t count);
void agents_manager_files(const char *dir, struct tls_files *files);
void agents_files(const char *dir, uint32_t at, struct tls_files *files);

// Runs all agents until the process is ended.
_Noreturn void agents_run(const struct agents_options *options, const char *dir, uint16_t port);

// Opens connections that stop in the middle of everything, as many as it gets, until the process is
// ended. A certificate has been stolen: that of the agent behind the last.
_Noreturn void agents_attack(const struct agents_options *options, const char *dir, uint16_t port);
