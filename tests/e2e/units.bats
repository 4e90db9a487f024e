#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
# The units of systemd that `make install` puts there, by systemd's own judgement.

# shellcheck source=tests/lib/helper.bash
. "$BATS_TEST_DIRNAME/../lib/helper.bash"

setup_file() {
	export TREE=$BATS_FILE_TMPDIR/tree
	make -s -C "$BATS_TEST_DIRNAME/../.." O="$BUILD" install-units DESTDIR="$TREE" prefix=/usr >/dev/null
}

setup() {
	cd "$BATS_TEST_TMPDIR" || return
	unit=$TREE/usr/lib/systemd/system/ebprec.service
}

@test "systemd-analyze verify finds nothing in the unit" {
	# It looks for the program that is started on this machine.
	sed "s|=/usr/libexec/ebprec/ebprec-record|=$BUILD/ebprec-record|" "$unit" >ebprec.service
	run systemd-analyze verify --man=no ./ebprec.service
	same "0 " "$status $(grep -F ebprec <<<"$output" || true)"
}

@test "every option of the unit is one of the recorder's" {
	sed -n 's/^ExecStart=//p; s/^Environment="EBPREC_OPTIONS=\(.*\)"/\1/p' "$unit" | grep -oE -- ' --?[a-zA-Z][a-z-]*|^--[a-z-]*' >options
	[ "$(wc -l <options)" -ge 6 ] || fail "$(cat options)"
	ebprec record --help >help
	while read -r option; do
		grep -qE -- "(^|[ ,])$option([ ,=[]|\$)" help || fail "$option"
	done <options
}

@test "the unit's exposure by systemd-analyze security is at most 2.7 of 10" {
	systemd-analyze security --offline=yes --threshold=27 --no-pager "$unit" >score || fail "$(grep ✗ score; tail -n 1 score)"
}

@test "the unit gives the capabilities that SECURITY.md gives a group, and no others" {
	want=$(sed -n 's/.*setcap \(cap_[a-z_,]*\)=ep ebprec-record$/\1/p' "$BATS_TEST_DIRNAME/../../docs/SECURITY.md" | tr ',a-z' '\nA-Z' | sort)
	same 6 "$(wc -l <<<"$want")"
	for key in AmbientCapabilities CapabilityBoundingSet; do
		same "$want" "$(sed -n "s/^$key=//p" "$unit" | tr ' ' '\n' | sort)"
	done
}
