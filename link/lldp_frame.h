// SPDX-License-Identifier: BSD-3-Clause
//
// The LLDPDU on the wire (IEEE 802.1AB clause 8) with what a switch says in it: identity, port,
// VLAN and frame size (IEEE 802.1Q annex D.2, IEEE 802.3 clause 79) and DCBX (IEEE 802.1Q clause
// 38, TLVs of annex D.2.8 to D.2.11). Bytes to a value and back, nothing else: no clock, no memory,
// no I/O.
//
// Invariant: what is sent decodes to the same value, and no byte beyond the frame is read.
#pragma once

#include "base/types.h"
#include "base/wire.h"

enum {
	LLDP_FRAME_MAX = 640, // of ours; what a peer sends may be as long as its link allows
	LLDP_FRAME_MIN = 60,  // shorter ones are padded, behind the end of the LLDPDU
	LLDP_TEXT_MAX = 255,
	LLDP_ADDRESS_MAX = 31,
	DCBX_APP_MAX = 72,
};

enum lldp_chassis_subtype {
	LLDP_CHASSIS_COMPONENT = 1,
	LLDP_CHASSIS_IFALIAS,
	LLDP_CHASSIS_PORT,
	LLDP_CHASSIS_MAC,
	LLDP_CHASSIS_NETWORK,
	LLDP_CHASSIS_IFNAME,
	LLDP_CHASSIS_LOCAL,
};

enum lldp_port_subtype {
	LLDP_PORT_IFALIAS = 1,
	LLDP_PORT_COMPONENT,
	LLDP_PORT_MAC,
	LLDP_PORT_NETWORK,
	LLDP_PORT_IFNAME,
	LLDP_PORT_CIRCUIT,
	LLDP_PORT_LOCAL,
};

// System capabilities (IEEE 802.1AB table 8-4).
enum {
	LLDP_CAP_OTHER = 1 << 0,
	LLDP_CAP_REPEATER = 1 << 1,
	LLDP_CAP_BRIDGE = 1 << 2,
	LLDP_CAP_WLAN = 1 << 3,
	LLDP_CAP_ROUTER = 1 << 4,
	LLDP_CAP_TELEPHONE = 1 << 5,
	LLDP_CAP_DOCSIS = 1 << 6,
	LLDP_CAP_STATION = 1 << 7,
};

// Transmission selection of a traffic class (IEEE 802.1Q table 8-6).
enum {
	DCBX_TSA_STRICT = 0,
	DCBX_TSA_CREDIT = 1,
	DCBX_TSA_ETS = 2,
	DCBX_TSA_VENDOR = 255,
};

// What `protocol` of an application is (IEEE 802.1Q table D-9).
enum {
	DCBX_SELECT_ETHERTYPE = 1,
	DCBX_SELECT_TCP = 2,  // or SCTP
	DCBX_SELECT_UDP = 3,  // or DCCP
	DCBX_SELECT_PORT = 4, // any of these
	DCBX_SELECT_DSCP = 5,
};

struct lldp_text {
	uint8_t len;
	char bytes[LLDP_TEXT_MAX];
};

// The kind of an identifier and its bytes: of text, or of an address.
struct lldp_id {
	uint8_t subtype;
	uint8_t len;
	uint8_t bytes[LLDP_TEXT_MAX];
};

struct dcbx_ets {
	bool present;
	bool willing;
	bool credit;         // knows the credit-based shaper
	uint8_t class_count; // 1..8
	uint8_t prio_class[PRIO_COUNT];
	uint8_t percent[TC_COUNT];
	uint8_t algorithm[TC_COUNT]; // DCBX_TSA_*
};

struct dcbx_pfc {
	bool present;
	bool willing;
	bool bypass;        // PFC although MACsec is on (MBC)
	uint8_t capability; // classes that may have PFC at a time
	uint8_t enable;     // bit n: priority n
	bool held;          // ours, not sent: the port holds its peer back without PFC
};

struct dcbx_app {
	uint8_t priority;
	uint8_t selector; // DCBX_SELECT_*
	uint16_t protocol;
};

struct dcbx {
	struct dcbx_ets ets;
	struct dcbx_ets recommended; // willing, credit and class_count are not in it
	struct dcbx_pfc pfc;
	bool has_apps;
	uint32_t app_count;
	struct dcbx_app app[DCBX_APP_MAX]; // the first of them
};

// One LLDPDU. A text of length 0 and a number of 0 are not sent.
struct lldp_info {
	struct lldp_id chassis; // lldp_chassis_subtype
	struct lldp_id port;    // lldp_port_subtype
	uint16_t ttl_seconds;   // 0: the sender is going away
	struct lldp_text port_description;
	struct lldp_text system_name;
	struct lldp_text system_description;
	bool has_capabilities;
	uint16_t capabilities;  // LLDP_CAP_*
	uint16_t enabled;       // of them
	uint8_t address_family; // ADDRESS_FAMILY_*, 0: no management address
	uint8_t address_len;
	uint8_t address[LLDP_ADDRESS_MAX];
	uint16_t pvid;            // port VLAN, 0: none
	uint16_t max_frame_bytes; // FCS included
	struct dcbx dcbx;
	uint32_t discarded; // received TLVs of a wrong length, or that may be there but once
	uint32_t unknown;   // received TLVs that are not known here
};

// Writes a frame from `src` to the nearest bridge; returns its length, at most LLDP_FRAME_MAX. A
// TLV that has no room is left out, which cannot happen to the first three.
uint32_t lldp_encode(const struct lldp_info *info, const uint8_t src[6],
		     uint8_t out[LLDP_FRAME_MAX]);

// Reads an LLDPDU, which begins at `at`. False, and *out undefined, when all of it must be
// discarded: the three mandatory TLVs are not first, in order, once and of their lengths, or a TLV
// goes beyond the end (IEEE 802.1AB 9.2.7.7). Another TLV that is wrong is left out and counted.
bool lldp_decode(const uint8_t *frame_bytes, uint32_t len, uint32_t at, struct lldp_info *out);

// Text of a port or chassis as people write it, NUL-terminated: addresses with colons; what cannot
// be printed becomes '?'. Returns the length.
enum { LLDP_WORDS_BYTES = 256 };
size_t lldp_chassis_words(const struct lldp_id *id, char out[LLDP_WORDS_BYTES]);
size_t lldp_port_words(const struct lldp_id *id, char out[LLDP_WORDS_BYTES]);
size_t lldp_text_words(const struct lldp_text *text, char out[LLDP_WORDS_BYTES]);

// Copies a text, cut to what fits.
void lldp_set_text(struct lldp_text *out, const char *text);
void lldp_set_id(struct lldp_id *out, uint8_t subtype, const void *bytes, size_t len);

bool lldp_same_id(const struct lldp_id *a, const struct lldp_id *b);
