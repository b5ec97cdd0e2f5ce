// SPDX-License-Identifier: BSD-3-Clause
//
// Which form a fabric is written in: the word before the file's name, as for reading. Switches of a
// containerlab are of the image "weft".

#include "fabricmgr/export.h"

#include <errno.h>
#include <jansson.h>
#include <string.h>

#include "fabricmgr/fabric_json.h"

static int write_json(const struct fabric *fabric, FILE *out)
{
	json_t *object = fabric_to_json(fabric);
	const int rc = object == NULL ? -ENOMEM : json_dumpf(object, out, JSON_INDENT(2));

	json_decref(object);
	return rc == -1 || (rc == 0 && fputc('\n', out) == EOF) ? -EIO : rc;
}

static int write_containerlab(const struct fabric *fabric, FILE *out)
{
	return export_containerlab(fabric, "weft", out);
}

static const struct {
	const char *word;
	int (*write)(const struct fabric *fabric, FILE *out);
} forms[] = {
	{ "dot:", export_dot },
	{ "ibnetdiscover:", export_ibnet },
	{ "json:", write_json },
	{ "containerlab:", write_containerlab },
};

enum { FORM_COUNT = sizeof(forms) / sizeof(forms[0]) };

int export_file(const struct fabric *fabric, const char *name, FILE *errors)
{
	uint32_t form = 0;
	const char *path;
	FILE *out;
	int rc;

	while (form < FORM_COUNT && strncmp(name, forms[form].word, strlen(forms[form].word)) != 0)
		form++;
	if (form == FORM_COUNT) {
		fprintf(errors,
			"%s: allowed: dot:FILE, ibnetdiscover:FILE, json:FILE, containerlab:FILE\n",
			name);
		return -EINVAL;
	}
	path = name + strlen(forms[form].word);
	out = fopen(path, "we");
	rc = out == NULL ? -errno : forms[form].write(fabric, out);
	if (out != NULL && fclose(out) != 0 && rc == 0)
		rc = -errno;
	if (rc < 0)
		fprintf(errors, "%s: %s\n", path, strerror(-rc));
	return rc;
}
