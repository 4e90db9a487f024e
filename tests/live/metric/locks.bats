#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
# Locks by name, with the threads that held them and for how long, against a program that measures that itself.
# runs beside others: the program measures itself how long it holds a lock
load ../../lib/helper
load ../../lib/metrics

setup_file() {
	PATH=$PATH:/usr/sbin bpftool prog list >/dev/null 2>&1 || return 0
	cd "$BATS_FILE_TMPDIR" || return
	local src=$BATS_TEST_DIRNAME/../../lib/fixtures/locked.c
	mkdir bin
	cc -O1 -shared -fPIC -DLIBRARY -Wl,--build-id -o bin/liblocked.so "$src"
	# shellcheck disable=SC2016 # for the linker
	cc -O1 -Wl,--build-id -I "$BATS_TEST_DIRNAME/../../.." -o bin/locked "$src" -Lbin -llocked -Wl,-rpath,'$ORIGIN' -pthread
	ebprec record -q --with locks --slower 20ms -o l.data -- bin/locked >truth
}

setup() {
	need_bpf
	cd "$BATS_FILE_TMPDIR" || return
}

# named FILE - "ADDRESS SYMBOL" of each futex
named() {
	ebprec metrics futexes -i "$1" --json --by address | jq -r '.tables[].rows[] | "\(.address) \(.symbol)"' | sort
}

# symbol NAME FILE - prints the symbol that FILE has at the address of the program's lock NAME
symbol() {
	named "$2" | sed -n "s/^$(pick_fields 1 "$1" 2 <truth) //p"
}

# held NAME COLUMN TIDS - a column of the table of holders, of these threads
held() {
	local address sum=0
	address=$(pick_fields 1 "$1" 2 <truth)
	for tid in $3; do
		sum=$((sum + $(field l.data futex_holders "address=$address,holder=$tid" "$2" --by address,holder)))
	done
	echo "$sum"
}

locks="global inheriting library heap stack thread file anonymous"

@test "locks: a lock has the name of the variable, file or memory that it is in" {
	same "$(symbol global l.data)" "locked: queue_mutex+0x0"
	same "$(symbol inheriting l.data)" "locked: inheriting+0x0"
	same "$(symbol library l.data)" "liblocked.so: pool+0x28"
	same "$(symbol heap l.data)" "[heap]"
	same "$(symbol stack l.data)" "[stack]"
	same "$(symbol thread l.data)" "stack of thread $(pick_fields 1 thread 4 <truth)"
	same "$(symbol file l.data)" "cache.db+0x1000"
	same "$(symbol anonymous l.data)" "[anon]"
	named l.data | grep -q ' end of a thread$'
	named l.data | grep -qE ' locked: condition\+0x'
	# Single waits have the name as well, in each form.
	ebprec metrics locks_slow -i l.data -n 0 | grep -qE "locked: queue_mutex\+0x0 +1 "
	ebprec metrics locks_holders -i l.data --csv | grep -q ',liblocked.so: pool+0x28,'
	same "$(ebprec metrics futexes -i l.data --by symbol | grep -c '^liblocked.so: pool+0x28 ')" 1
}

# bats test_tags=long
@test "locks: the time for which a thread held a lock is what the thread measured itself" {
	for name in $locks; do
		read -r _ _ rounds first least most second second_least second_most < <(grep "^$name " truth)
		time=$(held "$name" held_ns "$first")
		if [ "$time" -lt "$least" ] || [ "$time" -gt "$most" ]; then
			fail "$name: held $time ns, not $least to $most"
		fi
		same "$name $rounds $rounds 0" "$name $(held "$name" releases "$first") $(held "$name" seen_held "$first") $(held "$name" seen_taken "$first")"
		# A new thread each round is the second; the others are the kernel's last ones before it.
		address=$(pick_fields 1 "$name" 2 <truth)
		all=$(field l.data futex_holders "address=$address" held_ns --by address,process)
		time=$((all - time))
		if [ "$time" -lt "$second_least" ] || [ "$time" -gt "$second_most" ]; then
			fail "$name: the others held it $time ns, not $second_least to $second_most"
		fi
		same "$name $rounds" "$name $(field l.data futex_holders "address=$address" seen_taken --by address,process)"
		same "$name 1" "$name $(held "$name" seen_taken "$second")"
	done
}

@test "locks: a thread that signals a condition or ends held nothing" {
	for symbol in "locked: condition+" "end of a thread"; do
		ebprec metrics futex_holders -i l.data --csv | grep -F ",$symbol" >holders.csv
		same "" "$(cut -d, -f8,12,13,14 holders.csv | tr -d '\r' | grep -vE '^[1-9][0-9]*,0?,0?,0?$' || true)"
	done
	ebprec metrics futex_holders -i l.data --csv | head -n 1 | cut -d, -f8,12,13,14 | grep -qx waits,releases,held_ns,max_held_ns
}

@test "locks: their names are in a bundle, and a scrubbed capture has none of a mapped file" {
	cp l.data b.data
	ebprec bundle -q b.data
	named b.data >before
	mv bin gone
	named b.data >after
	mv gone bin
	same "$(cat after)" "$(cat before)"
	grep -q ' liblocked.so: pool+0x28$' after
	ebprec scrub -q -o s.data b.data
	named s.data | cut -d' ' -f2- >scrubbed
	grep -qxF '[file]+0x1000' scrubbed
	grep -qxF 'locked: queue_mutex+0x0' scrubbed
	run ! grep -aq cache.db s.data
}

@test "locks: threads that queue behind a long hold wait for its thread, not for the one that woke them" {
	local hog address all long
	cc -O1 -o convoy "$BATS_TEST_DIRNAME/../../lib/fixtures/convoy.c" -pthread
	ebprec record -q --with locks -o convoy.data -- ./convoy >convoy.truth
	read -r hog address <convoy.truth
	all=$(field convoy.data futex_holders "address=$address" total_ns --by address,process)
	long=$(field convoy.data futex_holders "address=$address,holder=$hog" total_ns --by address,holder)
	[ "$all" -gt 0 ] || fail "no thread waited: $(ebprec metrics futex_holders convoy.data)"
	[ $((10 * long)) -ge $((9 * all)) ] || fail "$hog: $long of $all ns: $(ebprec metrics futex_holders convoy.data)"
}

# bats test_tags=long
@test "locks: a wait that does not end is shown, and a lock whose holds were not seen has no time" {
	local program never shared
	cc -O1 -o unreleased "$BATS_TEST_DIRNAME/../../lib/fixtures/unreleased.c" -pthread
	./unreleased >unreleased.truth 3>&- &
	program=$!
	until [ -s unreleased.truth ]; do sleep 0.1; done
	never=$(pick_fields 1 never 2 <unreleased.truth)
	shared=$(pick_fields 1 shared 2 <unreleased.truth)
	# The thread has waited since before the recording.
	ebprec record -q --with locks -d 1 -o un.data -p "$program"
	kill "$program"
	wait "$program" || true
	same 1 "$(field un.data futexes "address=$never" now_waiting --by address)"
	[ "$(field un.data futexes "address=$never" now_waiting_ns --by address)" -ge 1000000000 ]
	ebprec metrics futexes -i un.data --by address | grep -E "^$never +unreleased: never_released\+0x0 "
	# The writers wait at a word 12 bytes into the lock, which no kind of mutex is known by.
	ebprec metrics futex_holders -i un.data --by address >holders
	grep -E "^$(printf '0x%x' $((shared + 12))) .* 0 +- +- +0 +0 *\$" holders || fail "$(cat holders)"
}

# bats test_tags=long
@test "locks: a row of a process has the comm of its first thread, whichever thread waited or woke" {
	ebprec record -q --with locks -o named.data -- waits ./faulted >counts
	pid=$(pick_fields 1 thread 2 <counts | head -n 1)
	for table in futexes futex_holders; do
		same "$(ebprec metrics $table --by process --csv -i named.data | pick_fields -F , 4 "$pid" 5)" waiter
	done
	# The holder is a thread.
	contains "$(ebprec metrics futex_holders -i named.data)" " holder "
}

@test "locks: a lock without a name has the functions that wait for it and release it, and stands above joins" {
	local rows
	cc -O1 -o heap_lock "$BATS_TEST_DIRNAME/../../lib/fixtures/heap_lock.c" -pthread
	ebprec record -q --with locks -o heap.data -- ./heap_lock
	rows=$(ebprec metrics futexes -i heap.data | grep -E '^ +0x')
	same "$(head -n 1 <<<"$rows" | awk '{ print $2, $NF }')" "[heap] push_item"
	contains "$(sed 1d <<<"$rows")" " end of a thread "
	contains "$(grep -F 'end of a thread' <<<"$rows")" " main"
	rows=$(ebprec metrics futex_holders -i heap.data --csv)
	# The thread with the longest hold.
	same "$(tr -d '\r' <<<"$rows" | grep -F ',[heap],' | sort -t, -k14,14n | tail -n 1 | awk -F, '{ print $NF }')" flush_queue
	# The names go into a bundle with those of locks.
	cp heap.data heap-bundled.data
	ebprec bundle -q heap-bundled.data
	mv heap_lock heap_gone
	contains "$(ebprec metrics futexes -i heap-bundled.data)" " push_item"
}
