// SPDX-License-Identifier: BSD-3-Clause
//
// Prints what parse() finds in a capture: a line of column names, then one line per frame, fields
// separated by tabs, "-" where the frame has no such field. Fields that parse() does not keep
// (EtherType, ports) are read through the offsets that it found, so a wrong offset shows.
//
// usage: parse_dump FILE     (pcap or pcapng, Ethernet)

#include <pcap/pcap.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/bytes.h"
#include "dataplane/core/stage.h"

enum { UDP_BYTES = 8 };

static const char *const l3_names[] = {
	[PKT_L3_OTHER] = "other",     [PKT_L3_IPV4] = "ipv4",
	[PKT_L3_IPV6] = "ipv6",       [PKT_L3_ARP] = "arp",
	[PKT_L3_ROCE_V1] = "roce_v1", [PKT_L3_MAC_CONTROL] = "mac_control",
	[PKT_L3_LLDP] = "lldp",       [PKT_L3_HELLO] = "hello",
	[PKT_L3_SLOW] = "slow",
};

static const char *const l4_names[] = {
	[PKT_L4_OTHER] = "other", [PKT_L4_TCP] = "tcp", [PKT_L4_UDP] = "udp",
	[PKT_L4_BTH] = "bth",     [PKT_L4_ND] = "nd",   [PKT_L4_FRAGMENT] = "fragment",
};

static void print_field(bool present, uint32_t value)
{
	if (present)
		printf("\t%u", value);
	else
		printf("\t-");
}

static void print_frame(const struct pkt *p, enum drop_reason reason)
{
	const bool tagged = (p->flags & PKT_TAGGED) != 0;
	const bool classed = p->l3 == PKT_L3_IPV4 || p->l3 == PKT_L3_IPV6 ||
			     p->l3 == PKT_L3_ROCE_V1;
	const bool bth = p->l4 == PKT_L4_BTH;
	const bool ported = p->l4 == PKT_L4_TCP || p->l4 == PKT_L4_UDP ||
			    (bth && p->l3 != PKT_L3_ROCE_V1);
	const uint8_t *ports = p->data + p->l4_offset - (bth ? UDP_BYTES : 0);

	if (reason != DROP_NONE) {
		printf("%s\n", drop_infos[reason].name);
		return;
	}
	printf("-\t%u\t%s\t%s", load_be16(p->data + p->l3_offset - 2), l3_names[p->l3],
	       l4_names[p->l4]);
	print_field(tagged, p->tci & 0xfff);
	print_field(tagged, pkt_pcp(p));
	print_field(classed, pkt_dscp(p));
	print_field(classed, pkt_ecn(p));
	print_field(ported, ported ? load_be16(ports) : 0);
	print_field(ported, ported ? load_be16(ports + 2) : 0);
	print_field(bth, p->opcode);
	print_field(bth, p->dst_qp);
	print_field(true, p->l3_offset);
	print_field(p->l3 == PKT_L3_IPV4 || p->l3 == PKT_L3_IPV6 || bth, p->l4_offset);
	printf("\n");
}

// The frame is copied to memory of its own length, so that a sanitiser sees a byte too many.
static bool dump_frame(const struct pcap_pkthdr *header, const u_char *bytes)
{
	struct pkt p = { .len = header->len, .head_len = (uint16_t)header->caplen };

	if (header->caplen > UINT16_MAX)
		return false;
	p.data = malloc(header->caplen);
	if (p.data == NULL)
		return false;
	memcpy(p.data, bytes, header->caplen);
	print_frame(&p, parse(&p, UINT16_MAX));
	free(p.data);
	return true;
}

static int dump_capture(pcap_t *capture)
{
	struct pcap_pkthdr *header;
	const u_char *bytes;
	int rc;

	if (pcap_datalink(capture) != DLT_EN10MB) {
		fprintf(stderr, "parse_dump: not an Ethernet capture\n");
		return EXIT_FAILURE;
	}
	printf("drop\tethertype\tl3\tl4\tvid\tpcp\tdscp\tecn\tsport\tdport\topcode\tdst_qp\t"
	       "l3_offset\tl4_offset\n");
	while ((rc = pcap_next_ex(capture, &header, &bytes)) == 1) {
		if (!dump_frame(header, bytes)) {
			fprintf(stderr, "parse_dump: a frame of %u bytes\n", header->caplen);
			return EXIT_FAILURE;
		}
	}
	if (rc == PCAP_ERROR_BREAK)
		return EXIT_SUCCESS;
	fprintf(stderr, "parse_dump: %s\n", pcap_geterr(capture));
	return EXIT_FAILURE;
}

int main(int argc, char **argv)
{
	char error[PCAP_ERRBUF_SIZE];
	pcap_t *capture;
	int status;

	if (argc != 2) {
		fprintf(stderr, "usage: parse_dump FILE\n");
		return EXIT_FAILURE;
	}
	capture = pcap_open_offline(argv[1], error);
	if (capture == NULL) {
		fprintf(stderr, "parse_dump: %s\n", error);
		return EXIT_FAILURE;
	}
	status = dump_capture(capture);
	pcap_close(capture);
	return status;
}
