// SPDX-License-Identifier: BSD-3-Clause
//
// Intents come and go while the fabric lives. One is read, planned beside the one in force, and
// takes its place when there is a proven plan of it; what is known of switches and links is carried
// over by name. Texts are stored, so that a restart does not depend on a file that somebody has
// changed meanwhile; the first line of a stored text is its form ("dot:", "intent:").

#include "fabricmgr/net/manager_state.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "sys/file_replace.h"

enum { INTENT_BYTES_MAX = 256 << 20, FORM_BYTES = 32 };

// --- texts --------------------------------------------------------------------------------------

// What stands before the name of the file: "dot:", or "" of an intent.
static size_t form_length(const char *name)
{
	static const char *const forms[] = { "ibnetdiscover:", "dot:", "json:", "intent:" };

	for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]); i++) {
		if (strncmp(name, forms[i], strlen(forms[i])) == 0)
			return strlen(forms[i]);
	}
	return 0;
}

char *manager_intent_read(const char *name, FILE *errors)
{
	const size_t form = form_length(name);
	FILE *file = fopen(name + form, "re");
	struct stat st;
	char *text = NULL;
	size_t bytes = 0;

	if (file != NULL && fstat(fileno(file), &st) == 0 && S_ISREG(st.st_mode) &&
	    st.st_size < INTENT_BYTES_MAX)
		text = malloc(form + 1 + (size_t)st.st_size + 1);
	if (text != NULL) {
		memcpy(text, name, form);
		text[form] = '\n';
		bytes = fread(text + form + 1, 1, (size_t)st.st_size, file);
		text[form + 1 + bytes] = '\0';
	} else {
		fprintf(errors, "%s: %s\n", name + form,
			file == NULL ? strerror(errno) : "it is no file that can be read");
	}
	if (file != NULL)
		fclose(file);
	return text;
}

// --- reading ------------------------------------------------------------------------------------

static bool make_arrays(struct manager_fabric *fabric)
{
	const struct topo *topo = &fabric->source.graph.topo;
	const size_t count = topo->switch_count + 1u;

	fabric->links = calloc(topo->link_count + 1u, sizeof(*fabric->links));
	fabric->switches = calloc(count, sizeof(*fabric->switches));
	fabric->at = calloc(count, sizeof(*fabric->at));
	fabric->stored = calloc(count, sizeof(*fabric->stored));
	if (fabric->links == NULL || fabric->switches == NULL || fabric->at == NULL ||
	    fabric->stored == NULL || !manager_state_make(topo, &fabric->state) ||
	    !manager_state_make(topo, &fabric->wanted) ||
	    !manager_state_make(topo, &fabric->good) || !manager_state_make(topo, &fabric->refused))
		return false;
	topo_state_copy(topo, &fabric->source.graph.state, &fabric->state);
	for (uint32_t i = 0; i < topo->link_count; i++) {
		fabric->links[i].up = true;
		damping_init(&fabric->links[i].damping, true, (ns_t){ 0 });
	}
	return true;
}

struct manager_fabric *manager_fabric_open(struct manager *manager, const char *name, FILE *errors)
{
	struct manager_fabric *fabric = calloc(1, sizeof(*fabric));

	if (fabric == NULL) {
		fputs("memory is short\n", errors);
		return NULL;
	}
	fabric->serial = ++manager->serial;
	fabric->text = manager_intent_read(name, errors);
	if (fabric->text != NULL && source_open(&fabric->source, name, errors) == 0) {
		if (make_arrays(fabric))
			return fabric;
		fputs("memory is short\n", errors);
	}
	manager_fabric_close(fabric);
	return NULL;
}

// Through a file, which is what readers of intents take.
struct manager_fabric *manager_fabric_restore(struct manager *manager, const char *text,
					      FILE *errors)
{
	const char *line = strchr(text, '\n');
	struct file_replace replace;
	char name[FORM_BYTES + MANAGER_PATH_BYTES];
	char path[MANAGER_PATH_BYTES];
	int rc;

	snprintf(path, sizeof(path), "%s/intent.cfg", manager->options.state_dir);
	rc = line != NULL ? file_replace_open(&replace, path) : -EBADMSG;
	if (rc == 0) {
		fputs(line + 1, replace.file);
		rc = file_replace_finish(&replace);
	}
	if (rc < 0) {
		fprintf(errors, "%s: %s\n", path, strerror(-rc));
		return NULL;
	}
	snprintf(name, sizeof(name), "%.*s%s", (int)(line - text), text, path);
	return manager_fabric_open(manager, name, errors);
}

void manager_fabric_close(struct manager_fabric *fabric)
{
	if (fabric == NULL)
		return;
	for (uint32_t i = 0; fabric->switches != NULL && i < fabric->source.fabric.switch_count;
	     i++) {
		switch_tables_drop(&fabric->switches[i].tables);
		switch_tables_drop(&fabric->switches[i].good);
	}
	free(fabric->refused.link_lost);
	free(fabric->good.link_lost);
	free(fabric->wanted.link_lost);
	free(fabric->state.link_lost);
	free(fabric->stored);
	free(fabric->at);
	free(fabric->switches);
	free(fabric->links);
	free(fabric->text);
	source_close(&fabric->source);
	free(fabric);
}

// --- from one to the next -----------------------------------------------------------------------

static void inherit_switch(struct manager_fabric *fabric, uint32_t at,
			   const struct manager_fabric *from, uint32_t was)
{
	struct manager_switch *to = &fabric->switches[at];
	struct switch_tables tables = to->tables;
	struct switch_tables good = to->good;

	*to = from->switches[was];
	to->tables = tables;
	to->good = good;
	switch_tables_copy(&to->tables, &from->switches[was].tables);
	switch_tables_copy(&to->good, &from->switches[was].good);
	fabric->at[at] = from->at[was];
	fabric->stored[at] = from->stored[was];
}

// The same port that leads to the same port, by names; TOPO_NONE: there was none.
static uint32_t same_link(const struct manager_fabric *fabric, uint32_t link,
			  const struct manager_fabric *from)
{
	const struct topo *topo = &fabric->source.graph.topo;
	const struct topo *old = &from->source.graph.topo;
	const uint32_t back = topo->link_peer[link];
	const struct fabric_switch *switches = fabric->source.fabric.switches;
	const uint32_t at = fabric_find_switch(&from->source.fabric,
					       switches[topo->link_switch[link]].name);
	const uint32_t far = fabric_find_switch(&from->source.fabric,
						switches[topo->link_switch[back]].name);
	uint32_t was;

	if (at == FABRIC_NONE || far == FABRIC_NONE)
		return TOPO_NONE;
	was = topo_link_at(old, at, topo->link_port[link]);
	if (was == TOPO_NONE || topo_far(old, was) != far ||
	    old->link_port[old->link_peer[was]] != topo->link_port[back])
		return TOPO_NONE;
	return was;
}

// A link that there was not before is as its switch said of the port, if it has said anything.
static void begin_link(struct manager_fabric *fabric, uint32_t link)
{
	const struct topo *topo = &fabric->source.graph.topo;
	const struct manager_ports *ports = &fabric->switches[topo->link_switch[link]].ports;
	const uint32_t port = topo->link_port[link];

	if (port >= CONFIG_PORT_MAX || (ports->said[port / 64] >> port % 64 & 1) == 0)
		return;
	fabric->links[link].known = true;
	fabric->links[link].up = ports->up[port / 64] >> port % 64 & 1;
	fabric->links[link].damping.up = fabric->links[link].up;
}

void manager_fabric_inherit(struct manager_fabric *fabric, const struct manager_fabric *from)
{
	const struct topo *topo = &fabric->source.graph.topo;

	for (uint32_t i = 0; i < topo->switch_count; i++) {
		const uint32_t was = fabric_find_switch(&from->source.fabric,
							fabric->source.fabric.switches[i].name);

		if (was != FABRIC_NONE)
			inherit_switch(fabric, i, from, was);
	}
	for (uint32_t i = 0; i < topo->link_count; i++) {
		const uint32_t was = same_link(fabric, i, from);

		if (was != TOPO_NONE)
			fabric->links[i] = from->links[was];
		else
			begin_link(fabric, i);
	}
}

static int compare_exceptions(const void *a, const void *b)
{
	const struct turn_exception *x = a;
	const struct turn_exception *y = b;

	if (x->in != y->in)
		return x->in < y->in ? -1 : 1;
	if (x->out != y->out)
		return x->out < y->out ? -1 : 1;
	return (int)x->lane - (int)y->lane;
}

// `now_of` [old links] is the number that a link has now, TOPO_NONE: it is gone.
static void map_exceptions(struct turn_rules *rules, const uint32_t *now_of)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < rules->exception_count; i++) {
		struct turn_exception exception = rules->exception[i];

		exception.out = now_of[exception.out];
		if (exception.in != TOPO_NONE && now_of[exception.in] == TOPO_NONE)
			continue;
		if (exception.in != TOPO_NONE)
			exception.in = now_of[exception.in];
		if (exception.out != TOPO_NONE)
			rules->exception[count++] = exception;
	}
	rules->exception_count = count;
	if (count > 0)
		qsort(rules->exception, count, sizeof(*rules->exception), compare_exceptions);
}

// A link that there was not has no class of its own: it has no turns.
int manager_map_rules(const struct manager_fabric *fabric, const struct manager_fabric *from,
		      const struct turn_rules *rules, struct arena *keep, struct turn_rules *out)
{
	const struct topo *topo = &fabric->source.graph.topo;
	const uint32_t old_count = from->source.graph.topo.link_count;
	uint32_t *now_of = malloc((old_count + 1u) * sizeof(*now_of));
	struct turn_rules sized = *rules;
	uint8_t *classes = calloc(topo->link_count + 1u, 1);
	int rc = -ENOMEM;

	for (uint32_t i = 0; now_of != NULL && i < old_count; i++)
		now_of[i] = TOPO_NONE;
	for (uint32_t i = 0; now_of != NULL && classes != NULL && i < topo->link_count; i++) {
		const uint32_t was = same_link(fabric, i, from);

		if (was == TOPO_NONE)
			continue;
		now_of[was] = i;
		classes[i] = rules->link_class[was];
	}
	sized.link_class = classes;
	if (now_of != NULL && classes != NULL)
		rc = turn_rules_copy(topo, &sized, keep, out);
	if (rc == 0)
		map_exceptions(out, now_of);
	free(now_of);
	free(classes);
	return rc;
}

int manager_map_turns(const struct manager_fabric *fabric, struct turns_in_force *turns,
		      const struct manager_fabric *from, const struct turns_in_force *rules)
{
	const uint32_t count = turns_count(rules, &from->source.graph.topo);
	int rc = 0;

	turns->count = 0;
	turns->has_proposed = false;
	turns->partly = rules->partly;
	for (uint32_t i = 0; rc == 0 && i < count; i++) {
		arena_release(&turns->keep[i], 0);
		rc = manager_map_rules(fabric, from, &rules->rules[i], &turns->keep[i],
				       &turns->rules[i]);
		turns->count += rc == 0;
	}
	return rc;
}

static int store_intents(struct manager *manager)
{
	store_begin(manager->store);
	store_set_text(manager->store, STORE_INTENT_BEFORE, manager->fabric->text);
	store_set_text(manager->store, STORE_INTENT, manager->coming->text);
	store_set_text(manager->store, STORE_INTENT_PROPOSED, NULL);
	store_set_text(manager->store, STORE_CANARY, NULL);
	return store_commit(manager->store);
}

void manager_show_fabric(struct manager *manager)
{
	const struct manager_fabric *fabric = manager->fabric;

	manager->view.source = &fabric->source;
	manager->view.serial = fabric->serial;
	manager->view.links = fabric->links;
	manager->view.switches = fabric->switches;
	manager->view.state = &fabric->state;
}

// The thread may be at it: it is released when that is idle.
static void bury(struct manager *manager, struct manager_fabric *fabric)
{
	fabric->next = manager->gone;
	manager->gone = fabric;
}

static void swap_turns(struct manager *manager)
{
	const struct turns_in_force turns = manager->turns;

	manager->turns = manager->coming_turns;
	manager->coming_turns = turns;
}

int manager_switch_over(struct manager *manager)
{
	struct distributor *d = &manager->distributor;
	struct manager_fabric *old = manager->fabric;
	const int rc = store_intents(manager);

	if (rc < 0)
		return rc;
	swap_turns(manager);
	// Once more: something may have been said while the plan was made.
	manager_fabric_inherit(manager->coming, old);
	manager->fabric = manager->coming;
	manager->coming = NULL;
	bury(manager, old);
	manager->is_fresh_intent = true;
	manager->good_planner = NULL;
	manager->canary_wish[0] = manager->canary[0] = '\0';
	manager_show_fabric(manager);
	// Who is waited for is counted anew by the plan that follows.
	d->at = manager->fabric->at;
	d->switch_count = manager->fabric->source.fabric.switch_count;
	d->waiting = false;
	d->waited = 0;
	for (uint32_t i = 0; i < d->switch_count; i++)
		d->at[i].waited = false;
	manager->damping_due = (ns_t){ 0 };
	manager_replan(manager);
	return 0;
}

void manager_forget_coming(struct manager *manager)
{
	if (manager->coming != NULL)
		bury(manager, manager->coming);
	manager->coming = NULL;
	// If that cannot be stored, the next manager proposes it again, and it waits to be
	// confirmed.
	store_begin(manager->store);
	store_set_text(manager->store, STORE_INTENT_PROPOSED, NULL);
	store_set_text(manager->store, STORE_CANARY, NULL);
	store_commit(manager->store);
	manager->canary_wish[0] = manager->canary[0] = '\0';
	manager_show_hold(manager);
}
