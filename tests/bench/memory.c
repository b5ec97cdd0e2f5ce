// SPDX-License-Identifier: BSD-3-Clause
//
// The files of /sys/kernel/mm/hugepages (Documentation/admin-guide/mm/hugetlbpage.rst). A run that
// is killed leaves the permission behind, which costs no memory by itself.

#include "tests/bench/memory.h"

#include <stdio.h>

#define PAGES "/sys/kernel/mm/hugepages/hugepages-2048kB/"

enum { PAGE_BYTES = 2 << 20 };

static uint64_t lent; // what was allowed on demand before, plus 1; 0: nothing was changed

static bool read_number(const char *path, uint64_t *value)
{
	FILE *file = fopen(path, "re");
	unsigned long number;
	bool found;

	if (file == NULL)
		return false;
	found = fscanf(file, "%lu", &number) == 1;
	fclose(file);
	*value = number;
	return found;
}

static bool write_number(const char *path, uint64_t value)
{
	FILE *file = fopen(path, "we");
	bool written;

	if (file == NULL)
		return false;
	written = fprintf(file, "%lu", (unsigned long)value) > 0;
	return fclose(file) == 0 && written;
}

bool memory_borrow(uint64_t bytes)
{
	uint64_t want = (bytes + PAGE_BYTES - 1) / PAGE_BYTES;
	uint64_t count, overcommit;

	if (read_number(PAGES "free_hugepages", &count) && count >= want)
		return true;
	if (!read_number(PAGES "nr_overcommit_hugepages", &overcommit) ||
	    !write_number(PAGES "nr_overcommit_hugepages", overcommit + want))
		return false;
	lent = overcommit + 1;
	return true;
}

void memory_return(void)
{
	if (lent != 0)
		write_number(PAGES "nr_overcommit_hugepages", lent - 1);
	lent = 0;
}
