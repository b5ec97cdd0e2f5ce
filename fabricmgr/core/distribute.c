// SPDX-License-Identifier: BSD-3-Clause
//
// One record for each switch, which its calls change; review() then counts anew whether it is
// waited for, and conclude() looks whether that was the last one. What a switch is to do follows
// from its record alone (distribute_next()), so nothing that is sent needs to be remembered.

#include "fabricmgr/core/distribute.h"

#include <errno.h>
#include <limits.h>

#define MS 1000000ull
#define NOBODY UINT32_MAX

static const struct generation none;

static int positive(int error)
{
	return error >= 0 ? error : error == INT_MIN ? INT_MAX : -error;
}

// It runs other tables than it is to run, whatever their name.
static bool affected(const struct distribute_switch *s)
{
	return s->target.number != 0 &&
	       (s->running.number == 0 || s->running.hash != s->target.hash);
}

static bool has_prepared(const struct distribute_switch *s)
{
	return generation_equal(&s->prepared, &s->target);
}

static bool is_waited(const struct distributor *d, const struct distribute_switch *s)
{
	if (!d->waiting)
		return false;
	if (s->life == DISTRIBUTE_UNSEEN)
		return d->patient;
	if (s->life != DISTRIBUTE_THERE || s->failed || s->slow || !affected(s))
		return false;
	return d->decided || !has_prepared(s);
}

static void review(struct distributor *d, struct distribute_switch *s)
{
	const bool waited = is_waited(d, s);

	d->waited += (uint32_t)waited - (uint32_t)s->waited;
	s->waited = waited;
}

static void review_all(struct distributor *d)
{
	for (uint32_t i = 0; i < d->switch_count; i++)
		review(d, &d->at[i]);
}

static void conclude(struct distributor *d, ns_t now)
{
	if (distribute_wants_decision(d))
		d->news = true;
	if (d->decided && d->number != 0 && d->waited == 0 && d->done.v == 0) {
		// Who comes back from now on holds nobody up.
		d->waiting = false;
		d->done = now;
		d->news = true;
	}
}

void distribute_init(struct distributor *d, uint64_t epoch, struct distribute_switch *at,
		     uint32_t switch_count)
{
	*d = (struct distributor){
		.epoch = epoch,
		.switch_count = switch_count,
		.at = at,
		.decided = true,
		.patient = true,
		.refused_by = NOBODY,
	};
	for (uint32_t i = 0; i < switch_count; i++)
		at[i] = (struct distribute_switch){ .life = DISTRIBUTE_UNSEEN };
}

void distribute_restore(struct distributor *d, uint64_t number, const uint64_t *hash)
{
	d->number = number;
	d->used = number;
	d->good = true;
	for (uint32_t i = 0; i < d->switch_count; i++) {
		struct distribute_switch *s = &d->at[i];

		s->target = (struct generation){ d->epoch, number, hash[i] };
		s->good_hash = hash[i];
	}
	review_all(d);
}

// All switches have time until `due`.
static void begin_step(struct distributor *d, ns_t due, ns_t now)
{
	d->waiting = true;
	d->due = due;
	review_all(d);
	d->news = true;
	conclude(d, now);
}

static ns_t step_from(ns_t now)
{
	return ns_add(now, DISTRIBUTE_STEP_MS * MS);
}

static void begin_target(struct distribute_switch *s, struct generation target)
{
	s->target = target;
	s->failed = false;
	s->error = 0;
}

int distribute_plan(struct distributor *d, const uint64_t *hash, ns_t now)
{
	// One plan after the other, and none decided: that must end.
	const ns_t due = d->decided ? step_from(now) : ns_min(d->due, step_from(now));

	if (d->decided && d->waited != 0)
		return -EBUSY;
	d->number = ++d->used;
	d->decided = false;
	d->began = now;
	d->done = (ns_t){ 0 };
	d->refused_by = NOBODY;
	d->refused_error = 0;
	for (uint32_t i = 0; i < d->switch_count; i++)
		begin_target(&d->at[i], (struct generation){ d->epoch, d->number, hash[i] });
	begin_step(d, due, now);
	return 0;
}

// Back to the last that was decided, which may be none: under a new number, because what some have
// prepared meanwhile is later than the one that it had.
static void fail(struct distributor *d, uint32_t by, int error, ns_t now)
{
	d->refused_by = by;
	d->refused_error = error;
	d->decided = true;
	d->patient = false;
	d->number = d->good ? ++d->used : 0;
	for (uint32_t i = 0; i < d->switch_count; i++) {
		struct distribute_switch *s = &d->at[i];

		begin_target(s, d->good ? (struct generation){ d->epoch, d->number, s->good_hash } :
					  none);
	}
	begin_step(d, step_from(now), now);
}

bool distribute_news(struct distributor *d)
{
	const bool news = d->news;

	d->news = false;
	return news;
}

// --- calls of switches --------------------------------------------------------------------------

bool distribute_knows(const struct distributor *d, uint32_t at, uint64_t boot)
{
	return at < d->switch_count && d->at[at].life != DISTRIBUTE_UNSEEN &&
	       d->at[at].boot == boot;
}

static struct distribute_switch *caller(struct distributor *d, uint32_t at, uint64_t boot)
{
	return distribute_knows(d, at, boot) ? &d->at[at] : NULL;
}

static void hear(struct distribute_switch *s, ns_t now)
{
	s->life = DISTRIBUTE_THERE;
	s->heard = now;
}

// What a call says of its switch. What is late is not believed: that it runs less than it has said
// before, and that it has not prepared what it had said it has.
static void take(struct distribute_switch *s, const struct generation *running,
		 const struct generation *prepared)
{
	const bool had_prepared = has_prepared(s);

	if (generation_before(running, &s->running))
		return;
	if (!generation_equal(running, &s->running))
		s->slow = false;
	s->running = *running;
	if (!had_prepared)
		s->prepared = *prepared;
	if (!generation_before(&s->running, &s->prepared))
		s->prepared = none;
	if (!had_prepared && has_prepared(s))
		s->slow = false;
	if (!affected(s))
		s->whole = false;
}

// A generation that this manager cannot have followed or given.
static bool is_beyond(const struct distributor *d, const struct generation *generation)
{
	return generation->epoch > d->epoch ||
	       (generation->epoch == d->epoch && generation->number > d->used);
}

bool distribute_hello(struct distributor *d, uint32_t at, uint64_t boot,
		      const struct generation *running, const struct generation *prepared, ns_t now,
		      const char **why)
{
	struct distribute_switch *s = at < d->switch_count ? &d->at[at] : NULL;

	running = running != NULL ? running : &none;
	prepared = prepared != NULL ? prepared : &none;
	*why = "";
	if (s == NULL)
		*why = "there is no such switch";
	else if (is_beyond(d, running) || is_beyond(d, prepared))
		*why = "it follows a manager that came after this one";
	else if (s->life == DISTRIBUTE_THERE && boot < s->boot)
		*why = "a later run of it is there";
	if (**why != '\0')
		return false;
	if (s->life == DISTRIBUTE_UNSEEN || boot != s->boot) {
		s->boot = boot;
		s->running = none;
		s->prepared = none;
		s->whole = false;
	}
	s->failed = false;
	s->error = 0;
	hear(s, now);
	take(s, running, prepared);
	review(d, s);
	conclude(d, now);
	return true;
}

enum distribute_step distribute_fetch(struct distributor *d, uint32_t at, uint64_t boot,
				      const struct generation *running,
				      const struct generation *prepared, ns_t now,
				      struct generation *generation)
{
	struct distribute_switch *s = caller(d, at, boot);

	running = running != NULL ? running : &none;
	prepared = prepared != NULL ? prepared : &none;
	*generation = none;
	if (s == NULL || is_beyond(d, running) || is_beyond(d, prepared))
		return DISTRIBUTE_NOTHING;
	hear(s, now);
	take(s, running, prepared);
	review(d, s);
	conclude(d, now);
	return distribute_next(d, at, generation);
}

static enum distribute_step step_of_unaffected(const struct distributor *d,
					       const struct distribute_switch *s,
					       struct generation *generation)
{
	// A late call may have said that it runs these tables: the target is not taken from it.
	if (s->prepared.number != 0 && !has_prepared(s)) {
		*generation = s->prepared;
		return DISTRIBUTE_FORGET;
	}
	// A new name can wait until those that need more have it.
	if (s->target.number == 0 || !d->decided || d->done.v == 0 ||
	    generation_equal(&s->running, &s->target))
		return DISTRIBUTE_NOTHING;
	*generation = s->target;
	return DISTRIBUTE_COMMIT;
}

enum distribute_step distribute_next(const struct distributor *d, uint32_t at,
				     struct generation *generation)
{
	const struct distribute_switch *s = at < d->switch_count ? &d->at[at] : NULL;

	*generation = none;
	// Before the first plan nothing is known of what it has prepared.
	if (s == NULL || s->life == DISTRIBUTE_UNSEEN || s->failed || d->used == 0)
		return DISTRIBUTE_NOTHING;
	if (!affected(s))
		return step_of_unaffected(d, s, generation);
	if (has_prepared(s) && !d->decided)
		return DISTRIBUTE_NOTHING;
	*generation = s->target;
	return has_prepared(s) ? DISTRIBUTE_COMMIT : DISTRIBUTE_PREPARE;
}

static void take_done(struct distribute_switch *s, enum distribute_step step,
		      const struct generation *generation)
{
	switch (step) {
	case DISTRIBUTE_NOTHING: break;
	case DISTRIBUTE_PREPARE: take(s, &s->running, generation); break;
	case DISTRIBUTE_COMMIT: take(s, generation, &none); break;
	case DISTRIBUTE_FORGET:
		if (generation_equal(generation, &s->prepared))
			s->prepared = none;
		break;
	}
}

// What it lacks it can be given, but only once: it may be unable to keep anything.
static void take_error(struct distributor *d, uint32_t at, enum distribute_step step,
		       const struct generation *generation, int error, ns_t now)
{
	struct distribute_switch *s = &d->at[at];

	if (!generation_equal(generation, step == DISTRIBUTE_FORGET ? &s->prepared : &s->target))
		return;
	if (!d->decided && step == DISTRIBUTE_PREPARE && distribute_error_is_of_tables(error)) {
		fail(d, at, error, now);
		return;
	}
	if (step != DISTRIBUTE_FORGET)
		s->prepared = none;
	if ((error == ESTALE || error == ENOENT) && !s->whole)
		s->whole = true;
	else
		s->failed = true;
	s->error = s->failed ? error : 0;
	s->retry = ns_add(now, DISTRIBUTE_RETRY_MS * MS);
}

bool distribute_ack(struct distributor *d, uint32_t at, uint64_t boot, enum distribute_step step,
		    const struct generation *generation, int error, ns_t now)
{
	struct distribute_switch *s = caller(d, at, boot);

	if (s == NULL || is_beyond(d, generation))
		return distribute_news(d);
	hear(s, now);
	if (error == 0)
		take_done(s, step, generation);
	else
		take_error(d, at, step, generation, positive(error), now);
	review(d, s);
	conclude(d, now);
	return distribute_news(d);
}

void distribute_heard(struct distributor *d, uint32_t at, uint64_t boot, ns_t now)
{
	struct distribute_switch *s = caller(d, at, boot);

	if (s == NULL)
		return;
	hear(s, now);
	review(d, s);
	conclude(d, now);
}

// --- time and decision --------------------------------------------------------------------------

// Who has not come so far is not waited for next time either.
static void give_up_waiting(struct distributor *d)
{
	for (uint32_t i = 0; i < d->switch_count; i++)
		d->at[i].slow |= d->at[i].waited && d->at[i].life == DISTRIBUTE_THERE;
	d->waiting = false;
	d->patient = false;
	review_all(d);
}

// One that had no room or memory may have some by now. Nobody waits for that.
static void ask_again(struct distributor *d, struct distribute_switch *s, ns_t now, ns_t *next)
{
	if (!s->failed || distribute_error_is_of_tables(s->error))
		return;
	if (ns_before(now, s->retry)) {
		*next = ns_min(*next, s->retry);
		return;
	}
	s->failed = false;
	s->slow = true;
	d->news = true;
	review(d, s);
}

bool distribute_tick(struct distributor *d, ns_t now, ns_t *next)
{
	bool changed = false;

	*next = NS_NEVER;
	for (uint32_t i = 0; i < d->switch_count; i++) {
		struct distribute_switch *s = &d->at[i];
		const ns_t silent = ns_add(s->heard, DISTRIBUTE_SILENCE_MS * MS);

		if (s->life != DISTRIBUTE_THERE)
			continue;
		if (ns_before(now, silent)) {
			*next = ns_min(*next, silent);
			ask_again(d, s, now, next);
			continue;
		}
		s->life = DISTRIBUTE_HEADLESS;
		changed = true;
		review(d, s);
	}
	if (d->waited != 0 && !ns_before(now, d->due))
		give_up_waiting(d);
	if (d->waited != 0)
		*next = ns_min(*next, d->due);
	conclude(d, now);
	return distribute_news(d) || changed;
}

bool distribute_wants_decision(const struct distributor *d)
{
	if (d->decided || d->waited != 0)
		return false;
	// With nobody there, nobody can say that the tables are wrong.
	for (uint32_t i = 0; i < d->switch_count; i++) {
		if (d->at[i].life == DISTRIBUTE_THERE)
			return true;
	}
	return false;
}

void distribute_decided(struct distributor *d, ns_t now)
{
	if (!distribute_wants_decision(d))
		return;
	d->decided = true;
	d->patient = false;
	d->good = true;
	for (uint32_t i = 0; i < d->switch_count; i++)
		d->at[i].good_hash = d->at[i].target.hash;
	begin_step(d, step_from(now), now);
}

bool distribute_everywhere(const struct distributor *d, const uint8_t *lost)
{
	for (uint32_t i = 0; i < d->switch_count; i++) {
		if (lost != NULL && lost[i] != 0)
			continue;
		if (d->at[i].target.number == 0 ||
		    !generation_equal(&d->at[i].running, &d->at[i].target))
			return false;
	}
	return true;
}

bool distribute_error_is_of_tables(int error)
{
	const int e = positive(error);

	return e == EINVAL || e == EBADMSG || e == EPROTONOSUPPORT || e == ENOTSUP || e == E2BIG;
}
