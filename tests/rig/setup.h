// SPDX-License-Identifier: BSD-3-Clause
//
// Configurations in C, row by row, for tests: every adder returns a row full of the schema's
// defaults that the test then changes. setup_kvm() is the starting point: the numbers that SONiC
// ships for its virtual switch, so that the field's own oracles apply.
#pragma once

#include "dataplane/core/acl.h"
#include "dataplane/core/profile.h"

// The numbers of that platform (sonic-buildimage, KVM device folder).
enum {
	KVM_POOL_BYTES = 12766208,
	KVM_LOSSY_POOL_BYTES = 7326924,
	KVM_SIZE_BYTES = 56368,
	KVM_XON_BYTES = 18432,
	KVM_XON_OFFSET_BYTES = 2496,
	KVM_XOFF_BYTES = 55120,
	KVM_RESERVE_BYTES = KVM_SIZE_BYTES - KVM_XOFF_BYTES, // private headroom: size - xoff
	KVM_LOSSY_QUEUE_BYTES = 1518,
	KVM_ALPHA_SHIFT = 3, // dynamic_th -3: alpha 1/8
};

// Names of the rows that setup_kvm() adds; the profile names are shorter than the field's.
#define KVM_INGRESS_POOL "ingress_lossless_pool"
#define KVM_EGRESS_POOL "egress_lossless_pool"
#define KVM_LOSSY_POOL "egress_lossy_pool"
#define KVM_PG_LOSSLESS "pg_lossless"
#define KVM_PG_LOSSY "ingress_lossy"
#define KVM_QUEUE_LOSSLESS "egress_lossless"
#define KVM_QUEUE_LOSSY "egress_lossy"

// Defaults and no rows. The caller frees it, or gives it to rig_new().
struct sw_config *setup_blank(void);

// `ports` unpaced ports Ethernet0, Ethernet4, ... with the stock maps, PG 3-4 and queues 3-4
// lossless, all other groups and queues lossy, one ingress and two egress pools. Policing and CNP
// reserve are off and descriptors plentiful, so that nothing but bytes matters unless a test says
// so.
struct sw_config *setup_kvm(uint32_t ports);

// A new row of any table, with defaults.
void *setup_add_row(struct sw_config *c, const char *table_name);

// New rows with defaults.
struct pool_config *setup_pool(struct sw_config *c, const char *name, enum config_pool_type type,
			       uint64_t size_bytes);
struct buffer_profile_config *setup_profile(struct sw_config *c, const char *name,
					    const char *pool);
struct port_config *setup_port(struct sw_config *c, const char *name);
void setup_pg(struct sw_config *c, const char *port, uint8_t pgs, const char *profile);
void setup_buffer_queue(struct sw_config *c, const char *port, uint8_t queues, const char *profile);
void setup_map(struct sw_config *c, enum config_map_type type, const char *name, const char *text);
struct scheduler_config *setup_scheduler(struct sw_config *c, const char *name,
					 enum config_scheduler_type type, uint64_t weight);
struct wred_config *setup_wred(struct sw_config *c, const char *name, uint64_t min_bytes,
			       uint64_t max_bytes, uint64_t ppm);
void setup_queue(struct sw_config *c, const char *port, uint8_t queues, const char *scheduler,
		 const char *wred);
void setup_vlan(struct sw_config *c, uint16_t id, const char *untagged, const char *tagged);

struct lag_config *setup_lag(struct sw_config *c, const char *name, const char *members);

// A watchdog on every queue of `port` ("all" too) that PFC pauses.
struct pfc_wd_config *setup_pfc_wd(struct sw_config *c, const char *port,
				   enum watchdog_action action);

// An impairment of the frames that `port` receives.
struct impairment_config *setup_impairment(struct sw_config *c, const char *port);

// Rows of the access list, and groups that they name.
struct acl_config *setup_acl(struct sw_config *c, const char *name, enum acl_action action);
void setup_acl_group(struct sw_config *c, const char *name, const char *prefix);

// A binding in the port's own VLAN.
void setup_binding(struct sw_config *c, const char *port, uint64_t mac, const char *ip);

// Sets a PREFIX knob.
void setup_prefix(struct ip_prefix *out, const char *text);

// Sets a TEXT knob.
void setup_text(char out[CONFIG_TEXT_BYTES], const char *text);

// Rows that exist already.
struct pool_config *setup_find_pool(struct sw_config *c, const char *name);
struct buffer_profile_config *setup_find_profile(struct sw_config *c, const char *name);

// Sets a NAME knob.
void setup_name(char out[CONFIG_NAME_BYTES], const char *name);

// Sets a TEXT knob.
void setup_text(char out[CONFIG_TEXT_BYTES], const char *text);

// Name of the port with index `port`: "Ethernet0", "Ethernet4", ...
void setup_port_name(uint32_t port, char out[CONFIG_NAME_BYTES]);

// Binds every class of port `port` alone instead of "all": removes the bindings of setup_kvm() so
// that a test may bind groups and queues itself.
void setup_unbind_pgs(struct sw_config *c);
void setup_unbind_queues(struct sw_config *c);

// Rows of forwarding tables.
void setup_interface(struct sw_config *c, uint16_t vlan, uint32_t ip, uint8_t len);
void setup_neighbor(struct sw_config *c, uint16_t vlan, uint32_t ip, uint64_t mac);
struct next_hop_config *setup_next_hop(struct sw_config *c, const char *group, uint32_t port,
				       uint64_t mac);
void setup_route(struct sw_config *c, uint32_t ip, uint8_t len, const char *via);
void setup_edge(struct sw_config *c, uint16_t number, const char *via);
void setup_fabric_host(struct sw_config *c, uint64_t mac, uint32_t ip, uint16_t edge,
		       uint32_t port);
void setup_turn(struct sw_config *c, uint32_t in, uint32_t out, uint32_t lane, uint32_t to);

struct ip_prefix setup_ipv4(uint32_t ip, uint8_t len);
