#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
#
# golden-run.sh BIN_DIR [NAME...] - runs commands and compares every byte they print
#
# A case is a folder tests/golden/NAME with `cmd` (a piece of shell, run in that folder, with
# ebprec and the generators in PATH and $TMP an empty folder) and `expected`: its standard output,
# then its standard error with "stderr: " before each line, then "exit: N" unless N is 0.
# With EMULATOR in the environment, a command, it runs these programs.
# UPDATE=1 rewrites `expected`; read the diff before you commit it.  Prints TAP.
set -eu

bin=$(cd "$1" && pwd)
shift
cd "$(dirname "$0")/../tests"
mkdir -p golden
cd golden
[ $# -gt 0 ] || set -- */

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export LC_ALL=C TZ=UTC COLUMNS=80 NO_COLOR=1
if [ -n "${EMULATOR:-}" ]; then
	mkdir "$work/run"
	export EBPREC_SANDBOX=0 # emulators of programs take no seccomp filter
	for program in "$bin/ebprec" "$bin"/tests/lib/gen/gen_*; do
		case $program in *.*) continue ;; esac
		printf '#!/bin/sh\nexec %s %s "$@"\n' "$EMULATOR" "$program" >"$work/run/${program##*/}"
	done
	chmod +x "$work/run"/*
	export PATH="$work/run:$PATH"
else
	export PATH="$bin:$bin/tests/lib/gen:$PATH"
fi

limit_s=60
[ -z "${EMULATOR:-}" ] || limit_s=360

# Writes what the case NAME prints to $work/got.
run_case() {
	rm -rf "$work/tmp"
	mkdir "$work/tmp"
	status=0
	(cd "$1" && TMP=$work/tmp timeout "$limit_s" sh -eu ./cmd) >"$work/out" 2>"$work/err" </dev/null ||
		status=$?
	{
		cat "$work/out"
		sed 's/^/stderr: /' "$work/err"
		[ "$status" -eq 0 ] || echo "exit: $status"
	} | sed "s|$work/tmp|\$TMP|g" >"$work/got"
}

count=0
failed=0
for name; do
	name=${name%/}
	[ -f "$name/cmd" ] || continue
	count=$((count + 1))
	run_case "$name"
	if [ -n "${UPDATE:-}" ]; then
		cp "$work/got" "$name/expected"
	fi
	if diff -u "$name/expected" "$work/got" >"$work/diff" 2>&1; then
		echo "ok $count - $name"
	else
		echo "not ok $count - $name"
		head -60 "$work/diff" | sed 's/^/# /'
		failed=$((failed + 1))
	fi
done
echo "1..$count"
[ "$failed" -eq 0 ]
