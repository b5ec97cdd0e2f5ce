// SPDX-License-Identifier: BSD-3-Clause
//
// Values are encoded as they are added. Characters that names of ports and lists of queues have
// stand as they are, since a query may hold them: it keeps requests readable in a log.

#include "cli/target.h"

#include <stdio.h>
#include <string.h>

static bool stands(char c)
{
	return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') ||
	       (c != '\0' && strchr("-._~/:,", c) != NULL);
}

// Writes the value encoded; its end, or NULL when there is no room.
static char *encode(char *at, const char *end, const char *value)
{
	static const char digits[] = "0123456789ABCDEF";

	for (; *value != '\0'; value++) {
		const unsigned char byte = (unsigned char)*value;

		if (end - at < 4)
			return NULL;
		if (stands(*value)) {
			*at++ = *value;
			continue;
		}
		*at++ = '%';
		*at++ = digits[byte >> 4];
		*at++ = digits[byte & 15];
	}
	*at = '\0';
	return at;
}

bool target_add(char *target, size_t bytes, const char *key, const char *value)
{
	const size_t len = strlen(target);
	const size_t room = bytes - len;
	const int head = snprintf(target + len, room,
				  "%c%s=", strchr(target, '?') == NULL ? '?' : '&', key);

	if (value[0] != '\0' && head > 0 && (size_t)head < room &&
	    encode(target + len + head, target + bytes, value) != NULL)
		return true;
	target[len] = '\0';
	fprintf(stderr, "weft: \"%s\" is no %s\n", value, key);
	return false;
}
