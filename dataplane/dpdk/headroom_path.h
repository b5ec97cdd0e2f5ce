// SPDX-License-Identifier: BSD-3-Clause
//
// What is between a priority group and its peer, as a port and its driver know it: the input of
// headroom_class_bytes() (pfc/pfc.h).
#pragma once

#include "dataplane/core/preset.h"
#include "dataplane/dpdk/port.h"

// By what the port loses nothing: what its configuration says (pause = "hold"), that the device
// does PFC itself, for then each lossless group is held alone, else its driver.
enum headroom_class headroom_class_of(const struct port *port);

// Of a port that is open, `pf` being its part of the profile.
struct headroom_path headroom_path_of(const struct port *port, const struct port_profile *pf,
				      uint32_t cell_bytes);

// What port `i` of a configuration will need once it is open: for presets, which are expanded
// before there is a device. Nothing where there is no driver (port_find_driver()). A NIC without
// a configured speed is taken for one of 100G.
void headroom_foresee(const struct sw_config *config, uint32_t i, struct preset_port *out);
