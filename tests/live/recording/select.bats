#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
# --cgroup, --unit, --container, --comm: what is selected is recorded, and nothing else.

load ../../lib/helper

setup() {
	need_bpf
	cd "$BATS_TEST_TMPDIR" || return
	root=$(cgroup2_root)
	[ -n "$root" ] || skip "needs cgroups of version 2"
	unit=ebprec-test-$$-$BATS_TEST_NUMBER.service
	groups=()
	recorder=
}

teardown() {
	end_background
	for ((i = ${#groups[@]} - 1; i >= 0; i--)); do
		await emptied "${groups[i]}"
		rmdir "${groups[i]}"
	done
}

emptied() {
	[ -z "$(cat "$1/cgroup.procs")" ]
}

make_group() {
	mkdir "$root/$1"
	groups+=("$root/$1")
}

# in_group GROUP CMD... - becomes CMD there
in_group() {
	echo "$BASHPID" >"$root/$1/cgroup.procs"
	exec "${@:2}"
}

# select_as FILE OPTIONS - records in the background until SIGINT
select_as() {
	ebprec record -F 499 -o "$@" 2>"$1.err" &
	recorder=$!
	await grep -q recording "$1.err"
}

end_recording() {
	kill -INT "$recorder"
	wait "$recorder"
}

comms() {
	ebprec report -q --sort comm --json "$1" | jq -r '.. | .comm? // empty' | sort -u | xargs
}

seconds_of() {
	ebprec report -q --folded --comm "$2" "$1" | weight | jq '. / 499 * 10 | round'
}

# The CPU time of all samples and switches of a process that runs for a second of it: within a tenth.
has_tenths() {
	local got
	got=$(seconds_of "$1" "$2")
	if [ "$got" -lt $(($3 - 1)) ] || [ "$got" -gt $(($3 + 1)) ]; then
		fail "$2 has $got tenths of a second of CPU time, not $3"
	fi
}

# bats test_tags=long
@test "unit: processes of it and below it are recorded, before, during and as it starts again" {
	cp "$BUILD/tests/live/workloads/shares" inside
	cp inside below && cp inside again && cp inside outside
	make_group "$unit"
	make_group "$unit/sub"
	(in_group "$unit" sleep 100) &
	select_as x.data --unit "${unit%.service}" --with syscalls
	./outside 1 &
	(in_group "$unit" ./inside 1) &
	(in_group "$unit/sub" ./below 1) &
	wait %3 %4 %5
	make_group "$unit/late" # made while it is recorded
	(in_group "$unit/late" ./again 1)
	end_recording
	same "again below inside" "$(comms x.data | tr ' ' '\n' | grep -vx sleep | xargs)"
	for program in inside below again; do
		has_tenths x.data "$program" 10
		# Names of a process that was selected as it ran are known.
		contains "$(ebprec report -q --folded --comm "$program" x.data)" "share_three;burn_three"
	done
	# The programs that outside is not recorded by saw it.
	[ "$(account x.data left_out samples)" -ge 450 ]
	[ "$(account x.data left_out switches)" -gt 0 ]
	[ "$(account x.data left_out rows)" -gt 0 ]
	same "" "$(ebprec metrics syscalls x.data --by comm --json -q | jq -r '.. | .comm? // empty' | grep outside)"
	same "" "$(ebprec summary -q --json x.data | jq -r '.processes[] | select(.comm == "outside") | select(.cpu_time_ns > 0) | .comm')"
	same "unit ${unit%.service}" "$(ebprec summary -q --json x.data | jq -r .capture.selected)"
	contains "$(ebprec report x.data 2>/dev/null)" ", of unit ${unit%.service}"$'\n'
	contains "$(cat x.data.err)" "left out, of other processes: "
}

# bats test_tags=long
@test "unit: one that is made while it is recorded has all its programs but those of its first moments" {
	select_as x.data --cgroup "/${unit%.service}.*" --unit nosuch
	make_group "$unit"
	(in_group "$unit" sleep 0.5) # the group's own record comes within 0.2 s
	(in_group "$unit" shares 1)
	end_recording
	has_tenths x.data shares 10
	contains "$(ebprec report -q --folded --comm shares x.data)" "share_three;burn_three"
}

# bats test_tags=long
@test "cgroup: a process is recorded from when it moves there until it moves away" {
	make_group "$unit"
	shares 3 &
	mover=$!
	select_as x.data --cgroup "/$unit"
	sleep 0.5
	echo "$mover" >"$root/$unit/cgroup.procs"
	ran_ns=$(awk '{ print $1 }' "/proc/$mover/schedstat")
	sleep 1
	echo "$mover" >"$root/cgroup.procs"
	ran_ns=$(($(awk '{ print $1 }' "/proc/$mover/schedstat") - ran_ns))
	wait "$mover"
	end_recording
	has_tenths x.data shares $(((ran_ns + 50000000) / 100000000))
	contains "$(ebprec report -q --folded x.data)" "share_three;burn_three"
}

# bats test_tags=long
@test "comm: a process is recorded while it runs a program of that name, or has named a thread so" {
	cp "$BUILD/tests/live/workloads/shares" chosen
	cp chosen other
	perl -e '$i++ while !-e "go"; $0 = "renamed"; $i++ while !-e "done"' &
	select_as x.data --comm chosen --comm renamed
	bash -c './chosen 1; exec ./other 1' &
	chosen=$!
	touch go
	wait "$chosen"
	touch "done"
	end_recording
	has_tenths x.data chosen 10
	same "chosen renamed" "$(comms x.data)"
	# It was running before: its mappings were read when it was selected.
	contains "$(ebprec report -q --folded --comm renamed x.data)" "Perl_"
	same "comm chosen, renamed" "$(ebprec summary -q --json x.data | jq -r .capture.selected)"
}

# bats test_tags=long
@test "container: it is known by the beginning of its id" {
	id=$(head -c 32 /dev/urandom | od -An -tx1 | tr -d ' \n')
	make_group "docker-$id.scope"
	select_as x.data --container "${id:0:12}"
	(in_group "docker-$id.scope" shares 1)
	shares 0.5
	end_recording
	same "shares" "$(comms x.data)"
	has_tenths x.data shares 10
}

@test "selections exclude -p and --no-bpf, and one that takes nothing is no failure" {
	for other in "-p 1" --no-bpf; do
		# shellcheck disable=SC2086 # words
		run ebprec record $other --unit x -d 1
		same 2 "$status"
		contains "$output" "exclude each other"
	done
	ebprec record --unit nosuch -o x.data -d 0.3 2>err
	contains "$(cat err)" "no such cgroup is there"
	run ebprec report x.data
	contains "$output" "nothing of unit nosuch ran"
	refuses hiding /sys/fs/cgroup ebprec record -q --unit x -d 1
	# shellcheck disable=SC2154 # of refuses
	contains "$stderr" "has to be mounted"
}
