// SPDX-License-Identifier: BSD-3-Clause
//
// The part of the control socket that tells about the fabric's manager:
//
//	GET /v1/fabric		whether it is there, and which generation runs and is prepared
#pragma once

#include "dataplane/control_reply.h"

void control_managed_handlers(struct control_http *http);
