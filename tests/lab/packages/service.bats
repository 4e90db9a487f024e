#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
# ebprec.service under systemd, which is init of a container with a kernel and a Debian: it starts, is confined as the unit
# has it, survives a kill and a standstill, and its captures have names.

# shellcheck source=tests/lib/helper.bash
. "$BATS_TEST_DIRNAME/../../lib/helper.bash"

setup_file() {
	need_bpf
	export ROOT=$BATS_FILE_TMPDIR/root
	debootstrap --variant=minbase --include=systemd,systemd-sysv,dbus,perl,adduser,debconf,libcap2-bin "$SUITE" "$ROOT" >"$BATS_FILE_TMPDIR/log" 2>&1 ||
		{ tail -5 "$BATS_FILE_TMPDIR/log" >&3; return 1; }
	cp "$BUILD"/packages/source/ebprec_*.deb "$BUILD"/packages/source/ebprec-record_*.deb "$ROOT/root/"
	chroot "$ROOT" sh -c 'apt-get update -q && DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends /root/*.deb' \
		>>"$BATS_FILE_TMPDIR/log" 2>&1 || { tail -5 "$BATS_FILE_TMPDIR/log" >&3; return 1; }
	SYSTEMD_NSPAWN_UNIFIED_HIERARCHY=1 systemd-nspawn -q -D "$ROOT" --boot --register=no --keep-unit --link-journal=no \
		--capability=all --system-call-filter='bpf perf_event_open' --console=pipe --machine=ebprec-test \
		</dev/null >"$BATS_FILE_TMPDIR/boot" 2>&1 3>&- &
	export CONTAINER=$!
	await is_up
}

teardown_file() {
	kill "$CONTAINER" # systemd in it gets SIGRTMIN+3
	wait "$CONTAINER" || true
}

# inside COMMAND... - in the container
inside() { nsenter -t "$(pgrep -P "$CONTAINER" | head -n 1)" -a "$@"; }
is_up() { inside systemctl is-active -q multi-user.target; } 2>/dev/null
# The main process of the service, as the machine outside numbers it; it is the oldest of its name.
recorder() { pgrep -o -P "$(pgrep -P "$CONTAINER" | head -n 1)" -x ebprec-record; }
property() { inside systemctl show -P "$1" ebprec; }
is_active() { inside systemctl is-active -q ebprec; }
was_restarted() { [ "$(property NRestarts)" -ge "$1" ] && is_active; }

@test "installed it does not start by itself" {
	same inactive "$(property ActiveState)"
	same disabled "$(inside systemctl is-enabled ebprec || true)"
}

@test "it starts when it is ready, as its user, with the capabilities of the unit" {
	inside systemctl start ebprec
	same active "$(property ActiveState)"
	main=$(property MainPID)
	inside cat "/proc/$main/status" >"$BATS_TEST_TMPDIR/status"
	uid=$(inside id -u ebprec)
	same "$uid" "$(pick_fields 1 Uid: 2 <"$BATS_TEST_TMPDIR/status")"
	# DAC_READ_SEARCH, SYS_PTRACE, SYSLOG, PERFMON, BPF, CHECKPOINT_RESTORE, and no PERFMON once it records
	same 000001c400080004 "$(pick_fields 1 CapBnd: 2 <"$BATS_TEST_TMPDIR/status")"
	same 0000018400080004 "$(pick_fields 1 CapPrm: 2 <"$BATS_TEST_TMPDIR/status")"
	same 1 "$(pick_fields 1 NoNewPrivs: 2 <"$BATS_TEST_TMPDIR/status")"
	run inside nsenter -t "$main" -m touch /usr/x
	contains "$output" "Read-only file system"
}

@test "it survives kill -9" {
	kill -KILL "$(recorder)"
	await was_restarted 1
}

@test "a recorder that stands still is ended by the watchdog, and started again" {
	kill -STOP "$(recorder)"
	await was_restarted 2
	contains "$(inside journalctl -u ebprec --no-pager)" "Watchdog timeout"
}

@test "its captures have the names of what ran, and only its user may read them" {
	# shellcheck disable=SC2016 # of perl
	inside perl -e 'sub loop { my $s; $s += $_ for 1..40000000 } loop'
	inside systemctl stop ebprec
	same success "$(property Result)"
	inside ebprec report -q --folded --comm perl /var/lib/ebprec/ebprec.data >"$BATS_TEST_TMPDIR/folded"
	grep -q '^perl;.*;main;perl_run;' "$BATS_TEST_TMPDIR/folded" || fail "$(inside journalctl -u ebprec --no-pager | tail -n 5)"
	same "600 ebprec 750 ebprec" "$(inside stat -c '%a %U' /var/lib/ebprec/ebprec.data /var/lib/ebprec | xargs)"
}
