// SPDX-License-Identifier: BSD-3-Clause
//
// What operators ask. A wish is stored before it is acted on, and what cannot be stored is refused;
// an answer of 0 means that it will be so, over restarts too, not that it is so already: that is
// what the journal and the plan say.

#include "fabricmgr/net/manager_state.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "fabricmgr/intent_diff.h"

__attribute__((format(printf, 3, 4))) static int refuse(char *why, int error, const char *format,
							...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(why, MANAGER_WHY_BYTES, format, args);
	va_end(args);
	return error;
}

static int refuse_storing(char *why, int error)
{
	return refuse(why, error, "it cannot be stored: %s", strerror(-error));
}

// --- draining -----------------------------------------------------------------------------------

// Neighbours of a switch that are of no part yet come to its part, and to the end of the queue.
static uint32_t add_neighbors(const struct topo *topo, const struct topo_state *state, uint32_t at,
			      uint32_t *part, uint32_t *queue, uint32_t count)
{
	for (uint32_t i = topo->link_first[at]; i < topo->link_first[at + 1]; i++) {
		const uint32_t far = topo_far(topo, i);

		if (part[far] != 0 || !topo_link_up(topo, state, i))
			continue;
		part[far] = part[at];
		queue[count++] = far;
	}
	return count;
}

// Gives all that can be reached from a switch its part; `queue` has room for every switch.
static void fill_part(const struct topo *topo, const struct topo_state *state, uint32_t from,
		      uint32_t *part, uint32_t *queue)
{
	uint32_t count = 1;

	queue[0] = from;
	for (uint32_t i = 0; i < count; i++)
		count = add_neighbors(topo, state, queue[i], part, queue, count);
}

// Numbers the parts of a fabric that are left, [switch_count]; lost switches are in part 0.
static void find_parts(const struct topo *topo, const struct topo_state *state, uint32_t *part,
		       uint32_t *queue)
{
	uint32_t parts = 0;

	for (uint32_t from = 0; from < topo->switch_count; from++) {
		if (part[from] != 0 || state->switch_lost[from] != 0)
			continue;
		part[from] = ++parts;
		fill_part(topo, state, from, part, queue);
	}
}

// The first edge that a change cuts off from another one; TOPO_NONE: none. 0, or -ENOMEM.
static int parted_edge(const struct topo *topo, const struct topo_state *before,
		       const struct topo_state *after, uint32_t *found)
{
	const size_t count = topo->switch_count;
	uint32_t *was = calloc(3 * count + 1, sizeof(*was));
	uint32_t *is, *now_of; // now_of[part before]: the part that its edges are in

	if (was == NULL)
		return -ENOMEM;
	is = was + count;
	now_of = is + count;
	find_parts(topo, before, was, now_of);
	find_parts(topo, after, is, now_of);
	memset(now_of, 0, (count + 1) * sizeof(*now_of));
	*found = TOPO_NONE;
	for (uint32_t i = 0; *found == TOPO_NONE && i < topo->edge_count; i++) {
		const uint32_t at = topo->edge_switch[i];

		if (was[at] == 0)
			continue;
		if (now_of[was[at]] == 0)
			now_of[was[at]] = is[at];
		if (is[at] == 0 || now_of[was[at]] != is[at])
			*found = at;
	}
	free(was);
	return 0;
}

static void set_drained(struct manager_fabric *fabric, uint32_t at, uint32_t link, bool drained)
{
	if (link == TOPO_NONE) {
		fabric->switches[at].drained = drained;
		return;
	}
	fabric->links[link].drained = drained;
	fabric->links[fabric->source.graph.topo.link_peer[link]].drained = drained;
}

// Whether hosts would lose each other. Leaves the object drained when not.
static int try_drain(struct manager *manager, uint32_t at, uint32_t link, bool forced, char *why)
{
	struct manager_fabric *fabric = manager->fabric;
	const struct topo *topo = &fabric->source.graph.topo;
	struct topo_state before;
	uint32_t parted = TOPO_NONE;
	int rc = 0;

	if (!manager_state_make(topo, &before))
		return refuse(why, -ENOMEM, "memory is short");
	manager_find_wanted(manager, fabric);
	topo_state_copy(topo, &fabric->wanted, &before);
	set_drained(fabric, at, link, true);
	manager_find_wanted(manager, fabric);
	if (!forced)
		rc = parted_edge(topo, &before, &fabric->wanted, &parted);
	free(before.link_lost);
	if (rc == 0 && parted == TOPO_NONE)
		return 0;
	set_drained(fabric, at, link, false);
	if (rc < 0)
		return refuse(why, rc, "memory is short");
	return refuse(why, -EPERM, "hosts at %s would be cut off",
		      fabric->source.fabric.switches[parted].name);
}

static int store_drained(struct manager *manager, const char *object, bool drained)
{
	const struct store_row row = { .name = object };

	store_begin(manager->store);
	if (drained)
		store_add(manager->store, STORE_DRAINED, &row);
	else
		store_remove(manager->store, STORE_DRAINED, object);
	return store_commit(manager->store);
}

// A link has two names, that of either end; it is stored by that of the lower number.
static struct label stored_name(const struct source *source, uint32_t at, uint32_t link)
{
	const uint32_t back = link != TOPO_NONE ? source->graph.topo.link_peer[link] : TOPO_NONE;
	struct label label = { .len = 0 };

	if (link != TOPO_NONE)
		return planner_link_name(&source->fabric, &source->graph,
					 link < back ? link : back);
	label_add(&label, source->fabric.switches[at].name);
	return label;
}

int manager_drain(struct manager *manager, const char *object, bool drained, bool forced, char *why)
{
	struct manager_fabric *fabric = manager->fabric;
	struct label name;
	uint32_t at, link;
	bool is_drained;
	int rc = 0;

	why[0] = '\0';
	if (!manager_find_object(&fabric->source, object, &at, &link, why))
		return -ENOENT;
	is_drained = link != TOPO_NONE ? fabric->links[link].drained : fabric->switches[at].drained;
	if (is_drained == drained)
		return 0;
	name = stored_name(&fabric->source, at, link);
	if (drained)
		rc = try_drain(manager, at, link, forced, why);
	if (rc < 0)
		return rc;
	rc = store_drained(manager, name.text, drained);
	set_drained(fabric, at, link, rc < 0 ? is_drained : drained);
	if (rc < 0)
		return refuse_storing(why, rc);
	manager_journal(manager, drained ? JOURNAL_DRAINED : JOURNAL_UNDRAINED, object, "");
	manager_replan(manager);
	return 0;
}

int manager_freeze(struct manager *manager, bool frozen, char *why)
{
	int rc;

	why[0] = '\0';
	if (manager->frozen == frozen)
		return 0;
	store_begin(manager->store);
	store_set_number(manager->store, STORE_FROZEN, frozen);
	rc = store_commit(manager->store);
	if (rc < 0)
		return refuse_storing(why, rc);
	manager->frozen = frozen;
	manager_journal(manager, frozen ? JOURNAL_FROZEN : JOURNAL_THAWED, "", "");
	manager_show_hold(manager);
	manager_replan(manager);
	return 0;
}

// --- intents ------------------------------------------------------------------------------------

// What a reader of an intent says is wrong goes into `why`.
static struct manager_fabric *open_fabric(struct manager *manager, const char *path, char *why)
{
	FILE *errors = fmemopen(why, MANAGER_WHY_BYTES, "w");
	struct manager_fabric *fabric = NULL;

	if (errors == NULL) {
		refuse(why, -ENOMEM, "memory is short");
		return NULL;
	}
	fabric = manager_fabric_open(manager, path, errors);
	fclose(errors);
	why[MANAGER_WHY_BYTES - 1] = '\0';
	return fabric;
}

static int store_proposed(struct manager *manager, const struct manager_fabric *fabric,
			  const char *canary, bool is_file)
{
	store_begin(manager->store);
	if (is_file)
		store_set_text(manager->store, STORE_INTENT_FILE, fabric->text);
	store_set_text(manager->store, STORE_INTENT_PROPOSED, fabric->text);
	store_set_text(manager->store, STORE_CANARY, canary[0] != '\0' ? canary : NULL);
	return store_commit(manager->store);
}

// Takes the fabric over in any case.
static int propose(struct manager *manager, struct manager_fabric *fabric, const char *name,
		   const char *canary, bool is_file, char *why)
{
	int rc = store_proposed(manager, fabric, canary, is_file);

	if (rc < 0) {
		manager_fabric_close(fabric);
		return refuse_storing(why, rc);
	}
	manager->coming = fabric;
	snprintf(manager->canary_wish, sizeof(manager->canary_wish), "%s", canary);
	manager_journal(manager, JOURNAL_INTENT, name,
			canary[0] != '\0' ? "it is planned for one switch first" : "it is planned");
	manager_replan(manager);
	return 0;
}

static int check_quiet(const struct manager *manager, char *why)
{
	why[0] = '\0';
	return manager->coming != NULL ? refuse(why, -EBUSY,
						"another intent is being planned or waits to be "
						"confirmed") :
					 0;
}

int manager_apply(struct manager *manager, const char *path, const char *canary, char *why)
{
	const char *slash = strrchr(path, '/');
	struct manager_fabric *fabric;
	int rc = check_quiet(manager, why);

	if (rc < 0)
		return rc;
	if (canary[0] != '\0' && manager_find(manager, canary) == FABRIC_NONE)
		return refuse(why, -ENOENT, "there is no switch %s", canary);
	fabric = open_fabric(manager, path, why);
	if (fabric == NULL)
		return -EINVAL;
	if (canary[0] != '\0' &&
	    fabric_find_switch(&fabric->source.fabric, canary) == FABRIC_NONE) {
		manager_fabric_close(fabric);
		return refuse(why, -ENOENT, "the new intent has no switch %s", canary);
	}
	return propose(manager, fabric, slash != NULL ? slash + 1 : path, canary, false, why);
}

int manager_reload(struct manager *manager, FILE *errors)
{
	const char *path = manager->options.intent_path;
	char *text = manager_intent_read(path, errors);
	char why[MANAGER_WHY_BYTES] = "";
	struct manager_fabric *fabric;
	char *known = NULL;
	int rc;

	if (text == NULL)
		return -EINVAL;
	rc = store_text(manager->store, STORE_INTENT_FILE, &known);
	if (rc == 0 && known != NULL && strcmp(known, text) == 0) {
		free(known);
		free(text);
		return 0;
	}
	free(known);
	free(text);
	rc = rc == 0 ? check_quiet(manager, why) : rc;
	fabric = rc == 0 ? open_fabric(manager, path, why) : NULL;
	if (rc == 0)
		rc = fabric != NULL ? propose(manager, fabric, path, "", true, why) : -EINVAL;
	if (rc < 0)
		fprintf(errors, "%s%s", why,
			why[0] != '\0' && why[strlen(why) - 1] == '\n' ? "" : "\n");
	return rc;
}

// From then on the proposed intent is for all switches.
static int forget_canary(struct manager *manager, char *why)
{
	int rc;

	store_begin(manager->store);
	store_set_text(manager->store, STORE_CANARY, NULL);
	rc = store_commit(manager->store);
	return rc < 0 ? refuse_storing(why, rc) : 0;
}

int manager_confirm(struct manager *manager, char *why)
{
	int rc;

	why[0] = '\0';
	if (manager->held) {
		manager->confirmed = true;
		manager_journal(manager, JOURNAL_CONFIRMED, "the loss", "");
	} else if (manager->canary[0] != '\0') {
		rc = forget_canary(manager, why);
		if (rc < 0)
			return rc;
		manager_journal(manager, JOURNAL_CONFIRMED, "the intent", "");
		manager->canary[0] = manager->canary_wish[0] = '\0';
	} else {
		return refuse(why, -EINVAL, "nothing waits to be confirmed");
	}
	manager_show_hold(manager);
	manager_replan(manager);
	return 0;
}

static int forget_proposed(struct manager *manager, char *why)
{
	int rc;

	store_begin(manager->store);
	store_set_text(manager->store, STORE_INTENT_PROPOSED, NULL);
	store_set_text(manager->store, STORE_CANARY, NULL);
	rc = store_commit(manager->store);
	return rc < 0 ? refuse_storing(why, rc) : 0;
}

static int restore_before(struct manager *manager, char *why)
{
	struct manager_fabric *fabric = NULL;
	FILE *errors;
	char *text;
	int rc = store_text(manager->store, STORE_INTENT_BEFORE, &text);

	if (rc < 0 || text == NULL)
		return rc < 0 ? refuse_storing(why, rc) :
				refuse(why, -ENOENT, "there was no intent before");
	errors = fmemopen(why, MANAGER_WHY_BYTES, "w");
	if (errors != NULL) {
		fabric = manager_fabric_restore(manager, text, errors);
		fclose(errors);
	}
	free(text);
	if (fabric == NULL)
		return -EINVAL;
	return propose(manager, fabric, "the one before", "", false, why);
}

int manager_rollback(struct manager *manager, char *why)
{
	int rc;

	why[0] = '\0';
	if (manager->coming == NULL) {
		rc = restore_before(manager, why);
	} else {
		rc = forget_proposed(manager, why);
		if (rc < 0)
			return rc;
		manager_forget_coming(manager);
		// The canary gets what the intent in force has for it.
		manager->is_stale = true;
		manager_replan(manager);
	}
	if (rc == 0)
		manager_journal(manager, JOURNAL_ROLLED_BACK, "the intent", "an operator asked");
	return rc;
}

int manager_diff(struct manager *manager, const char *path, FILE *out, char *why)
{
	struct manager_fabric *fabric = open_fabric(manager, path, why);

	if (fabric == NULL)
		return -EINVAL;
	intent_diff(&manager->fabric->source, &fabric->source, out);
	manager_fabric_close(fabric);
	return 0;
}
