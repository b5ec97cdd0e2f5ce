// SPDX-License-Identifier: BSD-3-Clause
//
// The XDP program of a port that shares its interface with the kernel: decides for each received
// frame whether the switch takes it (redirect to the AF_XDP socket of its queue) or the kernel.
// schema/steering.def is the decision table, and steer_frame() follows its rows.
//
// Reads nothing beyond the frame and writes nothing but its counters. Invariant: a frame for which
// no socket waits goes to the kernel, so a program left behind by a killed switch harms nobody.

#include <linux/bpf.h>
#include <stdbool.h>
#include <stddef.h>

#include <bpf/bpf_endian.h>
#include <bpf/bpf_helpers.h>

#include "base/wire.h"
#include "dataplane/xdp/steer_map.h"

enum {
	ETHERTYPE_IPV4 = 0x0800,
	ETHERTYPE_ARP = 0x0806,
	ETHERTYPE_CTAG = 0x8100,
	ETHERTYPE_IPV6 = 0x86dd,
	ETHERTYPE_MAC_CONTROL = 0x8808,
	ETHERTYPE_STAG = 0x88a8,
	ETHERTYPE_ROCE_V1 = 0x8915,

	PROTO_HOP_BY_HOP = 0,
	PROTO_UDP = 17,
	PROTO_ROUTING = 43,
	PROTO_FRAGMENT = 44,
	PROTO_AH = 51,
	PROTO_ICMPV6 = 58,
	PROTO_DEST_OPTIONS = 60,

	ETH_BYTES = 14,
	TAG_BYTES = 4,
	TAG_MAX = 2,
	ARP_BYTES = 28,
	IPV4_BYTES = 20,
	IPV6_BYTES = 40,
	EXTENSION_BYTES = 8,
	EXTENSION_MAX = 8,
	UDP_BYTES = 8,
	BTH_BYTES = 12,
	ND_BYTES = 24,

	ND_SOLICITATION = 135,
	ND_ADVERTISEMENT = 136,
	ND_HOP_LIMIT = 255,

	FRAME_MAX_BYTES = 4096, // XDP frames lie in one page
};

// The AF_XDP driver looks for this map by its name and puts its sockets in.
struct {
	__uint(type, BPF_MAP_TYPE_XSKMAP);
	__type(key, __u32);
	__type(value, __u32);
	__uint(max_entries, STEER_QUEUE_MAX);
} xsks_map SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__type(key, __u32);
	__type(value, struct steer_port);
	__uint(max_entries, 1);
} steer_port SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__type(key, __u32);
	__type(value, __u8);
	__uint(max_entries, STEER_OWN_MAX);
} steer_own4 SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__type(key, struct steer_address6);
	__type(value, __u8);
	__uint(max_entries, STEER_OWN_MAX);
} steer_own6 SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_LPM_TRIE);
	__type(key, struct steer_prefix4);
	__type(value, __u8);
	__uint(max_entries, STEER_PREFIX_MAX);
	__uint(map_flags, BPF_F_NO_PREALLOC);
} steer_prefix4 SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_LPM_TRIE);
	__type(key, struct steer_prefix6);
	__type(value, __u8);
	__uint(max_entries, STEER_PREFIX_MAX);
	__uint(map_flags, BPF_F_NO_PREALLOC);
} steer_prefix6 SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__type(key, __u32);
	__type(value, __u64);
	__uint(max_entries, STEER_CLASS_COUNT *STEER_VERDICT_COUNT);
} steer_counters SEC(".maps");

struct frame {
	const __u8 *data;
	const __u8 *end;
	__u32 bytes;
};

struct verdict {
	enum steer_class class;
	bool taken;
};

// `bytes` of the frame at `offset`, or NULL when they are not all there.
static __always_inline const __u8 *frame_at(const struct frame *f, __u32 offset, __u32 bytes)
{
	const __u8 *at;

	if (offset > FRAME_MAX_BYTES)
		return NULL;
	at = f->data + offset;
	return at + bytes > f->end ? NULL : at;
}

static __always_inline __u32 be16(const __u8 *at)
{
	return (__u32)at[0] << 8 | at[1];
}

static __always_inline struct verdict taken(enum steer_class class)
{
	return (struct verdict){ class, true };
}

static __always_inline struct verdict left(enum steer_class class)
{
	return (struct verdict){ class, false };
}

static __always_inline bool to_own_mac(const struct frame *f, const struct steer_port *port)
{
	bool same = true;

	for (int i = 0; i < 6; i++)
		same &= f->data[i] == port->mac[i];
	return same;
}

static __always_inline bool is_own4(const __u8 *at)
{
	__u32 address;

	__builtin_memcpy(&address, at, sizeof(address));
	return bpf_map_lookup_elem(&steer_own4, &address) != NULL;
}

static __always_inline bool is_own6(const __u8 *at)
{
	struct steer_address6 address;

	__builtin_memcpy(&address, at, sizeof(address));
	return bpf_map_lookup_elem(&steer_own6, &address) != NULL;
}

static __always_inline struct verdict by_ipv4(const __u8 *destination)
{
	struct steer_prefix4 key = { .bits = 32 };

	if (is_own4(destination))
		return left(STEER_OWN);
	__builtin_memcpy(&key.address, destination, sizeof(key.address));
	if (bpf_map_lookup_elem(&steer_prefix4, &key) != NULL)
		return taken(STEER_PREFIX);
	return left(STEER_OTHER);
}

static __always_inline struct verdict by_ipv6(const __u8 *destination)
{
	struct steer_prefix6 key = { .bits = 128 };

	if (is_own6(destination))
		return left(STEER_OWN);
	__builtin_memcpy(&key.address, destination, sizeof(key.address));
	if (bpf_map_lookup_elem(&steer_prefix6, &key) != NULL)
		return taken(STEER_PREFIX);
	return left(STEER_OTHER);
}

// Judges the UDP header at `at` of an unfragmented packet that ends at `end`. `otherwise` is the
// verdict by address.
static __always_inline struct verdict by_udp(const struct frame *f, __u32 at, __u32 end,
					     struct verdict otherwise)
{
	const __u8 *udp = frame_at(f, at, UDP_BYTES);
	__u32 bytes;

	if (udp == NULL || at + UDP_BYTES > end)
		return left(STEER_MALFORMED);
	bytes = be16(udp + 4);
	if (bytes < UDP_BYTES || at + bytes > end)
		return left(STEER_MALFORMED);
	if (be16(udp + 2) == ROCE_UDP_PORT && bytes >= UDP_BYTES + BTH_BYTES)
		return taken(STEER_ROCE_V2);
	return otherwise;
}

static __always_inline struct verdict steer_ipv4(const struct frame *f, __u32 at)
{
	const __u8 *ip = frame_at(f, at, IPV4_BYTES);
	struct verdict verdict;
	__u32 head, total;

	if (ip == NULL || ip[0] < 0x45 || ip[0] > 0x4f)
		return left(STEER_MALFORMED);
	head = (ip[0] & 0xf) * 4;
	total = be16(ip + 2);
	if (total < head || at + total > f->bytes)
		return left(STEER_MALFORMED);
	verdict = by_ipv4(ip + 16);
	if (ip[9] != PROTO_UDP || (be16(ip + 6) & 0x3fff) != 0)
		return verdict;
	return by_udp(f, at + head, at + total, verdict);
}

static __always_inline bool is_extension(__u8 proto)
{
	return proto == PROTO_HOP_BY_HOP || proto == PROTO_ROUTING || proto == PROTO_FRAGMENT ||
	       proto == PROTO_AH || proto == PROTO_DEST_OPTIONS;
}

static __always_inline __u32 extension_bytes(__u8 proto, __u8 length)
{
	if (proto == PROTO_FRAGMENT)
		return EXTENSION_BYTES;
	return proto == PROTO_AH ? (length + 2u) * 4 : (length + 1u) * 8;
}

struct chain {
	__u32 at;
	__u32 end;
	__u8 proto; // of what lies at `at`
	bool fragment;
};

// Walks the extension headers, up to a fragment header; false when they are malformed.
static __always_inline bool walk_extensions(const struct frame *f, struct chain *chain)
{
	for (__u32 count = 0; count <= EXTENSION_MAX; count++) {
		const __u8 *extension;
		__u32 bytes;

		if (!is_extension(chain->proto))
			return true;
		extension = frame_at(f, chain->at, EXTENSION_BYTES);
		if (extension == NULL || (count != 0 && chain->proto == PROTO_HOP_BY_HOP))
			return false;
		bytes = extension_bytes(chain->proto, extension[1]);
		if (chain->at + bytes > chain->end)
			return false;
		// What has offset 0 and no more fragments is a whole packet.
		if (chain->proto == PROTO_FRAGMENT && (be16(extension + 2) & 0xfff9) != 0) {
			chain->fragment = true;
			return true;
		}
		chain->at += bytes;
		chain->proto = extension[0];
	}
	return false;
}

// Neighbour discovery as hosts accept it: unforwarded and without extension headers.
static __always_inline bool is_nd(const __u8 *ip, const __u8 *icmp, __u32 bytes)
{
	return bytes >= ND_BYTES && ip[7] == ND_HOP_LIMIT && icmp[1] == 0 &&
	       (icmp[0] == ND_SOLICITATION || icmp[0] == ND_ADVERTISEMENT);
}

static __always_inline struct verdict steer_ipv6(const struct frame *f, __u32 at,
						 const struct steer_port *port)
{
	const __u8 *ip = frame_at(f, at, IPV6_BYTES);
	struct chain chain = { .at = at + IPV6_BYTES };
	struct verdict verdict;
	const __u8 *icmp;
	__u32 bytes;

	if (ip == NULL || ip[0] >> 4 != 6)
		return left(STEER_MALFORMED);
	bytes = be16(ip + 4);
	chain.end = chain.at + bytes;
	chain.proto = ip[6];
	if (chain.end > f->bytes)
		return left(STEER_MALFORMED);
	verdict = by_ipv6(ip + 24);
	if (chain.proto == PROTO_ICMPV6) {
		icmp = frame_at(f, at + IPV6_BYTES, ND_BYTES);
		if (icmp == NULL || !is_nd(ip, icmp, bytes))
			return verdict;
		if (verdict.class == STEER_OWN || is_own6(icmp + 8) || to_own_mac(f, port))
			return left(STEER_ND);
		return taken(STEER_ND);
	}
	if (!walk_extensions(f, &chain))
		return left(STEER_MALFORMED);
	if (chain.fragment || chain.proto != PROTO_UDP)
		return verdict;
	return by_udp(f, chain.at, chain.end, verdict);
}

// Other kinds of ARP than that of Ethernet and IPv4 are no ARP here.
static __always_inline struct verdict steer_arp(const struct frame *f, __u32 at,
						const struct steer_port *port)
{
	const __u8 *arp = frame_at(f, at, ARP_BYTES);

	if (arp == NULL)
		return left(STEER_MALFORMED);
	if (be16(arp) != 1 || be16(arp + 2) != ETHERTYPE_IPV4 || be16(arp + 4) != 0x0604)
		return left(STEER_OTHER);
	if (is_own4(arp + 24) || to_own_mac(f, port))
		return left(STEER_ARP);
	return taken(STEER_ARP);
}

static __always_inline bool is_tag(__u32 ethertype)
{
	return ethertype == ETHERTYPE_CTAG || ethertype == ETHERTYPE_STAG;
}

static __always_inline struct verdict steer_frame(const struct frame *f,
						  const struct steer_port *port)
{
	const __u8 *ethernet = frame_at(f, 0, ETH_BYTES);
	__u32 at = ETH_BYTES;
	__u32 ethertype;

	if (ethernet == NULL)
		return left(STEER_MALFORMED);
	ethertype = be16(ethernet + 12);
	for (int i = 0; i < TAG_MAX && is_tag(ethertype); i++) {
		const __u8 *tag = frame_at(f, at, TAG_BYTES);

		if (tag == NULL)
			return left(STEER_MALFORMED);
		ethertype = be16(tag + 2);
		at += TAG_BYTES;
	}
	if (is_tag(ethertype))
		return left(STEER_MALFORMED);
	if (ethertype == ETHERTYPE_IPV4)
		return steer_ipv4(f, at);
	if (ethertype == ETHERTYPE_IPV6)
		return steer_ipv6(f, at, port);
	if (ethertype == ETHERTYPE_MAC_CONTROL)
		return taken(STEER_MAC_CONTROL);
	if (ethertype == LLDP_ETHERTYPE)
		return taken(STEER_LLDP);
	if (ethertype == ETHERTYPE_ROCE_V1)
		return taken(STEER_ROCE_V1);
	if (ethertype == ETHERTYPE_ARP)
		return steer_arp(f, at, port);
	return left(STEER_OTHER);
}

static __always_inline void count(struct verdict verdict)
{
	__u32 index = STEER_VERDICT_COUNT * verdict.class + verdict.taken;
	__u64 *counter = bpf_map_lookup_elem(&steer_counters, &index);

	if (counter != NULL)
		++*counter;
}

SEC("xdp")
int weft_steer(struct xdp_md *ctx)
{
	struct frame frame = {
		.data = (const __u8 *)(long)ctx->data,
		.end = (const __u8 *)(long)ctx->data_end,
	};
	__u32 queue = ctx->rx_queue_index;
	__u32 zero = 0;
	const struct steer_port *port = bpf_map_lookup_elem(&steer_port, &zero);
	struct verdict verdict;

	if (port == NULL || !port->active)
		return XDP_PASS;
	frame.bytes = (__u32)(frame.end - frame.data);
	verdict = steer_frame(&frame, port);
	verdict.taken &= bpf_map_lookup_elem(&xsks_map, &queue) != NULL;
	count(verdict);
	return verdict.taken ? (int)bpf_redirect_map(&xsks_map, queue, XDP_PASS) : XDP_PASS;
}

// Uses no helper that is reserved to the GPL.
char steer_license[] SEC("license") = "BSD-3-Clause";
