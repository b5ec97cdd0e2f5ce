// SPDX-License-Identifier: BSD-3-Clause
//
// The table of rules and what runs them. A rule that has nothing to say adds nothing; a switch that
// restarted between the looks has no differences, so only rules about its state speak.
//
// Invariant: findings depend on the scene alone.

#include "cli/why_rule.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "cli/rate.h"

// A rule of the port also speaks for each of its queues, WHY_LOSSLESS for lossless ones alone;
// WHY_ARRIVAL is about what the port receives and the switch as a whole, and so about no queue.
enum why_scope { WHY_PORT, WHY_LOSSLESS, WHY_ARRIVAL, WHY_QUEUE, WHY_GROUP };

static const struct {
	const char *name;
	enum why_scope scope;
	why_fn *find;
} rules[] = {
	{ "absent", WHY_PORT, why_absent },
	{ "admin_down", WHY_PORT, why_admin_down },
	{ "link_down", WHY_PORT, why_link_down },
	{ "hello_down", WHY_PORT, why_hello_down },
	{ "hello_mismatch", WHY_LOSSLESS, why_hello_mismatch },
	{ "dcbx_mismatch", WHY_LOSSLESS, why_dcbx },
	{ "pfc_path", WHY_LOSSLESS, why_pfc_path },
	{ "stormed", WHY_QUEUE, why_stormed },
	{ "paused", WHY_QUEUE, why_paused },
	{ "blocked", WHY_QUEUE, why_blocked },
	{ "stuck", WHY_QUEUE, why_stuck },
	{ "drops", WHY_PORT, why_drops },
	{ "acl", WHY_ARRIVAL, why_acl },
	{ "rx_lost", WHY_ARRIVAL, why_rx_lost },
	{ "refused", WHY_PORT, why_refused },
	{ "held", WHY_ARRIVAL, why_held },
	{ "tx_disabled", WHY_PORT, why_tx_disabled },
	{ "lapsed", WHY_GROUP, why_lapsed },
	{ "group_xoff", WHY_GROUP, why_group_xoff },
	{ "group_near", WHY_GROUP, why_group_near },
	{ "queue_near", WHY_QUEUE, why_queue_near },
	{ "above_kmin", WHY_QUEUE, why_above_kmin },
	{ "ecn_differs", WHY_QUEUE, why_ecn_differs },
	{ "strict_above", WHY_QUEUE, why_strict_above },
	{ "shaped", WHY_QUEUE, why_shaped },
	{ "line_full", WHY_QUEUE, why_line_full },
	{ "pool_full", WHY_PORT, why_pool_full },
	{ "descriptors", WHY_ARRIVAL, why_descriptors },
	{ "unknown_mac", WHY_ARRIVAL, why_unknown_mac },
	{ "pfc_ignored", WHY_ARRIVAL, why_pfc_ignored },
	{ "global_pause", WHY_ARRIVAL, why_global_pause },
	{ "impaired", WHY_ARRIVAL, why_impaired },
	{ "headroom", WHY_GROUP, why_headroom },
};

enum { RULE_COUNT = sizeof(rules) / sizeof(rules[0]) };

static const json_t *asked_queue(const struct why *why)
{
	return why_element(why->port, "queues", (uint32_t)why->scene->queue);
}

static bool applies(const struct why *why, enum why_scope scope)
{
	if (why->scene->queue == WHY_ANY_QUEUE)
		return true;
	if (scope == WHY_LOSSLESS)
		return why_true(asked_queue(why), "lossless");
	return scope != WHY_ARRIVAL;
}

static void run_port(struct why *why, why_fn *find)
{
	snprintf(why->where, sizeof(why->where), "port");
	find(why);
}

static void run_queues(struct why *why, why_fn *find)
{
	for (uint32_t i = 0; i < QUEUE_COUNT; i++) {
		if (why->scene->queue != WHY_ANY_QUEUE && why->scene->queue != (int)i)
			continue;
		why->at = i;
		snprintf(why->where, sizeof(why->where), "queue %" PRIu32, i);
		find(why);
	}
}

static void run_groups(struct why *why, why_fn *find)
{
	for (uint32_t i = 0; i < PG_COUNT; i++) {
		const json_t *group = why_element(why->port, "priority_groups", i);

		if (why->scene->queue != WHY_ANY_QUEUE &&
		    !why_same_priority(asked_queue(why), group))
			continue;
		why->at = i;
		snprintf(why->where, sizeof(why->where), "priority group %" PRIu32, i);
		find(why);
	}
}

// Stable, so that rules keep their order.
static void sort_worst_first(struct why_findings *all)
{
	for (uint32_t i = 1; i < all->count; i++) {
		const struct why_finding one = all->finding[i];
		uint32_t at = i;

		for (; at > 0 && all->finding[at - 1].severity < one.severity; at--)
			all->finding[at] = all->finding[at - 1];
		all->finding[at] = one;
	}
}

static const json_t *find_port(const json_t *reply, const char *name)
{
	const json_t *ports = json_object_get(reply, "ports");

	for (size_t i = 0; i < json_array_size(ports); i++) {
		if (strcmp(why_text(json_array_get(ports, i), "name"), name) == 0)
			return json_array_get(ports, i);
	}
	return NULL;
}

void why_find(const struct why_scene *scene, struct why_findings *out)
{
	struct why why = {
		.scene = scene,
		.out = out,
		.port = find_port(scene->after, scene->port),
		.port_before = find_port(scene->before, scene->port),
		.elapsed_ns = rate_elapsed_ns(scene->before, scene->after),
	};

	out->count = 0;
	out->unsaid.evidence = NULL;
	for (uint32_t i = 0; i < RULE_COUNT; i++) {
		why.rule = rules[i].name;
		if (!applies(&why, rules[i].scope))
			continue;
		switch (rules[i].scope) {
		case WHY_PORT:
		case WHY_LOSSLESS:
		case WHY_ARRIVAL: run_port(&why, rules[i].find); break;
		case WHY_QUEUE: run_queues(&why, rules[i].find); break;
		case WHY_GROUP: run_groups(&why, rules[i].find); break;
		}
	}
	sort_worst_first(out);
}

void why_release(struct why_findings *findings)
{
	for (uint32_t i = 0; i < findings->count; i++)
		json_decref(findings->finding[i].evidence);
	json_decref(findings->unsaid.evidence);
	findings->unsaid.evidence = NULL;
	findings->count = 0;
}

const char *why_severity_name(enum why_severity severity)
{
	switch (severity) {
	case WHY_NOTE: return "note";
	case WHY_WARNING: return "warning";
	case WHY_WRONG: break;
	}
	return "wrong";
}

// --- findings -----------------------------------------------------------------------------------

// A place for a finding of that severity: when there is none left, the last of the least severe
// gives its own, or, when none is less severe, the finding stays unsaid.
static struct why_finding *place_for(struct why_findings *all, enum why_severity severity)
{
	uint32_t least = 0;

	if (all->count < WHY_FINDINGS_MAX)
		return &all->finding[all->count++];
	for (uint32_t i = 1; i < all->count; i++) {
		if (all->finding[i].severity <= all->finding[least].severity)
			least = i;
	}
	json_decref(all->unsaid.evidence);
	all->unsaid.evidence = NULL;
	if (all->finding[least].severity >= severity)
		return &all->unsaid;
	all->unsaid = all->finding[least];
	memmove(&all->finding[least], &all->finding[least + 1],
		(all->count - least - 1) * sizeof(all->finding[0]));
	return &all->finding[all->count - 1];
}

struct why_finding *why_add(struct why *why, enum why_severity severity, const char *text, ...)
{
	struct why_finding *finding = place_for(why->out, severity);
	va_list args;

	*finding = (struct why_finding){
		.severity = severity,
		.rule = why->rule,
		.evidence = json_object(),
	};
	snprintf(finding->where, sizeof(finding->where), "%s", why->where);
	va_start(args, text);
	vsnprintf(finding->text, sizeof(finding->text), text, args);
	va_end(args);
	return finding;
}

void why_advise(struct why_finding *finding, const char *text, ...)
{
	va_list args;

	va_start(args, text);
	vsnprintf(finding->advice, sizeof(finding->advice), text, args);
	va_end(args);
}

void why_evidence(struct why_finding *finding, const char *key, uint64_t value)
{
	json_object_set_new(finding->evidence, key, json_integer((json_int_t)value));
}

// --- looking ------------------------------------------------------------------------------------

uint64_t why_number(const json_t *object, const char *key)
{
	const json_int_t value = json_integer_value(json_object_get(object, key));

	return value > 0 ? (uint64_t)value : 0;
}

bool why_true(const json_t *object, const char *key)
{
	return json_is_true(json_object_get(object, key));
}

const char *why_text(const json_t *object, const char *key)
{
	const char *text = json_string_value(json_object_get(object, key));

	return text != NULL ? text : "";
}

const json_t *why_element(const json_t *port, const char *list, uint32_t at)
{
	return json_array_get(json_object_get(port, list), at);
}

static uint64_t grown(const struct why *why, const json_t *before, const json_t *after,
		      const char *key)
{
	uint64_t by;

	return why->elapsed_ns > 0 && rate_difference(before, after, key, &by) ? by : 0;
}

uint64_t why_grown(const struct why *why, const char *list, uint32_t at, const char *key)
{
	return grown(why, why_element(why->port_before, list, at), why_element(why->port, list, at),
		     key);
}

uint64_t why_port_grown(const struct why *why, const char *key)
{
	return grown(why, json_object_get(why->port_before, "stats"),
		     json_object_get(why->port, "stats"), key);
}

static bool has_value(const json_t *list, const json_t *value)
{
	for (size_t i = 0; i < json_array_size(list); i++) {
		if (json_equal(json_array_get(list, i), value))
			return true;
	}
	return false;
}

bool why_same_priority(const json_t *one, const json_t *other)
{
	const json_t *ours = json_object_get(one, "priorities");
	const json_t *theirs = json_object_get(other, "priorities");

	for (size_t i = 0; i < json_array_size(ours); i++) {
		if (has_value(theirs, json_array_get(ours, i)))
			return true;
	}
	return false;
}

uint64_t why_rate(const struct why *why, uint64_t count)
{
	return why->elapsed_ns == 0 ? 0 : rate_per_second(count, 1, why->elapsed_ns);
}

bool why_reaches(uint64_t used, uint64_t all, uint64_t percent)
{
	return all > 0 && used > 0 &&
	       (unsigned __int128)used * 100 >= (unsigned __int128)all * percent;
}

const char *why_count(uint64_t number)
{
	static char texts[8][32];
	static uint32_t turn;
	char *out = texts[turn++ % 8];
	char digits[24];
	const int len = snprintf(digits, sizeof(digits), "%" PRIu64, number);
	size_t at = 0;

	for (int i = 0; i < len; i++) {
		if (i > 0 && (len - i) % 3 == 0)
			out[at++] = ',';
		out[at++] = digits[i];
	}
	out[at] = '\0';
	return out;
}
