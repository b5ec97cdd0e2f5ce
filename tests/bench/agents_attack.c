// SPDX-License-Identifier: BSD-3-Clause
//
// Peers that mean harm, in blocking turns of one thread: connections that say nothing, such that
// begin a TLS handshake and stop, and, with a stolen certificate, headers without an end and bodies
// that never come. As soon as one is ended, another takes its place.

#include "tests/bench/agents.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { SILENT_COUNT = 600, THIEF_COUNT = 64, TURN_MS = 20 };

// The first bytes of a ClientHello (RFC 8446 section 5.1): a record of 512 bytes, of which these
// are the only ones that come.
static const uint8_t begun[] = { 0x16, 0x03, 0x01, 0x02, 0x00, 0x01, 0x00, 0x01, 0xfc, 0x03, 0x03 };

static int connect_to(uint16_t port)
{
	const struct sockaddr_in at = { .sin_family = AF_INET,
					.sin_port = htons(port),
					.sin_addr = { htonl(INADDR_LOOPBACK) } };
	const struct timeval patience = { .tv_sec = 1 };
	const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (fd >= 0) {
		setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
		setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof(patience));
	}
	if (fd >= 0 && connect(fd, (const struct sockaddr *)&at, sizeof(at)) == 0)
		return fd;
	if (fd >= 0)
		close(fd);
	return -1;
}

static bool has_ended(int fd)
{
	char byte;

	return recv(fd, &byte, 1, MSG_DONTWAIT | MSG_PEEK) == 0;
}

// Every second one is silent, the others stop in the middle of the handshake.
static void keep_silent(int *fd, uint32_t at, uint16_t port)
{
	if (*fd >= 0 && !has_ended(*fd))
		return;
	if (*fd >= 0)
		close(*fd);
	*fd = connect_to(port);
	if (*fd >= 0 && at % 2 == 1)
		send(*fd, begun, sizeof(begun), MSG_NOSIGNAL);
}

struct thief {
	SSL *ssl;
	int fd;
};

// Headers without an end, or a body that does not come.
static void steal(struct thief *thief, uint32_t at, SSL_CTX *context, uint16_t port)
{
	static const char body[] = "POST /.rpc.report HTTP/1.1\r\nContent-Length: 131072\r\n\r\n";
	static const char head[] = "POST /.rpc.report HTTP/1.1\r\nX: ";

	if (thief->ssl != NULL && !has_ended(thief->fd))
		return;
	if (thief->ssl != NULL) {
		SSL_free(thief->ssl);
		close(thief->fd);
		thief->ssl = NULL;
	}
	thief->fd = connect_to(port);
	if (thief->fd < 0)
		return;
	thief->ssl = SSL_new(context);
	SSL_set_fd(thief->ssl, thief->fd);
	if (SSL_connect(thief->ssl) == 1)
		SSL_write(thief->ssl, at % 2 == 0 ? head : body,
			  (int)strlen(at % 2 == 0 ? head : body));
}

void agents_attack(const struct agents_options *options, const char *dir, uint16_t port)
{
	static int silent[SILENT_COUNT];
	static struct thief thieves[THIEF_COUNT];
	struct tls_files files;
	SSL_CTX *context;

	agents_files(dir, options->count, &files);
	context = tls_open(&files, false, stderr);
	if (context == NULL)
		exit(1);
	memset(silent, 0xff, sizeof(silent));
	for (;;) {
		for (uint32_t i = 0; i < SILENT_COUNT; i++)
			keep_silent(&silent[i], i, port);
		for (uint32_t i = 0; i < THIEF_COUNT; i++)
			steal(&thieves[i], i, context, port);
		usleep(TURN_MS * 1000);
	}
}
