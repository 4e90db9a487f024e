#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
# Both programs are built with every protection that compiler and linker offer; read from the programs themselves.

# shellcheck source=tests/lib/helper.bash
. "$BATS_TEST_DIRNAME/../../lib/helper.bash"

setup() {
	cd "$BATS_TEST_TMPDIR" || return
	case $BUILD in
	*/san-*) skip "a build with sanitizers" ;;
	esac
	programs=("$BUILD/ebprec")
	[ ! -e "$BUILD/ebprec-record" ] || programs+=("$BUILD/ebprec-record")
}

@test "both programs are position-independent and bind all symbols before main()" {
	for program in "${programs[@]}"; do
		contains "$(readelf -hW "$program")" "Type:                              DYN"
		contains "$(readelf -dW "$program")" "Flags: NOW PIE"
		contains "$(readelf -dW "$program" | grep '(FLAGS) ')" "BIND_NOW"
	done
}

@test "no segment of either program is writable and executable, the stack is not executable" {
	for program in "${programs[@]}"; do
		readelf -lW "$program" >segments
		# With BIND_NOW the entire GOT lies in it.
		contains "$(cat segments)" "GNU_RELRO"
		same "RW" "$(pick_fields 1 GNU_STACK 7 <segments)"
		same "" "$(grep -E '^ *LOAD .* (RWE|WE) ' segments || true)"
		same "" "$(readelf -dW "$program" | grep TEXTREL || true)"
	done
}

@test "checked copies and stack canaries of the C library are linked" {
	for program in "${programs[@]}"; do
		readelf -W --dyn-syms "$program" | awk '{ print $8 }' | sed 's/@.*//' | sort -u >imports
		for name in __stack_chk_fail __memcpy_chk __snprintf_chk __vasprintf_chk; do
			grep -qx "$name" imports || fail "$program does not import $name"
		done
	done
}

@test "every unit of both programs is compiled with the flags in its debug information" {
	for program in "${programs[@]}"; do
		readelf --debug-dump=info "$program" 2>/dev/null | sed -n 's/.*DW_AT_producer *: //p' |
			sed 's/^(.*): //' >producers
		[ -s producers ] || skip "built without debug information"
		grep -q '^GNU C' producers || skip "only GCC records how it was called"
		flags="-fPIC -fstack-protector-strong -fstack-clash-protection"
		case $(uname -m) in
		x86_64) flags+=" -fcf-protection=full" ;;
		aarch64) flags+=" -mbranch-protection=standard" ;;
		esac
		for flag in $flags; do
			same "" "$(grep -v -e " $flag\( \|$\)" producers | sort | uniq -c)"
		done
	done
}

@test "the programs may run with a shadow stack" {
	[ "$(uname -m)" = x86_64 ] || skip "of x86-64"
	for program in "${programs[@]}"; do
		contains "$(readelf -nW "$program")" "SHSTK"
	done
}

@test "the units' own notes have the property that indirect branches land on markers" {
	[ "$(uname -m)" = x86_64 ] || skip "of x86-64"
	# The start files of Debian's C library have no such note, so the linked programs have none.
	readelf -nW "$BUILD/libformat.a" >notes 2>/dev/null
	[ "$(grep -c '^File: ' notes)" -gt 0 ] || fail "no units"
	same "$(grep -c '^File: ' notes)" "$(grep -c 'IBT, SHSTK' notes)" || fail "$(grep -e '^File: ' -e 'IBT, SHSTK' notes)"
}
