#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
# Our names for places in files are those of perf script, but for differences that are known.

load ../../lib/helper

setup() {
	need_perf
	cd "$BATS_TEST_TMPDIR" || return
	fixtures=$(cd "$BUILD/tests/lib/fixtures" && pwd) # as a process would have them mapped
}

# compare STEP FILE... - leaves places.{perf,ours} and, in differ, "perf's|ours" of each place that
# is named otherwise.
compare() {
	gen_places places.data "$@"
	perf script -i places.data -F ip,sym,dso 2>perf.err |
		sed -n 's/^[ \t]*\([0-9a-f][0-9a-f]*\) \(.*\) (\(.*\))$/\1 \2 \3/p' >places.perf
	awk '{ print $1, $NF }' places.perf | names >places.ours
	paste -d'|' places.perf places.ours | grep -vxE '([^|]*)\|\1' |
		sed -E 's/^[0-9a-f]+ (.*) [^ ]*\|[0-9a-f]+ (.*) [^ ]*$/\1|\2/' >differ
	echo "$(wc -l <places.perf) places, $(wc -l <differ) named otherwise"
}

# left_but REGEXP... - fails when something differs in another way.
left_but() {
	local known
	known=$(IFS='|' && printf '^(%s)$' "$*")
	run grep -vE "$known" differ
	[ "$status" -eq 1 ] || fail "perf's name|ours:"$'\n'"$(sort <<<"$output" | uniq -c)"
}

@test "symbols of every kind" {
	compare 1 "$fixtures/layout"
	same $((0x300 + 0x20 + 0x20)) "$(wc -l <places.perf)"
	# A label in a function is no name for it; perf prints either, as its tree happens to be.
	# A symbol without a size reaches to the next one, though an alias has a size.
	# perf does not know D.
	left_but '(inner_label|\[unknown\])\|outer' '\[unknown\]\|z_first' '_D3.*\|std\.stdio.*'
}

@test "a stripped library" {
	compare 1 "$fixtures/layout.so.stripped"
	left_but '(inner_label|\[unknown\])\|outer' '\[unknown\]\|z_first' '_D3.*\|std\.stdio.*'
}

# bats test_tags=long
@test "C++, and a static program" {
	compare 1 "$fixtures/names" "$fixtures/plt-static"
	[ "$(wc -l <places.perf)" -gt 300000 ]
	# perf lets _init, which has no size, run on over the stubs that follow its section, and does
	# not know .plt.got.
	left_but '_init\|.*@plt' '_init\|\[unknown\]' '\[unknown\]\|.*@plt'
}

@test "call stubs" {
	compare 1 "$fixtures"/plt-lazy "$fixtures"/plt-now "$fixtures"/plt-nopie
	# perf counts stubs, and miscounts where one belongs to a function chosen at run time; it
	# does not know .plt.got.  That ours are right is shown against objdump in test_symtab.c.
	left_but '_init\|.*@plt' '_init\|\[unknown\]' '.*@plt\|.*@plt' '\[unknown\]\|.*@plt'
}

@test "the C library" {
	libc=$(ldd "$BUILD/ebprec" | pick_fields 1 libc.so.6 3)
	compare 37 "$(readlink -f "$libc")"
	[ "$(wc -l <places.perf)" -gt 30000 ]
	left_but '_init\|.*@plt' '_init\|\[unknown\]' '.*@plt\|.*@plt' '\[unknown\]\|.*@plt'
}
