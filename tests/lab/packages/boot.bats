#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
# ebprec.service on a machine of its own: Debian's kernel and systemd as init, emulated, from a disk that is made here.

# shellcheck source=tests/lib/helper.bash
. "$BATS_TEST_DIRNAME/../../lib/helper.bash"

setup_file() {
	export OUT=$BATS_FILE_TMPDIR/out
	root=$BATS_FILE_TMPDIR/root
	{
		debootstrap --variant=minbase --include=systemd,systemd-sysv,dbus,kmod,procps,perl,adduser,debconf,libcap2-bin,linux-image-amd64 \
			"$SUITE" "$root" &&
			cp "$BUILD"/packages/source/ebprec_*.deb "$BUILD"/packages/source/ebprec-record_*.deb "$root/root/" &&
			chroot "$root" sh -c 'apt-get update -q && DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends /root/*.deb && apt-get clean' &&
			make_disk
	} >"$BATS_FILE_TMPDIR/log" 2>&1 || { tail -5 "$BATS_FILE_TMPDIR/log" >&3; return 1; }
	DISK=$BATS_FILE_TMPDIR/disk LIMIT=1200 "$BATS_TEST_DIRNAME/../kernels/boot" "$BATS_FILE_TMPDIR/kernel" "$BATS_FILE_TMPDIR/kernel/initrd" \
		"$OUT" service root=/dev/vda rw
	echo "# Linux $(cat "$OUT/release"), done after $(cat "$OUT/end_s") s" >&3
}

# The tree as a disk, with a unit that asks the questions, and the kernel beside it.
make_disk() {
	install "$BATS_TEST_DIRNAME/guest-service" "$root/root/guest-service"
	printf '[Unit]\nAfter=multi-user.target\n[Service]\nExecStart=/root/guest-service\nTimeoutStartSec=infinity\n[Install]\nWantedBy=default.target\n' \
		>"$root/etc/systemd/system/questions.service"
	chroot "$root" systemctl enable questions
	mkdir "$BATS_FILE_TMPDIR/kernel"
	cp "$root"/boot/vmlinuz-* "$BATS_FILE_TMPDIR/kernel/vmlinuz"
	cp "$root"/boot/initrd.img-* "$BATS_FILE_TMPDIR/kernel/initrd"
	truncate -s 3G "$BATS_FILE_TMPDIR/disk"
	mkfs.ext4 -q -d "$root" "$BATS_FILE_TMPDIR/disk"
}

setup() { cd "$OUT" || return; }

# of_status NAME - a field of the recorder's /proc/PID/status
of_status() { pick_fields 1 "$1:" 2 <status; }

@test "it does not start by itself; asked, it is active once it is ready" {
	same disabled "$(cat enabled)"
	same yes "$(cat started)" || fail "$(tail -n 5 journal)"
}

@test "it runs as its user, with six capabilities to have and none of PERFMON once it records, and no way to more" {
	same "$(cat uid)" "$(of_status Uid)"
	same 000001c400080004 "$(of_status CapBnd)"
	same 0000018400080004 "$(of_status CapPrm)"
	same 1 "$(of_status NoNewPrivs)"
	same 2 "$(of_status Seccomp)"
}

@test "it is confined: nothing below /usr can be written, devices are a few, sockets are local, memory has a limit" {
	contains "$(cat refused)" "Read-only file system"
	same "" "$(grep -xE 'vda|mem|kmsg|port' devices || true)"
	same "AF_NETLINK AF_UNIX" "$(tr ' ' '\n' <families | sort | xargs)"
	same $((1 << 30)) "$(cat memory_max)"
	numbers_hold "$(grep 'Overall exposure level' exposure | grep -oE '[0-9]+\.[0-9]+' | head -n 1) <= 2.7" ||
		fail "$(tail -n 1 exposure)"
}

@test "it survives kill -9, and a recorder that stands still is ended by the watchdog and started again" {
	same yes "$(cat restarted)" || fail "$(tail -n 5 journal)"
	same yes "$(cat watched)" || fail "$(tail -n 5 journal)"
	contains "$(cat journal)" "Watchdog timeout"
}

@test "its captures have the names of what ran, and only its user may read them" {
	same success "$(cat result)"
	grep -q '^perl;.*;main;perl_run;' folded || fail "$(cat folded.err; tail -n 5 journal)"
	same "600 ebprec 750 ebprec" "$(cat modes)"
}

@test "a call on the bus of the system is a span of the program that made it, with its receiver, and once" {
	same 's "disabled"' "$(cat bus.answer)" || fail "$(cat bus.err)"
	grep -E 'busctl .*dbus:call/org\.freedesktop\.systemd1\.Manager\.GetUnitFileState#1: from :[0-9.]+ to org\.freedesktop\.systemd1$' bus.calls >call || fail "$(cat bus.err bus.calls)"
	same 1 "$(wc -l <call)"
	! grep -q ', error ' call || fail "$(cat call)"
}
