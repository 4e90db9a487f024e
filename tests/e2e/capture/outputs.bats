#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
# The output of commands is there completely and on the disk, or what was there before is.

# shellcheck source=tests/lib/helper.bash
. "$BATS_TEST_DIRNAME/../../lib/helper.bash"

setup() {
	mkdir "$BATS_TEST_TMPDIR/work"
	cd "$BATS_TEST_TMPDIR/work" || return
	gen_capture -o full.data --samples 2000
	head -c $(($(stat -c %s full.data) * 8 / 10)) full.data >cut.data
}

# Each command that writes a file, and what it writes: DATA, in whose place it is.
commands=("bundle -q DATA" "bundle -q -o DATA full.data" "slice -q -t 0%-50% -o DATA full.data"
	"scrub -q -o DATA full.data" "recover -q -o DATA cut.data" "export -q --raw -o DATA full.data"
	"export -q --to chrome -o DATA full.data" "merge -q -o DATA full.data other.data")

# prepared COMMAND - what it reads is there, and nothing else; its words are in $words
prepared() {
	rm -f out.data
	[ -e other.data ] || gen_capture -o other.data --samples 100
	case $1 in
	"bundle -q DATA") cp full.data out.data ;;
	esac
	# shellcheck disable=SC2206 # words
	words=(${1//DATA/out.data})
	before=$(ls)
}

# writes PID - it has opened what it writes into, or has ended
writes() {
	readlink /proc/"$1"/fd/* 2>/dev/null | grep -q '/work/.*data\..*\|(deleted)$' || ! kill -0 "$1" 2>/dev/null
}

failing() {
	LD_PRELOAD=$BUILD/tests/lab/faults/badwrite.so "$@"
}

@test "a disk that fails leaves what was there, and nothing beside it" {
	for command in "${commands[@]}"; do
		prepared "$command"
		was=$(cksum <out.data 2>/dev/null || true)
		for fault in BADCALL=fsync BADCALL=linkat BADWRITE_AFTER=200; do
			case $command$fault in
			# Text goes by another call.
			*chrome*BADWRITE*) continue ;;
			esac
			refuses failing env $fault BADWRITE_ERRNO=5 ebprec "${words[@]}"
			contains "$stderr" "cannot write 'out.data': Input/output error"
			same "$was" "$(cksum <out.data 2>/dev/null || true)"
			same "$before" "$(ls)"
		done
		# Only what is in another's place is renamed.
		[ -e out.data ] || continue
		refuses failing env BADCALL=renameat BADWRITE_ERRNO=30 ebprec "${words[@]}"
		contains "$stderr" "cannot write 'out.data': Read-only file system"
		same "$was" "$(cksum <out.data)"
		same "$before" "$(ls)"
	done
}

@test "bytes are on the disk before the file has its name, and the name before the command ends" {
	for command in "${commands[@]}"; do
		prepared "$command"
		strace -f -qq -e trace=fsync,linkat,rename,renameat,renameat2,exit_group -e signal=none -o calls \
			ebprec --no-sandbox "${words[@]}"
		got=$(sed -E 's/^[0-9]+ +//; s/\(.*//' calls | tr '\n' ' ')
		case $command in
		"bundle -q DATA") same "fsync linkat linkat renameat fsync exit_group " "$got" ;;
		"recover"*) same "fsync fsync linkat fsync exit_group " "$got" ;; # recovery in place needs one
		*) same "fsync linkat fsync exit_group " "$got" ;;
		esac
		[ -s out.data ] || fail "nothing was written"
		rm calls
	done
}

@test "a command that is killed leaves nothing beside the file" {
	gen_capture -o large.data --samples 400000
	sum=$(cksum <large.data)
	before=$(ls)
	for _ in 1 2 3 4 5; do
		ebprec bundle -q large.data &
		pid=$!
		await writes $pid
		kill -KILL $pid 2>/dev/null || true
		wait $pid || true
		same "$before" "$(ls)"
	done
	ebprec report -q --folded large.data >/dev/null
	[ "$sum" = "$(cksum <large.data)" ] || ebprec bundle --list large.data >/dev/null
}

@test "replacing the only copy is reported" {
	cp full.data a.data
	ebprec bundle a.data 2>err
	contains "$(cat err)" "ebprec: replaced 'a.data' by one with names of "
	ebprec bundle -o b.data full.data 2>err
	contains "$(cat err)" "ebprec: wrote 'b.data': names of "
	cp cut.data a.data
	ebprec recover a.data 2>err
	contains "$(cat err)" "ebprec: recovered 'a.data' in place: "
	ebprec recover -o c.data cut.data 2>err
	contains "$(cat err)" "ebprec: recovered 'c.data': "
}
