// SPDX-License-Identifier: BSD-3-Clause
//
// An LLDPDU is a row of TLVs: 7 bits of type, 9 of length, then so many bytes. Organisations have
// type 127 and begin with three bytes of theirs and a subtype.
//
// Everything is written and read through one cursor that knows where its bytes end, so no length
// that a peer sends is believed.

#include "link/lldp_frame.h"

#include <string.h>

#include "base/bytes.h"
#include "base/units.h"

enum {
	L2_BYTES = 14,
	HEAD_BYTES = 2,
	TYPE_END = 0,
	TYPE_CHASSIS,
	TYPE_PORT,
	TYPE_TTL,
	TYPE_PORT_DESCRIPTION,
	TYPE_SYSTEM_NAME,
	TYPE_SYSTEM_DESCRIPTION,
	TYPE_CAPABILITIES,
	TYPE_ADDRESS,
	TYPE_ORGANISATION = 127,
	ORGANISATION_BYTES = 4, // and its subtype
	OUI_802_1 = 0x0080c2,
	OUI_802_3 = 0x00120f,
	PVID = 1,
	ETS_CONFIGURATION = 9,
	ETS_RECOMMENDATION = 10,
	PFC_CONFIGURATION = 11,
	APPLICATION = 12,
	MAX_FRAME = 4,
	ETS_BYTES = 21,
	PFC_BYTES = 2,
	APP_BYTES = 3,
	CAPABILITIES_BYTES = 4,
	// Numbering of the interface, its number, and the length of an object identifier.
	ADDRESS_TAIL_BYTES = 6,
	INTERFACE_UNKNOWN = 1,
	MAC_BYTES = 6,
};

// --- writing ------------------------------------------------------------------------------------

struct writer {
	uint8_t *bytes;
	uint32_t at;
};

// Begins a TLV and returns its value, or NULL: there is no room for it and the end of the LLDPDU.
static uint8_t *put(struct writer *w, uint32_t type, uint32_t len)
{
	uint8_t *head = w->bytes + w->at;

	if (!frame_has(LLDP_FRAME_MAX, w->at, HEAD_BYTES + len + HEAD_BYTES))
		return NULL;
	store_be16(head, (uint16_t)(type << 9 | len));
	w->at += HEAD_BYTES + len;
	return head + HEAD_BYTES;
}

static uint8_t *put_organisation(struct writer *w, uint32_t oui, uint8_t subtype, uint32_t len)
{
	uint8_t *value = put(w, TYPE_ORGANISATION, ORGANISATION_BYTES + len);

	if (value == NULL)
		return NULL;
	store_be32(value, oui << 8 | subtype);
	return value + ORGANISATION_BYTES;
}

// The mandatory ones come first and always have room.
static void put_id(struct writer *w, uint32_t type, const struct lldp_id *id)
{
	uint8_t *value = put(w, type, 1u + id->len);

	if (value == NULL)
		return;
	value[0] = id->subtype;
	memcpy(value + 1, id->bytes, id->len);
}

static void put_text(struct writer *w, uint32_t type, const struct lldp_text *text)
{
	uint8_t *value = text->len > 0 ? put(w, type, text->len) : NULL;

	if (value != NULL)
		memcpy(value, text->bytes, text->len);
}

static void put_number(uint8_t *value, uint16_t number)
{
	if (value != NULL)
		store_be16(value, number);
}

static void put_capabilities(struct writer *w, const struct lldp_info *info)
{
	uint8_t *value = info->has_capabilities ? put(w, TYPE_CAPABILITIES, CAPABILITIES_BYTES) :
						  NULL;

	if (value == NULL)
		return;
	store_be16(value, info->capabilities);
	store_be16(value + 2, info->enabled);
}

static void put_address(struct writer *w, const struct lldp_info *info)
{
	const uint32_t len = info->address_len;
	uint8_t *value = info->address_family != 0 ?
				 put(w, TYPE_ADDRESS, 2 + len + ADDRESS_TAIL_BYTES) :
				 NULL;

	if (value == NULL)
		return;
	value[0] = (uint8_t)(len + 1);
	value[1] = info->address_family;
	memcpy(value + 2, info->address, len);
	memset(value + 2 + len, 0, ADDRESS_TAIL_BYTES);
	value[2 + len] = INTERFACE_UNKNOWN;
}

static void put_ets(struct writer *w, uint8_t subtype, const struct dcbx_ets *ets)
{
	uint8_t *value = ets->present ? put_organisation(w, OUI_802_1, subtype, ETS_BYTES) : NULL;

	if (value == NULL)
		return;
	value[0] = 0;
	if (subtype == ETS_CONFIGURATION)
		value[0] = (uint8_t)(ets->willing << 7 | ets->credit << 6 | (ets->class_count & 7));
	for (uint32_t i = 0; i < PRIO_COUNT; i += 2)
		value[1 + i / 2] = (uint8_t)(ets->prio_class[i] << 4 | ets->prio_class[i + 1]);
	memcpy(value + 5, ets->percent, TC_COUNT);
	memcpy(value + 13, ets->algorithm, TC_COUNT);
}

static void put_pfc(struct writer *w, const struct dcbx_pfc *pfc)
{
	uint8_t *value = pfc->present ?
				 put_organisation(w, OUI_802_1, PFC_CONFIGURATION, PFC_BYTES) :
				 NULL;

	if (value == NULL)
		return;
	value[0] = (uint8_t)(pfc->willing << 7 | pfc->bypass << 6 | (pfc->capability & 0xf));
	value[1] = pfc->enable;
}

static void put_apps(struct writer *w, const struct dcbx *dcbx)
{
	uint8_t *value = dcbx->has_apps ? put_organisation(w, OUI_802_1, APPLICATION,
							   1 + APP_BYTES * dcbx->app_count) :
					  NULL;

	if (value == NULL)
		return;
	value[0] = 0;
	value++;
	for (uint32_t i = 0; i < dcbx->app_count; i++, value += APP_BYTES) {
		const struct dcbx_app *app = &dcbx->app[i];

		value[0] = (uint8_t)(app->priority << 5 | (app->selector & 7));
		store_be16(value + 1, app->protocol);
	}
}

uint32_t lldp_encode(const struct lldp_info *info, const uint8_t src[6],
		     uint8_t out[LLDP_FRAME_MAX])
{
	struct writer w = { out, L2_BYTES };

	memset(out, 0, LLDP_FRAME_MIN);
	store_be48(out, NEAREST_BRIDGE_ADDRESS);
	memcpy(out + 6, src, MAC_BYTES);
	store_be16(out + 12, LLDP_ETHERTYPE);
	put_id(&w, TYPE_CHASSIS, &info->chassis);
	put_id(&w, TYPE_PORT, &info->port);
	put_number(put(&w, TYPE_TTL, 2), info->ttl_seconds);
	if (info->ttl_seconds != 0) {
		put_text(&w, TYPE_PORT_DESCRIPTION, &info->port_description);
		put_text(&w, TYPE_SYSTEM_NAME, &info->system_name);
		put_text(&w, TYPE_SYSTEM_DESCRIPTION, &info->system_description);
		put_capabilities(&w, info);
		put_address(&w, info);
		if (info->pvid != 0)
			put_number(put_organisation(&w, OUI_802_1, PVID, 2), info->pvid);
		if (info->max_frame_bytes != 0)
			put_number(put_organisation(&w, OUI_802_3, MAX_FRAME, 2),
				   info->max_frame_bytes);
		put_ets(&w, ETS_CONFIGURATION, &info->dcbx.ets);
		put_ets(&w, ETS_RECOMMENDATION, &info->dcbx.recommended);
		put_pfc(&w, &info->dcbx.pfc);
		put_apps(&w, &info->dcbx);
	}
	store_be16(out + w.at, TYPE_END); // put() has left room for it
	w.at += HEAD_BYTES;
	return w.at < LLDP_FRAME_MIN ? (uint32_t)LLDP_FRAME_MIN : w.at;
}

// --- reading ------------------------------------------------------------------------------------

struct tlv {
	uint32_t type;
	uint32_t len;
	const uint8_t *value;
};

static bool next_tlv(const uint8_t *bytes, uint32_t len, uint32_t *at, struct tlv *out)
{
	uint32_t head;

	if (!frame_has(len, *at, HEAD_BYTES))
		return false;
	head = load_be16(bytes + *at);
	*out = (struct tlv){ head >> 9, head & 0x1ff, bytes + *at + HEAD_BYTES };
	if (!frame_has(len, *at + HEAD_BYTES, out->len))
		return false;
	*at += HEAD_BYTES + out->len;
	return true;
}

static bool get_id(const struct tlv *tlv, uint32_t type, struct lldp_id *out)
{
	if (tlv->type != type || tlv->len < 2 || tlv->len > 1 + LLDP_TEXT_MAX)
		return false;
	lldp_set_id(out, tlv->value[0], tlv->value + 1, tlv->len - 1);
	return true;
}

// Each may be there once; false: it is wrong, or there already.
static bool get_text(const struct tlv *tlv, struct lldp_text *out)
{
	if (out->len != 0 || tlv->len > LLDP_TEXT_MAX)
		return false;
	out->len = (uint8_t)tlv->len;
	memcpy(out->bytes, tlv->value, tlv->len);
	return true;
}

static bool get_capabilities(const struct tlv *tlv, struct lldp_info *out)
{
	if (out->has_capabilities || tlv->len < CAPABILITIES_BYTES)
		return false;
	out->has_capabilities = true;
	out->capabilities = load_be16(tlv->value);
	out->enabled = load_be16(tlv->value + 2);
	return true;
}

// A system may have several; the first is kept.
static bool get_address(const struct tlv *tlv, struct lldp_info *out)
{
	uint32_t len;

	if (tlv->len < 2 + 1 + ADDRESS_TAIL_BYTES || tlv->value[0] < 2 ||
	    tlv->value[0] > 1 + LLDP_ADDRESS_MAX ||
	    !frame_has(tlv->len, 1, tlv->value[0] + (uint32_t)ADDRESS_TAIL_BYTES))
		return false;
	len = tlv->value[0] - 1u;
	if (out->address_family != 0 || tlv->value[1] == 0)
		return true;
	out->address_family = tlv->value[1];
	out->address_len = (uint8_t)len;
	memcpy(out->address, tlv->value + 2, len);
	return true;
}

static bool get_ets(const struct tlv *tlv, bool configuration, struct dcbx_ets *out)
{
	const uint8_t *value = tlv->value + ORGANISATION_BYTES;

	if (out->present || tlv->len != ORGANISATION_BYTES + ETS_BYTES)
		return false;
	out->present = true;
	if (configuration) {
		out->willing = value[0] >> 7;
		out->credit = value[0] >> 6 & 1;
		out->class_count = (value[0] & 7) == 0 ? TC_COUNT : value[0] & 7;
	}
	for (uint32_t i = 0; i < PRIO_COUNT; i++)
		out->prio_class[i] = (value[1 + i / 2] >> (i % 2 == 0 ? 4 : 0)) & 0xf;
	memcpy(out->percent, value + 5, TC_COUNT);
	memcpy(out->algorithm, value + 13, TC_COUNT);
	return true;
}

static bool get_pfc(const struct tlv *tlv, struct dcbx_pfc *out)
{
	const uint8_t *value = tlv->value + ORGANISATION_BYTES;

	if (out->present || tlv->len != ORGANISATION_BYTES + PFC_BYTES)
		return false;
	*out = (struct dcbx_pfc){
		.present = true,
		.willing = value[0] >> 7,
		.bypass = value[0] >> 6 & 1,
		.capability = value[0] & 0xf,
		.enable = value[1],
	};
	return true;
}

static bool get_apps(const struct tlv *tlv, struct dcbx *out)
{
	const uint8_t *value = tlv->value + ORGANISATION_BYTES + 1;
	uint32_t bytes;

	if (out->has_apps || tlv->len < ORGANISATION_BYTES + 1)
		return false;
	bytes = tlv->len - ORGANISATION_BYTES - 1;
	if (bytes % APP_BYTES != 0)
		return false;
	out->has_apps = true;
	for (; bytes > 0 && out->app_count < DCBX_APP_MAX; bytes -= APP_BYTES, value += APP_BYTES)
		out->app[out->app_count++] = (struct dcbx_app){
			.priority = value[0] >> 5,
			.selector = value[0] & 7,
			.protocol = load_be16(value + 1),
		};
	return true;
}

static bool get_number(const struct tlv *tlv, uint16_t *out)
{
	if (*out != 0 || tlv->len != ORGANISATION_BYTES + 2)
		return false;
	*out = load_be16(tlv->value + ORGANISATION_BYTES);
	return true;
}

static bool get_organisation(const struct tlv *tlv, struct lldp_info *out)
{
	uint32_t oui;

	if (tlv->len < ORGANISATION_BYTES)
		return false;
	oui = load_be24(tlv->value);
	if (oui == OUI_802_3 && tlv->value[3] == MAX_FRAME)
		return get_number(tlv, &out->max_frame_bytes);
	if (oui == OUI_802_1) {
		switch (tlv->value[3]) {
		case PVID: return get_number(tlv, &out->pvid);
		case ETS_CONFIGURATION: return get_ets(tlv, true, &out->dcbx.ets);
		case ETS_RECOMMENDATION: return get_ets(tlv, false, &out->dcbx.recommended);
		case PFC_CONFIGURATION: return get_pfc(tlv, &out->dcbx.pfc);
		case APPLICATION: return get_apps(tlv, &out->dcbx);
		}
	}
	out->unknown++;
	return true;
}

static bool get_optional(const struct tlv *tlv, struct lldp_info *out)
{
	switch (tlv->type) {
	case TYPE_PORT_DESCRIPTION: return get_text(tlv, &out->port_description);
	case TYPE_SYSTEM_NAME: return get_text(tlv, &out->system_name);
	case TYPE_SYSTEM_DESCRIPTION: return get_text(tlv, &out->system_description);
	case TYPE_CAPABILITIES: return get_capabilities(tlv, out);
	case TYPE_ADDRESS: return get_address(tlv, out);
	case TYPE_ORGANISATION: return get_organisation(tlv, out);
	}
	out->unknown++;
	return true;
}

bool lldp_decode(const uint8_t *frame_bytes, uint32_t len, uint32_t at, struct lldp_info *out)
{
	struct tlv tlv;

	memset(out, 0, sizeof(*out));
	if (!next_tlv(frame_bytes, len, &at, &tlv) || !get_id(&tlv, TYPE_CHASSIS, &out->chassis) ||
	    !next_tlv(frame_bytes, len, &at, &tlv) || !get_id(&tlv, TYPE_PORT, &out->port) ||
	    !next_tlv(frame_bytes, len, &at, &tlv) || tlv.type != TYPE_TTL || tlv.len < 2)
		return false;
	out->ttl_seconds = load_be16(tlv.value);
	// A sender that is going away says nothing more; one without an end ends with the frame.
	while (at < len && out->ttl_seconds != 0) {
		if (!next_tlv(frame_bytes, len, &at, &tlv))
			return false;
		if (tlv.type == TYPE_END)
			return tlv.len == 0;
		if (tlv.type <= TYPE_TTL)
			return false;
		out->discarded += !get_optional(&tlv, out);
	}
	return true;
}

// --- values -------------------------------------------------------------------------------------

void lldp_set_text(struct lldp_text *out, const char *text)
{
	uint8_t len = 0;

	for (; len < LLDP_TEXT_MAX && text[len] != '\0'; len++)
		out->bytes[len] = text[len];
	out->len = len;
}

void lldp_set_id(struct lldp_id *out, uint8_t subtype, const void *bytes, size_t len)
{
	out->subtype = subtype;
	out->len = (uint8_t)u64_min(len, LLDP_TEXT_MAX);
	memcpy(out->bytes, bytes, out->len);
}

bool lldp_same_id(const struct lldp_id *a, const struct lldp_id *b)
{
	return a->subtype == b->subtype && a->len == b->len &&
	       memcmp(a->bytes, b->bytes, a->len) == 0;
}

static size_t words(const uint8_t *bytes, uint32_t len, char out[LLDP_WORDS_BYTES])
{
	for (uint32_t i = 0; i < len; i++)
		out[i] = (char)(bytes[i] < ' ' || bytes[i] > '~' ? '?' : bytes[i]);
	out[len] = '\0';
	return len;
}

size_t lldp_text_words(const struct lldp_text *text, char out[LLDP_WORDS_BYTES])
{
	return words((const uint8_t *)text->bytes, text->len, out);
}

static size_t id_words(const struct lldp_id *id, uint8_t mac_subtype, char out[LLDP_WORDS_BYTES])
{
	if (id->subtype == mac_subtype && id->len == MAC_BYTES)
		return mac_format(load_be48(id->bytes), out);
	return words(id->bytes, id->len, out);
}

size_t lldp_chassis_words(const struct lldp_id *id, char out[LLDP_WORDS_BYTES])
{
	return id_words(id, LLDP_CHASSIS_MAC, out);
}

size_t lldp_port_words(const struct lldp_id *id, char out[LLDP_WORDS_BYTES])
{
	return id_words(id, LLDP_PORT_MAC, out);
}
