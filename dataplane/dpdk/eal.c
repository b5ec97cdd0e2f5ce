// SPDX-License-Identifier: BSD-3-Clause
//
// The EAL's command line from our options.
//
// With hugepages the process runs --in-memory: nothing is left in a file system. Without them the
// EAL cannot (the two options exclude each other), so all memory is one anonymous mapping of a size
// given in advance. Either way its directory, named by the prefix, holds the telemetry socket only.

#include "dataplane/dpdk/eal.h"

#include <errno.h>
#include <glob.h>
#include <sched.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <rte_eal.h>
#include <rte_errno.h>
#include <rte_log.h>

#include "sys/dpdk/interrupt.h"
#include "sys/log.h"

enum { ARGS_MAX = 32 + 2 * EAL_PCI_MAX, ARG_BYTES = 512, CPUS_BYTES = 48, MEGABYTE = 1 << 20 };

struct arguments {
	char text[ARGS_MAX][ARG_BYTES];
	char *argv[ARGS_MAX + 1];
	int argc;
	bool cut; // an argument, or part of one, did not fit
};

__attribute__((format(printf, 2, 3))) static void add(struct arguments *args, const char *format,
						      ...)
{
	va_list list;

	if (args->argc == ARGS_MAX) {
		args->cut = true;
		return;
	}
	va_start(list, format);
	args->cut |= vsnprintf(args->text[args->argc], ARG_BYTES, format, list) >= ARG_BYTES;
	va_end(list);
	args->argv[args->argc] = args->text[args->argc];
	args->argc++;
}

static uint64_t read_number(const char *path)
{
	FILE *file = fopen(path, "re");
	char text[32] = "";
	uint64_t value = 0;

	if (file == NULL)
		return 0;
	if (fgets(text, sizeof(text), file) != NULL)
		value = strtoull(text, NULL, 10);
	fclose(file);
	return value;
}

static uint64_t free_hugepage_bytes(void)
{
	uint64_t bytes = 0;
	glob_t found;

	if (glob("/sys/kernel/mm/hugepages/hugepages-*kB", 0, NULL, &found) != 0)
		return 0;
	for (size_t i = 0; i < found.gl_pathc; i++) {
		const char *dash = strrchr(found.gl_pathv[i], '-');
		char path[256];

		snprintf(path, sizeof(path), "%s/free_hugepages", found.gl_pathv[i]);
		bytes += strtoull(dash + 1, NULL, 10) * 1024 * read_number(path);
	}
	globfree(&found);
	return bytes;
}

static bool use_hugepages(const struct eal_options *options)
{
	uint64_t have;

	if (options->memory != EAL_MEMORY_AUTO)
		return options->memory == EAL_MEMORY_HUGE;
	have = free_hugepage_bytes();
	if (have >= options->memory_bytes)
		return true;
	log_info("%s: %llu MB of hugepages are free, %llu MB needed: running without (--no-huge)",
		 options->name, (unsigned long long)(have / MEGABYTE),
		 (unsigned long long)(options->memory_bytes / MEGABYTE + 1));
	return false;
}

// "0-0,2-3" style list of the processors this process may use, for --lcores.
static int allowed_cpus(char *out, size_t out_bytes)
{
	cpu_set_t set;
	size_t len = 0;

	if (sched_getaffinity(0, sizeof(set), &set) != 0)
		return -errno;
	for (int cpu = 0; cpu < CPU_SETSIZE && len + 16 < out_bytes; cpu++) {
		int last = cpu;

		if (!CPU_ISSET(cpu, &set))
			continue;
		while (last + 1 < CPU_SETSIZE && CPU_ISSET(last + 1, &set))
			last++;
		len += (size_t)snprintf(out + len, out_bytes - len, "%s%d-%d", len == 0 ? "" : ",",
					cpu, last);
		cpu = last;
	}
	return len == 0 ? -EINVAL : 0;
}

// In the EAL's own words a processor that is not there is "invalid parameters for --lcores".
static int check_cpus(const struct eal_options *options, const char *allowed)
{
	cpu_set_t set;

	if (sched_getaffinity(0, sizeof(set), &set) != 0)
		return -errno;
	for (uint32_t i = 0; i < options->cpu_count; i++) {
		if (options->cpu[i] < CPU_SETSIZE && CPU_ISSET(options->cpu[i], &set))
			continue;
		log_err("%s: --lcore %d: this process may run on processors %s only", options->name,
			options->cpu[i], allowed);
		return -EINVAL;
	}
	return 0;
}

// A processor in parentheses may be another lcore's too.
static void add_lcores(struct arguments *args, const struct eal_options *options, const char *cpus)
{
	char text[ARG_BYTES];
	size_t len = (size_t)snprintf(text, sizeof(text), "%d@(%s)", EAL_LCORE_CONTROL, cpus);

	for (uint32_t i = 0; i < options->lcore_count && len < sizeof(text); i++) {
		uint32_t id = EAL_LCORE_FORWARD + i;

		if (options->cpu_count != 0)
			len += (size_t)snprintf(text + len, sizeof(text) - len, ",%u@(%d)", id,
						options->cpu[i]);
		else
			len += (size_t)snprintf(text + len, sizeof(text) - len, ",%u@(%s)", id,
						cpus);
	}
	args->cut |= len >= sizeof(text);
	add(args, "%s", text);
}

static void add_memory(struct arguments *args, const struct eal_options *options)
{
	if (use_hugepages(options)) {
		add(args, "--in-memory");
		add(args, "--single-file-segments"); // vhost takes few memory regions
		return;
	}
	add(args, "--no-huge");
	add(args, "-m");
	add(args, "%llu", (unsigned long long)(options->memory_bytes / MEGABYTE + 1));
	add(args, "--no-shconf");
}

static void remove_directory(void)
{
	rmdir(rte_eal_get_runtime_dir());
}

// The EAL makes its directory under one that it takes from the environment. When the process ends
// it removes its socket, but not the directory: a function that runs after its own does that.
static void prepare_directory(const struct eal_options *options)
{
	setenv("RUNTIME_DIRECTORY", options->run_dir, 1);
	mkdir(options->run_dir, 0755); // what is wrong with it, the EAL says
	atexit(remove_directory);
}

int eal_start(const struct eal_options *options)
{
	struct arguments *args = calloc(1, sizeof(*args));
	char cpus[CPUS_BYTES];
	int rc;

	if (args == NULL)
		return -ENOMEM;
	rc = allowed_cpus(cpus, sizeof(cpus));
	if (rc == 0)
		rc = check_cpus(options, cpus);
	if (rc != 0)
		goto out;
	add(args, "weft-switch");
	add(args, "--lcores");
	add_lcores(args, options, cpus);
	add(args, "--main-lcore");
	add(args, "%d", EAL_LCORE_CONTROL);
	add_memory(args, options);
	add(args, "--file-prefix");
	add(args, "weft-%s", options->name);
	add(args, "--log-level=*:error");
	if (options->pci_count == 0)
		add(args, "--no-pci");
	for (uint32_t i = 0; i < options->pci_count; i++) {
		add(args, "-a");
		add(args, "%s", options->pci[i]);
	}
	rte_openlog_stream(log_stream()); // NULL is stderr
	prepare_directory(options);
	rc = args->cut ? -E2BIG : rte_eal_init(args->argc, args->argv) < 0 ? -rte_errno : 0;
	if (rc != 0)
		log_err("%s: the DPDK environment does not start: %s", options->name,
			strerror(-rc));
out:
	free(args);
	return rc;
}

void eal_stop(void)
{
	interrupt_end();
	rte_eal_cleanup();
}
