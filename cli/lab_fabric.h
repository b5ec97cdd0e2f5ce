// SPDX-License-Identifier: BSD-3-Clause
//
// The fabric of a lab: the intent that was asked for, with speeds, rings and frames that software
// on one machine can do, planned and proven, and the files that switches and hosts start from.
#pragma once

#include "cli/lab_state.h"
#include "cli/plan_work.h"

struct lab_fabric {
	struct plan_options options;
	struct plan_work work;
	char path[LAB_PATH_BYTES]; // of the intent as the lab has it
	bool open;
};

// Ports of DPDK devices that a process may have (RTE_MAX_ETHPORTS of the distribution's DPDK).
enum { LAB_DEVICES_MAX = 32 };

// Reads the intent at `path` and writes DIR/fabric.cfg, whose fastest port has `speed_bps` and all
// others have it in proportion. An exit status (cli/run.h) after lines on stderr.
int lab_fabric_write(const struct lab *lab, const char *path, uint64_t speed_bps);

// Opens DIR/fabric.cfg. Likewise; in any case it is to be closed.
int lab_fabric_open(const struct lab *lab, struct lab_fabric *fabric);
void lab_fabric_close(struct lab_fabric *fabric);

// Plans and proves it. Likewise.
int lab_fabric_plan(struct lab_fabric *fabric);

// Whether one machine can have it, and the names are ones that it takes. Likewise.
int lab_fabric_check(const struct lab *lab, const struct lab_fabric *fabric);

// Writes config/NAME.cfg for each switch, from the plan, and hosts.cfg. Likewise.
int lab_fabric_configure(const struct lab *lab, const struct lab_fabric *fabric);

// The rate of its fastest port.
uint64_t lab_fabric_fastest(const struct fabric *fabric);

// Finds "SWITCH:PORT", and who is behind it. EXIT_USAGE after a line on stderr.
struct lab_cable {
	const char *name[2];             // of the switches; [1] NULL: a host is there
	char port[2][FABRIC_NAME_BYTES]; // their ports
};
int lab_fabric_find_cable(const struct lab_fabric *fabric, const char *text,
			  struct lab_cable *cable);

// The number of a host by its name; FABRIC_NONE after a line on stderr. Its first port counts.
uint32_t lab_fabric_find_host(const struct lab_fabric *fabric, const char *name);

// Of a namespace, and of the two ends of the pair of interfaces that leads to it.
struct lab_netns {
	char name[LAB_PATH_BYTES];
	char outside[16];
};
void lab_fabric_netns(const struct lab *lab, const struct lab_fabric *fabric, uint32_t host_port,
		      struct lab_netns *out);
