#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
# report --annotate: lines and instructions of a function, against addr2line and objdump; and why there are none.
# Captures have a sample at each byte of a program, so that a line has as many as its code has bytes.

# shellcheck source=tests/lib/helper.bash
. "$BATS_TEST_DIRNAME/../../lib/helper.bash"

setup() {
	cd "$BATS_TEST_TMPDIR" || return
	cat >prog.c <<-'END'
		static volatile long sink;

		static inline __attribute__((always_inline)) long mix(long x)
		{
			x ^= x << 13;
			return x ^ x >> 7;
		}

		__attribute__((noinline)) long heavy(long n)
		{
			long sum = 1;

			for (long i = 0; i < n; i++)
				sum += mix(sum + i);
			return sum;
		}

		int main(int argc, char **argv)
		{
			sink = heavy(argc);
			return 0;
		}
	END
	cc -g -O2 -o prog "$PWD/prog.c"
	gen_places -b -c x.data 1 "$PWD/prog"
}

# annotate ARGS... - in $out
annotate() {
	out=$(ebprec report -q --annotate "$@" -i x.data 2>err) || fail "$(cat err)"
}

# costing - the lines of $out with a share
costing() {
	grep -E '^ *[^ ]*% ' <<<"$out"
}

# lines - of $out: "NUMBER SELF" of lines that something was spent in itself
lines() {
	grep -E '^ *[^ ]*% +[^ ]*% ' <<<"$out" | awk '{ print $4, $3 }'
}

# bytes_of FUNCTION - of its code: addresses, one a line
bytes_of() {
	nm -S "$([ -e prog ] && echo prog || echo gone)" | while read -r at size _ name; do
		[ "$name" != "$1" ] || seq "$((16#$at))" "$((16#$at + 16#$size - 1))"
	done
}

# instructions - heavy() by objdump: "ADDRESS NEXT" by lines
instructions() {
	objdump -d --no-show-raw-insn --disassemble=heavy prog | sed -n 's/^ *\([0-9a-f]*\):.*/\1/p'
}

@test "each line has as many samples as addr2line finds bytes of it, inlined code those of its own line" {
	annotate heavy
	for at in $(bytes_of heavy); do
		addr2line -e prog "$(printf %x "$at")"
	done | sed 's/ (discriminator.*//; s/.*://' | sort -n | uniq -c | awk '{ print $2, $1 }' >want
	lines | sort -n >got
	[ "$(wc -l <want)" -ge 4 ] || fail "too few lines: $(cat want)"
	same "$(cat want)" "$(cat got)"
	# With the text of the file, tabs as blanks; and what was inlined at a line is in its total.
	contains "$out" "  x ^= x << 13;"
	grep -qE '^ +[0-9.]+% +[0-9.]+% +[0-9]+ +14 +sum \+= mix\(sum \+ i\);$' <<<"$out" || fail "$out"
	read -r self total < <(pick_fields 4 14 1 2 <<<"$out")
	[ "${total%.*}" -gt "${self%.*}" ] || fail "$self $total: $out"
}

@test "a function that was inlined everywhere has its own lines" {
	annotate mix
	contains "$out" "# mix in $PWD/prog: "
	same "5 6" "$(lines | cut -d' ' -f1 | xargs)"
	annotate heavy --json
	contains "$out" '"symbol": "heavy"'
	contains "$out" '"text": "x ^= x << 13;"'
}

@test "--asm: each instruction of objdump, with as many samples as it has bytes" {
	annotate heavy --asm
	instructions >want
	costing | awk '{ print $4 }' >got
	same "$(cat want)" "$(cat got)"
	total=$(costing | sum_field 3)
	same "$(bytes_of heavy | wc -l)" "$total"
	contains "$out" "prog.c:5"
	contains "$out" "  shl \$0xd, %r"
	annotate heavy --asm=intel
	grep -q 'shl r.*, 0xd' <<<"$out" || fail "$out"
	run -2 ebprec report --annotate heavy --asm=masm -i x.data
	contains "$output" "option '--asm' is att or intel, not 'masm'"
}

@test "from a bundle: the lines without the program, with the text where it is, and why there are no instructions" {
	annotate heavy
	home=$out
	ebprec bundle -q --lines -o lines.data x.data
	ebprec bundle -q -o names.data x.data
	cp prog gone
	rm prog
	same "$home" "$(ebprec report -q --annotate heavy -i lines.data)"
	out=$(ebprec report -q --annotate heavy --asm -i lines.data)
	contains "$out" "# no instructions: the file is not on this machine"
	contains "$out" "x ^= x << 13;"
	mv prog.c elsewhere.c
	out=$(ebprec report -q --annotate heavy -i lines.data)
	contains "$out" "# $PWD/prog.c: it is not here (--source-dir DIR; --debuginfod URLS asks a server)"
	same "$(out=$home lines)" "$(lines)"
	out=$(ebprec report -q --annotate heavy -i names.data)
	contains "$out" "# no source: the capture has the names of '$PWD/prog', but not its lines ('ebprec bundle --lines'"
	same "$(bytes_of heavy | wc -l)" "$(grep -c '^ .*% .*%  *1  *[0-9a-f]*$' <<<"$out")" # addresses alone
	# Without names there is no function to show.
	refuses ebprec report -q --annotate heavy -i x.data
	# shellcheck disable=SC2154 # of refuses
	contains "$stderr" "no function 'heavy' in the samples of 'x.data' that were asked for; there are none (--symbols-report shows which"
}

@test "no debug information, another build, a source that changed: one line names it" {
	touch -d '1 hour' prog.c
	annotate heavy
	contains "$out" "# $PWD/prog.c: it was changed after the program was made: its lines may have moved"
	strip -g prog
	annotate heavy
	contains "$out" "# no source: '$PWD/prog' has no debug information (compile with -g; or --debug-dir DIR, --debuginfod URLS)"
	same "$(instructions)" "$(costing | awk '{ print $4 }')" # instead
	cc -g -O1 -o prog prog.c
	refuses ebprec report -q --annotate heavy -i x.data
	ebprec report -q --symbols-report -i x.data | grep -q 'another version of the file is there now'
}

@test "--source-dir has the text of a file that was built elsewhere" {
	mkdir -p mine/src
	cc -g -O2 -fdebug-prefix-map="$PWD"=/build/pkg-1.0/src -o prog "$PWD/prog.c"
	gen_places -b -c x.data 1 "$PWD/prog"
	mv prog.c mine/src/
	annotate heavy
	contains "$out" "# /build/pkg-1.0/src/prog.c: it is not here"
	for dir in mine mine/src; do
		annotate heavy --source-dir "$dir"
		contains "$out" "x ^= x << 13;"
	done
	run -2 ebprec report --source-dir mine -i x.data
	contains "$output" "option '--source-dir' is one of --annotate FUNCTION"
}

@test "a file that a hostile program names as its source is not shown, in the sandbox or without" {
	echo "top secret" >secret
	echo "top secret" >secret.key
	ln -s secret.key link.c
	printf 'top secret\0' >binary.c
	mkfifo fifo.c
	for source in secret secret.key link.c binary.c fifo.c /proc/self/environ ../../../../../../etc/passwd; do
		{
			echo "#line 1 \"$source\""
			cat prog.c
		} >hostile.c
		cc -g -O2 -o prog "$PWD/hostile.c"
		gen_places -b -c x.data 1 "$PWD/prog"
		for how in --sandbox --no-sandbox; do
			annotate heavy $how
			case $out in *secret\ *|*"top secret"*|*root:*|*PATH=*) fail "$source: $out" ;; esac
			grep -q "$(basename "$source"): it " <<<"$out" || fail "$source: $out"
		done
	done
}

@test "text of a source cannot write on the terminal" {
	sed -i "s:x ^= x << 13;:& // $(printf '\033[31mred\t\xe2\x80\xae'):" prog.c
	touch -d '1 hour ago' prog.c
	annotate heavy
	grep -qF 'x ^= x << 13; // \x1b[31mred   ' <<<"$out" || fail "$out" # a tab is blanks
	contains "$out" '  \xe2\x80\xae'
}

@test "filters and the limit hold: no samples, no function" {
	refuses ebprec report -q --annotate heavy --comm nothing -i x.data
	annotate . --min-percent 100
	grep -qE '^# [0-9]+ more, each below --min-percent$' <<<"$out" || fail "$out"
	annotate 'hea.y'
	contains "$out" "# heavy in "
	for other in --tree --folded --csv; do
		run -2 ebprec report --annotate heavy $other -i x.data
	done
}

@test "samples that may come late: a line above the functions describes it" {
	address=$(nm "$BUILD/tests/live/workloads/calls" | symbol_address print_count)
	printf '0 comm 7 7 c\n0 map 7 0x400000 0x100000 0 %s\n1000 sample 7 7 0 1 u:0x40%s\n' \
		"$BUILD/tests/live/workloads/calls" "${address: -4}" | gen_story c.data
	ebprec report -q --annotate print_count c.data >out
	contains "$(cat out)" "# samples come late: what is hottest may be a line or some instructions before the one that has them"
	ebprec report -q c.data >out
	run ! grep "come late" out
}
