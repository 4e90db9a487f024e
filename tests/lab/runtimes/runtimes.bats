#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
# Frames of Ruby, PHP, Perl and node: compared with the stacks and lines that a program has by its interpreter's own account.

load ../../lib/helper

setup() {
	need_bpf
	here=$BATS_TEST_DIRNAME
	cd "$BATS_TEST_TMPDIR" || return
}

# held_to_truth PREFIX FROM FILE LOOP [SKIPPED] - of the samples in the loop 99 % have functions, and all those of the program are
# stacks of the truth
held_to_truth() {
	ebprec report --folded -i x.data >folded 2>err
	count_same "$@"
}

# count_same PREFIX FROM FILE LOOP [SKIPPED] - the same of the stacks in folded
count_same() {
	awk -v PREFIX="$1" -v FROM="$2" -v OF="$3" -v LOOP="$4" -v SKIPPED="${5-}" -f "$here/same_stacks.awk" truth folded >counts 2>others
	read -r all joined of_program equal <counts
	echo "# $3: $all samples in the loop, $joined with functions, $of_program of the program, $equal known" >&3
	if [ "$of_program" -le 400 ] || [ $((joined * 100)) -lt $((all * 99)) ] || [ "$equal" -ne "$of_program" ]; then
		fail "$all $joined $of_program $equal: $(cat err; head -5 others)"
	fi
}

# lines_of PREFIX FILE - "FUNCTION (FILE) LINE" of all frames in that file
lines_of() {
	ebprec report -q --sort sym,srcline -i x.data | sed -n "s/.*$1\(.*([^)]*)\) *[^ ]*:\([0-9]*\)\$/\1 \2/p" |
		grep -F "($2)" | sed 's/ *$//' | sort -u
}

@test "Ruby: stacks of methods, blocks, callbacks, fibers, threads and enumerators are those that Ruby reports, with owners and lines" {
	ruby3.1 "$here/stacks.rb" 0 truth
	ebprec record -q -F 499 -o x.data -- ruby3.1 "$here/stacks.rb" 2
	held_to_truth rb:: m_round stacks.rb rb_vm_exec
	tr ';' '\n' <truth | sort -u >lines
	# The loop around it all is not traced.
	lines_of rb:: stacks.rb | grep -v '^<main>' >got
	[ "$(wc -l <got)" -ge 20 ] || fail "$(cat got)"
	same '' "$(comm -23 got lines)"
	# Two classes with the same code have their own names.
	for owner in Outer::Copied Outer::Second; do
		[ "$(grep -cF "rb::$owner#m_copied (stacks.rb)" folded)" -gt 0 ] || fail "no $owner: $(grep m_copied folded | head -3)"
	done
}

@test "node: stacks of waits in functions that TurboFan inlined have no wrong function, and most are new Error().stack" {
	version=$(node -p 'process.versions.node.split(".")[0]')
	case $version in 20 | 22 | 24 | 26) ;; *) skip "needs node 20, 22, 24 or 26, not $version" ;; esac
	python3 "$here/compare_waits.py" ebprec node 1000 --no-maglev >compared
	echo "# node $version: $(head -n 1 compared)" >&3
	read -r equal _ incomplete _ wrong _ < <(head -n 1 compared)
	same 0 "$wrong" || fail "$(cat compared)"
	[ "$equal" -gt 900 ] && [ $((incomplete * 20)) -le "$equal" ] || fail "$(cat compared)"
}

@test "PHP: stacks of functions, methods, closures, callbacks, fibers and generators are those that PHP reports, with their lines" {
	php8.2 "$here/stacks.php" 0 truth
	ebprec record -q -F 499 -o x.data -- php8.2 "$here/stacks.php" 2
	held_to_truth php:: 'Load\\m_round' stacks.php execute_ex 'Load\\m_gen'
	tr ';' '\n' <truth | sort -u >lines
	lines_of php:: stacks.php | grep -v '^{main}' >got
	[ "$(wc -l <got)" -ge 15 ] || fail "$(cat got)"
	# Statements alone are seen, behind them: not a return or a throw, and the lines in which functions begin and end.
	same '' "$(comm -23 got lines | while read -r line; do
		sed -n "${line##* }p" "$here/stacks.php" | grep -qE 'function|^[[:space:]]*}|return|throw' || echo "$line"
	done)"
}

# as_perl_has_it - without frames of blocks, which caller() has not, what runs before the program, and a file that is being left.  A
# block whose statement is not known, as it is being called or left, has no file.
as_perl_has_it() {
	sed '/;perl_parse;/d; s/;perl::(block)\( (stacks.pl)\)*//g; s/;perl::(require)\(;[^;]*\)* \([0-9]*\)$/\1 \2/' folded >without
	mv without folded
}

# perl_is_held_to_truth - the recording x.data of stacks.pl
perl_is_held_to_truth() {
	ebprec report --folded -i x.data >folded 2>err
	as_perl_has_it
	count_same perl:: main::m_round stacks.pl Perl_runops_standard
	lines_of perl:: stacks.pl | grep -v '^(main)\|^(block)\|::BEGIN ' >got
	[ "$(wc -l <got)" -ge 40 ] || fail "$(cat got)"
	same '' "$(comm -23 got <(tr ';' '\n' <truth | sort -u))"
}

@test "Perl: stacks of subs, methods, closures, sorts, evals, destructors and callbacks are those that Perl reports, with their lines" {
	perl "$here/stacks.pl" 0 truth
	ebprec record -q -F 499 -o x.data -- perl "$here/stacks.pl" 2
	perl_is_held_to_truth
}

@test "Perl in a library: a program that embeds it has the same stacks" {
	[ -e /usr/lib/x86_64-linux-gnu/libperl.so.5.36 ] || skip "needs libperl5.36"
	cc -O1 -o embed "$here/embed.c"
	perl "$here/stacks.pl" 0 truth
	ebprec record -q -F 499 -o x.data -- ./embed libperl.so.5.36 "$here/stacks.pl" 2
	perl_is_held_to_truth
}

@test "Perl: threads, children, programs of milliseconds and recursion have their subs" {
	cat >waits.pl <<-'END'
		use threads;
		use threads::shared;
		use Time::HiRes ();
		my $held :shared;
		my $round :shared = 0;
		my $asked :shared = 0;
		my $got :shared = 0;
		sub m_burn { my $n = 0; my $end = (times)[0] + 0.1; while ((times)[0] < $end) { $n += $_ for 1 .. 10000 } 1 }
		sub m_sleep { Time::HiRes::sleep(0.03) for 1 .. 10; 1 }
		sub m_lock { for my $i (1 .. 8) { Time::HiRes::sleep(0.002) until $round == $i; $asked = $i; { lock $held } $got = $i } 1 }
		my @threads = (threads->create(\&m_burn), threads->create(\&m_sleep), threads->create(\&m_lock));
		for my $i (1 .. 8) {
			{
				lock $held;
				$round = $i;
				Time::HiRes::sleep(0.002) until $asked == $i;
				Time::HiRes::sleep(0.04);
			}
			Time::HiRes::sleep(0.002) until $got == $i;
		}
		$_->join for @threads;
		sub m_child { m_burn() for 1 .. 3; exit 0 }
		my $pid = fork // die;
		m_child() unless $pid;
		waitpid $pid, 0;
	END
	ebprec record -q -F 499 -o x.data -- perl waits.pl
	ebprec report -q --off-cpu --folded -i x.data >out
	for sub in m_sleep m_lock; do
		us=$(grep "Perl_runops_standard;perl::main::$sub (waits.pl)" out | weight)
		[ "$us" -gt 100000 ] || fail "$sub: $us us: $(grep "$sub\|futex" out)"
	done
	ebprec report --folded -i x.data >out 2>err
	[ "$(grep 'perl::(main) (waits.pl);perl::main::m_child (waits.pl);perl::main::m_burn (waits.pl)' out | weight)" -gt 20 ] || fail "$(cat out err)"
	# A thread has no main program.
	[ "$(grep 'Perl_call_sv;Perl_runops_standard;perl::main::m_burn (waits.pl)' out | weight)" -gt 5 ] || fail "$(cat out err)"
	# shellcheck disable=SC2016 # Perl's variables
	echo 'sub m_short { my $n = 0; $n += $_ for 1 .. 40000; $n } m_short()' >short.pl
	ebprec record -q -F 4999 -o x.data -- sh -c 'for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do perl short.pl; done'
	ebprec report -q --folded -i x.data >out
	[ "$(grep 'perl::(main) (short.pl);perl::main::m_short (short.pl)' out | weight)" -gt 40 ] || fail "$(tail -3 out)"
	# All but those of a moment in which a loop begins or ends.
	all=$(grep ';perl_run;' out | grep Perl_runops_standard | weight) without=$(grep ';perl_run;' out | grep Perl_runops_standard | grep -v perl:: | weight)
	[ $((without * 100)) -le "$all" ] || fail "$without of $all: $(grep ';perl_run;' out | grep -v perl:: | head -5)"
	cat >deep.pl <<-'END'
		no warnings 'recursion';
		sub m_deep { my ($n) = @_; return $n ? m_deep($n - 1) : m_leaf() }
		sub m_leaf { my $n = 0; $n += $_ for 1 .. 1000000; $n }
		m_deep($ARGV[0]) while (times)[0] < 0.5;
	END
	ebprec record -q -F 199 -o x.data -- perl deep.pl 300
	ebprec report -q --folded -i x.data >out
	same 301 "$(grep m_leaf out | head -1 | tr ';' '\n' | grep -c 'perl::main::m_deep (deep.pl)')"
	ebprec record -q -F 199 -o x.data -- perl deep.pl 5000
	ebprec report --folded -i x.data >out 2>err
	[ "$(grep m_leaf out | head -1 | tr ';' '\n' | grep -c 'perl::main::m_deep (deep.pl)')" -gt 400 ]
	contains "$(cat err)" "samples in Perl code lack functions of it: there are more frames than are recorded"
}

@test "threads that wait for the lock of Ruby, for a queue and in sleep have their methods" {
	cat >waits.rb <<-'END'
		def m_burn
		  stop = Process.clock_gettime(Process::CLOCK_MONOTONIC) + 1
		  1 while Process.clock_gettime(Process::CLOCK_MONOTONIC) < stop
		end
		def m_queue(q) = q.pop
		def m_sleep = 10.times { sleep(0.03) }
		q = Queue.new
		threads = [Thread.new { m_burn }, Thread.new { m_burn }, Thread.new { m_queue(q) }, Thread.new { m_sleep }]
		sleep 0.5
		q << 1
		threads.each(&:join)
	END
	ebprec record -q -o x.data -- ruby3.1 waits.rb
	ebprec report -q --off-cpu --folded -i x.data >out
	for method in m_burn m_queue m_sleep; do
		[ "$(grep -c "rb::Object#$method (waits.rb)" out)" -gt 0 ] || fail "$method: $(cat out)"
	done
	# The lock changes hands every 100 ms: each of two waits about half of a second for it.
	us=$(grep 'rb::Object#m_burn (waits.rb).*\[futex\]' out | weight)
	[ "$us" -gt 200000 ] || fail "$us us: $(grep m_burn out)"
	# One of ten may be left out: a virtual machine's own threads hide switches.
	us=$(grep 'rb::Object#m_sleep (waits.rb)' out | weight)
	[ "$us" -gt 200000 ] || fail "$us us: $(grep m_sleep out)"
}

@test "--hide interpreter leaves no frame of it between two functions, and programs of milliseconds have frames" {
	ebprec record -q -F 499 -o x.data -- sh -c "ruby3.1 '$here/stacks.rb' 0.5; php8.2 '$here/stacks.php' 0.5; perl '$here/stacks.pl' 0.5"
	ebprec report -q --folded --hide interpreter -i x.data >out
	same 0 "$(grep -E 'rb::|php::' out | grep -cE 'rb_vm_exec|execute_ex' || true)"
	same '' "$(grep perl_run out | grep -E 'Perl_runops_standard|perl::.*;Perl_[^;]*;perl::' | head -1)"
	same '' "$(grep -E 'rb::[^;]*;libruby[^;]*;(libruby[^;]*;)*rb::' out | head -1)"
	echo 'def m_short = 3000000.times { |i| i + 1 }; m_short' >short.rb
	ebprec record -q -F 1999 -o x.data -- ruby3.1 short.rb
	ebprec report -q --folded -i x.data >out
	[ "$(grep 'rb::Object#m_short (short.rb);' out | weight)" -gt 20 ] || fail "$(tail -3 out)"
}

# no_function PREFIX LOOP - no stack has a function without its loop, and the report has the reason
no_function() {
	ebprec report --folded -i x.data >folded 2>err
	same '' "$(grep "$1" folded | grep -v "$2" | head -3)"
	contains "$(cat err)" "its native stack breaks off before the interpreter, so the code may be compiled"
}

@test "code that opcache.jit or YJIT compiled has no functions but a reason, and those of opcache.jit's map" {
	cat >shares.php <<-'END'
		<?php
		function m_small($x) { return ($x * 7 + 3) % 1001; }
		function m_calls(int $n) { for ($s = 0, $i = 0; $i < $n; $i++) $s += m_small($i); return $s; }
		function m_loops(int $n) { for ($s = 0, $i = 0; $i < $n; $i++) $s += $i % 7; return $s; }
		do { m_calls(20000); m_loops(60000); } while (getrusage()['ru_utime.tv_usec'] < 700000);
	END
	jit=(php8.2 -d opcache.enable_cli=1 -d opcache.file_update_protection=0 -d opcache.jit_buffer_size=64M)
	for how in tracing function; do
		ebprec record -q -F 499 -o x.data -- "${jit[@]}" -d opcache.jit=$how shares.php
		no_function php:: execute_ex
		contains "$(cat err)" " samples in PHP code lack functions of it: "
	done
	ebprec record -q -F 499 -o x.data -- "${jit[@]}" -d opcache.jit=tracing -d opcache.jit_debug=0x10 shares.php
	ebprec report -q --folded -i x.data >folded
	[ "$(grep -c 'TRACE-[0-9]*.m_loops' folded)" -gt 0 ] || fail "$(tail -3 folded)"
	cat >shares.rb <<-'END'
		def m_small(x) = (x * 7 + 3) % 1001
		def m_calls(n) = n.times { |i| m_small(i) }
		m_calls(20000) while Process.clock_gettime(Process::CLOCK_PROCESS_CPUTIME_ID) < 0.7
	END
	ebprec record -q -F 499 -o x.data -- ruby3.1 --yjit --disable-gems shares.rb
	no_function rb:: rb_vm_exec
	contains "$(cat err)" " samples in Ruby code lack functions of it: "
}

# pod ARGS.. - podman with a store of its own
pod() {
	podman --runtime runc --storage-driver overlay --root "$PWD/store" --runroot "$PWD/run" --cgroup-manager cgroupfs \
		--events-backend file "$@"
}

@test "Ruby and PHP in containers with their own files have their functions" {
	mkdir -p tree/opt tree/tmp tree/usr/lib/x86_64-linux-gnu
	# Files of their own below other names: what the host has below its names is nothing to them.
	cp "$(command -v ruby3.1)" tree/opt/ruby31
	cp "$(command -v php8.2)" tree/opt/php82
	cp -r /usr/lib/x86_64-linux-gnu/ruby tree/usr/lib/x86_64-linux-gnu/
	ldd tree/opt/ruby31 tree/opt/php82 | grep -o '/lib[^ ]*' | sort -u | while read -r file; do
		mkdir -p "tree${file%/*}" && cp -L "$file" "tree$file"
	done
	cat >tree/opt/spin.rb <<-'END'
		def m_inner = 1000.times { |i| i * 3 }
		def m_outer = m_inner
		m_outer while Process.clock_gettime(Process::CLOCK_PROCESS_CPUTIME_ID) < 1
	END
	cat >tree/opt/spin.php <<-'END'
		<?php
		function m_inner() { for ($i = 0; $i < 1000; $i++) $s = $i * 3; }
		function m_outer() { m_inner(); }
		do m_outer(); while (getrusage()['ru_utime.tv_usec'] < 900000);
	END
	tar -C tree -cf - . | pod import -q - ebprec-test:runtimes >/dev/null
	for command in 'ruby31 --disable-gems /opt/spin.rb' 'php82 -n /opt/spin.php'; do
		ebprec record -q -a -F 499 -o x.data 3>&- &
		recorder=$!
		# shellcheck disable=SC2086 # words
		pod run --rm --ulimit nofile=1024:1024 --ulimit nproc=1000:1000 --network=none --name spins ebprec-test:runtimes /opt/$command
		kill -INT $recorder
		wait $recorder
		ebprec report --folded --container '^spins$' -i x.data >"out.${command%% *}" 2>>err
	done
	pod rmi -f ebprec-test:runtimes >/dev/null
	[ "$(grep 'rb::Object#m_outer (spin.rb);rb::Object#m_inner (spin.rb);' out.ruby31 | weight)" -gt 300 ] || fail "$(cat err; tail -3 out.ruby31)"
	[ "$(grep 'php::m_outer (spin.php);php::m_inner (spin.php)' out.php82 | weight)" -gt 300 ] || fail "$(tail -3 out.php82)"
}

# without_owner, without_place - names of Ruby without the class or module that owns the method, and without "block in"
without_owner() {
	sed -E 's/(^|[; ]|rb::)[A-Z][A-Za-z]*(::[A-Z][A-Za-z]*)*[#.]/\1/g'
}
without_place() {
	sed 's/block[^;]* in //g; s/rescue in //g; s/ensure in //g'
}

# mutated FORM COMMAND.. - a recording of a program that runs meanwhile, while each offset and address of its interpreter is wrong for moments
mutated() {
	form=$1
	shift
	"$@" 3>&- &
	program=$!
	ebprec record -q --table-cache none -F 1999 -o x.data -p $program 3>&- &
	recorder=$!
	sleep 1.5
	python3 "$TEST_LIB/python/mutate.py" $recorder 11 4 "$form" >changes
	kill -INT $recorder
	wait $recorder
	kill $program
	ebprec report --folded -i x.data >folded 2>err
}

@test "wrong offsets give no wrong stack, and the recorder lives" {
	command -v bpftool >/dev/null || skip "needs bpftool"
	ruby3.1 "$here/stacks.rb" 0 truth
	mutated listed ruby3.1 "$here/stacks.rb" 60
	# A name without its owner, or without what it is in, is no wrong name; but one with another owner is.
	tr ';' '\n' <truth | sed 's/ [0-9]*$//' >frames
	without_owner <frames >bare && cat bare >>frames
	without_place <frames >bare && cat bare >>frames
	# Bodies of classes ran before the truth began.
	tr ';' '\n' <folded | sed -n 's/^rb::\([^<].* (stacks.rb)\)\( [0-9]*\)*$/\1/p' | sort -u >got
	same '' "$(sort -u frames | comm -23 got -)"
	without_owner <truth >bare && without_place <bare | cat bare - >truth
	without_owner <folded >folded.2 && mv folded.2 folded
	awk -v PREFIX=rb:: -v FROM=m_round -v OF=stacks.rb -v LOOP=rb_vm_exec -f "$here/same_stacks.awk" truth folded >counts 2>others
	read -r all joined of_program equal <counts
	echo "# Ruby: $(cat changes) changes, $all samples in the loop, $joined with functions, $of_program of the program, $equal known" >&3
	[ "$(cat changes)" -gt 5 ] && [ "$of_program" -gt 50 ] && [ "$joined" -lt "$all" ] || fail "$all $joined $of_program: $(cat err)"
	same "$of_program" "$equal" || fail "$(head -5 others)"
	contains "$(cat err)" "samples in Ruby code lack functions of it: "
	php8.2 "$here/stacks.php" 0 truth
	mutated listed php8.2 "$here/stacks.php" 60
	# Where 0 is in the place of the caller's frame, the outermost ones are missing: PHP's last frame is not marked.
	awk -v CUT=1 -v PREFIX=php:: -v 'FROM=Load\\m_round' -v OF=stacks.php -v LOOP=execute_ex -v 'SKIPPED=Load\\m_gen' \
		-f "$here/same_stacks.awk" truth folded >counts 2>others
	read -r all joined of_program equal <counts
	echo "# PHP: $(cat changes) changes, $all samples in the loop, $joined with functions, $of_program of the program, $equal known" >&3
	[ "$(cat changes)" -gt 5 ] && [ "$of_program" -gt 50 ] && [ "$joined" -lt "$all" ] || fail "$all $joined $of_program: $(cat err)"
	same "$of_program" "$equal" || fail "$(head -5 others)"
	contains "$(cat err)" "samples in PHP code lack functions of it: "
	perl "$here/stacks.pl" 0 truth
	mutated perl perl "$here/stacks.pl" 60
	as_perl_has_it
	awk -v PREFIX=perl:: -v FROM=main::m_round -v OF=stacks.pl -v LOOP=Perl_runops_standard -f "$here/same_stacks.awk" truth folded >counts 2>others
	read -r all joined of_program equal <counts
	echo "# Perl: $(cat changes) changes, $all samples in the loop, $joined with functions, $of_program of the program, $equal known" >&3
	[ "$(cat changes)" -gt 5 ] && [ "$of_program" -gt 50 ] && [ "$joined" -lt "$all" ] || fail "$all $joined $of_program: $(cat err)"
	same "$of_program" "$equal" || fail "$(head -5 others)"
	contains "$(cat err)" "samples in Perl code lack functions of it: "
}
