// SPDX-License-Identifier: BSD-3-Clause
//
// What a lab has made, in lab.json of its directory, so that anybody can end it: written before
// each thing is made, so that after a crash at any point nothing exists that is not in it.
//
// Whoever changes the file, or what stands in it, holds the directory's lock (flock): it goes with
// the process, whatever ends that.
#pragma once

#include <jansson.h>
#include <sys/types.h>

#include "cli/lab_options.h"

enum { LAB_DIR_BYTES = 80, LAB_PATH_BYTES = 192 };

// Beside it: fabric.cfg, the intent with speeds that this machine can do; hosts.cfg, the hosts as a
// scenario of weft-traffic; config/ of each switch; run/ with control sockets; state/ and log/ of
// the programs; host/ and link/ with sockets of memif.
struct lab {
	char dir[LAB_DIR_BYTES]; // absolute
	char name[40];
	int lock; // -1: not held
	// Members: name, fabric, manager, processes, hosts ("memif", "netns"), speed_bps,
	// process: [{name, pid, start, argv}], namespaces: [name], interfaces: [name].
	json_t *state;
};

// The path of something in the lab's directory.
const char *lab_path(const struct lab *lab, const char *file, char out[LAB_PATH_BYTES]);

// Makes the directory of a new lab, and locks it. An exit status (cli/run.h) after a line on
// stderr; EXIT_DONE: `lab` is to be closed.
int lab_create(const struct lab_options *options, struct lab *lab);

// Finds the lab that is meant, locks it and reads its state. Likewise; EXIT_ABSENT: there is none.
int lab_open(const struct lab_options *options, struct lab *lab);

// Lets others in.
void lab_unlock(struct lab *lab);

// Locks it again and reads the state anew. Likewise.
int lab_relock(struct lab *lab);

void lab_close(struct lab *lab);

// Writes the state. 0, or -errno after a line.
int lab_save(const struct lab *lab);

// Removes all files of the lab and its directory, lab.json last. 0, or -errno after a line.
int lab_remove(struct lab *lab);

// Flags of the state.
bool lab_has(const struct lab *lab, const char *flag);

// Whether its hosts are namespaces.
bool lab_has_netns(const struct lab *lab);
