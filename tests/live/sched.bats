#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
# Where threads spent their time, against what the kernel and perf counted.

load ../helper

# One recording for all tests: a program that waits in known ways, beside one that switches often.
setup_file() {
	PATH=$PATH:/usr/sbin bpftool prog list >/dev/null 2>&1 || return 0
	cd "$BATS_FILE_TMPDIR" || return
	ebprec record -aq -o w.data -- sh -c 'pingpong 5000 >counted & waits cold >truth; wait' || true
}

setup() {
	need_bpf
	cd "$BATS_FILE_TMPDIR" || return
	time=$(awk '/^time/ { print $2 }' truth)
}

# json FILTER... - what ebprec sched says until the moment the kernel's counts were read
json() {
	ebprec sched --json --time ",$time" w.data 2>/dev/null
}

@test "running and waiting times and switches are those the kernel counted" {
	json >sched.json
	perl -MJSON::PP -e '
		local $/;
		open my $f, "<", "sched.json"; my $s = decode_json(<$f>);
		my %by = map { $_->{tid} => $_ } @{$s->{threads}};
		open $f, "<", "truth";
		my $bad = 0;
		for (grep { /^thread/ } split /\n/, <$f>) {
			my (undef, $pid, $tid, $name, $run, $wait, $vol, $invol) = split / /;
			my $t = $by{$tid} or die "no thread $tid";
			# 1 us a switch; and what the kernel did not tell of (some hide the switches of their agents)
			my $most = 1000 * ($vol + $invol) + 200000 + $t->{unknown_ns};
			print STDERR "$name: run $t->{run_ns} $run, wait $t->{wait_ns} $wait, switches ",
				"$t->{voluntary} $vol, $t->{involuntary} $invol\n";
			$bad ||= abs($t->{run_ns} - $run) > $most + 0.02 * $run
				|| abs($t->{wait_ns} - $wait) > $most + 0.02 * $wait
				|| $t->{voluntary} != $vol || $t->{involuntary} != $invol
				|| $t->{comm} ne $name || $t->{pid} != $pid;
		}
		exit $bad;' || fail "the kernel counted otherwise"
}

@test "running, runnable, blocked and unknown add up to the life of every thread" {
	ebprec sched --json w.data 2>/dev/null >whole.json
	perl -MJSON::PP -e '
		local $/;
		my $s = decode_json(<STDIN>);
		my $n = 0;
		for my $t (@{$s->{threads}}) {
			my $sum = 0;
			$sum += $t->{"${_}_ns"} for qw(run wait sleep block stop unknown);
			die "$t->{comm} $t->{tid}: $sum of $t->{elapsed_ns}" if $sum != $t->{elapsed_ns};
			$n++;
		}
		die "only $n threads" if $n < 20;' <whole.json
}

@test "perf sched timehist says the same of who ran how long" {
	need_perf
	perf sched timehist -s -i w.data 2>/dev/null | grep -E 'waiter|pingpong' >hist
	ebprec sched --json --comm waiter,pingpong w.data 2>/dev/null >ours.json
	perl -MJSON::PP -ne '
		BEGIN {
			open my $f, "<", "ours.json";
			my $s = decode_json(join "", <$f>);
			%ms = map { $_->{tid} => $_->{run_ns} / 1e6 } @{$s->{threads}};
			%unknown = map { $_->{tid} => $_->{unknown_ns} / 1e6 } @{$s->{threads}};
		}
		# comm[tid/pid] parent runs run-time ...; comm[pid] when both are one
		next unless /\[(\d+)(?:\/\d+)?\]\s+-?\d+\s+(\d+)\s+([\d.]+)/ and exists $ms{$1};
		$seen++;
		print STDERR "$1: $ms{$1} ms, timehist $3\n";
		# it does not count the stretch that the recording starts or ends in
		$bad ||= abs($ms{$1} - $3) > 0.02 * $3 + 1 + $unknown{$1};
		END { exit($bad || $seen < 3) }' hist
}

@test "perf sched latency knows the wakeups" {
	need_perf
	perf sched latency -i w.data 2>latency.err >latency
	[ ! -s latency.err ] || fail "$(cat latency.err)"
	grep -qE '^ *(waiter|waits):' latency
}

@test "--comm, --pid, --tid and --time choose" {
	ebprec sched --threads --comm feeder w.data 2>/dev/null >out
	same 1 "$(grep -c ' feeder\|^feeder' out)"
	pid=$(awk '$4 == "waiter" { print $2 }' truth)
	same "feeder holder waiter " "$(ebprec sched --threads --pid "$pid" w.data 2>/dev/null |
		awk '$2 == "'"$pid"'" { print $1 }' | sort | tr '\n' ' ')"
	tid=$(awk '$4 == "holder" { print $3 }' truth)
	same "holder $tid" "$(ebprec sched --threads --tid "$tid" w.data 2>/dev/null |
		awk '$2 == "'"$pid"'" { print $1, $3 }')"
	# A span of no length: no time at all.
	ebprec sched --json --time "$time,$time" w.data 2>/dev/null | grep -q '"elapsed_ns": 0,'
}

@test "a recorded command: only its threads are in the table, and their times are right" {
	ebprec record -q -o p.data -- waits cold2 >truth2
	ebprec sched --json --time ",$(awk '/^time/ { print $2 }' truth2)" p.data 2>/dev/null >p.json
	perl -MJSON::PP -e '
		local $/;
		my $s = decode_json(<STDIN>);
		my @others = grep { $_->{comm} !~ /^(waits|waiter|holder|feeder)$/ } @{$s->{threads}};
		die "also $others[0]{comm}" if @others;
		my ($t) = grep { $_->{comm} eq "waiter" } @{$s->{threads}};
		open my $f, "<", "truth2";
		<$f> =~ /waiter (\d+) \d+ (\d+) (\d+)/ or die;
		print STDERR "run $t->{run_ns} $1, switches $t->{voluntary} $2, $t->{involuntary} $3\n";
		die if abs($t->{run_ns} - $1) > 0.02 * $1 + 1000 * ($2 + $3) + 200000 + $t->{unknown_ns};
		die if $t->{voluntary} != $2 || $t->{involuntary} != $3;' <p.json
}
