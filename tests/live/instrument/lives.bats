#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
# Lives of threads that are not simple: many that are short, some that never run, that exec while another
# of them waits, that are moved, that waited before the recording began.

# shellcheck disable=SC2016 # perl
load ../../lib/helper

# One recording for all tests.
setup_file() {
	PATH=$PATH:/usr/sbin bpftool prog list >/dev/null 2>&1 || return 0
	cd "$BATS_FILE_TMPDIR" || return
	mkfifo early
	crowd 3 >ready 3>&- &
	crowd=$!
	cat early >/dev/null 3>&- &
	echo $! >waiter
	cat >exec.py <<-'END'
		import os, threading, time
		def leave():
		    time.sleep(0.15)
		    os.execv("/bin/sleep", ["sleep", "0.2"])
		threading.Thread(target=leave).start()
		time.sleep(100)
	END
	cat >move.py <<-'END'
		import os
		cpus = sorted(os.sched_getaffinity(0))
		for i in range(60):
		    os.sched_setaffinity(0, [cpus[i % len(cpus)]])
		    sum(range(2000))
		print(os.getpid(), len(cpus))
	END
	cat >many.py <<-'END'
		import os
		print(os.getpid())
		for i in range(700):
		    pid = os.fork()
		    if not pid:
		        os._exit(i % 100)
		    os.waitpid(pid, 0)
	END
	# Both wait when the recording begins: one in a pipe that is not open yet.
	until grep -q ready ready && grep -q ^S <(awk '{ print $3 }' "/proc/$(cat waiter)/stat"); do
		sleep 0.05
	done
	pgrep -P "$crowd" >pids
	echo "$crowd" >>pids
	stolen_ms=$(stolen_ms)
	# shellcheck disable=SC2016 # for the inner shell
	ebprec record -aq -m 64M -o l.data -- bash -c '
		python3 many.py >many
		python3 move.py >moved
		python3 exec.py &
		echo $! >execed
		wait
		echo >early
		gone=/proc/'"$(cat waiter)"'
		while [ -e $gone ] && ! grep -q "State:.Z" $gone/status; do sleep 0.02; done' || true
	echo $(($(stolen_ms) - stolen_ms)) >stolen
	wait "$(cat waiter)"
	kill "$crowd"
	ebprec sched --json l.data 2>/dev/null >lives.json
}

setup() {
	need_bpf
	cd "$BATS_FILE_TMPDIR" || return
}

# lives NAME - what lives.pl has of that name holds
lives() {
	perl "$BATS_TEST_DIRNAME/lives.pl" "$1"
}

@test "every thread of a storm of forks begins and ends in the capture, or is counted as lost" {
	lost=$(jq .sched.lost lives.json)
	perf script -i l.data -F event,trace 2>/dev/null >events
	parent=$(cat many)
	forks=$(grep -c "sched:sched_process_fork: comm=python3 pid=$parent " events || true)
	[ "$forks" -le 700 ] && [ $((forks + lost)) -ge 700 ] || fail "$forks forks, $lost lost"
	ebprec sched --exited l.data 2>/dev/null | pick_fields 1 python3 3 NF | pick_fields 1 "$parent" 2 >codes
	exits=$(wc -l <codes)
	[ "$exits" -le 700 ] && [ $((exits + lost)) -ge 700 ] || fail "$exits exits, $lost lost"
	[ "$lost" -ne 0 ] || same "$(for i in {0..699}; do echo $((i % 100)); done | sort -n)" "$(sort -n codes)"
	# Each has a life of its own, from its first wakeup to its end, in which it ran; or its switches
	# are hidden by the machine, and then it is not known what it did.
	lives storm
}

@test "threads that never ran slept all the time" {
	lives never_ran
}

@test "a wait that began before the recording counts from its beginning on" {
	lives began_before
}

@test "a thread that execs while the first one waits goes on in its place" {
	lives execed
}

@test "a thread that is moved between CPUs keeps its times" {
	read -r _ cpus <moved
	[ "$cpus" -gt 1 ] || skip "needs two CPUs"
	lives moved
}
