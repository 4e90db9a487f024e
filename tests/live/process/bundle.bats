#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
# It runs alone: it looks at the names of all programs that are recorded, and those of interpreters come with the recording
# A report of a bundled capture is the same elsewhere, byte for byte, as on the machine that recorded it.

# shellcheck source=tests/lib/helper.bash
. "$BATS_TEST_DIRNAME/../../lib/helper.bash"

setup() {
	need_bpf
	cd "$BATS_TEST_TMPDIR" || return
	mkdir empty
}

# away ARGS... - a report with no file of this machine.
away() {
	HOME=/nowhere ebprec report --symfs "$PWD/empty" "$@" 2>/dev/null
}

load_of_all_kinds() {
	cp "$(command -v shares)" ./mine
	echo 'BEGIN { for (i = 0; i < 3e5; i++) h[i] = i }' >hash.awk
	ebprec record -q -a -F 997 -o x.data -- sh -c '
		./mine 0.4; awk -f hash.awk; xz -0c /bin/bash | md5sum; ls -lR /etc >/dev/null' >/dev/null
}

# bats test_tags=long
@test "a bundled capture alone gives the same folded stacks and functions" {
	load_of_all_kinds
	ebprec report --folded -i x.data >home.folded 2>/dev/null
	ebprec report -i x.data >home.flat 2>/dev/null
	ebprec report --folded --no-demangle -i x.data >home.raw 2>/dev/null
	away --folded -i x.data >bare.folded
	cmp -s home.folded bare.folded && fail "nothing needs a file"
	cp x.data bundled.data
	ebprec bundle -q bundled.data
	# 30 to 60 KB, of ten times the default rate; a bundled capture of 10 s is to stay under 5 MB.
	[ $(($(stat -c %s bundled.data) - $(stat -c %s x.data))) -lt 1000000 ]
	rm mine
	away --folded -i bundled.data >away.folded
	cmp home.folded away.folded
	away -i bundled.data >away.flat
	cmp home.flat away.flat
	away --folded --no-demangle -i bundled.data >away.raw
	cmp home.raw away.raw
	# Bundling again, elsewhere, loses nothing.
	HOME=/nowhere ebprec bundle -q --symfs "$PWD/empty" -o twice.data bundled.data
	away --folded -i twice.data >twice.folded
	cmp home.folded twice.folded
	# It is still a capture, and perf reads it.
	contains "$(ebprec info twice.data)" "finished"
	need_perf
	same "$(perf script -i x.data 2>/dev/null | grep -c .)" "$(perf script -i twice.data 2>/dev/null | grep -c .)"
}

@test "record --bundle bundles the capture at its end" {
	cp "$(command -v shares)" ./mine
	ebprec record -q --bundle -F 997 -o x.data -- ./mine 0.4 >/dev/null
	rm mine
	away --folded -i x.data >folded
	grep -q 'main;outer;inner' folded || fail "$(cat folded)"
}

# bats test_tags=long
@test "record --bundle --rotate bundles each of the files that it leaves, and names the first and the last" {
	local files last
	cp "$(command -v shares)" ./mine
	# shellcheck disable=SC2016 # for the inner shell
	ebprec record --bundle --rotate 1s,3 -F 997 -o x.data -- \
		sh -c './mine 600 >/dev/null & for i in $(seq 300); do [ ! -e x.data.4 ] || break; sleep 0.1; done; kill $!' 2>err
	rm mine
	mapfile -t files < <(find . -name 'x.data*' -printf '%f\n' | sort -t . -k 3n)
	same 3 "${#files[@]}"
	last=${files[2]}
	contains "$(cat err)" " MiB in 3 files, ${files[0]} to $last, "
	for file in "${files[@]}"; do
		ebprec bundle --list "$file" >list
		# The last one may be of a moment, in which others ran.
		[ "$file" = "$last" ] || grep -q '/mine' list || fail "$file: $(cat list)"
		[ "$file" = "$last" ] || away --folded -i "$file" | grep -q 'main;outer;inner' || fail "$file has no names"
	done
}

@test "record --html writes the page of its recording, or fails before it where it cannot" {
	ebprec record -q --html x.html --bundle -F 997 -o x.data -- ls -R /usr/include >/dev/null
	ebprec report -q --html again.html x.data
	cmp x.html again.html
	mkdir folder
	for page in folder nosuch/x.html x.html/x.html; do
		run --separate-stderr ebprec record -q --html "$page" -o y.data -- touch ran
		same 1 "$status"
		same 1 "$(wc -l <<<"$stderr")"
		contains "$stderr" "cannot write '$page': "
		[ ! -e ran ] || fail "$page: it was recorded first"
		[ ! -e y.data ] || fail "$page: there is a capture"
	done
	for words in "-o -" "--ring 1s" "--rotate 1s" "-o x.html"; do
		# shellcheck disable=SC2086 # words
		run ebprec record -q --html x.html $words -- true
		same 2 "$status"
	done
}

@test "record --bundle has the names of a program whose file was deleted before" {
	cp "$(command -v shares)" ./mine
	# No other folder has a file of this build.
	objcopy --update-section .note.gnu.build-id=<(printf '\4\0\0\0\24\0\0\0\3\0\0\0GNU\0'; head -c 20 /dev/urandom) mine mine.new
	mv mine.new mine
	./mine 20 >/dev/null &
	pid=$!
	await test "/proc/$pid/exe" -ef mine
	rm mine
	ebprec record -q --bundle -F 997 -d 0.4 -o x.data -p "$pid"
	kill "$pid"
	away --folded -i x.data >folded
	grep -q 'main;outer;inner' folded || fail "$(cat folded)"
	same "" "$(ls -d x.data.* 2>/dev/null)"
}

# own_builds with|without - mine, which no debug folder knows: with a build-id of its own, or without.  And other.o, of the
# same size and time, with another name for the same code.
own_builds() {
	for to in mine other.o; do
		case $1 in
		with) objcopy --update-section .note.gnu.build-id=<(printf '\4\0\0\0\24\0\0\0\3\0\0\0GNU\0'; head -c 20 /dev/urandom) "$(command -v shares)" $to ;;
		without) objcopy --remove-section .note.gnu.build-id "$(command -v shares)" $to ;;
		esac
	done
	objcopy --redefine-sym outer=other other.o
	touch -r mine other.o
	same "$(stat -c %s mine)" "$(stat -c %s other.o)"
}

# bats test_tags=long
@test "record --bundle has the names of a program that is replaced while it is recorded" {
	for id in with without; do
		own_builds $id
		cat >replace <<-'END'
			./mine 0.6 >/dev/null &
			sleep 0.3
			mv other.o mine
			wait
		END
		ebprec record -q --bundle -F 997 -o x.data -- sh replace
		away --folded -i x.data >folded
		grep -q 'main;outer;inner' folded || fail "$id a build-id: $(cat folded)"
		grep -q 'other;inner' folded && fail "names of the new file: $(cat folded)"
		same "" "$(ls -d x.data.gone* 2>/dev/null)"
	done
}

@test "record --bundle has the names of a deleted program without a build-id" {
	own_builds without
	./mine 20 >/dev/null &
	pid=$!
	await test "/proc/$pid/exe" -ef mine
	mv other.o mine
	ebprec record -q --bundle -F 997 -d 0.4 -o x.data -p "$pid"
	kill "$pid"
	away --folded -i x.data >folded
	grep -q 'main;outer;inner' folded || fail "$(cat folded)"
}

@test "a scrubbed bundle has the same tables, and other addresses" {
	load_of_all_kinds
	ebprec bundle -q x.data
	away --folded -i x.data >home.folded
	printf 'sixteen letters and more' >key
	ebprec scrub -q --key-file key --keep host -o clean.data x.data
	away --folded -i clean.data >clean.folded
	cmp home.folded clean.folded
	ebprec script x.data 2>/dev/null | grep -o '\bffffffff[89ab][0-9a-f]*\b' | sort -u >was
	ebprec script clean.data 2>/dev/null | grep -o '\bffffffff[89ab][0-9a-f]*\b' | sort -u >is
	same "$(wc -l <was)" "$(wc -l <is)"
	ebprec scrub -q --check "$BATS_TEST_TMPDIR/no-such" clean.data
	# Command lines had the name of awk's program; sched events still go with their threads.
	refuses ebprec scrub --check '[h]ash.awk' x.data
	ebprec scrub -q --check '[h]ash.awk' clean.data
	same "$(ebprec sched x.data 2>/dev/null | awk '{ print $1, $2 }' | sort)" \
		"$(ebprec sched clean.data 2>/dev/null | awk '{ print $1, $2 }' | sort)"
	need_perf
	same "$(perf script -i x.data 2>/dev/null | grep -c .)" "$(perf script -i clean.data 2>/dev/null | grep -c .)"
}

@test "bundle --list prints the bundled files" {
	load_of_all_kinds
	ebprec bundle --list x.data >none 2>err
	contains "$(cat err)" "no names are bundled"
	ebprec bundle -o b.data x.data 2>messages
	ebprec bundle --list b.data >list
	contains "$(cat list)" "/mine"
	contains "$(cat list)" "build-id"
	ebprec bundle --list --json b.data | jq -e '(.files | length) > 2 and .files[0].stored_bytes > 0'
	# Samples and switches have stacks in the same files: each is there once.
	contains "$(cat messages)" "names of $(sed 1,2d list | grep -c .) files,"
	same "" "$(ebprec bundle --list --json b.data | jq -r '.files[].build_id // empty' | sort | uniq -d)"
	[ "$(stat -c %s b.data)" -lt $(($(stat -c %s x.data) * 2)) ] || fail "$(ls -l)"
}

@test "a capture that cannot be bundled is reported in one line, and stays as it is" {
	refuses ebprec bundle nowhere.data
	gen_capture -o live.data --samples 10
	head -c 3000 live.data >cut.data
	sum=$(md5sum <cut.data)
	refuses ebprec bundle cut.data
	contains "$stderr" "cut.data'"
	contains "$stderr" "it ends inside its head, at byte 3000"
	same "$sum" "$(md5sum <cut.data)"
	need_perf
	perf record -q -o perf.data true 2>/dev/null
	refuses ebprec bundle perf.data
	contains "$stderr" "perf's file"
}
