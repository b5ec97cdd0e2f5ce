// SPDX-License-Identifier: BSD-3-Clause
//
// The file has its mode from the beginning: between a bind and a chmod anybody could connect. The
// mask of modes is the process's, so this is for the start of a program, before it has threads that
// make files.

#include "sys/control_socket.h"

#include <errno.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sys/stale_socket.h"

enum { BACKLOG = 16 };

static int listen_on(const struct sockaddr_un *address)
{
	int fd;
	int rc;
	mode_t mask;

	stale_socket_remove(address->sun_path);
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return -errno;
	mask = umask(0117);
	rc = bind(fd, (const struct sockaddr *)address, sizeof(*address)) == 0 ? 0 : -errno;
	umask(mask);
	if (rc == 0 && listen(fd, BACKLOG) != 0)
		rc = -errno;
	if (rc == 0)
		return fd;
	close(fd);
	return rc;
}

int control_socket_listen(const char *run_dir, const char *name, struct sockaddr_un *address)
{
	struct sockaddr_un wanted = { .sun_family = AF_UNIX };
	const int len = snprintf(wanted.sun_path, sizeof(wanted.sun_path), "%s/%s", run_dir, name);
	int fd;

	address->sun_path[0] = '\0';
	if (len >= (int)sizeof(wanted.sun_path))
		return -ENAMETOOLONG;
	if (mkdir(run_dir, 0755) != 0 && errno != EEXIST)
		return -errno;
	fd = listen_on(&wanted);
	if (fd >= 0)
		*address = wanted;
	return fd;
}
