// SPDX-License-Identifier: BSD-3-Clause
//
// Reads a cabling plan in Graphviz' DOT language, in the convention of the Prescriptive Topology
// Manager (ptmd): an undirected graph whose every edge names the ports of both ends.
#pragma once

#include "fabricmgr/core/fabric.h"

//	graph fabric {
//		"leaf1" [function="leaf"];
//		"leaf1":"swp1" -- "spine1":"swp3" [speed="100G", length="3m"];
//		"leaf1":"swp7" -- "server1":"eth0";
//	}
//
// What a node is, its `function` says: leaf, tor and exit are switches of level 0, spine is of
// level 1, super, superspine and core are of 2, switch is of none; host, server and external are
// hosts. A node without one is a switch if the name of one of its ports begins with swp or
// Ethernet, or is a number, and a host otherwise. Attributes of edges that are read are speed,
// length and weight; others, defaults and names of subgraphs say nothing here. Ports are numbered
// as they come.
//
// Adds to an empty fabric, which is then to be finished. `scratch` is left as it was. 0, -EINVAL
// with faults (the first is where reading stopped), or -ENOMEM with one.
int import_dot(const char *text, size_t bytes, struct fabric *fabric, struct arena *scratch,
	       struct fabric_faults *faults);
