// SPDX-License-Identifier: BSD-3-Clause
//
// From what switches say to a state to plan for: links as their transmitting ends report them,
// damped, drained and ignored ones taken out, dead switches found (core/deaths.h). Half a cable is
// none, so both directions of one are always lost together: the second report of a cut changes
// nothing.

#include "fabricmgr/net/manager_state.h"

#include <stdlib.h>
#include <string.h>

#include "fabricmgr/core/deaths.h"

enum { MASS_WINDOW_MS = 1000, MS_NS = 1000000, PPM = 1000000 };

static uint64_t half_life(const struct manager *manager)
{
	return (uint64_t)manager->options.damping_ms * MS_NS;
}

bool manager_find_object(const struct source *source, const char *object, uint32_t *at,
			 uint32_t *link, char why[FIND_WHY_BYTES])
{
	const struct topo *topo = &source->graph.topo;

	*link = TOPO_NONE;
	if (strchr(object, ':') == NULL)
		return find_switch(&source->fabric, object, at, why);
	if (!find_link(&source->fabric, topo, object, link, why))
		return false;
	*at = topo->link_switch[*link];
	return true;
}

// --- events -------------------------------------------------------------------------------------

static void note(struct manager *manager, enum journal_kind kind, uint32_t at, uint16_t port)
{
	const struct fabric_switch *sw = &manager->fabric->source.fabric.switches[at];
	char object[2 * FABRIC_NAME_BYTES];
	char name[FABRIC_NAME_BYTES];

	snprintf(object, sizeof(object), "%s:%s", sw->name, fabric_port_name(sw, port, name));
	manager_journal_of(manager, at, kind, object, "");
}

// What a switch says of a link for the first time is how it is, and no loss.
static void take_word(struct manager *manager, struct manager_link *link, bool up)
{
	const ns_t now = manager_now(manager);
	const bool was_suppressed = link->damping.suppressed;
	ns_t next;

	if (link->up && !up)
		link->lost = now;
	link->losses += link->known && link->up && !up;
	if (link->known)
		damping_report(&link->damping, up, half_life(manager), now);
	else
		link->damping.up = up;
	link->known = true;
	link->up = up;
	if (!link->damping.suppressed || was_suppressed)
		return;
	damping_tick(&link->damping, half_life(manager), now, &next);
	manager->damping_due = ns_min(manager->damping_due, next);
}

static void note_port(struct manager_ports *ports, uint16_t port, bool up)
{
	const uint64_t bit = 1ull << port % 64;

	if (port >= CONFIG_PORT_MAX)
		return;
	ports->said[port / 64] |= bit;
	ports->up[port / 64] = up ? ports->up[port / 64] | bit : ports->up[port / 64] & ~bit;
}

void manager_link_event(struct manager *manager, uint32_t at, uint64_t boot, uint64_t sequence,
			uint16_t port, bool up)
{
	struct manager_switch *sw = &manager->fabric->switches[at];
	const uint32_t number = topo_link_at(&manager->fabric->source.graph.topo, at, port);
	struct manager_link *link;
	bool was_suppressed;

	if (boot == sw->boot && sequence <= sw->event_sequence)
		return;
	sw->boot = boot;
	sw->event_sequence = sequence;
	note_port(&sw->ports, port, up);
	if (number == TOPO_NONE)
		return;
	link = &manager->fabric->links[number];
	if (link->known && link->up == up)
		return;
	was_suppressed = link->damping.suppressed;
	if (link->known || !up)
		note(manager, up ? JOURNAL_LINK_UP : JOURNAL_LINK_DOWN, at, port);
	take_word(manager, link, up);
	if (link->damping.suppressed && !was_suppressed)
		note(manager, JOURNAL_LINK_DAMPED, at, port);
	manager_replan(manager);
}

// --- time ---------------------------------------------------------------------------------------

static void calm_links(struct manager *manager, ns_t now)
{
	const struct topo *topo = &manager->fabric->source.graph.topo;

	manager->damping_due = NS_NEVER;
	for (uint32_t i = 0; i < topo->link_count; i++) {
		struct damping *damping = &manager->fabric->links[i].damping;
		const bool was_suppressed = damping->suppressed;
		ns_t next;

		if (damping_tick(damping, half_life(manager), now, &next))
			manager_replan(manager);
		manager->damping_due = ns_min(manager->damping_due, next);
		if (was_suppressed && !damping->suppressed)
			note(manager, JOURNAL_LINK_CALM, topo->link_switch[i], topo->link_port[i]);
	}
}

// Switches that called and do not any more, or do again.
static void look_at_lives(struct manager *manager, ns_t now)
{
	const struct fabric *fabric = &manager->fabric->source.fabric;

	for (uint32_t i = 0; i < fabric->switch_count; i++) {
		struct manager_switch *sw = &manager->fabric->switches[i];
		const enum distribute_life life = manager->fabric->at[i].life;

		if (sw->life == life)
			continue;
		sw->life = life;
		sw->since = now;
		if (life == DISTRIBUTE_HEADLESS)
			manager_journal(manager, JOURNAL_SWITCH_SILENT, fabric->switches[i].name,
					"");
		manager_replan(manager);
	}
}

void manager_tick_links(struct manager *manager)
{
	const ns_t now = manager_now(manager);

	if (!ns_before(now, manager->damping_due))
		calm_links(manager, now);
	look_at_lives(manager, now);
	// A hold may end by itself, when the links are back.
	if (manager->held)
		manager_replan(manager);
}

// --- the state to plan for ----------------------------------------------------------------------

// What deaths_find() is asked, in one block of memory.
struct inquest {
	uint8_t *there; // [switch_count]
	uint8_t *dead;  // [switch_count]
	uint8_t *word;  // [link_count]
};

static bool open_inquest(const struct manager_fabric *fabric, struct inquest *inquest)
{
	const struct topo *topo = &fabric->source.graph.topo;

	inquest->there = calloc(1, 2 * (size_t)topo->switch_count + topo->link_count + 1);
	if (inquest->there == NULL)
		return false;
	inquest->dead = inquest->there + topo->switch_count;
	inquest->word = inquest->dead + topo->switch_count;
	for (uint32_t i = 0; i < topo->switch_count; i++) {
		inquest->there[i] = fabric->at[i].life == DISTRIBUTE_THERE;
		inquest->dead[i] = fabric->switches[i].dead;
	}
	for (uint32_t i = 0; i < topo->link_count; i++) {
		const struct manager_link *link = &fabric->links[i];

		inquest->word[i] = !link->known ? DEATHS_NOTHING :
				   link->up     ? DEATHS_UP :
						  DEATHS_DOWN;
	}
	return true;
}

// With no memory to find out, those who were dead stay so.
static void find_deaths(struct manager *manager, struct manager_fabric *fabric)
{
	const struct topo *topo = &fabric->source.graph.topo;
	struct inquest inquest;

	if (!open_inquest(fabric, &inquest))
		return;
	deaths_find(topo, inquest.there, inquest.word, inquest.dead);
	for (uint32_t i = 0; i < topo->switch_count; i++) {
		struct manager_switch *sw = &fabric->switches[i];

		if (inquest.dead[i] != 0 && !sw->dead)
			manager_journal(manager, JOURNAL_SWITCH_DEAD,
					fabric->source.fabric.switches[i].name, "");
		sw->dead = inquest.dead[i] != 0;
	}
	free(inquest.there);
}

void manager_find_wanted(struct manager *manager, struct manager_fabric *fabric)
{
	const struct topo *topo = &fabric->source.graph.topo;
	const struct topo_state *ignored = &fabric->source.graph.state;
	struct topo_state *wanted = &fabric->wanted;

	find_deaths(manager, fabric);
	for (uint32_t i = 0; i < topo->switch_count; i++)
		wanted->switch_lost[i] = ignored->switch_lost[i] != 0 || fabric->switches[i].dead ||
					 fabric->switches[i].drained;
	for (uint32_t i = 0; i < topo->link_count; i++) {
		const struct manager_link *link = &fabric->links[i];

		wanted->link_lost[i] = ignored->link_lost[i] != 0 || link->drained ||
				       !damping_usable(&link->damping);
	}
	for (uint32_t i = 0; i < topo->link_count; i++)
		wanted->link_lost[i] |= wanted->link_lost[topo->link_peer[i]];
}

// --- mass changes -------------------------------------------------------------------------------

// Whether an operator took a link out, by itself or with a switch.
static bool is_drained(const struct manager_fabric *fabric, uint32_t link)
{
	const struct topo *topo = &fabric->source.graph.topo;

	return fabric->links[link].drained || fabric->switches[topo->link_switch[link]].drained ||
	       fabric->switches[topo_far(topo, link)].drained;
}

struct losses {
	uint32_t cables;
	uint32_t unplanned; // that the plan in use goes over
	uint32_t recent;    // lost in the last second, planned for or not
};

static struct losses count_losses(const struct manager *manager)
{
	const struct manager_fabric *fabric = manager->fabric;
	const struct topo *topo = &fabric->source.graph.topo;
	const ns_t now = manager_now(manager);
	struct losses losses = { 0 };

	for (uint32_t i = 0; i < topo->link_count; i++) {
		const uint32_t back = topo->link_peer[i];
		const ns_t lost = fabric->links[i].lost.v > fabric->links[back].lost.v ?
					  fabric->links[i].lost :
					  fabric->links[back].lost;
		const bool up = topo_link_up(topo, &fabric->wanted, i);

		if (back < i)
			continue;
		losses.cables++;
		if (up || is_drained(fabric, i))
			continue;
		losses.unplanned += topo_link_up(topo, &fabric->state, i);
		losses.recent += lost.v != 0 &&
				 ns_since(now, lost) < MASS_WINDOW_MS * (uint64_t)MS_NS;
	}
	return losses;
}

// Losses that come one by one are one, when they come within a second; and once a change is held it
// stays so until it is confirmed or all is back, whatever time passes.
bool manager_is_mass_loss(struct manager *manager)
{
	const struct losses losses = count_losses(manager);
	const uint32_t most = losses.unplanned > losses.recent ? losses.unplanned : losses.recent;
	const bool was_held = manager->held;
	char text[JOURNAL_DETAIL_BYTES];

	if (losses.unplanned == 0)
		manager->confirmed = false;
	manager->held = losses.unplanned > 0 && manager->options.mass_ppm > 0 &&
			!manager->confirmed &&
			(was_held || (uint64_t)most * PPM >
					     (uint64_t)manager->options.mass_ppm * losses.cables);
	if (manager->held && !was_held) {
		snprintf(text, sizeof(text), "%u of %u cables were lost at once", most,
			 losses.cables);
		manager_journal(manager, JOURNAL_HELD, "", text);
	}
	manager_show_hold(manager);
	return manager->held;
}
