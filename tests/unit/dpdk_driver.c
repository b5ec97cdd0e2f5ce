// SPDX-License-Identifier: BSD-3-Clause
//
// Devargs of memif: no frame may be longer than a slot of its ring. The client makes slots, of the
// bsize that the file says or that its MTU needs (14 bytes of Ethernet and two VLAN tags more, in
// whole cache lines); of a server's client nothing is known but the bsize that the file repeats,
// and without that it is the driver's default, 2048.

#include "dataplane/dpdk/driver.h"

#include <stdio.h>
#include <string.h>

#include "tests/table.h"

static const struct {
	const char *devargs;
	uint64_t mtu;
	const char *completed; // what is appended
	uint32_t max_mtu;
	bool connects;
} memif_rows[] = {
	{ "net_memif0,role=server,socket=/s", 1500, "", 2026, false },
	{ "net_memif0,role=server,socket=/s", 9100, "", 2026, false },
	{ "net_memif0,role=server,bsize=9152", 9100, "", 9130, false },
	{ "net_memif0,role=server,bsize=65535", 9100, "", 9216, false },
	{ "net_memif0,role=server,bsize=20", 68, "", 0, false },
	{ "net_memif0,role=client,socket=/s", 2026, "", 2026, true },
	{ "net_memif0,role=client,socket=/s", 2027, ",bsize=2112", 2090, true },
	{ "net_memif0,role=client,socket=/s", 9100, ",bsize=9152", 9130, true },
	{ "net_memif0", 9216, ",bsize=9280", 9216,
	  true }, // a client is what the driver takes it for
	{ "net_memif0,role=client,bsize=4224", 9100, "", 4202, true },
};

TABLE_TEST(dpdk_driver, memif_slots, row, memif_rows)
{
	const struct driver *driver = driver_of_devargs(row->devargs);
	struct port_config config = { .mtu = row->mtu };
	char got[CONFIG_TEXT_BYTES];

	snprintf(config.devargs, sizeof(config.devargs), "%s", row->devargs);
	cr_assert_eq(driver_devargs(driver, &config, got, sizeof(got)), 0);
	cr_assert_eq(strncmp(got, row->devargs, strlen(row->devargs)), 0);
	cr_assert_str_eq(got + strlen(row->devargs), row->completed, "%s", row->devargs);
	cr_assert_eq(driver_max_mtu(driver, got), row->max_mtu, "%s", row->devargs);
	cr_assert_eq(driver_connects(driver, row->devargs), row->connects, "%s", row->devargs);
}

// They have to fit where they are put.
Test(dpdk_driver, devargs_too_long)
{
	struct port_config config = { .mtu = 9100, .devargs = "net_memif0" };
	char got[sizeof("net_memif0,bsize=9152")];

	cr_assert_eq(driver_devargs(driver_of_devargs("net_memif0"), &config, got, sizeof(got)), 0);
	cr_assert_lt(driver_devargs(driver_of_devargs("net_memif0"), &config, got, sizeof(got) - 1),
		     0);
}
