// SPDX-License-Identifier: BSD-3-Clause
//
// Flow hashes. HASH_MIX packs the usual fields into two multiplications; the other fields are
// added only where a profile or a packet has them. HASH_CRC is CRC-32C (RFC 3720, appendix B.4) of
// the fields in order, most significant byte first.
//
// A CRC alone is linear: with another start value all flows move alike, and tiers would polarise
// whatever their seeds. So the seed enters a finaliser that is not linear (MurmurHash3's, Appleby).

#include "routing/hash.h"

#include "routing/fold.h"

#define FIELD(name) (1u << (name))

// Not the ordinary case.
#define FIELDS_RARE                                                                                \
	(FIELD(HASH_IN_PORT) | FIELD(HASH_DST_MAC) | FIELD(HASH_SRC_MAC) | FIELD(HASH_ETHERTYPE) | \
	 FIELD(HASH_VLAN_ID) | FIELD(HASH_IPV6_FLOW_LABEL) | FIELD(HASH_BTH_OPCODE))
#define FIELDS_INNER                                                                               \
	(FIELD(HASH_INNER_DST_IP) | FIELD(HASH_INNER_SRC_IP) | FIELD(HASH_INNER_IP_PROTOCOL) |     \
	 FIELD(HASH_INNER_L4_DST_PORT) | FIELD(HASH_INNER_L4_SRC_PORT))
#define FIELDS_OF_ONE_DIRECTION                                                                    \
	(FIELD(HASH_IN_PORT) | FIELD(HASH_IPV6_FLOW_LABEL) | FIELD(HASH_BTH_OPCODE) |              \
	 FIELD(HASH_BTH_DEST_QP))

const char *const hash_field_names[HASH_FIELD_COUNT] = {
	[HASH_IN_PORT] = "IN_PORT",
	[HASH_DST_MAC] = "DST_MAC",
	[HASH_SRC_MAC] = "SRC_MAC",
	[HASH_ETHERTYPE] = "ETHERTYPE",
	[HASH_VLAN_ID] = "VLAN_ID",
	[HASH_IP_PROTOCOL] = "IP_PROTOCOL",
	[HASH_DST_IP] = "DST_IP",
	[HASH_SRC_IP] = "SRC_IP",
	[HASH_L4_DST_PORT] = "L4_DST_PORT",
	[HASH_L4_SRC_PORT] = "L4_SRC_PORT",
	[HASH_IPV6_FLOW_LABEL] = "IPV6_FLOW_LABEL",
	[HASH_BTH_OPCODE] = "RDMA_BTH_OPCODE",
	[HASH_BTH_DEST_QP] = "RDMA_BTH_DEST_QP",
	[HASH_INNER_DST_IP] = "INNER_DST_IP",
	[HASH_INNER_SRC_IP] = "INNER_SRC_IP",
	[HASH_INNER_IP_PROTOCOL] = "INNER_IP_PROTOCOL",
	[HASH_INNER_L4_DST_PORT] = "INNER_L4_DST_PORT",
	[HASH_INNER_L4_SRC_PORT] = "INNER_L4_SRC_PORT",
};

const char *const hash_algorithm_names[HASH_ALGORITHM_COUNT] = {
	[HASH_MIX] = "MIX",
	[HASH_CRC] = "CRC",
};

// All ones when the field enters, else 0.
static inline uint64_t field_mask(uint32_t fields, enum hash_field field)
{
	return -(uint64_t)(fields >> field & 1);
}

static inline uint64_t pick(uint32_t fields, enum hash_field field, uint64_t value)
{
	return value & field_mask(fields, field);
}

// Ports, protocol and destination QP: 16 + 16 + 8 + 24 bits.
static inline uint64_t l4_word(uint32_t fields, const struct hash_key *key)
{
	return pick(fields, HASH_L4_SRC_PORT, key->src_port) << 48 |
	       pick(fields, HASH_L4_DST_PORT, key->dst_port) << 32 |
	       pick(fields, HASH_IP_PROTOCOL, key->protocol) << 24 |
	       pick(fields, HASH_BTH_DEST_QP, key->dst_qp);
}

static __attribute__((noinline)) uint64_t mix_inner(uint32_t fields, const struct hash_key *key)
{
	const uint64_t l4 = pick(fields, HASH_INNER_L4_SRC_PORT, key->inner_src_port) << 48 |
			    pick(fields, HASH_INNER_L4_DST_PORT, key->inner_dst_port) << 32 |
			    pick(fields, HASH_INNER_IP_PROTOCOL, key->inner_protocol);
	uint64_t h = l4 ^ FOLD_D;

	for (uint32_t i = 0; i < 2; i++)
		h = fold_multiply(h ^ pick(fields, HASH_INNER_SRC_IP, key->inner_src_ip[i]),
				  FOLD_A ^ pick(fields, HASH_INNER_DST_IP, key->inner_dst_ip[i])) +
		    FOLD_B;
	return h;
}

static __attribute__((noinline)) uint64_t mix_rare(uint32_t fields, const struct hash_key *key)
{
	const uint64_t source = pick(fields, HASH_SRC_MAC, key->src_mac) |
				pick(fields, HASH_IN_PORT, key->in_port) << 48;
	const uint64_t destination = pick(fields, HASH_DST_MAC, key->dst_mac) |
				     pick(fields, HASH_VLAN_ID, key->vid) << 48;
	const uint64_t other = pick(fields, HASH_ETHERTYPE, key->ethertype) << 32 |
			       pick(fields, HASH_BTH_OPCODE, key->opcode) << 24 |
			       pick(fields, HASH_IPV6_FLOW_LABEL, key->flow_label);

	return fold_multiply(fold_multiply(source ^ FOLD_C, destination ^ FOLD_D) ^ other, FOLD_A);
}

static uint32_t hash_mix(uint32_t fields, uint32_t seed, const struct hash_key *key)
{
	// The seed enters both factors, spread over all bits: seeds of tiers are small numbers.
	const uint64_t s = (seed + 1ull) * FOLD_C;
	uint64_t h = fold_multiply(pick(fields, HASH_SRC_IP, key->src_ip[0]) ^ FOLD_A ^ s,
				   pick(fields, HASH_DST_IP, key->dst_ip[0]) ^ FOLD_B);

	// Predicted: most links carry one kind of packet.
	if (__builtin_expect((key->src_ip[1] | key->dst_ip[1]) != 0, 0))
		h ^= fold_multiply(pick(fields, HASH_SRC_IP, key->src_ip[1]) ^ FOLD_C,
				   pick(fields, HASH_DST_IP, key->dst_ip[1]) ^ FOLD_D ^ s);
	if (__builtin_expect(key->has_inner && (fields & FIELDS_INNER) != 0, 0))
		h ^= mix_inner(fields, key);
	if (__builtin_expect((fields & FIELDS_RARE) != 0, 0))
		h ^= mix_rare(fields, key);
	h = fold_multiply(h ^ FOLD_D, l4_word(fields, key) ^ FOLD_C ^ s);
	return (uint32_t)(fold_multiply(h ^ s, FOLD_B) >> 32);
}

static const uint32_t crc32c_table[256] = {
	0x00000000, 0xf26b8303, 0xe13b70f7, 0x1350f3f4, 0xc79a971f, 0x35f1141c, 0x26a1e7e8,
	0xd4ca64eb, 0x8ad958cf, 0x78b2dbcc, 0x6be22838, 0x9989ab3b, 0x4d43cfd0, 0xbf284cd3,
	0xac78bf27, 0x5e133c24, 0x105ec76f, 0xe235446c, 0xf165b798, 0x030e349b, 0xd7c45070,
	0x25afd373, 0x36ff2087, 0xc494a384, 0x9a879fa0, 0x68ec1ca3, 0x7bbcef57, 0x89d76c54,
	0x5d1d08bf, 0xaf768bbc, 0xbc267848, 0x4e4dfb4b, 0x20bd8ede, 0xd2d60ddd, 0xc186fe29,
	0x33ed7d2a, 0xe72719c1, 0x154c9ac2, 0x061c6936, 0xf477ea35, 0xaa64d611, 0x580f5512,
	0x4b5fa6e6, 0xb93425e5, 0x6dfe410e, 0x9f95c20d, 0x8cc531f9, 0x7eaeb2fa, 0x30e349b1,
	0xc288cab2, 0xd1d83946, 0x23b3ba45, 0xf779deae, 0x05125dad, 0x1642ae59, 0xe4292d5a,
	0xba3a117e, 0x4851927d, 0x5b016189, 0xa96ae28a, 0x7da08661, 0x8fcb0562, 0x9c9bf696,
	0x6ef07595, 0x417b1dbc, 0xb3109ebf, 0xa0406d4b, 0x522bee48, 0x86e18aa3, 0x748a09a0,
	0x67dafa54, 0x95b17957, 0xcba24573, 0x39c9c670, 0x2a993584, 0xd8f2b687, 0x0c38d26c,
	0xfe53516f, 0xed03a29b, 0x1f682198, 0x5125dad3, 0xa34e59d0, 0xb01eaa24, 0x42752927,
	0x96bf4dcc, 0x64d4cecf, 0x77843d3b, 0x85efbe38, 0xdbfc821c, 0x2997011f, 0x3ac7f2eb,
	0xc8ac71e8, 0x1c661503, 0xee0d9600, 0xfd5d65f4, 0x0f36e6f7, 0x61c69362, 0x93ad1061,
	0x80fde395, 0x72966096, 0xa65c047d, 0x5437877e, 0x4767748a, 0xb50cf789, 0xeb1fcbad,
	0x197448ae, 0x0a24bb5a, 0xf84f3859, 0x2c855cb2, 0xdeeedfb1, 0xcdbe2c45, 0x3fd5af46,
	0x7198540d, 0x83f3d70e, 0x90a324fa, 0x62c8a7f9, 0xb602c312, 0x44694011, 0x5739b3e5,
	0xa55230e6, 0xfb410cc2, 0x092a8fc1, 0x1a7a7c35, 0xe811ff36, 0x3cdb9bdd, 0xceb018de,
	0xdde0eb2a, 0x2f8b6829, 0x82f63b78, 0x709db87b, 0x63cd4b8f, 0x91a6c88c, 0x456cac67,
	0xb7072f64, 0xa457dc90, 0x563c5f93, 0x082f63b7, 0xfa44e0b4, 0xe9141340, 0x1b7f9043,
	0xcfb5f4a8, 0x3dde77ab, 0x2e8e845f, 0xdce5075c, 0x92a8fc17, 0x60c37f14, 0x73938ce0,
	0x81f80fe3, 0x55326b08, 0xa759e80b, 0xb4091bff, 0x466298fc, 0x1871a4d8, 0xea1a27db,
	0xf94ad42f, 0x0b21572c, 0xdfeb33c7, 0x2d80b0c4, 0x3ed04330, 0xccbbc033, 0xa24bb5a6,
	0x502036a5, 0x4370c551, 0xb11b4652, 0x65d122b9, 0x97baa1ba, 0x84ea524e, 0x7681d14d,
	0x2892ed69, 0xdaf96e6a, 0xc9a99d9e, 0x3bc21e9d, 0xef087a76, 0x1d63f975, 0x0e330a81,
	0xfc588982, 0xb21572c9, 0x407ef1ca, 0x532e023e, 0xa145813d, 0x758fe5d6, 0x87e466d5,
	0x94b49521, 0x66df1622, 0x38cc2a06, 0xcaa7a905, 0xd9f75af1, 0x2b9cd9f2, 0xff56bd19,
	0x0d3d3e1a, 0x1e6dcdee, 0xec064eed, 0xc38d26c4, 0x31e6a5c7, 0x22b65633, 0xd0ddd530,
	0x0417b1db, 0xf67c32d8, 0xe52cc12c, 0x1747422f, 0x49547e0b, 0xbb3ffd08, 0xa86f0efc,
	0x5a048dff, 0x8ecee914, 0x7ca56a17, 0x6ff599e3, 0x9d9e1ae0, 0xd3d3e1ab, 0x21b862a8,
	0x32e8915c, 0xc083125f, 0x144976b4, 0xe622f5b7, 0xf5720643, 0x07198540, 0x590ab964,
	0xab613a67, 0xb831c993, 0x4a5a4a90, 0x9e902e7b, 0x6cfbad78, 0x7fab5e8c, 0x8dc0dd8f,
	0xe330a81a, 0x115b2b19, 0x020bd8ed, 0xf0605bee, 0x24aa3f05, 0xd6c1bc06, 0xc5914ff2,
	0x37faccf1, 0x69e9f0d5, 0x9b8273d6, 0x88d28022, 0x7ab90321, 0xae7367ca, 0x5c18e4c9,
	0x4f48173d, 0xbd23943e, 0xf36e6f75, 0x0105ec76, 0x12551f82, 0xe03e9c81, 0x34f4f86a,
	0xc69f7b69, 0xd5cf889d, 0x27a40b9e, 0x79b737ba, 0x8bdcb4b9, 0x988c474d, 0x6ae7c44e,
	0xbe2da0a5, 0x4c4623a6, 0x5f16d052, 0xad7d5351,
};

// The lowest `bytes` bytes of a value, the most significant one first.
static uint32_t crc_add(uint32_t crc, uint64_t value, uint32_t bytes)
{
	for (uint32_t shift = bytes * 8; shift > 0; shift -= 8)
		crc = crc32c_table[(crc ^ value >> (shift - 8)) & 0xff] ^ crc >> 8;
	return crc;
}

static uint32_t crc_address(uint32_t crc, const uint64_t address[2])
{
	return crc_add(crc_add(crc, address[0], 8), address[1], 8);
}

static uint32_t crc_field(uint32_t crc, enum hash_field field, const struct hash_key *key)
{
	switch (field) {
	case HASH_IN_PORT: return crc_add(crc, key->in_port, 2);
	case HASH_DST_MAC: return crc_add(crc, key->dst_mac, 6);
	case HASH_SRC_MAC: return crc_add(crc, key->src_mac, 6);
	case HASH_ETHERTYPE: return crc_add(crc, key->ethertype, 2);
	case HASH_VLAN_ID: return crc_add(crc, key->vid, 2);
	case HASH_IP_PROTOCOL: return crc_add(crc, key->protocol, 1);
	case HASH_DST_IP: return crc_address(crc, key->dst_ip);
	case HASH_SRC_IP: return crc_address(crc, key->src_ip);
	case HASH_L4_DST_PORT: return crc_add(crc, key->dst_port, 2);
	case HASH_L4_SRC_PORT: return crc_add(crc, key->src_port, 2);
	case HASH_IPV6_FLOW_LABEL: return crc_add(crc, key->flow_label, 3);
	case HASH_BTH_OPCODE: return crc_add(crc, key->opcode, 1);
	case HASH_BTH_DEST_QP: return crc_add(crc, key->dst_qp, 3);
	case HASH_INNER_DST_IP: return crc_address(crc, key->inner_dst_ip);
	case HASH_INNER_SRC_IP: return crc_address(crc, key->inner_src_ip);
	case HASH_INNER_IP_PROTOCOL: return crc_add(crc, key->inner_protocol, 1);
	case HASH_INNER_L4_DST_PORT: return crc_add(crc, key->inner_dst_port, 2);
	case HASH_INNER_L4_SRC_PORT: return crc_add(crc, key->inner_src_port, 2);
	case HASH_FIELD_COUNT: break;
	}
	return crc;
}

static uint32_t finalise(uint32_t h)
{
	h = (h ^ h >> 16) * 0x85ebca6bu;
	h = (h ^ h >> 13) * 0xc2b2ae35u;
	return h ^ h >> 16;
}

static uint32_t hash_crc(uint32_t fields, uint32_t seed, const struct hash_key *key)
{
	uint32_t value = UINT32_MAX;

	// Inner fields are last: without them the message ends earlier.
	if (!key->has_inner)
		fields &= ~FIELDS_INNER;
	for (uint32_t left = fields; left != 0; left &= left - 1)
		value = crc_field(value, (enum hash_field)__builtin_ctz(left), key);
	return finalise(~value ^ finalise(seed * 0x9e3779b9u));
}

static void sort_macs(struct hash_key *key)
{
	if (key->src_mac > key->dst_mac) {
		const uint64_t mac = key->src_mac;

		key->src_mac = key->dst_mac;
		key->dst_mac = mac;
	}
}

// The end with the lower (address, port) becomes the source.
static void sort_ends(uint64_t src[2], uint64_t dst[2], uint16_t *src_port, uint16_t *dst_port)
{
	const uint64_t address[2] = { src[0], src[1] };
	const uint16_t port = *src_port;

	if (src[0] != dst[0] ? src[0] < dst[0] : src[1] < dst[1])
		return;
	if (src[0] == dst[0] && src[1] == dst[1] && port <= *dst_port)
		return;
	src[0] = dst[0];
	src[1] = dst[1];
	dst[0] = address[0];
	dst[1] = address[1];
	*src_port = *dst_port;
	*dst_port = port;
}

static uint32_t hash_fields(const struct hash_profile *pf, uint32_t fields,
			    const struct hash_key *key)
{
	const uint32_t h = __builtin_expect(pf->algorithm == HASH_MIX, 1) ?
				   hash_mix(fields, pf->seed, key) :
				   hash_crc(fields, pf->seed, key);

	return h << pf->rotation % 32 | h >> (32 - pf->rotation) % 32;
}

static __attribute__((noinline)) uint32_t hash_symmetric(const struct hash_profile *pf,
							 const struct hash_key *key)
{
	struct hash_key sorted = *key;

	sort_macs(&sorted);
	sort_ends(sorted.src_ip, sorted.dst_ip, &sorted.src_port, &sorted.dst_port);
	sort_ends(sorted.inner_src_ip, sorted.inner_dst_ip, &sorted.inner_src_port,
		  &sorted.inner_dst_port);
	return hash_fields(pf, pf->fields & ~FIELDS_OF_ONE_DIRECTION, &sorted);
}

uint32_t hash_packet(const struct hash_profile *pf, const struct hash_key *key)
{
	if (__builtin_expect(pf->symmetric, 0))
		return hash_symmetric(pf, key);
	return hash_fields(pf, pf->fields, key);
}
