#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
# The files that `make install` puts where, and that it works from there.

# shellcheck source=tests/lib/helper.bash
. "$BATS_TEST_DIRNAME/../../lib/helper.bash"

setup_file() {
	cd "$BATS_TEST_DIRNAME/../../.." || return
	export TREE=$BATS_FILE_TMPDIR/tree
	make -s O="$BUILD" install DESTDIR="$TREE" prefix=/usr >/dev/null
}

@test "programs, licence and manual are where they belong" {
	for f in bin/ebprec libexec/ebprec/ebprec-record share/doc/ebprec/LICENSE \
		share/doc/ebprec/docs/FORMAT.md share/man/man1/ebprec.1 include/ebprec-mark.h share/pkgconfig/ebprec-mark.pc; do
		[ -f "$TREE/usr/$f" ] || fail "$f is not there"
	done
	[ ! -x "$TREE/usr/share/doc/ebprec/LICENSE" ] || fail "LICENSE can be executed"
}

@test "what the README and the documents point to is installed, too" {
	cd "$TREE/usr/share/doc/ebprec" || return
	for document in README.md docs/*.md docs/*/*.md; do
		grep -oE '\]\([^)#:]+' "$document" | cut -c3- | while read -r path; do
			[ -e "$(dirname "$document")/$path" ] || echo "$document: $path"
		done
	done >missing
	same "" "$(cat missing)"
	rm missing
}

@test "nothing is installed anywhere else" {
	same "./usr" "$(cd "$TREE" && find . -mindepth 1 -maxdepth 1)"
}

@test "ebprec top, another name of ebprec live, has the page of that" {
	contains "$(groff -s -I "$TREE/usr/share/man" -man -Tascii -P -cbou "$TREE/usr/share/man/man1/ebprec-top.1")" "ebprec live"
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

@test "the installed header is enough for a program with marks, in C and in C++" {
	cd "$BATS_TEST_TMPDIR" || return
	printf '#include <ebprec-mark.h>\nint main(void) { ebprec_mark("g", "n", "t"); return 0; }\n' >m.c
	printf '#include <ebprec-mark.h>\nint main() { ebprec::span s("g", "n"); return 0; }\n' >m.cpp
	for std in c99 c11 gnu17; do
		cc -std=$std -Wall -Wextra -Werror -pedantic -I"$TREE/usr/include" -o m m.c
		./m
	done
	for std in c++98 c++11 c++20; do
		c++ -std=$std -O2 -Wall -Wextra -Werror -pedantic -I"$TREE/usr/include" -o m m.cpp
		./m
		readelf -n m | grep -q 'Provider: ebprec'
	done
	# In several files of a program, and in a library beside it: one counter of listeners each.
	cc -c -I"$TREE/usr/include" -Dmain=other m.c
	c++ -O2 -I"$TREE/usr/include" -o both m.cpp m.o
	same 1 "$(nm both | grep -c ebprec_mark_semaphore)"
	same 2 "$(readelf -n both | grep -c 'Provider: ebprec')"
}

@test "pkg-config finds the header, and help and manual mention it" {
	cd "$BATS_TEST_TMPDIR" || return
	printf '#include <ebprec-mark.h>\nint main(void) { ebprec_mark("g", "n", "t"); return 0; }\n' >m.c
	export PKG_CONFIG_PATH=$TREE/usr/share/pkgconfig PKG_CONFIG_SYSROOT_DIR=$TREE PKG_CONFIG_ALLOW_SYSTEM_CFLAGS=1
	same "-I$TREE/usr/include" "$(pkg-config --cflags ebprec-mark | sed 's/ $//')"
	same "" "$(pkg-config --libs ebprec-mark | sed 's/ $//')"
	# shellcheck disable=SC2046 # words
	cc -Werror $(pkg-config --cflags ebprec-mark) -o m m.c
	readelf -n m | grep -q 'Provider: ebprec'
	same "$("$BUILD/ebprec" --version | grep -o '[0-9][0-9.]*')" "$(pkg-config --modversion ebprec-mark)"
	for command in mark marks; do
		contains "$("$BUILD/ebprec" $command --help)" "pkg-config --cflags ebprec-mark"
		contains "$(cat "$TREE/usr/share/man/man1/ebprec-$command.1")" 'pkg\-config \-\-cflags ebprec\-mark'
	done
}

@test "without its recorder, ebprec reports what is missing" {
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
