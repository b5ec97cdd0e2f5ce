// SPDX-License-Identifier: BSD-3-Clause
//
// Every field says that it is there; a generation that is none is left out. What a switch has been
// able to speak since version 1 is in here: what comes later is optional (schema/fabric.rpc), and
// is added by who knows it.

#include "dataplane/fabric_say.h"

#include "routing/packed.h"
#include "schema/fabric.gen.h"
#include "schema/fabric.h"

static char software[] = "weft " WEFT_VERSION;

static struct rpc_generation generation_of(const struct follower_generation *generation)
{
	return (struct rpc_generation){
		.epoch = generation->epoch,
		.number = generation->number,
		.hash = generation->hash,
		.has_epoch = true,
		.has_number = true,
		.has_hash = true,
	};
}

struct rpc_hello fabric_say_hello(const struct follower *f, const char *name)
{
	return (struct rpc_hello){
		.oldest_version = FABRIC_VERSION_OLDEST,
		.newest_version = FABRIC_VERSION,
		.table_version = PACKED_VERSION,
		.name = (char *)(uintptr_t)name,
		.boot = f->boot,
		.epoch = f->state.epoch,
		.running = generation_of(&f->state.running),
		.prepared = generation_of(&f->state.prepared),
		.software = software,
		.has_oldest_version = true,
		.has_newest_version = true,
		.has_table_version = true,
		.has_name = true,
		.has_boot = true,
		.has_epoch = true,
		.has_running = f->state.running.number != 0,
		.has_prepared = f->state.prepared.number != 0,
		.has_software = true,
	};
}

struct rpc_fetch fabric_say_fetch(const struct follower *f)
{
	return (struct rpc_fetch){
		.boot = f->boot,
		.epoch = f->state.epoch,
		.wait_ms = FABRIC_WAIT_MS_MAX,
		.running = generation_of(&f->state.running),
		.prepared = generation_of(&f->state.prepared),
		.has_boot = true,
		.has_epoch = true,
		.has_wait_ms = true,
		.has_running = f->state.running.number != 0,
		.has_prepared = f->state.prepared.number != 0,
	};
}

struct rpc_ack fabric_say_ack(const struct follower *f, const char *reason)
{
	return (struct rpc_ack){
		.boot = f->boot,
		.epoch = f->state.epoch,
		.step = f->ack_step,
		.generation = generation_of(&f->ack_generation),
		.error = (uint32_t)f->ack_error,
		.reason = (char *)(uintptr_t)reason,
		.has_boot = true,
		.has_epoch = true,
		.has_step = true,
		.has_generation = true,
		.has_error = true,
		.has_reason = f->ack_error != 0,
	};
}

// Events that find no memory are told next time.
static void add_events(const struct fabric_events *events, struct rpc_report *report)
{
	struct fabric_link_event list[FABRIC_EVENTS_MAX];
	const uint32_t count = fabric_events_list(events, list, FABRIC_EVENTS_MAX);

	for (uint32_t i = 0; i < count; i++) {
		struct rpc_event *event = rpc_report_add_events(report);

		if (event == NULL)
			return;
		*event = (struct rpc_event){
			.sequence = list[i].sequence,
			.kind = list[i].usable ? FABRIC_EVENT_LINK_UP : FABRIC_EVENT_LINK_DOWN,
			.port = list[i].port,
			.has_sequence = true,
			.has_kind = true,
			.has_port = true,
		};
	}
}

struct rpc_report fabric_say_report(const struct follower *f, const struct fabric_events *events)
{
	struct rpc_report report = {
		.boot = f->boot,
		.epoch = f->state.epoch,
		.running = generation_of(&f->state.running),
		.has_boot = true,
		.has_epoch = true,
		.has_running = f->state.running.number != 0,
	};

	add_events(events, &report);
	return report;
}
