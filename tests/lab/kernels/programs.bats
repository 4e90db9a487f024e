#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
# Each BPF program loads on a stock Debian kernel, also in a pid namespace.  EBPREC_KERNEL is a folder that fetch made.

# shellcheck source=tests/lib/helper.bash
. "$BATS_TEST_DIRNAME/../../lib/helper.bash"

setup_file() {
	: "${EBPREC_KERNEL:?}"
	export OUT=$BATS_FILE_TMPDIR/out
	"$BATS_TEST_DIRNAME/pack" "$EBPREC_KERNEL" "$BUILD" "$BATS_FILE_TMPDIR/initramfs"
	"$BATS_TEST_DIRNAME/boot" "$EBPREC_KERNEL" "$BATS_FILE_TMPDIR/initramfs" "$OUT" programs
	echo "# programs: booted in $(cat "$OUT/boot_s") s, done after $(cat "$OUT/end_s") s" >&3
}

setup() {
	cd "$OUT" || return
}

# programs - those that the recorder has; bpftool of some versions prints 15 bytes of a name
programs() {
	sed -n 's/^\t*struct bpf_program \*\(.*\);$/\1/p' "$BUILD"/bpf/*/*.skel.h | cut -c-15 | sort -u
}

# missing FILE... - programs that no list of bpftool has
missing() {
	sed -n 's/.*  name \([^ ]*\)  .*/\1/p' "$@" | cut -c-15 | sort -u >"$BATS_TEST_TMPDIR/loaded"
	[ "$(wc -l <"$BATS_TEST_TMPDIR/loaded")" -gt 50 ] || echo most
	programs | comm -23 - "$BATS_TEST_TMPDIR/loaded" | paste -sd' '
}

@test "all recordings succeed, by BPF, and lack no part but what this kernel lacks" {
	same 7 "$(cat ./*.status | wc -l)"
	same 0 "$(sort -u ./*.status)"
	cat ./*.err >"$BATS_TEST_TMPDIR/messages"
	case $(cat "$EBPREC_KERNEL/release") in
	6.1.*) lacking="'block' 'cache' 'net'" ;;
	*) lacking='' ;;
	esac
	same "$lacking" "$(sed -n "s/^ebprec: \('[a-z]*'\) measures less on this kernel: no tracepoint .*/\1/p" "$BATS_TEST_TMPDIR/messages" | sort -u | paste -sd' ')"
	# Other lines are about losses, and about what a slow emulator had no time for.
	same '' "$(grep -E 'perf events|skipping|cannot (load|record|use)' "$BATS_TEST_TMPDIR/messages" | grep -v 'no hardware counters here')"
}

@test "the kernel loaded each program of the recorder, in a pid namespace too" {
	# The tracepoints of these came with later kernels; pidns_find ends before bpftool begins.
	case $(cat "$EBPREC_KERNEL/release") in
	6.1.*) never="block_start_may cache_fault_may cache_map_maybe net_recv_maybe net_send_maybe pidns_find" ;;
	*) never="pidns_find" ;;
	esac
	same "$never" "$(missing ./*.out)"
	# No hardware counters here, and those of the kernel were asked for on the machine.
	same "$never pmu_flush pmu_stack pmu_switch" "$(missing inside_*.out)"
}
