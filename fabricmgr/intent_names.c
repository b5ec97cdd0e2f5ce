// SPDX-License-Identifier: BSD-3-Clause
//
// Looking up what an intent names. Who mistypes one of thousands of names gets the nearest one, not
// a list.

#include "fabricmgr/intent_names.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "sys/nearest.h"

enum { PORT_MAX = 4095 };

void maker_complain(struct maker *maker, uint32_t line, const char *where, const char *format, ...)
{
	va_list args;

	if (maker->error_count++ >= MAKER_ERRORS_MAX)
		return;
	fprintf(maker->errors, "%s:", maker->path);
	if (line != 0)
		fprintf(maker->errors, "%u:", line);
	fprintf(maker->errors, " %s: ", where);
	va_start(args, format);
	vfprintf(maker->errors, format, args);
	va_end(args);
	fputc('\n', maker->errors);
}

static void unknown(struct maker *maker, uint32_t line, const char *where, const char *kind,
		    const struct nearest *near)
{
	if (near->best != NULL)
		maker_complain(maker, line, where, "there is no %s \"%s\"; did you mean %s?", kind,
			       near->word, near->best);
	else
		maker_complain(maker, line, where, "there is no %s \"%s\"", kind, near->word);
}

bool maker_switch(struct maker *maker, uint32_t line, const char *where, const char *text,
		  uint32_t *at)
{
	struct nearest near = nearest_to(text);

	*at = fabric_find_switch(maker->fabric, text);
	if (*at != FABRIC_NONE)
		return true;
	if (maker->by_mention && text[0] != '\0') {
		struct fabric_switch *sw = fabric_add_switch(maker->fabric, text);

		if (sw == NULL) {
			maker_complain(maker, line, where, "memory is short");
			return false;
		}
		sw->line = line;
		*at = maker->fabric->switch_count - 1;
		return true;
	}
	for (uint32_t i = 0; i < maker->fabric->switch_count; i++)
		nearest_offer(&near, maker->fabric->switches[i].name);
	unknown(maker, line, where, "switch", &near);
	return false;
}

bool maker_host(struct maker *maker, uint32_t line, const char *where, const char *text,
		uint32_t *host)
{
	struct nearest near = nearest_to(text);

	*host = fabric_find_host(maker->fabric, text);
	if (*host != FABRIC_NONE)
		return true;
	for (uint32_t i = 0; i < maker->fabric->host_count; i++)
		nearest_offer(&near, maker->fabric->hosts[i].name);
	unknown(maker, line, where, "host", &near);
	return false;
}

// Whether the ports of a switch may begin so; the first one decides.
static bool take_prefix(struct maker *maker, uint32_t at, const char *prefix)
{
	struct fabric_switch *sw = &maker->fabric->switches[at];
	const char *kept;

	if (prefix[0] == '\0' || strcmp(prefix, sw->port_prefix) == 0)
		return true;
	if (sw->port_count > 0 || sw->has_place || sw->level != FABRIC_LEVEL_NONE)
		return false;
	kept = fabric_text(maker->fabric, prefix);
	if (kept != NULL)
		sw->port_prefix = kept;
	return kept != NULL;
}

// The digits that a name ends in; its end when there are none.
static const char *number_in(const char *name)
{
	const char *digits = name + strlen(name);

	while (digits > name && digits[-1] >= '0' && digits[-1] <= '9')
		digits--;
	return digits;
}

static bool find_port(struct maker *maker, uint32_t line, const char *where, const char *text,
		      struct maker_end *end)
{
	const struct fabric_switch *sw = &maker->fabric->switches[end->at];
	const char *digits = number_in(text);
	char prefix[CONFIG_NAME_BYTES] = "";
	unsigned long number;

	if (*digits == '\0' || strlen(digits) > 5) {
		maker_complain(maker, line, where, "\"%s\" is not a port, such as %s4", text,
			       sw->port_prefix);
		return false;
	}
	memcpy(prefix, text, (size_t)(digits - text));
	number = strtoul(digits, NULL, 10);
	if (number > PORT_MAX) {
		maker_complain(maker, line, where, "port %lu is above %d", number, PORT_MAX);
		return false;
	}
	if (!take_prefix(maker, end->at, prefix)) {
		maker_complain(maker, line, where, "ports of %s are called %s0 and so on, not %s",
			       sw->name, sw->port_prefix, text);
		return false;
	}
	end->port = (uint16_t)number;
	end->has_port = true;
	return true;
}

bool maker_end(struct maker *maker, uint32_t line, const char *where, const char *text,
	       struct maker_end *end)
{
	const char *colon = strrchr(text, ':');
	const size_t len = colon != NULL ? (size_t)(colon - text) : strlen(text);
	char name[CONFIG_NAME_BYTES];

	*end = (struct maker_end){ 0 };
	snprintf(name, sizeof(name), "%.*s", (int)len, text);
	if (!maker_switch(maker, line, where, name, &end->at))
		return false;
	return colon == NULL || find_port(maker, line, where, colon + 1, end);
}

uint16_t maker_port(const struct maker *maker, const struct maker_end *end)
{
	return end->has_port ? end->port : maker->fabric->switches[end->at].port_count;
}
