// SPDX-License-Identifier: BSD-3-Clause
//
// The frames of a little-endian pcap file with microseconds, one after the other. Each is given in
// memory of its own length, so that a sanitiser sees a byte read too many.
#pragma once

#include <criterion/criterion.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#define CAPTURE_MAGIC 0xa1b2c3d4

struct capture_file {
	FILE *file;
	uint8_t *frame;
	uint32_t len;
};

static inline void capture_open(struct capture_file *capture, const char *path)
{
	uint32_t head[6];

	*capture = (struct capture_file){ .file = fopen(path, "rb") };
	cr_assert_not_null(capture->file, "%s", path);
	cr_assert_eq(fread(head, sizeof(head), 1, capture->file), 1);
	cr_assert_eq(head[0], CAPTURE_MAGIC);
}

// False, and all is closed, at the end of the file.
static inline bool capture_next(struct capture_file *capture)
{
	uint32_t record[4];

	free(capture->frame);
	capture->frame = NULL;
	if (fread(record, sizeof(record), 1, capture->file) != 1) {
		fclose(capture->file);
		return false;
	}
	cr_assert_eq(record[2], record[3], "a frame was cut");
	capture->len = record[2];
	capture->frame = malloc(capture->len);
	cr_assert_eq(fread(capture->frame, capture->len, 1, capture->file), 1);
	return true;
}
