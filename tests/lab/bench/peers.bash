# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
# peers.bash - Sysprof and hotspot beside ebprec (scripts/deps peers); for tests/lab/bench/run
# shellcheck shell=bash disable=SC2154 # what run and lib.bash set

# with_sysprof NAME CMD... - CMD timed as NAME while the service of Sysprof runs, on a system bus of its own
with_sysprof() {
	local name=$1
	shift
	# shellcheck disable=SC2016 # for the other shell
	unshare -m sh -c 'name=$1; shift
		mount -t tmpfs none /run && mkdir /run/dbus || exit
		dbus-daemon --system --nofork --nopidfile & bus=$!
		until [ -S /run/dbus/system_bus_socket ]; do kill -0 $bus || exit; sleep 0.1; done
		/usr/lib/polkit-1/polkitd --no-debug & authority=$!
		/usr/libexec/sysprofd & service=$!
		trap "kill $service $authority $bus" EXIT
		until busctl status org.gnome.Sysprof3; do kill -0 $service || exit; sleep 0.1; done
		/usr/bin/time -o "$name" -f "%e %U %S %M" "$@"' sh "$work/$name.time" "$@" >>"$log" 2>&1
}

# A sample of the stacks that frame pointers give, in the same seconds of the same load; Sysprof's rate is fixed.
peers_recording() {
	local -a ours=() theirs=() ours_cpu=() theirs_cpu=()
	local n total pid
	for ((i = 0; i < runs; i++)); do
		rm -f "$work"/ours.data "$work"/sysprof.syscap
		start_load mixed
		timed peers.ours "$ebprec" record -q -a -F 1200 --without sched --call-graph fp -d "$seconds" \
			-o "$work/ours.data" >>"$log" 2>&1 &
		pid=$!
		with_sysprof peers.sysprof sysprof-cli --no-decode --no-battery --no-disk --no-memory --no-network --no-cpu \
			-f "$work/sysprof.syscap" -- sleep "$seconds" || die "Sysprof failed, see $log"
		wait $pid || die "ebprec record failed, see $log"
		stop_load
		n=$(stream "$work/ours.data" cpu samples)
		ours+=("$(calc "$(bytes "$work/ours.data") / $n")")
		ours_cpu+=("$(calc "1e6 * ($(cpu_s peers.ours)) / $n")")
		echo "peers ours: $n samples" >>"$log"
		read -r n total < <(python3 tests/lab/bench/syscap-bytes.py "$work/sysprof.syscap")
		theirs+=("$(calc "$(bytes "$work/sysprof.syscap") / $n")")
		theirs_cpu+=("$(calc "1e6 * ($(cpu_s peers.sysprof)) / $n")")
		echo "peers Sysprof: $n samples of $total bytes" >>"$log"
	done
	row "a sample, its share of the file: Sysprof" "$(median "${ours[@]}")" "$(median "${theirs[@]}")" B "<= 1"
	row "a sample, CPU time with the start: Sysprof" "$(median "${ours_cpu[@]}")" "$(median "${theirs_cpu[@]}")" us ""
}

# perf's file with copies of stacks, unwound and named; functions that are inlined, too, as hotspot shows them.
peers_reading() {
	local parser=/usr/lib/x86_64-linux-gnu/libexec/hotspot-perfparser
	local -a ours=() theirs=()
	start_load mixed
	perf record -q -a --call-graph dwarf -F 997 -o "$work/perf.data" -- sleep 3 >>"$log" 2>&1 || die "perf record failed, see $log"
	stop_load
	for ((i = 0; i < runs; i++)); do
		timed peers.folded "$ebprec" report --folded --inline -i "$work/perf.data" >"$work/ours.folded" 2>>"$log"
		timed peers.hotspot "$parser" --input "$work/perf.data" --output "$work/hotspot.out" 2>>"$log" >&2 ||
			die "hotspot's parser failed, see $log"
		ours+=("$(cpu_s peers.folded)") theirs+=("$(cpu_s peers.hotspot)")
	done
	row "3 s of perf --call-graph dwarf, CPU time: hotspot" "$(median "${ours[@]}")" "$(median "${theirs[@]}")" s "<= 0.5"
}

part_peers() {
	local name
	for name in sysprof-cli hotspot; do
		command -v $name >/dev/null || die "part peers needs $name (scripts/deps peers)"
	done
	peers_recording
	peers_reading
}
