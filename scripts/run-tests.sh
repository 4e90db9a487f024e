#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
#
# run-tests.sh [--beside BUILD_DIR SUITE... --] BUILD_DIR SUITE... - runs built tests, adds results up
#
# Suites behind --beside run at the same time as those that follow, and are shown when they are waited
# for: at --wait in place of a suite, or at the end.  BUILD_DIR may come again between suites: those
# behind it run there.  The files of e2e run E2E_LANES (default: a CPU each) at a time.  Files
# of live with a line "# runs beside others: WHY" run LIVE_LANES (default: a CPU each) at a time, the others then one by one.
#
# Tests of .bats files with the tag "long", and every cut and bit of mutate, take seconds each.  LONG_TESTS in the
# environment: "no" leaves them out, "only" runs no others; without it all run.
#
# Suites: unit (cmocka), golden, replay (fuzz corpora), mutate (damaged captures), layers, e2e (bats,
# needs no privilege), live (bats, needs root and BPF), kernels (bats, under kernels that it
# fetches), kernels-load (the same, only that all programs load), kernels-aarch64 (the same of that machine).  With EMULATOR in the environment, a command, the programs of unit, golden and replay are those of
# another machine, and it runs them.  Every test program speaks TAP into BUILD_DIR/test-logs/; a program that crashes, hangs
# or stops early counts as failed.  The last line is "N passed, N failed, N skipped"; status 1 when
# something failed.
set -eu

cd "$(dirname "$0")/.."
start_s=$(date +%s)
beside=
work=$(mktemp -d)
trap '[ -z "$beside" ] || kill "$beside"; rm -rf "$work"' EXIT
: >"$work/results"
: >"$work/left_out"
long=${LONG_TESTS:-yes}

# add_result PASSED FAILED SKIPPED - a line of the results, which are added up at the end.  Suites that
# run side by side all write to the one file.
add_result() {
	echo "$1 $2 $3" >>"$work/results"
}

# run NAME SECONDS CMD... - runs one test program and adds its results.
run() {
	name=$1
	limit_s=$2
	[ -z "${EMULATOR:-}" ] || limit_s=$((limit_s * 6)) # some tests take minutes there, and more beside others
	shift 2
	began_s=$(date +%s)
	log=$logs/$(echo "$name" | tr / -).tap
	status=0
	timeout -k 5 "$limit_s" "$@" >"$log" 2>"$log.err" </dev/null || status=$?
	[ "$status" -ne 124 ] || echo "  $name: stopped after $limit_s s" >&2
	# shellcheck disable=SC2046 # three numbers
	set -- $(awk -v status="$status" -v name="$name$kind" -f scripts/tap-sum.awk "$log" 2>"$log.report")
	cat "$log.report" >&2
	if [ "$2" -ne 0 ]; then
		tail -n 40 "$log.err" | sed 's/^/    /' >&2
		head -n 60 "$log.report" >>"$work/failures"
	fi
	add_result "$1" "$2" "$3"
	printf '%-40s %4d passed, %d failed, %d skipped, %d s\n' "$name$kind" "$1" "$2" "$3" $(($(date +%s) - began_s))
}

# lacks TEST - prints why the emulator cannot run it; nothing: it can, or there is none
lacks() {
	[ -z "${EMULATOR:-}" ] || awk -v test="$1" '$1 == test { sub(/^[^\t]*\t*/, ""); print }' scripts/emulator-lacks
}

run_unit() {
	for source in $(find tests/unit -name 'test_*.c' | sort); do
		test=${source%.c}
		lacking=$(lacks "${test#tests/unit/}")
		[ -z "$lacking" ] || {
			echo "${test#tests/}: left out, the emulator lacks $lacking"
			add_result 0 0 1
			continue
		}
		# shellcheck disable=SC2086 # words
		run "${test#tests/}" 300 env "EBPREC_BUILD=$build" CMOCKA_MESSAGE_OUTPUT=TAP ${EMULATOR:-} "$build/$test"
	done
}

run_replay() {
	for source in tests/fuzz/*/fuzz_*.c; do
		[ -e "$source" ] || continue
		target=$(basename "$source" .c)
		# shellcheck disable=SC2086 # words
		run "replay/$target" 300 ${EMULATOR:-} "$build/${source%.c}" "tests/fuzz/corpus/$target"/*
	done
}

# The sanitizers are many times slower, so they see a choice and the plain build sees every byte.
run_mutate() {
	case $build in
	*/san-*) run mutate/random 300 scripts/mutate.sh "$build" random 300 1 ;;
	*) is_left_out 1 || run mutate/bytes 300 scripts/mutate.sh "$build" bytes ;;
	esac
}

# is_left_out COUNT - whether so many long tests are left out; if so they are counted.
is_left_out() {
	[ "$long" = no ] || return 1
	echo "$1" >>"$work/left_out"
}

# run_bats_file FILE
run_bats_file() {
	long_count=$(grep -c '^# bats test_tags=long$' "$1" || true)
	name=${1#tests/}
	name=${name#lab/}
	set -- "$1" "${name%.bats}"
	if [ "$long_count" -gt 0 ] && is_left_out "$long_count"; then
		[ "$long_count" -lt "$(grep -c '^@test ' "$1")" ] || return 0
		set -- "$@" --filter-tags '!long'
	elif [ "$long" = only ]; then
		[ "$long_count" -gt 0 ] || return 0
		set -- "$@" --filter-tags long
	fi
	file=$1
	name=$2
	shift 2
	EBPREC_BUILD=$build run "$name" 480 bats --timing --tap "$@" "$file"
}

run_bats() {
	for file in tests/"$1"/*.bats tests/lab/"$1"/*.bats; do
		[ ! -e "$file" ] || run_bats_file "$file"
	done
}

# run_lane FILE... - runs those that no other lane has begun; each is shown when it has ended.
run_lane() {
	for file; do
		lane=$work/lane-$(echo "$file" | tr / -)
		mkdir "$lane" 2>/dev/null || continue
		run_bats_file "$file" >"$lane/shown" 2>&1
		cat "$lane/shown"
	done
}

# run_lanes COUNT FILE... - runs the files, so many at a time.  Long ones begin first, so that the lanes end at about the
# same time.
run_lanes() {
	count=$1
	shift
	[ $# -gt 0 ] || return 0
	# shellcheck disable=SC2046 # names without blanks
	set -- $(wc -l "$@" | sort -rn | awk '$2 != "total" { print $2 }')
	lanes=
	for _ in $(seq "$count"); do
		(
			trap - EXIT
			run_lane "$@"
		) &
		lanes="$lanes $!"
	done
	for lane in $lanes; do
		wait "$lane" || end_early "tests side by side"
	done
}

run_e2e() {
	# shellcheck disable=SC2046 # names without blanks
	run_lanes "${E2E_LANES:-$(nproc)}" $(find tests/e2e -name '*.bats')
}

run_live() {
	# shellcheck disable=SC2046 # names without blanks
	run_lanes "${LIVE_LANES:-$(nproc)}" $(grep -rl --include='*.bats' '^# runs beside others: ' tests/live)
	# shellcheck disable=SC2013 # names without blanks
	for file in $(grep -rL --include='*.bats' '^# runs beside others: ' tests/live | sort); do run_bats_file "$file"; done
}

# end_early WHAT - WHAT did not come to its end, which is a failure
end_early() {
	echo "run-tests.sh: $1 ended early" >&2
	add_result 0 1 0
}

# run_kernels SECONDS FILE... - these .bats files on each kernel, which boots a few times; on a busy machine that takes minutes
run_kernels() {
	limit_kernel_s=$1
	shift
	tests/lab/kernels/fetch "$build/kernels" || {
		echo "kernels: cannot fetch them, see above" >&2
		add_result 0 1 0
		return
	}
	for release in "$build"/kernels/*/release; do
		dir=$(dirname "$release")
		EBPREC_BUILD=$build EBPREC_KERNEL=$dir \
			run "kernels/$(basename "$dir")" "$limit_kernel_s" bats --tap "$@"
	done
}

# The same of another machine, by programs that were built for it.
run_kernels_aarch64() {
	{
		tests/lab/kernels/fetch "$build/kernels" aarch64 &&
			scripts/sysroot aarch64 "$build/guest" base-files bash busybox-static coreutils dash libc6-dbg python3 util-linux xz-utils
	} || {
		echo "kernels-aarch64: cannot fetch them, see above" >&2
		add_result 0 1 0
		return
	}
	for release in "$build"/kernels/*/release; do
		dir=$(dirname "$release")
		EBPREC_BUILD=$build EBPREC_KERNEL=$dir EBPREC_GUEST=$build/guest \
			run "kernels-aarch64/$(basename "$dir")" 2400 bats --tap tests/lab/kernels/aarch64.bats
	done
}

# set_build BUILD_DIR - where the programs of the suites that follow are
set_build() {
	build=$(cd "$1" && pwd)
	logs=$build/test-logs
	mkdir -p "$logs"
	kind=
	case $build in
	*/san-*) kind=' (sanitized)' ;;
	esac
}

# run_suites WORD... - runs them up to "--"
run_suites() {
	for suite; do
		case $suite in
		unit) run_unit ;;
		replay) run_replay ;;
		golden) run golden 300 scripts/golden-run.sh "$build" ;;
		mutate) run_mutate ;;
		layers) run layers 300 scripts/check-layers.sh "$build" ;;
		e2e) run_e2e ;;
		waits | go) run_bats "$suite" ;;
		live) run_live ;;
		kernels) run_kernels 2400 tests/lab/kernels/programs.bats tests/lab/kernels/kernels.bats ;;
		kernels-load) run_kernels 720 tests/lab/kernels/programs.bats ;;
		kernels-aarch64) run_kernels_aarch64 ;;
		--wait) finish_beside ;;
		--) break ;;
		*)
			[ -d "$suite" ] || {
				echo "run-tests.sh: no such suite or folder: $suite" >&2
				exit 2
			}
			set_build "$suite" ;;
		esac
	done
}

# start_beside WORD... - runs these suites in the background, up to "--".
start_beside() {
	(
		trap - EXIT
		run_suites "$@"
	) >"$work/beside" 2>&1 &
	beside=$!
}

# Shows what ran beside; if it did not come to its end, it has failed.
finish_beside() {
	[ -n "$beside" ] || return 0
	status=0
	wait "$beside" || status=$?
	beside=
	cat "$work/beside"
	[ "$status" -eq 0 ] || end_early "suites that ran beside (status $status)"
}

if [ "${1:-}" = --beside ]; then
	shift
	start_beside "$@"
	while [ $# -gt 0 ] && [ "$1" != -- ]; do shift; done
fi
[ "${1:-}" != -- ] || shift
run_suites "$@"
finish_beside

# The end of a long log shows which tests failed.
if [ -s "$work/failures" ]; then
	echo "What failed:"
	cat "$work/failures"
fi
# shellcheck disable=SC2046 # three numbers
set -- $(awk '{ passed += $1; failed += $2; skipped += $3 } END { print passed + 0, failed + 0, skipped + 0 }' "$work/results")
left_out=$(awk '{ sum += $1 } END { print sum + 0 }' "$work/left_out")
[ "$left_out" -eq 0 ] || echo "$left_out long tests were left out: make check-long runs them"
echo "took $(($(date +%s) - start_s)) s; the output of each test is in test-logs/ of the build folder"
echo "$1 passed, $2 failed, $3 skipped"
[ "$2" -eq 0 ]
