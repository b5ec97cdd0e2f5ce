// SPDX-License-Identifier: BSD-3-Clause
//
// weft-switch: starts in order, unwinds in reverse.
//
// The forwarding lcores (dpdk/worker.c) own the switches and their packets, the main thread
// (agent.c) everything else; they exchange messages (dpdk/channel.h).

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sysexits.h>

#include <rte_launch.h>

#include "dataplane/agent.h"
#include "dataplane/config_start.h"
#include "dataplane/dpdk/link.h"
#include "dataplane/managed.h"
#include "dataplane/options.h"
#include "sys/cfg_load.h"
#include "sys/log.h"

enum { EAL_OVERHEAD_BYTES = 32 << 20 };
static_assert((int)OPTIONS_CONFIG_MAX == (int)WORKER_INSTANCE_MAX, "a worker takes all switches");

struct program {
	struct options options;
	struct eal_options eal;
	struct workers workers;
	struct pool_plan plan;
	struct pools pools; // of all switches
	struct links links; // between ports of all switches
	struct instance instance[OPTIONS_CONFIG_MAX];
	uint32_t loaded;
	uint32_t launched; // workers
};

// Two switches of one process: names and devices are theirs alone.
static int check_pair(const struct program *program, uint32_t i, uint32_t k)
{
	const struct sw_config *a = program->instance[i].config;
	const struct sw_config *b = program->instance[k].config;

	if (strcmp(a->sw.name, b->sw.name) == 0) {
		log_err("%s: switch \"%s\" is configured by %s already", program->options.config[k],
			b->sw.name, program->options.config[i]);
		return -EINVAL;
	}
	return instance_check_devices(&program->instance[i], b, program->options.config[k],
				      log_faults());
}

static int check_pairs(const struct program *program)
{
	int rc = 0;

	for (uint32_t k = 1; k < program->loaded; k++) {
		for (uint32_t i = 0; i < k && rc == 0; i++)
			rc = check_pair(program, i, k);
	}
	return rc;
}

static int join_links(struct links *links, struct instance *in, const char *path)
{
	int worst = 0;

	for (uint32_t i = 0; i < in->port_count; i++) {
		if (links_join(links, &in->port[i], path, log_faults()) != 0)
			worst = -EINVAL;
	}
	return worst;
}

static int check_links(struct program *program)
{
	int worst = 0;

	for (uint32_t i = 0; i < program->loaded; i++) {
		if (join_links(&program->links, &program->instance[i],
			       program->options.config[i]) != 0)
			worst = -EINVAL;
	}
	return worst != 0 ? worst : links_check(&program->links, log_faults());
}

// As many forwarding lcores as the ports of some switch ask for.
static int count_lcores(struct program *program)
{
	const struct options *options = &program->options;

	program->workers.count = 1;
	for (uint32_t i = 0; i < program->loaded; i++) {
		uint32_t count = program->instance[i].profile->lcore_count;

		if (options->cpu_count != 0 && count > options->cpu_count) {
			log_err("%s: ports ask for %u forwarding lcores (lcore = %u), "
				"--lcore names %u",
				options->config[i], count, count - 1, options->cpu_count);
			return -EINVAL;
		}
		if (count > program->workers.count)
			program->workers.count = count;
	}
	return 0;
}

static int load(struct program *program)
{
	const bool looks_only = program->options.check || program->options.dump;
	const char *state_dir = looks_only ? NULL : program->options.state_dir;
	int worst = 0;

	for (uint32_t i = 0; i < program->options.config_count; i++) {
		int rc = config_start(&program->instance[i], program->options.config[i], state_dir);

		if (rc != 0)
			worst = rc;
	}
	program->loaded = program->options.config_count;
	if (program->options.dump) // the other ends of its links are in other files
		return worst;
	if (worst == 0)
		worst = check_pairs(program);
	if (worst == 0)
		worst = count_lcores(program);
	return worst == 0 ? check_links(program) : worst;
}

static void plan_instance(struct program *program, const struct instance *in)
{
	struct eal_options *eal = &program->eal;

	pool_plan_add(&program->plan, &in->need);
	eal->memory_bytes += instance_bytes(in);
	for (uint32_t i = 0; i < in->port_count; i++) {
		if (in->port[i].driver->class == DRIVER_WIRE && eal->pci_count < EAL_PCI_MAX)
			eal->pci[eal->pci_count++] = in->port[i].devargs;
	}
}

static void plan_eal(struct program *program)
{
	program->eal = (struct eal_options){
		.lcore_count = program->workers.count,
		.cpu_count = program->options.cpu_count,
		.name = program->instance[0].config->sw.name,
		.run_dir = program->options.eal_dir,
		.memory = program->options.memory,
		.memory_bytes = EAL_OVERHEAD_BYTES,
	};
	memcpy(program->eal.cpu, program->options.cpu, sizeof(program->eal.cpu));
	program->plan = pool_plan_start(program->workers.count);
	for (uint32_t i = 0; i < program->loaded; i++)
		plan_instance(program, &program->instance[i]);
	program->eal.memory_bytes += pool_plan_bytes(&program->plan);
}

static int create_worker(struct program *program, uint8_t lcore, const struct clock *clock)
{
	struct worker *worker = &program->workers.worker[lcore];
	char name[CONFIG_NAME_BYTES];

	worker->clock = *clock;
	worker->lcore = (lcore_t){ lcore };
	worker->peers = &program->workers;
	worker->busy_poll = program->options.busy_poll;
	for (uint32_t i = 0; i < program->loaded; i++) {
		if (lcore < program->instance[i].profile->lcore_count)
			worker->instance[worker->instance_count++] = &program->instance[i];
	}
	// Rings have short names.
	snprintf(name, sizeof(name), "%u_%.12s", lcore, program->eal.name);
	return channel_open(&worker->channel, name);
}

static int create(struct program *program)
{
	struct clock clock;
	int rc = pools_create(&program->plan, &program->pools);

	if (rc != 0) {
		log_err("%s: %u packet buffers cannot be made: %s", program->eal.name,
			program->plan.data_count, strerror(-rc));
		return rc;
	}
	rc = links_create(&program->links);
	if (rc != 0)
		return rc;
	clock_start(&clock);
	for (uint32_t i = 0; i < program->loaded && rc == 0; i++)
		rc = instance_create(&program->instance[i], &program->pools, clock_now(&clock));
	for (uint8_t i = 0; i < program->workers.count && rc == 0; i++)
		rc = create_worker(program, i, &clock);
	return rc;
}

static int launch(struct program *program)
{
	for (uint32_t i = 0; i < program->workers.count; i++)
		unmap_waits_for(&program->workers.worker[i].poller);
	for (uint32_t i = 0; i < program->workers.count; i++) {
		const int rc = rte_eal_remote_launch(worker_run, &program->workers.worker[i],
						     EAL_LCORE_FORWARD + i);

		if (rc != 0) {
			log_err("%s: forwarding lcore %u does not start: %s", program->eal.name, i,
				strerror(-rc));
			return rc;
		}
		program->launched++;
	}
	return 0;
}

static void stop_lcores(struct program *program)
{
	for (uint32_t i = 0; i < program->launched; i++) {
		struct message message = { .kind = MESSAGE_STOP, .lcore = { (uint8_t)i } };

		workers_call(&program->workers, &message);
		rte_eal_wait_lcore(EAL_LCORE_FORWARD + i);
	}
	unmap_forget_all();
}

// What the conservation equation says at the end of a run.
static int check_conserved(const struct program *program)
{
	int rc = 0;

	for (uint32_t i = 0; i < program->loaded; i++) {
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
	int rc = launch(program);

	if (rc != 0) {
		stop_lcores(program);
		return rc;
	}
	agent = agent_open(&program->workers, &options);
	if (agent != NULL)
		agent_run(agent);
	agent_close(agent);
	stop_lcores(program);
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
	for (uint32_t i = 0; i < program->workers.count; i++)
		channel_close(&program->workers.worker[i].channel);
	for (uint32_t i = 0; i < program->loaded; i++)
		instance_release(&program->instance[i]);
	links_destroy(&program->links);
	pools_destroy(&program->pools);
	eal_stop();
	return rc;
}

static int dump(const struct program *program)
{
	const struct instance *in = &program->instance[0];
	int rc;

	if (program->options.dump_rows)
		in->config->sw.roce = CONFIG_ROCE_OFF;
	rc = cfg_dump(program->options.dump_rows ? in->config : in->written, config_tables,
		      CONFIG_TABLE_COUNT, stdout);
	if (rc != 0)
		fprintf(stderr, "weft-switch: cannot print: %s\n", strerror(-rc));
	return rc;
}

// A start that another start cannot better has a status of its own: a service manager leaves it at
// that. Who asks about a file is told as by other programs.
static int load_status(const struct options *options, int rc)
{
	const bool asks = options->check || options->dump;

	return asks || rc == -ENOMEM ? 1 : EX_CONFIG;
}

int main(int argc, char **argv)
{
	static struct program program;
	int status = 1;
	int rc;

	switch (options_parse(&program.options, argc, argv)) {
	case OPTIONS_DONE: return 0;
	case OPTIONS_WRONG: return 2;
	case OPTIONS_RUN: break;
	}
	signal(SIGPIPE, SIG_IGN);
	if (program.options.log_json)
		log_set_json();
	rc = load(&program);
	if (rc != 0)
		status = load_status(&program.options, rc);
	if (rc == 0 && program.options.dump)
		rc = dump(&program);
	else if (rc == 0 && !program.options.check)
		rc = start(&program);
	links_destroy(&program.links);
	for (uint32_t i = 0; i < program.loaded; i++) {
		managed_unload(&program.instance[i]);
		instance_unload(&program.instance[i]);
	}
	return rc == 0 ? 0 : status;
}
