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
	{ "cnxk: keeps PFC to itself, and offers it queue by queue",
	  { .driver = DRIVER_PFC_ASK, .needed = true, .set = -EINVAL, .own_pfc = true },
	  PFC_PATH_DEVICE,
	  "refuses to hand PFC frames over: " },
	{ "lets frames pass and has PFC of its own",
	  { .driver = DRIVER_PFC_ASK, .needed = true, .forwards = true, .own_pfc = true },
	  PFC_PATH_SOFTWARE,
	  "" },
	{ "one direction is not enough, its own PFC is both",
	  { .driver = DRIVER_PFC_ASK,
	    .needed = true,
	    .eats_sent = true,
	    .forwards = true,
	    .own_pfc = true },
	  PFC_PATH_DEVICE,
	  "drops PFC frames that software sends" },
	{ "own PFC on fewer queues than priorities",
	  { .driver = DRIVER_PFC_ASK, .needed = true, .own_pfc = true, .few_queues = true },
	  PFC_PATH_NONE,
	  "does not do it; it has fewer queues" },
	{ "few queues matter to own PFC alone",
	  { .driver = DRIVER_PFC_ASK, .needed = true, .forwards = true, .few_queues = true },
	  PFC_PATH_SOFTWARE,
	  "" },
	{ "own PFC for a group of two priorities",
	  { .driver = DRIVER_PFC_ASK, .needed = true, .own_pfc = true, .shared_group = true },
	  PFC_PATH_NONE,
	  "two priorities stand for one priority group" },
	{ "own PFC, and a lossless class that no field names",
	  { .driver = DRIVER_PFC_ASK, .needed = true, .own_pfc = true, .strays = true },
	  PFC_PATH_NONE,
	  "default_tc or an acl makes" },
	{ "own PFC that cannot be set up",
	  { .driver = DRIVER_PFC_ASK, .needed = true, .own_pfc = true, .set_queues = -EIO },
	  PFC_PATH_NONE,
	  "refuses to set its queues up: " },
	{ "own PFC without steering",
	  { .driver = DRIVER_PFC_ASK, .needed = true, .own_pfc = true, .steer = -ENOTSUP },
	  PFC_PATH_NONE,
	  "cannot steer received frames by priority: " },
	{ "no PFC at all",
	  { .driver = DRIVER_PFC_ASK, .needed = true, .set = -EINVAL },
	  PFC_PATH_NONE,
	  "it offers no PFC of its own" },
	{ "own PFC as told, though frames would pass",
	  { .driver = DRIVER_PFC_PASS, .needed = true, .wanted = PFC_PATH_OWN, .own_pfc = true },
	  PFC_PATH_DEVICE,
	  "as told" },
	{ "own PFC as told, of a device that does not tell",
	  { .driver = DRIVER_PFC_PASS, .needed = true, .wanted = PFC_PATH_OWN },
	  PFC_PATH_DEVICE,
	  "though it offers no PFC" },
	{ "own PFC as told, steered by other means",
	  { .driver = DRIVER_PFC_ASK,
	    .needed = true,
	    .wanted = PFC_PATH_OWN,
	    .own_pfc = true,
	    .steer = -ENOTSUP },
	  PFC_PATH_DEVICE,
	  "though it cannot steer" },
	{ "own PFC as told, without the queues",
	  { .driver = DRIVER_PFC_PASS, .needed = true, .wanted = PFC_PATH_OWN, .few_queues = true },
	  PFC_PATH_NONE,
	  "fewer queues" },
	{ "own PFC as told, for a group of two priorities",
	  { .driver = DRIVER_PFC_PASS,
	    .needed = true,
	    .wanted = PFC_PATH_OWN,
	    .own_pfc = true,
	    .shared_group = true },
	  PFC_PATH_NONE,
	  "two priorities" },
	{ "own PFC as told, where nobody needs it",
	  { .driver = DRIVER_PFC_PASS, .wanted = PFC_PATH_OWN, .few_queues = true },
	  PFC_PATH_UNUSED,
	  "no priority" },
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
	char reason[PFC_REASON_BYTES] = "stale";
	const enum pfc_path got = pfc_path_decide(&row->answers, reason, sizeof(reason));

	cr_assert_eq(got, row->want, "%s: %d, %s", row->what, (int)got, reason);
	cr_assert(strstr(reason, row->reason) != NULL, "%s: %s", row->what, reason);
	cr_assert_eq(reason[0] == '\0', got == PFC_PATH_SOFTWARE, "%s: %s", row->what, reason);
	cr_assert_lt(strlen(reason), sizeof(reason) - 1);
}
