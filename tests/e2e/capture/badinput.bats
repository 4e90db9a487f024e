#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
# Files that are missing, no captures, cut or broken: one clear line, never a crash.

# shellcheck disable=SC2154 # run sets stderr

load ../../lib/helper

setup() {
	cd "$BATS_TEST_TMPDIR" || return
	gen_capture -o good.data --samples 3000 --flush 500 --object 20000
}

# refuses FILE WORDS - every command that opens FILE prints exactly WORDS and exits with 1.
refuses() {
	local file=$1 want=$2
	for command in "info -i $file" "slice --time 1,2 -i $file -o out.data" \
		"export --raw -i $file -o out.data" "recover $file"; do
		# shellcheck disable=SC2086 # words
		run --separate-stderr ebprec $command
		same 1 "$status"
		same "" "$output"
		same "$want" "$stderr"
	done
	[ ! -e out.data ] || fail "a file that cannot be read made a result"
}

@test "a missing file" {
	refuses none.data "ebprec: cannot open 'none.data': No such file or directory (record one with 'ebprec record', or name another)"
}

@test "a directory" {
	mkdir dir
	refuses dir "ebprec: cannot open 'dir': Is a directory (name the file in it)"
}

@test "an empty file" {
	: >empty
	run --separate-stderr ebprec info -i empty
	same 1 "$status"
	contains "$stderr" "ebprec: cannot open 'empty': cut short: "
}

@test "a file that is no capture" {
	cp "$(command -v cat)" elf
	head -c 100000 /dev/urandom >random
	yes words | head -c 100000 >text
	for file in elf random text; do
		run --separate-stderr ebprec info -i $file
		same 1 "$status"
		contains "$stderr" "ebprec: cannot open '$file': not a capture, nor perf.data: "
		same 1 "$(wc -l <<<"$stderr")"
	done
}

@test "a device without end, and a pipe without end: refused by their beginning, in each command" {
	local words="not a capture, nor perf.data: not a perf.data file (record one with 'ebprec record', or name another)"
	local text=${words/not a perf.data file/text} command
	for command in "report" "info" "script" "summary" "sched" "marks" "metrics -i" "diff good.data" "merge -o out.data good.data" \
		"slice --time 1,2 -o out.data" "export --raw -o out.data" "recover -o out.data" "scrub -o out.data" "scrub --check=x" \
		"bundle -o out.data"; do
		# shellcheck disable=SC2086 # words
		run --separate-stderr timeout 20 ebprec $command /dev/zero
		same "1: ebprec: cannot open '/dev/zero': $words" "$status: $stderr"
		# shellcheck disable=SC2086 # words
		run --separate-stderr timeout 20 ebprec $command - < <(yes)
		same "1: ebprec: cannot open '-': $text" "$status: $stderr"
		[ ! -e out.data ] || fail "$command: a file that cannot be read made a result"
	done
	run --separate-stderr timeout 20 ebprec report - </dev/zero
	same "1: ebprec: cannot open '-': $words" "$status: $stderr"
	run --separate-stderr timeout 20 ebprec report - < <(printf 'PERFILE2')
	contains "$stderr" "cannot open '-': cut short: cut inside the header"
	run --separate-stderr timeout 20 ebprec info - < <(head -c 3 good.data; sleep 0.2; tail -c +4 good.data)
	same 0 "$status"
}

@test "a file of /proc has text, not nothing" {
	run --separate-stderr ebprec report /proc/self/maps
	contains "$stderr" "cannot open '/proc/self/maps': not a capture, nor perf.data: text"
}

@test "a file that one may not read" {
	need_root
	chmod 755 "$BATS_TEST_TMPDIR"
	chmod 600 good.data
	cp "$(command -v ebprec)" .
	run --separate-stderr as_unprivileged ./ebprec info -i good.data
	[ "$status" -eq 1 ] || skip "the temporary folder is closed to others"
	same "ebprec: cannot open 'good.data': Permission denied (ask its owner, or run as root)" "$stderr"
}

@test "a folder that one may not write to" {
	need_root
	chmod 755 "$BATS_TEST_TMPDIR"
	chmod 644 good.data
	cp "$(command -v ebprec)" .
	run --separate-stderr as_unprivileged ./ebprec export --raw -i good.data -o sub.data
	same 1 "$status"
	same "ebprec: cannot write 'sub.data': Permission denied (write elsewhere with -o)" "$stderr"
	run --separate-stderr as_unprivileged ./ebprec recover good.data
	same 0 "$status"
	head -c 50000 good.data >cut.data
	run --separate-stderr as_unprivileged ./ebprec recover cut.data
	same 1 "$status"
	same "ebprec: cannot write 'cut.data': Permission denied (write elsewhere with -o)" "$stderr"
}

@test "a result that cannot be a file" {
	mkdir dir
	run --separate-stderr ebprec export --raw -i good.data -o dir
	same 1 "$status"
	same "ebprec: cannot write 'dir': Is a directory (name another file)" "$stderr"
	run --separate-stderr ebprec export --raw -i good.data -o /dev/null
	same 1 "$status"
	same "ebprec: cannot write '/dev/null': it is no regular file" "$stderr"
	run --separate-stderr ebprec slice --time 1,2 -i good.data -o no/such/dir/x
	same 1 "$status"
	contains "$stderr" "ebprec: cannot write 'no/such/dir/x': No such file or directory"
}

@test "a flipped bit in the head is reported, and the rest is read" {
	ebprec info good.data >good.txt
	for what in trailer sections; do
		cp good.data bad.data
		case $what in
		trailer) at=$(stat -c %s bad.data) at=$((at - 20)) ;;
		sections) at=$(grep -abo -m 1 'x86_64' bad.data | head -1 | cut -d: -f1) ;;
		esac
		printf 'X' | dd of=bad.data bs=1 seek="$at" conv=notrunc status=none
		ebprec info bad.data >bad.txt
		grep -qx '  bad sections *1' bad.txt || fail "$what: $(tail -8 bad.txt)"
		same "$(grep '^SAMPLE' good.txt)" "$(grep '^SAMPLE' bad.txt)"
		ebprec report --folded -i good.data 2>/dev/null >good.folded
		ebprec report --folded -i bad.data 2>err >bad.folded
		cmp good.folded bad.folded
		contains "$(cat err)" "1 sections of the head of 'bad.data' are unreadable or wrong"
	done
	contains "$(grep ' first  ' bad.txt)" "checksum of the head"
}

@test "a full disk leaves no half file, and what was there before stays" {
	need_root
	mkdir disk
	mount -t tmpfs -o size=100k tmpfs disk 2>/dev/null || skip "may not mount"
	echo before >disk/out
	run --separate-stderr ebprec export --raw -i good.data -o disk/out
	same 1 "$status"
	contains "$stderr" "ebprec: cannot write 'disk/out': No space left on device (make room, or write elsewhere with -o)"
	same before "$(cat disk/out)"
	same out "$(ls disk)"
	umount disk
}

# `mutate` cuts at every byte and flips a bit of every byte; here commands are processes, with their status and message.
@test "cut anywhere: every command ends with 0 or one line" {
	local size
	size=$(stat -c %s good.data)
	for cut in 1 15 16 103 104 359 360 4095 4096 4097 $(seq 5000 6997 "$size"); do
		head -c "$cut" good.data >cut.data
		for command in "info cut.data" "slice --time 1,1.01 -q -i cut.data -o out.data"; do
			# shellcheck disable=SC2086 # words
			run --separate-stderr ebprec $command
			[ "$status" -le 1 ] || fail "cut at $cut: $command: status $status: $stderr"
			[ "$status" -eq 0 ] || same 1 "$(wc -l <<<"$stderr")"
		done
	done
}

@test "a truncated capture: its readable part is used, and the damage reported" {
	head -c 60000 good.data >cut.data
	run --separate-stderr ebprec info cut.data
	same 0 "$status"
	contains "$output" "  cut               yes"
	samples=$(sed -n 's/^SAMPLE  *//p' <<<"$output")
	[ "$samples" -gt 500 ] && [ "$samples" -lt 3000 ] || fail "$samples samples"
}

@test "bits that flipped: every command ends with 0 or one line" {
	local size i
	size=$(stat -c %s good.data)
	for i in $(seq 20); do
		cp good.data bad.data
		off=$((i < 10 ? i * 39 : (i * 7919 * 31) % size))
		# shellcheck disable=SC2059 # an octal escape
		printf "\\$(printf %03o $((i * 37 % 256)))" |
			dd of=bad.data bs=1 seek=$off conv=notrunc status=none
		for command in "info bad.data" "info --json --objects bad.data" \
			"export --raw -q -i bad.data -o out.data" "recover -q bad.data"; do
			# shellcheck disable=SC2086 # words
			run --separate-stderr ebprec $command
			[ "$status" -le 1 ] || fail "byte $off: $command: status $status: $stderr"
			[ "$status" -eq 0 ] || same 1 "$(wc -l <<<"$stderr")"
		done
	done
}

@test "a capture whose texts are hostile writes nothing on the terminal" {
	# The host name, as long as before.
	perl -pe 's/\0\0\0gen\0\0\0\0\0/\0\0\0\e[2J\e]0;/' good.data >hostile.data
	cmp -s good.data hostile.data && fail "the name was not found"
	ebprec info hostile.data >text
	grep -q 'host *\\x1b\[2J\\x1b\]0;' text
	if grep -q $'\e' text; then fail "an escape got through"; fi
	ebprec info --json hostile.data >json
	if grep -q $'\e' json; then fail "an escape got through"; fi
}

@test "a reader that goes away early still gets the quality of stacks" {
	gen_capture -o x.data --samples 50000 --stacks 20000 --pids 500
	set +o pipefail
	ebprec report --folded -i x.data 2>err | head -n 1 >first
	status=${PIPESTATUS[0]}
	same 0 "$status"
	[ -s first ]
	contains "$(cat err)" "stacks: 50000 samples"
	run grep -ci 'pipe\|lost' err
	same 0 "$output"
}

# A small file that unpacks to all memory there is.
@test "objects that unpack to more than they may are refused, unless the limit is raised" {
	gen_capture -o bomb.data --samples 1000 --object 209715200 --zero
	[ "$(stat -c %s bomb.data)" -lt 200000 ] || fail "the file is large: $(stat -c %s bomb.data)"
	for command in "info -i" "report -i" "summary -i" "export --to folded -i" "metrics -i" \
		"slice -o out.data --time 0,1 -i" "scrub -o out.data -i" "merge -o out.data good.data" \
		"bundle --list -i" "recover"; do
		# shellcheck disable=SC2086 # words
		run --separate-stderr ebprec $command bomb.data
		same 1 "$status"
		same "ebprec: cannot read 'bomb.data': its private objects unpack to 201 MiB, more than 67 (--unpack-limit 201M reads it)" "$stderr"
	done
	[ ! -e out.data ] || fail "a file that cannot be read made a result"
	for words in "--unpack-limit 201M info -i bomb.data" "info --unpack-limit=1G -i bomb.data" \
		"info --unpack-limit 201 bomb.data"; do
		# shellcheck disable=SC2086 # words
		run --separate-stderr ebprec $words
		same "" "$stderr"
		same 0 "$status"
	done
	EBPREC_UNPACK_LIMIT=300000000 ebprec slice -o out.data --time 0,100 -i bomb.data 2>err
	ebprec info --unpack-limit 201M --objects out.data >objects
	contains "$(cat objects)" "1  200.0 MiB"
	run --separate-stderr ebprec report --unpack-limit 100M -i bomb.data
	same "ebprec: cannot read 'bomb.data': its private objects unpack to 201 MiB, more than 100 (--unpack-limit 201M reads it)" "$stderr"
}
