// SPDX-License-Identifier: BSD-3-Clause
//
// A handler of our own, on an eventfd, runs in the interrupt thread between those of drivers and
// never beside one. The caller rings and waits, so what it works on stays where it is. An alarm of
// the EAL would do as well, but rte_eal_cleanup() waits for the handler of alarms to end.

#include "sys/dpdk/interrupt.h"

#include <semaphore.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <rte_ethdev.h>
#include <rte_interrupts.h>

static struct {
	struct rte_intr_handle *handle; // NULL: not yet made
	int fd;
	sem_t done;
	void (*function)(uint16_t ethdev); // while it rings
	uint16_t ethdev;
} bell;

static void answer(void *arg)
{
	uint64_t rings;

	if (read(bell.fd, &rings, sizeof(rings)) != (ssize_t)sizeof(rings))
		return;
	bell.function(bell.ethdev);
	sem_post(&bell.done);
}

static bool hang_up_bell(void)
{
	if (bell.handle != NULL)
		return true;
	bell.fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (bell.fd < 0)
		return false;
	bell.handle = rte_intr_instance_alloc(RTE_INTR_INSTANCE_F_PRIVATE);
	if (bell.handle != NULL && rte_intr_fd_set(bell.handle, bell.fd) == 0 &&
	    rte_intr_type_set(bell.handle, RTE_INTR_HANDLE_EXT) == 0 &&
	    sem_init(&bell.done, 0, 0) == 0 &&
	    rte_intr_callback_register(bell.handle, answer, NULL) == 0)
		return true;
	rte_intr_instance_free(bell.handle);
	bell.handle = NULL;
	close(bell.fd);
	return false;
}

// What cannot be done there, since the process is short of everything, is done here.
static void call_there(void (*function)(uint16_t ethdev), uint16_t ethdev)
{
	const uint64_t ring = 1;

	bell.function = function;
	bell.ethdev = ethdev;
	if (!hang_up_bell() || write(bell.fd, &ring, sizeof(ring)) != (ssize_t)sizeof(ring)) {
		function(ethdev);
		return;
	}
	while (sem_wait(&bell.done) != 0) // a signal came
		;
}

static void stop(uint16_t ethdev)
{
	rte_eth_dev_stop(ethdev);
}

static void stop_and_close(uint16_t ethdev)
{
	rte_eth_dev_stop(ethdev);
	rte_eth_dev_close(ethdev);
}

void interrupt_stop_port(uint16_t ethdev)
{
	call_there(stop, ethdev);
}

void interrupt_close_port(uint16_t ethdev)
{
	call_there(stop_and_close, ethdev);
}

// Stays until the process ends.
static void park(uint16_t ethdev)
{
	if (!rte_thread_is_intr())
		return;
	sem_post(&bell.done);
	for (;;)
		pause();
}

void interrupt_end(void)
{
	call_there(park, 0);
}
