#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
#
# list-includes.sh - each include of a file of another folder: FILE:LINE FOLDER INCLUDED_FOLDER
#
# Generated skeletons and tables lie in the build folder at the place of what they are made of.
set -eu

cd "$(dirname "$0")/.."
# shellcheck disable=SC2016 # for awk
scripts/list-files.sh | grep -E '^(format|record|analyze|bpf)/.*\.[ch]$' | xargs -r awk '
	function folder_of(path) { sub(/\/[^\/]*$/, "", path); return path }
	/^[ \t]*#[ \t]*include[ \t]*"/ {
		split($0, quoted, "\"")
		if (folder_of(FILENAME) != folder_of(quoted[2]))
			print FILENAME ":" FNR, folder_of(FILENAME), folder_of(quoted[2])
	}'
