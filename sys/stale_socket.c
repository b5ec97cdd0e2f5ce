// SPDX-License-Identifier: BSD-3-Clause
//
// Asks a socket's file whether somebody is there. A refused connection is the only sure "no": a
// listener of another type answers EPROTOTYPE.

#include "sys/stale_socket.h"

#include <errno.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

void stale_socket_remove(const char *path)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int len = snprintf(address.sun_path, sizeof(address.sun_path), "%s", path);
	int fd;

	if (len < 0 || (size_t)len >= sizeof(address.sun_path))
		return;
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return;
	if (connect(fd, (const struct sockaddr *)&address, sizeof(address)) != 0 &&
	    errno == ECONNREFUSED)
		unlink(path);
	close(fd);
}
