#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
# Recording without BPF and without root: by perf events, stacks copied and walked at once.

# shellcheck disable=SC2016,SC2154
# shellcheck source=tests/helper.bash
. "$BATS_TEST_DIRNAME/../helper.bash"

# What nobody may reach: the test's own folder, with the programs in it.
setup() {
	need_root
	cd "$BATS_TEST_TMPDIR" || return
	chmod 777 .
	cp "$(command -v ebprec)" "$(command -v ebprec-record)" "$(command -v shares)" .
	paranoid=$(cat /proc/sys/kernel/perf_event_paranoid)
	[ "$paranoid" -le 2 ] || skip "kernel.perf_event_paranoid is $paranoid"
	as_nobody ./ebprec-record -q -o probe.data -- true 2>probe || skip "no perf events here: $(cat probe)"
	rm probe.data probe
}

# finished FILE - a capture that ended as it should, and that perf reads without a word.
finished() {
	contains "$(ebprec info -i "$1")" "finished"
	perf script -f -i "$1" >script 2>err || fail "perf: $(cat err)"
	[ ! -s err ] || fail "perf: $(cat err)"
}

# shares_are_right FILE - 3:2:1 under the whole chain, in the stacks that `folded` holds.
shares_are_right() {
	ebprec report --folded -i "$1" --comm shares >folded 2>verdict
	awk '
	{ n = $NF; all += n }
	/;main;outer;inner;share_three;burn_three / { three += n }
	/;main;outer;inner;share_two;burn_two / { two += n }
	/;main;outer;inner;share_one;burn_one / { one += n }
	/^shares;_start;/ { whole += n }
	function far(got, want) { d = got / all - want; return d * d > 9 * want * (1 - want) / all + 0.0001 }
	END {
		printf "%d samples, %d:%d:%d, %d whole\n", all, three, two, one, whole
		exit all < 20 || far(three, 1 / 2) || far(two, 1 / 3) || far(one, 1 / 6) || whole < all * 0.98
	}' folded >sums || fail "$(cat sums folded verdict)"
}

@test "an ordinary user records a command: known shares, whole stacks, a file that perf reads" {
	as_nobody ./ebprec record -q -F 997 -o x.data -- ./shares 1 >told
	same "600 65534" "$(stat -c '%a %u' x.data)"
	finished x.data
	shares_are_right x.data
	# Only addresses: a stack copy alone would be 16 KiB a sample.
	samples=$(ebprec report -i x.data 2>/dev/null | sed -n '1s/^# \([0-9]*\) .*/\1/p')
	[ "$(stat -c %s x.data)" -lt $((samples * 300 + 20000)) ] || fail "$samples samples: $(stat -c %s x.data) bytes"
	info=$(ebprec info -i x.data)
	contains "$info" '"bpf": false'
	contains "$info" "recording by perf events"
}

@test "what is missing is said once, in one line" {
	as_nobody ./ebprec record -o x.data -- true 2>err
	same 1 "$(grep -c 'without context switches and marks: cannot use BPF: Operation not permitted' err)"
}

@test "children, what they exec, and threads are followed" {
	as_nobody ./ebprec record -q -F 997 -o x.data -- sh -c './shares 0.4 >a & (exec ./shares 0.4 >b); wait'
	finished x.data
	shares_are_right x.data
	same 2 "$(perf script -f -i x.data --comm shares -F pid 2>/dev/null | sort -u | wc -l)"
}

@test "a running process of one's own" {
	as_nobody ./shares 1.5 >told 3>&- &
	sleep 0.2
	as_nobody ./ebprec record -q -F 997 -d 0.8 -o x.data -p "$(pgrep -n -u 65534 -x shares)"
	wait
	finished x.data
	shares_are_right x.data
}

@test "its exit status is passed on" {
	status=0
	as_nobody ./ebprec record -q -o x.data -- sh -c 'exit 3' || status=$?
	same 3 $status
	as_nobody ./ebprec record -q -o x.data -- sh -c 'kill -TERM $$' || status=$?
	same 143 $status
	as_nobody ./ebprec record -q -o x.data -- ./nowhere 2>err || status=$?
	same 127 $status
	same "ebprec: cannot run './nowhere': No such file or directory" "$(cat err)"
}

@test "the whole machine, and processes of others: one line, no file" {
	refuses as_nobody ./ebprec-record -a -o x.data
	contains "$stderr" "the whole machine"
	contains "$stderr" "-- COMMAND, or -p PID"
	refuses as_nobody ./ebprec-record -o x.data -p 1
	contains "$stderr" "only processes of your own"
	[ ! -e x.data ] || fail "left a file"
}

@test "root without BPF records the whole machine" {
	./shares 1.5 >told 3>&- &
	ebprec record -q --no-bpf -a -F 499 -o x.data sleep 1
	wait
	contains "$(ebprec info -i x.data)" "finished"
	shares_are_right x.data
	ebprec report --folded -i x.data --annotate >folded 2>/dev/null
	grep -q '_\[k\]' folded || fail "no kernel frames"
}

@test "a kernel without BTF: said, and recorded nevertheless" {
	hiding /sys/kernel/btf ebprec-record -q -F 997 -o x.data -- ./shares 0.5 >told 2>err
	contains "$(cat err)" "no BTF: cannot read '/sys/kernel/btf/vmlinux': No such file or directory"
	same 1 "$(wc -l <err)"
	finished x.data
	shares_are_right x.data
}
