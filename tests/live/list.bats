#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
# ebprec record --list says what can be recorded here, and that is so.

load ../helper

setup() {
	need_bpf
	cd "$BATS_TEST_TMPDIR" || return
}

# here NAME LIST - what the list says of an instrument that needs BPF
here() {
	awk -v "name=$1" '
		/^[a-z]/ { mine = $1 == name; bpf = 0 }
		/needs:/ { bpf = index($0, "BPF") > 0 }
		/here:/ && mine && bpf { print $2; exit }' "$2"
}

@test "what the list has is recorded" {
	ebprec record --list >list
	for name in cpu sched mark syscalls exits faults block runq irq tcp net locks; do
		same yes "$(here $name list)"
	done
	ebprec record -q -o x.data -- true
	for name in cpu sched mark; do
		ebprec info x.data | grep -q "^ *\"$name\",*$" || fail "$name was not recorded"
	done
	[ ! -e ebprec.data ] || fail "the list recorded something"
}

@test "each says what it needs and what it costs, and which are on by default" {
	ebprec record --list >list
	awk '
		/^[a-z]/ { name = $1; names++; next }
		/^ +needs: ./ { needs[name]++; next }
		/^ +costs: .*[a-z]/ { costs[name]++; next }
		/^ +here:  (yes$|no, .)/ { here[name]++; next }
		{ print "not expected: " $0; bad = 1 }
		END {
			for (n in needs) if (needs[n] != costs[n] || costs[n] != here[n]) { print n; bad = 1 }
			exit bad || names < 12
		}' list
	same "cpu mark sched" "$(awk '/\(on by default\)$/ { print $1 }' list | sort -u | tr '\n' ' ' | sed 's/ $//')"
}

@test "what this kernel lacks is told, and left out of the recording" {
	hiding /sys/kernel/btf ebprec record --list >list
	same no, "$(here sched list)"
	same no, "$(here syscalls list)"
	contains "$(cat list)" "no BTF"
	hiding /sys/kernel/btf ebprec record --with syscalls -o x.data -- true 2>err
	contains "$(cat err)" "cannot record 'syscalls'"
	contains "$(cat err)" "skipping"
}

@test "who may not use BPF is told so" {
	as_nobody "$BUILD/ebprec-record" --list >list
	same no, "$(here sched list)"
	same no, "$(here cpu list)"
	contains "$(cat list)" "not allowed"
}
