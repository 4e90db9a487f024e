#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
# ebprec record --list: the instruments that it lists as possible here can be recorded.
# runs beside others: it reads messages

load ../../lib/helper

setup_file() {
	cd "$BATS_FILE_TMPDIR" || return
	ebprec record --list >list || true
}

setup() {
	need_bpf
	cd "$BATS_TEST_TMPDIR" || return
	cp "$BATS_FILE_TMPDIR/list" .
}

# here NAME LIST - prints the list's entry for an instrument that needs BPF
here() {
	sed -n "/^$1\b/,/here:/p" "$2" | sed -n '/needs:.*BPF/,/here:/s/^ *here: *\([^ ]*\).*/\1/p'
}

@test "instruments that work here are listed as such, and the default ones are recorded" {
	for name in cpu sched mark syscalls exits faults block runq irq tcp net locks; do
		same yes "$(here $name list)"
	done
	ebprec record -q -o x.data -- true
	for name in cpu sched mark; do
		ebprec info x.data | grep -q "^ *\"$name\",*$" || fail "$name was not recorded"
	done
	[ ! -e "$BATS_FILE_TMPDIR/ebprec.data" ] || fail "the list recorded something"
}

@test "the list names each instrument once" {
	same "" "$(grep '^[a-z]' list | awk '{ print $1 }' | sort | uniq -d)"
	same 2 "$(grep -c '^         without BPF it needs: perf events' list)"
}

# programs_of PID - the names of the BPF programs that a process has loaded or attached, as the kernel cuts them
programs_of() {
	local id
	grep -hs '^prog_id:' "/proc/$1"/fdinfo/* | awk '{ print $2 }' | sort -u | while read -r id; do
		PATH=$PATH:/usr/sbin bpftool -j prog show id "$id" | sed -n 's/.*"name":"\([^"]*\)".*/\1/p'
	done | cut -c1-15 | sort -u
}

# programs_in SOURCE... - the same of those that BPF sources have
programs_in() {
	sed -n '/^SEC("[^.]/,/^{/ { s/^int BPF_[A-Z]*(\([a-z_0-9]*\).*/\1/p; s/^int \([a-z_0-9]*\)(.*/\1/p }' "$@" |
		cut -c1-15 | sort -u
}

@test "an instrument that is not asked for has no program in the kernel, so it costs nothing" {
	export -f programs_of
	bpf=$BATS_TEST_DIRNAME/../../../bpf
	# shellcheck disable=SC2016 # of the recorder, whose child the command is
	ebprec record -aq --without sched,mark -o off.data -- bash -c 'programs_of $PPID >off'
	# shellcheck disable=SC2016
	ebprec record -aq --with syscalls,kmem -o on.data -- bash -c 'programs_of $PPID >on'
	programs_in "$bpf"/tables/*.bpf.c "$bpf"/core/{user_marks,sched}.bpf.c >all
	[ "$(wc -l <all)" -ge 60 ] || fail "only these programs: $(cat all)"
	same "" "$(comm -12 all off)"
	same "cpu_sample" "$(grep -x cpu_sample off)"
	# With them their programs are loaded, and no others.
	same "$(programs_in "$bpf"/{tables/kmem,core/user_marks,core/sched,tables/syscalls}.bpf.c | grep -cFxf on)" "$(comm -12 all on | wc -l)"
	same "$(programs_in "$bpf"/tables/{kmem,syscalls}.bpf.c)" "$(programs_in "$bpf"/tables/{kmem,syscalls}.bpf.c | comm -12 - on)"
}

@test "each instrument has its needs, its costs, whether it is on by default, and its own options" {
	awk -f "$TEST_LIB/instrument_list.awk" list
	same "cpu mark sched" "$(grep '(on by default)$' list | awk '{ print $1 }' | sort -u | tr '\n' ' ' | sed 's/ $//')"
}

@test "a part that this kernel lacks is reported, and left out of the recording" {
	hiding /sys/kernel/btf ebprec record --list >list
	same no, "$(here sched list)"
	same no, "$(here syscalls list)"
	contains "$(cat list)" "no BTF"
	hiding /sys/kernel/btf ebprec record --with syscalls -o x.data -- true 2>err
	contains "$(cat err)" "cannot record 'syscalls'"
	contains "$(cat err)" "skipping"
}

@test "a user without the right to BPF gets a message" {
	as_unprivileged "$BUILD/ebprec-record" --list >list
	same no, "$(here sched list)"
	same no, "$(here cpu list)"
	contains "$(cat list)" "not allowed"
}
