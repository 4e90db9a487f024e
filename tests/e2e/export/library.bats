#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
# libebprec, as a program of others sees it: installed, by its header and pkg-config alone.

load ../../lib/helper

setup_file() {
	export ROOT=$BATS_FILE_TMPDIR/root
	(cd "$BATS_TEST_DIRNAME/../../.." && make -s O="${BUILD:-build}" install DESTDIR="$ROOT" prefix=/usr >/dev/null)
	export PKG_CONFIG_LIBDIR=$ROOT/usr/lib/pkgconfig PKG_CONFIG_SYSROOT_DIR=$ROOT LD_LIBRARY_PATH=$ROOT/usr/lib
	for program in library_reader library_script; do
		# shellcheck disable=SC2046 # words
		cc -D_GNU_SOURCE -Wall -Werror -O1 -o "$BATS_FILE_TMPDIR/$program" "$BATS_TEST_DIRNAME/../../lib/fixtures/$program.c" \
			$(pkg-config --cflags --libs libebprec) -pthread
	done
}

setup() {
	cd "$BATS_TEST_TMPDIR" || return
	PATH=$BATS_FILE_TMPDIR:$PATH
	captures=$BATS_TEST_DIRNAME/../../golden/captures
	gen_capture -o gen.data --samples 3000 --depth 9 --pids 12
	perf record -q -o perf.data -F 999 -g -- ls -R /usr/include >/dev/null 2>&1
}

@test "stacks are those of ebprec report --folded, of captures and of perf's files" {
	ebprec export --raw -o plain.data gen.data
	for file in gen.data plain.data perf.data "$captures"/*.data; do
		library_reader folded "$file" | sort >got
		ebprec report -q --folded -i "$file" 2>/dev/null | sort >want
		[ -s want ] || [ "${file##*/}" = head.data ]
		same "$(cat want)" "$(cat got)"
	done
	# With inlined functions.
	library_reader folded perf.data 1 1 | sort >got
	same "$(ebprec report -q --folded --inline -i perf.data | sort)" "$(cat got)"
}

@test "ebprec script, written on the header alone, prints the same: captures, marks, perf's files with and without stacks" {
	perf record -q -o flat.data -F 999 -e cpu-clock -e page-faults -- ls -R /usr/include >/dev/null 2>&1
	for file in gen.data perf.data flat.data "$captures"/*.data; do
		library_script script "$file" >got
		ebprec script -q -i "$file" >want 2>/dev/null || true
		cmp want got >&2 || fail "$file: $(diff want got | head -n 6)"
	done
	[ "$(grep -c . want)" -gt 3 ]
}

@test "an exporter, written on the header alone, has the stacks of ebprec export --to speedscope" {
	# shellcheck disable=SC2016 # of jq
	form='.shared.frames as $f | [.profiles[] | {name, unit, endValue,
		stacks: ([.samples, .weights] | transpose | map([(.[0] | map($f[.] | .name + " " + .file)), .[1]]) | sort)}]'
	for file in gen.data perf.data "$captures/finished.data"; do
		library_script speedscope "$file" >got.json
		ebprec export -q --to speedscope -o want.json "$file"
		same "$(jq -S "$form" want.json)" "$(jq -S "$form" got.json)"
		[ "$(jq '.profiles | length' got.json)" -ge 1 ]
	done
}

@test "a call tree has the sums of the folded stacks: from above, from below, and by group" {
	ebprec export --raw -o plain.data gen.data
	for file in gen.data plain.data perf.data "$captures/finished.data" "$captures/live.data"; do
		ebprec report -q --folded -i "$file" >folded
		for shape in "down 0" "up 1" "groups 2"; do
			python3 "$BATS_TEST_DIRNAME/tree_of_folded.py" "${shape% *}" <folded >want
			library_reader tree "$file" 0 0 "${shape#* }" | python3 "$BATS_TEST_DIRNAME/tree_of_folded.py" nodes >got
			[ "$(wc -l <want)" -gt 5 ] || fail "$file: $(cat want)"
			cmp want got >&2 || fail "$file, $shape: $(diff want got | head -n 6)"
		done
		ebprec report -q --folded --period -i "$file" | python3 "$BATS_TEST_DIRNAME/tree_of_folded.py" down >want
		library_reader tree "$file" | python3 "$BATS_TEST_DIRNAME/tree_of_folded.py" weights >got
		cmp want got >&2 || fail "$file, weights: $(diff want got | head -n 6)"
	done
}

@test "the text about the quality of stacks is that of ebprec report, also of damaged files" {
	for file in gen.data perf.data "$captures"/{cut,finished,flipped,live}.data; do
		library_reader quality "$file" >got
		ebprec report --folded -i "$file" 2>want >/dev/null
		same "$(sed -n 's/^ebprec: //p' want)" "$(cat got)"
	done
	contains "$(library_reader quality gen.data)" "stacks: 3000 samples"
	contains "$(library_reader quality "$captures/flipped.data")" "is damaged"
	contains "$(library_reader quality perf.data)" "names: "
}

@test "marks and spans are those of ebprec marks: nested, of one record, with texts, without an end or a beginning" {
	cat >story <<-'END'
		900 comm 7 7 seven
		1000 mark 0 7 7 0 0 0 g point hello
		1100 mark 0 7 7 1 0 0 g outer from
		1200 mark 0 7 7 1 5 0 g inner
		1300 mark 1 7 7 2 5 0 - - until
		1350 mark 1 7 7 3 0 300 g reported in one
		1400 mark 1 7 7 2 0 0 g outer
		1500 mark 0 7 7 2 0 0 g before
		1600 mark 0 7 7 1 0 0 g open
		1700 mark 0 8 8 0 0 0 g unknown
	END
	gen_story marks.data <story
	library_reader marks marks.data >got
	ebprec marks -q --json marks.data >marks.json
	cat got >&2
	same "$(jq -r '.spans[] | "\(if .ended then "span" else "open" end) \(.group)/\(.name)#\(.number) \(.pid) \(.tid) \(.comm) \(.start_ns) \(.duration_ns) \(.depth) \(if .text == "" then "-" else .text end) \(if .end_text == "" then "-" else .end_text end)"' marks.json)" \
		"$(grep -E '^(span|open)' got)"
	same "4 spans, 1 of them open" "$(grep -cE '^(span|open)' got) spans, $(grep -c '^open' got) of them open"
	same "$(jq -r '.marks[] | select(.kind == "point") | "point \(.group)/\(.name)#0 \(.pid) \(.tid) \(.time_ns)"' marks.json)" \
		"$(pick_fields 1 point 1 2 3 4 6 <got)"
	same "end g/before#0 7 7 seven 1500 0 0 - -" "$(grep '^end' got)"
	contains "$(cat got)" "point g/unknown#0 8 8 - 1700 0 0 - -"
	PYTHONPATH=$ROOT/usr/share/ebprec/python python3 -c 'if True:
		import ebprec
		with ebprec.Capture("marks.data") as capture:
		    for m in capture.marks():
		        print(m.kind, m.name, m.start_ns, m.end_ns - m.start_ns)' >of_python
	same "$(wc -l <got)" "$(wc -l <of_python)"
	contains "$(cat of_python)" "1 reported 1050 300"
}

@test "a recorder is asked by its socket, and answers with a line" {
	cat >recorder.py <<-'END'
		import os, socket, sys
		server = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
		server.bind(b"\0ebprec-record/%d" % os.getpid())
		server.listen()
		print(os.getpid(), flush=True)
		for answer in sys.argv[1:]:
		    client, _ = server.accept()
		    client.send(answer.encode().replace(b"REQUEST", client.recv(32)))
		    client.close()
	END
	python3 recorder.py "+1.0 s, 7 samples, 0.01 MiB in '/x.1'" "-cannot write '/x.2': No space left on device" "-cannot write" \
		"+REQUEST" "?no REQUEST" "?no REQUEST" "+python REQUEST" "+python REQUEST" "+python REQUEST" >pid 3>&- &
	await test -s pid
	pid=$(cat pid)
	run library_reader ask snapshot "$pid"
	contains "$output" "recorder $pid"
	contains "$output" "0 1.0 s, 7 samples, 0.01 MiB in '/x.1'"
	run library_reader ask snapshot "$pid"
	contains "$output" "-5 cannot write '/x.2': No space left on device"
	contains "$(library_reader ask stop "$pid")" "0 stop"
	contains "$(library_reader ask ping "$pid")" "-95 no ping"
	local PYTHONPATH=$ROOT/usr/share/ebprec/python
	export PYTHONPATH
	same "True python snapshot python ping python stop" "$(python3 -c "import ebprec as e; print(
		$pid in e.recorders(), e.snapshot($pid), e.ping($pid), e.stop($pid))")"
	wait
	run library_reader ask snapshot "$pid"
	contains "$output" "-111 Connection refused"
	run python3 -c "import ebprec; ebprec.snapshot($pid)"
	contains "$output" "ConnectionRefusedError: [Errno 111] Connection refused"
}

@test "samples come in order, with a filter as counted, and end when the caller wants" {
	same "$(ebprec script -q -i gen.data | grep -c '^[^[:blank:]]')" "$(library_reader samples gen.data)"
	same 3 "$(library_reader samples gen.data 3)"
	PYTHONPATH=$ROOT/usr/share/ebprec/python python3 - gen.data <<-'END' >got
		import sys, ebprec
		with ebprec.Capture(sys.argv[1]) as capture:
		    seen = []
		    capture.each_sample(lambda sample, frames: seen.append((sample.time_ns, sample.comm, len(frames))))
		    assert [t for t, _, _ in seen] == sorted(t for t, _, _ in seen)
		    first = []
		    capture.each_sample(lambda sample, frames: first.append(frames) or len(first) == 2)
		    assert len(first) == 2
		    try:
		        capture.each_sample(lambda sample, frames: 1 / 0)
		    except ZeroDivisionError:
		        print(len(seen))
	END
	same "$(library_reader samples gen.data)" "$(cat got)"
}

@test "the capture, its events and its processes are those of ebprec info" {
	for file in gen.data "$captures/finished.data"; do
		library_reader facts "$file" >facts.txt
		same "$(ebprec info --json "$file" | jq -r '.machine | "\(.host) \(.kernel) \(.arch)"')" \
			"$(pick_fields 1 info 3 4 5 <facts.txt)"
		same "$(ebprec info --json "$file" | jq '.events | length')" "$(grep -c '^event' facts.txt)"
		same "$(ebprec summary -q --json -n 0 "$file" | jq '.capture.processes')" \
			"$(grep -c '^process' facts.txt)"
		same 1 "$(grep -c '^event .* 1$' facts.txt)"
	done
}

@test "structures of other sizes, wrong fields and wrong files are errors with words" {
	library_reader sizes gen.data
	for file in /dev/null "$BATS_TEST_DIRNAME/library.bats" /; do
		run library_reader folded "$file"
		same 1 "$status"
		contains "$output" "library_reader: cannot open '$file': "
	done
}

@test "eight threads with handles of their own count the same" {
	same 3000 "$(library_reader threads gen.data)"
}

# bats test_tags=long
@test "without memory each call fails, and nothing is left" {
	gen_capture -o few.data --samples 300 --depth 9 --pids 12
	for file in few.data perf.data "$captures/finished.data" "$captures/live.data"; do
		read -r runs refused < <(library_reader failing "$file")
		# No call fails where symbols, or packages with them, are looked for: their frames have a reason.
		[ "$runs" -gt 100 ] && [ "$refused" -gt $((runs / 4)) ] || fail "$file: $runs runs, $refused failed"
	done
	read -r runs refused < <(library_reader failing few.data each)
	[ "$runs" -gt 300 ] && [ "$refused" -gt $((runs / 2)) ] || fail "each: $runs runs, $refused failed"
}

@test "the examples of libebprec(3) work, in C and in Python, and agree" {
	page=$ROOT/usr/share/man/man3/libebprec.3
	# Names of users and times besides: ls -R alone takes a few samples where the machine is quick.
	perf record -q -o perf.data -F 999 -g -- ls -lR /usr >/dev/null 2>&1
	sed -n '/^#include <ebprec.h>/,/^\.fi/p' "$page" | sed '/^\.fi/d; s/\\-/-/g; s/\\e/\\/g' >top.c
	# shellcheck disable=SC2046 # words
	cc -Wall -Wextra -Werror -o top top.c $(pkg-config --cflags --libs libebprec)
	./top perf.data | awk '{ print $1, $2 }' >of_c
	sed -n '/^import collections/,/^\.fi/p' "$page" | sed '/^\.fi/d; s/"ebprec.data"/"perf.data"/' >top.py
	PYTHONPATH=$ROOT/usr/share/ebprec/python python3 top.py | awk '{ print $1, $2 }' >of_python
	[ "$(wc -l <of_python)" -ge 5 ] || fail "only $(wc -l <of_python) functions: $(cat of_python)"
	# Where the tenth and the next have equal counts, either may stand there.
	same "$(awk '{ print $1 }' of_c)" "$(awk '{ print $1 }' of_python)"
	least=$(tail -n 1 of_c | cut -d ' ' -f 1)
	same "$(grep -v "^$least " of_c | sort)" "$(grep -v "^$least " of_python | sort)"
}

@test "the module has the tree, with frames and groups" {
	PYTHONPATH=$ROOT/usr/share/ebprec/python python3 - gen.data <<-'END' >got
		import sys, ebprec
		def show(node, path):
		    print(node.self_samples, node.total_samples, node.self_weight, node.total_weight, ";".join(path))
		    for child in node.children:
		        show(child, path + [child.frame.name if child.frame else child.group.comm])
		with ebprec.Capture(sys.argv[1]) as capture:
		    stacks = capture.count(flags=ebprec.QUALITY_TEXT)
		show(stacks.tree(ebprec.BY_GROUP), [])
		assert "stacks: 3000 samples" in stacks.quality().text
	END
	same "$(library_reader tree gen.data 0 0 2)" "$(cat got)"
}

@test "the module's structures are those of the header, and its errors are OSError" {
	export PYTHONPATH=$ROOT/usr/share/ebprec/python
	cat >sizes.c <<-'END'
		#include <ebprec.h>
		#include <stdio.h>
		#define SIZE(name) printf(#name " %zu\n", sizeof(struct ebprec_##name))
		int main(void)
		{
			SIZE(open_opts), SIZE(info), SIZE(event), SIZE(process), SIZE(query), SIZE(stack), SIZE(frame), SIZE(group), SIZE(sample), SIZE(location), SIZE(quality), SIZE(mark), SIZE(tree_opts), SIZE(node);
		}
	END
	# shellcheck disable=SC2046 # words
	cc -o sizes sizes.c $(pkg-config --cflags libebprec)
	cat >sizes.py <<-'END'
		import ctypes, ebprec
		for name, structure in ebprec._STRUCTURES.items():
		    print(name, ctypes.sizeof(structure))
	END
	same "$(./sizes | sort)" "$(python3 sizes.py | sort)"
	run python3 -c 'import ebprec; ebprec.Capture("/nosuch")'
	contains "$output" "FileNotFoundError: [Errno 2] cannot open '/nosuch': No such file or directory"
}

@test "the library has the names of its header, and no others" {
	same "$(grep -o 'ebprec_[a-z_]*(' "$ROOT/usr/include/ebprec.h" | grep -vF -e ebprec_mark | tr -d '(' | sort -u)" \
		"$(nm -D --defined-only "$ROOT/usr/lib/libebprec.so.0" | pick_fields 2 T 3 | sed 's/@.*//' | sort)"
}

@test "each function has a page, which is libebprec(3), and that has its declaration" {
	nm -D --defined-only "$ROOT/usr/lib/libebprec.so.0" | pick_fields 2 T 3 | sed 's/@.*//' >functions
	while read -r name; do
		same ".so man3/libebprec.3" "$(cat "$ROOT/usr/share/man/man3/$name.3")"
		sed -n '/^\.SH SYNOPSIS/,/^\.SH DESCRIPTION/p' "$ROOT/usr/share/man/man3/libebprec.3" | grep -q "[ *]$name(" || fail "$name is not in the synopsis"
	done <functions
	same "$(wc -l <functions)" "$(find "$ROOT/usr/share/man/man3" -name 'ebprec_*.3' | wc -l)"
}

@test "the library's interface is the committed one, and abidiff finds a change" {
	abi=$BATS_TEST_DIRNAME/../../../analyze/lib/libebprec.abi
	abidw --headers-dir "$ROOT/usr/include" --drop-private-types --exported-interfaces-only --no-show-locs --no-corpus-path \
		--no-comp-dir-path --no-elf-needed --type-id-style hash --out-file now.abi "$ROOT/usr/lib/libebprec.so.0"
	if [ "${UPDATE:-}" = 1 ]; then
		sed '1a <!-- SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later -->' now.abi >"$abi"
	fi
	run abidiff "$abi" now.abi
	same "0 " "$status $output"
	sed "s/<class-decl name='ebprec_quality' size-in-bits='576'/<class-decl name='ebprec_quality' size-in-bits='512'/" "$abi" >other.abi
	run abidiff other.abi now.abi
	same 4 "$status" # ABI change
	contains "$output" "type size changed from 512 to 576"
}
