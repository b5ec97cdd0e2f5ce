// SPDX-License-Identifier: BSD-3-Clause
//
// The part of the control socket that says how traffic is treated:
//
//	GET /v1/qos	what is configured by name: buffers, schedulers, ECN profiles, maps, VLANs
//	GET /v1/roce	RoCE flows, and who sends congestion notifications to whom
#pragma once

struct control_http;

void control_qos_handlers(struct control_http *http);
