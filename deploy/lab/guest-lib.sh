# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=bash
#
# What jobs inside a soft-RoCE host may call. Sourced by uml-init before each job.

# gid_of_ip ADDRESS: the GID that carries an address, as sysfs prints it.
gid_of_ip() {
	local left right zeros groups
	if [[ $1 != *:* ]]; then
		# shellcheck disable=SC2086  # four words
		printf '0000:0000:0000:0000:0000:ffff:%02x%02x:%02x%02x' ${1//./ }
		return
	fi
	left=${1%%::*} right=
	[[ $1 != *::* ]] || right=${1#*::}
	# shellcheck disable=SC2206  # groups are words
	left=(${left//:/ }) right=(${right//:/ }) zeros=(0 0 0 0 0 0 0 0)
	groups=("${left[@]}" "${zeros[@]:${#left[@]}+${#right[@]}}" "${right[@]}")
	printf -v groups '%04x:' "${groups[@]/#/0x}"
	echo "${groups%:}"
}

# wait_gid ADDRESS: prints the index of its GID on rxe0; fails when there is none after 5 s.
wait_gid() {
	local want file gid _
	want=$(gid_of_ip "$1")
	for _ in {1..50}; do
		for file in /sys/class/infiniband/rxe0/ports/1/gids/{0..15}; do
			read -r gid <"$file" && [ "$gid" = "$want" ] && echo "${file##*/}" && return
		done
		sleep 0.1
	done
	echo "rxe0 has no GID for $1 ($want)" >&2
	return 1
}

# reach ADDRESS...: ARP or ND and TCP work both ways to each: a closed port refuses.
reach() {
	local peer answer
	for peer in "$@"; do
		answer=$(timeout 10 bash -c "exec 3<>'/dev/tcp/$peer/9'" 2>&1) || true
		[[ $answer == *refused* ]] || { echo "$peer: ${answer:-no answer}" && return 1; }
	done
}

# Whether a TCP port of this host is being listened on.
listens_on() {
	local port table line
	printf -v port ':%04X' "$1"
	for table in /proc/net/tcp /proc/net/tcp6; do
		while read -r line; do
			[[ $line == *"$port "*" 0A "* ]] && return
		done <"$table"
	done
	return 1
}

# serve PORT COMMAND...: runs a perftest server; BOX/PORT.listening appears when clients may come.
serve() {
	local port=$1 server _
	shift
	chrt -i 0 "$@" -p "$port" &
	server=$!
	for _ in {1..100}; do
		listens_on "$port" && break
		kill -0 "$server" 2>/dev/null || break
		sleep 0.05
	done
	listens_on "$port" && : >"/run/box/$port.listening"
	wait "$server"
}

# capture NAME COUNT FILTER: records at most COUNT whole frames into BOX/NAME.pcap, until
# end_captures. In immediate mode, or the frames of the last second stay in the kernel.
capture() {
	tcpdump -i eth0 -s 0 --immediate-mode -U -c "$2" -w "/run/$1.pcap" "$3" &
	echo $! >"/run/$1.tcpdump"
	wait $! || true
	cp "/run/$1.pcap" "/run/box/$1.pcap"
}

end_captures() {
	local file
	for file in /run/*.tcpdump; do kill -TERM "$(<"$file")" 2>/dev/null || true; done
}

# counters: rxe's hardware counters, "name value" lines.
counters() {
	local file
	for file in /sys/class/infiniband/rxe0/ports/1/hw_counters/*; do
		[ "${file##*/}" = lifespan ] || echo "${file##*/} $(<"$file")"
	done
}
