// SPDX-License-Identifier: BSD-3-Clause
//
// A memory stream with its buffer. What it could not hold is missing at the end: it is for words,
// and who runs out of memory for those has no better ones.

#include "sys/lines.h"

#include <stdlib.h>
#include <string.h>

#include "sys/log.h"

bool lines_open(struct lines *lines)
{
	*lines = (struct lines){ 0 };
	lines->out = open_memstream(&lines->text, &lines->bytes);
	return lines->out != NULL;
}

const char *lines_text(struct lines *lines)
{
	if (fflush(lines->out) != 0 || lines->text == NULL)
		return "";
	return lines->text;
}

void lines_log(struct lines *lines)
{
	const char *at = lines_text(lines);

	while (*at != '\0') {
		const int len = (int)strcspn(at, "\n");

		log_whole(LOG_LEVEL_ERR, "%.*s", len, at);
		at += len + (at[len] == '\n');
	}
}

void lines_close(struct lines *lines)
{
	fclose(lines->out);
	free(lines->text);
	*lines = (struct lines){ 0 };
}
