#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
# The last part of a recording, held in memory; files one after the other; a limit of size.
# runs beside others: it waits for files, and looks at their sizes and order

load ../../lib/helper

setup() {
	need_bpf
	need_perf
	cd "$BATS_TEST_TMPDIR" || return
	export HOME=$PWD PERF_BUILDID_DIR=$PWD/debug
}

# bats test_tags=long
@test "a program that ran before the backlog began has its names in it" {
	shares 600 >/dev/null 3>&- &
	early=$!
	ebprec-record -a -F 499 --ring 1s --trigger mark:now -q -o r.data \
		sh -c ': >began; until [ -e end ]; do sleep 0.1; done' 3>&- &
	pid=$!
	await test -e began
	sleep 2.5
	answer=$(ebprec snapshot $pid)
	case $answer in
	*" samples, "*" MiB in '$PWD/r.data.1'") ;;
	*) fail "answer: $answer" ;;
	esac
	ebprec mark now
	await test -e r.data.2
	# The library asks the same.
	answer=$(PYTHONPATH=$BATS_TEST_DIRNAME/../../../analyze/lib LD_LIBRARY_PATH=$BUILD \
		python3 -c "import ebprec; assert $pid in ebprec.recorders(); print(ebprec.snapshot($pid, 60000))")
	contains "$answer" " MiB in '$PWD/r.data.3'"
	: >end
	wait $pid
	# No recorder is there to be asked.
	refuses ebprec snapshot $pid
	# shellcheck disable=SC2154 # refuses sets stderr
	contains "$stderr" "cannot ask recorder $pid: Connection refused (there is no such process)"
	kill $early
	for f in r.data.1 r.data.2 r.data.3 r.data; do
		intact "$f"
		# Nothing of its start is left, only what it adds up to.
		[ "$(account "$f" segment dropped_until_mono_ns)" -gt 0 ] || fail "nothing was dropped"
		perf script -i "$f" --pid $early -F comm,ip,sym,dso 2>/dev/null >out
		grep -q "^shares" out || fail "$f: no samples of it"
		! grep -q "^:$early" out || fail "$f: without a name"
		# All that perf sees of it in user space has a file, and most a name.
		ebprec report -i "$f" --pid $early --sort dso >report.txt 2>&1
		grep -q ' shares *$' report.txt || fail "$f: $(cat report.txt)"
		grep -q "(.*/shares)" out || fail "$f: perf finds no file"
		# And what was known of its file when it was first seen.
		ebprec info --objects "$f" >objects
		grep -q '^facts  *[0-9]' objects && grep -q '^mounts  *[0-9]' objects || fail "$f: $(cat objects)"
	done
	same snapshot "$(account r.data.1 ended)"
	same mark:now "$(account r.data.2 ended)"
	perf script -i r.data.2 -F event 2>/dev/null | grep -q ebprec:mark || fail "the mark is not in it"
	same "command ended" "$(account r.data ended)"
	same 1 "$(account r.data.1 segment number)"
}

# bats test_tags=long
@test "rotated files are complete, begin where the last one ended, and old ones are removed" {
	shares 600 >/dev/null 3>&- &
	early=$!
	# shellcheck disable=SC2016 # for the inner shell
	ebprec-record -a -F 499 --rotate 1s,2 -q -o r.data \
		sh -c 'for i in $(seq 300); do [ ! -e r.data.3 ] || break; sleep 0.1; done' 3>&-
	kill $early
	[ ! -e r.data ] || fail "the first one is still there"
	last=$(find . -name 'r.data.*' | sed 's/.*\.//' | sort -n | tail -n 1)
	[ "$last" -ge 3 ] || fail "only $last files"
	same 2 "$(find . -name 'r.data*' | wc -l)"
	end=0
	for i in $((last - 1)) "$last"; do
		intact "r.data.$i"
		# The last one may be of a moment, in which others ran.
		perf script -i "r.data.$i" --pid $early -F comm,ip,sym,dso 2>/dev/null >out
		grep -q "(.*/shares)" out || [ "$i" = "$last" ] || fail "$i: perf finds no file"
		begun=$(account "r.data.$i" segment dropped_until_mono_ns)
		[ "$begun" -gt "$end" ] || fail "$i begins at $begun"
		end=$begun
	done
	same rotated "$(account "r.data.$((last - 1))" ended)"
}

# bats test_tags=long
@test "a size limit ends the recording, and the capture is about that size" {
	storm 300 20 >/dev/null 2>&1 3>&- &
	load=$!
	ebprec-record -a -F 997 --max-size 1M -q -o r.data sleep 60 3>&- &
	pid=$!
	await test -e r.data
	kill -USR2 $pid # for a window, which this is not
	wait $pid || true
	kill $load 2>/dev/null || true
	intact r.data
	same "size limit" "$(account r.data ended)"
	contains "$(ebprec info r.data)" "a snapshot was asked for, which takes --ring, skipping"
	size=$(stat -c %s r.data)
	[ "$size" -lt $((3 << 20)) ] || fail "$size bytes"
}

@test "a recorder answers when it records, and by libebprec it is stopped with a complete capture" {
	# A client of the same user that never asks for anything costs others nothing.
	cat >ask.py <<-'END'
		import os, socket, subprocess, sys
		import ebprec
		pid = int(sys.argv[1])
		silent = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
		while True:
		    try:
		        silent.connect(b"\0ebprec-record/%d" % pid)
		        break
		    except ConnectionRefusedError:
		        pass
		print(ebprec.ping(pid, 60000))
		subprocess.run(["ebprec", "mark", "after the answer"], check=True)
		try:
		    print(ebprec.snapshot(pid, 60000))
		except OSError as problem:
		    print(problem.errno, problem.strerror)
		print(ebprec.stop(pid, 60000))
		print("finished" if " finished" in subprocess.check_output(["ebprec", "info", "r.data"], text=True) else "unfinished")
	END
	ebprec-record -q -a -F 499 -o r.data -- sleep 600 3>&- &
	pid=$!
	PYTHONPATH=$BATS_TEST_DIRNAME/../../../analyze/lib LD_LIBRARY_PATH=$BUILD timeout 100 python3 ask.py $pid >answers || fail "$(cat answers)"
	wait $pid # the command was ended
	{
		read -r ping
		read -r snapshot
		read -r stop
		read -r state
	} <answers
	contains "$ping" " MiB in '$PWD/r.data'"
	same "95 it was started without --ring" "$snapshot"
	contains "$stop" " MiB in '$PWD/r.data'"
	same finished "$state"
	intact r.data
	same stopped "$(account r.data ended)"
	contains "$(ebprec marks r.data)" "after the answer"
	contains "$stop" ", $(account r.data samples) samples, "
}

@test "snapshot asks the recorders with --ring alone, unless another one is named" {
	# Recorders of other tests are in another network namespace.
	cat >both.sh <<-'END'
		ebprec-record -q -o plain.data -- sleep 600 &
		plain=$!
		ebprec-record -q --ring 10s -o ring.data -- sleep 600 &
		ring=$!
		python3 -c '
		import sys, time, ebprec
		while {int(pid) for pid in sys.argv[1:]} - set(ebprec.recorders()): time.sleep(0.05)
		for pid in sys.argv[1:]: ebprec.ping(int(pid), 60000)' $plain $ring
		ebprec snapshot >found 2>&1 && echo "of one" >>found
		ebprec snapshot $plain >named 2>&1 || echo "not of $plain" >>named
		kill $ring
		wait $ring
		ebprec snapshot >none 2>&1 || echo "of none" >>none
		kill $plain
		wait $plain
		echo $plain >pid
	END
	PYTHONPATH=$BATS_TEST_DIRNAME/../../../analyze/lib LD_LIBRARY_PATH=$BUILD timeout 200 unshare -n sh both.sh
	same 2 "$(wc -l <found)"
	contains "$(cat found)" " MiB in '$PWD/ring.data.1'"
	contains "$(cat found)" "of one"
	same "ebprec: cannot ask recorder $(cat pid): it was started without --ring
not of $(cat pid)" "$(cat named)"
	same "ebprec: no recording with --ring is running (start 'ebprec record --ring 60s')
of none" "$(cat none)"
}
