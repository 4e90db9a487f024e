#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
# Our names for the places of a real recording, kernel and vdso too, are those of perf script.
# runs beside others: it compares what two programs print of one file

load ../../lib/helper

setup() {
	need_root
	need_perf
	cd "$BATS_TEST_TMPDIR" || return
}

# bats test_tags=long
@test "functions of a mixed load have the names that perf has" {
	# -B: perf 6.1 crashes on the build-ids of some files (assertion failed at build-id.c).
	# shellcheck disable=SC2016 # for the inner shell
	perf record -q -B -g -e cpu-clock -F 2000 -o load.data -- sh -c '
		ls -lR /usr/share >ls.txt; sort ls.txt | xz | md5sum
		perl -e "for (1..3e5) { \$x .= chr(\$_ % 64); \$h{\$_} = \$x if !(\$_ % 1000) }"
		awk -f "$0" ls.txt
		dd if=/dev/zero of=zero bs=1M count=20 conv=fsync
		for i in $(seq 100); do /bin/true; done' "$BATS_TEST_DIRNAME/count_words.awk" >/dev/null 2>&1
	perf script -i load.data -F ip,sym,dso 2>/dev/null |
		sed -n 's/^[ \t]*\([0-9a-f][0-9a-f]*\) \(.*\) (\(.*\))$/\1 \2 \3/p' |
		grep -v -e '\[unknown\]$' -e '//anon$' -e ' bpf_prog_[^ ]*$' | sort -u >perf.txt
	awk '{ print $1, $NF }' perf.txt | names /proc/kallsyms >ours.txt
	[ "$(wc -l <perf.txt)" -gt 300 ] || fail "few places: $(wc -l <perf.txt)"
	[ "$(grep -c '\[kernel' perf.txt)" -gt 100 ] || fail "few in the kernel: $(grep -c '\[kernel' perf.txt)"
	# Where perf has no name we may have one (.plt.sec, .plt.got), and stubs it miscounts.  It also names what is
	# no code: in stacks without frame pointers pointers to data look like return addresses.
	run perl "$TEST_LIB/other_names.pl" < <(paste -d'|' perf.txt ours.txt)
	same "" "$output"
}
