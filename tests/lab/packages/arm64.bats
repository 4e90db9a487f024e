#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
# The source package built for arm64 on this machine, in a tree of its own, as Debian builds crosswise; and its packages installed, used
# and purged in a Debian of that machine: by qemu's emulation of programs, which has no perf_event_open() and no BPF, and on an emulated machine.

# shellcheck source=tests/lib/helper.bash
. "$BATS_TEST_DIRNAME/../../lib/helper.bash"

setup_file() {
	export DEBS=$BUILD/packages/source ROOT=$BATS_FILE_TMPDIR/root ARM=$BATS_FILE_TMPDIR/root/build
	{
		debootstrap --variant=minbase "$SUITE" "$ROOT" &&
			mkdir "$ARM" && cp "$DEBS"/*.dsc "$DEBS"/*.tar.xz "$ARM" &&
			in_root dpkg --add-architecture arm64 && in_root apt-get update -q &&
			in_root apt-get install -y -q --no-install-recommends crossbuild-essential-arm64 &&
			in_root sh -c 'cd /build && apt-get build-dep -y -q --no-install-recommends --host-architecture arm64 -Pcross ./ebprec_*.dsc' &&
			in_root sh -c 'cd /build && dpkg-source -x ebprec_*.dsc tree && cd tree && dpkg-buildpackage -us -uc -b -aarm64 -Pcross'
	} >"$BATS_FILE_TMPDIR/log" 2>&1 || { tail -20 "$BATS_FILE_TMPDIR/log" >&3; return 1; }
}

teardown_file() {
	[ ! -e "$FORMATS/ebprec-aarch64" ] || echo -1 >"$FORMATS/ebprec-aarch64"
}

setup() { cd "$BATS_FILE_TMPDIR" || return; }

FORMATS=/proc/sys/fs/binfmt_misc

# Has the kernel run programs for that machine by the emulator, in any root, where Debian's binfmt-support does not do so already.
emulate_programs() {
	[ -e $FORMATS/register ] || mount -t binfmt_misc binfmt_misc $FORMATS
	[ -e $FORMATS/qemu-aarch64 ] || [ -e $FORMATS/ebprec-aarch64 ] ||
		echo ':ebprec-aarch64:M::\x7fELF\x02\x01\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00\x02\x00\xb7\x00:\xff\xff\xff\xff\xff\xff\xff\x00\xff\xff\xff\xff\xff\xff\xff\xff\xfe\xff\xff\xff:'"$(type -P qemu-aarch64-static)":F >$FORMATS/register
}

in_arm64() { chroot "$BATS_FILE_TMPDIR/arm64" /usr/bin/env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin DEBIAN_FRONTEND=noninteractive HOME=/root "$@"; }

# left_over BEFORE AFTER - files that are new, but for those of dpkg, adduser, the linker, caches, and what the tests made
left_over() {
	comm -13 "$1" "$2" | grep -vE '^/(var/(cache|log|lib/(apt|dpkg|systemd))|home|root|tmp|out)(/|$)|^/etc/(passwd|group|g?shadow|subuid|subgid)-$|^/run/adduser$' || true
}

in_root() { chroot "$ROOT" /usr/bin/env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin DEBIAN_FRONTEND=noninteractive HOME=/root "$@"; }

# names_in PACKAGE FIELD - the packages that this field has, without their versions
names_in() { dpkg-deb -f "$1" "$2" | sed 's/ ([^)]*)//g'; }

@test "for arm64 there are the packages that there are for amd64, which need the same" {
	same "$(find "$DEBS" -name '*.deb' -printf '%f\n' | sort)" "$(find "$ARM" -name '*.deb' -printf '%f\n' | sed s/arm64/amd64/ | sort)"
	for deb in "$ARM"/*_arm64.deb; do
		same arm64 "$(dpkg-deb -f "$deb" Architecture)"
		name=${deb##*/}
		for field in Depends Recommends Suggests; do
			same "$(names_in "$DEBS/${name/arm64/amd64}" $field)" "$(names_in "$deb" $field)"
		done
	done
}

@test "lintian finds nothing" {
	same "" "$(lintian --allow-root --pedantic --fail-on none "$ARM"/*.changes 2>/dev/null)"
}

@test "programs and the library are for AArch64; the manual and all else is that of the packages for amd64" {
	for deb in "$ARM"/ebprec*_arm64.deb "$ARM"/libebprec*_arm64.deb; do
		name=${deb##*/}
		case $name in *-dbgsym_*) continue ;; esac
		dpkg-deb -x "$deb" arm64
		dpkg-deb -x "$DEBS/${name/arm64/amd64}" amd64
	done
	for file in usr/bin/ebprec usr/libexec/ebprec/ebprec-record usr/lib/aarch64-linux-gnu/libebprec.so.0; do
		same AArch64 "$(readelf -h "arm64/$file" | sed -n 's/.*Machine: *//p')"
		rm "arm64/$file" "amd64/${file/aarch64/x86_64}"
	done
	sed -i s/aarch64-linux-gnu/x86_64-linux-gnu/ arm64/usr/lib/aarch64-linux-gnu/pkgconfig/*.pc
	mv arm64/usr/lib/aarch64-linux-gnu arm64/usr/lib/x86_64-linux-gnu
	same "" "$(diff -r --no-dereference arm64 amd64)"
}

@test "apt finds what they need, and the analyzer reports as the one for amd64" {
	in_root sh -c 'apt-get install --simulate -q /build/ebprec_*_arm64.deb /build/ebprec-record_*_arm64.deb /build/libebprec*_arm64.deb' >log 2>&1 ||
		fail "$(tail -n 20 log)"
	dpkg-deb -x "$ARM"/ebprec_*_arm64.deb "$ROOT"
	export EBPREC_SANDBOX=0 # emulators of programs take no seccomp filter
	for capture in "$BATS_TEST_DIRNAME"/../../golden/captures/*.data; do
		ebprec report --folded -i "$capture" >native 2>&1 || echo "status $?" >>native
		qemu-aarch64-static -L "$ROOT" "$ROOT/usr/bin/ebprec" report --folded -i "$capture" >emulated 2>&1 || echo "status $?" >>emulated
		cmp native emulated || fail "$capture: $(diff native emulated | head -n 5)"
	done
}

@test "in a Debian of that machine they are installed, the analyzer there reports the same, and purged they leave nothing" {
	emulate_programs
	debootstrap --arch=arm64 --variant=minbase --include=adduser,debconf,kmod,libcap2-bin,perl "$SUITE" arm64 >log 2>&1 || fail "$(tail -n 5 log)"
	cp "$ARM"/ebprec_*.deb "$ARM"/ebprec-record_*.deb "$ARM"/libebprec0_*.deb "$ARM"/libebprec-dev_*.deb arm64/root/
	for deb in "$ARM"/ebprec_*.deb "$ARM"/ebprec-record_*.deb "$ARM"/libebprec0_*.deb; do
		dpkg-deb -f "$deb" Depends
	done | tr ',' '\n' | grep -v ebprec | sort -u | paste -sd, >depends
	in_arm64 apt-get update -q >log 2>&1
	in_arm64 apt-get satisfy -y -q --no-install-recommends "$(cat depends)" >log 2>&1 || fail "$(tail -n 5 log)"
	in_arm64 apt-get clean
	in_arm64 find / -xdev | sort >before
	in_arm64 sh -c 'dpkg -i /root/*.deb' >log 2>&1 || fail "$(tail -n 5 log)"
	ebprec report --folded -i "$BATS_TEST_DIRNAME/../../golden/captures/live.data" >native 2>&1
	cp "$BATS_TEST_DIRNAME/../../golden/captures/live.data" arm64/root/x.data
	in_arm64 EBPREC_SANDBOX=0 sh -c 'cd /root && ebprec report --folded -i x.data' 2>&1 | sed "s|x\.data|$BATS_TEST_DIRNAME/../../golden/captures/live.data|" >emulated
	cmp native emulated || fail "$(diff native emulated | head -n 5)"
	rm arm64/root/x.data
	in_arm64 dpkg -P ebprec ebprec-record libebprec-dev libebprec0 >log 2>&1 || fail "$(tail -n 5 log)"
	in_arm64 find / -xdev | sort >after
	same "" "$(left_over before after)"
	if in_arm64 getent group ebprec || in_arm64 getent passwd ebprec; then fail "the group or the user is left"; fi
}

@test "on a machine of its own they are installed, root and members of the group record, and purged they leave nothing" {
	lab=$BATS_TEST_DIRNAME/../kernels
	"$lab/fetch" "$BUILD/kernels-arm64" aarch64
	install "$BATS_TEST_DIRNAME/guest-install" arm64/init
	mkdir -p arm64/out
	cp -r "$BUILD/kernels-arm64/6.1/modules" arm64/modules
	(cd arm64 && find . -xdev | cpio -o -H newc --quiet) >initramfs
	LIMIT=2400 "$lab/boot" "$BUILD/kernels-arm64/6.1" initramfs "$PWD/out" install
	cd out
	same aarch64 "$(cat machine)"
	for step in install root mode member purge; do
		same "$step 0" "$step $(cat $step.status)" || fail "$(tail -n 5 $step $step.err)"
	done
	grep -q '^perl;.*Perl_' root || fail "$(head -n 3 root; cat root.err)"
	same "750 root ebprec" "$(cat mode)"
	grep -q '^perl;.*Perl_' member || fail "$(head -n 3 member; cat member.err)"
	contains "$(cat stranger.err)" "usermod -aG ebprec USER"
	same "" "$(left_over before after)"
	same 2 "$(cat group.status)" # no such group
	# Read here.
	ebprec info x.data | grep -q '^  arch *aarch64$'
	ebprec report -q --folded x.data | grep -q '^perl;'
}
