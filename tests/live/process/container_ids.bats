#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
# Ids of containers, which cgroups carry in their names.
# runs beside others: names do not depend on time

load ../../lib/helper

setup_file() {
	[ "$(id -u)" -eq 0 ] || skip "needs root"
	export ID GROUP
	root=$(cgroup2_root)
	[ -n "$root" ] || skip "needs cgroups of version 2"
	ID=$(head -c 32 /dev/urandom | od -An -tx1 | tr -d ' \n')
	GROUP=$root/docker-$ID.scope
	mkdir "$GROUP"
	(
		echo "$BASHPID" >"$GROUP/cgroup.procs"
		exec ebprec record -q --with exits -o "$BATS_FILE_TMPDIR/x.data" -- shares 0.3
	)
}

teardown_file() {
	[ -z "$GROUP" ] || rmdir "$GROUP"
}

setup() {
	cd "$BATS_FILE_TMPDIR" || return
}

@test "tables for people show twelve digits of an id" {
	contains "$(ebprec report -q --sort container x.data)" " ${ID:0:12}"
	contains "$(ebprec diff -q --sort container x.data x.data)" " ${ID:0:12}"
	contains "$(ebprec metrics exits --by container x.data)" $'\n'"${ID:0:12}"
	contains "$(ebprec summary -q x.data)" "${ID:0:12}"
	for command in "report -q --sort container" "diff -q --sort container x.data" "metrics exits --by container" "summary -q"; do
		# shellcheck disable=SC2086 # words
		run ebprec $command x.data
		! grep "${ID:0:13}" <<<"$output" || fail "$command"
	done
}

@test "JSON and CSV have the complete id" {
	same "$ID" "$(ebprec report -q --sort container --json x.data | jq -r '.. | .container? // empty' | sort -u | grep .)"
	contains "$(ebprec report -q --sort container --csv x.data)" "$ID"
	contains "$(ebprec diff -q --sort container --json x.data x.data)" "\"$ID\""
	contains "$(ebprec metrics exits --by container --json x.data)" "\"$ID\""
	contains "$(ebprec metrics exits --by container --csv x.data)" "$ID"
	contains "$(ebprec summary -q --json x.data)" "\"$ID\""
	contains "$(ebprec report -q --process "$(ebprec summary -q --json x.data | jq '[.processes[] | select(.comm == "shares") | .pid][0]')" --json x.data)" "\"$ID\""
}

@test "a filter takes the complete id and the beginning of it" {
	all=$(ebprec report -q --folded --comm shares x.data | weight .)
	for id in "$ID" "${ID:0:12}" "^${ID:0:4}"; do
		same "$all" "$(ebprec report -q --folded --comm shares --container "$id" x.data | weight .)"
	done
	same "" "$(ebprec report -q --folded --container "^${ID:1:12}" x.data 2>/dev/null)"
}
