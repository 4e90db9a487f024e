#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
# Options that users of perf type: each works, or one line names what does the thing; and what is named is there.

# shellcheck source=tests/lib/helper.bash
. "$BATS_TEST_DIRNAME/../../lib/helper.bash"
# shellcheck source=tests/e2e/program/perf_words.bash
. "$BATS_TEST_DIRNAME/perf_words.bash"

setup() {
	cd "$BATS_TEST_TMPDIR" || return
}

# bats test_tags=long
@test "each option of perf's commands works here, or one line names what does" {
	bash "$BATS_TEST_DIRNAME/perf_words.bash" <"$BATS_TEST_DIRNAME/perf_options"
}

@test "commands and words of perf that are none here name what does the thing" {
	for words in annotate archive bench buildid-cache buildid-list c2c config daemon data evlist flamegraph ftrace inject iostat \
		kallsyms kmem kvm kwork list lock mem probe stat test timechart trace \
		"sched latency" "sched timehist -V" "sched map" "sched record -a" "script flamegraph" "script record"; do
		# shellcheck disable=SC2086 # words
		tries $words
	done
}

@test "--of and metrics of what was not recorded: how to record that, not something else" {
	gen_capture -o x.data --samples 10
	refuses ebprec report --of locks x.data
	# shellcheck disable=SC2154 # of refuses
	contains "$stderr" "'x.data' has no stacks of 'locks' (record some: ebprec record --with locks --slower 10ms)"
	refuses ebprec report --of heap x.data
	contains "$stderr" "(record some: ebprec record --with heap)"
	refuses ebprec metrics locks x.data
	contains "$stderr" "'x.data' has no tables (record some: ebprec record --with locks)"
	refuses ebprec metrics futexes x.data
	contains "$stderr" "(record some: ebprec record --with locks)"
}

@test "did you mean: only what the command takes" {
	for words in "report --stdioo" "report --percent-limt 1" "report --tuii" "script --forcee" "record --graphh" "diff --modulez" \
		"report --show-nr-sample" "record --sample-cpuu" "record --off-cpuu"; do
		# shellcheck disable=SC2086 # words
		run -2 ebprec $words
		contains "$output" "unknown option"
		near=$(sed -n "s/.*did you mean '\(--[a-z-]*\)'.*/\1/p" <<<"$output")
		[ -z "$near" ] || ! ebprec "${words%% *}" "$near=1" --help 2>&1 | grep "unknown option\|of perf is not known" ||
			fail "$words: $near"
	done
}
