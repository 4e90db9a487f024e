#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
# Captures keep every rule of docs/FORMAT.md, checked by a program that is not the reader.

load ../../lib/helper

setup() {
	cd "$BATS_TEST_TMPDIR" || return
}

# walks FILE SAMPLES - t3walk finds nothing wrong in FILE, and finds that many samples.
walks() {
	local output
	output=$(t3walk "$1") || fail "t3walk $1: $output"
	# A plain record is a sample outside of frames.
	[ "$(awk '{ print $10 + $16 }' <<<"$output")" -eq "$2" ] || fail "$1: $output"
}

@test "files of the writer keep the rules, also where it is hard" {
	gen_capture -o a.data --samples 20000 --flush 300
	walks a.data 20000
	gen_capture -o a.data --samples 100 --raw 20004
	walks a.data 100
	gen_capture -o a.data --samples 100 --flush 7 --big --object 300000
	walks a.data 101
	gen_capture -o a.data --samples 0
	walks a.data 0
	gen_capture -o a.data --samples 5000 --pids 10000 --ties 100
	walks a.data 5000
	gen_capture -o a.data --samples 5000 --depth 0 --level 19 --no-round
	walks a.data 5000
	gen_capture -o a.data --samples 5000 --flush 100 --live
	walks a.data 5000
}

@test "files of recover and slice keep the rules" {
	gen_capture -o live.data --samples 5000 --flush 100 --live
	ebprec recover -q live.data
	walks live.data 5000
	gen_capture -o a.data --samples 5000 --flush 1000
	# 5000 samples, one each 10 us from 1 s on.
	ebprec slice -q -i a.data -o part.data --time 1.01,1.02
	walks part.data 1001
}

@test "t3walk sees each kind of damage" {
	local at
	gen_capture -o good.data --samples 3000 --flush 500 --object 20000
	t3walk good.data
	size=$(stat -c %s good.data)
	# Header, superblock, table copy; the first frames; the table; the trailer.
	for at in 17 41 110 130 150 200 361 4100 4110 4130 4140 4160 4500 $((size - 1)) $((size - 20)); do
		cp good.data bad.data
		printf '\245' | dd of=bad.data bs=1 seek="$at" conv=notrunc status=none
		cmp -s good.data bad.data && continue
		t3walk bad.data 2>err && fail "no error for byte $at"
		[ -s err ] || fail "byte $at: no words"
	done
	head -c 9000 good.data >bad.data
	t3walk bad.data && fail "no error for a cut file"
	true
}
