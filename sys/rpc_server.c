// SPDX-License-Identifier: BSD-3-Clause
//
// Listeners, and all connections together: who is let in, and who has to leave. What one connection
// says is rpc_conn.c's.

#include "sys/rpc_server.h"

#include <errno.h>
#include <event2/bufferevent_ssl.h>
#include <event2/listener.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "sys/log.h"
#include "sys/rpc_conn.h"
#include "sys/stale_socket.h"

enum {
	BACKLOG = 4096,
	FILES_SPARE = 256, // files that are no connections
	REST_MS = 100,
	LOOK_S = 30,
	// Those who have not shown a certificate yet cost memory as well; who is slow makes room
	// for others when there are so many.
	GUEST_COUNT_MAX = 256,
	GUEST_MS = 2000,
};

enum { LISTENER_UNIX, LISTENER_TCP, LISTENER_COUNT };

static void set_listening(const struct rpc_server *server, uint32_t which, bool on)
{
	struct evconnlistener *listener = server->listeners[which];

	if (listener != NULL && on)
		evconnlistener_enable(listener);
	else if (listener != NULL)
		evconnlistener_disable(listener);
}

static void rest(const struct rpc_server *server)
{
	const struct timeval wait = { .tv_usec = (suseconds_t)REST_MS * 1000 };

	event_add(server->rest, &wait);
}

// Such as too many open files: without a rest the loop would spin.
static void on_accept_error(struct evconnlistener *listener, void *arg)
{
	const struct rpc_server *server = arg;

	log_err("rpc: accept: %s", strerror(errno));
	set_listening(server, LISTENER_UNIX, false);
	set_listening(server, LISTENER_TCP, false);
	rest(server);
}

void rpc_server_welcome(struct rpc_server *server)
{
	if (server->guest_count < GUEST_COUNT_MAX && !evtimer_pending(server->rest, NULL))
		set_listening(server, LISTENER_TCP, true);
}

// Who has been a guest for long, and not because this end has not read what it said.
static struct rpc_conn *slow_guest(const struct rpc_server *server)
{
	const int64_t now = rpc_conn_now_ms();
	struct rpc_conn *guest;

	for (guest = TAILQ_FIRST(&server->guests); guest != NULL;
	     guest = TAILQ_NEXT(guest, entry)) {
		int waiting = 0;

		if (now - guest->since_ms < GUEST_MS)
			return NULL;
		ioctl(bufferevent_getfd(guest->bev), FIONREAD, &waiting);
		if (waiting == 0)
			return guest;
	}
	return NULL;
}

// With too many guests the next ones wait in the kernel until one of these has left; those that are
// slow do.
static void limit_guests(struct rpc_server *server)
{
	struct rpc_conn *slow;

	while (server->guest_count >= GUEST_COUNT_MAX && (slow = slow_guest(server)) != NULL)
		rpc_conn_refuse(slow, "slow with its TLS handshake, and others wait");
	if (server->guest_count >= GUEST_COUNT_MAX) {
		set_listening(server, LISTENER_TCP, false);
		rest(server);
	}
}

static void on_rested(evutil_socket_t fd, short what, void *arg)
{
	struct rpc_server *server = arg;

	set_listening(server, LISTENER_UNIX, true);
	limit_guests(server);
	rpc_server_welcome(server);
}

static struct bufferevent *make_bev(struct rpc_server *server, evutil_socket_t fd, bool is_tls)
{
	const int options = BEV_OPT_CLOSE_ON_FREE;
	struct bufferevent *bev;
	const int on = 1;
	SSL *ssl;

	if (!is_tls)
		return bufferevent_socket_new(server->base, fd, options);
	// Without it a small message waits for the acknowledgement of the one before.
	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
	ssl = SSL_new(server->tls);
	if (ssl == NULL)
		return NULL;
	bev = bufferevent_openssl_socket_new(server->base, fd, ssl, BUFFEREVENT_SSL_ACCEPTING,
					     options);
	if (bev == NULL)
		SSL_free(ssl);
	else
		bufferevent_openssl_set_allow_dirty_shutdown(bev, 1);
	return bev;
}

static void on_accept(struct evconnlistener *listener, evutil_socket_t fd, struct sockaddr *at,
		      int length, void *arg)
{
	struct rpc_server *server = arg;
	char place[RPC_PLACE_BYTES];
	struct bufferevent *bev;

	if (server->conn_count >= server->options.connection_max) {
		rpc_address_print(at, place);
		log_warn("rpc: %s: refused: %u connections already", place, server->conn_count);
		close(fd);
		return;
	}
	bev = make_bev(server, fd, listener == server->listeners[LISTENER_TCP]);
	if (bev == NULL)
		close(fd);
	if (bev == NULL || !rpc_conn_open(server, bev, at))
		log_err("rpc: no memory for a connection");
	limit_guests(server);
}

// A bound socket, or -errno.
static int bind_socket(const struct rpc_address *address)
{
	const int fd = socket(address->at.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	const bool is_unix = address->kind == RPC_ADDRESS_UNIX;
	const mode_t mask = umask(0117); // of the unix socket's file
	const int on = 1;
	int rc = 0;

	if (fd >= 0 && !is_unix)
		setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
	if (fd < 0 || bind(fd, (const struct sockaddr *)&address->at, address->length) != 0)
		rc = -errno;
	umask(mask);
	if (rc == 0)
		return fd;
	if (fd >= 0)
		close(fd);
	return rc;
}

static int listen_on(struct rpc_server *server, uint32_t which, const struct rpc_address *address)
{
	const unsigned flags = LEV_OPT_CLOSE_ON_FREE | LEV_OPT_CLOSE_ON_EXEC;
	const int fd = bind_socket(address);

	if (fd < 0)
		return fd;
	server->listeners[which] = evconnlistener_new(server->base, on_accept, server, flags,
						      BACKLOG, fd);
	if (server->listeners[which] == NULL) {
		const int rc = -errno;

		close(fd);
		return rc != 0 ? rc : -ENOMEM;
	}
	evconnlistener_set_error_cb(server->listeners[which], on_accept_error);
	return 0;
}

static int listen_unix(struct rpc_server *server, const char *path)
{
	char text[TLS_PATH_BYTES + sizeof("unix:")];
	struct rpc_address address;
	int rc;

	snprintf(text, sizeof(text), "unix:%s", path);
	stale_socket_remove(path);
	rc = rpc_address_parse(text, &address) ? listen_on(server, LISTENER_UNIX, &address) :
						 -ENAMETOOLONG;
	if (rc == 0)
		snprintf(server->socket_path, sizeof(server->socket_path), "%s", path);
	else
		log_err("rpc: %s: %s", path, strerror(-rc));
	return rc;
}

static int listen_tcp(struct rpc_server *server, const char *text)
{
	struct rpc_address address;
	int rc;

	if (server->tls == NULL) {
		log_err("rpc: %s: TCP is not served without certificates", text);
		return -EINVAL;
	}
	if (!rpc_address_parse(text, &address) || address.kind != RPC_ADDRESS_IP) {
		log_err("rpc: %s: not IP:PORT or [IPV6]:PORT", text);
		return -EINVAL;
	}
	rc = listen_on(server, LISTENER_TCP, &address);
	if (rc < 0)
		log_err("rpc: %s: %s", text, strerror(-rc));
	return rc;
}

// --- certificates --------------------------------------------------------------------------------

static int open_tls(struct rpc_server *server)
{
	const uint64_t stamp = tls_stamp(&server->files);
	SSL_CTX *tls = tls_open(&server->files, true, log_faults());

	if (tls == NULL)
		return -EINVAL;
	if (server->options.guests)
		tls_allow_guests(tls);
	SSL_CTX_free(server->tls);
	server->tls = tls;
	server->stamp = stamp;
	return 0;
}

// One that has shown a certificate, and has not been looked at this time. Who calls over the unix
// socket may have a name, too, but shows none.
static struct rpc_conn *next_look(const struct rpc_server *server)
{
	struct rpc_conn *conn;

	for (conn = TAILQ_FIRST(&server->conns); conn != NULL; conn = TAILQ_NEXT(conn, entry)) {
		if (conn->ssl != NULL && conn->peer[0] != '\0' && conn->looked != server->looks)
			return conn;
	}
	return NULL;
}

// Sessions whose certificates would not be accepted any more end.
static void look_at_all(struct rpc_server *server)
{
	struct rpc_conn *conn;
	const char *why;

	server->looks++;
	// From the start each time: who is told of the end may end others.
	while ((conn = next_look(server)) != NULL) {
		conn->looked = server->looks;
		why = tls_refused(server->tls, conn->ssl);
		if (why != NULL)
			rpc_conn_refuse(conn, why);
	}
}

int rpc_server_read_revoked(struct rpc_server *server)
{
	const int rc = server->tls != NULL ? open_tls(server) : 0;

	if (rc == 0)
		look_at_all(server);
	return rc;
}

static bool has_expired(const struct rpc_server *server)
{
	const int64_t now = time(NULL);
	const struct rpc_conn *conn;

	for (conn = TAILQ_FIRST(&server->conns); conn != NULL; conn = TAILQ_NEXT(conn, entry)) {
		if (conn->expiry < now)
			return true;
	}
	return false;
}

// Files that were replaced are read, and who has expired leaves.
static void on_look(evutil_socket_t fd, short what, void *arg)
{
	struct rpc_server *server = arg;

	if (tls_stamp(&server->files) != server->stamp)
		rpc_server_read_revoked(server);
	if (has_expired(server))
		look_at_all(server);
}

// As many files as the connections take, as far as the process may have them.
static void raise_file_limit(uint32_t connection_max)
{
	const rlim_t want = (rlim_t)connection_max + FILES_SPARE;
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur >= want)
		return;
	limit.rlim_cur = limit.rlim_max < want ? limit.rlim_max : want;
	if (setrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur < want)
		log_warn("rpc: no more than %llu files may be open, fewer than %u connections take",
			 (unsigned long long)limit.rlim_cur, connection_max);
}

static int start_tls(struct rpc_server *server, const struct tls_files *files)
{
	const struct timeval period = { .tv_sec = LOOK_S };

	server->files = *files;
	server->look = event_new(server->base, -1, EV_PERSIST, on_look, server);
	if (server->look == NULL || event_add(server->look, &period) != 0)
		return -ENOMEM;
	return open_tls(server);
}

static int start(struct rpc_server *server, const struct rpc_server_options *options)
{
	int rc;

	raise_file_limit(options->connection_max);
	server->rest = evtimer_new(server->base, on_rested, server);
	if (server->rest == NULL)
		return -ENOMEM;
	rc = options->tls != NULL ? start_tls(server, options->tls) : 0;
	if (rc == 0 && options->address != NULL)
		rc = listen_tcp(server, options->address);
	if (rc < 0)
		return rc;
	return options->socket_path != NULL ? listen_unix(server, options->socket_path) : 0;
}

struct rpc_server *rpc_server_open(struct event_base *base,
				   const struct rpc_server_options *options,
				   const struct rpc_method *methods, uint32_t count, void *arg)
{
	struct rpc_server *server = calloc(1, sizeof(*server));

	if (server == NULL)
		return NULL;
	*server = (struct rpc_server){
		.base = base,
		.methods = methods,
		.method_count = count,
		.arg = arg,
		.options = *options,
	};
	TAILQ_INIT(&server->guests);
	TAILQ_INIT(&server->conns);
	if (start(server, options) == 0)
		return server;
	rpc_server_close(server);
	return NULL;
}

void rpc_server_close(struct rpc_server *server)
{
	if (server == NULL)
		return;
	for (uint32_t i = 0; i < LISTENER_COUNT; i++) {
		if (server->listeners[i] != NULL)
			evconnlistener_free(server->listeners[i]);
	}
	server->listeners[LISTENER_UNIX] = server->listeners[LISTENER_TCP] = NULL;
	while (!TAILQ_EMPTY(&server->guests))
		rpc_conn_free(TAILQ_FIRST(&server->guests));
	while (!TAILQ_EMPTY(&server->conns))
		rpc_conn_free(TAILQ_FIRST(&server->conns));
	if (server->rest != NULL)
		event_free(server->rest);
	if (server->look != NULL)
		event_free(server->look);
	SSL_CTX_free(server->tls);
	if (server->socket_path[0] != '\0')
		unlink(server->socket_path);
	free(server);
}

uint16_t rpc_server_port(const struct rpc_server *server)
{
	struct evconnlistener *listener = server->listeners[LISTENER_TCP];
	struct sockaddr_storage at;
	socklen_t length = sizeof(at);

	if (listener == NULL ||
	    getsockname(evconnlistener_get_fd(listener), (struct sockaddr *)&at, &length) != 0)
		return 0;
	return rpc_address_port(&at);
}

static struct rpc_conn *find_peer(const struct rpc_server *server, const char *peer)
{
	struct rpc_conn *conn;

	for (conn = TAILQ_FIRST(&server->conns); conn != NULL; conn = TAILQ_NEXT(conn, entry)) {
		if (strcmp(conn->peer, peer) == 0)
			return conn;
	}
	return NULL;
}

void rpc_server_drop(struct rpc_server *server, const char *peer)
{
	struct rpc_conn *conn;

	while ((conn = find_peer(server, peer)) != NULL)
		rpc_conn_end(conn);
}
