#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
# Counts of the instruments against the kernel's own.  The machine does other things meanwhile: a count of
# all CPUs must lie between the difference of two looks at /proc inside of the recording and that of two
# outside of it.
# runs beside others: what it compares with /proc lies between two looks at it

load ../../lib/helper
load ../../lib/metrics

look() {
	grep -w "$(cat disk)" /proc/diskstats >"$1.disk"
	cat /proc/interrupts >"$1.irq"
	cat /proc/softirqs >"$1.soft"
}

setup_file() {
	PATH=$PATH:/usr/sbin bpftool prog list >/dev/null 2>&1 || return 0
	cd "$BATS_FILE_TMPDIR" || return
	read -r folder name < <(disk_folder "$PWD" "$BUILD" /var/tmp)
	echo "${name:-none}" >disk
	export FOLDER=${folder:-.} # on a disk, if there is any
	export -f look
	look outer0
	stolen_ms=$(stolen_ms)
	# shellcheck disable=SC2016 # for the inner shell
	ebprec record -aq --with exits,faults,block,cache,runq,irq --slower 1us --interval 0.5 -o m.data -- bash -c '
		look inner0
		ends $FOLDER/cold.$$ >truth
		cached $FOLDER/cached.$$ >>truth
		dd if=/dev/zero of=$FOLDER/dd.$$ bs=64k count=37 oflag=direct 2>/dev/null
		dd if=$FOLDER/dd.$$ of=/dev/null bs=4k count=101 iflag=direct 2>/dev/null
		rm -f $FOLDER/*.$$
		sleep 0.6
		look inner1' || true
	echo $(($(stolen_ms) - stolen_ms)) >stolen
	look outer1
}

setup() {
	need_bpf
	cd "$BATS_FILE_TMPDIR" || return
}

# truth NAME - sets pid, status, and the results of wait4: $pid $status $vol $invol $minor $major $cpu_us
truth() {
	read -r _ _ pid status vol invol minor major cpu_us < <(grep "^ended $1 " truth)
	[ -n "$cpu_us" ] || fail "no $1: $(cat truth)"
}

need_disk() {
	[ "$(cat disk)" != none ] || skip "no folder is on a disk"
}

# near WANT GOT MOST - GOT is WANT or up to MOST more
near() {
	if [ "$2" -lt "$1" ] || [ "$2" -gt $(($1 + $3)) ]; then
		fail "want $1 to $(($1 + $3)), got $2"
	fi
}

# between WHAT INNER GOT OUTER
between() {
	if [ "$3" -lt "$2" ] || [ "$3" -gt "$4" ]; then
		fail "$1: want $2 to $4, got $3"
	fi
}

@test "exits: each process has one row, with the numbers of wait4" {
	for name in work killed; do
		truth $name
		same "$name $status" "$name $(field m.data exits "pid=$pid,comm=$name" exit_code)"
		# After it was waited for it may still be preempted on its way out.
		near "$invol" "$(field m.data exits "pid=$pid" involuntary)" 3
		# The first thread's last one may have come too late for wait4, or not.
		near $((vol - 1)) "$(field m.data exits "pid=$pid" voluntary)" 4
		near "$major" "$(field m.data exits "pid=$pid" major)" 0
		near "$minor" "$(field m.data exits "pid=$pid" minor)" 2
		# wait4 rounds down, and its last microseconds are not in it
		near "$cpu_us" $(($(field m.data exits "pid=$pid" runtime_ns) / 1000)) 100000
	done
	truth killed
	same 7 "$(field m.data exits "pid=$pid" nice)"
	same 1 "$(field m.data exits "pid=$pid,policy=BATCH,ended=SIGKILL" threads)"
	truth work
	same 2 "$(field m.data exits "pid=$pid,ended=7,policy=OTHER" threads)"
	[ "$(ebprec metrics exits -i m.data --json | grep -c "\"pid\": $pid,")" -eq 1 ]
}

# sched --exited is of events, this of a table: the same facts.
@test "exits: sched has the same numbers for processes that ended" {
	ebprec sched --json m.data 2>/dev/null >sched.json
	ebprec metrics exits -i m.data --json >exits.json
	perl "$TEST_LIB/exits_agree.pl"
}

# Threads that end at one moment, some of them preempted between exit_notify() and their last switch.
# bats test_tags=long
@test "exits: of 1200 processes with nine threads sched and the table have each thread once, and what wait4 reports" {
	ebprec record -aq --with exits,faults --interval 0.5 -o endings.data -- sh -c \
		"endings 400 & endings 400 & endings 400; wait" >waited
	ebprec metrics exits -i endings.data --json |
		jq -r '.tables[0].rows[] | select(.comm == "endings") | "\(.pid) \(.runtime_ns) \(.threads)"' |
		sort | grep -wFf <(cut -d ' ' -f 1 waited) >table
	ebprec sched --json endings.data |
		jq -r '.exited[] | select(.comm == "endings") | "\(.pid) \(.runtime_ns) \(.threads)"' |
		sort | grep -wFf <(cut -d ' ' -f 1 waited) >events
	same 1200 "$(wc -l <table)"
	same 1200 "$(grep -c ' 9$' table)"
	same "" "$(diff table events)"
	# wait4 rounds down, and the last microseconds are not in it
	same "" "$(sort waited | join - table | awk -f "$BATS_TEST_DIRNAME/ran_shorter.awk")"
}

@test "faults: minor and major ones of each process are those of wait4" {
	truth work
	near "$minor" "$(field m.data faults "pid=$pid,comm=work" minor)" 2
	same "$major" "$(field m.data faults "pid=$pid" major)"
	[ "$(cat disk)" = none ] || [ "$major" -ge 53 ] || fail "only $major were major"
	[ "$minor" -ge 1009 ] || fail "only $minor were minor"
	[ "$(cat disk)" != none ] || return 0
	tid=$(ebprec metrics faults -i m.data --pid "$pid" --by thread --json |
		jq '.tables[0].rows[] | select(.major >= 53).tid')
	[ "$tid" != "$pid" ] || fail "the wrong thread has the major faults"
}

@test "faults: each major one has a stack, and minor ones have them in proportion" {
	truth work
	same "$major" "$(field m.data faults_stacks fault=major count --by fault --pid "$pid")"
	ebprec report -q --of faults --folded -i m.data >faults.folded
	same "$(field m.data faults_stacks '' count --by process --top 0)" \
		"$(weight <faults.folded)"
	# The function that touches what is not in memory, and not the one that made the file.
	[ "$(weight '^work;(.*;)?touch_cold ' <faults.folded)" -ge 53 ] ||
		fail "$(grep ^work faults.folded)"
	# All minor faults of the machine, and one in 97 of them with as much weight.
	minor=$(field m.data faults '' minor --top 0)
	sampled=$(field m.data faults_stacks fault=minor count --by fault --top 0)
	[ $((sampled % 97)) -eq 0 ]
	[ "$sampled" -le $((minor * 2 + 1000)) ] || fail "$sampled of $minor"
	# Pages that the kernel faults in for itself (get_user_pages) are no events of perf's.
	[ $((sampled * 4 + 1000)) -ge "$minor" ] || fail "$sampled of $minor"
}

@test "block: slow requests have the stack of their thread, and weigh their time" {
	ebprec report -q --of block --folded -i m.data >block.folded
	took=$(($(field m.data block_slow comm=dd queue_ns --top 0) + $(field m.data block_slow comm=dd device_ns --top 0)))
	same "$took" "$(weight '^dd;' <block.folded)"
	[ "$(grep -cE '^dd;.*vfs_write;' block.folded)" -ge 1 ] || fail "$(cat block.folded)"
	[ "$(grep -cE '^dd;.*vfs_read;' block.folded)" -ge 1 ] || fail "$(cat block.folded)"
	same 0 "$(account m.data lost rows)"
}

@test "runq: switches are those of wait4, and CPU time is that of exits" {
	lost=$(account m.data lost rows) # they may have been of these
	for name in work killed; do
		truth $name
		near $((vol - 1 - lost)) "$(field m.data runq "pid=$pid" voluntary)" $((5 + lost))
		near $((invol - lost)) "$(field m.data runq "pid=$pid" involuntary)" $((3 + lost))
		run_us=$(($(field m.data runq "pid=$pid" run_ns) / 1000))
		# A switch is charged to the next thread or to the previous one: see sched.bats
		least_us=$((cpu_us * 8 / 10 - 1000 - 20 * (vol + invol)))
		near $least_us "$run_us" $((100000 + 2 * cpu_us - least_us))
	done
	truth work
	# 29 sleeps of a millisecond, each on another CPU than the one before, and none is missing; nor is its
	# life, which began a little before it first could run.  Time that a hypervisor takes between the start of a
	# timer and the switch is no sleep.
	slept_ns=$(field m.data runq "pid=$pid" sleep_ns)
	[ "$slept_ns" -ge $((29000000 - 1000000 * $(cat stolen))) ] || fail "$slept_ns ns, $(cat stolen) ms stolen"
	lived=$(ebprec metrics exits -i m.data --json --pid "$pid" | jq '.tables[0].rows[] | .is_exit_ns - .start_ns')
	sum=0
	for name in run_ns wait_ns sleep_ns; do
		sum=$((sum + $(field m.data runq "tid=$pid" $name --by thread)))
	done
	[ "$sum" -ge $((lived / 2)) ] || fail "lived $lived: $sum"
}

@test "runq: busy and idle time of a CPU add up to each interval" {
	ebprec metrics runq_cpus -i m.data --json --interval |
		jq -c '.tables[] | (.to_ns - .from_ns) as $length | .rows[] | [.cpu, .busy_ns + .idle_ns, $length]' >cpus
	[ "$(wc -l <cpus)" -ge 2 ] || fail "CPUs: $(cat cpus)"
	# the walk over the CPUs takes its time, on a busy machine
	same "" "$(jq -c 'select(.[1] - .[2] | fabs > 3e8)' cpus)"
}

# cached NAME - $pid $resident $major $rchar $wchar $read_bytes $write_bytes of tests/live/workloads/cached.c
cached() {
	read -r _ _ pid resident major rchar wchar read_bytes write_bytes < <(grep "^cached $1 " truth)
	[ -n "$write_bytes" ] || fail "no $1: $(cat truth)"
}

# of NAME FIELD - of the last cached() process, over all devices
of() {
	field m.data cache "pid=$pid,comm=$1" "$2"
}

@test "cache: written and dirty bytes are those of /proc/PID/io" {
	cached write
	same "1009 1009 $wchar" "$(of write writes) $(of write write_pages) $(of write write_bytes)"
	same "$write_bytes" "$(($(of write dirtied_pages) * 4096))"
	[ "$(of write dirtied_pages)" -ge 1009 ] || fail "$(of write dirtied_pages) pages became dirty"
	same 0 "$(of write reads)"
}

@test "cache: reads miss the pages that mincore reports as absent, and hit the rest" {
	cached cold
	same "1009 1009 $rchar" "$(of cold reads) $(of cold read_pages) $(of cold read_bytes)"
	same "$((1009 - resident)) $resident" "$(of cold read_misses) $(of cold read_hits)"
	[ "$resident" -lt 1009 ] || fail "nothing was cold"
	# the disk's reads: the pages, and blocks of the file system that locate them
	near $(((1009 - resident) * 4096)) "$read_bytes" 65536
	cached warm
	same "$((3 * 505)) $((3 * 1009)) $rchar" "$(of warm reads) $(of warm read_pages) $(of warm read_bytes)"
	same "$((1009 - resident))" "$(of warm read_misses)"
}

@test "cache: faults in a mapped file bring in what wait4 calls major" {
	cached map
	[ "$major" -gt 0 ] || fail "no fault was major"
	near "$major" "$(of map fault_misses)" 0
	if [ -e /sys/kernel/tracing/events/filemap/mm_filemap_fault ]; then
		[ "$(of map faults)" -ge "$major" ] || fail "$(of map faults) faults"
	fi
	same 0 "$(of map reads)"
}

@test "block: reads and writes of known size, of the process that asked for them" {
	need_disk
	# Where its file is in pieces, a write is more than one request.
	same 2424832 "$(field m.data block comm=dd write_bytes)"
	writes=$(field m.data block comm=dd write_ios)
	[ "$writes" -ge 37 ] || fail "$writes writes"
	# Some pages of the program itself and its libraries may come from the disk, too.
	reads=$(field m.data block comm=dd read_ios)
	[ "$reads" -ge 101 ] || fail "$reads reads"
	same 0 "$(field m.data block comm=dd async_ios)"
	same 0 "$(field m.data block comm=dd errors)"
	[ "$(field m.data block comm=work read_bytes)" -ge $((53 * 4096)) ] ||
		fail "work read $(field m.data block comm=work read_bytes)"
	# So the read is not charged to the kernel's worker that handed it to the disk; how much that read for others
	# is not known.  The next test compares with diskstats, so that no read is counted for both.
}

# flushes - how often the disk flushed its cache, as /proc/diskstats has it
flushes() {
	pick_fields 3 "$(cat disk)" 19 </proc/diskstats
}

@test "block: flushes of fsync(2) are in a recording of its process alone" {
	local before after all
	need_disk
	before=$(flushes)
	[ -n "$before" ] || skip "this kernel does not count flushes"
	ebprec record -q --with block -o f.data -- sh -c "for i in \$(seq -s ' ' 40); do
		dd if=/dev/zero of=$FOLDER/flushed bs=4k count=1 conv=notrunc,fsync 2>/dev/null; done"
	after=$(flushes)
	rm -f "$FOLDER/flushed"
	[ "$before" != "$after" ] || skip "this disk has no cache that is flushed"
	all=$(($(field f.data block_ops "disk=$(cat disk),op=flush sync" ios --by disk,op) + $(field f.data block_ops "disk=$(cat disk),op=flush" ios --by disk,op)))
	# One for each fsync(2), of the thread that called it or of the journal's; others have theirs apart.  Where one ends
	# while a machine's hidden agent is on the CPU (docs/TESTING.md) there is no event: once one of 10 was missing.
	[ "$all" -ge 34 ] && [ "$all" -le $((after - before)) ] || fail "$all of $((after - before)) flushes: $(ebprec metrics block_ops -i f.data)"
	# No other process is in it.  A disk whose cache is cold also reads the files of sh and seq.
	ebprec metrics block -n 0 --json -i f.data | jq -r '.. | .comm? // empty' | sort -u >comms
	! grep -vE '^(dd|seq|sh|jbd2/|kworker|ebprec)' comms || fail "$(cat comms)"
}

# requests read|write INNER_COUNT INNER_SECTORS OUTER_COUNT OUTER_SECTORS - the table's are between; of those
# that end while a machine's hidden agent is on the CPU (docs/TESTING.md) two may be missing, of 2 MiB at most
requests() {
	local count bytes hidden
	count=$(field m.data block "disk=$disk" "$1_ios" --by disk,process)
	bytes=$(field m.data block "disk=$disk" "$1_bytes" --by disk,process)
	hidden=$(($2 > count ? $2 - count : 0))
	[ $hidden -le 2 ] || fail "$1: $count of $2"
	between "$1" $(($2 - hidden)) "$count" "$4"
	between "$1 bytes" $((($3 - hidden * 4096) * 512)) "$bytes" $(($5 * 512))
}

@test "block: all requests are those of /proc/diskstats" {
	need_disk
	disk=$(cat disk)
	# reads, sectors read, writes, sectors written
	for f in outer inner; do
		read -ra was <$f"0.disk"
		read -ra is <$f"1.disk"
		for i in 3 5 7 9; do echo $((is[i] - was[i])); done | paste -sd' ' >$f.sum
	done
	read -r r0 rs0 w0 ws0 <inner.sum
	read -r r1 rs1 w1 ws1 <outer.sum
	# A request that was under way when the recording began is not in it; it has 2 MiB at most.
	early=$(awk '{ print $12 }' inner0.disk)
	r0=$((r0 - early)) w0=$((w0 - early)) rs0=$((rs0 - early * 4096)) ws0=$((ws0 - early * 4096))
	requests read "$r0" "$rs0" "$r1" "$rs1"
	# There, ranges that a file system has zeroed are writes, too.
	for op in write-zeroes "write-zeroes sync"; do
		w0=$((w0 - $(field m.data block_ops "op=$op" ios --by op,disk)))
		ws0=$((ws0 - $(field m.data block_ops "op=$op" bytes --by op,disk) / 512))
	done
	requests write "$w0" "$ws0" "$w1" "$ws1"
	same "$(field m.data block "disk=$disk" bytes --by disk,process)" \
		"$(($(field m.data block_ops "op=read sync" bytes --by op,disk) + \
		$(field m.data block_ops "op=write" bytes --by op,disk) + \
		$(field m.data block_ops "op=write sync" bytes --by op,disk)))"
}

# sum FILE ROW - the numbers of a row of /proc/interrupts or /proc/softirqs
sum() {
	sed -nE "s/^ *$2(( +[0-9]+)+)( .*)?$/\1/p" "$1" | tr ' ' '\n' | sum_field 1
}

# most N - how many of N interrupts are recorded at least: some kernels hide some of them (docs/TESTING.md)
most() {
	echo $(($1 * 95 / 100 - 5))
}

@test "irq: counts are those of /proc/interrupts and /proc/softirqs" {
	for name in RCU TIMER BLOCK SCHED; do
		between $name "$(most $(($(sum inner1.soft $name:) - $(sum inner0.soft $name:))))" \
			"$(field m.data irq "irq=$name" count --by irq)" \
			$(($(sum outer1.soft $name:) - $(sum outer0.soft $name:)))
	done
	# The busiest device.
	while read -r number name; do
		echo "$(($(sum inner1.irq "$number") - $(sum inner0.irq "$number"))) $number $name"
	done < <(grep -E '^ *[0-9]+:' inner1.irq | awk '{ print $1, $NF }') | sort -n >devices
	read -r count number name < <(tail -n 1 devices)
	[ "${count:-0}" -gt 0 ] || return 0 # no device had an interrupt
	between "$name" "$(most $(($(sum inner1.irq "$number") - $(sum inner0.irq "$number"))))" \
		"$(field m.data irq "irq=$name" count --by irq)" \
		$(($(sum outer1.irq "$number") - $(sum outer0.irq "$number")))
}

@test "there are intervals, and next to no event is lost" {
	# A switch while the kernel changes what belongs to a task: docs/instruments/runq.md
	near 0 "$(account m.data lost rows)" 20
	n=$(ebprec metrics faults -i m.data --json --interval | grep -c '"name"')
	[ "$n" -ge 2 ] || fail "$n intervals"
}
