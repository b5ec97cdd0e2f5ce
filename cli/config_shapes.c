// SPDX-License-Identifier: BSD-3-Clause
//
// The rows. Where SONiC counts in a unit of its own, a plain number gets that unit; with a unit in
// the value the value's counts. Names of tables and knobs are those of docs/config.md.

#include "cli/config_shapes.h"

#define PROFILE_OPTIONS                                                                            \
	"--pool,-pool:pool --size,-size:size --xon,-xon:xon --xon_offset,-xon_offset:xon_offset "  \
	"--xoff,-xoff:xoff --dynamic_th,-dynamic_th:dynamic_th --static_th,-static_th:static_th"
#define ACL_OPTIONS                                                                                \
	"--in-ports:in_ports --src-ip:src_ip --dst-ip:dst_ip --src-group:src_group "               \
	"--dst-group:dst_group --ip-protocol:ip_protocol --l4-src-port:l4_src_port "               \
	"--l4-dst-port:l4_dst_port --ether-type:ether_type --src-mac:src_mac --dst-mac:dst_mac "   \
	"--vlan:vlan_id --dscp:dscp --tc:tc --set-dscp:set_dscp --set-tc:set_tc --rate:rate "      \
	"--burst:burst --exceed:exceed"

const struct config_shape config_shapes[] = {
	{ "pfcwd start PORT MS",
	  "--action,-a:action --restoration-time,-r:restoration_time:ms "
	  "--pfc-stat-history:pfc_stat_history=enable",
	  "put pfc_wd {PORT} detection_time={MS:ms}", "watch a port for PFC storms, or all ports" },
	{ "pfcwd start_default", "",
	  "set switch pfc_wd_poll_interval=200ms ; clear pfc_wd ; "
	  "add pfc_wd all action=drop detection_time=200ms restoration_time=200ms",
	  "watch every port with PFC" },
	{ "pfcwd stop", "", "clear pfc_wd", "watch no port" },
	{ "pfcwd stop PORT", "", "clear pfc_wd {PORT}", "watch a port no longer" },
	{ "pfcwd interval MS", "", "set switch pfc_wd_poll_interval={MS:ms}",
	  "period of the watchdog" },
	{ "pfcwd big_red_switch enable", "", "set switch pfc_wd_big_red_switch=true",
	  "apply the action to every watched queue" },
	{ "pfcwd big_red_switch disable", "", "set switch pfc_wd_big_red_switch=false",
	  "and to stormed ones only" },
	{ "interface startup PORT", "", "set port {PORT} admin=true", "bring a port up" },
	{ "interface shutdown PORT", "", "set port {PORT} admin=false", "take a port down" },
	{ "interface mtu PORT BYTES", "", "set port {PORT} mtu={BYTES}", "largest packet" },
	{ "interface speed PORT MBPS", "", "set port {PORT} speed={MBPS:M}", "line rate" },
	{ "interface cable-length|cable_length PORT METRES", "", "set port {PORT} cable={METRES:m}",
	  "length of the cable" },
	{ "interface pfc priority PORT PRIORITY on", "", "set port {PORT} pfc_enable+={PRIORITY}",
	  "make a priority lossless" },
	{ "interface pfc priority PORT PRIORITY off", "", "set port {PORT} pfc_enable-={PRIORITY}",
	  "make it lossy" },
	{ "interface pfc asymmetric PORT on", "", "set port {PORT} pfc_asymmetric=true",
	  "obey PFC of every priority" },
	{ "interface pfc asymmetric PORT off", "", "set port {PORT} pfc_asymmetric=false",
	  "obey PFC of lossless priorities" },
	{ "interface buffer priority-group lossless add|set PORT GROUPS PROFILE", "",
	  "put buffer_pg {PORT} {GROUPS} profile={PROFILE}", "buffer of priority groups" },
	{ "interface buffer priority-group lossless remove PORT GROUPS", "",
	  "remove buffer_pg {PORT} {GROUPS}", "take it away" },
	{ "interface buffer queue add|set PORT QUEUES PROFILE", "",
	  "put buffer_queue {PORT} {QUEUES} profile={PROFILE}", "buffer of egress queues" },
	{ "interface buffer queue remove PORT QUEUES", "", "remove buffer_queue {PORT} {QUEUES}",
	  "take it away" },
	{ "interface ip add VLAN ADDRESS", "", "add interface {VLAN} {ADDRESS}",
	  "an address of the switch in a VLAN" },
	{ "interface ip remove|del VLAN ADDRESS", "", "remove interface {VLAN} {ADDRESS}",
	  "take it away" },
	{ "ecn",
	  "-profile,-p:@PROFILE -gmin:green_min_threshold -gmax:green_max_threshold "
	  "-gdrop:green_drop_probability:%",
	  "set wred_profile {PROFILE}", "thresholds of a WRED and ECN profile" },
	{ "mmu", "-p:@PROFILE -a:@ALPHA",
	  "unset buffer_profile {PROFILE} static_th ; "
	  "set buffer_profile {PROFILE} dynamic_th={ALPHA}",
	  "dynamic limit of a buffer profile" },
	{ "mmu", "-p:@PROFILE -s:@BYTES",
	  "unset buffer_profile {PROFILE} dynamic_th ; "
	  "set buffer_profile {PROFILE} static_th={BYTES}",
	  "static limit of a buffer profile" },
	{ "buffer profile add NAME", PROFILE_OPTIONS, "add buffer_profile {NAME}",
	  "a buffer profile" },
	{ "buffer profile set NAME", PROFILE_OPTIONS, "set buffer_profile {NAME}",
	  "change a buffer profile" },
	{ "buffer profile remove NAME", "", "remove buffer_profile {NAME}", "take it away" },
	{ "buffer pool add NAME TYPE SIZE", "--mode:mode --xoff,-xoff:xoff",
	  "add buffer_pool {NAME} type={TYPE} size={SIZE}", "a buffer pool" },
	{ "buffer pool set NAME", "--size,-size:size --mode:mode --xoff,-xoff:xoff",
	  "set buffer_pool {NAME}", "change a buffer pool" },
	{ "buffer pool remove NAME", "", "remove buffer_pool {NAME}", "take it away" },
	{ "vlan add ID", "", "add vlan {ID}", "a VLAN" },
	{ "vlan del ID", "", "remove vlan {ID}", "take it away" },
	{ "vlan member add ID PORT", "-u,--untagged:@U=1",
	  "set vlan {ID} untagged+={PORT} tagged-={PORT}", "a port without tags in a VLAN" },
	{ "vlan member add ID PORT", "", "set vlan {ID} tagged+={PORT} untagged-={PORT}",
	  "a port with tags in a VLAN" },
	{ "vlan member del ID PORT", "", "set vlan {ID} tagged-={PORT} untagged-={PORT}",
	  "take it away" },
	{ "portchannel member add NAME PORT", "", "set lag {NAME} members+={PORT}",
	  "a port into a LAG" },
	{ "portchannel member del NAME PORT", "", "set lag {NAME} members-={PORT}", "take it out" },
	{ "route add PREFIX GROUP", "", "put route {PREFIX} via={GROUP}",
	  "a route to a group of next hops, or to drop" },
	{ "route del PREFIX", "", "remove route {PREFIX}", "take it away" },
	{ "qos map TYPE NAME PAIRS", "", "put map {TYPE} {NAME} map={PAIRS}",
	  "a map, as in dscp_to_tc AZURE \"3:3 *:1\"" },
	{ "qos map remove TYPE NAME", "", "remove map {TYPE} {NAME}", "take it away" },
	{ "scheduler add|set NAME", "--type:type --weight:weight --pir:pir", "put scheduler {NAME}",
	  "a scheduler" },
	{ "scheduler remove|del NAME", "", "remove scheduler {NAME}", "take it away" },
	{ "acl add NAME ACTION", ACL_OPTIONS, "add acl {NAME} action={ACTION}",
	  "a row behind the others of the access list" },
	{ "acl set NAME", ACL_OPTIONS, "set acl {NAME}", "change it" },
	{ "acl remove|del NAME", "", "remove acl {NAME}", "take it away" },
	{ "mac aging_time SECONDS", "", "set switch mac_age={SECONDS:s}",
	  "how long addresses are kept" },
	{ "switch-hash global ecmp-hash FIELDS", "", "set switch ecmp_hash={FIELDS}",
	  "what spreads flows over groups" },
	{ "switch-hash global lag-hash FIELDS", "", "set switch lag_hash={FIELDS}",
	  "and over the members of LAGs" },
};

const uint32_t config_shape_count = sizeof(config_shapes) / sizeof(config_shapes[0]);
