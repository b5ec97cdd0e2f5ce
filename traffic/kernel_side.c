// SPDX-License-Identifier: BSD-3-Clause
//
// The TAP interface. Its checksums are complete in both directions: nobody tells it that the other
// side takes less (TUNSETOFFLOAD), so the kernel makes them before a frame leaves, and checks those
// that arrive. Every address is on its link, which is what a default route without a gateway says.

#include "traffic/kernel_side.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/if_tun.h>
#include <net/if.h>
#include <net/if_arp.h>
#include <net/route.h>
#include <netinet/in.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "traffic/core/share.h"

enum { FRAME_MIN = 60 }; // of Ethernet, without FCS

static const char this_namespace[] = "/proc/thread-self/ns/net";
static const char interface_name[] = "roce0";

// --- the interface ----------------------------------------------------------------------------

static struct ifreq request(void)
{
	struct ifreq req = { 0 };

	memcpy(req.ifr_name, interface_name, sizeof(interface_name));
	return req;
}

static struct sockaddr address_of(const uint8_t ipv4[4])
{
	struct sockaddr_in in = { .sin_family = AF_INET };
	struct sockaddr out;

	static_assert(sizeof(in) == sizeof(out), "one is stored as the other");
	memcpy(&in.sin_addr, ipv4, 4);
	memcpy(&out, &in, sizeof(out));
	return out;
}

static int make_tap(void)
{
	const int fd = open("/dev/net/tun", O_RDWR | O_NONBLOCK | O_CLOEXEC);
	struct ifreq req = request();

	if (fd < 0)
		return -errno;
	req.ifr_flags = IFF_TAP | IFF_NO_PI;
	if (ioctl(fd, TUNSETIFF, &req) != 0) {
		const int rc = -errno;

		close(fd);
		return rc;
	}
	return fd;
}

// Its IPv6 would speak of itself on a link where the endpoint is alone with that. A kernel without
// IPv6 has no such file.
static void silence_ipv6(void)
{
	const int fd = open("/proc/sys/net/ipv6/conf/all/disable_ipv6", O_WRONLY | O_CLOEXEC);

	if (fd < 0)
		return;
	if (write(fd, "1", 1) != 1)
		fputs("weft-traffic: IPv6 of the kernel's side stays on\n", stderr);
	close(fd);
}

static int set_address(int control, uint64_t mac, const uint8_t ipv4[4])
{
	static const uint8_t all[4] = { 0xff, 0xff, 0xff, 0xff };
	struct ifreq req = request();

	req.ifr_hwaddr.sa_family = ARPHRD_ETHER;
	store_be48((uint8_t *)req.ifr_hwaddr.sa_data, mac);
	if (ioctl(control, SIOCSIFHWADDR, &req) != 0)
		return -errno;
	req.ifr_addr = address_of(ipv4);
	if (ioctl(control, SIOCSIFADDR, &req) != 0)
		return -errno;
	req.ifr_netmask = address_of(all);
	return ioctl(control, SIOCSIFNETMASK, &req) != 0 ? -errno : 0;
}

static int set_up(int control)
{
	static const uint8_t any[4] = { 0 };
	struct ifreq req = request();
	struct rtentry route = {
		.rt_dst = address_of(any),
		.rt_genmask = address_of(any),
		.rt_flags = RTF_UP,
		.rt_dev = req.ifr_name,
	};

	if (ioctl(control, SIOCGIFFLAGS, &req) != 0)
		return -errno;
	req.ifr_flags |= IFF_UP | IFF_RUNNING;
	if (ioctl(control, SIOCSIFFLAGS, &req) != 0)
		return -errno;
	return ioctl(control, SIOCADDRT, &route) != 0 ? -errno : 0;
}

// In the namespace of this thread.
static int make_interface(struct kernel_side *side, uint64_t mac, const uint8_t ipv4[4])
{
	int control, rc;

	side->tap = make_tap();
	if (side->tap < 0)
		return side->tap;
	control = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (control < 0)
		return -errno;
	silence_ipv6();
	rc = set_address(control, mac, ipv4);
	if (rc == 0)
		rc = set_up(control);
	close(control);
	return rc;
}

// --- namespaces -------------------------------------------------------------------------------

static int open_namespace(void)
{
	const int fd = open(this_namespace, O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return -errno;
	return fd;
}

static int make_namespace(struct kernel_side *side, uint64_t mac, const uint8_t ipv4[4])
{
	int rc;

	if (unshare(CLONE_NEWNET) != 0)
		return -errno;
	rc = make_interface(side, mac, ipv4);
	if (rc != 0)
		return rc;
	side->namespace = open_namespace();
	return side->namespace < 0 ? side->namespace : 0;
}

int kernel_side_open(struct kernel_side *side, uint64_t mac, const uint8_t ipv4[4])
{
	const int home = open_namespace();
	int rc = home;

	*side = (struct kernel_side){ .tap = -1, .namespace = -1 };
	if (home >= 0) {
		rc = make_namespace(side, mac, ipv4);
		if (setns(home, CLONE_NEWNET) != 0)
			rc = -errno;
		close(home);
	}
	if (rc != 0) {
		fprintf(stderr, "weft-traffic: the kernel's side of the port: %s\n", strerror(-rc));
		kernel_side_close(side);
	}
	return rc;
}

int kernel_side_socket(const struct kernel_side *side)
{
	const int home = open_namespace();
	int fd;

	if (home < 0)
		return home;
	if (setns(side->namespace, CLONE_NEWNET) != 0) {
		fd = -errno;
	} else {
		fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
		if (fd < 0)
			fd = -errno;
	}
	if (setns(home, CLONE_NEWNET) != 0 && fd >= 0) {
		close(fd);
		fd = -errno;
	}
	close(home);
	return fd;
}

void kernel_side_close(struct kernel_side *side)
{
	if (side->tap >= 0)
		close(side->tap);
	if (side->namespace >= 0)
		close(side->namespace);
	*side = (struct kernel_side){ .tap = -1, .namespace = -1 };
}

// --- frames -----------------------------------------------------------------------------------

bool kernel_side_receive(struct kernel_side *side, const uint8_t *frame, uint32_t len)
{
	const enum share share = share_received(frame, len);

	if (share != SHARE_ENDPOINT && write(side->tap, frame, len) != (ssize_t)len)
		side->lost++;
	return share != SHARE_KERNEL;
}

uint32_t kernel_side_transmit(struct kernel_side *side, uint8_t *out, uint32_t room)
{
	for (;;) {
		const ssize_t len = read(side->tap, out, room);

		if (len <= 0)
			return 0;
		if (!share_may_leave(out, (uint32_t)len))
			continue;
		if (len >= FRAME_MIN)
			return (uint32_t)len;
		memset(out + len, 0, (size_t)(FRAME_MIN - len));
		return FRAME_MIN;
	}
}
