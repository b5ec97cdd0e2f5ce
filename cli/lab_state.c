// SPDX-License-Identifier: BSD-3-Clause
//
// The state of a lab is small and rewritten as a whole for each change. A directory without
// lab.json is that of a lab only when it is empty: `up` ended before it had made anything.

#include "cli/lab_state.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/run.h"
#include "sys/file_replace.h"

enum {
	LOCK_SECONDS = 20,
	LOCK_TRIES_PER_SECOND = 20,
	LABS_MAX = 32,
	OPEN_FILES = 16,
};
static const char default_name[] = "lab";

const char *lab_path(const struct lab *lab, const char *file, char out[LAB_PATH_BYTES])
{
	snprintf(out, LAB_PATH_BYTES, "%s/%s", lab->dir, file);
	return out;
}

bool lab_has(const struct lab *lab, const char *flag)
{
	return json_is_true(json_object_get(lab->state, flag));
}

bool lab_has_netns(const struct lab *lab)
{
	const char *hosts = json_string_value(json_object_get(lab->state, "hosts"));

	return hosts != NULL && strcmp(hosts, "netns") == 0;
}

// --- where labs are ---------------------------------------------------------------------------

// The directory of the user's labs.
static void base_of(char out[LAB_DIR_BYTES])
{
	const uid_t user = geteuid();

	if (user == 0)
		snprintf(out, LAB_DIR_BYTES, "/run/weft-lab");
	else
		snprintf(out, LAB_DIR_BYTES, "/tmp/weft-lab-%u", (unsigned)user);
}

static int set_dir(struct lab *lab, const char *base, const char *name)
{
	const int len = snprintf(lab->dir, LAB_DIR_BYTES, "%s%s%s", base, name[0] ? "/" : "", name);

	if (len < LAB_DIR_BYTES - 1)
		return EXIT_DONE;
	fprintf(stderr, "weft: %s: longer than the %d bytes that leave room for names of sockets\n",
		base, LAB_DIR_BYTES - 2);
	return EXIT_USAGE;
}

// --dir, which may be relative, made absolute.
static int set_given_dir(struct lab *lab, const char *dir)
{
	char here[LAB_PATH_BYTES];

	if (dir[0] == '/')
		return set_dir(lab, dir, "");
	if (getcwd(here, sizeof(here)) == NULL) {
		fprintf(stderr, "weft: %s: %s\n", dir, strerror(errno));
		return EXIT_USAGE;
	}
	return set_dir(lab, here, dir);
}

static int is_name(const struct dirent *entry)
{
	return entry->d_name[0] != '.';
}

// Only root writes to the directory of its labs, or only the user does. That there is none is for
// others to say.
static int check_base(const char *base)
{
	struct stat st;

	if (lstat(base, &st) != 0 || (S_ISDIR(st.st_mode) && st.st_uid == geteuid()))
		return EXIT_DONE;
	fprintf(stderr, "weft: %s: is not a directory of this user\n", base);
	return EXIT_DENIED;
}

// The only lab there is.
static int find_only(struct lab *lab, const char *base)
{
	struct dirent **entries;
	int status = EXIT_ABSENT;
	int count;

	count = scandir(base, &entries, is_name, alphasort);
	if (count == 1)
		status = set_dir(lab, base, entries[0]->d_name);
	else if (count <= 0)
		fputs("weft: there is no lab; weft lab up FABRIC starts one\n", stderr);
	else
		fputs("weft: there are several labs; --name says which:", stderr);
	for (int i = 0; i < count; i++) {
		if (count > 1)
			fprintf(stderr, " %s", entries[i]->d_name);
		free(entries[i]);
	}
	if (count > 1)
		fputc('\n', stderr);
	if (count >= 0)
		free(entries);
	return status;
}

static int find_dir(const struct lab_options *options, struct lab *lab)
{
	char base[LAB_DIR_BYTES];
	int status;

	if (options->dir != NULL)
		return set_given_dir(lab, options->dir);
	base_of(base);
	status = check_base(base);
	if (status != EXIT_DONE)
		return status;
	return options->name != NULL ? set_dir(lab, base, options->name) : find_only(lab, base);
}

// --- the lock ---------------------------------------------------------------------------------

// Opens and locks the directory. What is in that of another user says which processes to end, and
// which programs to start: it is not to be believed.
static int lock(struct lab *lab)
{
	int fd = open(lab->dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct stat st;

	if (fd < 0)
		return -errno;
	if (fstat(fd, &st) != 0 || st.st_uid != geteuid()) {
		close(fd);
		return -EPERM;
	}
	for (uint32_t i = 0; flock(fd, LOCK_EX | LOCK_NB) != 0; i++) {
		if (i == LOCK_SECONDS * LOCK_TRIES_PER_SECOND || errno != EWOULDBLOCK) {
			close(fd);
			return -EBUSY;
		}
		run_wait(1000000000 / LOCK_TRIES_PER_SECOND);
	}
	lab->lock = fd;
	return 0;
}

void lab_unlock(struct lab *lab)
{
	if (lab->lock >= 0)
		close(lab->lock);
	lab->lock = -1;
}

static int complain_lock(const struct lab *lab, int rc)
{
	if (rc == -ENOENT) {
		fprintf(stderr, "weft: %s: there is no such lab\n", lab->dir);
		return EXIT_ABSENT;
	}
	if (rc == -EBUSY)
		fprintf(stderr, "weft: %s: another weft lab is at work there\n", lab->dir);
	else if (rc == -EPERM)
		fprintf(stderr, "weft: %s: belongs to another user\n", lab->dir);
	else
		fprintf(stderr, "weft: %s: %s\n", lab->dir, strerror(-rc));
	return rc == -EACCES || rc == -EPERM ? EXIT_DENIED : EXIT_REFUSED;
}

// --- making, finding --------------------------------------------------------------------------

// What is begun of the first lab.json is nothing yet.
static int is_something(const struct dirent *entry)
{
	const bool begun = strncmp(entry->d_name, "lab.json.", 9) == 0;

	return !begun && strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0;
}

static bool is_empty(const char *dir)
{
	struct dirent **entries;
	const int count = scandir(dir, &entries, is_something, alphasort);

	for (int i = 0; i < count; i++)
		free(entries[i]);
	if (count >= 0)
		free(entries);
	return count == 0;
}

static json_t *new_state(const struct lab_options *options, const char *name)
{
	return json_pack("{s:s, s:s, s:b, s:b, s:s, s:I, s:[], s:[], s:[]}", "name", name, "fabric",
			 options->words[0], "manager", !options->no_manager, "processes",
			 options->processes, "hosts",
			 options->hosts == LAB_HOSTS_NETNS ? "netns" : "memif", "speed_bps",
			 (json_int_t)options->speed_bps, "process", "namespaces", "interfaces");
}

static int make_dirs(const struct lab *lab)
{
	static const char *const dirs[] = { "config", "run", "state", "log", "host", "link" };
	char path[LAB_PATH_BYTES];

	for (size_t i = 0; i < sizeof(dirs) / sizeof(dirs[0]); i++) {
		if (mkdir(lab_path(lab, dirs[i], path), 0755) == 0)
			continue;
		fprintf(stderr, "weft: %s: %s\n", path, strerror(errno));
		return -EIO;
	}
	return 0;
}

// Its own, in a directory that only root writes to, or that only the user does.
static int make_top(const struct lab_options *options, struct lab *lab)
{
	char base[LAB_DIR_BYTES];
	int status;

	base_of(base);
	if (options->dir != NULL) {
		status = set_given_dir(lab, options->dir);
	} else {
		mkdir(base, geteuid() == 0 ? 0755 : 0700);
		status = check_base(base);
		if (status == EXIT_DONE)
			status = set_dir(lab, base, lab->name);
	}
	if (status != EXIT_DONE)
		return status;
	if (mkdir(lab->dir, 0755) != 0 && errno != EEXIST) {
		fprintf(stderr, "weft: %s: %s\n", lab->dir, strerror(errno));
		return EXIT_USAGE;
	}
	return EXIT_DONE;
}

int lab_create(const struct lab_options *options, struct lab *lab)
{
	const char *name = options->name != NULL ? options->name : default_name;
	int status, rc;

	*lab = (struct lab){ .lock = -1 };
	snprintf(lab->name, sizeof(lab->name), "%s", name);
	status = make_top(options, lab);
	if (status != EXIT_DONE)
		return status;
	rc = lock(lab);
	if (rc < 0)
		return complain_lock(lab, rc);
	if (!is_empty(lab->dir)) {
		fprintf(stderr, "weft: %s: is not empty; weft lab down ends a lab that is there\n",
			lab->dir);
		lab_unlock(lab);
		return EXIT_REFUSED;
	}
	lab->state = new_state(options, name);
	if (lab_save(lab) == 0 && make_dirs(lab) == 0)
		return EXIT_DONE;
	lab_remove(lab);
	lab_close(lab);
	return EXIT_USAGE;
}

// The state as it stands in the file; that of an empty directory is of nothing.
static int read_state(struct lab *lab)
{
	char path[LAB_PATH_BYTES];
	json_error_t error;
	json_t *state;

	if (is_empty(lab->dir))
		state = json_pack("{s:s, s:[]}", "name", "", "process");
	else
		state = json_load_file(lab_path(lab, "lab.json", path), 0, &error);
	json_decref(lab->state);
	lab->state = state;
	if (state == NULL) {
		fprintf(stderr, "weft: %s: is not a lab's directory (%s)\n", lab->dir, error.text);
		return EXIT_ABSENT;
	}
	snprintf(lab->name, sizeof(lab->name), "%s",
		 json_string_value(json_object_get(state, "name")) ?: "");
	return EXIT_DONE;
}

int lab_relock(struct lab *lab)
{
	int rc = lab->lock < 0 ? lock(lab) : 0;

	if (rc < 0)
		return complain_lock(lab, rc);
	return read_state(lab);
}

int lab_open(const struct lab_options *options, struct lab *lab)
{
	int status;

	*lab = (struct lab){ .lock = -1 };
	status = find_dir(options, lab);
	if (status == EXIT_DONE)
		status = lab_relock(lab);
	if (status != EXIT_DONE)
		lab_close(lab);
	return status;
}

void lab_close(struct lab *lab)
{
	lab_unlock(lab);
	json_decref(lab->state);
	lab->state = NULL;
}

int lab_save(const struct lab *lab)
{
	char path[LAB_PATH_BYTES];
	struct file_replace replace;
	int rc = lab->state == NULL ? -ENOMEM :
				      file_replace_open(&replace, lab_path(lab, "lab.json", path));

	if (rc == 0) {
		json_dumpf(lab->state, replace.file, JSON_INDENT(1));
		fputc('\n', replace.file);
		rc = file_replace_finish(&replace);
	}
	if (rc < 0)
		fprintf(stderr, "weft: %s/lab.json: %s\n", lab->dir, strerror(-rc));
	return rc;
}

// --- removing ---------------------------------------------------------------------------------

// lab.json stays until all else has gone.
static int remove_one(const char *path, const struct stat *st, int kind, struct FTW *place)
{
	(void)st;
	(void)kind;
	if (place->level == 0 || (place->level == 1 && strcmp(path + place->base, "lab.json") == 0))
		return 0;
	return remove(path) == 0 || errno == ENOENT ? 0 : -1;
}

int lab_remove(struct lab *lab)
{
	char path[LAB_PATH_BYTES];

	if ((nftw(lab->dir, remove_one, OPEN_FILES, FTW_DEPTH | FTW_PHYS | FTW_MOUNT) != 0 ||
	     (unlink(lab_path(lab, "lab.json", path)) != 0 && errno != ENOENT) ||
	     rmdir(lab->dir) != 0) &&
	    errno != ENOENT) {
		fprintf(stderr, "weft: %s: %s\n", lab->dir, strerror(errno));
		return -EIO;
	}
	// The directory of all labs goes with the last one.
	*strrchr(path, '/') = '\0';
	if (strncmp(path, "/run/weft-lab/", 14) == 0 || strncmp(path, "/tmp/weft-lab-", 14) == 0) {
		*strrchr(path, '/') = '\0';
		rmdir(path);
	}
	return 0;
}
