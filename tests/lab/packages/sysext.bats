#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
# The system extension, merged into a tree of its own by systemd-sysext --root, from its folder and from its image.

# shellcheck disable=SC2016 # what is in single quotes is for another shell
# shellcheck source=tests/lib/helper.bash
. "$BATS_TEST_DIRNAME/../../lib/helper.bash"

setup_file() {
	need_bpf
	export ROOT=$BATS_FILE_TMPDIR/root GID=984
	"$BATS_TEST_DIRNAME/../../../scripts/package/sysext" "$BUILD" $GID >"$BATS_FILE_TMPDIR/log"
	debootstrap --variant=minbase --include=perl-base,passwd "$SUITE" "$ROOT" >"$BATS_FILE_TMPDIR/log" 2>&1 ||
		{ tail -5 "$BATS_FILE_TMPDIR/log" >&3; return 1; }
	chroot "$ROOT" groupadd -g $GID ebprec
	chroot "$ROOT" useradd -m -G ebprec alice
	chroot "$ROOT" useradd -m bob
	mkdir "$ROOT/var/lib/extensions"
}

setup() { cd "$BATS_TEST_TMPDIR" || return; }
teardown() { rm -rf "$ROOT"/var/lib/extensions/*; }

# merged CMD - a shell runs CMD with the extension merged into $ROOT; mounts end with it, those of the machine stay as they are
merged() {
	unshare -m --propagation unchanged sh -ec '
		mount --make-rprivate / && mount -t tmpfs none /run && mount --make-rshared /
		mount --bind "$ROOT" "$ROOT" && mount -o remount,suid,exec,dev "$ROOT"
		mount -t proc proc "$ROOT/proc" && mount -t sysfs sys "$ROOT/sys"
		systemd-sysext --root="$ROOT" merge
		trap "systemd-sysext --root=\"$ROOT\" unmerge" EXIT
		eval "$0"' "$1" 2>err
}

recorder=/usr/libexec/ebprec/ebprec-record
caps=cap_dac_read_search,cap_sys_ptrace,cap_syslog,cap_perfmon,cap_bpf,cap_checkpoint_restore=ep
loop='perl -e "sub loop { my \$s; \$s += \$_ for 1..9000000 } loop"'

# in_merged CMD - a shell of the tree runs CMD
in_merged() { merged "chroot \"\$ROOT\" /usr/bin/env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root sh -c '$1'"; }

@test "the folder: merged, the recorder has its group and its capabilities; unmerged, it is gone" {
	cp -a "$BUILD/sysext/ebprec" "$ROOT/var/lib/extensions/"
	merged 'getcap "$ROOT'$recorder'"; stat -c "%a %u %g" "$ROOT'$recorder'"; findmnt -no FSTYPE "$ROOT/usr" | tail -n 1' >seen
	same "$ROOT$recorder $caps"$'\n'"750 0 $GID"$'\n'overlay "$(cat seen)"
	[ ! -e "$ROOT/usr/libexec/ebprec" ]
}

@test "the image keeps security.capability; root and members of the group record, others do not" {
	cp "$BUILD/sysext/ebprec.raw" "$ROOT/var/lib/extensions/"
	merged 'getcap "$ROOT'$recorder'"' >seen
	same "$ROOT$recorder $caps" "$(cat seen)"
	cat >"$ROOT/root/load" <<-END
		cd "\$HOME" && ebprec record -q -F 499 -o x.data -- $loop && ebprec report --folded x.data
	END
	chmod a+rx "$ROOT/root" "$ROOT/root/load"
	in_merged "sh /root/load" >folded || fail "$(cat err)"
	grep -q '^perl;.*;main;perl_run;' folded || fail "$(head -3 folded err)"
	in_merged 'su - alice -s /bin/sh -c "sh /root/load"' >folded || fail "$(cat err)"
	grep -q '^perl;.*;main;perl_run;' folded || fail "$(head -3 folded err)"
	if in_merged 'su - bob -s /bin/sh -c "sh /root/load"' >folded; then fail "$(cat folded)"; fi
	contains "$(cat err)" "usermod -aG ebprec USER"
}

@test "another architecture is refused" {
	cp -a "$BUILD/sysext/ebprec" "$ROOT/var/lib/extensions/"
	sed -i 's/x86-64/arm64/' "$ROOT/var/lib/extensions/ebprec/usr/lib/extension-release.d/extension-release.ebprec"
	if merged 'ls "$ROOT'$recorder'"' >seen; then fail "$(cat seen)"; fi
	contains "$(cat err)" incompatible
}

@test "without a group no file has capabilities, and a group that is no number is refused" {
	"$BATS_TEST_DIRNAME/../../../scripts/package/sysext" "$BUILD" >log
	unsquashfs -q -n -d out "$BUILD/sysext/ebprec.raw" >/dev/null
	same "755 0 0" "$(stat -c '%a %u %g' out$recorder)"
	same "" "$(getcap -r out)"
	same "ID=_any ARCHITECTURE=x86-64" "$(xargs <out/usr/lib/extension-release.d/extension-release.ebprec)"
	run "$BATS_TEST_DIRNAME/../../../scripts/package/sysext" "$BUILD" ebprec
	same 2 "$status"
}
