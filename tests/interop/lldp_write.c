// SPDX-License-Identifier: BSD-3-Clause
//
// Writes what hosts in software say over LLDP to a pcap file, and prints what is in it: a line of
// column names, then one line per frame, fields separated by tabs, "-" where the frame has no such
// field. One host for each row of DCBX and addresses; the last frame of each takes it all back.
//
// usage: lldp_write FILE

#include <pcap/pcap.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/bytes.h"
#include "traffic/core/endpoint.h"

enum { DSCP = 26, PRIO = 3, CNP_DSCP = 48, CNP_PRIO = 6, RANK = 12, LATE_NS = 1000 };

static struct endpoint_profile make_profile(enum endpoint_dcbx dcbx, bool ipv6)
{
	struct endpoint_profile pf = {
		.mac = 0x020000000000 | (uint64_t)dcbx << 8 | RANK,
		.ipv4 = { 10, 1, 0, RANK },
		.ipv6 = { 0xfd, [15] = RANK },
		.has_ipv4 = !ipv6,
		.has_ipv6 = ipv6,
		.bps = 100000000000,
		.mtu = 4200,
		.obey = 1 << PRIO,
		.cnp_dscp = CNP_DSCP,
		.qp_count = 1,
		.neighbor_count = 1,
		.send_count = 1,
		.receive_count = 1,
		.lldp = { .interval_ns = 30000000000, .dcbx = dcbx, .dscp = DSCP, .rank = RANK },
	};

	pf.dscp_to_prio[DSCP] = PRIO;
	pf.dscp_to_prio[CNP_DSCP] = CNP_PRIO;
	return pf;
}

static void print_bytes(const uint8_t *bytes, uint32_t count)
{
	printf("\t");
	for (uint32_t i = 0; i < count; i++)
		printf("%02x", bytes[i]);
}

static void print_wanted(const struct endpoint_profile *pf, bool goodbye)
{
	const bool dcbx = pf->lldp.dcbx != ENDPOINT_DCBX_OFF && !goodbye;

	printf("%012lx\t%u", (unsigned long)pf->mac, goodbye ? 0u : 4u * 30 + 1);
	printf("\t%s", goodbye ? "-" : "weft-traffic 12");
	if (goodbye)
		printf("\t-");
	else
		print_bytes(pf->has_ipv6 ? pf->ipv6 : pf->ipv4, pf->has_ipv6 ? 16 : 4);
	printf(goodbye ? "\t-" : "\t%u", pf->mtu + 14 + 4 + 4);
	printf("\t%s", !dcbx ? "-" : pf->lldp.dcbx == ENDPOINT_DCBX_WILLING ? "1" : "0");
	printf(dcbx ? "\t%u\n" : "\t-\n", PRIO);
}

// Of what the host sends next, the LLDP frame.
static bool write_next(const struct endpoint_profile *pf, struct endpoint_state *st, ns_t *now,
		       pcap_dumper_t *dumper)
{
	uint8_t frame[ROCE_FRAME_MAX];

	for (uint32_t i = 0; i < 4; i++) {
		const uint32_t len = endpoint_tx(pf, st, *now, frame);
		const struct pcap_pkthdr header = { .caplen = len, .len = len };

		*now = ns_add(*now, LATE_NS);
		if (len == 0 || load_be16(frame + 12) != LLDP_ETHERTYPE)
			continue;
		pcap_dump((u_char *)dumper, &header, frame);
		return true;
	}
	return false;
}

static bool write_host(enum endpoint_dcbx dcbx, bool ipv6, pcap_dumper_t *dumper)
{
	const struct endpoint_profile pf = make_profile(dcbx, ipv6);
	void *memory = aligned_alloc(64, endpoint_bytes(&pf));
	struct endpoint_state *st;
	ns_t now = { 0 };
	bool good;

	if (memory == NULL)
		return false;
	memset(memory, 0, endpoint_bytes(&pf));
	st = endpoint_init(&pf, NULL, 0, memory);
	good = write_next(&pf, st, &now, dumper);
	print_wanted(&pf, false);
	endpoint_lldp_leave(&pf, st);
	good &= write_next(&pf, st, &now, dumper);
	print_wanted(&pf, true);
	free(memory);
	return good;
}

int main(int argc, char **argv)
{
	pcap_t *capture = pcap_open_dead(DLT_EN10MB, ROCE_FRAME_MAX);
	pcap_dumper_t *dumper = argc == 2 ? pcap_dump_open(capture, argv[1]) : NULL;
	bool good = dumper != NULL;

	if (!good) {
		fprintf(stderr, "usage: lldp_write FILE\n");
		return EXIT_FAILURE;
	}
	printf("mac\tttl\tname\taddress\tmax_frame\twilling\troce\n");
	for (uint32_t dcbx = ENDPOINT_DCBX_OFF; dcbx <= ENDPOINT_DCBX_WILLING; dcbx++) {
		good &= write_host((enum endpoint_dcbx)dcbx, false, dumper);
		good &= write_host((enum endpoint_dcbx)dcbx, true, dumper);
	}
	pcap_dump_close(dumper);
	pcap_close(capture);
	return good ? EXIT_SUCCESS : EXIT_FAILURE;
}
