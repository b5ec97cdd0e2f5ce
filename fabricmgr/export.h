// SPDX-License-Identifier: BSD-3-Clause
//
// A fabric for other programs: Graphviz and ptmd (DOT), OpenSM's tools (the form of ibnetdiscover),
// containerlab, this manager itself (JSON), and people (SVG).
//
// What was read is written as it was, as far as the form can say it: a fabric that is exported and
// imported again has the same switches, cables, hosts and ports. What is ignored is not written.
// All return 0, or -EIO when the file could not be written.
#pragma once

#include <stdio.h>

#include "fabricmgr/core/fabric.h"

// Edges with ports, speed, length and weight; nodes with their function.
int export_dot(const struct fabric *fabric, FILE *out);

// Ports are counted from 1: those of a switch that has a port 0 are moved up by one. GUIDs that
// are not known are made from the number of the switch or host port.
int export_ibnet(const struct fabric *fabric, FILE *out);

// Switches and hosts are Linux nodes; interface eth<port + 1> stands for a port, since eth0 is the
// management's, and a label has its name. `image` is that of all nodes.
int export_containerlab(const struct fabric *fabric, const char *image, FILE *out);

// To "dot:FILE", "ibnetdiscover:FILE", "json:FILE" or "containerlab:FILE". 0, or -errno after a
// line on `errors`.
int export_file(const struct fabric *fabric, const char *name, FILE *errors);
