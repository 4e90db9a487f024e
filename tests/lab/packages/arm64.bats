#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
# The source package built for arm64 on this machine, in a tree of its own, as Debian builds crosswise.

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

setup() { cd "$BATS_FILE_TMPDIR" || return; }

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
