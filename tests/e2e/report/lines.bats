#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
# Inlined functions and source lines are those of addr2line, eu-addr2line and llvm-symbolizer.

load ../../lib/helper

setup() {
	cd "$BATS_TEST_TMPDIR" || return
	fixtures=$BUILD/tests/lib/fixtures
}

# places_of FILE STEP - of its instructions, each STEPth.
places_of() {
	objdump -d --no-show-raw-insn "$1" |
		sed -n 's/^ *\([0-9a-f][0-9a-f]*\):.*/0x\1/p' | each_nth "$2" 1
}

# blocks - cuts the output of addr2line -a into chains.
blocks() {
	sed '1{/^0x/d}; s/^0x.*//'
	echo
}

# built NAME OPTIONS... - the C++ program of many units' worth of inlining
built() {
	name=$1
	shift
	c++ -g -O2 "$@" -o "$name" "$sources/inlines.cpp"
}

@test "chains are those of three other tools" {
	command -v llvm-symbolizer >/dev/null || skip "needs llvm-symbolizer"
	# shellcheck disable=SC2094 # a function and a file
	places_of "$fixtures/inlines" 3 >addresses
	chains "$fixtures/inlines" <addresses >ours
	addr2line -afie "$fixtures/inlines" <addresses | blocks >binutils
	eu-addr2line -afie "$fixtures/inlines" <addresses | blocks >eu
	llvm-symbolizer --functions=linkage --no-demangle -e "$fixtures/inlines" <addresses >llvm
	read -r known all bad <<<"$(perl "$BATS_TEST_DIRNAME/chains.pl" ours binutils eu llvm)"
	[ "$known" -gt 150 ] || fail "only $known addresses have lines"
	[ "$bad" -eq 0 ] || fail "$bad of $known chains are like no two others"
	[ $((all * 100)) -gt $((known * 90)) ] || fail "only $all of $known are like all others"
}

@test "all addresses at once have the chains that they have one by one" {
	for program in inlines inlines.debug; do
		places_of "$fixtures/inlines" 1 >addresses
		chains "$fixtures/$program" <addresses >one
		chains --all "$fixtures/$program" <addresses >all 2>err
		cmp one all
		grep -q '^0 of ' err || fail "$(cat err)"
	done
}

@test "compressed debug sections have the same chains, those that are damaged leave it to libdw or have none" {
	places_of "$fixtures/inlines" 1 >addresses
	chains "$fixtures/inlines" <addresses >one
	for how in zlib zstd; do
		# binutils before 2.40 know no zstd
		objcopy --compress-debug-sections=$how "$fixtures/inlines" packed 2>err || { [ $how = zstd ] && continue; }
		readelf -SW packed | grep -q '\.debug_info .* C ' || fail "$how compressed nothing"
		chains --all packed <addresses >all 2>err
		cmp one all
		grep -q '^0 of ' err || fail "$how: $(cat err)"
	done
	objcopy --compress-debug-sections=zlib "$fixtures/inlines" packed
	read -r off size <<<"$(readelf -SW packed | sed -n 's/.* \.debug_info *PROGBITS *[0-9a-f]* \([0-9a-f]*\) \([0-9a-f]*\) .*/0x\1 0x\2/p')"
	# An unknown method; more bytes than stated; far more stated than there can be; broken data.
	for change in "0 \x09" "8 \x01\x00\x00\x00" "12 \x7f" "$((size / 2)) \xff\xff\xff\xff\xff\xff\xff\xff"; do
		cp packed broken
		printf '%b' "${change#* }" | dd of=broken bs=1 seek=$((off + ${change%% *})) conv=notrunc status=none
		chains --all broken <addresses >all 2>err || fail "$change: status $?: $(cat err)"
		grep -q '^\([1-9][0-9]*\) of \1 ' err || fail "$change: $(cat err)"
	done
}

@test "debug sections that inflate to far more than debug information does are not inflated, by no reader" {
	cat >zeros.s <<-END
		.section .debug_str_offsets,"",@progbits
		.zero $((100 << 20))
	END
	c++ -g -O2 -o large "$BATS_TEST_DIRNAME/../../lib/fixtures/inlines.cpp" zeros.s
	objcopy --compress-debug-sections=zlib large packed
	places_of large 1 >addresses
	chains --all large <addresses >all 2>err
	grep -q '^0 of ' err || fail "$(cat err)"
	(ulimit -v 98304 && chains --all packed <addresses >all 2>err) || fail "status $?: $(cat err)"
	grep -q '^\([1-9][0-9]*\) of \1 ' err || fail "$(cat err)"
	same '??:0' "$(grep : all | sort -u)"
}

@test "sources named relative to the compiler's folder have complete paths, with each reader" {
	mkdir from to
	cp "$BATS_TEST_DIRNAME/../../lib/fixtures/inlines.cpp" from/
	for folder in "$PWD/to" ./elsewhere; do # as it was, and as distributions make it
		for version in 4 5; do
			(cd to && c++ -g -gdwarf-$version -O2 -fdebug-prefix-map="$PWD=$folder" -o app ../from/inlines.cpp)
			places_of to/app 1 >addresses
			chains to/app <addresses >one
			grep -q "^$folder/../from/inlines.cpp:[1-9]" one || fail "$(head -5 one)"
			chains --all to/app <addresses >all 2>err
			grep -q '^0 of ' err || fail "$(cat err)"
			cmp one all || fail "$(diff one all | head -5)"
			eu-addr2line -afie to/app <addresses | blocks >eu
			same "$(grep -oE '^[^ ]*/inlines.cpp:[0-9]+' eu | sort -u)" \
				"$(grep -oE '^[^ ]*/inlines.cpp:[0-9]+' one | sort -u)"
		done
	done
}

@test "DWARF may be in a debug file, and packed by dwz" {
	# shellcheck disable=SC2094 # a function and a file
	places_of "$fixtures/inlines" 7 >addresses
	chains "$fixtures/inlines" <addresses >want
	chains "$fixtures/inlines.debug" <addresses >debug
	same "$(cat want)" "$(cat debug)"
	command -v dwz >/dev/null || skip "needs dwz"
	cp "$fixtures/inlines.debug" one.debug
	cp one.debug two.debug
	dwz -m common.dwz one.debug two.debug
	chains one.debug common.dwz <addresses >dwz
	same "$(cat want)" "$(cat dwz)"
	# Without what dwz moved nothing is opened behind our back, and lines are still there.
	chains one.debug <addresses >alone
	same "$(grep -c . want)" "$(grep -c . alone)"
	grep -q 'inlines.cpp:[1-9]' alone
}

@test "the file of dwz is found where the program refers to, or in a --debug-dir, or is reported" {
	sources=$(cd "$BATS_TEST_DIRNAME/../../lib/fixtures" && pwd)
	built one
	cp one app
	cp one two
	dwz -m common.dwz app two
	gen_places -b x.data 1 "$PWD/app"
	ebprec report --folded --inline -i x.data >here 2>/dev/null
	grep -q 'ns::twice<long>::step' here || fail "$(head -5 here)"
	run ! grep 'unknown' here
	ebprec report --symbols-report -i x.data >table 2>/dev/null
	run ! grep 'common.dwz' table
	mkdir debug
	mv common.dwz debug/
	ebprec report --folded --inline --debug-dir debug -i x.data 2>/dev/null | cmp here -
	for more in "" --inline; do
		# shellcheck disable=SC2086 # none is none
		ebprec report --symbols-report $more -i x.data >table 2>/dev/null
		same 1 "$(grep -c 'in common.dwz, which is not here.*give its folder' table)"
	done
	# One of another build is not believed.
	built one -O1
	cp one two
	cp one three
	dwz -m common.dwz two three
	ebprec report --symbols-report --inline -i x.data >table 2>/dev/null
	same 1 "$(grep -c 'in common.dwz, which is of another build' table)"
}

@test "a report with --inline has the inlined functions as frames" {
	cp "$fixtures/inlines.stripped" app
	gen_places -b x.data 1 "$PWD/app"
	ebprec report --folded --inline -i x.data >bare 2>/dev/null
	ebprec report --folded -i x.data >none 2>/dev/null
	same "$(cat none)" "$(cat bare)" # no DWARF: nothing is made up
	mkdir -p debug/.build-id
	id=$(readelf -n app | sed -n 's/.*Build ID: //p')
	mkdir "debug/.build-id/${id:0:2}"
	cp "$fixtures/inlines.debug" "debug/.build-id/${id:0:2}/${id:2}.debug"
	ebprec report --folded --inline --debug-dir debug -i x.data >inlined 2>/dev/null
	grep -q '^places;main;work;sort<' inlined || fail "$(grep main inlined | head -5)"
	grep -q 'ns::twice<long>::step' inlined
	ebprec report --folded --inline --annotations --debug-dir debug -i x.data >marked 2>/dev/null
	grep -q '^places;main;work_\[i\]' marked
	# No sample is lost or counted twice.
	same "$(weight <none)" "$(weight <inlined)"
}

# without_columns - the chains of llvm-symbolizer, as chains does
without_columns() {
	sed 's/^\(.*:[0-9]*\):[0-9]*$/\1/'
}

@test "every version of DWARF and 32 bits: the chains at pinned addresses" {
	# hot() begins at 0x412000, cold() at 0x433000.
	for how in dwarf2 dwarf3 dwarf4 dwarf5 32; do
		program=$fixtures/pinned-$how
		[ -e "$program" ] || fail "no $program"
		places_of "$program" 1 >addresses
		grep -qx 0x412000 addresses || fail "hot() is not where it belongs: $(head -3 addresses)"
		grep -qx 0x433000 addresses
		chains --all "$program" <addresses >ours 2>err
		grep -q '^0 of ' err || fail "$how: $(cat err)"
		chains "$program" <addresses >libdw
		cmp ours libdw
		llvm-symbolizer --functions=linkage -e "$program" <addresses | without_columns >llvm
		cmp ours llvm || fail "$how: $(diff ours llvm | head -5)"
		[ "$(grep -c '^innermost$' ours)" -ge 4 ] || fail "$how: no inlined functions"
	done
}

@test "split DWARF: inlined functions in a .dwo are those of llvm-symbolizer" {
	sources=$(cd "$BATS_TEST_DIRNAME/../../lib/fixtures" && pwd)
	# Both versions, two compilers: the one before the standard, and DWARF 5.
	for version in 4 5; do
		mkdir clang$version
		(cd clang$version && clang -O2 -gdwarf-$version -gsplit-dwarf -nostdlib -static \
			-ffreestanding -o pinned "$sources/pinned.c")
	done
	for program in "$fixtures"/pinned-split "$fixtures"/pinned-split4 clang4/pinned clang5/pinned; do
		[ -e "$program" ] || fail "no $program"
		places_of "$program" 1 >addresses
		chains --all "$program" <addresses >ours 2>err
		same "0 of $(wc -l <addresses) left to libdw" "$(cat err)"
		llvm-symbolizer --functions=linkage -e "$program" <addresses | without_columns >llvm
		cmp ours llvm || fail "$program: $(diff ours llvm | head -5)"
		[ "$(grep -c '^innermost$' ours)" -ge 4 ] || fail "$program: no inlined functions"
	done
}

@test "split DWARF: a .dwp of many units gives the same as its .dwo files" {
	sources=$(cd "$BATS_TEST_DIRNAME/../../lib/fixtures" && pwd)
	for version in 4 5; do
		for n in 1 2 3 4 5 6 7 8; do
			clang -O2 -gdwarf-$version -gsplit-dwarf -ffreestanding -Dhot=hot$n -Dcold=cold$n \
				-D_start=start$n -Dsink=sink$n -c -o unit$n.o "$sources/pinned.c"
		done
		ld -e start1 -o many unit?.o
		places_of many 1 >addresses
		chains --all many <addresses >want 2>err
		grep -q '^0 of ' err || fail "$(cat err)"
		run ! grep '^no ' err
		[ "$(grep -c '^innermost$' want)" -ge 32 ]
		[ $version = 5 ] || dwp -e many -o many.dwp # version 2; it knows no DWARF 5
		[ $version = 4 ] || timeout 60 llvm-dwp -e many -o many.dwp
		rm unit?.dwo
		chains --all many <addresses >got 2>err
		same "0 of $(wc -l <addresses) left to libdw" "$(cat err)"
		cmp want got || fail "$version: $(diff want got | head -5)"
		llvm-symbolizer --functions=linkage -e many <addresses | without_columns >llvm
		cmp got llvm || fail "$version: $(diff got llvm | head -5)"
	done
}

@test "split DWARF: a report is that of DWARF in one file, or names the missing file" {
	sources=$(cd "$BATS_TEST_DIRNAME/../../lib/fixtures" && pwd)
	built full
	built split -gsplit-dwarf
	places_of full 1 >addresses
	same "$(cat addresses)" "$(places_of split 1)"
	chains --all full <addresses >want 2>/dev/null
	chains --all split <addresses >got 2>err
	grep -q '^0 of ' err || fail "$(cat err)"
	cmp want got || fail "$(diff want got | head -5)"
	# The folder that it was compiled in is gone: it is beside the program, or in the user's folder.
	mkdir beside debug empty
	mv split beside/app
	mv split-inlines.dwo beside/
	chains --all beside/app <addresses >got 2>/dev/null
	cmp want got
	gen_places -b x.data 1 "$PWD/beside/app"
	ebprec report --folded --inline -i x.data >beside.folded 2>/dev/null
	grep -q 'ns::twice<long>::step' beside.folded || fail "$(head -5 beside.folded)"
	ebprec report --symbols-report --inline -i x.data >table 2>/dev/null
	run ! grep 'inlined functions' table
	ebprec report --symbols-report -i x.data >table 2>/dev/null
	grep -q beside/app table
	run ! grep 'inlined functions' table
	mv beside/split-inlines.dwo debug/
	ebprec report --folded --inline --debug-dir debug -i x.data >dir.folded 2>/dev/null
	cmp beside.folded dir.folded
	# Without it: once, what is missing; the samples are all there.
	ebprec report --folded --inline -i x.data >none.folded 2>/dev/null
	run ! grep -q 'ns::twice<long>::step' none.folded
	same "$(weight <dir.folded)" "$(weight <none.folded)"
	ebprec report --symbols-report --inline -i x.data >table 2>/dev/null
	same 1 "$(grep -c 'its inlined functions are in split-inlines.dwo, which is not here' table)"
	ebprec report --symbols-report --inline --json -i x.data >json 2>/dev/null
	grep -q 'in split-inlines.dwo, which is not here' json
	# Also when they were not asked for, and with what would help.
	for more in "" --json; do
		# shellcheck disable=SC2086 # none is none
		ebprec report --symbols-report $more -i x.data >table 2>/dev/null
		same 1 "$(grep -c 'in split-inlines.dwo, which is not here.*give its folder with --debug-dir' table)"
	done
	ebprec report --symbols-report --debug-dir debug -i x.data >table 2>/dev/null
	run ! grep 'inlined functions' table
	# That of another build is not believed, and nothing is opened but for reading.
	built other -gsplit-dwarf -O1
	mv other-inlines.dwo debug/split-inlines.dwo
	strace -f -e trace=open,openat,openat2 -o opened ebprec report --symbols-report --inline \
		--debug-dir debug -i x.data >table 2>/dev/null
	same 1 "$(grep -c 'in split-inlines.dwo, which is of another build' table)"
	ebprec report --symbols-report --debug-dir debug -i x.data 2>/dev/null | cmp - table
	grep -q 'split-inlines.dwo' opened
	run ! grep -E 'dwo.*O_(WRONLY|RDWR|CREAT)' opened
}

@test "lines of a stripped program are in its debug file, at the pinned addresses" {
	places_of "$fixtures/pinned-dwarf5" 1 >addresses
	grep -qx 0x412000 addresses
	chains --all "$fixtures/pinned-dwarf5" <addresses >want 2>/dev/null
	grep -q '^innermost$' want
	chains --all "$fixtures/pinned.debug" <addresses >got 2>/dev/null
	cmp want got
	[ -e "$fixtures/pinned.stripped" ]
	run ! chains "$fixtures/pinned.stripped" </dev/null
}

# from_afar ARGS... - a report with no file of this machine.
from_afar() {
	HOME=/nowhere ebprec report --symfs "$PWD/empty" "$@" 2>/dev/null
}

@test "bundle --lines: lines and inlined functions in an empty root, as at home" {
	mkdir empty
	cp "$fixtures/inlines" app
	gen_places -b -c x.data 1 "$PWD/app"
	ebprec bundle -q -o names.data x.data
	# A capture with names alone gets its lines from the file, as long as that is here.
	ebprec report --folded --inline -i x.data >home 2>/dev/null
	ebprec report --folded --inline -i names.data >named 2>/dev/null
	cmp home named
	# The text of samples has the names that the capture carries, too.
	# Not where each began: no offset is better than a wrong one.
	ebprec script x.data 2>/dev/null | sed -E 's/\+0x[0-9a-f]+ \(/ (/' >printed
	HOME=/nowhere ebprec script --symfs "$PWD/empty" names.data 2>/dev/null | cmp - printed
	grep -q ' _init ' printed
	ebprec bundle -q --lines -o lines.data x.data
	ebprec bundle --list names.data >list
	grep -qE '^ *[0-9]+ +0 ' list || fail "$(cat list)"
	ebprec bundle --list lines.data >list
	grep -qE '^ *[0-9]+ +[1-9][0-9]* ' list || fail "$(cat list)"
	for how in "--folded --inline" "--folded --inline --annotations" "--folded --inline --no-demangle" "--lines"; do
		# shellcheck disable=SC2086 # several words
		ebprec report $how -i x.data >"home" 2>/dev/null || fail "$how"
		mv app gone
		# shellcheck disable=SC2086
		from_afar $how -i names.data >bare
		# shellcheck disable=SC2086
		from_afar $how -i lines.data >away
		mv gone app
		cmp home away || fail "$how"
		if cmp -s home bare; then fail "$how needs no lines"; fi
	done
	# Again, elsewhere, and with what hides: nothing of it is lost.
	mv app gone
	HOME=/nowhere ebprec bundle -q --lines --symfs "$PWD/empty" -o twice.data lines.data
	from_afar --folded --inline --annotations -i lines.data >once
	from_afar --folded --inline --annotations -i twice.data >twice
	cmp once twice
	ebprec scrub -q -o clean.data lines.data
	from_afar --folded --inline -i lines.data >once
	from_afar --folded --inline -i clean.data >clean
	cmp once clean
}
