#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
#
# mutate.sh BUILD_DIR random COUNT SEED | bytes - every command on damaged captures
#
# What a command says goes to BUILD_DIR/mutate/log, files that brought one down stay beside it.
# Work files are in memory where that can be: a command that writes makes sure of the disk.
set -eu

cd "$(dirname "$0")/.."
build=$1
how=$2
shift 2
findings=$build/mutate
work=$(mktemp -d -p "$([ -d /dev/shm ] && echo /dev/shm || echo "${TMPDIR:-/tmp}")")
trap 'rm -rf "$work"' EXIT
captures=tests/golden/captures
mkdir -p "$findings"
status=0
case $how in
random)
	"$build/tests/mutate/mutate" random "$1" "$2" "$work" $captures/whole.data \
		$captures/live.data 2>"$findings/log" || status=$?
	;;
bytes) "$build/tests/mutate/mutate" bytes "$work" $captures/live.data 2>"$findings/log" || status=$? ;;
*)
	echo "mutate.sh: random or bytes, not '$how'" >&2
	exit 2
	;;
esac
if [ "$status" -ne 0 ]; then
	cp "$work"/finding-* "$findings" 2>/dev/null || true
	echo "# kept in $findings"
fi
exit "$status"
