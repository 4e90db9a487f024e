#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
# bats file_tags=parallel
# Lives of threads that are not simple: many that are short, some that never run, that exec while another
# of them waits, that are moved, that waited before the recording began.

# shellcheck disable=SC2016 # perl
load ../lib/helper

# One recording for all tests.
setup_file() {
	PATH=$PATH:/usr/sbin bpftool prog list >/dev/null 2>&1 || return 0
	cd "$BATS_FILE_TMPDIR" || return
	mkfifo early
	crowd 3 >ready 3>&- &
	crowd=$!
	cat early >/dev/null 3>&- &
	echo $! >waiter
	cat >exec.py <<-'END'
		import os, threading, time
		def leave():
		    time.sleep(0.15)
		    os.execv("/bin/sleep", ["sleep", "0.2"])
		threading.Thread(target=leave).start()
		time.sleep(100)
	END
	cat >move.py <<-'END'
		import os
		cpus = sorted(os.sched_getaffinity(0))
		for i in range(60):
		    os.sched_setaffinity(0, [cpus[i % len(cpus)]])
		    sum(range(2000))
		print(os.getpid(), len(cpus))
	END
	cat >many.py <<-'END'
		import os
		print(os.getpid())
		for i in range(700):
		    pid = os.fork()
		    if not pid:
		        os._exit(i % 100)
		    os.waitpid(pid, 0)
	END
	# Both wait when the recording begins: one in a pipe that is not open yet.
	until grep -q ready ready && grep -q ^S <(awk '{ print $3 }' "/proc/$(cat waiter)/stat"); do
		sleep 0.05
	done
	pgrep -P "$crowd" >pids
	echo "$crowd" >>pids
	stolen_ms=$(stolen_ms)
	# shellcheck disable=SC2016 # for the inner shell
	ebprec record -aq -m 64M -o l.data -- bash -c '
		python3 many.py >many
		python3 move.py >moved
		python3 exec.py &
		echo $! >execed
		wait
		echo >early
		gone=/proc/'"$(cat waiter)"'
		while [ -e $gone ] && ! grep -q "State:.Z" $gone/status; do sleep 0.02; done' || true
	echo $(($(stolen_ms) - stolen_ms)) >stolen
	wait "$(cat waiter)"
	kill "$crowd"
	ebprec sched --json l.data 2>/dev/null >lives.json
}

setup() {
	need_bpf
	cd "$BATS_FILE_TMPDIR" || return
}

# lives CODE - perl over all lives: @all; %of: lists by process; $lost: events, which leave times unknown; $stolen:
# nanoseconds that a hypervisor may have taken of a wait, between the start of its timer and its switch
lives() {
	perl -MJSON::PP -e '
		use strict; use warnings;
		local $/; open my $f, "<", "lives.json" or die; my $s = decode_json(<$f>);
		my ($lost, @all, %of) = ($s->{sched}{lost}, @{$s->{threads}});
		open $f, "<", "stolen" or die; my $stolen = 1e6 * <$f>;
		push @{$of{$_->{pid}}}, $_ for @all;
		sub of { open my $f, "<", shift or die; map { @{$of{$_} || []} } split " ", <$f> }
		# No time is missing, and none is unknown where no event is.  Some machines hide the switches of
		# their agents, which contradicts the others.
		sub adds_up {
			for my $t (@_) {
				my $sum = 0;
				$sum += $t->{"${_}_ns"} for qw(run wait sleep block stop unknown);
				die "$t->{comm} $t->{tid}: $sum of $t->{elapsed_ns}\n" if $sum != $t->{elapsed_ns};
				die "$t->{comm} $t->{tid}: $t->{unknown_ns} ns unknown\n" if $t->{unknown_ns} && !$lost && !$s->{sched}{contradictions};
				# A thread that is preempted on its way to sleep sleeps shorter.
				$t->{off_ns} = $t->{sleep_ns} + $t->{wait_ns} + $t->{unknown_ns};
			}
			return @_;
		}
		'"$1"
}

@test "every thread of a storm of forks begins and ends in the capture, or is counted as lost" {
	lost=$(perl -MJSON::PP -e 'local $/; print decode_json(<STDIN>)->{sched}{lost}' <lives.json)
	perf script -i l.data -F event,trace 2>/dev/null >events
	parent=$(cat many)
	forks=$(grep -c "sched:sched_process_fork: comm=python3 pid=$parent " events || true)
	[ "$forks" -le 700 ] && [ $((forks + lost)) -ge 700 ] || fail "$forks forks, $lost lost"
	ebprec sched --exited l.data 2>/dev/null | awk -v p="$parent" '$1 == "python3" && $3 == p { print $NF }' >codes
	exits=$(wc -l <codes)
	[ "$exits" -le 700 ] && [ $((exits + lost)) -ge 700 ] || fail "$exits exits, $lost lost"
	[ "$lost" -ne 0 ] || same "$(for i in {0..699}; do echo $((i % 100)); done | sort -n)" "$(sort -n codes)"
	# Each has a life of its own, from its first wakeup to its end, in which it ran; or its switches
	# are hidden by the machine, and then it is not known what it did.
	lives '
		my ($parent) = of("many") or die "no parent\n";
		my @short = adds_up(grep { $_->{comm} eq "python3" && $_->{tid} != $parent->{tid} && $_->{ended}
			&& $_->{start_ns} > $parent->{start_ns} && $_->{elapsed_ns} < 60e9 } @all);
		my $n = grep { $_->{runs} || ($s->{sched}{contradictions} && $_->{unknown_ns} == $_->{elapsed_ns}) } @short;
		die "$n lives, $lost lost\n" if $n + $lost < 700;'
}

@test "threads that never ran slept all the time" {
	lives '
		my @crowd = adds_up(of("pids"));
		die scalar(@crowd), " of them\n" if @crowd != 4 && !$lost;
		for (@crowd) {
			next if $lost;
			die "$_->{tid} ran\n" if $_->{runs} || $_->{run_ns} || $_->{ended};
			die "$_->{tid} slept $_->{sleep_ns} of $_->{elapsed_ns}\n" if $_->{sleep_ns} != $_->{elapsed_ns};
			die "$_->{tid} was not there all the time\n" if $_->{elapsed_ns} != $s->{sched}{elapsed_ns};
		}'
}

@test "a wait that began before the recording counts from its beginning on" {
	lives '
		my ($t) = adds_up(of("waiter")) or die "no waiter\n";
		exit if $lost;
		die "began at $t->{start_ns}\n" if $t->{start_ns} != $s->{sched}{start_ns};
		die "did not end\n" unless $t->{ended} && $t->{runs};
		# All but what it did when the pipe was opened.
		die "$t->{off_ns}, slept $t->{sleep_ns}\n" if $t->{off_ns} < 350e6 - $stolen || $t->{sleep_ns} < 100e6;'
}

@test "a thread that execs while the first one waits goes on in its place" {
	lives '
		my @t = adds_up(of("execed"));
		exit if $lost;
		my ($new) = grep { $_->{comm} eq "sleep" } @t or die "no thread sleeps\n";
		my ($first) = grep { $_->{comm} eq "python3" && $_->{tid} == $new->{tid} } @t or die "no first thread\n";
		die "first: $first->{off_ns}, slept $first->{sleep_ns}\n" if $first->{off_ns} < 150e6 - $stolen || $first->{sleep_ns} < 150e6 / 3;
		die "first goes on\n" if !$first->{ended};
		# Its sleep before that is its own, too.
		die "new: $new->{off_ns}, slept $new->{sleep_ns}\n" if $new->{off_ns} < 350e6 - $stolen || $new->{sleep_ns} < 350e6 / 3;
		die "new goes on\n" if !$new->{ended};
		die "at the same time\n" if $new->{start_ns} < $first->{start_ns};
		my @ended = grep { $_->{pid} == $new->{pid} } @{$s->{exited}};
		die scalar(@ended), " processes ended\n" if @ended != 1;
		die "$ended[0]{comm} ended, of $ended[0]{threads}\n" if $ended[0]{comm} ne "sleep" || $ended[0]{threads} != 2;'
}

@test "a thread that is moved between CPUs keeps its times" {
	read -r _ cpus <moved
	[ "$cpus" -gt 1 ] || skip "needs two CPUs"
	lives '
		my ($t) = adds_up(of("moved")) or die "no mover\n";
		exit if $lost;
		die "$t->{migrations} migrations\n" if $t->{migrations} < 59;'
}
