// SPDX-License-Identifier: BSD-3-Clause
//
// The frames of a capture, one after the other, as libpcap reads them: pcap of either byte order
// with micro- or nanoseconds, and pcapng. The memory for one frame is bounded, and the file is not
// taken at its word.
#pragma once

#include <stdio.h>

#include "base/types.h"

struct pcap_file {
	struct pcap *pcap;
	const char *path;
	FILE *errors;
	uint64_t number; // of the last frame, from 1
};

struct pcap_frame {
	ns_t at;             // when it was captured, since 1970
	const uint8_t *data; // until the next one is read
	uint32_t caught;     // bytes of it that there are
	uint32_t len;        // bytes that it had
};

// Opens a capture of Ethernet frames; `path` must outlive it. 0, or -EINVAL after a line on
// `errors`.
int pcap_file_open(struct pcap_file *file, const char *path, FILE *errors);

// The next frame, from 14 to ROCE_FRAME_MAX bytes long. 1, or 0 at the end; -EINVAL when the file
// does not hold one where it should, or one of another length, after a line on `errors`.
int pcap_file_next(struct pcap_file *file, struct pcap_frame *out);

void pcap_file_close(struct pcap_file *file);
