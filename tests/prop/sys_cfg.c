// SPDX-License-Identifier: BSD-3-Clause
//
// Property of configuration files over the real schema: any configuration that could have been
// loaded can be dumped and loaded again, to the same bytes.

#include <stdio.h>

#include "dataplane/core/config.h"
#include "tests/cfg_again.h"
#include "tests/prop/random_rows.h"
#include "tests/table.h"

enum { ROUNDS = 40 };

SEED_TEST(cfg, dump_loads_to_the_same, rng, 8)
{
	struct sw_config *config = calloc(1, sizeof(*config));

	cr_assert_eq(cfg_bytes(config_tables, CONFIG_TABLE_COUNT), sizeof(struct sw_config));
	for (uint32_t i = 0; i < ROUNDS; i++) {
		random_rows(rng, config);
		cr_assert(cfg_again(config, config_tables, CONFIG_TABLE_COUNT, stderr), "round %u",
			  i);
	}
	free(config);
}
