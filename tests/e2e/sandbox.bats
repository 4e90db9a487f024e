#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
# Commands that read captures are confined, as a tracer of system calls sees it.

# shellcheck source=tests/helper.bash
. "$BATS_TEST_DIRNAME/../helper.bash"

setup() {
	cd "$BATS_TEST_TMPDIR" || return
	gen_capture -o good.data --samples 500 --flush 100 --object 1000
	ebprec doctor | grep -q '^works  *sandbox ' || skip "no sandbox here: $(ebprec doctor | grep -A1 sandbox)"
}

# calls CMD... - its system calls, in the file calls
calls() {
	strace -f -o calls "$@" >out 2>err || fail "$(cat err)"
}

# enters - the file calls shows both parts, before the capture was opened
enters() {
	awk '
		/landlock_restrict_self\(.* = 0$/ { landlock = NR }
		/prctl\(PR_SET_SECCOMP, .* = 0$|seccomp\(SECCOMP_SET_MODE_FILTER.* = 0$/ { seccomp = NR }
		/openat\(.*good\.data", O_RDONLY[|A-Z_]*\) = [0-9]/ && !/O_PATH/ && !opened { opened = NR }
		END { exit !(landlock && seccomp && opened > landlock && opened > seccomp) }' calls ||
		fail "$(grep -n 'landlock\|SECCOMP\|good.data' calls)"
}

@test "each command that reads a capture enters the sandbox before it opens it" {
	calls ebprec summary good.data
	enters
	for command in report script info marks; do
		calls ebprec $command -i good.data
		enters
	done
	calls ebprec diff good.data good.data
	enters
	calls ebprec slice --time 10%-50% -i good.data -o sliced.data
	enters
	calls ebprec export --to json -i good.data -o exported.json
	enters
	[ -s sliced.data ] && [ -s exported.json ]
}

@test "--no-sandbox, anywhere, and EBPREC_SANDBOX=0 do without" {
	for command in "report --no-sandbox" "--no-sandbox summary" "export --no-sandbox --to folded"; do
		# shellcheck disable=SC2086 # words
		calls ebprec $command -i good.data
		same "" "$(grep 'landlock\|SECCOMP' calls || true)"
	done
	EBPREC_SANDBOX=0 calls ebprec report -i good.data
	same "" "$(grep 'landlock\|SECCOMP' calls || true)"
}

@test "answers are the same inside and outside" {
	for command in summary report "report --folded" script info; do
		# shellcheck disable=SC2086 # words
		ebprec $command -i good.data >in 2>in.err
		# shellcheck disable=SC2086
		ebprec $command --no-sandbox -i good.data >out 2>out.err
		cmp in out
		cmp in.err out.err
	done
}

@test "results go where they were sent: another folder, the place of the input, standard output" {
	mkdir there
	ebprec slice -q --time 10%-50% -i good.data -o there/x.data
	ebprec export --to folded -i good.data >f.txt
	[ -s there/x.data ] && [ -s f.txt ]
	cp good.data cut.data
	truncate -s -100 cut.data
	ebprec recover -q cut.data
	ebprec info cut.data | grep -q 'state *finished\|recovered'
	cd there
	ebprec export --to csv -i x.data -o ../y.csv
	[ -s ../y.csv ]
}

@test "with --symfs only what was named is read" {
	mkdir root
	calls ebprec report --symfs root -i good.data
	enters
	# The rules' folders: "/" is not among them.
	same "" "$(grep -B2 landlock_add_rule calls | grep 'openat(AT_FDCWD, "/", ' || true)"
	calls ebprec report -i good.data
	contains "$(grep -B2 landlock_add_rule calls)" 'openat(AT_FDCWD, "/", '
}
