// SPDX-License-Identifier: BSD-3-Clause
//
// One change of a running switch at a time: judged and applied by dataplane/live.h, said in words,
// logged with who wanted it, and taken back when nobody confirms it in time. Control thread only.
//
// Invariant: every change of a switch comes through here, and while one waits to be confirmed no
// other is taken, so going back is one step.
#pragma once

#include <event2/event.h>
#include <jansson.h>

#include "dataplane/config_request.h"
#include "dataplane/dpdk/worker.h"

struct config_changer {
	struct workers *workers;
	struct instance *in;
	struct event *timer;
	struct sw_config *before; // what a change that waits goes back to; NULL: none waits
	uint64_t before_hash;
};

// A configuration that somebody wants.
struct config_change {
	const struct config_request *request; // how; its edits are in `config` already
	const struct sw_config *config;       // as written
	uint64_t file_hash;                   // of the file that it stands in for
	const char *who;
	bool by_fabric; // the manager of the fabric wants it
};

// 0 or -ENOMEM.
int config_changer_open(struct config_changer *changer, struct event_base *base,
			struct workers *workers, struct instance *in);

// A change that waits stays as it is. Accepts a changer of zeros.
void config_changer_close(struct config_changer *changer);

// Seconds that the change that waits has left, at least 1; 0 when none waits.
uint32_t config_changer_waits(const struct config_changer *changer);

// Makes a change, or with `dry_run` finds out what it would do. 0, or
//	-EAGAIN  another one waits to be confirmed, and it is not the fabric's
//	-EINVAL  it is wrong, the fabric's business (managed.h), needs a restart, or a device
//	         refuses it: lines on `errors`
//	-EBUSY   it would drop packets and is not forced
// or another -errno; then nothing has changed. *changes and *drops are arrays of lines that the
// caller releases, whatever is returned; no changes: there is nothing to do.
int config_change(struct config_changer *changer, const struct config_change *change,
		  json_t **changes, json_t **drops, FILE *errors);

// Keeps the change that waits. False when there is none.
bool config_changer_confirm(struct config_changer *changer, const char *who);

// Takes the change that waits back; `why` is logged. 0 or -errno, logged, and the change stays.
int config_changer_go_back(struct config_changer *changer, const char *why);
