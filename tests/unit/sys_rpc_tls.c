// SPDX-License-Identifier: BSD-3-Clause
//
// Who gets in over TLS, and who does not, with real certificates of every kind: each is made here,
// shown in a real handshake on the loopback interface, and the line in the log has to say why.
// Every wait is bounded by GUARD_S.

#include "sys/rpc_server.h"

#include <errno.h>
#include <event2/bufferevent_ssl.h>
#include <event2/http.h>
#include <event2/listener.h>
#include <event2/rpc.h>
#include <event2/rpc_struct.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "schema/fabric.gen.h"
#include "sys/pki_x509.h"
#include "sys/rpc_client.h"
#include "sys/rpc_conn.h"
#include "tests/table.h"

EVRPC_HEADER(ack, rpc_ack, rpc_ack_reply)
EVRPC_GENERATE(ack, rpc_ack, rpc_ack_reply)

enum { GUARD_S = 20, DAY_S = 24 * 3600, LOG_MAX = 4096, FILES_MAX = 32 };

struct scene {
	struct event_base *base;
	struct rpc_server *server;
	struct rpc_client *client;
	struct rpc_call *waiting; // of fetch
	uint32_t gone;
	uint32_t done; // calls of the client
	int error;
	uint64_t epoch;
	char why[RPC_REASON_BYTES];
	char peer[TLS_NAME_BYTES]; // as the server saw it
	char address[32];
	char dir[32];
	int log;
	struct pki_issuer authority;
	X509_CRL *list;
};

// --- certificates --------------------------------------------------------------------------------

// What is in a directory that stop() empties.
static const char *path_of(const struct scene *s, const char *name, const char *suffix)
{
	static char paths[8][96];
	static uint32_t next;
	char *path = paths[next++ % 8];

	snprintf(path, sizeof(paths[0]), "%s/%s%s", s->dir, name, suffix);
	return path;
}

static FILE *create(const struct scene *s, const char *name, const char *suffix)
{
	const int fd = open(path_of(s, name, suffix), O_WRONLY | O_CREAT | O_TRUNC, 0600);

	cr_assert_geq(fd, 0);
	return fdopen(fd, "w");
}

static void write_pair(const struct scene *s, const char *file, X509 *certificate, EVP_PKEY *key)
{
	FILE *out = create(s, file, ".pem");

	cr_assert_eq(PEM_write_X509(out, certificate), 1);
	fclose(out);
	out = create(s, file, ".key");
	cr_assert_eq(PEM_write_PrivateKey(out, key, NULL, NULL, 0, NULL, NULL), 1);
	fclose(out);
}

static void write_list(const struct scene *s)
{
	FILE *out = create(s, "revoked", ".pem");

	cr_assert_eq(PEM_write_X509_CRL(out, s->list), 1);
	fclose(out);
}

// An authority with FILE.pem; dates are in days from now.
static struct pki_issuer make_authority(const struct scene *s, const char *file)
{
	const time_t now = time(NULL);
	const struct pki_subject subject = { "lab authority", PKI_AUTHORITY, now - DAY_S,
					     now + 100 * DAY_S };
	struct pki_issuer issuer = { .key = pki_make_key() };

	issuer.certificate = pki_sign(&subject, issuer.key, &issuer);
	cr_assert_not_null(issuer.certificate);
	write_pair(s, file, issuer.certificate, issuer.key);
	return issuer;
}

static void make(const struct scene *s, const char *file, const char *name, enum pki_use use,
		 int from_day, int until_day, const struct pki_issuer *issuer)
{
	const time_t now = time(NULL);
	const struct pki_subject subject = { name, use, now + from_day * DAY_S,
					     now + until_day * DAY_S };
	EVP_PKEY *key = pki_make_key();
	X509 *certificate = pki_sign(&subject, key, issuer);

	cr_assert_not_null(certificate);
	write_pair(s, file, certificate, key);
	X509_free(certificate);
	EVP_PKEY_free(key);
}

static X509 *read_certificate(const struct scene *s, const char *file)
{
	FILE *in = fopen(path_of(s, file, ".pem"), "r");
	X509 *certificate = PEM_read_X509(in, NULL, NULL, NULL);

	fclose(in);
	return certificate;
}

static void put_on_list(struct scene *s, const char *file)
{
	X509 *certificate = read_certificate(s, file);
	const time_t now = time(NULL);

	cr_assert(pki_add_revoked(s->list, &s->authority, certificate, now - 60, now + DAY_S));
	X509_free(certificate);
	write_list(s);
}

static struct tls_files files_of(const struct scene *s, const char *authority, const char *file)
{
	struct tls_files files;

	snprintf(files.authority, TLS_PATH_BYTES, "%s", path_of(s, authority, ".pem"));
	snprintf(files.certificate, TLS_PATH_BYTES, "%s", path_of(s, file, ".pem"));
	snprintf(files.key, TLS_PATH_BYTES, "%s", path_of(s, file, ".key"));
	snprintf(files.revoked, TLS_PATH_BYTES, "%s", path_of(s, "revoked", ".pem"));
	return files;
}

static void make_certificates(struct scene *s)
{
	const time_t now = time(NULL);
	struct pki_issuer other = make_authority(s, "other-ca");

	s->authority = make_authority(s, "ca");
	s->list = pki_make_list(&s->authority, now - 60, now + DAY_S);
	cr_assert_not_null(s->list);
	write_list(s);
	make(s, "manager", TLS_MANAGER_NAME, PKI_SERVER, -1, 9, &s->authority);
	make(s, "leaf1", "leaf1", PKI_CLIENT, -1, 9, &s->authority);
	make(s, "expired", "leaf1", PKI_CLIENT, -9, -1, &s->authority);
	make(s, "early", "leaf1", PKI_CLIENT, 1, 9, &s->authority);
	make(s, "revoked1", "leaf1", PKI_CLIENT, -1, 9, &s->authority);
	make(s, "foreign", "leaf1", PKI_CLIENT, -1, 9, &other);
	make(s, "unnamed", "leaf 1", PKI_CLIENT, -1, 9, &s->authority);
	make(s, "false-manager", TLS_MANAGER_NAME, PKI_CLIENT, -1, 9, &s->authority);
	make(s, "other-server", "leaf1", PKI_SERVER, -1, 9, &s->authority);
	make(s, "foreign-manager", TLS_MANAGER_NAME, PKI_SERVER, -1, 9, &other);
	make(s, "expired-manager", TLS_MANAGER_NAME, PKI_SERVER, -9, -1, &s->authority);
	make(s, "revoked-manager", TLS_MANAGER_NAME, PKI_SERVER, -1, 9, &s->authority);
	put_on_list(s, "revoked1");
	put_on_list(s, "revoked-manager");
	X509_free(other.certificate);
	EVP_PKEY_free(other.key);
}

// --- the two ends --------------------------------------------------------------------------------

static void on_ack(void *arg, struct rpc_call *call, const void *request)
{
	const struct rpc_ack_reply reply = { .epoch = ((const struct rpc_ack *)request)->epoch + 1,
					     .has_epoch = true };
	struct scene *s = arg;

	snprintf(s->peer, sizeof(s->peer), "%s", rpc_call_peer(call));
	rpc_reply(call, &reply);
}

static void on_fetch(void *arg, struct rpc_call *call, const void *request)
{
	struct scene *s = arg;

	s->waiting = call;
	// What the manager does after a hello; who has shown a certificate has a name.
	if (rpc_call_peer(call) == NULL)
		rpc_call_name(call, "leaf2");
	event_base_loopbreak(s->base);
}

static void on_gone(void *arg, struct rpc_call *call)
{
	struct scene *s = arg;

	s->gone++;
	event_base_loopbreak(s->base);
}

static const struct rpc_method methods[] = {
	{ "ack", &rpc_ack_message, &rpc_ack_reply_message, on_ack, NULL },
	{ "fetch", &rpc_fetch_message, &rpc_fetch_reply_message, on_fetch, on_gone },
};

static void start(struct scene *s)
{
	*s = (struct scene){ .base = event_base_new(), .dir = "/tmp/weft-tls-XXXXXX" };
	signal(SIGPIPE, SIG_IGN);
	cr_assert_not_null(mkdtemp(s->dir));
	make_certificates(s);
	s->log = open(path_of(s, "log", ""), O_RDWR | O_CREAT | O_APPEND, 0600);
	cr_assert_geq(dup2(s->log, STDERR_FILENO), 0);
}

static void start_server(struct scene *s)
{
	const struct tls_files files = files_of(s, "ca", "manager");
	const struct rpc_server_options options = {
		.socket_path = path_of(s, "socket", ""),
		.address = "127.0.0.1:0",
		.tls = &files,
		.connection_max = 8,
		.peer_connection_max = 2,
	};

	s->server = rpc_server_open(s->base, &options, methods, TABLE_COUNT(methods), s);
	cr_assert_not_null(s->server);
	snprintf(s->address, sizeof(s->address), "127.0.0.1:%u", rpc_server_port(s->server));
}

static struct rpc_client *open_client(const struct scene *s, const char *file)
{
	const struct tls_files files = files_of(s, "ca", file);
	const struct rpc_client_options options = { .address = s->address,
						    .tls = &files,
						    .timeout_ms = 10000 };
	struct rpc_client *client = rpc_client_open(s->base, &options);

	cr_assert_not_null(client);
	return client;
}

static void stop(struct scene *s)
{
	static const char *const names[] = {
		"other-ca", "ca",           "manager",         "leaf1",           "expired",
		"early",    "revoked1",     "foreign",         "unnamed",         "false-manager",
		"revoked",  "other-server", "foreign-manager", "expired-manager", "revoked-manager",
	};

	rpc_client_close(s->client);
	rpc_server_close(s->server);
	event_base_free(s->base);
	X509_free(s->authority.certificate);
	EVP_PKEY_free(s->authority.key);
	X509_CRL_free(s->list);
	for (uint32_t i = 0; i < TABLE_COUNT(names); i++) {
		unlink(path_of(s, names[i], ".pem"));
		unlink(path_of(s, names[i], ".key"));
	}
	unlink(path_of(s, "log", ""));
	close(s->log);
	cr_assert_eq(rmdir(s->dir), 0);
}

static void run(struct scene *s)
{
	const struct timeval guard = { .tv_sec = GUARD_S };

	event_base_loopexit(s->base, &guard);
	event_base_dispatch(s->base);
	cr_assert(event_base_got_break(s->base), "nothing happened");
}

static void on_done(void *arg, int error, const void *reply, const char *why)
{
	struct scene *s = arg;

	s->done++;
	s->error = error;
	s->epoch = error == 0 ? ((const struct rpc_ack_reply *)reply)->epoch : 0;
	snprintf(s->why, sizeof(s->why), "%s", why);
	event_base_loopbreak(s->base);
}

static struct rpc_ack an_ack(uint64_t epoch)
{
	return (struct rpc_ack){
		.has_boot = true,
		.epoch = epoch,
		.has_epoch = true,
		.has_step = true,
		.generation = { 5, true, 600, true, 7, true },
		.has_generation = true,
		.has_error = true,
	};
}

static void begin_fetch(struct scene *s)
{
	static const struct rpc_fetch fetch = { .has_boot = true,
						.has_epoch = true,
						.has_wait_ms = true };
	const struct rpc_call_out call = {
		"fetch", &rpc_fetch_message, &fetch, &rpc_fetch_reply_message, 0, on_done, s,
	};

	cr_assert_eq(rpc_client_call(s->client, &call), 0);
}

static int ack(struct scene *s)
{
	const struct rpc_ack request = an_ack(7);
	const struct rpc_call_out call = {
		"ack", &rpc_ack_message, &request, &rpc_ack_reply_message, 0, on_done, s
	};
	const uint32_t done = s->done;

	cr_assert_eq(rpc_client_call(s->client, &call), 0);
	while (s->done == done)
		run(s);
	return s->error;
}

// Whether a line of the log has both words.
static bool logged(const struct scene *s, const char *word, const char *other)
{
	char text[LOG_MAX] = "";

	cr_assert_geq(pread(s->log, text, sizeof(text) - 1, 0), 0);
	for (char *line = text, *end; (end = strchr(line, '\n')) != NULL; line = end + 1) {
		*end = '\0';
		if (strstr(line, word) != NULL && strstr(line, other) != NULL)
			return true;
	}
	return false;
}

// --- tests ---------------------------------------------------------------------------------------

Test(rpc_tls, calls)
{
	struct scene s;

	start(&s);
	start_server(&s);
	s.client = open_client(&s, "leaf1");
	for (uint32_t i = 0; i < 5; i++)
		cr_assert_eq(ack(&s), 0, "%s", s.why);
	cr_assert_eq(s.epoch, 8);
	cr_assert_str_eq(s.peer, "leaf1");
	cr_assert_eq(s.server->conn_count, 1, "one handshake for all");
	cr_assert_eq(s.server->guest_count, 0);
	stop(&s);
}

// A client as it should not be: what it shows, and the highest version of TLS that it speaks.
static const struct {
	const char *what;
	const char *file; // NULL: no certificate
	int version;
	const char *want; // in the log
} guests[] = {
	{ "of another authority", "foreign", TLS1_3_VERSION, "unable to get local issuer" },
	{ "expired", "expired", TLS1_3_VERSION, "certificate has expired" },
	{ "not valid yet", "early", TLS1_3_VERSION, "certificate is not yet valid" },
	{ "revoked", "revoked1", TLS1_3_VERSION, "certificate revoked" },
	{ "none", NULL, TLS1_3_VERSION, "did not return a certificate" },
	{ "no name of a switch", "unnamed", TLS1_3_VERSION, "none that a switch can have" },
	{ "an older TLS", "leaf1", TLS1_2_VERSION, "unsupported protocol" },
};

static void on_guest_event(struct bufferevent *bev, short what, void *arg)
{
	struct scene *s = arg;

	if ((what & (BEV_EVENT_EOF | BEV_EVENT_ERROR)) != 0)
		event_base_loopbreak(s->base);
}

static void on_guest_read(struct bufferevent *bev, void *arg)
{
	cr_assert_fail("it got an answer");
}

static SSL_CTX *raw_context(const struct scene *s, const char *file, int version)
{
	SSL_CTX *context = SSL_CTX_new(TLS_method());

	SSL_CTX_set_max_proto_version(context, version);
	if (file == NULL)
		return context;
	cr_assert_eq(SSL_CTX_use_certificate_file(context, path_of(s, file, ".pem"),
						  SSL_FILETYPE_PEM),
		     1);
	cr_assert_eq(SSL_CTX_use_PrivateKey_file(context, path_of(s, file, ".key"),
						 SSL_FILETYPE_PEM),
		     1);
	return context;
}

TABLE_TEST(rpc_tls, refused_guest, row, guests)
{
	struct sockaddr_in at = { .sin_family = AF_INET, .sin_addr = { htonl(INADDR_LOOPBACK) } };
	struct bufferevent *bev;
	SSL_CTX *context;
	struct scene s;

	start(&s);
	start_server(&s);
	at.sin_port = htons(rpc_server_port(s.server));
	context = raw_context(&s, row->file, row->version);
	bev = bufferevent_openssl_socket_new(s.base, -1, SSL_new(context),
					     BUFFEREVENT_SSL_CONNECTING, BEV_OPT_CLOSE_ON_FREE);
	bufferevent_setcb(bev, on_guest_read, NULL, on_guest_event, &s);
	bufferevent_enable(bev, EV_READ | EV_WRITE);
	bufferevent_write(bev, "GET / HTTP/1.1\r\n\r\n", 18);
	cr_assert_eq(bufferevent_socket_connect(bev, (struct sockaddr *)&at, sizeof(at)), 0);
	run(&s);
	cr_assert(logged(&s, "rpc: 127.0.0.1:", row->want), "%s", row->what);
	cr_assert_eq(s.server->conn_count, 0);
	cr_assert_eq(s.server->guest_count, 0);
	bufferevent_free(bev);
	SSL_CTX_free(context);
	// Others go on.
	s.client = open_client(&s, "leaf1");
	cr_assert_eq(ack(&s), 0, "%s", s.why);
	stop(&s);
}

// A server as a client must not believe it.
static const struct {
	const char *what;
	const char *file;
	int version;
	int error;
	const char *why;
} hosts[] = {
	{ "another name", "other-server", TLS1_3_VERSION, -EACCES, "not " TLS_MANAGER_NAME },
	{ "a switch that calls itself the manager", "false-manager", TLS1_3_VERSION, -EACCES,
	  "certificate purpose" },
	{ "of another authority", "foreign-manager", TLS1_3_VERSION, -EACCES,
	  "unable to get local issuer" },
	{ "expired", "expired-manager", TLS1_3_VERSION, -EACCES, "certificate has expired" },
	{ "revoked", "revoked-manager", TLS1_3_VERSION, -EACCES, "certificate revoked" },
	{ "an older TLS", "manager", TLS1_2_VERSION, -ECONNRESET, "protocol version" },
};

struct raw_server {
	struct event_base *base;
	SSL_CTX *context;
	struct bufferevent *bev;
};

static void on_host_accept(struct evconnlistener *listener, evutil_socket_t fd, struct sockaddr *at,
			   int length, void *arg)
{
	struct raw_server *raw = arg;

	raw->bev = bufferevent_openssl_socket_new(raw->base, fd, SSL_new(raw->context),
						  BUFFEREVENT_SSL_ACCEPTING, BEV_OPT_CLOSE_ON_FREE);
	bufferevent_setcb(raw->bev, on_guest_read, NULL, NULL, NULL);
	bufferevent_enable(raw->bev, EV_READ | EV_WRITE);
}

TABLE_TEST(rpc_tls, refused_host, row, hosts)
{
	struct sockaddr_in at = { .sin_family = AF_INET, .sin_addr = { htonl(INADDR_LOOPBACK) } };
	struct evconnlistener *listener;
	socklen_t length = sizeof(at);
	struct raw_server raw;
	struct scene s;

	start(&s);
	raw = (struct raw_server){ s.base, raw_context(&s, row->file, row->version), NULL };
	listener = evconnlistener_new_bind(s.base, on_host_accept, &raw, LEV_OPT_CLOSE_ON_FREE, 8,
					   (struct sockaddr *)&at, sizeof(at));
	getsockname(evconnlistener_get_fd(listener), (struct sockaddr *)&at, &length);
	snprintf(s.address, sizeof(s.address), "127.0.0.1:%u", ntohs(at.sin_port));
	s.client = open_client(&s, "leaf1");
	cr_assert_eq(ack(&s), row->error, "%s: %d %s", row->what, s.error, s.why);
	cr_assert_not_null(strstr(s.why, row->why), "%s: %s", row->what, s.why);
	bufferevent_free(raw.bev);
	evconnlistener_free(listener);
	SSL_CTX_free(raw.context);
	stop(&s);
}

// What a client is told whose certificate the server refuses.
Test(rpc_tls, a_refused_client_knows_why)
{
	struct scene s;

	start(&s);
	start_server(&s);
	s.client = open_client(&s, "revoked1");
	cr_assert_eq(ack(&s), -EACCES, "%d %s", s.error, s.why);
	cr_assert_str_eq(s.why, "the other end says: certificate revoked");
	stop(&s);
}

Test(rpc_tls, revoked_live)
{
	struct scene s;

	start(&s);
	start_server(&s);
	s.client = open_client(&s, "leaf1");
	begin_fetch(&s);
	run(&s);
	cr_assert_eq(rpc_server_read_revoked(s.server), 0);
	cr_assert_eq(s.gone, 0, "it is not on the list yet");
	put_on_list(&s, "leaf1");
	cr_assert_eq(rpc_server_read_revoked(s.server), 0);
	cr_assert_eq(s.gone, 1);
	cr_assert(logged(&s, "rpc: leaf1 at 127.0.0.1:", "certificate revoked"));
	run(&s);
	cr_assert_eq(s.error, -ECONNRESET, "%d %s", s.error, s.why);
	cr_assert_eq(ack(&s), -EACCES, "%d %s", s.error, s.why);
	stop(&s);
}

// Who calls over the unix socket shows no certificate, so a list does not concern it.
Test(rpc_tls, a_list_is_not_for_the_unix_socket)
{
	struct scene s;
	char address[128];

	start(&s);
	start_server(&s);
	snprintf(address, sizeof(address), "unix:%s", path_of(&s, "socket", ""));
	s.client = rpc_client_open(s.base, &(struct rpc_client_options){ .address = address,
									 .timeout_ms = 10000 });
	cr_assert_not_null(s.client);
	begin_fetch(&s);
	run(&s);
	put_on_list(&s, "leaf1");
	cr_assert_eq(rpc_server_read_revoked(s.server), 0);
	cr_assert_eq(s.gone, 0);
	cr_assert_eq(s.server->conn_count, 1);
	stop(&s);
}

// Nobody asks for it: the server looks for itself at files that have changed.
Test(rpc_tls, revoked_by_file)
{
	struct scene s;

	start(&s);
	start_server(&s);
	s.client = open_client(&s, "leaf1");
	begin_fetch(&s);
	run(&s);
	put_on_list(&s, "leaf1");
	event_active(s.server->look, EV_TIMEOUT, 0);
	run(&s);
	cr_assert_eq(s.gone, 1);
	stop(&s);
}

// A list that cannot be read changes nothing.
Test(rpc_tls, broken_list)
{
	struct scene s;
	FILE *out;

	start(&s);
	start_server(&s);
	s.client = open_client(&s, "leaf1");
	cr_assert_eq(ack(&s), 0, "%s", s.why);
	out = create(&s, "revoked", ".pem");
	fputs("nothing\n", out);
	fclose(out);
	cr_assert_eq(rpc_server_read_revoked(s.server), -EINVAL);
	cr_assert(logged(&s, "revoked.pem: ", "no list of revoked certificates"));
	cr_assert_eq(s.server->conn_count, 1);
	cr_assert_eq(ack(&s), 0, "%s", s.why);
	stop(&s);
}

Test(rpc_tls, expired_live)
{
	struct scene s;
	X509_STORE *store;

	start(&s);
	start_server(&s);
	s.client = open_client(&s, "leaf1");
	begin_fetch(&s);
	run(&s);
	cr_assert_lt(TAILQ_FIRST(&s.server->conns)->expiry, time(NULL) + 10 * DAY_S);
	cr_assert_gt(TAILQ_FIRST(&s.server->conns)->expiry, time(NULL) + 8 * DAY_S);
	// Ten days later.
	store = SSL_CTX_get_cert_store(s.server->tls);
	X509_VERIFY_PARAM_set_time(X509_STORE_get0_param(store), time(NULL) + 10 * DAY_S);
	TAILQ_FIRST(&s.server->conns)->expiry -= 10 * DAY_S;
	event_active(s.server->look, EV_TIMEOUT, 0);
	run(&s);
	cr_assert_eq(s.gone, 1);
	cr_assert(logged(&s, "rpc: leaf1 at 127.0.0.1:", "expired"));
	stop(&s);
}

Test(rpc_tls, dropped_and_connections_of_a_peer)
{
	struct rpc_client *clients[3];
	struct scene s;

	start(&s);
	start_server(&s);
	for (uint32_t i = 0; i < TABLE_COUNT(clients); i++) {
		s.client = clients[i] = open_client(&s, "leaf1");
		cr_assert_eq(ack(&s), i < 2 ? 0 : -ECONNRESET, "%u: %s", i, s.why);
	}
	cr_assert(logged(&s, "rpc: leaf1 at 127.0.0.1:", "as many connections"));
	cr_assert_eq(s.server->conn_count, 2);
	rpc_server_drop(s.server, "leaf2");
	cr_assert_eq(s.server->conn_count, 2);
	rpc_server_drop(s.server, "leaf1");
	cr_assert_eq(s.server->conn_count, 0);
	cr_assert_eq(ack(&s), 0, "it may come again: %s", s.why);
	for (uint32_t i = 0; i < 2; i++)
		rpc_client_close(clients[i]);
	stop(&s);
}

static void on_evrpc_done(struct evrpc_status *status, struct rpc_ack *request,
			  struct rpc_ack_reply *reply, void *arg)
{
	struct scene *s = arg;

	s->done++;
	s->error = status->error;
	s->epoch = reply->epoch;
	event_base_loopbreak(s->base);
}

Test(rpc_tls, client_of_libevent)
{
	struct rpc_ack request = an_ack(7);
	struct rpc_ack_reply reply = { 0 };
	struct evrpc_pool *pool;
	SSL_CTX *context;
	struct scene s;

	start(&s);
	start_server(&s);
	context = raw_context(&s, "leaf1", TLS1_3_VERSION);
	pool = evrpc_pool_new(s.base);
	evrpc_pool_add_connection(
		pool, evhttp_connection_base_bufferevent_new(
			      NULL, NULL,
			      bufferevent_openssl_socket_new(s.base, -1, SSL_new(context),
							     BUFFEREVENT_SSL_CONNECTING,
							     BEV_OPT_CLOSE_ON_FREE),
			      "127.0.0.1", rpc_server_port(s.server)));
	EVRPC_MAKE_REQUEST(ack, pool, &request, &reply, on_evrpc_done, &s);
	run(&s);
	cr_assert_eq(s.error, EVRPC_STATUS_ERR_NONE);
	cr_assert_eq(s.epoch, 8);
	cr_assert_str_eq(s.peer, "leaf1");
	evrpc_pool_free(pool);
	SSL_CTX_free(context);
	stop(&s);
}

// --- own files -----------------------------------------------------------------------------------

static const struct {
	const char *what;
	const char *authority;
	const char *certificate;
	const char *key;
	mode_t mode; // of the key
	const char *want;
} own[] = {
	{ "a key that others read", "ca", "leaf1", "leaf1", 0644, "others may read or write" },
	{ "a key that the group writes", "ca", "leaf1", "leaf1", 0660, "others may read or write" },
	{ "a key of another", "ca", "leaf1", "manager", 0600, "not the key of the certificate" },
	{ "no key", "ca", "leaf1", "nothing", 0600, "No such file or directory" },
	{ "no certificate", "ca", "nothing", "leaf1", 0600, "No such file or directory" },
	{ "no authority", "nothing", "leaf1", "leaf1", 0600, "No such file or directory" },
	{ "expired", "ca", "expired", "expired", 0600, "has expired" },
	{ "not valid yet", "ca", "early", "early", 0600, "not valid yet" },
	{ "no name of a switch", "ca", "unnamed", "unnamed", 0600, "no common name" },
	{ "a log for a certificate", "ca", "../log", "leaf1", 0600, "no certificate in PEM" },
	{ "all right", "ca", "leaf1", "leaf1", 0640, NULL },
};

TABLE_TEST(rpc_tls, own_files, row, own)
{
	struct tls_files files;
	char text[512] = "";
	SSL_CTX *context;
	struct scene s;
	FILE *errors;

	start(&s);
	files = files_of(&s, row->authority, row->certificate);
	if (strcmp(row->certificate, "../log") == 0)
		snprintf(files.certificate, TLS_PATH_BYTES, "%s", path_of(&s, "log", ""));
	snprintf(files.key, TLS_PATH_BYTES, "%s", path_of(&s, row->key, ".key"));
	chmod(files.key, row->mode);
	errors = fmemopen(text, sizeof(text), "w");
	context = tls_open(&files, false, errors);
	fclose(errors);
	cr_assert_eq(context == NULL, row->want != NULL, "%s: %s", row->what, text);
	if (row->want != NULL)
		cr_assert_not_null(strstr(text, row->want), "%s: %s", row->what, text);
	SSL_CTX_free(context);
	stop(&s);
}
