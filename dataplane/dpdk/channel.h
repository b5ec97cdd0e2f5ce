// SPDX-License-Identifier: BSD-3-Clause
//
// Small messages between the control thread and one forwarding lcore, in order, one ring each way.
//
// The lcore applies messages between polls, so the core needs no locks, and snapshots are
// consistent. The lcore never waits: what does not fit into its ring is dropped and counted there.
// The control thread waits for room, and for the answer where it asks for one.
#pragma once

#include <rte_ring.h>

#include "dataplane/core/sw.h"

struct instance;
struct rte_mbuf;
struct snapshot;
struct mac_list;
struct acl_list;
struct roce_list;
struct tap;
struct lcore_stats;
struct swap;

// Members of struct message that a kind uses are in brackets.
enum message_kind {
	// control to lcore
	MESSAGE_LINK,             // [port, up] up: poll it from now on; down: do not touch it again
	MESSAGE_PROFILE,          // [profile]
	MESSAGE_SWAP,             // [swap] profile and tables together, see swap.h
	MESSAGE_MAC_SET,          // [mac, vid, port]
	MESSAGE_MAC_FORGET_PORT,  // [port]
	MESSAGE_MAC_AGE,          // [count] positions of the address table to look at
	MESSAGE_MAC_LIST,         // [macs] to fill, of the ports of `lcore`
	MESSAGE_ACL_LIST,         // [acl] to fill
	MESSAGE_ROCE_LIST,        // [roce] to fill
	MESSAGE_INJECT,           // [mbuf, port or PORT_NONE, vid]
	MESSAGE_SEND,             // [mbuf, port, vid]
	MESSAGE_FRAME,            // [mbuf, port] of the switch itself: sent as it is, ahead of data
	MESSAGE_RETRY_HELD,       // []
	MESSAGE_RX_LOST,          // [port, lost]
	MESSAGE_SNAPSHOT,         // [snapshot] to fill
	MESSAGE_LCORE_STATS,      // [stats] to fill, of `lcore`
	MESSAGE_CLEAR_WATERMARKS, // [watermark]
	MESSAGE_CLEAR_GAP,
	MESSAGE_FORCE_STORM,     // [storm, port] storm.accepted is the answer
	MESSAGE_BIG_RED,         // [up]
	MESSAGE_TX_DISABLE,      // [port, up]
	MESSAGE_DEQUEUE_DISABLE, // [port, block]
	MESSAGE_SEED,            // [seed]
	MESSAGE_CAPTURE,         // [capture] on: each lcore gets its tap; off: it gives it back
	MESSAGE_PARK,            // wait while another lcore does what needs all of them to be still
	MESSAGE_STOP,
	// lcore to control
	MESSAGE_PUNT,    // [mbuf, port, vid] its struct pkt is as parsed
	MESSAGE_LEARN,   // [mac, vid, port]
	MESSAGE_FORGET,  // [mac, vid, port] an address is old; goes on to every lcore
	MESSAGE_SOLICIT, // [target, port, vid]
	MESSAGE_TELL,    // [tell, port, vid] a routed packet was dropped; its sender is told
	MESSAGE_STORM,   // [storm, port]
	MESSAGE_PEER,    // [peer, port] what hellos say has changed
};

struct message {
	enum message_kind kind;
	port_t port;
	uint16_t vid;
	lcore_t lcore; // where it goes, if it is for one that is not a port's
	struct instance *instance;
	struct meeting *meeting; // NULL: the other lcores go on meanwhile
	uint32_t *done;          // set to 1 when applied; NULL: nobody waits
	union {
		uint64_t mac;
		struct rte_mbuf *mbuf;
		const struct sw_profile *profile;
		struct snapshot *snapshot;
		struct mac_list *macs;
		struct acl_list *acl;
		struct roce_list *roce;
		struct lcore_stats *stats;
		struct swap *swap;
		struct {
			uint64_t no_buffer;
			uint64_t missed;
		} lost;
		struct {
			uint8_t address[16]; // IPv4 in the first four
			bool ipv6;
			bool routed; // by this switch
		} target;
		struct {
			struct rte_mbuf *mbuf; // a copy of its head
			enum drop_reason reason;
			uint16_t mtu; // of the next link, when that was it
			uint8_t l3_offset;
			bool ipv6;
		} tell;
		struct {
			queue_t queue;
			bool on;
			bool *accepted;
		} storm;
		struct {
			uint8_t status;   // enum hello_status
			uint8_t mismatch; // enum hello_mismatch
			uint8_t at, have, want;
			bool usable;
		} peer;
		struct {
			uint8_t queues;
			bool on;
		} block;
		uint64_t seed;
		struct {
			struct tap **tap; // by lcore
			bool on;
		} capture;
		enum watermark_kind watermark;
		uint32_t count;
		bool up;
	};
};
static_assert(sizeof(struct message) % 4 == 0, "ring elements are whole words");

// The lcores of a process, all between two polls. Lives on the stack of the control thread.
struct meeting {
	uint32_t wanted;  // lcores that park
	uint32_t parked;  // of them, here
	uint32_t over;    // the one that works has done
	uint32_t resumed; // of them, gone on
};

struct channel {
	struct rte_ring *to_lcore;
	struct rte_ring *to_control;
	int wake_control;       // eventfd, readable when to_control is not empty
	int wake_lcore;         // eventfd, ends a long sleep of the lcore
	uint32_t control_woken; // wake_control was written since control last looked
	uint64_t lost;          // reports that control had no room for; lcore: rw
};

// 0 or -errno.
int channel_open(struct channel *channel, const char *name);

// Frees the mbufs of messages that nobody took. Accepts a channel that was never opened.
void channel_close(struct channel *channel);

// control: sends, waiting for room.
void channel_send(struct channel *channel, const struct message *message);

// control: sends and waits until the lcore has applied it.
void channel_call(struct channel *channel, struct message *message);

// lcore: takes a message; never waits.
bool channel_take(struct channel *channel, struct message *out);

// lcore: answers a call.
void channel_done(const struct message *message);

// lcore: reports; false when there is no room, and then the message is gone.
bool channel_report(struct channel *channel, const struct message *message);

// control: takes a report. Call until false after wake_control became readable.
bool channel_read(struct channel *channel, struct message *out);

// control: makes wake_control readable again, when it stops reading before the ring is empty.
void channel_rewake(struct channel *channel);

// control: acknowledges wake_control; before the first channel_read().
void channel_awake(struct channel *channel);
