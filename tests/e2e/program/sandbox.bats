#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
# Commands that read captures are confined, as a tracer of system calls sees it.

# shellcheck source=tests/lib/helper.bash
. "$BATS_TEST_DIRNAME/../../lib/helper.bash"

setup() {
	cd "$BATS_TEST_TMPDIR" || return
	gen_capture -o good.data --samples 500 --flush 100 --object 1000
	ebprec doctor | grep -q '^works  *sandbox ' || skip "no sandbox here: $(ebprec doctor | grep -A1 sandbox)"
}

# calls CMD... - its system calls, in the file calls: each with its thread before it, the first of them first.  One file a
# thread, as calls of two at a time would be cut in two lines each.
calls() {
	local first file
	rm -f call.*
	strace -ff -o call "$@" >out 2>err || fail "$(cat err)"
	first=$(grep -l '^execve(' call.*)
	for file in "$first" $(find . -name 'call.*' ! -name "$first"); do
		sed "s/^/${file##*.} /" "$file"
	done >calls
}

# enters - the file calls shows both parts, by the process itself, before the capture was opened
enters() {
	local landlock seccomp opened rule
	grep "^$(head -n 1 calls | cut -d' ' -f1) " calls >own
	landlock=$(grep -nE 'landlock_restrict_self\(.* = 0$' own | tail -n 1)
	seccomp=$(grep -nE 'prctl\(PR_SET_SECCOMP, .* = 0$|seccomp\(SECCOMP_SET_MODE_FILTER.* = 0$' own | tail -n 1)
	opened=$(grep -nE 'openat\(.*good\.data", O_RDONLY[|A-Z_]*\) = [0-9]' own | grep -v O_PATH | head -n 1)
	for rule in "$landlock" "$seccomp"; do
		[[ -n $rule && -n $opened && ${rule%%:*} -lt ${opened%%:*} ]] ||
			fail "$(grep -n 'landlock\|SECCOMP\|good.data' calls)"
	done
}

# rules PATTERN - the paths of rules, of all processes, that match
rules() {
	grep -B2 landlock_add_rule calls | sed -n 's/.*openat(AT_FDCWD, "\([^"]*\)", .*O_PATH.*/\1/p' | grep -x "$1" || true
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

@test "an expression that is longer than the name of a file can be is matched, inside and outside" {
	local length expression
	for length in 300 5000; do
		expression=$(printf "x|%.0s" $(seq $((length / 2))))
		for place in 1 0; do
			EBPREC_SANDBOX=$place ebprec report -q --folded --symbol "!^(${expression}x)\$" good.data | cmp - <(ebprec report -q --folded good.data)
		done
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

# writes - what the file calls shows to have been opened for writing, and was not made by that call
writes() {
	sed -n '/SECCOMP/,$p' calls | grep 'openat(.*\(O_WRONLY\|O_RDWR\).*) = [0-9]' | grep -v '"/dev/null"\|O_CREAT|O_EXCL\|O_TMPFILE' || true
}

@test "each command that writes a file makes it, and opens no other for writing" {
	cp good.data two.data
	cp good.data cut.data
	truncate -s -100 cut.data
	mkdir made
	for command in "slice --time 10%-50% -i good.data -o made/slice" "merge -o made/merge good.data two.data" \
		"scrub -i good.data -o made/scrub" "bundle -i good.data -o made/bundle" "recover -o made/recover cut.data" \
		"export --to pprof -i good.data -o made/pprof" "report --svg made/svg -i good.data" \
		"report --html made/html -i good.data"; do
		made=${command#*made/}
		for turn in new replaced; do
			# shellcheck disable=SC2086 # words
			calls ebprec $command
			[ -s "made/${made%% *}" ] || fail "$turn: $command"
			same "" "$(writes)"
		done
	done
	# In its place a file is mended as it is.
	calls ebprec recover -q cut.data
	contains "$(writes)" "cut.data"
}

@test "with --symfs only what was named is read" {
	mkdir root
	calls ebprec report --symfs root -i good.data
	enters
	same "" "$(rules /)"
	same "root" "$(rules root | sort -u)"
}

@test "commands that name no functions read their input and the system's libraries alone" {
	cp good.data two.data
	for command in "info good.data" "slice --time 10%-50% -i good.data -o out.data" "merge -o both.data good.data two.data"; do
		# shellcheck disable=SC2086 # words
		calls ebprec $command
		for path in / /home "$HOME" /root /tmp /var /proc; do
			same "" "$(rules "$path")"
		done
		# And no other process is there to read for it.
		same 1 "$(grep landlock_restrict_self calls | awk '{ print $1 }' | sort -u | wc -l)"
	done
}

@test "programs are opened by a process of their own, the one that reads the capture may not" {
	need_root
	cp "$(command -v shares)" mine
	ebprec record -q -F 997 -o named.data -- ./mine 1 >shown || skip "nothing can be recorded here"
	# A file is looked at (O_PATH) and then opened by the descriptor of that; the reader's rules do not cover the folder.
	calls ebprec report --folded -i named.data
	contains "$(cat out)" "main;"
	opener=$(sed -n 's/^\([0-9]*\) prctl(PR_SET_NAME, "ebprec-opener").*/\1/p' calls)
	looked=$(sed -n "s/^$opener openat.*\/mine\", .*O_PATH.* = \([0-9]*\)\$/\1/p" calls | head -n 1)
	same "$opener" "$(grep "open.*\"/proc/self/fd/$looked\", O_RDONLY.* = [0-9]*\$" calls | cut -d' ' -f1 | sort -u)"
	same "" "$(grep 'open.*/mine", ' calls | grep -v 'O_PATH\| = -1 ' || true)"
	ebprec report --folded --no-sandbox -i named.data >outside
	same "$(cat outside)" "$(cat out)"
}

@test "no file of a hostile path is read: neither text nor a memory image, with or without the sandbox" {
	need_root
	cp "$(command -v shares)" mine
	ebprec record -q -F 997 -o named.data -- ./mine 1 >shown || skip "nothing can be recorded here"
	printf 'secret%.0s' {1..2000} >mine
	for how in --sandbox --no-sandbox; do
		rm -f call.*
		strace -ff -e trace=read,pread64,mmap -y -o call ebprec report $how --folded -i named.data >out 2>err
		cat call.* >calls
		# Its first bytes are looked at, by each command that opens it.
		same "" "$(grep '/mine>' calls | grep -v 'pread64([0-9]*<.*/mine>, "secret.*", 18, 0) = 18' || true)"
	done
}

@test "a refused sandbox ends the command with one line, and --no-sandbox goes on" {
	for refused in landlock seccomp; do
		for command in "info good.data" "report -i good.data" "summary good.data"; do
			# shellcheck disable=SC2086 # words
			refuses forbidding $refused 1 ebprec $command
			# shellcheck disable=SC2154 # of refuses
			contains "$stderr" "ebprec: cannot enter the sandbox: "
			contains "$stderr" "(--no-sandbox reads without it)"
			# shellcheck disable=SC2086
			forbidding $refused 1 ebprec $command --no-sandbox >out 2>err
			# shellcheck disable=SC2086
			same "$(ebprec $command 2>/dev/null)" "$(cat out)"
		done
	done
	contains "$(forbidding seccomp 1 ebprec info good.data 2>&1)" "seccomp is refused: Operation not permitted"
	contains "$(forbidding landlock 1 ebprec doctor || true)" "landlock is refused"
}

@test "a kernel without landlock goes on with seccomp, and doctor reports it" {
	same "$(ebprec report -i good.data 2>/dev/null)" "$(forbidding landlock 38 ebprec report -i good.data 2>/dev/null)"
	forbidding landlock 38 ebprec export --to json -i good.data -o out.json
	[ -s out.json ]
	contains "$(forbidding landlock 38 ebprec doctor || true)" "seccomp alone"
}
