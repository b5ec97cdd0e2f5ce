// SPDX-License-Identifier: BSD-3-Clause
//
// The directory of an authority: what it makes, TLS takes; what is there is not written over,
// whatever is missing beside it; and files that do not belong together are found out. What the
// command prints, and what openssl says to its files, is in docs/pki.md.

#include "sys/pki.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sys/tls.h"
#include "tests/table.h"

struct scene {
	char dir[32];
	char other[40]; // another authority
	char text[512]; // of errors
	FILE *errors;
};

static const char *path_of(const char *dir, const char *file)
{
	static char paths[4][96];
	static uint32_t next;
	char *path = paths[next++ % 4];

	snprintf(path, sizeof(paths[0]), "%s/%s", dir, file);
	return path;
}

static void start(struct scene *s)
{
	*s = (struct scene){ .dir = "/tmp/weft-pki-XXXXXX" };
	cr_assert_not_null(mkdtemp(s->dir));
	snprintf(s->other, sizeof(s->other), "%s/other", s->dir);
	s->errors = fmemopen(s->text, sizeof(s->text), "w");
	setbuf(s->errors, NULL);
	cr_assert_eq(pki_init(s->dir, s->errors), 0, "%s", s->text);
	cr_assert_eq(pki_init(s->other, s->errors), 0, "%s", s->text);
}

static void remove_all(const char *dir)
{
	static const char *const files[] = {
		"authority.pem", "authority.key",         "revoked.pem",          "leaf1.pem",
		"leaf1.key",     TLS_MANAGER_NAME ".pem", TLS_MANAGER_NAME ".key"
	};

	for (uint32_t i = 0; i < TABLE_COUNT(files); i++)
		unlink(path_of(dir, files[i]));
	cr_assert_eq(rmdir(dir), 0, "something is left in %s", dir);
}

static void stop(struct scene *s)
{
	fclose(s->errors);
	remove_all(s->other);
	remove_all(s->dir);
}

static void copy(const char *from_dir, const char *to_dir, const char *file)
{
	char bytes[4096];
	FILE *in = fopen(path_of(from_dir, file), "r");
	FILE *out = fopen(path_of(to_dir, file), "w");
	const size_t size = fread(bytes, 1, sizeof(bytes), in);

	cr_assert_gt(size, 0);
	cr_assert_eq(fwrite(bytes, 1, size, out), size);
	fclose(in);
	fclose(out);
}

Test(pki, taken_by_tls)
{
	static const char *const names[] = { "leaf1", TLS_MANAGER_NAME };
	struct tls_files files;
	struct scene s;

	start(&s);
	for (uint32_t i = 0; i < TABLE_COUNT(names); i++) {
		SSL_CTX *context;
		char name[TLS_NAME_BYTES];

		cr_assert_eq(pki_issue(s.dir, names[i], s.errors), 0, "%s", s.text);
		cr_assert(tls_files_in(s.dir, names[i], &files));
		context = tls_open(&files, i == 1, s.errors);
		cr_assert_not_null(context, "%s", s.text);
		cr_assert(tls_certificate_name(SSL_CTX_get0_certificate(context), name));
		cr_assert_str_eq(name, names[i]);
		SSL_CTX_free(context);
	}
	stop(&s);
}

// A key that is somewhere in the way, without its certificate.
Test(pki, nothing_written_over)
{
	struct stat before, after;
	struct scene s;

	start(&s);
	cr_assert_eq(pki_issue(s.dir, "leaf1", s.errors), 0);
	cr_assert_eq(unlink(path_of(s.dir, "leaf1.pem")), 0);
	cr_assert_eq(stat(path_of(s.dir, "leaf1.key"), &before), 0);
	cr_assert_eq(pki_issue(s.dir, "leaf1", s.errors), -EEXIST);
	cr_assert_not_null(strstr(s.text, "leaf1.key: File exists"), "%s", s.text);
	cr_assert_eq(stat(path_of(s.dir, "leaf1.key"), &after), 0);
	cr_assert_eq(before.st_mtim.tv_nsec, after.st_mtim.tv_nsec);
	cr_assert_eq(before.st_ino, after.st_ino);
	cr_assert_eq(access(path_of(s.dir, "leaf1.pem"), F_OK), -1);
	stop(&s);
}

static const struct {
	const char *what;
	const char *file; // comes from another authority
	int want;
	const char *why;
} mixed[] = {
	{ "another's key", "authority.key", -EINVAL, "not the key of authority.pem" },
	{ "another's list", "revoked.pem", -EINVAL, "not a list of this authority" },
	{ "another's certificate", "leaf1.pem", -EEXIST, "of another authority" },
};

TABLE_TEST(pki, do_not_belong, row, mixed)
{
	struct scene s;

	start(&s);
	cr_assert_eq(pki_issue(s.other, "leaf1", s.errors), 0, "%s", s.text);
	copy(s.other, s.dir, row->file);
	cr_assert_eq(pki_issue(s.dir, "leaf1", s.errors), row->want, "%s: %s", row->what, s.text);
	cr_assert_not_null(strstr(s.text, row->why), "%s: %s", row->what, s.text);
	cr_assert_neq(pki_revoke(s.dir, "leaf1", s.errors), 0, "%s", row->what);
	stop(&s);
}
