// SPDX-License-Identifier: BSD-3-Clause
//
// libpcap makes nanoseconds of all time stamps, and bounds what a file claims of its lengths. What
// it does not look at is judged here: whether frames are such as an endpoint can send, and whether
// time stamps are times.

#include "traffic/pcap_file.h"

#include <errno.h>
#include <inttypes.h>
#include <pcap/pcap.h>

#include "traffic/core/replay.h"
#include "traffic/core/roce.h"

enum { SECOND_NS = 1000000000 };

// The year 2242; what comes behind does not fit with room to spare.
#define SECONDS_MAX (1ll << 33)

static int refuse(const struct pcap_file *file, const char *what)
{
	fprintf(file->errors, "%s: frame %" PRIu64 ": %s\n", file->path, file->number, what);
	return -EINVAL;
}

int pcap_file_open(struct pcap_file *file, const char *path, FILE *errors)
{
	char why[PCAP_ERRBUF_SIZE] = "";

	*file = (struct pcap_file){ .path = path, .errors = errors };
	file->pcap = pcap_open_offline_with_tstamp_precision(path, PCAP_TSTAMP_PRECISION_NANO, why);
	if (file->pcap == NULL) {
		fprintf(errors, "%s: not a capture that can be read: %s\n", path, why);
		return -EINVAL;
	}
	if (pcap_datalink(file->pcap) == DLT_EN10MB)
		return 0;
	fprintf(errors, "%s: frames are not those of Ethernet\n", path);
	pcap_file_close(file);
	return -EINVAL;
}

int pcap_file_next(struct pcap_file *file, struct pcap_frame *out)
{
	struct pcap_pkthdr *head;
	const u_char *data;
	const int rc = pcap_next_ex(file->pcap, &head, &data);

	if (rc == PCAP_ERROR_BREAK)
		return 0;
	file->number++;
	if (rc != 1)
		return refuse(file, pcap_geterr(file->pcap));
	if (head->len < REPLAY_FRAME_MIN)
		return refuse(file, "shorter than an Ethernet header");
	if (head->len > ROCE_FRAME_MAX || head->caplen > head->len)
		return refuse(file, "longer than a host of weft-traffic can send");
	if (head->ts.tv_sec < 0 || head->ts.tv_sec > SECONDS_MAX || head->ts.tv_usec < 0 ||
	    head->ts.tv_usec >= SECOND_NS)
		return refuse(file, "its time stamp is no time");
	*out = (struct pcap_frame){
		.at = { (uint64_t)head->ts.tv_sec * SECOND_NS + (uint64_t)head->ts.tv_usec },
		.data = data,
		.caught = head->caplen,
		.len = head->len,
	};
	return 1;
}

void pcap_file_close(struct pcap_file *file)
{
	if (file->pcap != NULL)
		pcap_close(file->pcap);
	file->pcap = NULL;
}
