# SPDX-License-Identifier: BSD-3-Clause
#
# Completion of weft for bash: the command itself knows what may come next, the names of switches and
# of their ports included. Installed as /usr/share/bash-completion/completions/weft; without that,
# source it. COMPREPLY is filled line by line and never expanded, since names come from a switch.
_weft() {
	mapfile -t COMPREPLY < <("${COMP_WORDS[0]}" complete -- "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
}
complete -o default -F _weft weft
