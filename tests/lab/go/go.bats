#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
# Programs of Go: their tables against .debug_frame and .symtab, names and lines without symbols, and the shares
# of callers that have no frame between them and what they call.

load ../../lib/helper

setup_file() {
	cd "$BATS_FILE_TMPDIR" || return
	export GOCACHE=$BATS_FILE_TMPDIR/cache GOFLAGS=-mod=mod CGO_ENABLED=0
	go build -o shares "$BATS_TEST_DIRNAME/shares.go"
	go build -ldflags='-s -w' -o stripped "$BATS_TEST_DIRNAME/shares.go"
	go build -buildmode=pie -ldflags='-s -w' -o stripped_pie "$BATS_TEST_DIRNAME/shares.go"
	go build -buildmode=pie -o pie "$BATS_TEST_DIRNAME/shares.go"
	CGO_ENABLED=1 go build -ldflags=-linkmode=external -o external "$BATS_TEST_DIRNAME/shares.go"
}

setup() {
	need_bpf
	cd "$BATS_FILE_TMPDIR" || return
}

# percent FUNCTION - its total share, as an integer
percent() {
	ebprec report -q --dso shares -i go.data 2>/dev/null |
		pick_fields NF "$1" 2 | sed 's/\..*//'
}

@test "tables are the same as .debug_frame and .symtab" {
	run oracle_go shares pie external
	[ "$status" -eq 0 ] || fail "$output"
}

@test "callers of a function without a frame have their shares" {
	ebprec record -q -F 997 -o go.data -- ./shares
	[ "$(percent main.thirty)" -ge 20 ] || fail "$(ebprec report -i go.data)"
	[ "$(percent main.thirty)" -le 40 ] || fail "$(ebprec report -i go.data)"
	[ "$(percent main.seventy)" -ge 55 ] || fail "$(ebprec report -i go.data)"
}

@test "stacks of Go's programs are complete, stripped or not" {
	for program in shares stripped pie external; do
		ebprec record -q -F 997 -o go.data -- ./$program
		run ebprec report -i go.data
		[[ $output =~ "these complete ("([0-9]+) ]] || fail "$program: $output"
		[ "${BASH_REMATCH[1]}" -ge 90 ] || fail "$program: $output"
	done
}

@test "a stripped program has its names, here and in a bundle" {
	for program in stripped stripped_pie; do
		ebprec record -q -F 997 -o names.data -- ./$program
		ebprec report -q --dso $program -i names.data >at_home 2>/dev/null
		grep -q ' main\.spin$' at_home || fail "$program: $(cat at_home)"
		grep -q ' main\.thirty$' at_home || fail "$program: $(cat at_home)"
		grep -q ' main\.seventy$' at_home || fail "$program: $(cat at_home)"
		[ "$(grep -c "\[$program\]" at_home)" -eq 0 ] || fail "$program: $(cat at_home)"
		ebprec report --symbols-report -i names.data 2>/dev/null >sources
		grep -q "$program.*Go's table" sources || fail "$(cat sources)"
		mkdir -p empty
		ebprec bundle -i names.data -o bundled.data
		ebprec report -q --dso $program --symfs empty -i bundled.data 2>/dev/null >bundled
		diff at_home bundled
	done
}

# lines_of FILE - the lines of what is in the file addresses, by the table of FILE.
lines_of() {
	chains --go "$1" <addresses | each_nth 3 2
}

@test "lines of a stripped program are those of go tool addr2line" {
	# It knows a PIE by the section's other name alone.
	objcopy --rename-section .data.rel.ro.gopclntab=.gopclntab pie renamed
	for pair in "shares stripped" "renamed stripped_pie"; do
		read -r full bare <<<"$pair"
		# The first bytes of each function, and some further in: some are in the next one, or in none.
		go tool nm -type "$full" | grep -i ' t ' | awk '{ print $1 }' | sort |
			perl "$BATS_TEST_DIRNAME/further_in.pl" >addresses
		go tool addr2line "$full" <addresses | each_nth 2 | sed 's/^:-1$\|^?:0$/??:0/' >theirs
		[ "$(grep -vc '^??' theirs)" -gt 5000 ] || fail "$full: $(head theirs)"
		lines_of "$full" | cmp - theirs
		lines_of "$bare" | cmp - theirs
	done
}

@test "a report of a stripped program has its lines, and what is bundled, too" {
	ebprec record -q -F 997 -o lines.data -- ./stripped
	ebprec report -q --lines --dso stripped -i lines.data 2>/dev/null >at_home
	spins=$(grep -n 's += i \* i' "$BATS_TEST_DIRNAME/shares.go" | cut -d : -f 1)
	grep -Eq " main\.spin +shares\.go:($spins|$((spins - 1)))$" at_home || fail "$(cat at_home)"
	grep -q ' main\.seventy  *shares\.go:' at_home || fail "$(cat at_home)"
	mkdir -p empty
	ebprec bundle -q --lines -i lines.data -o bundled.data
	ebprec report -q --lines --dso stripped --symfs empty -i bundled.data 2>/dev/null >away
	diff at_home away
}

@test "a name is the one of the program that was not stripped" {
	# The kernel finds the build-id that gcc's linker writes, not that of Go's.
	CGO_ENABLED=1 go build -ldflags='-linkmode=external -extldflags=-Wl,--build-id' -o twin \
		"$BATS_TEST_DIRNAME/shares.go"
	ebprec record -q -F 997 -o twin.data -- ./twin
	mkdir -p "bare$PWD"
	strip -o "bare$PWD/twin" twin
	ebprec report -q --dso twin -i twin.data 2>/dev/null | grep -E ' (main|runtime)\.' >at_home
	ebprec report -q --dso twin --symfs bare -i twin.data 2>/dev/null |
		grep -E ' (main|runtime)\.' >by_table
	grep -q ' main\.spin$' at_home || fail "$(cat at_home)"
	diff <(sed 's/\.abi0$//' at_home) by_table
}

@test "while the garbage collector works most stacks are complete" {
	ebprec record -q -F 997 -o go.data -- ./shares allocate
	run ebprec report -i go.data
	[[ $output =~ "these complete ("([0-9]+) ]] || fail "$output"
	[ "${BASH_REMATCH[1]}" -ge 60 ] || fail "$output"
	# No other way to build it would mend these stacks.
	[[ $output = *"Go goes on upon another stack here"* ]] || fail "$output"
}
