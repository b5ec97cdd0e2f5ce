// SPDX-License-Identifier: BSD-3-Clause
//
// One switch of this process: the core's value and its ports. A process may host
// several; a forwarding lcore polls its ports of each in turn.
#pragma once

#include "dataplane/core/tables.h"
#include "dataplane/dpdk/pktio.h"
#include "dataplane/dpdk/port.h"

struct fabric_tables;
struct lldp;
struct managed;
struct port_keeper;
struct routes;

struct instance {
	// control: rw until the lcore starts, ro afterwards
	const char *path; // of the file that configures it
	uint32_t port_count;
	struct pool_need need;     // that packet buffers were made for
	uint32_t descriptors;      // of them, of the switch's buffer
	const struct pools *pools; // of the process
	// control: rw. Another configuration of a running switch (dataplane/live.h) replaces
	// written, config, profile and tables, and what ports borrow of them: nothing else keeps a
	// pointer into them over a visit of the event loop.
	uint64_t file_hash; // cfg_hash() of the file that `written` stands in for (sys/cfg_load.h)
	struct sw_config *written;    // as a file would say it, with the edits since
	struct sw_config *config;     // what that means: presets are rows (core/preset.h)
	uint64_t generation;          // counts configurations
	uint64_t refused;             // counts files that were reloaded and not applied
	uint64_t swap_ns;             // what the newest took while the other lcores were parked
	struct port *port;            // port_count
	struct port_keeper *keeper;   // of the ports (dataplane/port_keeper.h), while there is one
	struct sw_profile *profile;   // in use by the core; replaced by MESSAGE_PROFILE, _SWAP
	struct sw_tables *tables;     // NULL: a plain bridge; the first thing in their memory
	struct routes *routes;        // what changes them (dataplane/routes.h); NULL: nothing does
	struct lldp *lldp;            // neighbours on its links (dataplane/lldp.h); NULL: not yet
	struct fabric_tables *fabric; // what its fabric decided (dataplane/managed.h); NULL: none
	struct managed *managed;      // that talks to the manager; NULL: nothing does
	// lcore: rw from its start to its end
	struct sw *sw;
	struct pktio *io;            // port_count; see pktio.h for who may touch one
	struct taps taps[LCORE_MAX]; // of captures, by lcore
};

// Loading, in two steps, with every error on `errors` ("FILE:LINE: ..."). Needs no EAL. First reads
// the configuration at `path` into in->written; all else is 0. Then builds the profile of that and
// checks the ports. 0, or -errno and nothing left behind.
int instance_read(struct instance *in, const char *path, FILE *errors);
int instance_make(struct instance *in, FILE *errors);

// The parts of loading, for a configuration that was read already. Each says what is wrong on
// `errors` as above, and leaves nothing behind then. The caller frees what is made: what `written`
// means, its profile, and tables, NULL for a plain bridge; then its ports.
int instance_build(const struct sw_config *written, const char *path, FILE *errors,
		   struct sw_config **config, struct sw_profile **profile,
		   struct sw_tables **tables);
int instance_prepare_ports(const struct sw_config *config, const struct sw_profile *pf,
			   const char *path, FILE *errors, struct port **ports,
			   struct pool_need *need);

// Whether two switches of a process have devices of their own: 0, or -EINVAL with a line on
// `errors` about the first port of `next`, configured by `path`, whose device is one of `in`.
int instance_check_devices(const struct instance *in, const struct sw_config *next,
			   const char *path, FILE *errors);

// Writes into `config` what `written` means: presets become rows, with headroom for the ports as
// they will be. 0, or -EINVAL with `fault` filled.
int instance_resolve(const struct sw_config *written, struct sw_config *config,
		     struct profile_fault *fault);

// EAL memory that the switch will need beside its packet buffers.
uint64_t instance_bytes(const struct instance *in);

// Once the EAL has started: the switch itself, all links down, no port open; its frames come from
// `pools`. 0, or -errno, logged, and nothing left behind but what loading made.
int instance_create(struct instance *in, const struct pools *pools, ns_t now);

// Undoes instance_create(): ports are closed, the lcore has ended, the EAL still runs. Accepts an
// instance that was never created.
void instance_release(struct instance *in);

// Undoes loading. Accepts an instance of zeros.
void instance_unload(struct instance *in);
