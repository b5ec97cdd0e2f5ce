// SPDX-License-Identifier: BSD-3-Clause
//
// Lossless unicast to an address the bridge does not know: it waits here, in order, while its
// destination is solicited, instead of being flooded (flooding lossless traffic is a known cause of
// PFC deadlock). Waiting packets keep their ingress charge, so a long wait raises XOFF and nothing
// is lost. The list is short: the first burst of a flow, not a buffer.

#include "base/bytes.h"
#include "dataplane/core/stage.h"

bool hold_add(struct sw *sw, struct pkt *p, ns_t now)
{
	struct hold_state *hold = &sw->hold;

	if (hold->count == HOLD_MAX)
		return false;
	p->at = now;
	p->next = NULL;
	if (hold->head == NULL)
		hold->head = p;
	else
		hold->tail->next = p;
	hold->tail = p;
	hold->count++;
	sw->tick_at = ns_min(sw->tick_at, ns_add(now, sw->pf->solicit_ns));
	return true;
}

// Unlinks the packet at *link, whose predecessor is `before` (NULL: the head).
static struct pkt *hold_take(struct hold_state *hold, struct pkt **link, struct pkt *before)
{
	struct pkt *p = *link;

	*link = p->next;
	if (hold->tail == p)
		hold->tail = before;
	hold->count--;
	return p;
}

void hold_release(struct sw *sw, uint64_t mac, uint16_t vid, port_t port, ns_t now)
{
	struct pkt **link = &sw->hold.head;
	struct pkt *before = NULL;

	while (*link != NULL) {
		struct pkt *p = *link;

		if (p->vid != vid || load_be48(p->data) != mac) {
			before = p;
			link = &p->next;
			continue;
		}
		hold_take(&sw->hold, link, before);
		p->out_port = port;
		if (port.v == p->in_port.v)
			drop(sw, p, DROP_SAME_PORT);
		else
			forward(sw, p, now);
	}
}

void hold_expire(struct sw *sw, ns_t now)
{
	struct hold_state *hold = &sw->hold;

	while (hold->head != NULL && ns_add(hold->head->at, sw->pf->solicit_ns).v <= now.v)
		drop(sw, hold_take(hold, &hold->head, NULL), DROP_UNKNOWN_LOSSLESS);
}

ns_t hold_deadline(const struct sw *sw)
{
	return sw->hold.head == NULL ? NS_NEVER : ns_add(sw->hold.head->at, sw->pf->solicit_ns);
}
