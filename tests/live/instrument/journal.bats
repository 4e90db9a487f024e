#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
# ebprec record --with journal: lines that arrived while it was recorded are marks of the capture.
# runs beside others: it reads lines and their times

load ../../lib/helper

setup() {
	need_bpf
	need_perf
	[ -x /lib/systemd/systemd-journal-remote ] || skip "needs systemd-journal-remote"
	[ -s /etc/machine-id ] || skip "this machine has no id"
	cd "$BATS_TEST_TMPDIR" || return
	cat >write_lines <<-'END'
		#!/bin/bash
		# Writes a journal with a line of now for each argument PRIORITY:UNIT:TEXT.
		folder=/var/log/journal/$(cat /etc/machine-id)
		mkdir -p "$folder"
		for line; do
			IFS=: read -r priority unit text <<<"$line"
			perl journal_line.pl "$priority" "$unit" "$text"
		done >lines
		/lib/systemd/systemd-journal-remote -o "$folder/system.journal" lines 2>/dev/null
	END
	chmod 755 write_lines
	cp "$BATS_TEST_DIRNAME/journal_line.pl" .
}

# with_journal CMD... - runs CMD where the system's journal is an empty one
with_journal() {
	mkdir -p /var/log/journal
	# shellcheck disable=SC2016 # for the inner shell
	unshare -m --propagation unchanged sh -c '
		mount --make-rprivate /var 2>/dev/null
		mount -t tmpfs none /var/log/journal && exec "$@"' sh "$@"
}

@test "lines of the units and levels that are asked for are marks of that time" {
	with_journal ebprec record -q --with journal:priority=warning,units=app.service+db.service -o x.data -- \
		./write_lines "3:app.service:disk failed" "6:app.service:went on" "4:db.service:slow" "3:other.service:no"
	ebprec marks --json x.data >marks.json
	same "log:err app.service disk failed,log:warning db.service slow" \
		"$(jq -r '[.marks[] | "\(.group) \(.name) \(.text)"] | join(",")' marks.json)"
	same "$(sed -n '1p;3p' written)" "$(jq -r '.marks[].time_ns / 1000 | floor' marks.json)"
	ebprec info x.data >info.txt
	grep -qx '  state *finished' info.txt
	grep -qx '  any *no' info.txt
	# perf reads them, too.
	same 2 "$(perf script -i x.data 2>perf.err | grep -c 'ebprec:mark')"
}

# lines_of FILE... - the texts of the lines in these captures, each of which is of the file's time
lines_of() {
	local file from end
	for file; do
		from=$(account "$file" segment dropped_until_mono_ns)
		end=$(account "$file" ended_mono_ns)
		ebprec marks --json "$file" | jq -r --argjson from "$from" --argjson to "$end" '
			.marks[] | select(.group | startswith("log:")) | if .time_ns >= $from and .time_ns <= $to then .text else "\(.text) is not of \($from) to \($to)" end'
	done
}

# bats test_tags=long
@test "each file of --rotate has the lines of its time, a flight recorder those of its last second" {
	cat >write_slowly <<-'END'
		#!/bin/bash
		# write_slowly COUNT [FILE] - writes a journal of so many lines in time, or more until the file is there
		folder=/var/log/journal/$(cat /etc/machine-id)
		mkdir -p "$folder"
		for ((i = 1; i <= $1; i++)); do
			[ "$i" -lt "$1" ] || [ -z "$2" ] || [ -e "$2" ] || set -- $(($1 + 1)) "$2"
			perl journal_line.pl 4 app.service "line $i"
			sleep 0.4
		done >lines
		/lib/systemd/systemd-journal-remote -o "$folder/system.journal" lines 2>/dev/null
	END
	chmod 755 write_slowly
	with_journal ebprec record -q --with journal --rotate 1s -o x.data -- ./write_slowly 8 x.data.1 2>err
	same "" "$(cat err)"
	lines_of x.data x.data.[0-9]* >got
	same "$(sed -n 's/^MESSAGE=//p' lines)" "$(cat got)"
	same 1 "$(lines_of x.data | grep -c '^line 1$')"
	! lines_of x.data | grep "^$(tail -n 1 got)$" || fail "the last line is in the first file"

	with_journal ebprec record -q --with journal --rotate 1s,2 -o y.data -- ./write_slowly 8 y.data.2 2>err
	same "" "$(cat err)"
	[ ! -e y.data ] || fail "it keeps more than two files: $(ls)"
	lines_of y.data.[0-9]* >got
	same "$(sed -n 's/^MESSAGE=//p' lines | tail -n "$(wc -l <got)")" "$(cat got)"
	! grep -q '^line 1$' got || fail "$(cat got)"

	with_journal ebprec record -q --with journal --ring 1s --trigger mark:now -o r.data -- sh -c '
		./write_slowly 8
		ebprec mark now
		until [ -e r.data.1 ]; do sleep 0.1; done' 2>err
	same "" "$(grep -v 'mark:now: ' err || true)"
	for file in r.data r.data.1; do
		lines_of $file >got
		! grep -q '^line 1$\|not of' got || fail "$file: $(cat got)"
	done
}

@test "without a journal there is a message, and the recording" {
	with_journal ebprec record -q --with journal -o x.data -- true
	ebprec info x.data >info.txt
	run ebprec record --with journal -o - -- true
	[ "$status" -eq 2 ]
	contains "$output" "options '--output -' and '--with journal' exclude each other"
}
