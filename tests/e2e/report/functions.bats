#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
# Functions of stripped files: distinguished by where they begin, which is where their symbols were.

load ../../lib/helper

setup() {
	cd "$BATS_TEST_TMPDIR" || return
	export HOME=$PWD # perf may have put a copy with symbols into ~/.debug
	fixtures=$(cd "$BUILD/tests/lib/fixtures" && pwd)
}

# places FILE... - "ADDRESS NAME+0xOFFSET" of each place of x.data, names without blanks
places() {
	ebprec script -F ip,sym,symoff "$@" -i x.data 2>/dev/null | sed -n 's/^[ \t]*\([0-9a-f]*\) \(.*\)/\1 \2/p' |
		sed -E 's/ /\t/; s/ //g; s/\t/ /' | sort -k 1b,1
}

# differs FILE - strips FILE; places that are elsewhere in their function than before, and those that are in none.  A cold
# part, which has a symbol of its own, is then in its function, before the start of that.
differs() {
	cp "$1" program
	gen_places -b -c x.data 16 "$PWD/program"
	places | grep -v 'unknown' >with
	strip -s program
	places --function-addresses >without
	join with without | grep -vE '^[^ ]* [^ ]*\.cold\+0x[0-9a-f]* program\+0x[0-9a-f]*-0x[0-9a-f]*$' |
		sed -E 's/^([^ ]*) [^ ]*\+(0x[0-9a-f]*) /\1 \2 /' >both
	grep -c . with >count
	grep -vE '^[^ ]* (0x[0-9a-f]*) .*\+\1$' both >other || true
}

@test "strip -s: each place is as far from the start of its function as with symbols" {
	for file in "$BUILD/ebprec" "$BUILD/ebprec-record" "$fixtures/names"; do
		differs "$file"
		[ "$(cat count)" -ge 50 ] || fail "$file: only $(cat count) places"
		# Code that a linker or crt1.o adds without an FDE is in no function.
		run ! grep -v ' \[unknown\]$' other
		[ "$(grep -c . other)" -lt $(($(cat count) / 50 + 20)) ] || fail "$file: $(head -n 5 other)"
	done
}

@test "a report names them FILE+0xADDRESS, or [FILE] with --no-function-addresses" {
	cp "$BUILD/ebprec" program
	gen_places -b -c x.data 64 "$PWD/program"
	strip -s program
	main=$(nm "$BUILD/ebprec" | sed -n 's/^0*\([0-9a-f]*\) T main$/\1/p')
	contains "$(ebprec report --folded -i x.data 2>/dev/null)" "program+0x$main "
	ebprec report --folded --no-function-addresses -i x.data >plain 2>/dev/null
	run ! grep -F 'program+0x' plain
	contains "$(cat plain)" '[program]'
	# All of them are still counted as without a name.
	ebprec report -i x.data 2>&1 >/dev/null | grep -vF 'program+0x' >messages || true
	ebprec report --no-function-addresses -i x.data 2>plain >/dev/null || true
	same "$(grep -F 'no name' plain)" "$(grep -F 'no name' messages)"
}

@test "a bundle carries them to where the file is not" {
	cp "$BUILD/ebprec" program
	gen_places -b -c x.data 64 "$PWD/program"
	strip -s program
	ebprec report --folded -i x.data >home 2>/dev/null
	ebprec report --folded --no-function-addresses -i x.data >home.plain 2>/dev/null
	ebprec bundle -q x.data
	rm program
	ebprec report --folded -i x.data >away 2>/dev/null
	cmp home away
	ebprec report --folded --no-function-addresses -i x.data >away.plain 2>/dev/null
	cmp home.plain away.plain
	# Where a file's code begins is no secret of the machine: scrub leaves it, below the new name of the file.
	ebprec scrub -q --word program -o scrubbed.data x.data
	ebprec report --folded -i scrubbed.data >scrubbed 2>/dev/null
	run ! grep program scrubbed
	cmp <(grep -o '+0x[0-9a-f]* [0-9]*$' away | sort) <(grep -o '+0x[0-9a-f]* [0-9]*$' scrubbed | sort)
}

@test "diff compares them as one of each file, and by where they begin when asked" {
	cp "$BUILD/ebprec" program
	gen_places -b -c x.data 64 "$PWD/program"
	strip -s program
	ebprec diff --min-percent 0 x.data x.data >rows 2>/dev/null
	run ! grep -F "+0x" rows
	contains "$(cat rows)" '[program]'
	ebprec diff --min-percent 0 --function-addresses x.data x.data >rows 2>/dev/null
	contains "$(cat rows)" 'program+0x'
}

@test "an .eh_frame that is malformed or missing distinguishes no functions, and nothing fails" {
	cp "$BUILD/ebprec" program
	gen_places -b -c x.data 64 "$PWD/program"
	strip -s -R .eh_frame -R .eh_frame_hdr program
	contains "$(ebprec report --folded -i x.data 2>/dev/null)" '[program]'
	cp "$BUILD/ebprec" program
	head -c 4096 /dev/zero | tr '\0' '\377' >ones
	objcopy --strip-all --update-section .eh_frame=ones program 2>/dev/null
	contains "$(ebprec report --folded -i x.data 2>/dev/null)" '[program]'
}

# copies STRIP - two paths of one program, both with samples in x.data; stripped of its symbols or not
copies() {
	cp "$BUILD/ebprec" one
	[ "$1" = no ] || strip -s one
	cp one two
	gen_places -b -c x.data 64 "$PWD/one" "$PWD/two"
}

@test "two copies with one build-id: each has its own path, and the same names" {
	copies no
	ebprec report -q -s dso --csv --min-percent 0 x.data 2>/dev/null | tr -d '\r' >rows
	same "$(grep -c ',one$' rows) $(grep -c ',two$' rows)" "1 1"
	for file in one two; do
		ebprec report -q -s symbol --csv --min-percent 0 --dso $file x.data 2>/dev/null >$file.names
		ebprec script -F ip,sym,dso -i x.data 2>/dev/null | grep -c "($PWD/$file)" >$file.script
	done
	[ "$(wc -l <one.names)" -gt 50 ] || fail "too few names: $(cat one.names)"
	same "$(cat one.names)" "$(cat two.names)"
	same "$(grep ',one$' rows | cut -d, -f1,2)" "$(grep ',two$' rows | cut -d, -f1,2)"
	same "$(cat one.script)" "$(cat two.script)"
	ebprec report -q --symbols-report x.data 2>/dev/null | awk '{ print $4 }' | grep '^/' >files
	same "$(sort files)" "$PWD/one
$PWD/two"
}

@test "two stripped copies with one build-id: a function is called after the copy that ran it" {
	copies yes
	main=$(nm "$BUILD/ebprec" | sed -n 's/^0*\([0-9a-f]*\) T main$/\1/p')
	for options in "" --inline; do
		# shellcheck disable=SC2086
		ebprec report -q -s dso,symbol --csv --min-percent 0 $options x.data 2>/dev/null | tr -d '\r' >rows
		for file in one two; do
			contains "$(cat rows)" ",$file,$file+0x$main"
		done
		run ! grep -E ',one,two\+|,two,one\+' rows
	done
	places --function-addresses | sed 's/.* //; s/+.*//' | sort | uniq -c | awk '{ print $2, $1 }' >script
	same "$(sed -n 's/^one //p' script)" "$(sed -n 's/^two //p' script)"
}
