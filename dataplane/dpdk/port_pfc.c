// SPDX-License-Identifier: BSD-3-Clause
//
// Talks to a device about PFC.
//
// Some drivers set their registers anew when they start, so what lets frames pass is asked for
// before that and again afterwards. PFC of the device's own is set up in between, queue by queue;
// on a device that was told to use it and offers nothing (pfc_path = "device"), nothing is set up
// and the user has done it.

#include "dataplane/dpdk/port_pfc.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "dataplane/dpdk/pfc_xstat.h"
#include "dataplane/dpdk/port_steer.h"
#include "sys/log.h"

// Whether the device has PFC of its own, queue by queue.
static bool offers_own_pfc(const struct port *port)
{
	struct rte_eth_pfc_queue_info info = { 0 };

	return rte_eth_dev_priority_flow_ctrl_queue_info_get(port->ethdev, &info) == 0 &&
	       info.mode_capa == RTE_ETH_FC_FULL;
}

static int decide(struct port *port)
{
	port->pfc = pfc_path_decide(&port->pfc_answers, port->pfc_reason, sizeof(port->pfc_reason));
	if (port->pfc != PFC_PATH_NONE)
		return 0;
	if (!port->failed)
		log_err("%s: no priority can be lossless here, since the device (%s) %s; take the "
			"priorities out of pfc_enable, use pause = \"hold\" or another device, or "
			"say pfc_path = \"trust\" if it passes PFC all the same, \"device\" if it "
			"does PFC itself with a queue per priority",
			port->label, port->driver->name, port->pfc_reason);
	port->failed = true;
	return -EINVAL;
}

static void ask_to_pass(const struct port *port, struct pfc_answers *answers)
{
	struct rte_eth_fc_conf conf = { 0 };

	answers->get = rte_eth_dev_flow_ctrl_get(port->ethdev, &conf);
	conf.mode = RTE_ETH_FC_NONE;
	conf.autoneg = 0;
	conf.mac_ctrl_frame_fwd = 1;
	answers->set = rte_eth_dev_flow_ctrl_set(port->ethdev, &conf);
	conf = (struct rte_eth_fc_conf){ 0 };
	answers->again = rte_eth_dev_flow_ctrl_get(port->ethdev, &conf);
	answers->forwards = conf.mac_ctrl_frame_fwd != 0;
}

int port_pfc_ask(struct port *port, const struct rte_eth_dev_info *info, bool needs_pfc)
{
	port->pfc_answers = (struct pfc_answers){
		.wanted = (enum pfc_path_wanted)port->config->pfc_path,
		.driver = port->driver->pfc,
		.eats_sent = port->driver->eats_sent_pfc,
		.needed = needs_pfc,
		.own_pfc = offers_own_pfc(port),
		.few_queues = info->max_rx_queues < port->plan.rx_count ||
			      info->max_tx_queues < port->plan.tx_count,
		.shared_group = port->plan.shared_group,
		.strays = port->plan.strays,
	};
	if (needs_pfc && port->pfc_answers.wanted != PFC_PATH_OWN)
		ask_to_pass(port, &port->pfc_answers);
	return decide(port);
}

static int set_queues(const struct port *port)
{
	const struct device_plan *plan = &port->plan;
	struct rte_eth_pfc_queue_conf conf = { .mode = RTE_ETH_FC_RX_PAUSE };
	int rc = 0;

	for (uint16_t i = 1; rc == 0 && i < plan->tx_count; i++) {
		conf.rx_pause.tx_qid = i;
		conf.rx_pause.tc = plan->tx_prio[i];
		rc = rte_eth_dev_priority_flow_ctrl_queue_configure(port->ethdev, &conf);
	}
	conf = (struct rte_eth_pfc_queue_conf){ .mode = RTE_ETH_FC_TX_PAUSE };
	for (uint16_t i = 1; rc == 0 && i < plan->rx_count; i++) {
		conf.tx_pause.pause_time = (uint16_t)port->config->pfc_quanta;
		conf.tx_pause.rx_qid = i;
		conf.tx_pause.tc = plan->rx_prio[i];
		rc = rte_eth_dev_priority_flow_ctrl_queue_configure(port->ethdev, &conf);
	}
	return rc;
}

int port_pfc_set_queues(struct port *port)
{
	if (port->pfc != PFC_PATH_DEVICE || !port->pfc_answers.own_pfc)
		return 0;
	port->pfc_answers.set_queues = set_queues(port);
	return decide(port);
}

int port_pfc_started(struct port *port)
{
	int rc;

	if (port->pfc != PFC_PATH_DEVICE) {
		if (port->pfc_answers.needed)
			ask_to_pass(port, &port->pfc_answers);
		// It has one queue each way now: whatever was undone, its own PFC comes too late.
		port->pfc_answers.own_pfc = false;
		return decide(port);
	}
	port->pfc_answers.steer = port_steer(port->ethdev, &port->plan);
	rc = decide(port);
	if (rc == 0)
		log_info("%s: PFC is the device's: it %s; %u queues to send, %u to receive",
			 port->label, port->pfc_reason, port->plan.tx_count, port->plan.rx_count);
	return rc;
}

static void count(const struct rte_eth_xstat *value, const char *name,
		  struct port_pfc_counters *out)
{
	struct pfc_xstat kind;

	if (!pfc_xstat_parse(name, &kind))
		return;
	if (kind.received) {
		out->rx_known[kind.prio.v] = true;
		out->rx[kind.prio.v] += value->value;
	} else {
		out->tx_known[kind.prio.v] = true;
		out->tx[kind.prio.v] += value->value;
	}
}

void port_pfc_read(const struct port *port, struct port_pfc_counters *out)
{
	struct rte_eth_xstat *values = NULL;
	struct rte_eth_xstat_name *names = NULL;
	int n;

	memset(out, 0, sizeof(*out));
	if (port->ethdev == PORT_NO_DEVICE || port->ethdev == PORT_LINK)
		return;
	n = rte_eth_xstats_get_names(port->ethdev, NULL, 0);
	if (n <= 0)
		return;
	values = calloc((size_t)n, sizeof(*values));
	names = calloc((size_t)n, sizeof(*names));
	if (values == NULL || names == NULL)
		goto out;
	if (rte_eth_xstats_get_names(port->ethdev, names, (unsigned)n) != n ||
	    rte_eth_xstats_get(port->ethdev, values, (unsigned)n) != n)
		goto out;
	for (int i = 0; i < n; i++) {
		if (values[i].id < (uint64_t)n)
			count(&values[i], names[values[i].id].name, out);
	}
out:
	free(values);
	free(names);
}
