// SPDX-License-Identifier: BSD-3-Clause
//
// Listeners, and all connections together: who is let in, and who has to leave. What one connection
// says is rpc_conn.c's.

#include "sys/rpc_server.h"

#include <errno.h>
#include <event2/listener.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sys/log.h"
#include "sys/rpc_conn.h"
#include "sys/stale_socket.h"

enum { BACKLOG = 4096, REST_MS = 100 };

enum { LISTENER_UNIX, LISTENER_TCP, LISTENER_COUNT };

static void rest(struct rpc_server *server)
{
	const struct timeval wait = { .tv_usec = REST_MS * 1000 };

	for (uint32_t i = 0; i < LISTENER_COUNT; i++) {
		if (server->listeners[i] != NULL)
			evconnlistener_disable(server->listeners[i]);
	}
	event_add(server->rest, &wait);
}

static void on_rested(evutil_socket_t fd, short what, void *arg)
{
	struct rpc_server *server = arg;

	for (uint32_t i = 0; i < LISTENER_COUNT; i++) {
		if (server->listeners[i] != NULL)
			evconnlistener_enable(server->listeners[i]);
	}
}

// Such as too many open files: without a rest the loop would spin.
static void on_accept_error(struct evconnlistener *listener, void *arg)
{
	log_err("rpc: accept: %s", strerror(errno));
	rest(arg);
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
	bev = bufferevent_socket_new(server->base, fd, BEV_OPT_CLOSE_ON_FREE);
	if (bev == NULL)
		close(fd);
	else if (!rpc_conn_open(server, bev, at))
		log_err("rpc: no memory for a connection");
}

// A bound socket, or -errno.
static int bind_socket(const struct rpc_address *address)
{
	const int fd = socket(address->at.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	const bool is_unix = address->kind == RPC_ADDRESS_UNIX;
	const mode_t mask = umask(0117); // of a unix socket
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

static int start(struct rpc_server *server, const struct rpc_server_options *options)
{
	if (options->address != NULL) {
		log_err("rpc: %s: only a unix socket is served without certificates",
			options->address);
		return -EINVAL;
	}
	server->rest = evtimer_new(server->base, on_rested, server);
	if (server->rest == NULL)
		return -ENOMEM;
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
	LIST_INIT(&server->conns);
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
	while (!LIST_EMPTY(&server->conns))
		rpc_conn_free(LIST_FIRST(&server->conns));
	if (server->rest != NULL)
		event_free(server->rest);
	if (server->socket_path[0] != '\0')
		unlink(server->socket_path);
	free(server);
}

static struct rpc_conn *find_peer(const struct rpc_server *server, const char *peer)
{
	struct rpc_conn *conn;

	LIST_FOREACH(conn, &server->conns, entry) {
		if (strcmp(conn->peer, peer) == 0)
			return conn;
	}
	return NULL;
}

void rpc_server_drop(struct rpc_server *server, const char *peer)
{
	struct rpc_conn *conn;

	// From the start each time: who is told of the end may end others.
	while ((conn = find_peer(server, peer)) != NULL)
		rpc_conn_end(conn);
}
