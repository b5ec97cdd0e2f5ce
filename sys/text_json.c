// SPDX-License-Identifier: BSD-3-Clause
//
// A text that is not UTF-8 as a whole loses all bytes that are not ASCII: it is for people, and the
// bytes themselves are in the configuration.

#include "sys/text_json.h"

#include <stdlib.h>
#include <string.h>

json_t *text_json(const char *text, size_t len)
{
	json_t *words = json_stringn(text, len);
	char *copy;

	if (words != NULL)
		return words;
	copy = strndup(text, len);
	for (char *c = copy; c != NULL && *c != '\0'; c++)
		*c = (unsigned char)*c < 0x80 ? *c : '?';
	words = copy != NULL ? json_string(copy) : NULL;
	free(copy);
	return words;
}

json_t *text_json_lines(struct lines *lines)
{
	const char *at = lines_text(lines);
	json_t *array = json_array();

	while (*at != '\0') {
		const size_t len = strcspn(at, "\n");

		json_array_append_new(array, text_json(at, len));
		at += len + (at[len] == '\n');
	}
	return array;
}
