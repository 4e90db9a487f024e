#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
# The archives of `make tarball` in fresh trees of three Debians: they record, and name what they recorded.

# shellcheck source=tests/lib/helper.bash
. "$BATS_TEST_DIRNAME/../../lib/helper.bash"

setup_file() {
	need_bpf
	VERSION=$("$BUILD/ebprec" --version | grep -o '[0-9][0-9.]*')
	export VERSION
}

setup() { cd "$BATS_TEST_TMPDIR" || return; }

teardown() {
	if [ -d root/proc/1 ]; then umount -R -l root/sys root/proc; fi
}

# make_root SUITE - a tree of this Debian, with the archives in /opt
make_root() {
	debootstrap --variant=minbase --include=perl-base "$1" root >log 2>&1 || fail "$(tail -n 5 log)"
	mount -t proc proc root/proc
	mount -t sysfs sys root/sys
	for archive in "$BUILD"/tarball/*.tar.xz; do tar -C root/opt -xf "$archive"; done
}

# records NAME - the programs of this archive record a loop in the tree, and report its stack
records() {
	chroot root /usr/bin/env -i PATH=/usr/bin:/bin HOME=/root sh -c "cd /root && /opt/$1/bin/ebprec record -q -F 499 -o x.data -- \
		perl -e 'sub loop { my \$s; \$s += \$_ for 1..9000000 } loop' && /opt/$1/bin/ebprec report -q --folded x.data" >folded
	grep -q '^perl;.*;main;perl_run;' folded || fail "$(head -n 3 folded)"
}

@test "Debian 12: both archives" {
	make_root bookworm
	records "ebprec-$VERSION-x86_64"
	records "ebprec-$VERSION-x86_64-static"
}

@test "Debian 13: both archives" {
	make_root trixie
	records "ebprec-$VERSION-x86_64"
	records "ebprec-$VERSION-x86_64-static"
}

@test "Debian 11: the static one; the C library is too old for the other" {
	make_root bullseye
	records "ebprec-$VERSION-x86_64-static"
	run chroot root "/opt/ebprec-$VERSION-x86_64/bin/ebprec" --version
	same 1 "$status"
	contains "$output" "version \`GLIBC_2.34' not found"
}

@test "the one loads the C library alone, the other nothing, neither has the path of the tree" {
	for archive in "$BUILD"/tarball/*.tar.xz; do tar -xf "$archive"; done
	for program in bin/ebprec libexec/ebprec/ebprec-record; do
		same "" "$(readelf -d "ebprec-$VERSION-x86_64/$program" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p' | grep -v '^lib[cm]\.so\.6$')"
		same "" "$(readelf -d "ebprec-$VERSION-x86_64-static/$program" | grep NEEDED)"
		for name in "ebprec-$VERSION-x86_64" "ebprec-$VERSION-x86_64-static"; do
			! grep -qF "$(cd "$BATS_TEST_DIRNAME/../../.." && pwd)" "$name/$program" || fail "$name/$program has the path of the tree"
		done
	done
}
