#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
# Debian packages in a fresh Debian: installed, used by root and by a member of the group, removed.  make check-packages

# shellcheck source=tests/lib/helper.bash
. "$BATS_TEST_DIRNAME/../../lib/helper.bash"

setup_file() {
	need_bpf
	PARANOID=$(cat /proc/sys/kernel/perf_event_paranoid)
	export PARANOID DEBS=$BUILD/packages/source ROOT=$BATS_FILE_TMPDIR/root
	debootstrap --variant=minbase --include=adduser,debconf,libcap2-bin,perl "$SUITE" "$ROOT" >"$BATS_FILE_TMPDIR/log" 2>&1 ||
		{ tail -5 "$BATS_FILE_TMPDIR/log" >&3; return 1; }
	mount --bind "$ROOT" "$ROOT" # a mount that allows file capabilities, whatever the one above does
	mount -o remount,suid,exec,dev "$ROOT"
	mount -t proc proc "$ROOT/proc"
	mount -t sysfs sys "$ROOT/sys"
	mount -t tracefs tracefs "$ROOT/sys/kernel/tracing"
	cp "$DEBS"/*.deb "$ROOT/root/"
	in_root useradd -m alice
	in_root useradd -m bob
	in_root find / -xdev | sort >"$BATS_FILE_TMPDIR/before"
}

teardown_file() {
	echo "$PARANOID" >/proc/sys/kernel/perf_event_paranoid
	umount -R -l "$ROOT" # another recorder may have opened a file in it
}

setup() { cd "$BATS_FILE_TMPDIR" || return; }

in_root() { chroot "$ROOT" /usr/bin/env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin DEBIAN_FRONTEND=noninteractive HOME=/root "$@"; }
as() {
	local user=$1
	shift
	in_root su - "$user" -s /bin/sh -c "$*"
}

# shellcheck disable=SC2016 # for perl, in the shell of the other root
loop='perl -e "sub loop { my \$s; \$s += \$_ for 1..9000000 } loop"'

@test "lintian finds nothing" {
	same "" "$(lintian --allow-root --pedantic --fail-on none "$DEBS"/*.changes 2>/dev/null)"
}

@test "the same tree in another folder, as another user, with other clock, umask, zone and language: the same packages" {
	mkdir -p elsewhere/deep
	(cd "$BATS_TEST_DIRNAME/../../.." && scripts/list-files.sh | tar -c -T -) | tar -C elsewhere/deep -x
	touch -d 2001-01-01 elsewhere/deep/README.md
	mkdir out
	chown -R 65534:65534 elsewhere out
	chmod a+rx "$BATS_RUN_TMPDIR" "$BATS_RUN_TMPDIR"/*/ . # else that user cannot come here
	(umask 077 && cd elsewhere/deep && setpriv --reuid 65534 --regid 65534 --clear-groups env -u CCACHE_DIR CCACHE_DISABLE=1 HOME="$PWD/home" \
		TZ=Asia/Tokyo LC_ALL=C.UTF-8 faketime -f +400d scripts/package/build ../../out) >made || fail "$(tail -n 5 out/packages/log)"
	cmp made "$BUILD/packages/sha256" || fail "$(diff made "$BUILD/packages/sha256")
$(for deb in out/packages/source/*.deb; do cmp -s "$deb" "$DEBS/${deb##*/}" || diffoscope --text - "$deb" "$DEBS/${deb##*/}" | head -n 40; done)"
}

@test "the packages are installed with what they depend on, and root records" {
	in_root apt-get update -q >log 2>&1
	in_root sh -c 'apt-get install -y -q --no-install-recommends /root/ebprec_*.deb /root/ebprec-record_*.deb /root/libebprec0_*.deb /root/libebprec-dev_*.deb' >log 2>&1 ||
		fail "$(tail -5 log)"
	in_root sh -c "cd /root && ebprec record -q -F 499 -o x.data -- $loop && ebprec report --folded x.data" >folded
	grep -q '^perl;.*Perl_' folded || fail "$(head -3 folded)"
	in_root rm /root/x.data
}

@test "another user may not use BPF at first, and the reason names the capabilities" {
	same 755 "$(in_root stat -c %a /usr/libexec/ebprec/ebprec-record)"
	run as alice "ebprec record -o x.data -- true"
	contains "$output" "cannot use BPF: Operation not permitted (need root, or CAP_BPF and CAP_PERFMON)"
}

@test "after the question is answered with yes members of the group record, others do not" {
	echo 'ebprec-record ebprec-record/users boolean true' | in_root debconf-set-selections
	in_root dpkg-reconfigure -f noninteractive ebprec-record
	same "750 root ebprec" "$(in_root stat -c '%a %U %G' /usr/libexec/ebprec/ebprec-record)"
	in_root adduser --quiet alice ebprec
	as alice "ebprec record -q -a -F 499 -o x.data -- $loop && ebprec report --folded x.data" >folded
	grep -q '^perl;.*Perl_' folded || fail "$(head -3 folded)"
	same "alice" "$(in_root stat -c %U /home/alice/x.data)"
	run as bob "ebprec record -o x.data -- true"
	[ "$status" -ne 0 ] || fail "$output"
	contains "$output" "usermod -aG ebprec USER"
}

@test "where Debian's kernel refuses CAP_PERFMON the answer sets kernel.perf_event_paranoid, and takes it back" {
	local setting=$ROOT/etc/sysctl.d/60-ebprec.conf
	[ ! -e "$setting" ]
	echo 3 >/proc/sys/kernel/perf_event_paranoid
	in_root dpkg-reconfigure -f noninteractive ebprec-record
	same 2 "$(cat /proc/sys/kernel/perf_event_paranoid)"
	contains "$(cat "$setting")" "kernel.perf_event_paranoid = 2"
}

@test "COMMAND of a member has none of the recorder's capabilities" {
	as alice "ebprec record -q -o x.data -- grep Cap /proc/self/status" >caps
	same 0000000000000000 "$(sed -n 's/^CapEff:[[:space:]]*//p' caps)"
	same 0000000000000000 "$(sed -n 's/^CapPrm:[[:space:]]*//p' caps)"
}

@test "an upgrade keeps the answer, an answer of no takes the capabilities away" {
	in_root sh -c 'dpkg -i /root/ebprec-record_*.deb' >log 2>&1
	same "750 root ebprec" "$(in_root stat -c '%a %U %G' /usr/libexec/ebprec/ebprec-record)"
	contains "$(in_root getcap /usr/libexec/ebprec/ebprec-record)" cap_bpf
	echo 'ebprec-record ebprec-record/users boolean false' | in_root debconf-set-selections
	in_root dpkg-reconfigure -f noninteractive ebprec-record
	same "755 root root" "$(in_root stat -c '%a %U %G' /usr/libexec/ebprec/ebprec-record)"
	same "" "$(in_root getcap /usr/libexec/ebprec/ebprec-record)"
	[ ! -e "$ROOT/etc/sysctl.d/60-ebprec.conf" ]
}

@test "what the administrator set by dpkg-statoverride stays" {
	in_root dpkg-statoverride --add --update root daemon 0750 /usr/libexec/ebprec/ebprec-record
	in_root dpkg-reconfigure -f noninteractive ebprec-record
	same "750 root daemon" "$(in_root stat -c '%a %U %G' /usr/libexec/ebprec/ebprec-record)"
	in_root dpkg-statoverride --remove /usr/libexec/ebprec/ebprec-record
}

@test "the header compiles, and the manual and the completions are where others look" {
	[ -s "$ROOT/usr/include/ebprec-mark.h" ]
	for page in ebprec ebprec-record ebprec-report; do [ -s "$ROOT/usr/share/man/man1/$page.1.gz" ] || fail "$page"; done
	echo '#include <ebprec-mark.h>' | cc -I"$ROOT/usr/include" -fsyntax-only -x c -
	[ -s "$ROOT/usr/share/bash-completion/completions/ebprec" ]
}

@test "purged, nothing of them is left" {
	in_root apt-get purge -y -q ebprec ebprec-record libebprec-dev libebprec0 >log 2>&1
	in_root apt-get autoremove --purge -y -q >log 2>&1
	in_root find / -xdev | sort >after
	# Files that apt, dpkg, adduser, the linker and the tests made.
	if comm -13 before after | grep -vE '^/(var/(cache|log|lib/(apt|dpkg|systemd))|home)(/|$)|^/etc/(passwd|group|g?shadow)-$|^/(tmp|root)/|^/run/adduser$' >left; then
		fail "$(cat left)"
	fi
	if in_root getent group ebprec || in_root getent passwd ebprec; then fail "the group or the user is left"; fi
}
