// SPDX-License-Identifier: BSD-3-Clause
//
// Going back is a change like any other, but forced: that it may drop packets was known to whoever
// asked for a way back.

#include "dataplane/config_change.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "dataplane/diff_json.h"
#include "dataplane/live.h"
#include "dataplane/managed.h"
#include "sys/log.h"
#include "sys/text_json.h"

// A log is read by people; all of it is in the answer. What a fabric decides is on the switch.
enum { LOGGED_MAX = 1000, LOGGED_FABRIC_MAX = 20 };

static const char *name_of(const struct config_changer *changer)
{
	return changer->in->config->sw.name;
}

static void stop_waiting(struct config_changer *changer)
{
	evtimer_del(changer->timer);
	free(changer->before);
	changer->before = NULL;
}

static void on_timer(evutil_socket_t fd, short what, void *arg)
{
	struct config_changer *changer = arg;

	if (changer->before != NULL)
		config_changer_go_back(changer, "nobody confirmed the change");
}

int config_changer_open(struct config_changer *changer, struct event_base *base,
			struct workers *workers, struct instance *in)
{
	*changer = (struct config_changer){ .workers = workers, .in = in };
	changer->timer = evtimer_new(base, on_timer, changer);
	return changer->timer != NULL ? 0 : -ENOMEM;
}

void config_changer_close(struct config_changer *changer)
{
	if (changer->timer != NULL)
		event_free(changer->timer);
	free(changer->before);
	*changer = (struct config_changer){ 0 };
}

uint32_t config_changer_waits(const struct config_changer *changer)
{
	struct timeval end = { 0 };
	struct timeval now;

	if (changer->before == NULL)
		return 0;
	evtimer_pending(changer->timer, &end);
	evutil_gettimeofday(&now, NULL);
	return end.tv_sec > now.tv_sec ? (uint32_t)(end.tv_sec - now.tv_sec) : 1;
}

bool config_changer_confirm(struct config_changer *changer, const char *who)
{
	if (config_changer_waits(changer) == 0)
		return false;
	log_info("%s: %s: the change is confirmed", name_of(changer), who);
	stop_waiting(changer);
	return true;
}

int config_changer_go_back(struct config_changer *changer, const char *why)
{
	struct instance *in = changer->in;
	struct live_plan *plan = NULL;
	struct lines lines;
	int rc = -ENOMEM;

	if (lines_open(&lines)) {
		rc = live_prepare(changer->workers, in, changer->before, in->path, lines.out,
				  &plan);
		if (rc == 0)
			rc = live_apply(plan, true, lines.out);
		if (rc != 0)
			live_discard(plan);
		lines_log(&lines);
		lines_close(&lines);
	}
	if (rc == 0) {
		in->file_hash = changer->before_hash;
		log_warn("%s: %s: the configuration before it is back", name_of(changer), why);
	} else {
		log_err("%s: %s, but there is no way back: %s", name_of(changer), why,
			strerror(-rc));
	}
	stop_waiting(changer);
	return rc;
}

// --- one change -------------------------------------------------------------------------------

static void log_change(struct config_changer *changer, const struct config_change *change,
		       const json_t *changes)
{
	const size_t count = json_array_size(changes);
	const size_t most = change->by_fabric ? LOGGED_FABRIC_MAX : LOGGED_MAX;

	for (size_t i = 0; i < count && i < most; i++)
		log_whole(LOG_LEVEL_INFO, "%s: %s: %s", name_of(changer), change->who,
			  json_string_value(json_array_get(changes, i)));
	if (count > most)
		log_info("%s: %s: and %zu changes more", name_of(changer), change->who,
			 count - most);
}

static void list_drops(const struct live_plan *plan, json_t *drops)
{
	json_array_clear(drops);
	for (uint32_t i = 0; i < live_drop_count(plan); i++) {
		const char *drop = live_drop(plan, i);

		json_array_append_new(drops, text_json(drop, strlen(drop)));
	}
}

// What a change goes back to, with the timer that brings it there: all of it before the change is
// made, so that none is without. NULL when memory is short.
static struct sw_config *keep_way_back(struct config_changer *changer, uint32_t seconds)
{
	const struct timeval time = { .tv_sec = seconds };
	struct sw_config *before = malloc(sizeof(*before));

	if (before == NULL || evtimer_add(changer->timer, &time) != 0) {
		free(before);
		return NULL;
	}
	*before = *changer->in->written;
	return before;
}

// Applies a plan unless it drops what it may not. Takes the plan when it returns 0.
static int apply_plan(const struct config_change *change, struct live_plan *plan, json_t *drops,
		      FILE *errors)
{
	int rc = -EBUSY;

	if (change->request->force || json_array_size(drops) == 0)
		rc = live_apply(plan, change->request->force, errors);
	if (rc == -EBUSY)
		list_drops(plan, drops);
	return rc;
}

static int apply(struct config_changer *changer, const struct config_change *change,
		 struct live_plan *plan, const json_t *changes, json_t *drops, FILE *errors)
{
	const uint32_t seconds = change->request->confirm_s;
	struct sw_config *before = NULL;
	int rc = 0;

	if (seconds > 0) {
		before = keep_way_back(changer, seconds);
		rc = before != NULL ? 0 : -ENOMEM;
	}
	if (rc == 0)
		rc = apply_plan(change, plan, drops, errors);
	if (rc != 0) {
		evtimer_del(changer->timer);
		free(before);
		return rc;
	}
	if (before != NULL) {
		changer->before = before;
		changer->before_hash = changer->in->file_hash;
	}
	changer->in->file_hash = change->file_hash;
	log_change(changer, change, changes);
	return 0;
}

int config_change(struct config_changer *changer, const struct config_change *change,
		  json_t **changes, json_t **drops, FILE *errors)
{
	struct instance *in = changer->in;
	struct live_plan *plan = NULL;
	int rc;

	*drops = json_array();
	*changes = diff_json(in->written, change->config);
	if (*changes == NULL || *drops == NULL)
		return -ENOMEM;
	if (!change->request->dry_run && !change->by_fabric && config_changer_waits(changer) > 0)
		return -EAGAIN;
	if (json_array_size(*changes) == 0) {
		if (!change->request->dry_run)
			in->file_hash = change->file_hash;
		return 0;
	}
	rc = change->by_fabric ? 0 : managed_judge(in, change->config, errors);
	if (rc == 0)
		rc = live_prepare(changer->workers, in, change->config, in->path, errors, &plan);
	if (rc != 0)
		return rc;
	list_drops(plan, *drops);
	if (!change->request->dry_run)
		rc = apply(changer, change, plan, *changes, *drops, errors);
	if (rc != 0 || change->request->dry_run)
		live_discard(plan);
	return rc;
}
