// SPDX-License-Identifier: BSD-3-Clause
//
// Profile step: names of the switch and its ports. They become names of sockets and directories,
// words of commands and labels of metrics, so they are made of what all of these take as it is.

#include "dataplane/core/profile_build.h"

static bool is_alnum(char c)
{
	return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

bool is_name(const char *name)
{
	if (!is_alnum(name[0]))
		return false;
	for (size_t i = 1; name[i] != '\0'; i++) {
		if (!is_alnum(name[i]) && name[i] != '_' && name[i] != '-' && name[i] != '.')
			return false;
	}
	return true;
}

int check_names(struct build *b)
{
	const struct switch_config *sw = &b->config->sw;

	if (!is_name(sw->name))
		return build_fail(b, FAULT_BAD_NAME, sw->line, "switch", sw->name, 0, 0);
	for (uint32_t i = 0; i < b->config->port_count; i++) {
		const struct port_config *row = &b->config->port[i];

		if (!is_name(row->name) || name_equal(row->name, "all"))
			return build_fail(b, FAULT_BAD_NAME, row->line, "port", row->name, 0, 0);
	}
	return 0;
}

bool next_word(const char **text, char word[CONFIG_NAME_BYTES])
{
	const char *at = *text;
	size_t len = 0;

	while (*at == ' ')
		at++;
	while (at[len] != '\0' && at[len] != ' ' && len + 1 < CONFIG_NAME_BYTES) {
		word[len] = at[len];
		len++;
	}
	word[len] = '\0';
	*text = at + len;
	return len != 0;
}
