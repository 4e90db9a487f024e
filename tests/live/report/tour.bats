#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
# The tour of README.md: each command in it runs on a real recording, and has an answer.
# runs beside others: it reads what commands print

# shellcheck source=tests/lib/helper.bash
. "$BATS_TEST_DIRNAME/../../lib/helper.bash"

@test "the commands of the README's tour" {
	need_bpf
	readme=$BATS_TEST_DIRNAME/../../../README.md
	cd "$BATS_TEST_TMPDIR" || return
	cat >work.sh <<-'END'
		cc -v 2>/dev/null
		python3 -c 'sum(i * i for i in range(4000000))'
		head -c 30000000 /dev/zero | openssl sha256
		cat /usr/lib/x86_64-linux-gnu/libc.so.6 | xz -1 | wc -c
	END
	# The part before the links is two screens.
	[ "$(sed '/^## More/,$d' "$readme" | wc -l)" -le 80 ]
	sed -n '/^## Five questions/,/^## Compared/s/^# \(ebprec .*\)/\1/p' "$readme" >commands
	[ "$(wc -l <commands)" -ge 7 ] || fail "no tour: $(cat commands)"
	while read -r command; do
		bash -c "$command" >out 2>err </dev/null || fail "$command: $(cat err)"
		cat out err >both
		[ "$(wc -l <both)" -ge 1 ] || fail "$command: no answer"
		# Some machines hide switches of the program that a test was started by.
		if grep -v "contradict each other" err | grep -E "cannot|unknown"; then fail "$command: $(cat err)"; fi
	done <commands
}
