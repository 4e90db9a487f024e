#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
# A shell offers what the help lists.

# shellcheck source=tests/lib/helper.bash
. "$BATS_TEST_DIRNAME/../../lib/helper.bash"

# offered WORD... - what bash offers for the last of the words.
offered() {
	bash -c '
		. "$1"
		shift
		COMP_WORDS=("$@")
		COMP_CWORD=$(($# - 1))
		_ebprec
		printf "%s\n" "${COMPREPLY[@]}"
	' bash "$BATS_TEST_DIRNAME/../../../scripts/completions/ebprec.bash" "$@"
}

@test "bash: commands by their beginning" {
	same "report" "$(offered ebprec rep)"
	same "summary" "$(offered ebprec summ)"
	same "top" "$(offered ebprec to)"
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

@test "bash: the value of an option is a file, and each switch can be taken back" {
	cd "$BATS_TEST_TMPDIR" || return
	: >-o.data
	same "-o.data" "$(offered ebprec slice -i -o.)"
	same "--no-idle" "$(offered ebprec report --no-i | sort)"
	same "" "$(offered ebprec slice --no-l)"
}

# The shells themselves are asked, with the files that are installed.
fish_offers() {
	HOME=$BATS_TEST_TMPDIR fish --no-config -c "source '$scripts/ebprec.fish'; complete -C '$1'" | cut -f 1
}

zsh_offers() {
	mkdir -p "$BATS_TEST_TMPDIR/zsh"
	HOME=$BATS_TEST_TMPDIR timeout 60 zsh -f "$BATS_TEST_DIRNAME/offers.zsh" "$scripts" \
		"$BATS_TEST_TMPDIR/zsh" "$1"
}

bash_offers() {
	# shellcheck disable=SC2086 # words
	offered $1
}

@test "bash, zsh and fish offer the same commands and options" {
	scripts=$BATS_TEST_DIRNAME/../../../scripts/completions
	for shell in fish zsh bash; do
		same "summary" "$(${shell}_offers "ebprec summ")"
		same "diff" "$(${shell}_offers "ebprec help dif")"
		same $'--callees\n--callers' "$(${shell}_offers "ebprec report --calle" | sort -u)"
		same "--no-idle" "$(${shell}_offers "ebprec report --no-i" | sort -u)"
	done
	table=$(ebprec diff --help=lines)
	want=$({ cut -f 2 <<<"$table"; pick_fields -F '\t' 4 switch 2 <<<"$table" | sed 's/^--/--no-/'; } | sort -u)
	for shell in fish zsh bash; do
		same "$want" "$(${shell}_offers "ebprec diff --" | sort -u)"
	done
}
