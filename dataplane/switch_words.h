// SPDX-License-Identifier: BSD-3-Clause
//
// How the switches of a process are, in words (sys/service.h): "leaf1: 3 of 4 ports up". A line for
// `systemctl status`, which is cut to fit.
#pragma once

#include "dataplane/dpdk/worker.h"
#include "sys/notify.h"

// `arg` is a struct workers; control thread only.
void switch_words(void *arg, char text[NOTIFY_STATUS_BYTES]);
