// SPDX-License-Identifier: BSD-3-Clause
//
// Properties of the reliable connection: two queue pairs send random messages to each other at the
// same time, in virtual time, over a channel that loses, repeats and delays packets, to receivers
// that are often not ready.
//
//   - every message arrives once, in order, with equal bytes; completions come in order;
//   - memory that has been handed back is never touched again;
//   - packets sent are packets received, by the counters of both and of the channel;
//   - nothing is sent again unless a packet was lost or repeated or a receive was missing.

#include "tests/rc_pair.h"
#include "tests/table.h"

enum {
	MESSAGES = 120,
	PACKETS_MAX = 24, // of a message
	BYTES_MAX = 12000,
	CHANNEL_MAX = 1024,
	STEPS_MAX = 1000000,
	HANDED_BACK = 0xee,
	DETOUR_MAX = 30000,
};

struct flight {
	ns_t at;
	bool used;
	struct roce_packet packet;
	uint8_t payload[ROCE_PAYLOAD_MAX];
};

// One direction. Packets stay in order, unless the run reorders.
struct channel {
	struct flight *flight;       // CHANNEL_MAX, used in turn
	uint32_t order[CHANNEL_MAX]; // ring of them, by their time
	uint32_t head, tail;
	uint32_t turn;
	ns_t last;
	uint64_t data_lost, data_repeated; // answers are not among them
	uint64_t lost, repeated;
};

struct message {
	struct rc_work work;
	uint8_t *there; // where a SEND came to, what a WRITE wrote, what a READ read
};

struct host {
	struct end end;
	struct message message[MESSAGES];
	uint32_t posted, done; // of them
	uint8_t *local;        // memory of the messages
	uint8_t *buffer;       // of the receives
	uint32_t receives, received;
	uint32_t heard; // the peer's messages, up to the last with a receive completion
	ns_t free;      // when it may send, post, and give a receive again
	ns_t post;
	ns_t give;
	struct channel out;
};

struct run {
	struct rng *rng;
	struct host host[2];
	uint32_t loss_permille, repeat_permille;
	bool slow_receiver;
	bool reorders;
	bool selective;
	bool only_writes;
	uint32_t message_max; // bytes
	ns_t now;
};

static uint32_t roll(struct run *run, uint32_t bound)
{
	return rng_below(run->rng, bound);
}

static void random_bytes(struct run *run, uint8_t *to, uint64_t count)
{
	for (uint64_t i = 0; i < count; i++)
		to[i] = (uint8_t)rng_next32(run->rng);
}

static bool handed_back(const uint8_t *data, uint64_t count)
{
	for (uint64_t i = 0; i < count; i++) {
		if (data[i] != HANDED_BACK)
			return false;
	}
	return true;
}

static bool takes_receive(const struct message *message)
{
	return message->work.op == RC_SEND || message->work.has_imm;
}

static struct rc_profile random_profile(struct run *run, uint32_t mtu)
{
	return (struct rc_profile){
		.mtu = mtu,
		.window = 1 + roll(run, roll(run, 2) ? 8 : 200),
		.ack_every = 1 + roll(run, 20),
		.request_every = 1 + roll(run, 20),
		.read_depth = 1 + roll(run, END_READS),
		.timeout_ns = 400000,
		.ack_delay_ns = roll(run, 20000),
		.retry_limit = 100,
		.rnr_limit = RC_RNR_FOR_EVER,
		.rnr_timer = (uint8_t)(1 + roll(run, 4)),
		.selective = run->selective,
		.reorder_ns = DETOUR_MAX + 10000,
	};
}

static void plan(struct run *run, struct host *host, const struct host *peer)
{
	for (uint32_t i = 0; i < MESSAGES; i++) {
		struct message *message = &host->message[i];
		struct rc_work *work = &message->work;

		*work = (struct rc_work){
			.id = i,
			.op = run->only_writes ? RC_WRITE : (enum rc_op)roll(run, 3),
			.imm = rng_next32(run->rng),
			.data = host->local + (size_t)i * run->message_max,
			.bytes = roll(run, roll(run, 4) ? run->message_max + 1 : 3),
			.remote_va = END_VA + (uint64_t)i * run->message_max,
			.rkey = END_RKEY,
		};
		work->has_imm = work->op != RC_READ && roll(run, 2);
		message->there = end_memory(&peer->end) + (size_t)i * run->message_max;
		random_bytes(run, work->op == RC_READ ? message->there : work->data, work->bytes);
	}
}

static void start(struct run *run, struct rng *rng)
{
	static const uint32_t mtu[] = { 1, 7, 64, 256, 1000, 1024, 4096 };
	const uint32_t one = mtu[rng_below(rng, TABLE_COUNT(mtu))];
	uint32_t psn[2];

	run->rng = rng;
	run->message_max = (uint32_t)u64_min((uint64_t)one * PACKETS_MAX, BYTES_MAX);
	for (uint32_t i = 0; i < 2; i++)
		psn[i] = psn_add(roll(run, 400), UINT32_MAX - 200);
	for (uint32_t i = 0; i < 2; i++) {
		struct host *host = &run->host[i];
		const struct rc_profile pf = random_profile(run, one);
		const size_t bytes = (size_t)run->message_max * MESSAGES;

		end_init(&host->end, &pf, bytes, psn[i], psn[1 - i]);
		host->local = keep(malloc(bytes));
		host->buffer = keep(malloc((size_t)run->message_max * END_RECEIVES));
		host->out.flight = keep(calloc(CHANNEL_MAX, sizeof(struct flight)));
	}
	// The responder has room for as many READs as the peer asks for.
	plan(run, &run->host[0], &run->host[1]);
	plan(run, &run->host[1], &run->host[0]);
}

static uint8_t *buffer_of(const struct run *run, const struct host *host, uint64_t receive)
{
	return host->buffer + receive % END_RECEIVES * run->message_max;
}

static void give_receives(struct run *run, struct host *host)
{
	while (host->receives - host->received < END_RECEIVES && !ns_before(run->now, host->give)) {
		const struct rc_receive receive = {
			.id = host->receives,
			.data = buffer_of(run, host, host->receives),
			.bytes = run->message_max,
		};

		cr_assert(rc_post_receive(&host->end.qp, &receive));
		host->receives++;
		if (run->slow_receiver)
			host->give = ns_add(run->now, roll(run, 60000));
	}
}

static void post_work(struct run *run, struct host *host)
{
	while (host->posted < MESSAGES && !ns_before(run->now, host->post)) {
		if (!rc_post(&host->end.pf, &host->end.qp, &host->message[host->posted].work,
			     run->now))
			break;
		host->posted++;
		if (roll(run, 3) == 0)
			host->post = ns_add(run->now, roll(run, 30000));
	}
}

static void work_done(struct host *host, const struct rc_completion *done)
{
	struct message *message = &host->message[host->done];
	const struct rc_work *work = &message->work;

	cr_assert_eq(done->status, RC_OK);
	cr_assert_eq(done->id, host->done);
	cr_assert_eq(done->bytes, work->bytes);
	if (work->op != RC_SEND)
		cr_assert_arr_eq(work->data, message->there, work->bytes);
	if (work->op == RC_READ)
		memset(work->data, HANDED_BACK, work->bytes);
	if (work->op == RC_WRITE)
		memset(message->there, HANDED_BACK, work->bytes);
	host->done++;
}

static void receive_done(struct run *run, struct host *host, const struct host *peer,
			 const struct rc_completion *done)
{
	uint8_t *buffer = buffer_of(run, host, done->id);
	const struct message *message;

	while (host->heard < MESSAGES && !takes_receive(&peer->message[host->heard]))
		host->heard++;
	cr_assert_lt(host->heard, peer->posted);
	message = &peer->message[host->heard++];
	cr_assert_eq(done->status, RC_OK);
	cr_assert_eq(done->id, host->received);
	cr_assert_eq(done->bytes, message->work.bytes);
	cr_assert_eq(done->has_imm, message->work.has_imm);
	cr_assert(!done->has_imm || done->imm == message->work.imm);
	if (message->work.op == RC_SEND)
		cr_assert_arr_eq(message->work.data, buffer, message->work.bytes);
	host->received++;
}

static void complete(struct run *run, struct host *host, const struct host *peer)
{
	struct rc_completion done;

	while (rc_complete(&host->end.qp, &done)) {
		if (done.receive)
			receive_done(run, host, peer, &done);
		else
			work_done(host, &done);
	}
}

// Puts the newest flight where its time says.
static void sort(struct channel *channel)
{
	uint32_t at = channel->head++;

	for (; at != channel->tail; at--) {
		const uint32_t before = channel->order[(at - 1) % CHANNEL_MAX];

		if (channel->flight[before].at.v <= channel->flight[channel->turn].at.v)
			break;
		channel->order[at % CHANNEL_MAX] = before;
	}
	channel->order[at % CHANNEL_MAX] = channel->turn;
}

static struct flight *first(const struct channel *channel)
{
	return &channel->flight[channel->order[channel->tail % CHANNEL_MAX]];
}

static void carry(struct run *run, struct channel *channel, const struct roce_packet *packet)
{
	struct flight *flight;
	ns_t at = ns_add(run->now, 1000 + roll(run, 4000));

	channel->last = ns_before(channel->last, at) ? at : channel->last;
	if (run->reorders)
		at = ns_add(at, roll(run, 4) ? 0 : roll(run, DETOUR_MAX));
	else
		at = channel->last;
	channel->turn = (channel->turn + 1) % CHANNEL_MAX;
	flight = &channel->flight[channel->turn];
	cr_assert(!flight->used);
	flight->used = true;
	flight->at = at;
	flight->packet = *packet;
	flight->packet.payload = flight->payload;
	if (packet->payload_bytes != 0)
		memcpy(flight->payload, packet->payload, packet->payload_bytes);
	sort(channel);
}

static void send(struct run *run, struct channel *channel, const struct roce_packet *packet)
{
	const bool data = packet->opcode != ROCE_ACK;

	if (roll(run, 1000) < run->loss_permille) {
		channel->lost++;
		channel->data_lost += data;
		return;
	}
	carry(run, channel, packet);
	if (roll(run, 1000) < run->repeat_permille) {
		channel->repeated++;
		channel->data_repeated += data;
		carry(run, channel, packet);
	}
}

static void transmit(struct run *run, struct host *host)
{
	struct roce_packet packet;

	while (!ns_before(run->now, host->free)) {
		if (!rc_tx(&host->end.pf, &host->end.qp, RC_ANSWER, run->now, &packet) &&
		    !rc_tx(&host->end.pf, &host->end.qp, RC_DATA, run->now, &packet))
			return;
		rc_check(&host->end);
		send(run, &host->out, &packet);
		host->free = ns_add(run->now, 50 + roll(run, 100));
	}
}

static void deliver(struct run *run, struct host *from, struct host *to)
{
	struct channel *channel = &from->out;

	while (channel->tail != channel->head) {
		struct flight *flight = first(channel);

		if (ns_before(run->now, flight->at))
			return;
		flight->used = false;
		rc_rx(&to->end.pf, &to->end.qp, &flight->packet, run->now);
		channel->tail++;
		rc_check(&to->end);
		complete(run, to, from);
	}
}

static ns_t wakeup(struct run *run, struct host *host)
{
	const struct channel *channel = &host->out;
	ns_t at = rc_deadline(&host->end.pf, &host->end.qp);

	if (rc_ready(&host->end.pf, &host->end.qp, RC_ANSWER, run->now) ||
	    rc_ready(&host->end.pf, &host->end.qp, RC_DATA, run->now))
		at = ns_min(at, host->free);
	if (channel->tail != channel->head)
		at = ns_min(at, first(channel)->at);
	if (host->posted < MESSAGES && host->posted - host->done < END_SENDS)
		at = ns_min(at, host->post);
	if (host->receives - host->received < END_RECEIVES)
		at = ns_min(at, host->give);
	return at;
}

static bool finished(const struct run *run)
{
	for (uint32_t i = 0; i < 2; i++) {
		if (run->host[i].done < MESSAGES ||
		    run->host[i].out.head != run->host[i].out.tail ||
		    rc_deadline(&run->host[i].end.pf, &run->host[i].end.qp).v != NS_NEVER.v)
			return false;
	}
	return true;
}

static void exchange(struct run *run)
{
	for (uint32_t step = 0; !finished(run); step++) {
		ns_t next;

		cr_assert_lt(step, STEPS_MAX, "no end in sight");
		for (uint32_t i = 0; i < 2; i++) {
			deliver(run, &run->host[1 - i], &run->host[i]);
			give_receives(run, &run->host[i]);
			post_work(run, &run->host[i]);
			transmit(run, &run->host[i]);
			complete(run, &run->host[i], &run->host[1 - i]);
		}
		next = ns_min(wakeup(run, &run->host[0]), wakeup(run, &run->host[1]));
		cr_assert(next.v != NS_NEVER.v || finished(run), "both wait for ever");
		run->now = ns_before(run->now, next) ? next : ns_add(run->now, 1);
	}
}

static void check_counters(const struct host *from, const struct host *to)
{
	const struct rc_stats *tx = &from->end.qp.stats, *rx = &to->end.qp.stats;

	cr_assert_eq(tx->tx_packets - from->out.data_lost + from->out.data_repeated,
		     rx->rx_packets + rx->duplicates + rx->out_of_sequence + rx->rnr_sent);
	cr_assert_eq(rx->refused, 0);
}

static void check_end(const struct run *run, const struct host *host)
{
	for (uint32_t i = 0; i < MESSAGES; i++) {
		const struct message *message = &host->message[i];

		if (message->work.op == RC_READ)
			cr_assert(handed_back(message->work.data, message->work.bytes));
		if (message->work.op == RC_WRITE)
			cr_assert(handed_back(message->there, message->work.bytes));
	}
	for (uint32_t i = host[0].heard; i < MESSAGES; i++) {
		const struct host *peer = host == &run->host[0] ? host + 1 : host - 1;

		cr_assert(!takes_receive(&peer->message[i]), "message %u was never heard of", i);
	}
}

static void finish(struct run *run)
{
	exchange(run);
	for (uint32_t i = 0; i < 2; i++) {
		check_counters(&run->host[i], &run->host[1 - i]);
		check_end(run, &run->host[i]);
	}
}

static struct rc_stats sum(const struct run *run)
{
	struct rc_stats total = run->host[0].end.qp.stats;
	const struct rc_stats *other = &run->host[1].end.qp.stats;

	total.retransmits += other->retransmits;
	total.timeouts += other->timeouts;
	total.out_of_sequence += other->out_of_sequence;
	total.duplicates += other->duplicates;
	total.rnr_sent += other->rnr_sent;
	total.rnr_received += other->rnr_received;
	return total;
}

SEED_TEST(traffic_rc, nothing_is_sent_again_without_a_reason, rng, 12)
{
	static struct run run;
	struct rc_stats total;

	start(&run, rng);
	finish(&run);
	total = sum(&run);
	cr_assert_eq(total.retransmits, 0);
	cr_assert_eq(total.timeouts, 0);
	cr_assert_eq(total.out_of_sequence + total.duplicates, 0);
}

SEED_TEST(traffic_rc, losses_are_made_good, rng, 12)
{
	static struct run run = { .loss_permille = 30 };

	start(&run, rng);
	finish(&run);
	cr_assert_gt(run.host[0].out.data_lost + run.host[1].out.data_lost, 0);
	cr_assert_gt(sum(&run).retransmits, 0);
}

SEED_TEST(traffic_rc, repeats_have_no_effect, rng, 12)
{
	static struct run run = { .repeat_permille = 50 };

	start(&run, rng);
	finish(&run);
	cr_assert_geq(sum(&run).duplicates,
		      run.host[0].out.data_repeated + run.host[1].out.data_repeated);
}

SEED_TEST(traffic_rc, a_slow_receiver_is_waited_for, rng, 12)
{
	static struct run run = { .slow_receiver = true };

	start(&run, rng);
	finish(&run);
	cr_assert_gt(sum(&run).rnr_sent, 0);
	cr_assert_eq(sum(&run).timeouts, 0);
}

SEED_TEST(traffic_rc, all_troubles_at_once, rng, 12)
{
	static struct run run = { .repeat_permille = 40, .slow_receiver = true };

	run.loss_permille = 1 + rng_below(rng, 150);
	start(&run, rng);
	finish(&run);
	cr_assert_gt(sum(&run).retransmits, 0);
}

// The same without loss in the usual mode loses time and repeats much.
SEED_TEST(traffic_rc, reordering_is_no_loss, rng, 12)
{
	static struct run run = { .selective = true, .reorders = true, .only_writes = true };

	start(&run, rng);
	finish(&run);
	cr_assert_eq(sum(&run).retransmits, 0);
	cr_assert_eq(sum(&run).timeouts, 0);
	cr_assert_eq(sum(&run).out_of_sequence + sum(&run).duplicates, 0);
}

// What is sent again was lost, or its answer was: the tail of what is outstanding, and its probes.
SEED_TEST(traffic_rc, only_what_is_missing_is_sent_again, rng, 12)
{
	static struct run run = {
		.loss_permille = 20, .selective = true, .reorders = true, .only_writes = true
	};
	struct rc_stats total;
	uint64_t lost;

	start(&run, rng);
	finish(&run);
	total = sum(&run);
	lost = run.host[0].out.data_lost + run.host[1].out.data_lost;
	cr_assert_gt(lost, 0);
	cr_assert_geq(total.retransmits, lost);
	cr_assert_leq(total.duplicates, 2 * total.timeouts);
	cr_assert_leq(total.retransmits, lost + 2 * total.timeouts);
}

SEED_TEST(traffic_rc, all_troubles_at_once_with_reordering, rng, 12)
{
	static struct run run = {
		.repeat_permille = 40, .slow_receiver = true, .selective = true, .reorders = true
	};

	run.loss_permille = 1 + rng_below(rng, 150);
	run.only_writes = rng_below(rng, 2);
	start(&run, rng);
	finish(&run);
	cr_assert_gt(sum(&run).retransmits, 0);
}
