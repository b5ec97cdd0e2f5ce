// SPDX-License-Identifier: BSD-3-Clause
//
// An endpoint and its switch tell each other who and how they are: LLDP (IEEE 802.1AB) with DCBX
// (IEEE 802.1Q clause 38). Bytes, timers and judgement are the switch's own (link/). What is said
// is made anew for each frame from the rules in force, so that it is true.
//
// A willing host takes PFC and the priority of RoCE from its peer while exactly one neighbour says
// anything of DCBX. Of two willing ends the one of the lower address is followed (802.1Q D.2.10).

#include "traffic/core/endpoint_state.h"

#include "base/units.h"
#include "base/wire.h"

enum {
	MAC_BYTES = 6,
	HEADER_BYTES = 14,
	TAG_BYTES = 4,
	FCS_BYTES = 4,
	PERCENT = 100,
	NOTE_MAC = 0, // of a neighbour: from which address it spoke
};

static const char description[] = "weft " WEFT_VERSION " software host";
static const char name_start[] = "weft-traffic ";

static struct lldp_profile timers_of(const struct endpoint_profile *pf,
				     const struct endpoint_lldp *lldp)
{
	return (struct lldp_profile){
		.interval_ns = pf->lldp.interval_ns,
		.send = !lldp->left,
		.receive = !lldp->left,
	};
}

// Notes when there is something to do.
static void reckon(const struct endpoint_profile *pf, struct endpoint_state *st)
{
	const struct lldp_profile timers = timers_of(pf, st->lldp);

	if (st->lldp->goodbye)
		st->lldp_at = (ns_t){ 0 };
	else if (st->lldp->left)
		st->lldp_at = NS_NEVER;
	else
		st->lldp_at = lldp_port_deadline(&timers, &st->lldp->port);
}

// --- what it says -----------------------------------------------------------------------------

static void set_name(const struct endpoint_lldp_profile *pf, struct lldp_text *out)
{
	char name[sizeof(name_start) + UNIT_TEXT_BYTES];

	if (pf->name[0] != '\0') {
		lldp_set_text(out, pf->name);
		return;
	}
	memcpy(name, name_start, sizeof(name_start));
	unit_format(UNIT_COUNT, pf->rank, name + sizeof(name_start) - 1);
	lldp_set_text(out, name);
}

static void set_address(const struct endpoint_profile *pf, struct lldp_info *out)
{
	if (!pf->has_ipv4 && !pf->has_ipv6)
		return;
	out->address_family = pf->has_ipv4 ? ADDRESS_FAMILY_IPV4 : ADDRESS_FAMILY_IPV6;
	out->address_len = pf->has_ipv4 ? sizeof(pf->ipv4) : sizeof(pf->ipv6);
	memcpy(out->address, pf->has_ipv4 ? pf->ipv4 : pf->ipv6, out->address_len);
}

// Priorities take turns, frame by frame: equal shares. CNPs go ahead of all, so a priority that
// carries nothing else is strict.
static void set_ets(const struct endpoint_profile *pf, const struct endpoint_rules *rules,
		    struct dcbx_ets *out)
{
	uint8_t sharing = 0;
	uint32_t count, nth = 0;

	for (uint32_t dscp = 0; dscp < sizeof(rules->dscp_to_prio); dscp++)
		sharing |= dscp == pf->cnp_dscp ? 0 : (uint8_t)(1u << rules->dscp_to_prio[dscp]);
	count = (uint32_t)__builtin_popcount(sharing); // not 0
	out->present = true;
	out->class_count = TC_COUNT;
	for (uint32_t i = 0; i < PRIO_COUNT; i++) {
		out->prio_class[i] = (uint8_t)i;
		if (!(sharing >> i & 1))
			continue;
		out->algorithm[i] = DCBX_TSA_ETS;
		out->percent[i] = (uint8_t)(PERCENT / count + (nth++ < PERCENT % count));
	}
}

static void set_dcbx(const struct endpoint_profile *pf, const struct endpoint_rules *rules,
		     struct dcbx *out)
{
	set_ets(pf, rules, &out->ets);
	out->pfc = (struct dcbx_pfc){
		.present = true,
		.willing = pf->lldp.dcbx == ENDPOINT_DCBX_WILLING,
		.capability = PRIO_COUNT,
		.enable = rules->obey | rules->pause,
	};
	out->has_apps = true;
	out->app_count = 1;
	out->app[0] = (struct dcbx_app){ rules->dscp_to_prio[pf->lldp.dscp], DCBX_SELECT_UDP,
					 ROCE_UDP_PORT };
}

static void say(const struct endpoint_profile *pf, const struct endpoint_state *st,
		struct lldp_info *out)
{
	const struct lldp_profile timers = timers_of(pf, st->lldp);
	uint8_t mac[MAC_BYTES];

	memset(out, 0, sizeof(*out));
	store_be48(mac, pf->mac);
	lldp_set_id(&out->chassis, LLDP_CHASSIS_MAC, mac, sizeof(mac));
	lldp_set_id(&out->port, LLDP_PORT_MAC, mac, sizeof(mac));
	out->ttl_seconds = lldp_ttl(&timers);
	set_name(&pf->lldp, &out->system_name);
	lldp_set_text(&out->system_description, description);
	out->has_capabilities = true;
	out->capabilities = LLDP_CAP_STATION;
	out->enabled = LLDP_CAP_STATION;
	set_address(pf, out);
	out->max_frame_bytes = (uint16_t)u64_min(
		(uint64_t)pf->mtu + HEADER_BYTES + TAG_BYTES + FCS_BYTES, UINT16_MAX);
	if (pf->lldp.dcbx != ENDPOINT_DCBX_OFF)
		set_dcbx(pf, &st->rules, &out->dcbx);
}

static uint32_t write_frame(const struct endpoint_profile *pf, struct endpoint_state *st,
			    bool goodbye, uint8_t *out)
{
	struct lldp_info info;
	uint8_t mac[MAC_BYTES];

	say(pf, st, &info);
	if (goodbye)
		info.ttl_seconds = 0;
	store_be48(mac, pf->mac);
	st->stats.tx_lldp++;
	return lldp_encode(&info, mac, out);
}

// --- whom it follows --------------------------------------------------------------------------

static struct endpoint_rules own_rules(const struct endpoint_profile *pf)
{
	struct endpoint_rules own = {
		.obey = pf->obey,
		.pause = pf->receiver.bps != 0 ? pf->receiver.gen.enable : 0,
	};

	memcpy(own.dscp_to_prio, pf->dscp_to_prio, sizeof(own.dscp_to_prio));
	return own;
}

// The one neighbour that says anything of DCBX; NULL: none, or several that may contradict.
static const struct lldp_neighbor *dcbx_peer(const struct lldp_port *port)
{
	const struct lldp_neighbor *peer = NULL;

	for (uint32_t i = 0; i < port->neighbor_count; i++) {
		const struct dcbx *dcbx = &port->neighbor[i].info.dcbx;

		if (!dcbx->pfc.present && !dcbx->ets.present && !dcbx->has_apps)
			continue;
		if (peer != NULL)
			return NULL;
		peer = &port->neighbor[i];
	}
	return peer;
}

static const struct lldp_neighbor *leader(const struct endpoint_profile *pf,
					  const struct lldp_port *port)
{
	const struct lldp_neighbor *peer = dcbx_peer(port);

	if (pf->lldp.dcbx != ENDPOINT_DCBX_WILLING || peer == NULL ||
	    (peer->info.dcbx.pfc.willing && peer->note[NOTE_MAC] > pf->mac))
		return NULL;
	return peer;
}

// What is said of a DSCP is nearer than what is said of RoCE.
static void take_over(const struct endpoint_profile *pf, const struct dcbx *theirs,
		      struct endpoint_rules *rules)
{
	const uint32_t roce = dcbx_roce_priority(theirs);

	if (theirs->pfc.present) {
		rules->obey = theirs->pfc.enable;
		rules->pause = rules->pause != 0 ? theirs->pfc.enable : 0;
	}
	if (roce < PRIO_COUNT)
		rules->dscp_to_prio[pf->lldp.dscp] = (uint8_t)roce;
	for (uint32_t i = 0; i < theirs->app_count; i++) {
		const struct dcbx_app *app = &theirs->app[i];

		if (app->selector == DCBX_SELECT_DSCP &&
		    app->protocol < sizeof(rules->dscp_to_prio))
			rules->dscp_to_prio[app->protocol] = app->priority;
	}
}

// Pauses that no longer count end now, in both directions.
static void put_in_force(const struct endpoint_profile *pf, struct endpoint_state *st,
			 const struct endpoint_rules *rules, ns_t now)
{
	st->rules = *rules;
	pfc_rx_resume(&st->pause, rules->obey, now);
	st->receiver_pf.gen.enable = rules->pause;
	pfc_gen_update(&st->receiver_pf.gen, &st->receiver.gen, st->receiver.wanted, now);
	endpoint_sort(pf, st);
}

// What neighbours say may have changed.
static void follow(const struct endpoint_profile *pf, struct endpoint_state *st, ns_t now)
{
	const struct lldp_neighbor *peer = leader(pf, &st->lldp->port);
	struct endpoint_rules rules = own_rules(pf);

	if (peer != NULL)
		take_over(pf, &peer->info.dcbx, &rules);
	if (memcmp(&rules, &st->rules, sizeof(rules)) == 0)
		return;
	put_in_force(pf, st, &rules, now);
	st->stats.dcbx_changes++;
	lldp_port_changed(&st->lldp->port);
}

// --- frames -----------------------------------------------------------------------------------

void endpoint_lldp_init(const struct endpoint_profile *pf, struct endpoint_state *st)
{
	st->rules = own_rules(pf);
	st->receiver_pf = pf->receiver;
	st->lldp_at = NS_NEVER;
	if (st->lldp == NULL)
		return;
	lldp_port_link(&st->lldp->port, true, (ns_t){ 0 });
	reckon(pf, st);
}

bool endpoint_lldp_rx(const struct endpoint_profile *pf, struct endpoint_state *st,
		      const uint8_t *data, uint32_t len, ns_t now)
{
	struct endpoint_lldp *lldp = st->lldp;
	struct lldp_profile timers;
	struct lldp_info info;
	uint32_t at;

	if (load_be48(data) != NEAREST_BRIDGE_ADDRESS || lldp == NULL || lldp->left)
		return false;
	st->stats.rx_lldp++;
	if (load_be48(data + MAC_BYTES) == pf->mac)
		return true;
	if (!lldp_decode(data, len, HEADER_BYTES, &info)) {
		st->stats.rx_lldp_bad++;
		return true;
	}
	st->stats.rx_lldp_bad_tlvs += info.discarded;
	timers = timers_of(pf, lldp);
	switch (lldp_port_heard(&timers, &lldp->port, &info, lldp->heard + 1, now, &at)) {
	case LLDP_NO_ROOM: st->stats.lldp_refused++; return true;
	case LLDP_NEW: lldp->heard++; break;
	case LLDP_SAME:
	case LLDP_CHANGED:
	case LLDP_LEFT: break;
	}
	if (at < lldp->port.neighbor_count)
		lldp->port.neighbor[at].note[NOTE_MAC] = load_be48(data + MAC_BYTES);
	follow(pf, st, now);
	reckon(pf, st);
	return true;
}

uint32_t endpoint_lldp_tx(const struct endpoint_profile *pf, struct endpoint_state *st, ns_t now,
			  uint8_t *out)
{
	struct lldp_profile timers;
	struct lldp_neighbor gone;
	uint32_t len = 0;

	timers = timers_of(pf, st->lldp);
	while (lldp_port_expire(&st->lldp->port, now, &gone)) {
		st->stats.lldp_ageouts++;
		follow(pf, st, now);
	}
	if (st->lldp->goodbye || lldp_port_due(&timers, &st->lldp->port, now))
		len = write_frame(pf, st, st->lldp->goodbye, out);
	st->lldp->goodbye = false;
	reckon(pf, st);
	return len;
}

void endpoint_lldp_link(const struct endpoint_profile *pf, struct endpoint_state *st, bool up,
			ns_t now)
{
	if (st->lldp == NULL)
		return;
	lldp_port_link(&st->lldp->port, up, now);
	follow(pf, st, now);
	reckon(pf, st);
}

void endpoint_lldp_leave(const struct endpoint_profile *pf, struct endpoint_state *st)
{
	if (st->lldp == NULL || st->lldp->left)
		return;
	st->lldp->goodbye = lldp_port_ends(&st->lldp->port);
	st->lldp->left = true;
	reckon(pf, st);
}

bool endpoint_lldp_read(const struct endpoint_profile *pf, const struct endpoint_state *st,
			struct endpoint_lldp_view *out)
{
	if (st->lldp == NULL)
		return false;
	memset(out, 0, sizeof(*out));
	say(pf, st, &out->ours);
	out->neighbor = st->lldp->port.neighbor;
	out->neighbor_count = st->lldp->port.neighbor_count;
	out->peer = dcbx_peer(&st->lldp->port);
	out->follows = leader(pf, &st->lldp->port) != NULL;
	if (out->peer != NULL)
		out->differs = dcbx_differences(&out->ours.dcbx, &out->peer->info.dcbx);
	return true;
}
