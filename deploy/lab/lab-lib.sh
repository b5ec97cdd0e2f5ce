# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=bash
#
# Functions of the lab scripts: processes with a bounded life, hosts, jobs inside hosts.
# Source it, call lab_begin, and whatever was started ends with the script, whichever way that ends:
# by pid, TERM first. LAB_KEEP=1 keeps the temporary directory.

# shellcheck disable=SC2034  # used by those who source this
lab_here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
lab_pids=()         # everything started here and not yet ended, oldest first
declare -A lab_name # pid -> what it is
declare -A lab_log  # pid -> its log

lab_die() {
	echo "${0##*/}: $*" >&2
	exit 1
}

# lab_begin: makes $LAB_DIR and arranges for lab_end.
lab_begin() {
	LAB_DIR=$(mktemp -d "${TMPDIR:-/tmp}/weft-lab.XXXXXX")
	trap lab_end EXIT
	trap 'exit 130' INT
	trap 'exit 143' TERM HUP
}

# Ends everything, then calls lab_save where the script has one: the logs are complete by then.
lab_end() {
	local status=$? at
	trap - EXIT INT TERM HUP
	for ((at = ${#lab_pids[@]} - 1; at >= 0; at--)); do lab_ask "${lab_pids[at]}"; done
	while [ ${#lab_pids[@]} -gt 0 ]; do lab_reap "${lab_pids[-1]}"; done
	! declare -F lab_save >/dev/null || lab_save || true
	if [ -n "${LAB_KEEP:-}" ]; then
		echo "kept $LAB_DIR" >&2
	else
		rm -rf "$LAB_DIR"
	fi
	exit "$status"
}

# lab_now: milliseconds of a clock that only goes forward.
lab_now() {
	local up
	read -r up _ </proc/uptime
	echo "$((10#${up/./} * 10))"
}

# A zombie is dead: whose child it is, and when that reaps it, is not ours to say.
lab_alive() {
	local stat
	read -r stat 2>/dev/null <"/proc/$1/stat" && [[ $stat != *') Z '* ]]
}

lab_gone() {
	! lab_alive "$1"
}

# lab_until SECONDS COMMAND...: repeats a command until it succeeds; fails after the time.
lab_until() {
	local end=$(($(lab_now) + $1 * 1000))
	shift
	until "$@"; do
		[ "$(lab_now)" -lt "$end" ] || return 1
		sleep 0.05
	done
}

# lab_keep PID NAME LOG: makes a process one that lab_end ends.
lab_keep() {
	lab_pids+=("$1")
	lab_name[$1]=$2
	lab_log[$1]=$3
}

# lab_spawn NAME LOG SECONDS COMMAND...: starts a process that lives at most SECONDS; sets lab_pid.
lab_spawn() {
	local name=$1 log=$2 life=$3
	shift 3
	setsid timeout -k 2 "$life" "$@" </dev/null >"$log" 2>&1 &
	lab_pid=$!
	lab_keep "$lab_pid" "$name" "$log"
}

# lab_stop PID: TERM, and KILL after 5 s for it and the group it leads.
lab_stop() {
	lab_ask "$1"
	lab_reap "$1"
}

lab_ask() {
	kill -TERM "$1" 2>/dev/null || true
}

lab_reap() {
	local pid=$1 other left=()
	lab_until 5 lab_gone "$pid" || {
		echo "${0##*/}: ${lab_name[$pid]} (pid $pid) ignored TERM" >&2
		kill -KILL -- "-$pid" 2>/dev/null || true
	}
	wait "$pid" 2>/dev/null || true
	for other in "${lab_pids[@]}"; do [ "$other" = "$pid" ] || left+=("$other"); done
	lab_pids=("${left[@]}")
}

# lab_fail_with PID MESSAGE: the end of its log, then the message.
lab_fail_with() {
	tail -n 20 "${lab_log[$1]}" >&2
	lab_die "${lab_name[$1]}: $2 (its log ends above)"
}

# lab_done_or_dead PID COMMAND...: nothing is left to wait for.
lab_done_or_dead() {
	local pid=$1
	shift
	"$@" || lab_gone "$pid"
}

# lab_wait PID SECONDS WHAT COMMAND...: until the command succeeds, while the process lives.
lab_wait() {
	local pid=$1 seconds=$2 what=$3
	shift 3
	lab_until "$seconds" lab_done_or_dead "$pid" "$@" ||
		lab_fail_with "$pid" "no $what after $seconds s"
	"$@" || lab_fail_with "$pid" "ended before $what"
}

# lab_wait_line PID SECONDS REGEX: until its log has such a line.
lab_wait_line() {
	lab_wait "$1" "$2" "line '$3'" grep -qE "$3" "${lab_log[$1]}"
}

# lab_start_host NAME SOCKET MAC ADDRESSES: boots a soft-RoCE host whose box is $LAB_DIR/NAME.
declare -A lab_host_pid
lab_start_host() {
	mkdir -p "$LAB_DIR/$1"
	lab_host_pid[$1]=$("$lab_here/uml-host" "$@" "$LAB_DIR/$1" "$LAB_DIR/$1.log")
	lab_keep "${lab_host_pid[$1]}" "host $1" "$LAB_DIR/$1.log"
}

lab_wait_host() {
	lab_wait_line "${lab_host_pid[$1]}" "$2" '^(READY|FAILED)'
	grep -q '^READY' "$LAB_DIR/$1.log" || lab_fail_with "${lab_host_pid[$1]}" "did not come up"
}

# lab_start_job HOST JOB COMMAND: the host runs the command text in the background.
lab_start_job() {
	echo "$3" >"$LAB_DIR/$1/$2.new"
	mv "$LAB_DIR/$1/$2.new" "$LAB_DIR/$1/$2.job"
}

# lab_wait_job HOST JOB SECONDS: returns the job's status; its output is $LAB_DIR/HOST/JOB.out.
lab_wait_job() {
	lab_wait "${lab_host_pid[$1]}" "$3" "end of job $2" test -e "$LAB_DIR/$1/$2.rc"
	return "$(<"$LAB_DIR/$1/$2.rc")"
}

# lab_job HOST JOB SECONDS COMMAND: starts it and waits; the lab fails when the job does.
lab_job() {
	lab_start_job "$1" "$2" "$4"
	lab_finish_job "$1" "$2" "$3"
}

# lab_finish_job HOST JOB SECONDS: the lab fails when the job does.
lab_finish_job() {
	lab_wait_job "$@" && return
	tail -n 20 "$LAB_DIR/$1/$2.out" >&2
	lab_die "host $1: job $2 failed (its output ends above)"
}
