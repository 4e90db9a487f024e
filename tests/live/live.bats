#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
# bats file_tags=parallel
# Tables as they fill, without a capture.

load ../lib/helper

setup() {
	need_bpf
	cd "$BATS_TEST_TMPDIR" || return
}

# documents FILE CODE - runs perl CODE with @docs, the JSON documents of FILE
documents() {
	perl -MJSON::PP -e '
		my $json = JSON::PP->new;
		local $/;
		open my $f, "<", shift;
		$json->incr_parse(<$f>);
		while (my $doc = $json->incr_parse) {
			push @docs, $doc;
		}
		eval shift;
		die $@ if $@;' "$1" "$2"
}

@test "as many intervals as were asked for are printed, each with its tables" {
	ebprec live counters exits --interval 0.2 --count 2 --json >out.json
	# shellcheck disable=SC2016 # for perl
	documents out.json '
		die scalar(@docs) if @docs != 2;
		for my $d (@docs) {
			my %has = map { $_->{name} => $_ } @{$d->{tables}};
			die "no CPUs\n" if !@{$has{counters_cpu}{rows}};
			die "no processes\n" if !@{$has{counters_process}{rows}};
			die "sched is not asked for\n" if $has{runq};
		}
		my @at = map { $_->{tables}[0]{from_ns} } @docs;
		die "@at\n" if $at[1] < $at[0] + 200e6'
	ebprec live counters --count 1 --top 1 >out
	grep -q '^CPU  *USER%' out || fail "$(cat out)"
}

@test "an instrument named 40 times has its tables shown once" {
	# shellcheck disable=SC2046 # a word each
	ebprec live $(yes counters | head -n 40) --interval 0.2 --count 1 --json >out.json
	# shellcheck disable=SC2016 # for perl
	documents out.json 'my %has; $has{$_->{name}}++ for @{$docs[0]{tables}};
		die join(" ", %has) . "\n" if !%has || grep { $_ != 1 } values %has'
}

@test "every call is in one of the intervals, and Ctrl-C ends it all" {
	ebprec live syscalls --interval 0.2 --by syscall,comm --json >out.json 2>err 3>&- &
	pid=$!
	for _ in $(seq 600); do
		[ ! -s out.json ] || break
		kill -0 "$pid" || fail "$(cat err)"
		sleep 0.1
	done
	recorder=$(ps -o pid= --ppid "$pid" | tr -d ' ')
	cp "$(command -v perl)" livecalls
	./livecalls -e 'getppid for 1 .. 7919'
	kill -INT "$pid"
	wait "$pid"
	! kill -0 "$recorder" 2>/dev/null || fail "the recorder goes on"
	[ ! -s err ] || fail "$(cat err)"
	# shellcheck disable=SC2016 # for perl
	documents out.json '
		for my $t (map { @{$_->{tables}} } @docs) {
			next if $t->{name} ne "syscalls";
			for my $r (@{$t->{rows}}) {
				next if $r->{syscall} ne "getppid";
				$n += $_->{count} for grep { $_->{comm} eq "livecalls" } @{$r->{rows}};
			}
		}
		die "$n calls\n" if $n != 7919'
}

@test "a reader that goes away ends ebprec live" {
	out=$(timeout 60 ebprec live counters --interval 0.2 2>err | head -1)
	contains "$out" "CPUs"
	[ ! -s err ] || fail "$(cat err)"
}

@test "a view that cannot be shown is reported in one line" {
	run ebprec live weather
	same 2 "$status"
	contains "$output" "weather"
	run ebprec live
	same 2 "$status"
	run ebprec live irq --by weather
	same 2 "$status"
	contains "$output" "'irq' has no 'weather'"
	as_unprivileged true || return 0
	run as_unprivileged ebprec live syscalls
	[ "$status" -ne 0 ]
}
