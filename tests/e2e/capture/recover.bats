#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
# ebprec recover: every cut and broken capture becomes one that stock perf reads.

# shellcheck disable=SC2154 # run sets stderr

load ../../lib/helper

setup() {
	need_perf
	cd "$BATS_TEST_TMPDIR" || return
	export HOME=$PWD PERF_BUILDID_DIR=$PWD/debug
}

# script FILE - what perf prints of it; it must exit with 0 and print nothing on stderr.
script() {
	perf script -i "$1" 2>err || fail "perf script: $? $(head -3 err)"
	[ ! -s err ] || fail "perf printed: $(head -3 err)"
}

# samples FILE - how many samples ebprec sees in it.
samples() {
	ebprec info "$1" | sed -n 's/^SAMPLE  *//p'
}

state() {
	ebprec info "$1" | sed -n 's/^  state *//p'
}

@test "a capture that is complete stays as it is" {
	gen_capture -o a.data --samples 3000 --flush 500
	cp a.data before
	run --separate-stderr ebprec recover a.data
	same 0 "$status"
	same "ebprec: 'a.data' is complete, nothing to do" "$stderr"
	cmp a.data before
	ebprec recover -q -o copy.data a.data
	cmp a.data copy.data
}

@test "an unfinished capture loses nothing, and is complete then" {
	gen_capture -o a.data --samples 3000 --flush 500 --live
	same unfinished "$(state a.data)"
	script a.data >before
	run --separate-stderr ebprec recover a.data
	same 0 "$status"
	same "ebprec: recovered 'a.data' in place: 3000 samples, the last at 1.029990000 s, nothing at the end lost" \
		"$stderr"
	script a.data | cmp - before
	same recovered "$(state a.data)"
	run --separate-stderr ebprec recover a.data
	same "ebprec: 'a.data' is complete, nothing to do" "$stderr"
}

@test "recovered samples and other events are as many as info counts" {
	for i in {1..40}; do
		printf '%d switch 0 0 0 0 swapper/0 7 one\n%d sample 7 7 0 1 u:0x400000\n' $((i * 1000)) $((i * 1000 + 100))
		printf '%d switch 0 7 7 1 one 0 swapper/0\n' $((i * 1000 + 200))
	done >story
	gen_story full.data <story
	head -c $(($(stat -c %s full.data) - 40)) full.data >a.data
	run --separate-stderr ebprec recover a.data
	contains "$stderr" "ebprec: recovered 'a.data' in place: 40 samples and 80 other events, the last at 0.000040200 s"
	same "40 80" "$(ebprec info --json a.data | jq -r '[.blocks[] | select(.stream == "cpu").samples, 0] + [.blocks[] | select(.stream != "cpu").samples] | "\(.[0]) \(.[1:] | add)"')"
}

@test "-o leaves the broken one alone" {
	gen_capture -o a.data --samples 3000 --flush 500 --live
	cp a.data before
	ebprec recover -q -o full.data a.data
	cmp a.data before
	ebprec recover -q a.data
	cmp a.data full.data
}

# tests/unit/format/writer/test_recover.c and `mutate` cut at every byte; perf is the witness here.
@test "cut at every 24 KiB: recover opens it, perf reads it, samples are a beginning" {
	gen_capture -o full.data --samples 12000 --flush 600 --object 30000
	script full.data >all
	size=$(stat -c %s full.data)
	last=0
	for cut in $(seq 8192 24576 "$size") $((size - 1)) $((size - 40)); do
		head -c "$cut" full.data >cut.data
		ebprec recover -q cut.data 2>err || fail "cut at $cut: $(cat err)"
		n=$(samples cut.data)
		[ "${n:-0}" -ge "$last" ] || fail "cut at $cut has $n samples, less than before: $last"
		last=${n:-0}
		if [ "$last" -gt 0 ]; then
			script cut.data >part
			head -c "$(stat -c %s part)" all | cmp - part || fail "cut at $cut: other events"
		fi
	done
	same 12000 "$last"
}

@test "a cut inside the head: nothing was recorded, and that is reported" {
	gen_capture -o a.data --samples 100
	head -c 4000 a.data >cut.data
	run --separate-stderr ebprec recover cut.data
	same 1 "$status"
	same "ebprec: cannot read 'cut.data': it ends inside its head, at byte 4000, and has no events (they were truncated, or its recorder ended before it wrote any)" "$stderr"
}

@test "a broken place in the middle costs that place alone" {
	gen_capture -o a.data --samples 20000 --flush 1000
	# The fifth frame of samples, in its zstd data.
	off=$(ebprec info --blocks a.data | pick_fields 2 cpu 1 | sed -n 5p)
	printf 'broken!!' | dd of=a.data bs=1 seek=$((off + 500)) conv=notrunc status=none
	perf script -i a.data >/dev/null 2>&1 && fail "perf reads it: the test broke nothing"
	run --separate-stderr ebprec recover a.data
	same 0 "$status"
	contains "$stderr" "1 broken places"
	script a.data >after
	n=$(grep -c cpu-clock after)
	[ "$n" -gt 18000 ] && [ "$n" -lt 20000 ] || fail "$n samples left"
	same "$n" "$(samples a.data)"
}

@test "a broken file header is mended" {
	gen_capture -o a.data --samples 3000
	script a.data >before
	for off in 17 42 49 72 80; do
		cp a.data b.data
		printf '\377' | dd of=b.data bs=1 seek=$off conv=notrunc status=none
		ebprec recover -q b.data
		script b.data | cmp - before || fail "byte $off"
	done
}

@test "attrs that are gone cannot be recovered, and that is reported" {
	gen_capture -o a.data --samples 3000
	printf '\377' | dd of=a.data bs=1 seek=32 conv=notrunc status=none
	run --separate-stderr ebprec recover a.data
	same 1 "$status"
	same "ebprec: 'a.data' is still damaged, and cannot be mended: attrs of an impossible size at byte 16" \
		"$stderr"
}

@test "a file that is being written is left alone" {
	gen_capture -o a.data --samples 3000 --live
	cp a.data before
	sleep 60 3>>a.data &
	writer=$!
	run --separate-stderr ebprec recover a.data
	same 1 "$status"
	same "ebprec: cannot recover 'a.data': it is being written (end the recording, or recover a copy with -o)" \
		"$stderr"
	cmp a.data before
	ebprec recover -q -o full.data a.data
	kill $writer
	wait $writer || true
	ebprec recover -q a.data
	cmp a.data full.data
}

@test "perf.data of perf itself goes into a new file when it is cut" {
	gen_capture -o full.data --samples 1000 --plain
	script full.data >all
	run --separate-stderr ebprec recover full.data
	same 0 "$status"
	same "ebprec: 'full.data' is complete, nothing to do" "$stderr"
	head -c 60000 full.data >cut.data
	run --separate-stderr ebprec recover cut.data
	same 1 "$status"
	same "ebprec: cannot recover 'cut.data' in place: it was not written by ebprec (name a new file with -o)" \
		"$stderr"
	ebprec recover -q -o new.data cut.data
	script new.data >part
	[ -s part ]
	head -c "$(stat -c %s part)" all | cmp - part
}

# bats test_tags=long
@test "perf record that was killed: its samples go into a new file" {
	need_root
	for option in "" -z; do
		# shellcheck disable=SC2086 # maybe no word
		perf record $option -a -g -e cpu-clock -o killed.data >/dev/null 2>&1 &
		pid=$!
		sleep 2
		kill -9 $pid
		wait $pid || true
		[ -s killed.data ] || skip "perf cannot record here"
		perf script -i killed.data >/dev/null 2>&1 && fail "perf reads it: nothing to prove"
		rm -f new.data
		ebprec recover -q -o new.data killed.data
		script new.data >out
		[ "$(samples killed.data)" -gt 0 ]
		same "$(samples killed.data)" "$(samples new.data)"
		same "$(samples new.data)" "$(grep -c 'cpu-clock' out)"
	done
}

@test "a truncated file: report names recover, which counts what is lost of the file as it was" {
	gen_capture -o cut.data --samples 3000 --flush 500
	truncate -s $(($(stat -c %s cut.data) / 2)) cut.data
	contains "$(ebprec report cut.data 2>&1 >/dev/null)" \
		"sections of the head of 'cut.data' are unreadable or wrong ('ebprec recover' writes them anew"
	contains "$(ebprec recover cut.data 2>&1)" " bytes lost, of the file as it was before it was truncated"
}
