// SPDX-License-Identifier: BSD-3-Clause
//
// How PFC gets through a device. The switch would make and obey PFC frames itself, and for that the
// device must hand received ones over and let sent ones out; real NICs often do neither unless told
// to. Such a NIC's own PFC is used instead, where it has a queue per priority and puts what it
// receives into them. This is the decision alone, over what the driver answered; port_pfc.c asks.
#pragma once

#include "base/types.h"

// What a driver is known to do with MAC control frames that it receives.
enum driver_pfc {
	DRIVER_PFC_ASK,  // a NIC: eats them unless it agrees to forward them
	DRIVER_PFC_PASS, // a virtual device: frames like any other
};

// Values of the knob pfc_path, in its order.
enum pfc_path_wanted { PFC_PATH_AUTO, PFC_PATH_TRUST, PFC_PATH_OWN };

struct pfc_answers {
	enum pfc_path_wanted wanted;
	enum driver_pfc driver;
	bool eats_sent; // the driver drops MAC control frames that software sends
	bool needed;    // some priority is generated or obeyed
	int get;        // rte_eth_dev_flow_ctrl_get(): 0 or -errno
	int set;        // rte_eth_dev_flow_ctrl_set() of no flow control of its own, forwarding on
	int again;      // rte_eth_dev_flow_ctrl_get() once more
	bool forwards;  // mac_ctrl_frame_fwd, as it then says
	// Its own PFC:
	bool own_pfc;      // it offers that, queue by queue
	bool few_queues;   // but has fewer queues than the port has priorities
	bool shared_group; // two priorities stand for one group, and a receive queue has one
	bool strays;       // default_tc or an access list makes frames lossless that do not say so
	int set_queues;    // what came of setting it up: 0 or -errno, 0 before it was tried
	int steer;         // likewise, of steering received frames to a queue per priority
};

enum pfc_path {
	PFC_PATH_SOFTWARE, // frames pass both ways
	PFC_PATH_DEVICE,   // the device makes and obeys them, queue by queue
	PFC_PATH_NONE,     // neither: no priority can be lossless
	PFC_PATH_UNUSED,   // nobody asked
};

// Decides, and says why in a sentence without a subject ("drops ..."), empty for
// PFC_PATH_SOFTWARE. `out_bytes` of PFC_REASON_BYTES take every reason.
enum { PFC_REASON_BYTES = 256 };

enum pfc_path pfc_path_decide(const struct pfc_answers *answers, char *reason, size_t out_bytes);
