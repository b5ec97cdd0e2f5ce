// SPDX-License-Identifier: BSD-3-Clause
//
// Replays corpora: feeds each file of the directories on the command line to the fuzz target it is
// linked with, and reports each as a test in TAP. This is how builds without libFuzzer keep every
// input that was ever found interesting. A directory without files is a failure, not a success.

#include <dirent.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/fuzz/fuzz.h"

static int is_visible(const struct dirent *entry)
{
	return entry->d_name[0] != '.';
}

// Feeds one file; false when it cannot be read.
static bool replay_file(const char *path)
{
	uint8_t *data = NULL;
	FILE *file = fopen(path, "rb");
	long size = -1;
	bool ok = false;

	if (file == NULL)
		return false;
	if (fseek(file, 0, SEEK_END) == 0)
		size = ftell(file);
	if (size < 0)
		goto out;
	rewind(file);
	// Exactly as long as the input, so that the sanitiser sees a byte too many.
	data = malloc((size_t)size);
	ok = (size == 0 || data != NULL) && fread(data, 1, (size_t)size, file) == (size_t)size;
	if (ok)
		LLVMFuzzerTestOneInput(data, (size_t)size);
out:
	free(data);
	fclose(file);
	return ok;
}

// Replays a directory in the order of names; returns how many failed, counts all in *total.
static int replay_directory(const char *directory, int *total)
{
	struct dirent **entry = NULL;
	const int count = scandir(directory, &entry, is_visible, alphasort);
	int failed = 0;

	if (count <= 0) {
		printf("not ok %d - %s: no corpus\n", ++*total, directory);
		return 1;
	}
	for (int i = 0; i < count; i++) {
		char path[4096];
		bool ok;

		snprintf(path, sizeof(path), "%s/%s", directory, entry[i]->d_name);
		// The target aborts on a finding: say first which input it was.
		fprintf(stderr, "%s\n", path);
		ok = replay_file(path);
		printf("%s %d - %s\n", ok ? "ok" : "not ok", ++*total, entry[i]->d_name);
		failed += !ok;
		free(entry[i]);
	}
	free(entry);
	return failed;
}

int main(int argc, char **argv)
{
	int total = 0;
	int failed = 0;

	for (int i = 1; i < argc; i++)
		failed += replay_directory(argv[i], &total);
	printf("1..%d\n", total);
	return failed == 0 && total > 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
