#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
#
# list-files.sh - every file of the project: what git knows or would add; without git, all but the
# build
set -eu

cd "$(dirname "$0")/.."
if git rev-parse --git-dir >/dev/null 2>&1; then
	git ls-files -co --exclude-standard | while read -r f; do
		[ ! -f "$f" ] || echo "$f" # deleted, but not yet committed so
	done
else
	find . -type f ! -path './build/*' ! -path './.git/*' | sed 's|^\./||' | sort
fi
