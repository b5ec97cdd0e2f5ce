// SPDX-License-Identifier: BSD-3-Clause
//
// testpmd is driven over its interactive prompt: "start", wait, "stop", and the statistics it
// prints. While stopped its forwarding thread sleeps, so the kernel's account of that thread's time
// is exact and holds nothing but forwarding.

#include "tests/bench/testpmd.h"

#include <dirent.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <rte_cycles.h>

#define PROMPT "testpmd> "
#define PROGRAM "dpdk-testpmd"

enum { ANSWER_BYTES = 65536, ANSWER_MS = 20000, QUIT_MS = 5000 };

static uint64_t now_ms(void)
{
	return rte_rdtsc() / (rte_get_tsc_hz() / 1000);
}

// Reads up to the next prompt; false on end of file or time out.
static bool read_answer(struct testpmd *pmd, char answer[ANSWER_BYTES])
{
	uint64_t end = now_ms() + ANSWER_MS;
	size_t len = 0;

	while (now_ms() < end && len + 1 < ANSWER_BYTES) {
		struct pollfd ready = { .fd = pmd->from, .events = POLLIN };
		ssize_t count;

		if (poll(&ready, 1, 100) == 0)
			continue;
		count = read(pmd->from, answer + len, ANSWER_BYTES - 1 - len);
		if (count <= 0)
			return false;
		len += (size_t)count;
		answer[len] = '\0';
		if (len >= strlen(PROMPT) && strcmp(answer + len - strlen(PROMPT), PROMPT) == 0)
			return true;
	}
	return false;
}

static bool ask(struct testpmd *pmd, const char *command, char answer[ANSWER_BYTES])
{
	fprintf(pmd->to, "%s\n", command);
	return fflush(pmd->to) == 0 && read_answer(pmd, answer);
}

_Noreturn static void become_testpmd(const char *pcap, int cpu, int other_cpu, bool huge)
{
	char lcores[32], prefix[48], source[256];

	snprintf(lcores, sizeof(lcores), "0@%d,1@%d", other_cpu, cpu);
	snprintf(prefix, sizeof(prefix), "weft-bench-%d", (int)getpid());
	snprintf(source, sizeof(source), "net_pcap0,rx_pcap=%s,infinite_rx=1", pcap);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	// Line by line, so that what a command prints is there before the next prompt.
	execlp("stdbuf", "stdbuf", "-oL", PROGRAM, "--lcores", lcores, "--main-lcore", "0",
	       huge ? "--in-memory" : "--no-huge", "-m", "128", "--no-pci", "--no-telemetry",
	       "--no-shconf", "--file-prefix", prefix, "--vdev", source, "--vdev",
	       "net_null0,no-rx=1", "--", "-i", "--nb-cores=1", "--total-num-mbufs=16384",
	       "--no-flush-rx", "--no-lsc-interrupt", (char *)NULL);
	_exit(127);
}

static bool spawn(struct testpmd *pmd, const char *pcap, int cpu, int other_cpu, bool huge)
{
	int to[2], from[2];

	if (pipe(to) != 0)
		return false;
	if (pipe(from) != 0)
		goto err_to;
	pmd->pid = fork();
	if (pmd->pid < 0)
		goto err_from;
	if (pmd->pid == 0) {
		dup2(to[0], STDIN_FILENO);
		dup2(from[1], STDOUT_FILENO);
		dup2(from[1], STDERR_FILENO);
		close(to[1]);
		close(from[0]);
		become_testpmd(pcap, cpu, other_cpu, huge);
	}
	close(to[0]);
	close(from[1]);
	pmd->to = fdopen(to[1], "w");
	pmd->from = from[0];
	return pmd->to != NULL;
err_from:
	pmd->pid = 0;
	close(from[0]);
	close(from[1]);
err_to:
	close(to[0]);
	close(to[1]);
	return false;
}

static bool is_worker(const char *task)
{
	char path[160], comm[32] = "";
	FILE *file;

	snprintf(path, sizeof(path), "%s/comm", task);
	file = fopen(path, "re");
	if (file == NULL)
		return false;
	if (fgets(comm, sizeof(comm), file) == NULL)
		comm[0] = '\0';
	fclose(file);
	return strstr(comm, "worker") != NULL;
}

// The one worker thread is the forwarding one.
static bool find_worker(struct testpmd *pmd)
{
	char tasks[64], task[128];
	struct dirent *entry;
	bool found = false;
	DIR *dir;

	snprintf(tasks, sizeof(tasks), "/proc/%d/task", (int)pmd->pid);
	dir = opendir(tasks);
	while (dir != NULL && !found && (entry = readdir(dir)) != NULL) {
		snprintf(task, sizeof(task), "%s/%.16s", tasks, entry->d_name);
		found = is_worker(task);
	}
	if (found)
		snprintf(pmd->schedstat, sizeof(pmd->schedstat), "%.80s/schedstat", task);
	if (dir != NULL)
		closedir(dir);
	return found;
}

// Time on a processor is the first number.
static uint64_t worker_ns(const struct testpmd *pmd)
{
	FILE *file = fopen(pmd->schedstat, "re");
	char line[96] = "";

	if (file == NULL)
		return 0;
	if (fgets(line, sizeof(line), file) == NULL)
		line[0] = '\0';
	fclose(file);
	return strtoull(line, NULL, 10);
}

bool testpmd_open(struct testpmd *pmd, const char *pcap, int cpu, int other_cpu, bool huge)
{
	static char answer[ANSWER_BYTES];

	*pmd = (struct testpmd){ .from = -1 };
	signal(SIGPIPE, SIG_IGN);
	if (spawn(pmd, pcap, cpu, other_cpu, huge) && read_answer(pmd, answer) && find_worker(pmd))
		return true;
	fprintf(stderr, "pipeline: %s does not start:\n%s\n", PROGRAM, answer);
	testpmd_close(pmd);
	return false;
}

uint64_t testpmd_run(struct testpmd *pmd, enum testpmd_mode mode, uint64_t ms, uint64_t *packets)
{
	static char answer[ANSWER_BYTES];
	const char *total;
	uint64_t before;

	if (!ask(pmd, mode == TESTPMD_IO ? "set fwd io" : "set fwd macswap", answer))
		return 0;
	before = worker_ns(pmd);
	if (!ask(pmd, "start", answer))
		return 0;
	usleep((unsigned int)(ms * 1000));
	if (!ask(pmd, "stop", answer))
		return 0;
	total = strstr(answer, "Accumulated forward statistics");
	total = total == NULL ? NULL : strstr(total, "RX-packets:");
	if (total == NULL)
		return 0;
	*packets = strtoull(total + strlen("RX-packets:"), NULL, 10);
	return worker_ns(pmd) - before;
}

void testpmd_close(struct testpmd *pmd)
{
	char path[64];

	if (pmd->pid == 0)
		return;
	if (pmd->to != NULL) {
		fprintf(pmd->to, "quit\n");
		fclose(pmd->to);
	}
	for (uint32_t ms = 0; waitpid(pmd->pid, NULL, WNOHANG) == 0; ms += 10) {
		if (ms >= QUIT_MS)
			kill(pmd->pid, SIGKILL);
		usleep(10000);
	}
	close(pmd->from);
	snprintf(path, sizeof(path), "/var/run/dpdk/weft-bench-%d", (int)pmd->pid);
	rmdir(path);
	pmd->pid = 0;
}
