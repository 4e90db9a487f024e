#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
# ebprec report --svg: a flame graph, held against the folded stacks of the same samples by an XML reader.

# shellcheck source=tests/lib/helper.bash
. "$BATS_TEST_DIRNAME/../../lib/helper.bash"

setup() {
	cd "$BATS_TEST_TMPDIR" || return
}

# agrees OPTION... - the picture and the folded stacks of x.data have the same frames
agrees() {
	ebprec report -q --folded "$@" x.data >x.folded
	ebprec report -q --svg x.svg "$@" x.data
	python3 "$BATS_TEST_DIRNAME/svg_frames.py" x.svg x.folded || fail "report $*: the picture differs"
}

@test "each call is a frame, as wide as its share, on its caller" {
	gen_capture -o x.data --samples 30000 --depth 20 --pids 7
	agrees
	agrees --time 20%-60%
	agrees --pid 1003
}

@test "waits are drawn with their reasons" {
	gen_story x.data <"$BATS_TEST_DIRNAME/../../golden/offcpu/story"
	agrees --off-cpu
	contains "$(cat x.svg)" "(wait, "
}

@test "the same capture gives the same bytes, into a file and into a pipe" {
	gen_capture -o x.data --samples 5000 --depth 12 --pids 3
	ebprec report -q --svg a.svg x.data
	ebprec report -q --svg b.svg x.data
	ebprec report -q --svg - x.data >c.svg
	cmp a.svg b.svg
	cmp a.svg c.svg
	same 600 "$(stat -c %a a.svg)"
}

@test "names with markup, controls and no characters of XML are text in the picture" {
	local name=$'</title>&"<script>\x9b\xef\xbf\xbf\xe2\x80\xae'
	printf '%s\0' "0 fork 1 10 10" "0 comm 10 10 <&>" "0 kmap 0xffffffff81000000 0x10000 _text" \
		"- kallsyms ffffffff81000100 T $name" "10 sample 10 10 0 10 k:0xffffffff81000110" >story
	gen_story --null x.data <story
	ebprec report -q --svg x.svg x.data
	# An XML reader gets the texts as the other forms print them.
	python3 "$BATS_TEST_DIRNAME/svg_titles.py" x.svg >titles
	contains $'\n'"$(cat titles)" $'\n</title>&"<script>\\x9b\\xef\\xbf\\xbf\\xe2\\x80\\xae (kernel, '
	contains $'\n'"$(cat titles)" $'\n<&> (process, '
}

@test "a capture without samples is a picture with a note" {
	gen_capture -o x.data --samples 0
	ebprec report -q --svg x.svg x.data
	contains "$(cat x.svg)" "no samples"
}

@test "the capture is not overwritten, and a folder that is not there is named" {
	gen_capture -o x.data --samples 10
	sum=$(cksum <x.data)
	refuses ebprec report --svg x.data x.data
	same "$sum" "$(cksum <x.data)"
	refuses ebprec report --svg nowhere/x.svg x.data
	contains "$stderr" "nowhere/x.svg"
}

@test "a picture is one view, and has no other form" {
	gen_capture -o x.data --samples 10
	run ebprec report --svg x.svg --tree x.data
	same 2 "$status"
	run ebprec report --svg x.svg --json x.data
	same 2 "$status"
}
