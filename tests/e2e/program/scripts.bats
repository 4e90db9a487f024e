#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
# The scripts that judge everything else are judged here.

# shellcheck source=tests/lib/helper.bash
. "$BATS_TEST_DIRNAME/../../lib/helper.bash"

setup() {
	cd "$BATS_TEST_DIRNAME/../../.." || return
}

# sum STATUS TEXT - what tap-sum.awk makes of a program's output.
sum() {
	printf '%s\n' "$2" | awk -v status="$1" -v name=x -f scripts/tap-sum.awk 2>/dev/null
}

@test "results are added up" {
	same "2 0 0" "$(sum 0 $'1..2\nok 1 - a\nok 2 - b')"
	same "1 1 1" "$(sum 1 $'1..3\nok 1 a\nnot ok 2 b\nok 3 c # skip needs root')"
}

@test "cmocka's line for a skipped test is not a failure" {
	same "0 0 1" "$(sum 0 $'1..1\nno root here\nnot ok 1 # SKIP a')"
}

@test "a program that ends early has failed" {
	same "1 2 0" "$(sum 139 $'1..3\nok 1 - a')"
	same "1 2 0" "$(sum 0 $'1..3\nok 1 - a')"
}

@test "a program without output has failed" {
	same "0 1 0" "$(sum 0 '')"
	same "0 1 0" "$(sum 127 '')"
}

@test "a program that fails after its last test has failed" {
	same "1 1 0" "$(sum 1 $'1..1\nok 1 - a')"
}

# A copy of the tree's rules with one file that breaks one of them.
broken_tree() {
	mkdir -p "$BATS_TEST_TMPDIR/tree/scripts" "$BATS_TEST_TMPDIR/tree/$(dirname "$1")"
	cp scripts/check-layers.sh scripts/list-files.sh scripts/list-includes.sh "$BATS_TEST_TMPDIR/tree/scripts/"
	cat >"$BATS_TEST_TMPDIR/tree/$1"
	cd "$BATS_TEST_TMPDIR/tree" || return
}

broken_rules() {
	GIT_DIR=/nonexistent scripts/check-layers.sh build | sed -n 's/^not ok [0-9]* - //p'
}

# The one rule that the tree in the current folder breaks, but for those that need all of its files.
broken_rule() {
	broken_rules | grep -vxE 'each folder includes all .*|docs/layers.svg .*' || true
}

licence='/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */'

@test "a clean tree breaks no layer rule" {
	broken_tree format/base/x.c <<<"$licence"
	same "" "$(broken_rule)"
}

@test "the analyzer may not include the recorder" {
	broken_tree analyze/x.c <<<"$licence"$'\n#include "record/ring.h"'
	same "each folder includes only the folders that its line names" "$(broken_rule)"
}

@test "the analyzer may not know libbpf" {
	broken_tree analyze/x.c <<<"$licence"$'\n#  include <bpf/libbpf.h>'
	same "analyze/ does not know libbpf" "$(broken_rule)"
}

@test "libelf is for analyze/sym/ alone" {
	broken_tree analyze/x.c <<<"$licence"$'\n#include <gelf.h>'
	same "only analyze/sym/ knows libelf, libdw, liblzma and libiberty" "$(broken_rule)"
	cd - && broken_tree analyze/sym/x.c <<<"$licence"$'\n#include <gelf.h>'
	rm analyze/x.c
	same "" "$(broken_rule)"
}

@test "a folder may not include one above it" {
	broken_tree analyze/fold/x.c <<<"$licence"$'\n#include "analyze/report/profile/flat_profile.h"'
	same "each folder includes only the folders that its line names" "$(broken_rule)"
	cd - && broken_tree analyze/sched/y.c <<<"$licence"$'\n#include "analyze/cmd/common/usage.h"'
	rm analyze/fold/x.c
	same "each folder includes only the folders that its line names" "$(broken_rule)"
	cd - && broken_tree analyze/cmd/summary/z.c <<<"$licence"$'\n#include "analyze/report/profile/flat_profile.h"'
	rm analyze/sched/y.c
	same "" "$(broken_rule)"
}

@test "headers that include each other are found" {
	broken_tree format/base/a.h <<<"$licence"$'\n#ifndef EBPREC_FORMAT_BASE_A_H\n#define EBPREC_FORMAT_BASE_A_H\n#include "format/base/b.h"\n#endif'
	cd - && broken_tree format/base/b.h <<<"$licence"$'\n#ifndef EBPREC_FORMAT_BASE_B_H\n#define EBPREC_FORMAT_BASE_B_H\n#include "format/base/a.h"\n#endif'
	same "no header includes itself through others" "$(broken_rule)"
}

@test "a layer whose line names a later one is found" {
	broken_tree format/base/x.c <<<"$licence"
	sed -i 's|^\tformat/unwind: format/base$|& analyze/base|' scripts/check-layers.sh
	same "the layers have an order" "$(broken_rule)"
}

@test "a folder that no layer names is found" {
	broken_tree format/new/x.c <<<"$licence"
	same "each folder of sources has a layer, and each of unit tests has its sources" "$(broken_rule)"
}

@test "a folder of unit tests that has no sources is found" {
	broken_tree tests/unit/format/new/test_x.c <<<"$licence"
	same "each folder of sources has a layer, and each of unit tests has its sources" "$(broken_rule)"
}

# A tree of two folders, of which the second includes the first, with a drawing of that.
two_layers() {
	broken_tree format/text/x.c <<<"$licence"$'\n#include "format/base/x.h"'
	sed -i '/^\tcat <<-.END.$/,/^\tEND$/ { /format\/base:$/b; /format\/text:/b; /END/b; d }' scripts/check-layers.sh
	mkdir docs format/base
	echo "$licence"$'\n#ifndef EBPREC_FORMAT_BASE_X_H\n#define EBPREC_FORMAT_BASE_X_H\n#endif' >format/base/x.h
	echo "$licence"$'\n<title>format/text&#45;&gt;format/base</title>' >docs/layers.svg
}

@test "a layer whose line names a folder that it does not include is found" {
	two_layers
	same "" "$(broken_rules)"
	echo "$licence" >format/text/x.c
	echo "$licence" >docs/layers.svg
	same "each folder includes all the folders that its line names" "$(broken_rules)"
}

@test "a drawing without an include, or with one that is gone, is found" {
	two_layers
	echo "$licence" >docs/layers.svg
	same "docs/layers.svg shows the includes of today" "$(broken_rules)"
	echo "$licence"$'\n<title>format/text&#45;&gt;format/base</title>\n<title>format/base&#45;&gt;format/os</title>' >docs/layers.svg
	same "docs/layers.svg shows the includes of today" "$(broken_rules)"
}

@test "the recorder may not include the analyzer" {
	broken_tree record/x.c <<<"$licence"$'\n#include "analyze/process/process_model.h"'
	same "each folder includes only the folders that its line names" "$(broken_rule)"
}

@test "a header must compile alone" {
	broken_tree format/base/x.h <<<"$licence"$'\n#ifndef EBPREC_FORMAT_BASE_X_H\n#define EBPREC_FORMAT_BASE_X_H\nsize_t f(void);\n#endif'
	same "each header compiles alone" "$(broken_rule)"
}

@test "a library may not print" {
	broken_tree format/base/x.c <<<"$licence"$'\nvoid f(void)\n{\n\tprintf("x");\n}'
	same "libraries neither print nor exit" "$(broken_rule)"
}

@test "a library may not keep state in variables of the file" {
	broken_tree format/base/x.c <<<"$licence"$'\nint counter = 3;\nstatic const char *const names[] = { "a" };\nconst char *const *f(void) { return names; }'
	mkdir -p build/format/base
	cc -fPIE -c -o build/format/base/x.o format/base/x.c
	same "no variables at file scope but stop_requested" "$(broken_rule)"
}

@test "a file without a licence is found" {
	broken_tree format/base/x.c <<<"int f(void);"
	same "every file names its licence" "$(broken_rule)"
}

@test "a golden case with other output fails, and UPDATE=1 updates it" {
	mkdir -p "$BATS_TEST_TMPDIR/t/scripts" "$BATS_TEST_TMPDIR/t/tests/golden/a"
	cp scripts/golden-run.sh "$BATS_TEST_TMPDIR/t/scripts/"
	cd "$BATS_TEST_TMPDIR/t" || return
	# shellcheck disable=SC2016 # the case expands
	echo 'echo out; echo "err $TMP" >&2; exit 3' >tests/golden/a/cmd
	echo 'something else' >tests/golden/a/expected
	run scripts/golden-run.sh .
	same 1 "$status"
	contains "$output" "not ok 1 - a"
	UPDATE=1 scripts/golden-run.sh .
	same $'out\nstderr: err $TMP\nexit: 3' "$(cat tests/golden/a/expected)"
	scripts/golden-run.sh .
}

# A path may be without the end of its name, or have NAME in it; folders below another are named by it alone.
@test "files that DESIGN.md, EXTENDING.md and the list of tests name are there" {
	local path
	# shellcheck disable=SC2016 # no command
	for path in $(grep -oh '`[a-z]*/[A-Za-z_./]*`' docs/DESIGN.md docs/EXTENDING.md | tr -d '`' | grep -v '^[a-z]*/$' | sort -u); do
		compgen -G "$path*" >/dev/null || [[ $path == *NAME* && -d ${path%/*} ]] || fail "$path"
	done
	# shellcheck disable=SC2016 # the same
	for path in $(grep -oh '`unit/[a-z_/]*\.c`' docs/design/tests.md | tr -d '`' | sort -u); do
		[ -e "tests/$path" ] || fail "$path"
	done
}

@test "every purpose of scripts/deps that make asks for exists" {
	for purpose in build-analyzer build-record test lint bench fuzz try; do
		scripts/deps --list | grep -q "^$purpose " || fail "$purpose"
	done
	run scripts/deps no-such-purpose
	same 2 "$status"
}

@test "a missing tool is named by its package" {
	mkdir "$BATS_TEST_TMPDIR/bin"
	for tool in sh cat cut grep sort tr cc; do
		ln -s "$(command -v $tool)" "$BATS_TEST_TMPDIR/bin/"
	done
	sed 's|:/usr/sbin:/sbin||' scripts/deps >"$BATS_TEST_TMPDIR/deps"
	PATH=$BATS_TEST_TMPDIR/bin run sh "$BATS_TEST_TMPDIR/deps" --check build-record
	same 1 "$status"
	contains "$output" "bpftool"
	contains "$output" "clang"
}

# A tree with one file, in which check-words.sh finds what it finds.
tree_of_words() {
	mkdir -p "$BATS_TEST_TMPDIR/tree/scripts" "$BATS_TEST_TMPDIR/tree/docs" "$BATS_TEST_TMPDIR/tree/$(dirname "$1")"
	cp scripts/check-words.sh scripts/list-files.sh "$BATS_TEST_TMPDIR/tree/scripts/"
	cp docs/GLOSSARY.md "$BATS_TEST_TMPDIR/tree/docs/"
	cat >"$BATS_TEST_TMPDIR/tree/$1"
	cd "$BATS_TEST_TMPDIR/tree" || return
}

@test "words: ordinary sentences and words that contain a replaced one pass" {
	tree_of_words format/x.c <<<$'/* The reader is holding oddments of the wholesale trailer. */\nint teller;'
	run -0 scripts/check-words.sh format
	same "" "$output"
}

@test "words: a replaced word is found in a comment, in a name and in a message" {
	tree_of_words format/x.c <<<$'/* Nobody. */\nint was_told_ns;\nputs("the whole file");\nint x;'
	run -1 scripts/check-words.sh format
	same "format/x.c:1: format/x.c:2: format/x.c:3:" "$(cut -d' ' -f1 <<<"$output" | sed 's/\(:[0-9]*:\).*/\1/' | paste -sd ' ')"
}

@test "words: a sentence that begins with What or Of is found" {
	tree_of_words format/x.c <<<$'/* What it has. */\n/* It has one. Of these, two. */\n/* A part of it. */'
	run -1 scripts/check-words.sh format
	same 2 "$(wc -l <<<"$output")"
	cd - && tree_of_words analyze/web/x.mjs <<<$'// What it has.\n// It has what it has.'
	run -1 scripts/check-words.sh analyze
	same 1 "$(wc -l <<<"$output")"
}

@test "words: folders that are not asked for are not checked" {
	tree_of_words record/x.c <<<$'/* Nobody. */'
	run -0 scripts/check-words.sh format
	run -1 scripts/check-words.sh record
}

@test "words: a commit with a replaced word in its subject is found" {
	tree_of_words format/x.c <<<$'int x;'
	git init -q . && git add -A
	git -c user.name=x -c user.email=x@x commit -qm 'x: Begin'
	sed -i "s/^since=.*/since=$(git rev-parse HEAD)/" scripts/check-words.sh
	run -0 scripts/check-words.sh
	git -c user.name=x -c user.email=x@x commit -qam 'x: Tell nobody'
	run -1 scripts/check-words.sh
	contains "$output" "x: Tell nobody"
}

@test "a process that a failed test left in the background is ended" {
	local inner=$BATS_TEST_TMPDIR/inner.bats
	printf '%s\n' "load '$PWD/tests/lib/helper'" '@test "one that fails" {' 'sleep 600 3>&- &' \
		"echo \$! >'$BATS_TEST_TMPDIR/pid'" false '}' >"$inner"
	run -1 env -i PATH=/usr/local/bin:/usr/bin:/bin bats "$inner" # bats has one of its own in PATH
	contains "$output" "not ok 1 one that fails"
	! kill "$(cat "$BATS_TEST_TMPDIR/pid")" || fail "it still ran"
}

@test "the mixed load ends with the process that started it" {
	mkdir "$BATS_TEST_TMPDIR/bin" "$BATS_TEST_TMPDIR/work"
	printf '#!/bin/sh\nexec sleep 0.1\n' >"$BATS_TEST_TMPDIR/bin/cc"
	chmod +x "$BATS_TEST_TMPDIR/bin/cc"
	for name in xz python3 openssl git node; do
		ln -s cc "$BATS_TEST_TMPDIR/bin/$name"
	done
	load="$PWD/tests/live/workloads/mixed-load.sh $BATS_TEST_TMPDIR/work 600"
	runs() {
		pgrep -f "$load" >/dev/null
	}
	ended() {
		! runs
	}
	# shellcheck disable=SC2086 # words
	PATH=$BATS_TEST_TMPDIR/bin:$PATH bash -c '"$@" 2>/dev/null & sleep 60' bash $load 3>&- &
	starter=$!
	await runs
	kill -KILL $starter
	await ended
}

@test "a wait in vain ends after three minutes, however long each look takes" {
	looks=0
	slow() { # 50 s
		looks=$((looks + 1))
		SECONDS=$((SECONDS + 50))
		false
	}
	await slow 2>"$BATS_TEST_TMPDIR/message" && fail "it succeeded"
	same 4 "$looks"
	same "not within three minutes: slow" "$(cat "$BATS_TEST_TMPDIR/message")"
}
