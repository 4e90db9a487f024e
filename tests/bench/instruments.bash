# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
# instruments.bash - what each instrument costs those who do what it counts, next to the tool of
# libbpf-tools of the same purpose, or to perf counting the same events where none works here; read by
# tests/bench/run
# shellcheck shell=bash disable=SC2154 # what run has set

# alone KIND N - CPU ns of each, the least of $runs; as a real-time process, of a second or so, whom others
# disturb little
alone() {
	local i least=999999999 got
	for ((i = 0; i < runs; i++)); do
		got=$(chrt -f 1 "$build/tests/bench/bench_hurt" "$1" "$2" "$work/hurt.bin")
		least=$(calc "$got < $least ? $got : $least")
	done
	echo "$least"
}

# while_running KIND N CMD... - the same while CMD runs
while_running() {
	local kind=$1 n=$2 pid
	shift 2
	"$@" >/dev/null 2>>"$log" &
	pid=$!
	sleep 2.5
	kill -0 $pid 2>/dev/null || { echo -; return; }
	alone "$kind" "$n"
	kill -INT $pid
	wait $pid 2>/dev/null || true
}

# perf_on EVENT... - the peer that writes them all; to be run in a shell of its own
perf_on() {
	local IFS=,
	exec perf record -aq -e "$*" -o /dev/null
}

peer_name() {
	case ${1:-} in
	perf_on) echo "perf record of ${2%%:*}, $(($# - 1)) events" ;;
	*) echo "${1:--}" ;;
	esac
}

# instrument_row NAME KIND N PEER...
instrument_row() {
	local name=$1 kind=$2 n=$3 none ours peer=-
	shift 3
	none=$(alone "$kind" "$n")
	ours=$(while_running "$kind" "$n" "$ebprec" record -aq --without sched,mark --with "$name" -F 1 \
		-o "$work/instrument.data")
	[ $# -eq 0 ] || peer=$(while_running "$kind" "$n" "$@")
	printf '| %s | %s %s | %s | %s | %s | %s |\n' "$name" "$n" "$kind" "$none" "$ours" "$peer" "$(peer_name "$@")"
}

# heap_row - the program itself is what is recorded: a probe slows down all who run into it
heap_row() {
	local n=300000 none ours
	none=$(alone mallocs $n)
	ours=$("$ebprec" record -q --without sched,mark --with heap -F 1 -o "$work/instrument.data" -- \
		chrt -f 1 "$build/tests/bench/bench_hurt" mallocs $n)
	printf '| heap | %s mallocs and frees | %s | %s | - | - |\n' $n "$none" "$ours"
}

part_instruments() {
	dd if=/dev/zero of="$work/hurt.bin" bs=4096 count=256 2>/dev/null
	sync "$work/hurt.bin"
	echo
	echo '| instrument | load | CPU ns each, alone | recorded | with the peer | peer |'
	echo '|---|---|---|---|---|---|'
	instrument_row syscalls calls 3000000 syscount -L -i 1
	instrument_row locks wakes 1000000 perf_on lock:contention_begin lock:contention_end syscalls:sys_enter_futex
	instrument_row faults faults 1000000 perf_on minor-faults
	instrument_row exits ends 10000 exitsnoop
	instrument_row runq pings 100000 runqlat 1
	instrument_row tcp connects 20000 tcpstates
	instrument_row net connects 20000 perf_on net:net_dev_queue net:net_dev_start_xmit net:net_dev_xmit net:netif_receive_skb
	instrument_row net calls 3000000
	instrument_row block ios 100000 biolatency 1
	instrument_row cache reads 1000000 perf_on 'filemap:*'
	instrument_row cache calls 3000000
	instrument_row kmem ends 10000 perf_on kmem:kmalloc kmem:kfree kmem:kmem_cache_alloc kmem:kmem_cache_free
	instrument_row kmem connects 20000 perf_on kmem:kmalloc kmem:kfree kmem:kmem_cache_alloc kmem:kmem_cache_free
	heap_row
	instrument_row irq ios 20000 hardirqs 1
	instrument_row counters calls 3000000
}
