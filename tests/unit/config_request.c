// SPDX-License-Identifier: BSD-3-Clause
//
// Requests of the control socket to change the configuration: what JSON becomes which edits, and
// what is refused in which words.

#include "dataplane/config_request.h"

#include <errno.h>
#include <string.h>

#include "tests/table.h"

enum { SAID_BYTES = 1024 };

static int parse(const char *text, struct config_request *out, char said[SAID_BYTES])
{
	FILE *errors;
	int rc;

	memset(said, 0, SAID_BYTES);
	errors = fmemopen(said, SAID_BYTES, "w");
	rc = config_request_parse(text, strlen(text), out, errors);
	fclose(errors);
	return rc;
}

#define EDIT(members) "{\"edits\": [{" members "}]}"

static const struct {
	const char *what;
	const char *text;
	const char *says; // to its end; how the JSON parser goes on is its own affair
} refused_rows[] = {
	{ "no JSON", "edits", "the request is not JSON: " },
	{ "no object", "[1]", "the request: must be an object\n" },
	{ "a mistyped member", "{\"dryrun\": true}", "dryrun: unknown; did you mean dry_run?\n" },
	{ "a member like no other", "{\"zzz\": true}",
	  "zzz: unknown; allowed: edits force dry_run confirm_s\n" },
	{ "one member twice", "{\"force\": true, \"force\": false}",
	  "the request is not JSON: duplicate object key" },
	{ "a flag that is a word", "{\"force\": \"yes\"}", "force: must be true or false\n" },
	{ "no time to confirm", "{\"confirm_s\": 0}", "confirm_s: must be 1 to 3600\n" },
	{ "too long to confirm", "{\"confirm_s\": 3601}", "confirm_s: must be 1 to 3600\n" },
	{ "edits that are no list", "{\"edits\": {}}",
	  "edits: must be a list of at most 4096 edits\n" },
	{ "an edit that is no object", "{\"edits\": [1]}", "edits: must be a list of objects\n" },
	{ "no operation", EDIT("\"table\": \"port\""), "op: must be given\n" },
	{ "no table", EDIT("\"op\": \"set\""), "table: must be given\n" },
	{ "a mistyped operation", EDIT("\"op\": \"sett\", \"table\": \"port\""),
	  "op: \"sett\" is no operation; did you mean set?\n" },
	{ "an operation like no other", EDIT("\"op\": 7, \"table\": \"port\""),
	  "op: \"\" is no operation; allowed: set include exclude add put remove clear\n" },
	{ "a key that is a word", EDIT("\"op\": \"set\", \"table\": \"port\", \"key\": \"a\""),
	  "key: must be a list of at most 8 texts\n" },
	{ "a key of numbers", EDIT("\"op\": \"set\", \"table\": \"vlan\", \"key\": [20]"),
	  "key: must be a list of at most 8 texts\n" },
	{ "a key that is too long",
	  EDIT("\"op\": \"set\", \"table\": \"a\", \"key\": "
	       "[\"1\",\"2\",\"3\",\"4\",\"5\",\"6\",\"7\",\"8\",\"9\"]"),
	  "key: must be a list of at most 8 texts\n" },
	{ "knobs that are no object", EDIT("\"op\": \"set\", \"table\": \"a\", \"knobs\": []"),
	  "knobs: must be an object of at most 64 members\n" },
	{ "a knob that is a list",
	  EDIT("\"op\": \"set\", \"table\": \"a\", \"knobs\": {\"mtu\": []}"),
	  "mtu: must be text, a whole number, a truth value or null\n" },
	{ "a knob that is a fraction",
	  EDIT("\"op\": \"set\", \"table\": \"a\", \"knobs\": {\"mtu\": 1.5}"),
	  "mtu: must be text, a whole number, a truth value or null\n" },
};

TABLE_TEST(config_request, refused, row, refused_rows)
{
	struct config_request request;
	char said[SAID_BYTES];

	cr_expect_eq(parse(row->text, &request, said), -EINVAL, "%s", row->what);
	cr_expect_eq(strncmp(said, row->says, strlen(row->says)), 0, "%s: %s", row->what, said);
	cr_expect_null(request.edits);
	cr_expect_null(request.body);
}

Test(config_request, nothing_asks_for_nothing)
{
	struct config_request request;
	char said[SAID_BYTES];

	cr_assert_eq(parse("", &request, said), 0);
	cr_assert_eq(request.edit_count, 0);
	cr_assert_not(request.force || request.dry_run || request.confirm_s);
	config_request_release(&request);
}

Test(config_request, all_members)
{
	static const char text[] =
		"{\"edits\": [{\"op\": \"add\", \"table\": \"acl\", \"key\": [\"a\", \"b\"],"
		" \"before\": [\"c\"], \"knobs\": {\"action\": \"deny\", \"dscp\": 26,"
		" \"on\": true, \"off\": false, \"rate\": null}},"
		" {\"op\": \"clear\", \"table\": \"\"}],"
		" \"force\": true, \"dry_run\": true, \"confirm_s\": 3600}";
	static const struct cfg_setting want[] = { { "action", "deny" },
						   { "dscp", "26" },
						   { "on", "true" },
						   { "off", "false" },
						   { "rate", NULL } };
	struct config_request request;
	const struct cfg_edit *edit;
	char said[SAID_BYTES];

	cr_assert_eq(parse(text, &request, said), 0, "%s", said);
	cr_assert(request.force && request.dry_run);
	cr_assert_eq(request.confirm_s, 3600);
	cr_assert_eq(request.edit_count, 2);
	edit = request.edits;
	cr_assert_eq(edit->op, CFG_EDIT_ADD);
	cr_assert_str_eq(edit->table, "acl");
	cr_assert_eq(edit->key_count, 2);
	cr_assert_str_eq(edit->key[1], "b");
	cr_assert_eq(edit->before_count, 1);
	cr_assert_str_eq(edit->before[0], "c");
	cr_assert_eq(edit->setting_count, TABLE_COUNT(want));
	for (size_t i = 0; i < TABLE_COUNT(want); i++) {
		cr_expect_str_eq(edit->setting[i].knob, want[i].knob);
		cr_expect_eq(edit->setting[i].value == NULL, want[i].value == NULL);
		if (want[i].value != NULL)
			cr_expect_str_eq(edit->setting[i].value, want[i].value);
	}
	cr_assert_eq(request.edits[1].op, CFG_EDIT_CLEAR);
	cr_assert_str_eq(request.edits[1].table, "");
	config_request_release(&request);
}
