// SPDX-License-Identifier: BSD-3-Clause
//
// weft-switch: starts in order, unwinds in reverse.
//
// Two threads do the work: the forwarding lcore (dpdk/worker.c) owns the switches and their
// packets, the main thread (agent.c) everything else; they exchange messages (dpdk/channel.h).

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include <rte_launch.h>

#include "dataplane/agent.h"
#include "dataplane/options.h"
#include "sys/log.h"

struct program {
	struct options options;
	struct eal_options eal;
	struct worker worker;
	struct instance instance[OPTIONS_CONFIG_MAX];
	uint32_t loaded;
	uint32_t created;
};

static int load(struct program *program)
{
	int worst = 0;

	for (uint32_t i = 0; i < program->options.config_count; i++) {
		int rc = instance_load(&program->instance[i], program->options.config[i], stderr);

		if (rc != 0)
			worst = rc;
	}
	program->loaded = program->options.config_count;
	return worst;
}

static void plan_instance(struct eal_options *eal, const struct instance *in)
{
	eal->memory_bytes += instance_bytes(in);
	for (uint32_t i = 0; i < in->port_count; i++) {
		if (in->port[i].driver->class == DRIVER_WIRE && eal->pci_count < EAL_PCI_MAX)
			eal->pci[eal->pci_count++] = in->port[i].devargs;
	}
}

static void plan_eal(struct program *program)
{
	program->eal = (struct eal_options){
		.name = program->instance[0].config->sw.name,
		.memory = program->options.memory,
		.cpu = program->options.cpu,
	};
	for (uint32_t i = 0; i < program->loaded; i++)
		plan_instance(&program->eal, &program->instance[i]);
}

static int create(struct program *program)
{
	struct worker *worker = &program->worker;

	clock_start(&worker->clock);
	worker->busy_poll = program->options.busy_poll;
	for (uint32_t i = 0; i < program->loaded; i++) {
		int rc = instance_create(&program->instance[i], clock_now(&worker->clock));

		if (rc != 0)
			return rc;
		worker->instance[i] = &program->instance[i];
		worker->instance_count = i + 1;
	}
	return channel_open(&worker->channel, program->eal.name);
}

static void stop_lcore(struct program *program)
{
	struct message message = { .kind = MESSAGE_STOP };

	channel_call(&program->worker.channel, &message);
	rte_eal_wait_lcore(EAL_LCORE_FORWARD);
}

// What the conservation equation says at the end of a run.
static int check_conserved(const struct program *program)
{
	int rc = 0;

	for (uint32_t i = 0; i < program->worker.instance_count; i++) {
		const struct instance *in = &program->instance[i];

		if (sw_conserved(in->sw)) {
			log_info("%s: every packet is accounted for", in->config->sw.name);
			continue;
		}
		log_err("%s: packets or buffer bytes are not accounted for", in->config->sw.name);
		rc = -EIO;
	}
	return rc;
}

static int run(struct program *program)
{
	const struct agent_options options = {
		.run_dir = program->options.run_dir,
		.state_dir = program->options.state_dir,
	};
	struct agent *agent;
	int rc = rte_eal_remote_launch(worker_run, &program->worker, EAL_LCORE_FORWARD);

	if (rc != 0)
		return rc;
	agent = agent_open(&program->worker, &options);
	if (agent != NULL)
		agent_run(agent);
	agent_close(agent);
	stop_lcore(program);
	rc = check_conserved(program);
	return agent == NULL ? -EIO : rc;
}

static int start(struct program *program)
{
	int rc;

	plan_eal(program);
	rc = eal_start(&program->eal);
	if (rc != 0)
		return rc;
	rc = create(program);
	if (rc == 0)
		rc = run(program);
	channel_close(&program->worker.channel);
	for (uint32_t i = 0; i < program->loaded; i++)
		instance_release(&program->instance[i]);
	eal_stop();
	return rc;
}

int main(int argc, char **argv)
{
	static struct program program;
	int rc;

	switch (options_parse(&program.options, argc, argv)) {
	case OPTIONS_DONE: return 0;
	case OPTIONS_WRONG: return 2;
	case OPTIONS_RUN: break;
	}
	signal(SIGPIPE, SIG_IGN);
	rc = load(&program);
	if (rc == 0 && !program.options.check)
		rc = start(&program);
	for (uint32_t i = 0; i < program.loaded; i++)
		instance_unload(&program.instance[i]);
	return rc == 0 ? 0 : 1;
}
