#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
# Frames of Ruby's, PHP's and Perl's form that a program made up: right ones have their names, with any fault there is a reason and none.

load ../../lib/helper

setup() {
	need_bpf
	[ "$(uname -m)" = x86_64 ] || skip "needs x86-64"
	cd "$BATS_TEST_TMPDIR" || return
}

# run_it LIBRARY FAULT - the samples of the program in out, and the quality that the report states in err
run_it() {
	ebprec record -q -F 199 -o x.data -- made_up "$BUILD/tests/lib/fixtures/$1" "$2"
	ebprec report --folded -i x.data >out 2>err
	grep 'execute_ex\|rb_vm_exec\|Perl_runops_standard' out >loop || fail "no sample is in the loop: $1, $2: $(tail -3 out)"
}

# bats test_tags=long
@test "frames of a made-up Ruby are those that it has" {
	run_it ruby3.1 none
	[ "$(grep -cF ';rb::<main> (made_up.rb);rb::Made::Up#outer (made_up.rb);' loop)" -gt 0 ] || fail "$(cat loop err)"
	same '' "$(grep -vE ';rb::<main> \(made_up.rb\);rb::Made::Up#outer \(made_up.rb\);inner;rb_vm_exec;.*;rb::block in Made::Up#outer \(made_up.rb\);burn' loop || true)"
}

# bats test_tags=long
@test "a made-up method of a class itself has its name, and with any fault of its owner a method has none" {
	run_it ruby3.1 itself
	[ "$(grep -cF ';rb::Made::Up.outer (made_up.rb);inner;' loop)" -gt 0 ] || fail "$(cat loop err)"
	[ "$(grep -cF ';rb::block in Made::Up.outer (made_up.rb);burn' loop)" -gt 0 ] || fail "$(cat loop err)"
	for fault in "class place" "variable count" "variable place" "variable gone" id "name id" "owner type" "owner name" "owner place" \
		attached "definition type" definition "definition place" "entry type" circle; do
		run_it ruby3.1 "$fault"
		[ "$(grep -cF ';rb::<main> (made_up.rb);rb::outer (made_up.rb);inner;' loop)" -gt 0 ] || fail "$fault: $(cat loop err)"
		same '' "$(grep 'rb::[^;]*Up' loop || true)"
	done
}

@test "frames of a made-up PHP are those that it has, with their lines" {
	run_it php8.2 none
	[ "$(grep -cF ';php::{main} (made_up.php);php::outer (made_up.php);' loop)" -gt 0 ] || fail "$(cat loop err)"
	same '' "$(grep -vE ';execute_ex;php::\{main\} \(made_up.php\);php::outer \(made_up.php\);inner;execute_ex;php::inner \(made_up.php\);burn' loop || true)"
	ebprec report -q --sort sym,srcline -i x.data | grep -q 'php::outer (made_up.php) *made_up.php:12$' ||
		fail "$(ebprec report -q --sort sym,srcline -i x.data)"
}

# bats test_tags=long
@test "frames where memory begins and ends are read, and nothing beside it" {
	run_it ruby3.1 edges
	[ "$(grep -cF ';rb::<main> (made_up.rb);rb::Made::Up#outer (made_up.rb);' loop)" -gt 0 ] || fail "$(cat loop err)"
	run_it php8.2 edges
	[ "$(grep -cF ';php::{main} (made_up.php);php::outer (made_up.php);' loop)" -gt 0 ] || fail "$(cat loop err)"
}

@test "frames of a made-up Perl are those that it has, with their lines" {
	run_it perl5.36 none
	[ "$(grep -cF ';perl::(main) (made_up.pl);perl::Made::outer (made_up.pl);' loop)" -gt 0 ] || fail "$(cat loop err)"
	same '' "$(grep -vE ';perl_run;Perl_runops_standard;perl::\(main\) \(made_up.pl\);perl::Made::outer \(made_up.pl\);call_sub;inner;Perl_runops_standard;perl::Made::inner \(made_up.pl\);burn' loop || true)"
	ebprec report -q --sort sym,srcline -i x.data | grep -q 'perl::Made::outer (made_up.pl) *made_up.pl:12$' ||
		fail "$(ebprec report -q --sort sym,srcline -i x.data)"
}

# bats test_tags=long
@test "with any fault frames have a reason, and no name that is not theirs" {
	for fault in "text type" "text size" "text place" "code type" "body place" "instruction" "frame flags" "environment place" \
		"stack" "frame place" "state place" "line" "name" "depth"; do
		for library in ruby3.1 php8.2 perl5.36; do
			case $library:$fault in
			php8.2:"frame flags" | php8.2:"environment place" | php8.2:stack | php8.2:"state place" | ruby3.1:line) continue ;;
			esac
			run_it $library "$fault"
			names='rb::\|php::\|perl::'
			[ "$library:$fault" = perl5.36:name ] && names='perl::[^(]' # its main program has no name of its own
			[ "$fault" = depth ] || same '' "$(grep "$names" out || true)"
			[ "$library:$fault" = ruby3.1:name ] || [ "$library:$fault" = perl5.36:name ] || grep -q 'samples in \(Ruby\|PHP\|Perl\) code lack functions of it: ' err ||
				fail "no reason: $library, $fault: $(cat err)"
		done
	done
}

# bats test_tags=long
@test "a Ruby, a PHP and a Perl of other versions have no frames, and the recorder gives the reason" {
	for library in ruby3.2 ruby3.1-small php8.3 php8.2-other php8.2-threads perl5.38 perl5.36-other perl5.36-unthreaded perl5.36-debug; do
		ebprec record -F 199 -o x.data -- made_up "$BUILD/tests/lib/fixtures/$library" none 2>notes || true
		grep -q "cannot read frames of .*$library': .*, skipping" notes || fail "$library: $(cat notes)"
		ebprec report -q --folded -i x.data >out
		same '' "$(grep 'rb::\|php::\|perl::' out || true)"
	done
}
