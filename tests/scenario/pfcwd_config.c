// SPDX-License-Identifier: BSD-3-Clause
//
// Configuration of the PFC watchdog: what is accepted, what is refused and in which words with
// which line, what a row means that leaves things out.

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "sys/cfg_load.h"
#include "tests/rig/setup.h"
#include "tests/table.h"

enum { PORTS = 3, MESSAGE_BYTES = 1024 };

#define MS 1000000ull

// Loads a file of one port and `row` on line 2; what was said about it goes to `message`.
static int load(const char *row, char message[MESSAGE_BYTES])
{
	struct sw_config *c = calloc(1, sizeof(*c));
	char path[] = "weft-pfcwd-XXXXXX";
	int fd = mkstemp(path);
	FILE *errors = fmemopen(message, MESSAGE_BYTES, "w");
	int rc;

	cr_assert(c != NULL && fd >= 0 && errors != NULL);
	dprintf(fd, "port = ( { name = \"Ethernet0\"; devargs = \"net_null0\"; } );\n%s\n", row);
	close(fd);
	rc = cfg_load(path, config_tables, CONFIG_TABLE_COUNT, c, errors);
	fclose(errors);
	unlink(path);
	free(c);
	return rc;
}

#define ROW(members) "pfc_wd = ( { port = \"Ethernet0\"; " members " } );"

static const struct {
	const char *what;
	const char *row;
	const char *said; // NULL: accepted
} file_rows[] = {
	{ "defaults", ROW(""), NULL },
	{ "drop", ROW("action = \"drop\";"), NULL },
	{ "forward", ROW("action = \"forward\";"), NULL },
	{ "alert", ROW("action = \"alert\";"), NULL },
	{ "least times", ROW("detection_time = \"100ms\"; restoration_time = \"100ms\";"), NULL },
	{ "most times", ROW("detection_time = \"5s\"; restoration_time = \"60s\";"), NULL },
	{ "an invalid action", ROW("action = \"reject\";"), "action" },
	{ "no port", "pfc_wd = ( { action = \"drop\"; } );", "port" },
	{ "detection too low", ROW("detection_time = \"99ms\";"), "detection_time" },
	{ "detection too high", ROW("detection_time = \"5001ms\";"), "detection_time" },
	{ "detection without unit", ROW("detection_time = 200;"), "detection_time" },
	{ "detection that is no time", ROW("detection_time = \"fast\";"), "detection_time" },
	{ "restoration too low", ROW("restoration_time = \"99ms\";"), "restoration_time" },
	{ "restoration too high", ROW("restoration_time = \"60001ms\";"), "restoration_time" },
	{ "poll too low", "pfc_wd_poll_interval = \"99ms\";", "pfc_wd_poll_interval" },
	{ "poll too high", "pfc_wd_poll_interval = \"1001ms\";", "pfc_wd_poll_interval" },
	{ "threshold above all", "pfc_wd_threshold = \"101%\";", "pfc_wd_threshold" },
	{ "history", ROW("pfc_stat_history = \"enable\";"), NULL },
	{ "a misspelt knob", ROW("detect_time = \"200ms\";"), "detect_time" },
};

TABLE_TEST(pfcwd_config, file, row, file_rows)
{
	char message[MESSAGE_BYTES] = "";
	int rc = load(row->row, message);

	cr_assert_eq(rc == 0, row->said == NULL, "%s: %s", row->what, message);
	if (row->said == NULL)
		return;
	cr_assert_not_null(strstr(message, row->said), "%s: %s", row->what, message);
	cr_assert_not_null(strstr(message, ":2:"), "%s: %s", row->what, message);
}

static struct sw_config *watched(const char *port)
{
	struct sw_config *c = setup_kvm(PORTS);

	setup_pfc_wd(c, port, WATCHDOG_DROP)->line = 42;
	return c;
}

static void poll_above_detection(struct sw_config *c)
{
	c->sw.pfc_wd_poll_interval = 300 * MS;
	c->pfc_wd[0].detection_time = 299 * MS;
}

static void poll_above_restoration(struct sw_config *c)
{
	c->sw.pfc_wd_poll_interval = 300 * MS;
	c->pfc_wd[0].detection_time = 300 * MS;
	c->pfc_wd[0].restoration_time = 299 * MS;
}

static void unknown_port(struct sw_config *c)
{
	setup_name(c->pfc_wd[0].port, "Ethernet99");
}

static void twice(struct sw_config *c)
{
	setup_pfc_wd(c, "Ethernet4", WATCHDOG_ALERT)->line = 42;
}

static void lossy_queue(struct sw_config *c)
{
	c->pfc_wd[0].queue = 0x28;
}

static const struct {
	const char *what;
	void (*spoil)(struct sw_config *c);
	enum profile_fault_id id;
	uint64_t have, want;
} fault_rows[] = {
	{ "poll above detection", poll_above_detection, FAULT_PFC_WD_POLL, 299 * MS, 300 * MS },
	{ "poll above restoration", poll_above_restoration, FAULT_PFC_WD_POLL, 299 * MS, 300 * MS },
	{ "a port that is not there", unknown_port, FAULT_UNKNOWN_PORT, 0, 0 },
	{ "a queue twice", twice, FAULT_OVERLAP, 3, 0 },
	{ "a queue that PFC does not pause", lossy_queue, FAULT_PFC_WD_QUEUE, 5, 0 },
};

TABLE_TEST(pfcwd_config, fault, row, fault_rows)
{
	struct sw_config *c = watched("all");
	struct sw_profile *pf = calloc(1, profile_bytes(c));
	struct profile_fault fault;

	cr_assert_not_null(pf);
	cr_assert_eq(profile_build(c, pf, &fault), 0, "%s", row->what);
	row->spoil(c);
	cr_assert_neq(profile_build(c, pf, &fault), 0, "%s", row->what);
	cr_assert_eq(fault.id, row->id, "%s", row->what);
	cr_assert_eq(fault.line, 42, "%s", row->what);
	cr_assert_eq(fault.have, row->have, "%s", row->what);
	cr_assert_eq(fault.want, row->want, "%s", row->what);
	free(pf);
	free(c);
}

// Queues are those of pfc_enable through the maps; restoration is twice detection; ports without
// PFC are skipped and marked; nothing is watched without a row.
Test(pfcwd_config, defaults)
{
	struct sw_config *c = watched("all");
	struct sw_profile *pf = calloc(1, profile_bytes(c));
	struct profile_fault fault;

	cr_assert_not_null(pf);
	c->pfc_wd[0].detection_time = 250 * MS;
	setup_map(c, CONFIG_MAP_TC_TO_QUEUE, "swap", "0:0 1:1 2:2 3:4 4:3 5:5 6:6 7:7");
	setup_map(c, CONFIG_MAP_PFC_TO_QUEUE, "swap", "3:4 4:3");
	setup_name(c->port[1].tc_to_queue_map, "swap");
	setup_name(c->port[1].pfc_to_queue_map, "swap");
	cr_assert_eq(profile_build(c, pf, &fault), 0);
	for (uint32_t n = 0; n < 2; n++) {
		const struct watchdog_profile *wd = &pf->port[n].watchdog[3];
		const uint8_t prio = n == 0 ? 1 << 3 : 1 << 4;

		cr_assert_eq(pf->port[n].watched, 0x18);
		cr_assert_eq(wd->pfc.poll_ns, 200 * MS);
		cr_assert_eq(wd->pfc.detection_ns, 250 * MS);
		cr_assert_eq(wd->pfc.restoration_ns, 500 * MS);
		cr_assert_eq(wd->pfc.paused_ppm, 990000);
		cr_assert_eq(wd->priorities, prio);
		cr_assert_eq(wd->groups, prio);
		cr_assert_eq(wd->announced, prio);
	}
	c->pfc_wd_count = 0;
	cr_assert_eq(profile_build(c, pf, &fault), 0);
	for (uint32_t n = 0; n < PORTS; n++)
		cr_assert(pf->port[n].watched == 0 && !pf->port[n].watchdog_skipped);
	free(pf);
	free(c);
}

Test(pfcwd_config, port_without_pfc_is_skipped)
{
	struct sw_config *c = watched("all");
	struct sw_profile *pf = calloc(1, profile_bytes(c));
	struct profile_fault fault;

	cr_assert_not_null(pf);
	c->buffer_pg_count = 0;
	setup_pg(c, "Ethernet0", 0x18, KVM_PG_LOSSLESS);
	setup_pg(c, "Ethernet4", 0x18, KVM_PG_LOSSLESS);
	setup_pg(c, "Ethernet0", 0xe7, KVM_PG_LOSSY);
	setup_pg(c, "Ethernet4", 0xe7, KVM_PG_LOSSY);
	setup_pg(c, "Ethernet8", 0xff, KVM_PG_LOSSY);
	c->port[2].pfc_enable = 0;
	c->port[2].pfc_asymmetric = 1;
	cr_assert_eq(profile_build(c, pf, &fault), 0);
	cr_assert_eq(pf->port[0].watched, 0x18);
	cr_assert_eq(pf->port[2].watched, 0);
	cr_assert(pf->port[2].watchdog_skipped);
	cr_assert(!pf->port[0].watchdog_skipped);
	free(pf);
	free(c);
}
