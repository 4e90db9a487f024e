#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
# The units of systemd that `make install` puts there, by systemd's own judgement.

# shellcheck source=tests/lib/helper.bash
. "$BATS_TEST_DIRNAME/../../lib/helper.bash"

setup_file() {
	export TREE=$BATS_FILE_TMPDIR/tree
	make -s -C "$BATS_TEST_DIRNAME/../../.." O="$BUILD" install-units DESTDIR="$TREE" prefix=/usr >/dev/null
}

setup() {
	cd "$BATS_TEST_TMPDIR" || return
	units=$TREE/usr/lib/systemd/system
	unit=$units/ebprec.service
}

@test "systemd-analyze verify finds nothing in the units" {
	# It looks for the programs that are started on this machine.
	for unit in "$units"/ebprec*.service; do
		sed "s|=/usr/libexec/ebprec/ebprec-record|=$BUILD/ebprec-record|; s|=/usr/bin/ebprec|=$BUILD/ebprec|" "$unit" >"${unit##*/}"
		run systemd-analyze verify --man=no "./${unit##*/}"
		same "0 " "$status $(grep -F ebprec <<<"$output" || true)"
	done
}

@test "every option of the unit is one of the recorder's" {
	sed -n 's/^ExecStart=//p; s/^Environment="EBPREC_OPTIONS=\(.*\)"/\1/p' "$unit" | grep -oE -- ' --?[a-zA-Z][a-z-]*|^--[a-z-]*' >options
	[ "$(wc -l <options)" -ge 6 ] || fail "$(cat options)"
	ebprec record --help >help
	while read -r option; do
		grep -qE -- "(^|[ ,])$option([ ,=[]|\$)" help || fail "$option"
	done <options
}

# options_are_known UNIT COMMAND - the options with which the unit starts the command
options_are_known() {
	sed -n 's/^ExecStart=[^ ]* [a-z]*//p; s/^#\tEBPREC_[A-Z_]*=/ /p' "$units/$1" | grep -oE -- ' --?[a-zA-Z][a-z-]*' >options
	[ "$(wc -l <options)" -ge 4 ] || fail "$(cat options)"
	ebprec "$2" --help >help
	while read -r option; do
		grep -qE -- "(^|[ ,])$option([ ,=[]|\$)" help || fail "$1: $option"
	done <options
}

@test "every option of the agent's and the sender's unit is one of theirs" {
	options_are_known ebprec-agent.service agent
	options_are_known ebprec-push.service push
}

@test "the sender has no capability, and its exposure is at most 1.6 of 10, the agent's 2.7" {
	same "CapabilityBoundingSet=" "$(grep '^CapabilityBoundingSet' "$units/ebprec-push.service")"
	systemd-analyze security --offline=yes --threshold=16 --no-pager "$units/ebprec-push.service" >score || fail "$(grep ✗ score; tail -n 1 score)"
	systemd-analyze security --offline=yes --threshold=27 --no-pager "$units/ebprec-agent.service" >score || fail "$(grep ✗ score; tail -n 1 score)"
	# But for what it starts, and its limits, the agent's unit is the recorder's.
	settings='^\(User\|Protect\|Restrict\|Capab\|Ambient\|SystemCall\|Private\|NoNew\|Memory\|IP\|Device\)'
	same "$(grep "$settings" "$unit")" "$(grep "$settings" "$units/ebprec-agent.service")"
}

@test "the unit's exposure by systemd-analyze security is at most 2.7 of 10" {
	systemd-analyze security --offline=yes --threshold=27 --no-pager "$unit" >score || fail "$(grep ✗ score; tail -n 1 score)"
}

@test "the unit gives the capabilities that SECURITY.md gives a group, and no others" {
	want=$(sed -n 's/.*setcap \(cap_[a-z_,]*\)=ep ebprec-record$/\1/p' "$BATS_TEST_DIRNAME/../../../docs/SECURITY.md" | tr ',a-z' '\nA-Z' | sort)
	same 6 "$(wc -l <<<"$want")"
	for key in AmbientCapabilities CapabilityBoundingSet; do
		same "$want" "$(sed -n "s/^$key=//p" "$unit" | tr ' ' '\n' | sort)"
	done
}
