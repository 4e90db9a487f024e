#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
# Debian's own tools on the packages: how they were compiled, what they leave behind, their test, whether they can be built again.

# shellcheck source=tests/lib/helper.bash
. "$BATS_TEST_DIRNAME/../../lib/helper.bash"

setup_file() {
	need_bpf
	export DEBS=$BUILD/packages/source CLEAN=$BATS_FILE_TMPDIR/clean MIRROR=${MIRROR:-http://deb.debian.org/debian}
	debootstrap --variant=minbase "$SUITE" "$CLEAN" "$MIRROR" >"$BATS_FILE_TMPDIR/log" 2>&1 ||
		{ tail -5 "$BATS_FILE_TMPDIR/log" >&3; return 1; }
}

setup() { cd "$BATS_TEST_TMPDIR" || return; }
teardown() {
	cd /
	if mountpoint -q "$BATS_TEST_TMPDIR/testbed"; then umount -R -l "$BATS_TEST_TMPDIR/testbed"; fi
}

@test "blhc: each command of the build has all flags of hardening" {
	# Position-independent programs are held by e2e/program/hardening.bats: blhc wants -fPIE, ours and the library's code is -fPIC.
	blhc --all --debian "$BUILD/packages/log"
	sed 's/ -fstack-protector-strong//g' "$BUILD/packages/log" >without
	run blhc --all --debian without
	contains "$output" "CFLAGS missing (-fstack-protector-strong)"
}

@test "piuparts: installed, removed, purged, installed again: nothing is left, no link is broken" {
	# They depend on each other, so piuparts needs an archive that has them; there is none that they could be upgraded from.
	mkdir archive
	for deb in "$DEBS"/*.deb; do case $deb in *-dbgsym_*) ;; *) cp "$deb" archive/ ;; esac; done
	(cd archive && dpkg-scanpackages . >Packages 2>scanned)
	piuparts --existing-chroot "$CLEAN" -d "$SUITE" -m "$MIRROR main" --no-eatmydata --no-upgrade-test --bindmount "$PWD/archive" \
		--testdebs-repo "deb [trusted=yes] file://$PWD/archive ./" archive/*.deb >log 2>&1 ||
		fail "$(grep -E 'FAIL|ERROR' -A12 log | head -n 40)"
	contains "$(cat log)" "PASS: Installation and purging test."
	same "" "$(grep -E 'WARN|FAIL' log || true)"
}

@test "autopkgtest: the installed packages pass the test of the source package" {
	cp -a "$CLEAN" testbed
	mount --bind testbed testbed && mount -o remount,suid,exec,dev testbed
	mount -t proc proc testbed/proc && mount -t sysfs sys testbed/sys && mount -t tracefs tracefs testbed/sys/kernel/tracing
	# This machine is the one to record: the restriction is for others, where a kernel is shared.
	autopkgtest -q --ignore-restrictions=isolation-machine -B "$DEBS"/*.deb "$DEBS"/*.dsc -- chroot "$PWD/testbed" >log 2>&1 ||
		fail "$(tail -n 20 log)"
	contains "$(cat log)" "record-report        PASS"
}

@test "reprotest: in another folder, with other clock, umask, zone, language, CPUs and order of files: the same packages" {
	mkdir tree
	(cd "$BATS_TEST_DIRNAME/../../.." && scripts/list-files.sh | tar -c -T -) | tar -C tree -x
	touch -d 2001-01-01 tree/README.md
	# Another user: packages.bats (reprotest 0.7.23 calls sudo in a way that is refused).  The name of the machine and the
	# kernel's need rights that a container may lack.
	CCACHE_DISABLE=1 reprotest --store-dir "$PWD/out" --vary=-domain_host,-kernel,-user_group \
		-s tree 'scripts/package/build build' 'build/packages/source/*.deb' >log 2>&1 || fail "$(tail -n 30 log)"
	contains "$(cat log)" "Reproduction successful"
}
