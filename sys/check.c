// SPDX-License-Identifier: BSD-3-Clause
//
// The hook behind WEFT_CHECK (base/check.h): a failed check is a programmer error, whose state must
// not be used any further. The core dump is the report, the line on stderr says where to look.

#include "base/check.h"

#include <stdio.h>
#include <stdlib.h>

void weft_assert_fail(const char *expression, const char *file, int line)
{
	fprintf(stderr, "weft: %s:%d: check failed: %s\n", file, line, expression);
	abort();
}
