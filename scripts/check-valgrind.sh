#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
#
# check-valgrind.sh BUILD_DIR - the recorder's user side under valgrind
#
# Unit tests of its rooms, with all of memcheck, and complete recordings, out of which a capture must come.
# Only accesses and leaks of these are looked at: memcheck does not know what the kernel writes where in
# bpf(), which has pointers in structs in pointers, and takes all that comes of it for undefined.
# Helper processes are started as /proc/self/exe, which is valgrind then: they fail, the recorder goes on.
# No command is recorded: valgrind knows no pidfd_open().
set -u

build=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
n=0 failed=0
# Leaks that count are those that nothing points to; libraries keep things until the end.
memcheck=(valgrind --quiet --error-exitcode=99 --leak-check=full "--show-leak-kinds=definite,indirect"
	"--errors-for-leak-kinds=definite,indirect" "--log-file=$work/log")

# report_result NAME STATUS
report_result() {
	n=$((n + 1))
	if [ "$2" -eq 0 ]; then
		echo "ok $n - $1"
		return
	fi
	failed=1
	echo "not ok $n - $1: status $2"
	grep -vE 'unhandled|^--[0-9]+-- (You may|Read|Nevertheless|it at)' "$work/log" | head -60 | sed 's/^/# /'
	tail -5 "$work/out" | sed 's/^/# /'
}

# not_under_valgrind ROOM - tests that look into, or start, their own program: it would be valgrind's.
# A recorder elsewhere puts a breakpoint where markelf's has its mark, and valgrind stops there.
# And it knows no openat2(), which paths below a root are compared with, and makes system calls of its own, which a
# filter of ours refuses.
not_under_valgrind() {
	case $1 in elf_notes | table_builder | process_maps | elf_symbol | mapped_files | container_watch | jit_symbols | path_below | main_filter) return 0 ;; *) return 1 ;; esac
}

for file in tests/unit/record/test_*.c tests/unit/record/*/test_*.c; do
	room=${file##*/test_}
	room=${room%.c}
	if not_under_valgrind "$room"; then
		continue
	fi
	"${memcheck[@]}" "$build/${file%.c}" >"$work/out" 2>&1
	report_result "unit $room" $?
done

# recording NAME WORDS... - and what it wrote is a capture
recording() {
	local name=$1 status
	shift
	"${memcheck[@]}" "$@" -q -o "$work/r.data" -d 2 >"$work/out" 2>&1
	status=$?
	if [ $status -eq 0 ] && ! "$build/ebprec" info "$work/r.data" | grep -q '^  state *finished'; then
		status=1
	fi
	report_result "$name" $status
}

"$build/tests/live/workloads/storm" 50 120 >/dev/null 2>&1 &
storm=$!
memcheck+=(--undef-value-errors=no)
recording "a recording by perf events" "$build/ebprec-record" --no-bpf -a -F 99
recording "a recording with BPF" "$build/ebprec-record" -a -F 99 --table-cache none
recording "a window" "$build/ebprec-record" -a -F 99 --ring 1s
kill $storm 2>/dev/null
echo "1..$n"
exit $failed
