#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
#
# lint.sh [TOOL...] - clang-format, the glossary's words, cppcheck, clang-tidy, gcc's analyzer, shellcheck, programs in bats
#
# Prints only what is wrong; status 1 when anything is.  FIX=1 lets clang-format rewrite.
set -eu

cd "$(dirname "$0")/.."
[ $# -gt 0 ] || set -- format words shell cppcheck tidy analyzer
status=0
jobs=$(nproc)

# files PATTERN - the project's files whose path matches.
files() {
	scripts/list-files.sh | grep -E "$1" || true
}

c_files() {
	files '\.[ch]$'
}

# The sources for analyzers: C for the machine itself, not for BPF.  Not unit tests: analyzers do not
# know that an assertion of cmocka which fails does not return.  Not fixtures: they are malformed on purpose.
units() {
	files '\.c$' | grep -vE '\.bpf\.c$|^tests/(unit|lib/fixtures)/' || true
}

lint_format() {
	if [ -n "${FIX:-}" ]; then
		c_files | xargs -r clang-format -i
	else
		c_files | xargs -r clang-format --dry-run -Werror
	fi
}

lint_shell() {
	scripts/check-bats.sh || return 1
	files '\.(sh|bats|bash)$|^scripts/(deps|test|try)$|^\.ci/run$|^tests/lab/(bench|compare)/run$|^tests/lab/kernels/' | xargs -r shellcheck -x -e SC2030,SC2031,SC2119,SC2120 # bats runs each test apart; arguments may be optional
}

lint_cppcheck() {
	units | xargs -r cppcheck --quiet --std=c11 --language=c -I. -Ibuild --error-exitcode=1 \
		-j "$jobs" --enable=warning,performance,portability --inline-suppr \
		--suppress=missingIncludeSystem --suppress=allocaCalled --suppress=normalCheckLevelMaxBranches \
		--suppress='*:*/usr/include/*' --suppress='*:build/*' \
		-D_GNU_SOURCE -D__linux__ -D__x86_64__ -DEBPREC_VERSION='""' \
		'-Dbpf_object__for_each_program(pos,obj)=for ((pos) = NULL; (obj) && (pos);)' \
		'-DLIBBPF_OPTS(type,name,...)=struct type name = { __VA_ARGS__ }'
}

lint_tidy() {
	# shellcheck disable=SC2016 # the inner shell expands
	units | xargs -r -n 1 -P "$jobs" sh -c 'clang-tidy --quiet "$@" -- -std=gnu11 -D_GNU_SOURCE \
		-DEBPREC_VERSION=\"\" -I. -Ibuild -Wno-unknown-warning-option 2>&1 |
		grep -vE "^[0-9]+ warnings? (generated|treated)|^Suppressed|^Use -header-filter" |
		sed "s|^$PWD/||" | awk "{ print; n++ } END { exit n > 0 }"' lint
}

# Known reports that are no mistake stand in scripts/analyzer-known, without the number of a line.
lint_analyzer() {
	# shellcheck disable=SC2016 # the inner shell expands
	units | grep -E '^(format|record|analyze)/' | xargs -r -n 1 -P "$jobs" sh -c 'gcc -std=gnu11 -D_GNU_SOURCE \
		-DEBPREC_VERSION=\"\" -I. -Ibuild -O1 -fanalyzer -fdiagnostics-plain-output -c -o /dev/null "$1" 2>&1 |
		grep -a "Wanalyzer-" | sed "s|^\./||"' lint | awk '
		FNR == NR { if (!/^#/ && NF) { gsub(/_[0-9]+/, "_N"); known[$0] = 1 }; next }
		{
			key = $0
			sub(/(:[0-9]+:[0-9]+)?: warning:/, ":", key)
			gsub(/_[0-9]+/, "_N", key) # gcc numbers what it made
			any = key
			sub(/^[^:]*:/, "*:", any)
			if (!(key in known) && !(any in known)) { print; n++ }
		}
		END { exit n > 0 }' scripts/analyzer-known -
}

lint() {
	case $1 in
	format) lint_format ;;
	words) scripts/check-words.sh ;;
	shell) lint_shell ;;
	cppcheck) lint_cppcheck ;;
	tidy) lint_tidy ;;
	analyzer) lint_analyzer ;;
	*)
		echo "lint.sh: no such tool: $1" >&2
		return 1 ;;
	esac
}

for tool; do
	if lint "$tool"; then
		echo "$tool: clean"
	else
		echo "$tool: not clean"
		status=1
	fi
done
exit $status
