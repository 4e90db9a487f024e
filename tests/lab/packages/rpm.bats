#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
# The rpm packages, installed by rpm --root into a tree of its own: used by root and by a member of the group, removed.

# shellcheck source=tests/lib/helper.bash
. "$BATS_TEST_DIRNAME/../../lib/helper.bash"

setup_file() {
	need_bpf
	export ROOT=$BATS_FILE_TMPDIR/root
	debootstrap --variant=minbase --include=perl-base,passwd "$SUITE" "$ROOT" >"$BATS_FILE_TMPDIR/log" 2>&1 ||
		{ tail -5 "$BATS_FILE_TMPDIR/log" >&3; return 1; }
	mount --bind "$ROOT" "$ROOT" # a mount that allows file capabilities, whatever the one above does
	mount -o remount,suid,exec,dev "$ROOT"
	mount -t proc proc "$ROOT/proc"
	mount -t sysfs sys "$ROOT/sys"
	chroot "$ROOT" useradd -m alice
	chroot "$ROOT" useradd -m bob
	chroot "$ROOT" find / -xdev | sort >"$BATS_FILE_TMPDIR/before"
}

teardown_file() { umount -R -l "$ROOT"; }
setup() { cd "$BATS_FILE_TMPDIR" || return; }

in_root() { chroot "$ROOT" /usr/bin/env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root "$@"; }
as() {
	local user=$1
	shift
	in_root su - "$user" -s /bin/sh -c "$*"
}
rpm_there() { rpm --root "$ROOT" --dbpath /var/lib/rpm "$@"; }

recorder=/usr/libexec/ebprec/ebprec-record
# shellcheck disable=SC2016 # for perl, in the shell of the other root
loop='perl -e "sub loop { my \$s; \$s += \$_ for 1..9000000 } loop"'

@test "rpmlint finds nothing that is not meant so" {
	run rpmlint -c "$BATS_TEST_DIRNAME/../../../scripts/package/rpmlint.toml" "$BUILD"/rpm/*.rpm
	same 0 "$status"
	contains "$output" "3 packages and 0 specfiles checked; 0 errors, 0 warnings"
}

@test "the same tree in another folder, with other umask, time zone and language: the same packages" {
	mkdir -p elsewhere/deep
	(cd "$BATS_TEST_DIRNAME/../../.." && scripts/list-files.sh | tar -c -T -) | tar -C elsewhere/deep -x
	touch -d 2001-01-01 elsewhere/deep/README.md
	(umask 077 && cd elsewhere/deep && TZ=Asia/Tokyo LC_ALL=C.UTF-8 scripts/package/rpm build) >made
	cmp made "$BUILD/rpm/sha256"
}

@test "the recorder has its capabilities in the package, and no other file has any" {
	same "$recorder cap_dac_read_search,cap_sys_ptrace,cap_syslog,cap_perfmon,cap_bpf,cap_checkpoint_restore=ep" \
		"$(rpm -qp --filecaps "$BUILD"/rpm/*.rpm | grep $'\t.' | awk '{ print $1, $2 }')"
}

@test "the packages need the C library alone, and suggest the libraries that are loaded when they are asked for" {
	same "" "$(rpm -qp --requires "$BUILD"/rpm/ebprec-*.rpm | grep -E '^lib' | grep -vE '^lib[cm]\.so\.6\(')"
	same "libcurl.so.4()(64bit) libdebuginfod.so.1()(64bit) libmicrohttpd.so.12()(64bit) libsystemd.so.0()(64bit)" \
		"$(rpm -qp --suggests "$BUILD"/rpm/ebprec-[0-9]*.rpm | sort | xargs)"
}

@test "installed, the file has owner, mode and capabilities, and root records" {
	rpm_there -i --nodeps "$BUILD"/rpm/*.rpm >log 2>&1 || fail "$(cat log)"
	same "" "$(grep -v '^rpm: ' log)" # Debian's rpm advises against itself
	same "750 root ebprec" "$(in_root stat -c '%a %U %G' $recorder)"
	same "cap_dac_read_search,cap_sys_ptrace,cap_syslog,cap_perfmon,cap_bpf,cap_checkpoint_restore=ep" \
		"$(getcap "$ROOT$recorder" | awk '{ print $2 }')"
	same "" "$(rpm_there -V --nodeps ebprec ebprec-record ebprec-devel)"
	in_root sh -c "cd /root && ebprec record -q -F 499 -o x.data -- $loop && ebprec report --folded x.data" >folded
	grep -q '^perl;.*;main;perl_run;' folded || fail "$(head -3 folded)"
	rm "$ROOT/root/x.data"
}

@test "members of the group record, others do not" {
	in_root usermod -aG ebprec alice
	as alice "ebprec record -q -a -F 499 -o x.data -- $loop && ebprec report --folded x.data" >folded
	grep -q '^perl;.*Perl_' folded || fail "$(head -3 folded)"
	same alice "$(in_root stat -c %U /home/alice/x.data)"
	run as bob "ebprec record -o x.data -- true"
	[ "$status" -ne 0 ] || fail "$output"
	contains "$output" "usermod -aG ebprec USER"
}

@test "removed, captures of the service stay with their user; without them nothing is left" {
	in_root install -d -o ebprec -g ebprec /var/lib/ebprec
	touch "$ROOT/var/lib/ebprec/ebprec.data"
	rpm_there -e ebprec ebprec-record ebprec-devel >log 2>&1 || fail "$(cat log)"
	[ -e "$ROOT/var/lib/ebprec/ebprec.data" ]
	in_root getent passwd ebprec
	rm "$ROOT/var/lib/ebprec/ebprec.data"

	rpm_there -i --nodeps "$BUILD"/rpm/*.rpm
	rpm_there -e ebprec ebprec-record ebprec-devel >log 2>&1 || fail "$(cat log)"
	in_root find / -xdev | sort >after
	# The tests' files, and those of rpm and of the tools for users.
	if comm -13 before after | grep -vE '^/(var/lib/rpm|home)(/|$)|^/etc/(passwd|group|g?shadow)-$' >left; then
		fail "$(cat left)"
	fi
	if in_root getent group ebprec || in_root getent passwd ebprec; then fail "the group or the user is left"; fi
}
