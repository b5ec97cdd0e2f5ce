// SPDX-License-Identifier: BSD-3-Clause
//
// How the two ends of a link differ in what DCBX says (IEEE 802.1Q clause 38). What a side does not
// say cannot differ. Values in, values out.
#pragma once

#include "link/lldp_frame.h"

// In order of weight: PFC that differs loses frames, RoCE on another priority is not protected, and
// shares of bandwidth merely surprise.
enum dcbx_topic { DCBX_PFC, DCBX_ROCE, DCBX_CLASSES, DCBX_SHARES, DCBX_TOPIC_COUNT };

// Bit n: the ends differ in topic n.
uint8_t dcbx_differences(const struct dcbx *ours, const struct dcbx *theirs);

// The priority of RoCE that a side says: of its UDP port, or of that port over anything;
// PRIO_COUNT: none.
uint32_t dcbx_roce_priority(const struct dcbx *side);

// Bit n: some priority is in traffic class n.
uint8_t dcbx_classes_in_use(const struct dcbx_ets *ets);
