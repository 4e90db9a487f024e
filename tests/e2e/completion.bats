#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
# What a shell offers is what the help lists.

# shellcheck source=tests/helper.bash
. "$BATS_TEST_DIRNAME/../helper.bash"

# offered WORD... - what bash offers for the last of the words.
offered() {
	bash -c '
		. "$1"
		shift
		COMP_WORDS=("$@")
		COMP_CWORD=$(($# - 1))
		_ebprec
		printf "%s\n" "${COMPREPLY[@]}"
	' bash "$BATS_TEST_DIRNAME/../../scripts/completions/ebprec.bash" "$@"
}

@test "bash: commands by their beginning" {
	same "report" "$(offered ebprec rep)"
	same "summary" "$(offered ebprec summ)"
	same "diff" "$(offered ebprec help dif)"
	same "" "$(offered ebprec zzz)"
}

@test "bash: options of the command" {
	same $'--callees\n--callers' "$(offered ebprec report --calle | sort)"
	same "--fail-above" "$(offered ebprec diff --fail)"
	same "" "$(offered ebprec slice --callers)"
	for option in $(ebprec export --help | grep -oE '^ +(-., )?--[a-z-]+' | grep -oE -- '--[a-z-]+'); do
		contains " $(offered ebprec export -- | tr '\n' ' ')" " $option "
	done
}

@test "bash: files" {
	cd "$BATS_TEST_TMPDIR" || return
	: >capture.data
	same "capture.data" "$(offered ebprec report capt)"
}
