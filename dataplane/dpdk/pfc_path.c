// SPDX-License-Identifier: BSD-3-Clause
//
// Decides how PFC gets through a device.
//
// A driver that accepts "forward MAC control frames" and does not say so when it is asked again has
// ignored it (several copy only the fields they know), so the answer counts and not the acceptance.
// What is known to pass needs no answer: virtual devices mostly have no flow control to ask about.

#include "dataplane/dpdk/pfc_path.h"

#include <stdio.h>
#include <string.h>

// Why the switch's own frames do not pass, with *err when a call said so; NULL: they do.
static const char *software_obstacle(const struct pfc_answers *a, int *err)
{
	*err = 0;
	if (a->eats_sent)
		return "drops PFC frames that software sends";
	if (a->driver == DRIVER_PFC_PASS)
		return NULL;
	*err = a->get;
	if (a->get != 0)
		return "does not tell about flow control";
	*err = a->set;
	if (a->set != 0)
		return "refuses to hand PFC frames over";
	*err = a->again;
	if (a->again != 0 || !a->forwards)
		return "accepts to hand PFC frames over, but does not do it";
	return NULL;
}

// Why there is no queue for each priority, NULL: there is.
static const char *queue_obstacle(const struct pfc_answers *a)
{
	if (a->few_queues)
		return "it has fewer queues than the port has priorities";
	if (a->shared_group)
		return "two priorities stand for one priority group";
	return NULL;
}

// What is wrong with a device's own PFC besides, NULL: nothing.
static const char *own_obstacle(const struct pfc_answers *a, int *err)
{
	*err = 0;
	if (!a->own_pfc)
		return "it offers no PFC of its own, queue by queue";
	if (a->strays)
		return "default_tc or an acl makes frames lossless that do not say so";
	*err = a->set_queues;
	if (a->set_queues != 0)
		return "it refuses to set its queues up";
	*err = a->steer;
	if (a->steer != 0)
		return "it cannot steer received frames by priority";
	return NULL;
}

static const char *error_text(int err)
{
	return err != 0 ? strerror(-err) : "";
}

// As told. What a driver does not answer for is then the user's to set up.
static enum pfc_path own(const struct pfc_answers *a, char *reason, size_t out_bytes)
{
	const char *queues = queue_obstacle(a);
	int err;
	const char *but = own_obstacle(a, &err);

	if (queues != NULL) {
		snprintf(reason, out_bytes, "cannot use PFC of its own: %s", queues);
		return PFC_PATH_NONE;
	}
	snprintf(reason, out_bytes, "uses PFC of its own as told%s%s%s%s",
		 but != NULL ? ", though " : "", but != NULL ? but : "", err != 0 ? ": " : "",
		 error_text(err));
	return PFC_PATH_DEVICE;
}

// A device whose own PFC is all there is.
static enum pfc_path fall_back(const struct pfc_answers *a, const char *why, int why_err,
			       char *reason, size_t out_bytes)
{
	const char *but;
	int err = 0;

	but = a->own_pfc ? queue_obstacle(a) : NULL;
	if (but == NULL)
		but = own_obstacle(a, &err);
	snprintf(reason, out_bytes, "%s%s%s%s%s%s%s", why, why_err != 0 ? ": " : "",
		 error_text(why_err), but != NULL ? "; " : "", but != NULL ? but : "",
		 err != 0 ? ": " : "", error_text(err));
	return but != NULL ? PFC_PATH_NONE : PFC_PATH_DEVICE;
}

enum pfc_path pfc_path_decide(const struct pfc_answers *a, char *reason, size_t out_bytes)
{
	const char *why;
	int err;

	reason[0] = '\0';
	if (!a->needed) {
		snprintf(reason, out_bytes, "no priority of the port uses PFC");
		return PFC_PATH_UNUSED;
	}
	if (a->wanted == PFC_PATH_TRUST)
		return PFC_PATH_SOFTWARE;
	if (a->wanted == PFC_PATH_OWN)
		return own(a, reason, out_bytes);
	why = software_obstacle(a, &err);
	if (why == NULL)
		return PFC_PATH_SOFTWARE;
	return fall_back(a, why, err, reason, out_bytes);
}
