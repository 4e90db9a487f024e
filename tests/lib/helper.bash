# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
# helper.bash - the functions that .bats files share; each file begins with `load` of this one
# shellcheck shell=bash

bats_require_minimum_version 1.5.0 # run --separate-stderr

# The folder of this file, with the programs that tests run.
TEST_LIB=${BASH_SOURCE[0]%/*}
# The folder of the programs, as the tree has it: run-tests.sh sets it; by hand it is build/.
BUILD=$(cd "$TEST_LIB/../.." && cd "${EBPREC_BUILD:-build}" && pwd)
PATH=$BUILD:$BUILD/tests/lib/gen:$BUILD/tests/live/workloads:$BUILD/tests/live/hostile:$PATH
export PATH LC_ALL=C TZ=UTC NO_COLOR=1
# The shell of script(1), which takes what printf %q writes; where SHELL is not set it would be dash.
SHELL=$BASH
export SHELL
# Recordings cache their unwind tables for this run alone.
export EBPREC_TABLE_CACHE=$BATS_RUN_TMPDIR/tables
stderr=
# shellcheck source=tests/lib/text.bash
. "$TEST_LIB/text.bash"
unset EBPREC_PAGER PAGER DEBUGINFOD_URLS

need_root() {
	[ "$(id -u)" -eq 0 ] || skip "needs root"
}

# Root that may load BPF programs: a container often may not.
need_bpf() {
	need_root
	bpftool=$(PATH=$PATH:/usr/sbin command -v bpftool) || skip "needs bpftool"
	"$bpftool" prog list >/dev/null 2>&1 || skip "this root may not use BPF"
	[ -e /sys/kernel/btf/vmlinux ] || skip "this kernel has no BTF"
}

need_perf() {
	command -v perf >/dev/null || skip "needs perf"
}

# Runs CMD as a user without rights.
as_unprivileged() {
	setpriv --reuid=65534 --regid=65534 --clear-groups --no-new-privs "$@"
}

# has_uprobe_links RELEASE - whether Linux of this release ends many uprobes at once, without CAP_SYS_ADMIN (record/events/uprobe_multi.h)
has_uprobe_links() {
	[ "$(printf '6.10\n%s\n' "$1" | sort -V | head -n 1)" = 6.10 ]
}

need_uprobe_links() {
	has_uprobe_links "$(uname -r)" || skip "uprobes are perf events here"
}

# before_uprobe_links CMD... - runs CMD as on a kernel where uprobes are perf events.  The tree may lie where
# other users cannot read it.
before_uprobe_links() {
	cp "$BUILD/tests/lab/faults/olderkernel.so" "$BATS_TEST_TMPDIR/"
	LD_PRELOAD=$BATS_TEST_TMPDIR/olderkernel.so "$@"
}

# hiding DIR CMD... - runs CMD, and no other process, with an empty folder in the place of DIR below /sys.
hiding() {
	# --make-rprivate for / would fail in a chroot, whose / is no mount point.
	# shellcheck disable=SC2016 # for the inner shell
	unshare -m --propagation unchanged sh -c '
		mount --make-rprivate /sys && mount -t tmpfs none "$0" && exec "$@"' "$@"
}

# untraced FUNCTION ARG... - runs a function of the test in another bash.  bats traces each command of a test, which
# takes a loop of thousands a hundred times longer.
untraced() {
	bash -c "$(declare -f "$1")"$'\n"$@"' untraced "$@"
}

# fail WORDS - ends the test and prints WORDS.
fail() {
	printf '%s\n' "$*" >&2
	return 1
}

# end_background - ends the processes that the test left in the background, as one that fails does
end_background() {
	local left
	left=$(jobs -p)
	[ -n "$left" ] || return 0
	# SIGTERM first: a recorder then ends its COMMAND, too
	xargs kill -TERM <<<"$left" 2>/dev/null || true
	for _ in {1..100}; do
		[ -n "$(jobs -pr)" ] || return 0
		sleep 0.05
	done
	xargs kill -KILL <<<"$left" 2>/dev/null || true
}

# A file with a teardown of its own calls end_background in it.
teardown() {
	end_background
}

# stolen_ms - what the hypervisor took of all CPUs since boot; a thread on one does not notice.
stolen_ms() {
	awk '$1 == "cpu" { print 10 * $9 }' /proc/stat
}

# numbers_hold EXPRESSION - whether it is so, of numbers with fractions; with jq's words: 1.5 < 2 and 3 != 4
numbers_hold() {
	jq -en "$1" >/dev/null
}

# equal_by_chance LEAST A B - there are more than LEAST of A, and the counts differ as two samplings of one load do: by five
# standard deviations at most
equal_by_chance() {
	if [ "$2" -le "$1" ] || [ $((($2 - $3) ** 2)) -gt $((25 * ($2 + $3))) ]; then
		fail "counted $2 and $3"
	fi
}

# cgroup2_root - where the cgroups of version 2 are; nothing: nowhere
cgroup2_root() {
	pick_fields 3 cgroup2 2 </proc/mounts | head -n 1
}

# code_range PID PATTERN - "START END", hexadecimal, of the first mapping of code of a file whose path matches
code_range() {
	grep -m 1 -E "^[^ ]+ ..x. .*$2" "/proc/$1/maps" | cut -d ' ' -f 1 | tr - ' '
}

# same WANT GOT - compares texts and shows both sides.
same() {
	[ "$1" = "$2" ] || fail "want: $1"$'\n'"got:  $2"
}

# contains TEXT PART
contains() {
	case $1 in
	*"$2"*) ;;
	*) fail "'$2' is not in: $1" ;;
	esac
}

# await CMD... - until CMD succeeds, which may take long on a busy machine; two such waits in vain fit into the time that a file has
await() {
	local end_s=$((SECONDS + 180))
	until "$@"; do
		[ "$SECONDS" -lt "$end_s" ] || fail "not within three minutes: $*" || return
		sleep 0.05
	done
}

# complaints FILE - perf's messages in FILE, without those about losses (a busy machine has some, and
# they are in the capture) and about namespaces in a chroot, where it cannot find its way back
complaints() {
	grep -v '^Warning:$\|^Processed .* and lost .*\|^Check IO/CPU overload!$\|^$\|util/namespaces.c' "$1" || true
}

# has_samples FILE - the recorder has flushed some
has_samples() {
	[ -s "$1" ] && ebprec info "$1" 2>/dev/null | grep -q '^SAMPLE '
}

# disk_folder DIR... - "FOLDER DISK": the first folder whose files are on a disk, and which one that is
disk_folder() {
	local dir disk
	for dir; do
		cat /proc/diskstats >disks
		dd if=/dev/zero of="$dir/probe.$$" bs=64k count=64 oflag=direct status=none 2>/dev/null || true
		disk=$(awk 'NR == FNR { was[$3] = $8; next }
			$8 - was[$3] > most { most = $8 - was[$3]; name = $3 }
			END { if (most >= 64) print name }' disks /proc/diskstats)
		rm -f "$dir/probe.$$" disks
		[ -z "$disk" ] || {
			echo "$dir $disk"
			return 0
		}
	done
}

# refuses CMD... - CMD fails with status 1 and one line on stderr, which is in $stderr, and leaves
# nothing on stdout.
refuses() {
	local out status=0
	out=$("$@" 2>"$BATS_TEST_TMPDIR/stderr" </dev/null) || status=$?
	stderr=$(cat "$BATS_TEST_TMPDIR/stderr")
	[ "$status" -eq 1 ] || fail "status $status: $*"$'\n'"$stderr"
	[ -z "$out" ] || fail "on stdout: $out"
	[ "$(wc -l <"$BATS_TEST_TMPDIR/stderr")" -eq 1 ] || fail "not one line: $stderr"
	case $stderr in
	"ebprec: "*) ;;
	*) fail "not in our form: $stderr" ;;
	esac
}

# account_json FILE - the META object that counts
account_json() {
	ebprec info --json "$1" | jq -r .account.text
}

# account FILE KEY... - a number of it
account() {
	account_json "$1" | jq -r 'getpath($ARGS.positional) // error("it has no such number")' --args "${@:2}"
}

# counts_agree FILE - the account counts what is in the file, and as lost what LOST records report
counts_agree() {
	ebprec info --json "$1" | perl "$TEST_LIB/counts_agree.pl" >disagree
	[ ! -s disagree ] || fail "$1: $(cat disagree)"
}

# intact FILE - the capture is finished and undamaged, perf reads all its samples, and its account agrees
# with its records
intact() {
	ebprec info "$1" >info.txt || fail "info $1"
	grep -qx '  state *finished' info.txt || fail "$1 is not finished"
	grep -qx '  any *no' info.txt || fail "$1: $(sed -n '/^damage/,$p' info.txt)"
	# --stats reads each record and, unlike perf script, no symbol.
	same "$(account "$1" samples)" "$(perf report --stats -i "$1" 2>perf.err |
		awk '/ stats:$/ { counts = /cpu-clock|cycles/ } counts && $1 == "SAMPLE" { n += $NF } END { print n + 0 }')"
	same "" "$(complaints perf.err)"
	same "$(account "$1" side_records)" "$(pick_fields 1 side 3 <info.txt | head -n 1)"
	counts_agree "$1"
}

# switches FILE PID - how often PID went to sleep and was preempted, as "SLEPT RAN_ON"
switches() {
	perf script -i "$1" -F trace 2>/dev/null | awk -v "pid=prev_pid=$2" '
		index($0, pid " ") {
			match($0, /prev_state=[^ ]*/)
			state = substr($0, RSTART + 11, RLENGTH - 11)
			if (state ~ /^R/) ran++; else if (state !~ /^[XZ]/) slept++
		}
		END { print slept + 0, ran + 0 }'
}
