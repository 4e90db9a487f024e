#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
# Programs of systemd-nspawn, flatpak, snap, ostree and btrfs have their names when they have ended and nothing
# of theirs is mounted any more.  make check-containers

# shellcheck source=tests/lib/helper.bash
. "$BATS_TEST_DIRNAME/../../lib/helper.bash"

# program NAME FUNCTION BUILD-ID|none - runs for 0.3 s of CPU time
program() {
	cat >"$1.c" <<-END
		#include <time.h>
		volatile long x;
		__attribute__((noinline)) void $2_inner(void) { for (int i = 0; i < 100000; i++) x += i; }
		__attribute__((noinline)) void $2_outer(void) { for (int i = 0; i < 10; i++) $2_inner(); }
		int main(void) { while (clock() < CLOCKS_PER_SEC * 3 / 10) $2_outer(); return 0; }
	END
	cc -O1 -static -Wl,--build-id="$3" -o "$1" "$1.c"
}

setup_file() {
	need_bpf
	cd "$BATS_FILE_TMPDIR" || return
	program known known 0x0123456789abcdef
	program bare bare none # size and time alone identify the file
	program other other none
	program decoy other 0xfedcba9876543210
}

# A small tree in the folder $1, with the programs in $2 below it.
tree() {
	mkdir -p "$1/$2" "$1"/{bin,etc,proc,sys,dev,tmp,run,usr/lib}
	cp /bin/busybox "$1/bin/sh"
	echo ID=ebprec-test >"$1/usr/lib/os-release"
	cp -p "$BATS_FILE_TMPDIR"/{known,bare} "$1/$2/"
}

setup() {
	cd "$BATS_TEST_TMPDIR" || return
}

teardown() {
	end_background
	cd / || return
	local point
	for point in snap/app/1 snap/base/2 pool; do
		! mountpoint -q "$BATS_TEST_TMPDIR/$point" || umount "$BATS_TEST_TMPDIR/$point"
	done
}

# recorded COMMAND... - all of the machine while it runs
recorded() {
	ebprec record -q -a -F 499 -o x.data -- "$@" >messages 2>&1 || fail "$(cat messages)"
}

# named [OPTION...] - both programs have their own functions, and no others
named() {
	local name
	ebprec report --folded -i x.data "$@" >folded 2>err
	for name in known bare; do
		grep -q "^$name;.*main;${name}_outer;${name}_inner " folded ||
			fail "no $name: $(cat messages; grep "^$name;" folded | tail -3; ebprec report --symbols-report -q -i x.data "$@" | grep "/$name")"
	done
	if grep -E '^(known|bare);' folded | grep other_; then fail "names of another program"; fi
}

# found_at PROGRAM PATH - the names of PROGRAM come from PATH
found_at() {
	ebprec report --symbols-report -q -i x.data | grep "/$1 .*$2" ||
		fail "not $2: $(ebprec report --symbols-report -q -i x.data | grep "/$1 ")"
}

@test "systemd-nspawn: a folder, and one with an overlay over it" {
	tree machine usr/bin
	recorded systemd-nspawn -q --register=no --keep-unit --pipe --as-pid2 -D machine \
		/bin/sh -c '/usr/bin/known; /usr/bin/bare'
	named
	found_at known "$PWD/machine/usr/bin/known"
	recorded systemd-nspawn -q --register=no --keep-unit --pipe --as-pid2 --volatile=overlay -D machine \
		/bin/sh -c '/usr/bin/known; /usr/bin/bare'
	named
	# The machine is removed: these files are gone.
	mv machine gone
	rm -r gone/usr/bin
	ebprec report --folded -i x.data 2>/dev/null >after
	grep -q '^known;' after
	if grep -E 'known_inner|bare_inner' after; then fail "names of what is gone"; fi
}

@test "systemd-nspawn: a folder of the host bound into it" {
	tree machine usr/bin
	mkdir 'to\ols of mine'
	cp -p "$BATS_FILE_TMPDIR"/{known,bare} 'to\ols of mine/'
	rm machine/usr/bin/*
	recorded systemd-nspawn -q --register=no --keep-unit --pipe --as-pid2 -D machine \
		--bind="$PWD/to\\\\ols of mine:/opt/x y" /bin/sh -c '"/opt/x y/known"; "/opt/x y/bare"'
	named
}

# As flatpak has it: a runtime at /usr, an application at /app, everything else of its own.
@test "flatpak: bwrap with the runtime at /usr and the application at /app" {
	runtime=flatpak/runtime/org.test.Platform/x86_64/23.08/$(printf '%064d' 1)
	app=flatpak/app/org.test.App/x86_64/stable/$(printf '%064d' 2)
	tree "$runtime/files" bin
	mkdir -p "$app/files/bin"
	mv "$runtime/files/bin/bare" "$app/files/bin/"
	ln -s "$(basename "$app")" "$(dirname "$app")/active"
	recorded bwrap --unshare-pid --unshare-user --ro-bind "$runtime/files" /usr --ro-bind "$app/files" /app \
		--symlink usr/bin /bin --proc /proc --dev /dev --tmpfs /tmp \
		--ro-bind "$BATS_FILE_TMPDIR/decoy" /tmp/known /bin/sh -c '/usr/bin/known; /app/bin/bare; :'
	named
	found_at bare "$PWD/$app/files/bin/bare"
	grep -E '^(known|bare);' folded >at-home
	# On another machine, below a folder.
	mkdir -p "away$PWD"
	cp -a flatpak "away$PWD/"
	mv flatpak "not here"
	named --symfs away
	grep -E '^(known|bare);' folded | cmp - at-home
	# Updated, in the same place: another file.
	rm -r "away$PWD/$app/files/bin/bare"
	cp "$BATS_FILE_TMPDIR/other" "away$PWD/$app/files/bin/bare"
	ebprec report --folded --symfs away -i x.data 2>/dev/null >after
	if grep -E '^bare;.*(other|bare)_' after; then fail "names of another build"; fi
}

# As snap-confine has it: a squashfs for each snap, the base's becomes the root.
@test "snap: squashfs of a base and an application, and a root of its own" {
	mkdir -p snaps snap/base/2 snap/app/1 build
	tree build/base usr/bin
	mkdir -p build/base/snap/app/1 build/base/oldroot build/app/bin
	mv build/base/usr/bin/bare build/app/bin/
	mksquashfs build/base snaps/base_2.snap -quiet -no-progress >/dev/null
	mksquashfs build/app snaps/app_1.snap -quiet -no-progress >/dev/null
	rm -r build
	mount -t squashfs -o ro,loop snaps/base_2.snap snap/base/2
	mount -t squashfs -o ro,loop snaps/app_1.snap snap/app/1
	# shellcheck disable=SC2016 # for the inner shell
	recorded unshare -m --propagation private sh -c '
		mount --rbind snap/base/2 snap/base/2 && mount --bind snap/app/1 snap/base/2/snap/app/1 &&
		cd snap/base/2 && pivot_root . oldroot &&
		exec /bin/sh -c "umount -l /oldroot; /usr/bin/known; /snap/app/1/bin/bare"'
	named
	found_at bare "$PWD/snap/app/1/bin/bare"
	# Mounted anew, by another loop device maybe: the same files.
	umount snap/app/1 snap/base/2
	mount -t squashfs -o ro,loop snaps/app_1.snap snap/app/1
	mount -t squashfs -o ro,loop snaps/base_2.snap snap/base/2
	named
	# Removed: no names, and a reason.
	umount snap/app/1 snap/base/2
	ebprec report --folded -i x.data 2>/dev/null >after
	if grep -E '(known|bare)_inner' after; then fail "names of what is gone"; fi
	ebprec report --symbols-report -q -i x.data | grep '/bin/bare .*not on this machine' ||
		fail "$(ebprec report --symbols-report -q -i x.data | grep bare)"
}

# A file of an ostree is a link to its object; a deployment is a checkout, seen at / or at /usr.
@test "ostree: a deployment as root" {
	tree commit usr/bin
	ostree --repo=repo init --mode=bare
	ostree --repo=repo commit -b os --owner-uid=0 --owner-gid=0 --tree=dir=commit >/dev/null
	rm -r commit
	deployed=sysroot/ostree/deploy/os/deploy/$(ostree --repo=repo rev-parse os).0
	mkdir -p "$(dirname "$deployed")"
	ostree --repo=repo checkout -H os "$deployed"
	mkdir "$deployed/sysroot"
	# As ostree-prepare-root does.
	# shellcheck disable=SC2016 # for the inner shell
	recorded unshare -m --propagation private sh -c '
		mount --bind "$1" "$1" && mount --bind "$1/usr" "$1/usr" && mount -o remount,bind,ro "$1/usr" &&
		cd "$1" && pivot_root . sysroot && exec /bin/sh -c "/usr/bin/known; /usr/bin/bare"' sh "$deployed"
	named
	found_at bare "$PWD/$deployed/usr/bin/bare"
}

@test "ostree: the machine was updated, its old deployment is still there" {
	old=sysroot/ostree/deploy/os/deploy/$(printf '%064d' 1).0
	new=sysroot/ostree/deploy/os/deploy/$(printf '%064d' 2).0
	tree "$old" usr/bin
	mkdir -p "$new/usr/bin" usr
	cp "$BATS_FILE_TMPDIR/decoy" "$new/usr/bin/known"
	cp "$BATS_FILE_TMPDIR/other" "$new/usr/bin/bare"
	export -f recorded named fail
	# The recorder itself sees the deployment, and the root of the disk below it.
	# shellcheck disable=SC2016 # for the inner shell
	unshare -m --propagation private bash -c 'mount --bind "$1/usr" usr && recorded sh -c "usr/bin/known; usr/bin/bare"' sh "$old"
	# shellcheck disable=SC2016 # for the inner shell
	unshare -m --propagation private bash -c 'mount --bind "$1/usr" usr && named' sh "$new"
	rm -r "$old"
	# shellcheck disable=SC2016 # for the inner shell
	unshare -m --propagation private bash -c 'mount --bind "$1/usr" usr && ebprec report --folded -i x.data 2>/dev/null >after' sh "$new"
	grep -q '^bare;' after
	if grep -E '(known|bare|other)_inner' after; then fail "names of another deployment"; fi
}

# brief FOLDER - programs that run for a millisecond
brief() {
	sed 's/i < 100000/i < 3000/; s/while (.*) bare/for (int k = 0; k < 50; k++) bare/' "$BATS_FILE_TMPDIR/bare.c" >bare.c
	cc -O1 -static -Wl,--build-id=none -o "$1/bare" bare.c
	cc -O1 -static -Wl,--build-id=0x0011223344556677 -o "$1/known" bare.c
}

# gone_at_once FOLDER - they run there, each in a mount namespace of its own, where others seem to be
gone_at_once() {
	cp "$BATS_FILE_TMPDIR/other" here/bare
	cp "$BATS_FILE_TMPDIR/decoy" here/known
	# shellcheck disable=SC2016 # for the inner shell
	ebprec record -q -a -F 4999 -o x.data -- sh -c 'for i in $(seq 20); do
		unshare -m sh -c "mount --bind $1 here && exec here/bare"
		unshare -m sh -c "mount --bind $1 here && exec here/known"; done' sh "$1"
	ebprec report --folded -i x.data 2>err >folded
	for name in bare known; do
		grep -qE "^$name;.*bare_outer;bare_inner " folded || fail "$(grep "^$name" folded | cut -c1-200)"
	done
	if grep -E '^(known|bare);.*other_' folded; then fail "names of another program"; fi
}

# disk TYPE - a file system of that type, at pool
disk() {
	truncate -s 320M disk
	"mkfs.$1" -q disk
	mkdir pool
	mount -t "$1" -o loop disk pool
}

@test "btrfs: a subvolume that only the program's namespace has mounted, and a snapshot" {
	disk btrfs
	mkdir here
	btrfs -q subvolume create pool/@app
	cp -p "$BATS_FILE_TMPDIR"/{known,bare} pool/@app/
	# shellcheck disable=SC2016 # for the inner shell
	recorded unshare -m --propagation private sh -c 'mount -t btrfs -o subvol=/@app "$1" here &&
		here/known && here/bare' sh "$(findmnt -no SOURCE pool)"
	named
	found_at bare "$PWD/pool/@app/bare"
	# Updated by way of a snapshot: the path has another file.
	btrfs -q subvolume snapshot pool/@app pool/@old
	cp "$BATS_FILE_TMPDIR/other" pool/@app/bare
	cp "$BATS_FILE_TMPDIR/decoy" pool/@app/known
	ebprec report --folded -i x.data 2>/dev/null >after
	if grep -E '^(known|bare);.*other_' after; then fail "names of another program"; fi
}

@test "XFS: a program of a millisecond is found by inode and generation" {
	disk xfs
	mkdir pool/there here
	brief pool/there
	gone_at_once pool/there
	found_at bare "$PWD/pool/there/bare"
}

@test "ext4: a program of a millisecond is found by inode and generation" {
	disk ext4
	mkdir pool/there here
	brief pool/there
	gone_at_once pool/there
	found_at bare "$PWD/pool/there/bare"
}
