#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
# ebprec doctor on this machine, and with things taken away from it.
# runs beside others: it reads messages

# shellcheck disable=SC2016 # what is in single quotes is for another shell
# shellcheck source=tests/lib/helper.bash
. "$BATS_TEST_DIRNAME/../../lib/helper.bash"

setup() {
	need_bpf
	cd "$BATS_TEST_TMPDIR" || return
}

# doctor STATUS CMD... - runs CMD doctor, which ends with STATUS; its JSON is in the file findings
doctor() {
	local want=$1 status=0
	shift
	"$@" doctor --json >findings 2>err || status=$?
	[ "$status" -eq "$want" ] || fail "status $status, $(cat findings err)"
	same "" "$(cat err)"
}

# finding NAME - prints "STATE WHY > MEND" of a finding in the file findings
finding() {
	jq -r --arg name "$1" 'first(.findings[] | select(.name == $name)) | "\(.state) \(.why // "") > \(.mend // "")"' findings
}

# is NAME BEGINNING... - the finding begins so, and has the other words
is() {
	local got part
	got=$(finding "$1")
	case $got in
	"$2"*) ;;
	*) fail "$1: want: $2"$'\n'"got: $got" ;;
	esac
	shift 2
	for part; do
		contains "$got" "$part"
	done
}

# A copy that every user may run: the tree may be closed to others.
setup_file() {
	chmod a+rx "$BATS_RUN_TMPDIR" "$BATS_RUN_TMPDIR"/* "$BATS_FILE_TMPDIR"
	cp "$BUILD/ebprec" "$BUILD/ebprec-record" "$BATS_FILE_TMPDIR"
	chmod 755 "$BATS_FILE_TMPDIR"/ebprec*
}

@test "as root here: recordings use what it reports as working" {
	doctor 0 ebprec
	for name in BTF BPF "context switches" marks "perf events" "kernel names" tracefs recorder; do
		is "$name" works
	done
	# The recorder's message shows whether there is a PMU.
	ebprec record -o x.data -- true 2>messages
	if grep -q 'no hardware counters' messages; then
		is PMU "degraded no hardware counters" "pmu=on"
	else
		is PMU works
	fi
}

@test "text and JSON have the same findings" {
	doctor 0 ebprec
	jq -r '.findings[] | "\(.name) \(.state)"' findings | sort >json
	ebprec doctor >text
	while read -r name_state; do
		grep -qE "^${name_state##* } +${name_state% *}  " text || fail "$name_state: $(cat text)"
	done <json
	same "$(wc -l <json)" "$(grep -cE '^(works|degraded|missing) ' text)"
	[ "$(wc -l <json)" -ge 18 ] || fail "$(cat json)"
}

@test "an unprivileged user: each missing right has its remedy" {
	doctor 1 as_unprivileged "$BATS_FILE_TMPDIR/ebprec"
	is rights "missing " CAP_BPF CAP_PERFMON CAP_SYS_PTRACE "setcap cap_bpf" "$BATS_FILE_TMPDIR/ebprec-record"
	is BPF "missing need root"
	is "context switches" "missing need root"
	is "kernel names" "degraded kernel functions have no names"
	is "processes" "degraded mappings of "
	case $(cat /proc/sys/kernel/perf_event_paranoid) in
	2) is "perf events" "degraded only of your own processes, in user space" perf_event_paranoid=1 ;;
	esac
	as_unprivileged "$BATS_FILE_TMPDIR/ebprec" doctor >text || true
	contains "$(tail -n 1 text)" "processes of your own can be recorded here"
}

@test "a user namespace gives no rights" {
	unshare -U true 2>/dev/null || skip "no user namespaces here: a process in a chroot may not make one"
	doctor 1 unshare -U -r "$BATS_FILE_TMPDIR/ebprec"
	is rights "missing in a user namespace" "on the host"
	is BPF "missing Operation not permitted, though the capabilities are there" "container"
}

@test "one capability too few is named" {
	doctor 1 setpriv --bounding-set=-bpf,-sys_admin --inh-caps=-all ebprec
	is rights "missing CAP_BPF > see 'capabilities'"
	is capabilities "missing not in the bounding set, not even for root: CAP_BPF" --cap-add=CAP_BPF
	is BPF "missing CAP_BPF is missing"
	doctor 0 setpriv --bounding-set=-checkpoint_restore,-sys_admin --inh-caps=-all ebprec
	is rights "degraded CAP_CHECKPOINT_RESTORE"
	is processes degraded
	is BPF works
}

@test "a file with a capability outside of the bounding set cannot be started, and doctor names it" {
	cp "$BATS_FILE_TMPDIR"/ebprec* .
	setcap cap_bpf,cap_perfmon,cap_syslog=ep ebprec-record || skip "no file capabilities on this file system"
	doctor 1 setpriv --bounding-set=-syslog --inh-caps=-all ./ebprec
	is recorder "missing '" "cannot be started: Operation not permitted" "see 'capabilities'"
	is capabilities "missing the recorder cannot be started: its file has CAP_SYSLOG" --cap-add=CAP_SYSLOG
}

@test "file capabilities under no_new_privs do not count, and doctor reports it" {
	chmod a+rx . .. ../..
	cp "$BATS_FILE_TMPDIR"/ebprec* .
	setcap cap_bpf,cap_perfmon,cap_sys_ptrace,cap_dac_read_search,cap_checkpoint_restore,cap_syslog=ep ebprec-record ||
		skip "no file capabilities on this file system"
	doctor 0 setpriv --reuid=65534 --regid=65534 --clear-groups ./ebprec
	is capabilities "works of the recorder's file"
	doctor 1 setpriv --reuid=65534 --regid=65534 --clear-groups --no-new-privs ./ebprec
	is capabilities "missing no_new_privs"
}

@test "a kernel without BTF: doctor reports it" {
	doctor 1 hiding /sys/kernel/btf ebprec
	is BTF "missing cannot read /sys/kernel/btf/vmlinux: No such file" CONFIG_DEBUG_INFO_BTF
	is BPF works
	is "context switches" missing
}

# showing TEXT FILE CMD... - runs CMD with a file of this text in the place of FILE
showing() {
	printf '%s\n' "$1" >shown
	unshare -m --propagation unchanged sh -c '
		mount --make-rprivate /proc && mount --bind shown "$0" && exec "$@"' "${@:2}"
}

@test "kptr_restrict=2: the names that are gone, and the setting" {
	cp /proc/kallsyms syms
	head -n 100 syms | sed 's/^[0-9a-f]*/0000000000000000/' >zeros
	doctor 0 unshare -m --propagation unchanged sh -c '
		mount --make-rprivate /proc && mount --bind zeros /proc/kallsyms && exec "$@"' sh ebprec
	is "kernel names" "degraded kernel functions have no names: addresses in /proc/kallsyms are hidden"
	printf '2\n' >two
	doctor 0 unshare -m --propagation unchanged sh -c '
		mount --make-rprivate /proc && mount --bind zeros /proc/kallsyms &&
		mount --bind two /proc/sys/kernel/kptr_restrict && exec "$@"' sh ebprec
	is "kernel names" "degraded kernel functions have no names (kernel.kptr_restrict is 2)" \
		"sysctl kernel.kptr_restrict=0"
}

@test "perf_event_paranoid=3, as Debian's kernels take it: the setting that mends it" {
	before_uprobe_links doctor 1 showing 3 /proc/sys/kernel/perf_event_paranoid refuse perf_event_open ebprec
	is "perf events" "missing Operation not permitted: kernel.perf_event_paranoid is 3" \
		"sysctl kernel.perf_event_paranoid=2"
	is BPF missing
	is marks degraded
	showing 3 /proc/sys/kernel/perf_event_paranoid refuse perf_event_open ebprec doctor >text || true
	same "nothing can be recorded here" "$(tail -n 1 text)"
}

@test "marks take CAP_SYS_ADMIN only where the kernel has no links of uprobes" {
	before_uprobe_links doctor 0 setpriv --bounding-set=-sys_admin --inh-caps=-all ebprec
	is marks "degraded no right to set uprobes"
	need_uprobe_links
	doctor 0 setpriv --bounding-set=-sys_admin --inh-caps=-all ebprec
	is marks works
}

@test "a container's filter is distinguished from a missing right" {
	doctor 1 refuse bpf ebprec
	is rights works
	is capabilities works
	is "seccomp filter" "missing it refuses bpf() >" seccomp=PROFILE
	is BPF "missing Operation not permitted, though the capabilities are there" seccomp
	is "perf events" works
	doctor 1 refuse perf_event_open ebprec
	is "perf events" "missing Operation not permitted, though" "seccomp"
	is "seccomp filter" "missing it refuses perf_event_open() >"
}

@test "without tracefs: doctor reports it" {
	doctor 0 unshare -m --propagation unchanged sh -c '
		mount --make-rprivate /sys && mount -t tmpfs none /sys/kernel/tracing &&
		mount -t tmpfs none /sys/kernel/debug && exec setpriv --bounding-set=-sys_admin --inh-caps=-all "$@"' \
		sh ebprec
	is tracefs "degraded no tracefs" "mount -t tracefs"
}

@test "where landlock and seccomp are refused, commands that read captures do not start" {
	doctor 1 refuse landlock,seccomp ebprec
	is landlock degraded
	is seccomp degraded
	is sandbox "missing landlock is refused" "do not start" "--no-sandbox"
	doctor 0 ebprec
	is seccomp works
}

@test "the analyzer alone and a recorder that fails are reported" {
	mkdir alone
	cp "$BUILD/ebprec" alone
	doctor 1 env PATH=/usr/bin:/bin alone/ebprec
	is recorder "missing there is no ebprec-record"
	printf '#!/bin/sh\nhead -c 100000 /dev/urandom\nexit 3\n' >alone/ebprec-record
	chmod +x alone/ebprec-record
	doctor 1 alone/ebprec
	is recorder "missing '"
}

@test "container stores are listed, and whether they can be read" {
	mkdir -m 711 store
	doctor 1 unshare -m --propagation unchanged sh -c '
		mount --make-rprivate / 2>/dev/null
		mount -t tmpfs none /var/lib && mkdir -m 710 /var/lib/docker &&
		exec setpriv --reuid=65534 --regid=65534 --clear-groups --no-new-privs "$@"' \
		sh "$BATS_FILE_TMPDIR/ebprec"
	is containers "degraded programs in /var/lib/docker cannot be read by you" bundle
}

@test "arguments that doctor does not have are refused" {
	run ebprec doctor surplus
	same 2 "$status"
	run ebprec doctor --nosuch
	same 2 "$status"
}
