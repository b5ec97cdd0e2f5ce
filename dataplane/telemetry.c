// SPDX-License-Identifier: BSD-3-Clause
//
// DPDK calls a command's function on a thread of its own, one for each client, which may touch
// nothing of a switch. It leaves a question on the desk, wakes the control thread's loop and waits
// a bounded time; an answer that comes too late is thrown away by the control thread.

#include "dataplane/telemetry.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#include <jansson.h>
#include <rte_telemetry.h>

#include "dataplane/control_reply.h"
#include "dataplane/stats_json.h"

enum { WAIT_NS = 1000000000, WORD_BYTES = 2 * CONFIG_NAME_BYTES };

enum topic {
	TOPIC_SWITCHES,
	TOPIC_LCORES,
	TOPIC_STATS,
	TOPIC_PORT,
	TOPIC_QUEUES,
	TOPIC_PRIORITIES,
	TOPIC_GROUPS,
	TOPIC_COUNT,
};

static const struct {
	const char *command;
	const char *help;
} topics[TOPIC_COUNT] = {
	[TOPIC_SWITCHES] = { "/weft/switches", "Names of the switches. No parameters" },
	[TOPIC_LCORES] = { "/weft/lcores", "Forwarding lcores. No parameters" },
	[TOPIC_STATS] = { "/weft/stats", "Counters and pools of a switch. Parameters: SWITCH" },
	[TOPIC_PORT] = { "/weft/port", "State and counters. Parameters: SWITCH:PORT" },
	[TOPIC_QUEUES] = { "/weft/queues", "Queues of a port. Parameters: SWITCH:PORT" },
	[TOPIC_PRIORITIES] = { "/weft/priorities", "PFC by priority. Parameters: SWITCH:PORT" },
	[TOPIC_GROUPS] = { "/weft/priority_groups",
			   "Priority groups of a port. Parameters: SWITCH:PORT" },
};

struct question {
	enum topic topic;
	char sw[WORD_BYTES];   // empty: the only one
	char port[WORD_BYTES]; // empty: none
};

// One question at a time. Clients' threads and the control thread, under the mutex.
static struct {
	pthread_mutex_t mutex;
	pthread_cond_t changed;
	int wake; // eventfd, -1: nobody answers
	bool taken;
	bool answered;
	uint64_t number; // of the question
	struct question question;
	json_t *answer;
} desk = { .mutex = PTHREAD_MUTEX_INITIALIZER, .wake = -1 };

// Control thread only.
static struct workers *all_workers;
static struct event *wake_event;

// --- control thread ---------------------------------------------------------------------------

static json_t *error(const char *why)
{
	return json_pack("{s:s}", "error", why);
}

static json_t *switches(void)
{
	const struct worker *first = &all_workers->worker[0];
	json_t *names = json_array();

	for (uint32_t i = 0; i < first->instance_count; i++)
		json_array_append_new(names, json_string(first->instance[i]->config->sw.name));
	return names;
}

static struct instance *find_switch(const char *name)
{
	const struct worker *first = &all_workers->worker[0];

	for (uint32_t i = 0; i < first->instance_count; i++) {
		struct instance *in = first->instance[i];

		if (name[0] == '\0' ? first->instance_count == 1 :
				      strcmp(in->config->sw.name, name) == 0)
			return in;
	}
	return NULL;
}

// The members of a list as an object: "0", "1" and so on.
static json_t *numbered(const json_t *list)
{
	json_t *object = json_object();
	json_t *member;
	char key[24];
	size_t i;

	json_array_foreach(list, i, member) {
		snprintf(key, sizeof(key), "%u", (uint32_t)i);
		json_object_set(object, key, member);
	}
	return object;
}

static json_t *switch_answer(const json_t *stats)
{
	json_t *answer = json_deep_copy(json_object_get(stats, "switch"));
	json_t *ports = json_array();
	const json_t *port;
	size_t i;

	json_array_foreach(json_object_get(stats, "ports"), i, port)
		json_array_append(ports, json_object_get(port, "name"));
	json_object_set_new(answer, "ports", ports);
	json_array_foreach(json_object_get(stats, "pools"), i, port) {
		char key[24];

		snprintf(key, sizeof(key), "pool%u", (uint32_t)i);
		json_object_set_new(answer, key, json_deep_copy(port));
	}
	return answer;
}

// State and counters side by side, drops below; what has a command of its own is left out.
static json_t *port_answer(json_t *port)
{
	json_t *answer = json_copy(port);

	json_object_update(answer, json_object_get(port, "stats"));
	json_object_del(answer, "stats");
	json_object_del(answer, "queues");
	json_object_del(answer, "priorities");
	json_object_del(answer, "priority_groups");
	return answer;
}

static json_t *port_topic(enum topic topic, json_t *port)
{
	switch (topic) {
	case TOPIC_QUEUES: return numbered(json_object_get(port, "queues"));
	case TOPIC_PRIORITIES: return numbered(json_object_get(port, "priorities"));
	case TOPIC_GROUPS: return numbered(json_object_get(port, "priority_groups"));
	case TOPIC_PORT: return port_answer(port);
	case TOPIC_SWITCHES:
	case TOPIC_LCORES:
	case TOPIC_STATS:
	case TOPIC_COUNT: break;
	}
	return NULL;
}

static json_t *ask_port(const struct question *question, struct instance *in)
{
	const struct port *port = find_port(in, question->port);
	json_t *stats;
	json_t *answer;

	if (port == NULL)
		return error("no such port; say SWITCH:PORT");
	stats = stats_json_port(all_workers, in, (port_t){ (uint16_t)(port - in->port) });
	answer = port_topic(question->topic, stats);
	json_decref(stats);
	return answer;
}

static json_t *answer(const struct question *question)
{
	struct instance *in;
	json_t *stats;
	json_t *answer;

	if (question->topic == TOPIC_SWITCHES)
		return switches();
	if (question->topic == TOPIC_LCORES) {
		stats = stats_json_lcores(all_workers);
		answer = numbered(json_object_get(stats, "lcores"));
		json_decref(stats);
		return answer;
	}
	in = find_switch(question->sw);
	if (in == NULL)
		return error("no such switch; see /weft/switches");
	if (question->topic != TOPIC_STATS)
		return ask_port(question, in);
	stats = stats_json(all_workers, in, WATERMARK_USER);
	answer = switch_answer(stats);
	json_decref(stats);
	return answer;
}

static void on_wake(evutil_socket_t fd, short what, void *arg)
{
	struct question question;
	uint64_t number;
	uint64_t count;
	json_t *made;
	bool is_asked;

	if (read(fd, &count, sizeof(count)) < 0)
		return;
	pthread_mutex_lock(&desk.mutex);
	is_asked = desk.taken && !desk.answered;
	question = desk.question;
	number = desk.number;
	pthread_mutex_unlock(&desk.mutex);
	if (!is_asked)
		return;
	made = answer(&question);
	pthread_mutex_lock(&desk.mutex);
	if (desk.taken && !desk.answered && desk.number == number) {
		desk.answer = made;
		desk.answered = true;
		made = NULL;
		pthread_cond_broadcast(&desk.changed);
	}
	pthread_mutex_unlock(&desk.mutex);
	json_decref(made);
}

// --- a client's thread ------------------------------------------------------------------------

static json_t *end_question(void)
{
	json_t *made = desk.answer;

	desk.answer = NULL;
	desk.taken = false;
	pthread_cond_broadcast(&desk.changed);
	return made;
}

// Under the mutex.
static json_t *ask_locked(const struct question *question, const struct timespec *until)
{
	const uint64_t one = 1;

	while (desk.taken) {
		if (pthread_cond_timedwait(&desk.changed, &desk.mutex, until) != 0)
			return error("others are asking; try again");
	}
	if (desk.wake < 0 || write(desk.wake, &one, sizeof(one)) < 0)
		return error("the switch ends");
	desk.taken = true;
	desk.answered = false;
	desk.number++;
	desk.question = *question;
	while (!desk.answered) {
		if (pthread_cond_timedwait(&desk.changed, &desk.mutex, until) == 0)
			continue;
		json_decref(end_question());
		return error("the control thread did not answer within a second");
	}
	return end_question();
}

static json_t *ask(const struct question *question)
{
	struct timespec until;
	json_t *made;

	clock_gettime(CLOCK_MONOTONIC, &until);
	until.tv_sec += WAIT_NS / 1000000000;
	pthread_mutex_lock(&desk.mutex);
	made = ask_locked(question, &until);
	pthread_mutex_unlock(&desk.mutex);
	return made;
}

// "SWITCH", "SWITCH:PORT" or, where a port is wanted, "PORT". False when it is too long.
static bool read_words(const char *params, bool wants_port, struct question *out)
{
	const char *colon = params == NULL ? NULL : strchr(params, ':');
	const char *port = colon != NULL ? colon + 1 : wants_port ? params : "";
	const size_t sw = colon != NULL                ? (size_t)(colon - params) :
			  wants_port || params == NULL ? 0 :
							 strlen(params);

	if (port == NULL)
		port = "";
	if (sw >= sizeof(out->sw) || strlen(port) >= sizeof(out->port))
		return false;
	memcpy(out->sw, params == NULL ? "" : params, sw);
	memcpy(out->port, port, strlen(port) + 1);
	return true;
}

static void fill(struct rte_tel_data *out, const json_t *made);

static void add_container(struct rte_tel_data *out, const char *key, const json_t *value)
{
	struct rte_tel_data *inner = rte_tel_data_alloc();

	if (inner == NULL)
		return;
	fill(inner, value);
	if (rte_tel_data_add_dict_container(out, key, inner, 0) != 0)
		rte_tel_data_free(inner);
}

// What is unknown (null) is left out, and texts are cut to what fits.
static void add_value(struct rte_tel_data *out, const char *key, const json_t *value)
{
	char text[RTE_TEL_MAX_STRING_LEN];

	if (json_is_integer(value)) {
		rte_tel_data_add_dict_u64(out, key, (uint64_t)json_integer_value(value));
	} else if (json_is_boolean(value)) {
		rte_tel_data_add_dict_int(out, key, json_is_true(value));
	} else if (json_is_string(value)) {
		snprintf(text, sizeof(text), "%s", json_string_value(value));
		rte_tel_data_add_dict_string(out, key, text);
	} else if (json_is_object(value) || json_is_array(value)) {
		add_container(out, key, value);
	}
}

// A list of texts, or an object.
static void fill(struct rte_tel_data *out, const json_t *made)
{
	const char *key;
	json_t *value;
	size_t i;

	if (!json_is_array(made)) {
		rte_tel_data_start_dict(out);
		json_object_foreach((json_t *)(uintptr_t)made, key, value)
			add_value(out, key, value);
		return;
	}
	rte_tel_data_start_array(out, RTE_TEL_STRING_VAL);
	json_array_foreach(made, i, value) {
		if (json_is_string(value))
			rte_tel_data_add_array_string(out, json_string_value(value));
	}
}

static int on_command(const char *command, const char *params, struct rte_tel_data *out)
{
	struct question question = { 0 };
	json_t *made;

	while (question.topic < TOPIC_COUNT && strcmp(topics[question.topic].command, command) != 0)
		question.topic++;
	if (read_words(params, question.topic >= TOPIC_PORT, &question))
		made = ask(&question);
	else
		made = error("the name is too long");
	fill(out, made);
	json_decref(made);
	return 0;
}

// --- start and end ----------------------------------------------------------------------------

static int make_condition(void)
{
	pthread_condattr_t attributes;
	int rc = pthread_condattr_init(&attributes);

	if (rc == 0)
		rc = pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
	if (rc == 0)
		rc = pthread_cond_init(&desk.changed, &attributes);
	pthread_condattr_destroy(&attributes);
	return -rc;
}

int telemetry_open(struct event_base *base, struct workers *workers)
{
	int rc = make_condition();

	if (rc != 0)
		return rc;
	all_workers = workers;
	desk.wake = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
	if (desk.wake < 0)
		return -errno;
	wake_event = event_new(base, desk.wake, EV_READ | EV_PERSIST, on_wake, NULL);
	if (wake_event == NULL || event_add(wake_event, NULL) != 0) {
		telemetry_close();
		return -ENOMEM;
	}
	// Commands cannot be taken back, so they come last.
	for (uint32_t i = 0; i < TOPIC_COUNT; i++)
		rte_telemetry_register_cmd(topics[i].command, on_command, topics[i].help);
	return 0;
}

void telemetry_close(void)
{
	pthread_mutex_lock(&desk.mutex);
	if (desk.wake >= 0)
		close(desk.wake);
	desk.wake = -1;
	pthread_mutex_unlock(&desk.mutex);
	if (wake_event != NULL)
		event_free(wake_event);
	wake_event = NULL;
}
