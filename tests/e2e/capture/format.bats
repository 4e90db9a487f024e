#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
# docs/FORMAT.md: its reader and its hexdump are those of the captures that are written.

# shellcheck source=tests/lib/helper.bash
. "$BATS_TEST_DIRNAME/../../lib/helper.bash"

setup() {
	format=$BATS_TEST_DIRNAME/../../../docs/FORMAT.md
	cd "$BATS_TEST_TMPDIR" || return
}

# section TITLE - the lines of its code block
# shellcheck disable=SC2016 # backquotes of Markdown
section() {
	sed -n "/^## [0-9]*\\. $1/,/^## [0-9]/p" "$format" | sed -n '/^```/,/^```/p' | grep -v '^```'
}

# streams FILE - stream, blocks, records and samples of each, from `ebprec info`
streams() {
	ebprec info "$1" | sed -n '/^stream /,/^$/p' | sed '1d; /^$/d' | awk '{ print "stream", $1, $2, $3, $4 }' | sort
}

@test "the reader of FORMAT.md counts the blocks, records and samples of a capture as info does" {
	section "A reader" >reader.py
	gen_capture -o x.data --samples 3000
	python3 reader.py x.data >out
	grep -x "state clean" out
	same "$(streams x.data)" "$(grep ^stream out | sort)"
	same "records of type 9 3000" "$(grep "type 9 " out)"
}

@test "the hexdump of FORMAT.md is the capture that its command makes" {
	# shellcheck disable=SC2016 # backquotes of Markdown
	options=$(sed -n 's/^`gen_capture \(--samples 1 .*\)` makes.*/\1/p' "$format")
	# shellcheck disable=SC2086 # options
	gen_capture -o x.data $options
	same "$(section "The smallest capture")" "$(od -A d -t x1z x.data)"
}

@test "each key of META and of the recorder's account is in FORMAT.md" {
	record=$BATS_TEST_DIRNAME/../../../record/output
	sed -n 's/.*json_writer_[a-z0-9_]*(&*j, "\([a-z_]*\)".*/\1/p' "$record"/{meta,machine_env,cpu_gaps}.c >meta_keys
	[ "$(wc -l <meta_keys)" -gt 40 ] || fail "no keys of META: $(cat meta_keys)"
	while read -r key; do
		grep -qE "[ .,|]$key( |,|\.)" "$format" || fail "FORMAT.md has no $key"
	done <meta_keys
	keys=$(sed -n 's/^\t{ "\([a-z_.]*\)", AT(.*/\1/p' "$record/account.c")
	[ "$(wc -l <<<"$keys")" -gt 50 ] || fail "no table of keys: $keys"
	while read -r key; do
		grep -qE "[ .]${key##*.}( |,|$)" "$format" || fail "FORMAT.md has no $key"
	done <<<"$keys"
}

@test "each reason why a stack ends is in FORMAT.md" {
	reasons=$(grep -c '^	\[UNWIND_[A-Z_]*\] = ' "$BATS_TEST_DIRNAME/../../../format/unwind/unwind.c")
	[ "$reasons" -gt 10 ] || fail "$reasons reasons"
	same "$(seq $((reasons - 1)))" "$(sed -n '/^### 4.5 /,/^### 4.6 /p' "$format" | sed -n '/^| why | reason |/,/^$/s/^| \([0-9]*\) | .*/\1/p')"
}
