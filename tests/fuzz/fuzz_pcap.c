// SPDX-License-Identifier: BSD-3-Clause
//
// Fuzz target of captures that are replayed: whatever the file says, through libpcap and what is
// judged behind it.
//
// Checked: every frame can be sent, its bytes are there, its time does not overflow; what is
// refused is told, by the name of the file.

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/check.h"
#include "tests/fuzz/fuzz.h"
#include "traffic/core/replay.h"
#include "traffic/core/roce.h"
#include "traffic/pcap_file.h"

enum { PATH_BYTES = 40 };

static uint32_t sum_of(const struct pcap_frame *frame)
{
	uint32_t sum = 0;

	for (uint32_t i = 0; i < frame->caught; i++)
		sum += frame->data[i];
	return sum;
}

static int read_all(struct pcap_file *file)
{
	struct replay_pace pace = { .rate_ppm = 500000, .start = { 1000 } };
	struct pcap_frame frame;
	int rc;

	while ((rc = pcap_file_next(file, &frame)) == 1) {
		WEFT_CHECK(frame.len >= REPLAY_FRAME_MIN && frame.len <= ROCE_FRAME_MAX);
		WEFT_CHECK(frame.caught <= frame.len);
		WEFT_CHECK(!ns_before(replay_due(&pace, frame.at), pace.start));
		// All of its bytes can be read.
		WEFT_CHECK(sum_of(&frame) <= UINT8_MAX * frame.caught);
	}
	return rc;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const int fd = memfd_create("weft-fuzz", MFD_CLOEXEC);
	char path[PATH_BYTES];
	char *said = NULL;
	size_t len = 0;
	FILE *errors = open_memstream(&said, &len);
	struct pcap_file file;
	int rc;

	WEFT_CHECK(fd >= 0 && errors != NULL);
	WEFT_CHECK(write(fd, data, size) == (ssize_t)size);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	rc = pcap_file_open(&file, path, errors);
	if (rc == 0)
		rc = read_all(&file);
	pcap_file_close(&file);
	fclose(errors);
	WEFT_CHECK((rc == 0) == (len == 0));
	WEFT_CHECK(rc == 0 || strncmp(said, path, strlen(path)) == 0);
	free(said);
	close(fd);
	return 0;
}
