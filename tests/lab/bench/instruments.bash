# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
# instruments.bash - the cost of each instrument to programs that do what it counts, next to that of
# libbpf-tools' tool of the same purpose, or of perf counting the same events where none works here;
# read by tests/lab/bench/run
# shellcheck shell=bash disable=SC2154 # what run has set

# hurt KIND N - prints the CPU ns of each call; runs for a second or so, with real-time priority, so that
# # other programs disturb it little
hurt() {
	chrt -f 1 "$build/tests/lab/bench/bench_hurt" "$1" "$2" "$work/hurt.bin"
}

# while_running KIND N CMD... - the same while CMD runs
while_running() {
	local kind=$1 n=$2 pid
	shift 2
	"$@" >/dev/null 2>>"$log" &
	pid=$!
	sleep 2
	kill -0 $pid 2>/dev/null || return 0
	hurt "$kind" "$n"
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

# put_row NAME LOAD PEER - of what is in the arrays none, ours, peers: medians, and what is added to none
put_row() {
	local base with beside=- more=- than=-
	base=$(median "${none[@]}") with=$(median "${ours[@]}")
	if [ ${#peers[@]} -gt 0 ]; then
		beside=$(median "${peers[@]}")
		more=$(calc "int($beside - $base + 0.5)")
		# Below the noise there is no ratio.
		[ "$(calc "$beside > $base && $with > $base")" = 0 ] ||
			than=$(calc "int(100 * ($with - $base) / ($beside - $base) + 0.5) / 100")
	fi
	printf '| %s | %s | %.0f | %.0f | %.2f | %.0f | %s | %s | %s |\n' "$1" "$2" "$base" "$with" \
		"$(calc "$with / $base")" "$(calc "$with - $base")" "$more" "$than" "$3"
}

# instrument_row NAME KIND N PEER... - one after the other, $runs times, so that a slow time hits all three
instrument_row() {
	local name=$1 kind=$2 n=$3 i got none=() ours=() peers=()
	shift 3
	for ((i = 0; i < runs; i++)); do
		none+=("$(hurt "$kind" "$n")")
		ours+=("$(while_running "$kind" "$n" "$ebprec" record -aq --without sched,mark --with "$name" -F 1 \
			-o "$work/instrument.data")")
		[ $# -gt 0 ] || continue
		got=$(while_running "$kind" "$n" "$@")
		[ -z "$got" ] || peers+=("$got")
	done
	put_row "$name" "$n $kind" "$(peer_name "$@")"
}

# heap_row - records the program itself: a probe slows down every process that runs into it
heap_row() {
	local n=300000 i none=() ours=() peers=()
	for ((i = 0; i < runs; i++)); do
		none+=("$(hurt mallocs $n)")
		ours+=("$("$ebprec" record -q --without sched,mark --with heap -F 1 -o "$work/instrument.data" -- \
			chrt -f 1 "$build/tests/lab/bench/bench_hurt" mallocs $n)")
	done
	put_row heap "$n mallocs and frees" -
}

part_instruments() {
	dd if=/dev/zero of="$work/hurt.bin" bs=4096 count=256 2>/dev/null
	sync "$work/hurt.bin"
	echo
	echo '| instrument | load | CPU ns each, alone | recorded | times | added | by the peer | ours / its | peer |'
	echo '|---|---|---|---|---|---|---|---|---|'
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
