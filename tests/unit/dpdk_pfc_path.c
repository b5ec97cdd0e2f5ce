// SPDX-License-Identifier: BSD-3-Clause
//
// The decision how PFC gets through a device, over every kind of answer that a driver may give. The
// rows of NICs follow what their drivers' sources do: ixgbe reports the register back, sfc and hns3
// refuse the flag, ice has no flow control calls, i40e filters sent frames, mlx5 ignores the flag.

#include "dataplane/dpdk/pfc_path.h"

#include <errno.h>
#include <string.h>

#include "tests/table.h"

static const struct {
	const char *what;
	struct pfc_answers answers;
	enum pfc_path want;
	const char *reason; // part of it
} rows[] = {
	{ "memif: nothing to ask",
	  { .driver = DRIVER_PFC_PASS, .needed = true, .get = -ENOTSUP, .set = -ENOTSUP },
	  PFC_PATH_SOFTWARE,
	  "" },
	{ "tap: answers, without the flag",
	  { .driver = DRIVER_PFC_PASS, .needed = true },
	  PFC_PATH_SOFTWARE,
	  "" },
	{ "ixgbe: forwards",
	  { .driver = DRIVER_PFC_ASK, .needed = true, .forwards = true },
	  PFC_PATH_SOFTWARE,
	  "" },
	{ "ice: no such call",
	  { .driver = DRIVER_PFC_ASK, .needed = true, .get = -ENOTSUP, .set = -ENOTSUP },
	  PFC_PATH_NONE,
	  "does not tell about flow control: " },
	{ "sfc: refuses the flag",
	  { .driver = DRIVER_PFC_ASK, .needed = true, .set = -EINVAL },
	  PFC_PATH_NONE,
	  "refuses to hand PFC frames over: " },
	{ "mlx5: takes the flag and forgets it",
	  { .driver = DRIVER_PFC_ASK, .needed = true },
	  PFC_PATH_NONE,
	  "does not do it" },
	{ "gone before it answers again",
	  { .driver = DRIVER_PFC_ASK, .needed = true, .again = -EIO, .forwards = true },
	  PFC_PATH_NONE,
	  "does not do it: " },
	{ "i40e: forwards what it receives, filters what is sent",
	  { .driver = DRIVER_PFC_ASK, .needed = true, .eats_sent = true, .forwards = true },
	  PFC_PATH_NONE,
	  "drops PFC frames that software sends" },
	{ "hns3: refuses, and has PFC of its own",
	  { .driver = DRIVER_PFC_ASK, .needed = true, .set = -EINVAL, .own_pfc = true },
	  PFC_PATH_NONE,
	  "the PFC that it offers itself is not used" },
	{ "the user knows better",
	  { .driver = DRIVER_PFC_ASK, .needed = true, .wanted = PFC_PATH_TRUST, .set = -EINVAL },
	  PFC_PATH_SOFTWARE,
	  "" },
	{ "the user knows better about sent frames, too",
	  { .driver = DRIVER_PFC_ASK, .needed = true, .wanted = PFC_PATH_TRUST, .eats_sent = true },
	  PFC_PATH_SOFTWARE,
	  "" },
	{ "a lossy port on any NIC",
	  { .driver = DRIVER_PFC_ASK, .get = -ENOTSUP, .set = -ENOTSUP, .eats_sent = true },
	  PFC_PATH_UNUSED,
	  "no priority" },
};

TABLE_TEST(pfc_path, decide, row, rows)
{
	char reason[160] = "stale";
	const enum pfc_path got = pfc_path_decide(&row->answers, reason, sizeof(reason));

	cr_assert_eq(got, row->want, "%s: %d, %s", row->what, (int)got, reason);
	cr_assert(strstr(reason, row->reason) != NULL, "%s: %s", row->what, reason);
	cr_assert_eq(reason[0] == '\0', got == PFC_PATH_SOFTWARE, "%s: %s", row->what, reason);
	cr_assert_lt(strlen(reason), sizeof(reason) - 1);
}
