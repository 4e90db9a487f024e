#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
#
# check-threads.sh BUILD_DIR SANITIZED_DIR TEST... - does the thread sanitizer find a race?
#
# Runs the unit tests that have threads, and commands on captures of many frames, in a build with
# -fsanitize=thread; one has so many samples of real files that they are counted by parts of code.
# The commands must print what the plain build prints.  A race ends a program with status 66.
set -eu

cd "$(dirname "$0")/.."
build=${1:?which build folder?}
sanitized=${2:?which folder of the sanitized build?}
shift 2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
# Some kernels place things where gcc 12's sanitizer does not look for them.
run="setarch -R env TSAN_OPTIONS=halt_on_error=1"

for test; do
	$run "$sanitized/$test" >"$work/printed" 2>&1 || {
		cat "$work/printed"
		exit 1
	}
	echo "${test##*/}: no race"
done

"$build/tests/lib/gen/gen_capture" -o "$work/a.data" --samples 60000 --depth 12 --pids 40 --flush 200
"$build/tests/lib/gen/gen_capture" -o "$work/b.data" --samples 50000 --depth 9 --pids 30 --flush 200
"$build/tests/lib/gen/gen_places" -b -c "$work/c.data" 4 "$(realpath "$build/ebprec")" \
	"$(ldd "$build/ebprec" | awk '/libc\.so/ { print $3 }')"
while read -r command; do
	# shellcheck disable=SC2086 # words
	"$build/ebprec" ${command%%#*} >"$work/plain" 2>&1
	# shellcheck disable=SC2086
	$run "$sanitized/ebprec" ${command%%#*} >"$work/printed" 2>&1 || {
		cat "$work/printed"
		exit 1
	}
	cmp "$work/plain" "$work/printed"
	echo "${command%% *}${command##*#}: no race, same text"
done <<END
report --folded -i $work/a.data# --folded
report --folded -i $work/c.data# --folded by parts
report --tree --sort pid,symbol -i $work/a.data# --tree
report --time 20%-30% -i $work/a.data# --time
summary -i $work/a.data#
diff $work/a.data $work/b.data#
export --to speedscope -i $work/a.data# speedscope
END

# Eight threads, each with handles of its own, through the header of the library alone.
${CC:-cc} -D_GNU_SOURCE -O1 -g -fsanitize=thread -Ianalyze/lib -o "$work/library_reader" tests/lib/fixtures/library_reader.c \
	"$sanitized/libebprec.so.0" -pthread
for file in "$work/a.data" "$work/c.data"; do
	LD_LIBRARY_PATH=$(realpath "$sanitized") $run "$work/library_reader" threads "$file" >"$work/printed" 2>&1 || {
		cat "$work/printed"
		exit 1
	}
	echo "libebprec, 8 handles, $(cat "$work/printed") samples: no race"
done
