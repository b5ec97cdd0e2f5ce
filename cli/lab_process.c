// SPDX-License-Identifier: BSD-3-Clause
//
// A child waits at a pipe until its parent has noted it. When the parent is killed before that, the
// pipe ends and so does the child; afterwards it stands in the state. Signals go through a
// descriptor of the process (pidfd), so that they cannot meet another one.

#include "cli/lab_process.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { STAT_BYTES = 1024, START_FIELD = 20, LOG_TAIL_BYTES = 2000, KILL_SECONDS = 10 };

// --- programs ---------------------------------------------------------------------------------

// The program at DIR/PLACE/NAME, DIR being that of this one.
static bool try_place(const char *place, const char *name, char out[LAB_PATH_BYTES])
{
	char self[LAB_PATH_BYTES];
	const ssize_t len = readlink("/proc/self/exe", self, sizeof(self) - 1);
	char *slash;

	if (len <= 0)
		return false;
	self[len] = '\0';
	slash = strrchr(self, '/');
	*slash = '\0';
	return snprintf(out, LAB_PATH_BYTES, "%s/%s%s", self, place, name) < LAB_PATH_BYTES &&
	       access(out, X_OK) == 0;
}

static bool try_path(const char *name, char out[LAB_PATH_BYTES])
{
	for (const char *at = getenv("PATH"); at != NULL && *at != '\0';) {
		const int len = (int)strcspn(at, ":");

		if (snprintf(out, LAB_PATH_BYTES, "%.*s/%s", len, at, name) < LAB_PATH_BYTES &&
		    access(out, X_OK) == 0)
			return true;
		at += len + (at[len] == ':');
	}
	return false;
}

const char *lab_program(const char *name, char out[LAB_PATH_BYTES])
{
	static const char *const places[] = { "", "../dataplane/", "../traffic/",
					      "../fabricmgr/net/" };

	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
		if (try_place(places[i], name, out))
			return out;
	}
	if (try_path(name, out))
		return out;
	fprintf(stderr, "weft: there is no program %s, neither beside weft nor on the PATH\n",
		name);
	return NULL;
}

// --- who is who -------------------------------------------------------------------------------

// When a process started, in ticks since the machine did; 0: there is none. What has ended and
// waits for its parent to look is none.
static uint64_t start_of(pid_t pid)
{
	char path[32], text[STAT_BYTES];
	FILE *file;
	size_t len = 0;
	char *at;

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	file = fopen(path, "re");
	if (file != NULL) {
		len = fread(text, 1, sizeof(text) - 1, file);
		fclose(file);
	}
	text[len] = '\0';
	at = strrchr(text, ')'); // a name may hold anything
	if (at == NULL || at[1] == '\0' || at[2] == 'Z' || at[2] == 'X')
		return 0;
	for (int i = 0; i < START_FIELD && at != NULL; i++)
		at = strchr(at + 1, ' ');
	return at == NULL ? 0 : strtoull(at, NULL, 10);
}

static pid_t pid_of(const json_t *process)
{
	return (pid_t)json_integer_value(json_object_get(process, "pid"));
}

bool lab_process_lives(const json_t *process)
{
	const json_int_t start = json_integer_value(json_object_get(process, "start"));
	const pid_t pid = pid_of(process);

	return pid > 1 && start > 0 && start_of(pid) == (uint64_t)start;
}

json_t *lab_process_find(const struct lab *lab, const char *name)
{
	json_t *process;
	size_t i;

	json_array_foreach(json_object_get(lab->state, "process"), i, process) {
		const char *own = json_string_value(json_object_get(process, "name"));

		if (own != NULL && strcmp(own, name) == 0)
			return process;
	}
	return NULL;
}

// Forgets what has ended under this name.
static void forget_ended(struct lab *lab, const char *name)
{
	json_t *list = json_object_get(lab->state, "process");

	for (size_t i = json_array_size(list); i-- > 0;) {
		const json_t *process = json_array_get(list, i);
		const char *own = json_string_value(json_object_get(process, "name"));

		if (own != NULL && strcmp(own, name) == 0 && !lab_process_lives(process))
			json_array_remove(list, i);
	}
}

static int note(struct lab *lab, const char *name, pid_t pid, const struct lab_args *args)
{
	json_t *words = json_array();
	json_t *process;

	for (uint32_t i = 0; args != NULL && i < args->count; i++)
		json_array_append_new(words, json_string(args->word[i]));
	process = json_pack("{s:s, s:i, s:I, s:o}", "name", name, "pid", (int)pid, "start",
			    (json_int_t)start_of(pid), "argv", words);
	forget_ended(lab, name);
	if (json_array_append_new(json_object_get(lab->state, "process"), process) != 0) {
		fputs("weft: memory is short\n", stderr);
		return -ENOMEM;
	}
	return lab_save(lab);
}

int lab_process_note_self(struct lab *lab, const char *name)
{
	return note(lab, name, getpid(), NULL);
}

// --- starting ---------------------------------------------------------------------------------

// What the child does: never returns.
static void become(const struct lab_args *args, int gate, int log)
{
	const int nothing = open("/dev/null", O_RDONLY | O_CLOEXEC);
	char go;

	setsid();
	if (nothing < 0 || dup2(nothing, 0) < 0 || dup2(log, 1) < 0 || dup2(log, 2) < 0 ||
	    read(gate, &go, 1) != 1)
		_exit(126);
	execv(args->word[0], (char *const *)args->word);
	fprintf(stderr, "weft: %s: %s\n", args->word[0], strerror(errno));
	_exit(127);
}

static int open_log(const struct lab *lab, const char *name)
{
	char path[LAB_PATH_BYTES], file[LAB_PATH_BYTES];

	snprintf(file, sizeof(file), "log/%.80s", name);
	return open(lab_path(lab, file, path), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
}

int lab_process_start(struct lab *lab, const char *name, const struct lab_args *args)
{
	const int log = open_log(lab, name);
	int gate[2] = { -1, -1 };
	int rc = 0;
	pid_t pid = -1;

	if (args->count > LAB_ARGS_MAX)
		rc = -E2BIG;
	else if (log < 0 || pipe2(gate, O_CLOEXEC) != 0 || (pid = fork()) < 0)
		rc = -errno;
	if (rc == 0 && pid == 0) {
		close(gate[1]);
		become(args, gate[0], log);
	}
	if (rc < 0)
		fprintf(stderr, "weft: %s does not start: %s\n", name, strerror(-rc));
	else
		rc = note(lab, name, pid, args);
	if (rc == 0 && write(gate[1], "", 1) != 1)
		rc = -errno;
	for (int i = 0; i < 2 && gate[i] >= 0; i++)
		close(gate[i]);
	if (log >= 0)
		close(log);
	return rc;
}

int lab_process_restart(struct lab *lab, json_t *process)
{
	const char *name = json_string_value(json_object_get(process, "name"));
	struct lab_args args = { .count = 0 };
	json_t *word;
	size_t i;
	int rc;

	json_incref(process); // its words are lent
	json_array_foreach(json_object_get(process, "argv"), i, word)
		lab_args_add(&args, json_string_value(word));
	rc = lab_process_start(lab, name, &args);
	json_decref(process);
	return rc;
}

int lab_run_program(const char *const *argv, bool quiet, uint32_t seconds)
{
	struct pollfd wait = { .fd = -1, .events = POLLIN };
	const pid_t pid = fork();
	int status = 0;
	bool ended;

	if (pid == 0) {
		const int nothing = open("/dev/null", O_RDWR | O_CLOEXEC);

		// Nobody else knows of it: it ends with this command.
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		dup2(nothing, 0);
		if (quiet) {
			dup2(nothing, 1);
			dup2(nothing, 2);
		}
		execvp(argv[0], (char *const *)argv);
		_exit(127);
	}
	if (pid < 0)
		return -errno;
	wait.fd = pidfd_open(pid, 0);
	ended = wait.fd >= 0 && poll(&wait, 1, (int)seconds * 1000) == 1;
	if (!ended)
		kill(pid, SIGKILL);
	waitpid(pid, &status, 0);
	if (wait.fd >= 0)
		close(wait.fd);
	if (!ended)
		return -ETIMEDOUT;
	return WIFEXITED(status) ? WEXITSTATUS(status) : -EINTR;
}

// --- ending -----------------------------------------------------------------------------------

// A child of this command leaves its number behind until it is asked for.
static bool has_ended(int fd, pid_t pid, uint32_t seconds)
{
	struct pollfd wait = { .fd = fd, .events = POLLIN };

	if (poll(&wait, 1, (int)seconds * 1000) != 1)
		return false;
	waitpid(pid, NULL, WNOHANG);
	return true;
}

int lab_process_end(const json_t *process, bool gently, uint32_t seconds)
{
	const pid_t pid = pid_of(process);
	const int fd = lab_process_lives(process) ? pidfd_open(pid, 0) : -1;
	bool ended = !lab_process_lives(process);

	if (!ended && gently) {
		pidfd_send_signal(fd, SIGTERM, NULL, 0);
		ended = has_ended(fd, pid, seconds);
	}
	if (!ended) {
		pidfd_send_signal(fd, SIGKILL, NULL, 0);
		ended = has_ended(fd, pid, KILL_SECONDS);
	}
	if (fd >= 0)
		close(fd);
	if (ended)
		return 0;
	fprintf(stderr, "weft: process %d does not end\n", (int)pid);
	return -ETIMEDOUT;
}

void lab_process_show_log(const struct lab *lab, const char *name)
{
	char path[LAB_PATH_BYTES], file[LAB_PATH_BYTES], text[LOG_TAIL_BYTES + 1];
	FILE *log;
	size_t len;

	snprintf(file, sizeof(file), "log/%.80s", name);
	log = fopen(lab_path(lab, file, path), "re");
	if (log == NULL)
		return;
	if (fseek(log, -LOG_TAIL_BYTES, SEEK_END) != 0)
		rewind(log);
	len = fread(text, 1, LOG_TAIL_BYTES, log);
	text[len] = '\0';
	fclose(log);
	fputs(text, stderr);
}
