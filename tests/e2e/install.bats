#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
# What `make install` puts where, and that it works from there.

# shellcheck source=tests/helper.bash
. "$BATS_TEST_DIRNAME/../helper.bash"

setup_file() {
	cd "$BATS_TEST_DIRNAME/../.." || return
	export TREE=$BATS_FILE_TMPDIR/tree
	make -s O="$BUILD" install DESTDIR="$TREE" prefix=/usr >/dev/null
}

@test "programs, licence and manual are where they belong" {
	for f in bin/ebprec libexec/ebprec/ebprec-record share/doc/ebprec/LICENSE \
		share/doc/ebprec/FORMAT.md share/man/man1/ebprec.1; do
		[ -f "$TREE/usr/$f" ] || fail "$f is not there"
	done
	[ ! -x "$TREE/usr/share/doc/ebprec/LICENSE" ] || fail "LICENSE can be executed"
}

@test "nothing is installed anywhere else" {
	same "./usr" "$(cd "$TREE" && find . -mindepth 1 -maxdepth 1)"
}

@test "the installed ebprec runs, and finds its recorder" {
	cd /
	PATH=/usr/bin:/bin run "$TREE/usr/bin/ebprec" --version
	same 0 "$status"
	contains "$output" "ebprec"
	PATH=/usr/bin:/bin run "$TREE/usr/bin/ebprec" record --help
	same 0 "$status"
	contains "$output" "--freq"
}

@test "without its recorder, ebprec says what is missing" {
	cp "$TREE/usr/bin/ebprec" "$BATS_TEST_TMPDIR/"
	PATH=/usr/bin:/bin run "$BATS_TEST_TMPDIR/ebprec" record -a
	same 1 "$status"
	contains "$output" "ebprec-record"
}

@test "the analyzer links neither libbpf nor the recorder" {
	run ldd "$TREE/usr/bin/ebprec"
	same 0 "$status"
	case $output in *libbpf*) fail "$output" ;; esac
}
