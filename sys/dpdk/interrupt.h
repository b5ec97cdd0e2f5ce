// SPDX-License-Identifier: BSD-3-Clause
//
// The end of ports, carried out by the EAL's interrupt thread. Drivers handle their sockets there:
// memif (DPDK 22.11) takes a connection down in that thread when the peer leaves and in the
// caller's when the port is stopped, with nothing between them, and frees what a handler that runs
// still uses. In one thread one comes after the other. Of the control thread; why: docs/adr/0005.
#pragma once

#include <stdint.h>

// rte_eth_dev_stop(); a start behind it may come from any thread.
void interrupt_stop_port(uint16_t ethdev);

// Likewise, and rte_eth_dev_close(): no handler of the port runs, or will.
void interrupt_close_port(uint16_t ethdev);

// No handler runs any more, of anything: before rte_eal_cleanup() takes away the memory that those
// use whose peers are neither connected nor gone. Nothing else here may follow.
void interrupt_end(void);
