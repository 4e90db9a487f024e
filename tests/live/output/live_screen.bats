#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
# `ebprec live` on a terminal, which tmux is; and its tables without one.
# runs beside others: it waits for what a terminal shows

load ../../lib/helper

setup() {
	need_bpf
	command -v tmux >/dev/null || skip "needs tmux"
	cd "$BATS_TEST_TMPDIR" || return
	export TMPDIR=$BATS_TEST_TMPDIR
	unset TMUX
}

teardown() {
	terminal kill-server 2>/dev/null || true
	end_background
}

terminal() {
	LC_ALL=C.UTF-8 tmux -S "$BATS_TEST_TMPDIR/tmux" -f /dev/null "$@"
}

# begin WIDTH HEIGHT OPTIONS... - ebprec live in a shell of a terminal of this size
begin() {
	local width=$1 height=$2
	shift 2
	terminal new-session -d -x "$width" -y "$height" "exec bash --norc --noprofile"
	keys "ebprec live $*; echo ended with \$?" Enter
	await shows 'past 0:0[2-9]'
}

keys() {
	terminal send-keys "$@"
}

shown() {
	terminal capture-pane -p
}

# shows PATTERN - whether a line on the terminal matches
shows() {
	shown | grep -qE -- "$1"
}

# line_of PATTERN - the first line that matches
line_of() {
	shown | grep -E -m 1 -- "$1"
}

# samples_of FUNCTION - what its row has
samples_of() {
	line_of " $1 " | awk '{ print $3 }'
}

# spins NAME - a program of this name that spends its time as 3:2:1
spins() {
	cp "$(command -v shares)" "$1"
	"./$1" 600 3>&- &
}

is_gone() {
	! kill -0 "$1" 2>/dev/null
}

# has_modes - whether the terminal is as a shell wants it
has_modes() {
	keys C-u "clear; stty -a" Enter
	await shows 'icanon'
	shows '[^-]icanon' && shows '(^| )echo( |$)' && shows '(^| )isig( |$)'
}

# bats test_tags=long
@test "shares are the known ones, and those of the capture and the page that s writes; keys and sizes" {
	spins known
	begin 80 24 -F 997 -p $!
	shows '^ *100.00% +100.00% +[0-9]+ +known' || fail "$(shown)"
	keys Enter
	await shows 'known$'
	await shows 'burn_three'
	await shows 'past 0:0[5-9]'
	keys Space
	await shows 'FROZEN'
	keys s
	await shows '^wrote ebprec-live-.*\.data \([0-9]+ KiB\) and .html'
	ebprec report -q --csv --sort symbol ./ebprec-live-*.data >report.csv
	for function in burn_three burn_two burn_one; do
		samples=$(samples_of $function)
		grep -qE "^$samples,[0-9]+,${function}[[:space:]]*$" report.csv || fail "$function has $samples samples: $(cat report.csv)"
	done
	ebprec report -q --folded ./ebprec-live-*.data >folded
	awk -f "$TEST_LIB/shares.awk" -v least=300 -v named=50 -v slack=0.02 folded || fail "$(cat report.csv)"
	grep -q 'application/x-ebprec' ebprec-live-*.html || fail "no page"

	terminal resize-window -x 200 -y 50
	await shows '^.{150,}known$|shares +known$|burn_three.*known *$'
	same 50 "$(shown | wc -l)"
	keys v
	await shows '│ +(│ )*outer'
	keys v
	await shows '^main .*\|$'
	terminal resize-window -x 80 -y 24
	keys v '?'
	await shows 'regular expression'
	keys x /
	keys burn_t Enter
	await shows '/burn_t/'
	! shows ' burn_one ' || fail "$(shown)"
	keys End m "hello mark" Enter
	await shows 'mark .*live/mark hello mark'
	keys / '(' Enter
	await shows 'no regular expression'
	keys g
	await shows '^ known +(▁|▂|▃|▄|▅|▆|▇|█)'
	keys q
	await shows 'ended with 0'
	has_modes || fail "$(shown)"
	same "" "$(find . -maxdepth 1 -name 'ebprec-live-*.??????')"
}

# bats test_tags=long
@test "the past is shown again, waits have reasons, hostile names stay text, and SIGKILL leaves a usable terminal" {
	local first name=$'\e]2;x\a\xc2\x9b1m\xe2\x80\xae'
	spins first
	first=$!
	perl -e '$0 = shift; 1 while 1' "$name" 3>&- &
	perl -e '$0 = "sleeper"; select(undef, undef, undef, 0.05) while 1' 3>&- &
	begin 80 24
	terminal pipe-pane 'cat >bytes'
	keys '?' # only what changes is written: the rows are written again when the help is closed
	await shows 'regular expression'
	keys '?' '[' '[' '['
	await shows 'by program  1 s to'
	await shows ' first *$'
	await shows '\\x1b\]2;x\\x07\\xc2\\x9b1m'
	kill "$first"
	gone() { ! shows ' first *$'; }
	await gone
	keys Space
	await shows FROZEN
	for _ in {1..60}; do
		! shows ' first *$' || break
		keys Left
		sleep 0.1
	done
	shows ' first *$' || fail "$(shown)"
	keys End o
	await shows 'off-CPU by program'
	keys / '^sleeper$' Enter
	await shows ' sleeper *$'
	keys Enter
	await shows '\[select\]'
	terminal pipe-pane
	! grep -qaE $'\xc2\x9b|\xe2\x80\xae|\e\\]2|\a' bytes || fail "a name reached the terminal: $(cat -v bytes)"
	grep -qa 'x1b\]2;x' bytes || fail "the name is not among the bytes"

	pid=$(pgrep -P "$(terminal display -p '#{pane_pid}')" -x ebprec)
	recorder=$(pgrep -P "$pid" -x ebprec-record)
	reader=$(pgrep -P "$pid" -x ebprec)
	kill -KILL "$pid"
	await is_gone "$reader"
	await is_gone "$recorder"
	has_modes || fail "$(shown)"

	keys C-u clear Enter "ebprec live; echo again with \$?" Enter # removes what was left over
	await shows 'past 0:0[1-9]'
	pid=$(pgrep -P "$(terminal display -p '#{pane_pid}')" -x ebprec)
	reader=$(pgrep -P "$pid" -x ebprec)
	kill -KILL "$reader"
	await shows 'again with 1'
	has_modes || fail "$(shown)"
	same "" "$(find . -maxdepth 1 -name 'ebprec-live-*.??????')"
}

# bats test_tags=long
@test "waits that were not shown when they were recorded are counted when they are, of the past, too" {
	perl -e '$0 = "sleeper"; select(undef, undef, undef, 0.05) while 1' 3>&- &
	local sleeper=$!
	begin 80 24
	await shows 'past 0:0[6-9]'
	shows '^ [0-9]+ CPUs .* runnable [0-9]+\.[0-9] ' || fail "$(shown)"
	kill "$sleeper"
	keys '[' '[' '[' o / '^sleeper$' Enter
	gone() { shows 'off-CPU by program' && ! shows 'counting' && ! shows ' sleeper *$'; }
	await gone
	for _ in {1..60}; do
		! shows ' sleeper *$' || break
		keys Left
		sleep 0.1
	done
	shows ' sleeper *$' || fail "$(shown)"
	keys Left # in the second after this one it was killed
	keys Enter
	await shows '\[select\]'
	# It ran for the rest of the second, or waited for a CPU.
	line=$(line_of ' \[select\]')
	[[ $line =~ ^' '*[0-9.]+%' '+[0-9.]+%' '+(0\.[3-9]|1\.0)[0-9]*' s ' ]] || fail "$line"
	keys k
	await shows 'wakers by'
	keys q
	await shows 'ended with 0'
}

# bats test_tags=long
@test "without a terminal a table a second, or a line of JSON" {
	spins known
	ebprec live --count 2 --by function -F 997 -p $! >out
	same 2 "$(grep -c '^# ' out)"
	grep -qE '^ *[45][0-9]\.[0-9]+% .* burn_three$' out || fail "$(cat out)"
	cpu=$(sed -n 's/^Cpus_allowed_list:\t\([0-9]*\).*/\1/p' /proc/self/status)
	taskset -pc "$cpu" $! >pinned
	ebprec top --count 1 -F 997 -t $! -C "$cpu" --sort symbol,dso >out
	grep -qE '^ *[45][0-9]\.[0-9]+% .* burn_three$' out || fail "$(cat out)"
	same '[]' "$(ebprec top --count 1 -F 997 -t $! -C "!$cpu" --json | jq -c .rows)"
	ebprec top --count 1 -F 997 --comm known --json >json
	jq -e '.all > 0 and (.rows | map(.program) == ["known"])' json || fail "$(cat json)"
}

# bats test_tags=long
@test "tables of processes that do nothing have no rows, or the wait that goes on" {
	sleep 600 3>&- &
	timeout 60 ebprec live --show off-cpu --count 1 -p $! >out
	grep -q '^# .*, off-CPU by program$' out || fail "$(cat out)"
	grep -q '^# no wait is known' out || fail "$(cat out)"
	perl -e 'select(undef, undef, undef, 0.1) until -e "go"; sleep 600' 3>&- &
	timeout 60 ebprec live --show off-cpu --count 8 -p $! --json >json 3>&- &
	await [ -s json ]
	touch go
	wait $!
	jq -es 'length == 8 and any(.[]; .rows | map([.program, .self]) == [["perl", 1000000]])' json || fail "$(cat json)"
}

# bats test_tags=long
@test "-K and -U leave out samples of a mode, of rows, sums and header alike" {
	spins known
	dd if=/dev/zero of=/dev/null bs=1M 3>&- 2>dd.err &
	ebprec live --count 1 -n 0 --stdio --by function -F 997 --comm known,dd >both
	ebprec live --count 1 -n 0 --stdio --by function -F 997 --comm known,dd -K >user
	ebprec live --count 1 -n 0 --stdio --by function -F 997 --comm known,dd -U >kernel
	for out in both user kernel; do
		same "$(sed -nE 's/^# .*, ([0-9]+) samples, .*/\1/p' $out)" "$(sed 1,2d $out | sum_field 3)"
	done
	grep -q ' burn_three$' user && grep -q ' burn_three$' both && grep -q ' ksys_read$' both
	same 0 "$(pick_fields NF burn_three 3 <kernel | sum_field 1)" # it may have been interrupted
	! grep -q ' ksys_read$' user || fail "$(cat user)"
	begin 80 24 -U -F 997 --comm known,dd
	shows '^ [0-9]+ CPUs +[0-9]+% kernel ' || fail "$(shown)"
}

# bats test_tags=long
@test "--show wakers has the threads that end waits, and an instrument its events" {
	pingpong 100000000 >/dev/null 3>&- &
	ebprec live --count 1 --show wakers --by function --comm pingpong --json >json
	jq -e '.unit == "us" and (.rows | map(.function) | index("[pingpong]") and index("[pipe]"))' json || fail "$(cat json)"
	pkill -P $! || true
	kill $!
	while :; do /bin/true; done 3>&- &
	ebprec live --count 1 --show faults --json >json
	jq -e '.unit == "faults" and .all == (.rows | map(.self) | add) and (.rows[] | select(.program == "true").self > 0)' json || fail "$(cat json)"
	kill $!
	run ebprec live --show blokc
	same "2 ebprec: option '--show' cannot be 'blokc', did you mean 'block'? (see 'ebprec live --help')" "$status $output"
	run ebprec live --show cpu --slower 1ms
	same "2 ebprec: option '--slower' goes with an instrument, not '--show cpu' (see 'ebprec live --help')" "$status $output"
}

# bats test_tags=long
@test "lines of JSON are a second each" {
	spins known
	ebprec live --count 2 --json >json
	same 2 "$(wc -l <json)"
	jq -es 'map(.rows[] | select(.program == "known").self) | add > 0' json || fail "$(cat json)"
	jq -es '.[1].from_ns - .[0].from_ns == 1e9 and (map(.all == (.rows | map(.self) | add)) | all)' json || fail "$(cat json)"
}

# in_group COMMAND... - in the background, in a process group of its own, as a shell with job control starts it
in_group() {
	rm -f out
	perl -e 'setpgrp; exec @ARGV' "$@" >out 2>err 3>&- &
	pid=$!
	await [ -s out ]
}

# bats test_tags=long
@test "q right after s: the capture and the page are written before the command ends" {
	begin 80 24
	keys s q
	await shows 'ended with [0-9]'
	shows 'ended with 0' || fail "$(shown)"
	shows 'ebprec: wrote ebprec-live-[0-9-]+\.data' || fail "$(shown)"
	same 2 "$(find . -name 'ebprec-live-*.data' -size +0 -o -name 'ebprec-live-*.html' -size +0 | wc -l)"
	has_modes || fail "$(shown)"
}

# bats test_tags=long
@test "a signal to all processes of the command ends it as q does, one that ends the recorder is a failure" {
	for signal in INT TERM HUP; do
		in_group ebprec live -F 997
		kill -"$signal" -- "-$pid"
		status=0
		wait "$pid" || status=$?
		same "0 " "$status $(cat err)"
	done
	in_group ebprec live -F 997
	kill -KILL "$(pgrep -P "$pid" -x ebprec-record)"
	status=0
	wait "$pid" || status=$?
	same 1 "$status"
	contains "$(cat err)" "the recorder was ended by signal 9"
	same "" "$(find . -maxdepth 1 -name 'ebprec-live-*.??????')"
}

# bats test_tags=long
@test "folders of killed commands are removed, and not one that a command in another pid namespace has locked" {
	mkdir ebprec-live-9999999.locked ebprec-live-9999998.gonexx
	touch ebprec-live-9999998.gonexx/live.data
	exec 4<ebprec-live-9999999.locked
	flock 4
	ebprec live --count 1 >out
	exec 4<&-
	[ -d ebprec-live-9999999.locked ] || fail "it was removed"
	[ ! -e ebprec-live-9999998.gonexx ] || fail "it is left over"
}

# bats test_tags=long
@test "a recorder with file capabilities ends, too, when the command is killed" {
	PATH=$PATH:/usr/sbin command -v setcap >/dev/null || skip "needs setcap"
	mkdir bin private
	cp "$BUILD/ebprec" "$BUILD/ebprec-record" bin/
	PATH=$PATH:/usr/sbin setcap cap_bpf,cap_perfmon,cap_sys_ptrace,cap_dac_read_search=ep bin/ebprec-record ||
		skip "this file system has no capabilities"
	chown 65534 private
	chmod 755 . "$BATS_FILE_TMPDIR" "$BATS_RUN_TMPDIR"
	TMPDIR=$PWD/private setpriv --reuid=65534 --regid=65534 --clear-groups bin/ebprec live >out 2>err 3>&- &
	pid=$!
	await [ -s out ]
	recorder=$(pgrep -P "$pid" -x ebprec-record)
	kill -KILL "$pid"
	await is_gone "$recorder"
}
