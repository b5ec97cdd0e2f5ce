// SPDX-License-Identifier: BSD-3-Clause
//
// What a service manager hears, on real datagram sockets. The words are those of sd_notify(3), the
// rules of the watchdog those of sd_watchdog_enabled(3).

#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "sys/notify.h"
#include "tests/table.h"

enum { OWN_PID = 4711 };

// A manager's socket under `name`, of the form of $NOTIFY_SOCKET.
static int listen_at(const char *name)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	const socklen_t len = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + strlen(name));
	int fd = socket(AF_UNIX, SOCK_DGRAM, 0);

	memcpy(address.sun_path, name, strlen(name));
	if (name[0] == '@')
		address.sun_path[0] = '\0';
	cr_assert_geq(fd, 0);
	cr_assert_eq(bind(fd, (const struct sockaddr *)&address, len), 0, "%s: %s", name,
		     strerror(errno));
	return fd;
}

// The next datagram, "" when there is none. It has been sent already.
static const char *heard(int fd)
{
	static char text[512];
	const ssize_t len = recv(fd, text, sizeof(text) - 1, MSG_DONTWAIT);

	text[len < 0 ? 0 : len] = '\0';
	return text;
}

static void speak(const char *name)
{
	struct notify notify;
	const int fd = listen_at(name);

	cr_assert_eq(notify_open(&notify, name, NULL, NULL, OWN_PID), 0);
	notify_ready(&notify);
	cr_assert_str_eq(heard(fd), "READY=1");
	notify_reloading(&notify, 123456789);
	cr_assert_str_eq(heard(fd), "RELOADING=1\nMONOTONIC_USEC=123456789");
	notify_alive(&notify);
	cr_assert_str_eq(heard(fd), "WATCHDOG=1");
	notify_stopping(&notify);
	cr_assert_str_eq(heard(fd), "STOPPING=1");
	notify_close(&notify);
	close(fd);
}

Test(notify, on_a_path)
{
	char dir[] = "/tmp/weft-notify-XXXXXX";
	char path[64];

	cr_assert_not_null(mkdtemp(dir));
	snprintf(path, sizeof(path), "%s/notify", dir);
	speak(path);
	unlink(path);
	rmdir(dir);
}

Test(notify, on_an_abstract_name)
{
	char name[64];

	snprintf(name, sizeof(name), "@weft-notify-%d", (int)getpid());
	speak(name);
}

Test(notify, status_is_said_once_and_on_one_line)
{
	struct notify notify;
	char name[64];
	char text[2 * NOTIFY_STATUS_BYTES];
	int fd;

	snprintf(name, sizeof(name), "@weft-notify-status-%d", (int)getpid());
	fd = listen_at(name);
	cr_assert_eq(notify_open(&notify, name, NULL, NULL, OWN_PID), 0);
	notify_status(&notify, "1 of 2 ports up");
	cr_assert_str_eq(heard(fd), "STATUS=1 of 2 ports up");
	notify_status(&notify, "1 of 2 ports up");
	cr_assert_str_eq(heard(fd), "");
	notify_status(&notify, "a\nREADY=1");
	cr_assert_str_eq(heard(fd), "STATUS=a READY=1");
	memset(text, 'x', sizeof(text));
	text[sizeof(text) - 1] = '\0';
	notify_status(&notify, text);
	cr_assert_eq(strlen(heard(fd)), strlen("STATUS=") + NOTIFY_STATUS_BYTES - 1);
	notify_status(&notify, text);
	cr_assert_str_eq(heard(fd), "");
	notify_close(&notify);
	close(fd);
}

Test(notify, a_manager_without_room_is_not_waited_for)
{
	struct notify notify;
	char name[64];
	int fd;

	snprintf(name, sizeof(name), "@weft-notify-full-%d", (int)getpid());
	fd = listen_at(name);
	cr_assert_eq(notify_open(&notify, name, NULL, NULL, OWN_PID), 0);
	for (int i = 0; i < 5000; i++) // more than any queue of datagrams holds
		notify_alive(&notify);
	close(fd);
	notify_alive(&notify); // nor is one that is gone
	notify_close(&notify);
}

static const struct {
	const char *what;
	const char *socket;
	const char *us;
	const char *pid;
	int want;
	uint64_t want_ns;
} open_rows[] = {
	{ "no manager", NULL, "1000000", NULL, 0, 0 },
	{ "an empty name", "", "1000000", NULL, 0, 0 },
	{ "a relative name", "notify", NULL, NULL, -EINVAL, 0 },
	{ "nothing behind the @", "@", NULL, NULL, -EINVAL, 0 },
	{ "a socket that is not there", "/nonexistent/notify", NULL, NULL, -ENOENT, 0 },
	{ "no watchdog", "@", NULL, NULL, 0, 0 },
	{ "a watchdog", "@", "30000000", NULL, 0, 30000000000 },
	{ "for this process", "@", "250000", "4711", 0, 250000000 },
	{ "for another", "@", "250000", "4712", 0, 0 },
	{ "not a number", "@", "soon", NULL, 0, 0 },
	{ "a number and more", "@", "100s", NULL, 0, 0 },
	{ "negative", "@", "-1", NULL, 0, 0 },
	{ "too large for nanoseconds", "@", "18446744073709551615", NULL, 0, 0 },
};

TABLE_TEST(notify, opens, row, open_rows)
{
	const bool is_own = row->want == 0 && row->socket != NULL && row->socket[0] == '@';
	struct notify notify;
	char name[64];
	int fd = -1;

	snprintf(name, sizeof(name), "@weft-notify-open-%d", (int)getpid());
	if (is_own)
		fd = listen_at(name);
	cr_assert_eq(notify_open(&notify, is_own ? name : row->socket, row->us, row->pid, OWN_PID),
		     row->want, "%s", row->what);
	cr_assert_eq(notify.watchdog_ns, row->want_ns, "%s", row->what);
	notify_ready(&notify); // does nothing where nobody listens
	notify_status(&notify, "words");
	notify_close(&notify);
	if (is_own)
		close(fd);
}
