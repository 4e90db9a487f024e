#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
# ebprec scrub: names of users and places are gone, all else is as it was.

# shellcheck source=tests/lib/helper.bash
. "$BATS_TEST_DIRNAME/../../lib/helper.bash"

setup() {
	cd "$BATS_TEST_TMPDIR" || return
	echo "a secret that is long enough" >key
}

# A user's process, with its program and its marks; the kernel, a library, JIT code.
story() {
	printf '7f2200000000 100 jsFrame\n7f2200000100 100 secretStep\n' >map
	cat <<-'EOS'
		0 kmap 0xffffffff9a000000 0x1000000 _text
		- kallsyms ffffffff9a000100 T do_work
		- kallsyms ffffffff9a000200 t secret_probe nasty
		- file perf-100.map map
		0 fork 1 100 100
		0 comm 100 100 thief
		0 map 100 0x555555554000 0x10000 0 /home/annabel/heist/thief
		0 map 100 0x7f1100000000 0x10000 0 /usr/lib/libm.so
		0 map 100 0x7f2200000000 0x10000 0 //anon
		0 ksym 0xffffffffc0001000 64 bpf_prog_secret
		10 sample 100 100 0 10 k:0xffffffff9a000110,0xffffffff9a000210 u:0x555555554100,0x7f1100000200,0x7f2200000010
		15 sample 100 100 0 10 u:0x7f2200000110,0x7f1100000200,0x7f2200000010
		20 mark 0 100 100 0 0 0 work annabel at_10.1.2.3
		30 switch 0 100 100 1 thief 0 swapper/0
	EOS
}

@test "nothing that was to be hidden is left, and all else reads as before" {
	story | gen_story s.data
	ebprec scrub --without-names -o clean.data s.data --symbol secret \
		--check annabel --check heist --check thief --check secret --check '10\.1\.2\.3' 2>err
	contains "$(cat err)" "wrote 'clean.data'"
	t3walk clean.data >walk || fail "$(cat walk)"
	ebprec report -q --folded s.data >before
	ebprec report -q --folded clean.data >after
	# thief;[thief] and secret... became words of as many letters.
	sed -E 's/^[a-z0-9]{5};/thief;/; s/\[[a-z0-9]{5}\]/[thief]/g' after >mended
	same "$(grep -o 'do_work' before)" "$(grep -o do_work after)"
	same "$(grep -o 'jsFrame' before)" "$(grep -o jsFrame after)"
	same "$(awk '{ print $NF }' before | sort)" "$(awk '{ print $NF }' after | sort)"
	same "$(tr -cd ';\n' <before | sort)" "$(tr -cd ';\n' <after | sort)"
	contains "$(cat before)" secretStep
	for retained in '[libm.so]' do_work jsFrame; do
		contains "$(cat mended)" "$retained"
	done
}

@test "the quality of stacks is that of the capture, with the causes of those that break off" {
	gen_capture -o s.data --samples 600 --results
	ebprec report s.data 2>&1 >/dev/null | sed 's/ in [^:]*:/:/' >before
	grep -q '400 of these complete' before || fail "$(cat before)"
	ebprec scrub --without-names -q -o clean.data s.data
	ebprec report clean.data 2>&1 >/dev/null | sed 's/ in [^:]*:/:/' >after
	same "$(cat before)" "$(cat after)"
}

@test "the name of a program below /home is hidden in paths elsewhere, too; a library's is not" {
	{
		story
		echo '1 map 100 0x555555654000 0x10000 0 /srv/thief/bin/thief'
		echo '1 map 100 0x555555754000 0x10000 0 /home/annabel/lib/libm.so'
		echo '1 map 100 0x555555854000 0x10000 0 /srv/thieves'
	} | gen_story s.data
	ebprec scrub --without-names -q -o clean.data s.data --check '\bthief\b' --check annabel
	refuses ebprec scrub clean.data --check /usr/lib/libm.so
	refuses ebprec scrub clean.data --check /srv/thieves
}

@test "the name of a file below /home is hidden as the group of marks, a program's as a word of texts, too" {
	{
		story
		echo '0 comm 101 101 longest-program'
		echo '0 map 101 0x555555554000 0x10000 0 /home/annabel/longest-program-name'
		echo '20 mark 0 100 100 0 0 0 thief steal'
		echo '21 mark 0 100 100 0 0 0 libbag.so open by:thief,longest-program-name-17'
		echo '22 mark 0 101 101 0 0 0 longest-program-name open thieves'
		# libbag.so is mapped by none.
		echo '- meta {"command_line": ["ebprec", "--mark", "uprobe:/home/annabel/libbag.so:open", "usdt:./thief:work:steal"]}'
	} | gen_story s.data
	ebprec scrub --without-names -q -o clean.data s.data --check '\bthief\b' --check longest --check libbag
	contains "$(ebprec marks clean.data)" thieves
	ebprec scrub --without-names -q --keep cmdline -o clean.data s.data --check '\bthief\b' --check longest --check libbag
	ebprec info clean.data | grep -qE 'usdt:./[a-z0-9]{5}:work:steal' || fail "$(ebprec info clean.data)"
	same "$(ebprec marks s.data --json | grep -c '"group"')" "$(ebprec marks clean.data --json | grep -c '"group"')"
}

@test "a thread's name is hidden in fields of tracepoints that have no fixed size" {
	{
		story
		echo '25 child 0 100 100 101 thief'
	} | gen_story s.data
	ebprec scrub --without-names -q -o clean.data s.data --check thief
}

@test "addresses are moved as one, and only when asked" {
	story | gen_story s.data
	ebprec scrub --without-names -q -o moved.data s.data
	ebprec scrub --without-names -q --keep layout -o retained.data s.data
	ebprec script -F ip,sym s.data >s 2>/dev/null || ebprec script s.data >s
	ebprec script -F ip,sym retained.data >k 2>/dev/null || ebprec script retained.data >k
	grep -q ffffffff9a000110 s || fail "$(cat s)"
	grep -q ffffffff9a000110 k
	refuses ebprec scrub --check fffffff9a000100 s.data
	ebprec scrub -q --check fffffff9a000100 --check '^7f22' moved.data
	# Where the kernel is without chance.
	refuses ebprec scrub --check ffffffff81000100 moved.data
}

@test "two captures under one key have the same pseudonyms, under another not" {
	story | gen_story a.data
	story | sed 's/^10 /11 /' | gen_story b.data
	for f in a b; do
		ebprec scrub --without-names -q --key-file key --list -o "$f.clean" $f.data >$f.list
	done
	cmp a.list b.list
	ebprec merge -q -o both.data a.clean b.clean
	same 1 "$(ebprec report -q --folded both.data | cut -d';' -f1 | sort -u | wc -l)"
	ebprec scrub --without-names -q --list -o other.clean a.data >other.list
	cmp -s a.list other.list && fail "a key by chance is the same"
	ebprec scrub --without-names -q --erase --list --json -o x.clean a.data >x.json
	jq -e '.replaced | map(select(.was == "annabel"))[0] | .is == "xxxxxxx" and .times > 0' x.json
}

@test "--list: the names that are left, each kind" {
	story | gen_story s.data
	ebprec scrub --without-names -q --list -o clean.data s.data >list
	for name in 'file +[0-9]+  /usr/lib/libm.so' 'file +[0-9]+  //anon' 'comm +[0-9]+  swapper/0' \
		'text of events +[0-9]+  work'; do
		grep -qE "^$name\$" list || fail "$name: $(cat list)"
	done
	same "" "$(sed -n '/^kind .*name$/,$p' list | grep -E 'annabel|heist|thief')"
	# Each name of a thread or file that a report of the new capture has is in the list.
	for name in $(ebprec report -q --sort comm clean.data | grep -v '^#' | awk '{ print $4 }'); do
		grep -qF "  $name" list || fail "$name: $(cat list)"
	done
	ebprec scrub --without-names -q --list --json -o clean.data s.data >json
	contains "$(cat json)" '"left": ['
}

@test "--check: the place of a record is its name, of a sample its event, time and thread" {
	story | gen_story s.data
	refuses ebprec scrub s.data --check '^thief'
	contains "$stderr" "first in a COMM record: 'thief'"
	refuses ebprec scrub s.data --check at_10
	contains "$stderr" "first in the sample of 'tracepoint' at 0.000000020 s, thread 100: 'at_10.1.2.3'"
}

@test "a check for what was hidden does not find pseudonyms" {
	{
		story
		seq -f '%g sample 100 100 0 1 u:0x555555554100' 400
		seq 600001 600400 | sed 's|.*|0 map 100 0x&000000 0x1000 0 /home/annabel/f&/name-of-folder-&/x|'
		echo '0 map 100 0x700000000000 0x1000 0 /var/home/'
	} | gen_story s.data
	for pattern in /home/ '/home/[a-z]' ann nab hei bel thi; do
		refuses ebprec scrub --check "$pattern" s.data
	done
	ebprec scrub --without-names -q -o clean.data s.data --check /home/ --check '/home/[a-z]' --check '/home/.' \
		--check ann --check nab --check hei --check bel --check thi
	ebprec info clean.data >/dev/null
	same "" "$(ebprec script clean.data -F comm,ip,sym,dso 2>/dev/null | grep -a /home/)"
	# Once more: there is nothing to do.
	ebprec scrub --without-names -q -o again.data clean.data --check /home/
}

@test "a word that is found ends it, and no file is left behind" {
	story | gen_story s.data
	refuses ebprec scrub --without-names -o clean.data s.data --check libm
	contains "$stderr" "'libm' is in it"
	[ ! -e clean.data ] || fail "there is a file"
	same "" "$(ls clean.data.* 2>/dev/null)"
	refuses ebprec scrub s.data --check annabel
	refuses ebprec scrub s.data --check AnnaBel
	ebprec scrub s.data --check nothing 2>err
	contains "$(cat err)" "no such text"
}

@test "cut and damaged captures: what can be read is scrubbed, what cannot is gone" {
	story | gen_story s.data
	gen_capture -o g.data --samples 500
	for f in s g; do
		size=$(stat -c %s $f.data)
		for at in 3 5 8; do
			head -c $((size * at / 10)) $f.data >cut.data
			ebprec scrub --without-names -q -o clean.data cut.data --check annabel --check heist 2>err ||
				grep -q '^ebprec: cannot' err || fail "$(cat err)"
		done
	done
	head -c 6000 g.data >cut.data
	ebprec scrub --without-names -q -o clean.data cut.data --check annabel
	contains "$(ebprec info clean.data)" finished
}

@test "perf's own files become captures, without copied stacks" {
	need_perf
	# shellcheck disable=SC2016 # perl's
	perf record -q -o p.data --call-graph dwarf -e cpu-clock -F 999 -- \
		env SECRET=hidden_in_the_stack perl -e '$_++ for 1..2e6' 2>/dev/null
	refuses ebprec scrub p.data --check hidden_in_the_stack
	ebprec scrub --without-names -o clean.data p.data --check hidden_in_the_stack 2>err || fail "$(cat err)"
	contains "$(cat err)" "copies of user stacks"
	contains "$(cat err)" "callers of user functions are lost in "
	# The functions where the samples are have their names: those of the kernel are elsewhere than in the machine.
	for f in p clean; do
		ebprec report -q $f.data 2>/dev/null >$f.rows
		pick_fields 5 '[.]' 3 4 6 <$f.rows | grep -v '^0 ' | sort >$f.leaves
	done
	[ -s p.leaves ] || fail "$(cat p.rows)"
	same "$(cat p.leaves)" "$(cat clean.leaves)"
	same "$(perf script -i p.data -F event 2>/dev/null | grep -c cpu-clock)" \
		"$(perf script -i clean.data -F event 2>/dev/null | grep -c cpu-clock)"
}

# A program below /home, and a sample in its main(), in own.data.
home_story() {
	mkdir -p home out
	cp "$(command -v ebprec)" home/tool
	start=0x$(nm home/tool | symbol_address main)
	printf '0 comm 100 100 tool\n0 map 100 0x555555554000 0x1000000 0 %s\n1000 sample 100 100 0 1 u:%#x\n' \
		"$1" $((0x555555554000 + start + 1)) | gen_story own.data
}

@test "names that are found here are bundled first, so that none of a hidden file is lost" {
	home_story /home/tool
	contains "$(ebprec report -q --symfs "$PWD" own.data)" " main"
	# The new capture is in another folder: the sandbox lets it read those that it was named.
	ebprec scrub --symfs "$PWD" -o out/clean.data own.data 2>err || fail "$(cat err)"
	contains "$(cat err)" "bundled first: names of functions in 1 files"
	contains "$(ebprec report -q out/clean.data)" " main"
	ebprec scrub --symfs "$PWD" --symbol '^main$' -q --check '\bmain\b' -o out/hidden.data own.data
	same 0 "$(ebprec report -q out/hidden.data | grep -c ' main')"
}

@test "names are found in the sandbox, too, of a program that no option names" {
	home_story "$PWD/home/tool"
	mkdir here
	cd here
	ebprec scrub -q -o ../out/clean.data ../own.data
	rm -r ../home
	contains "$(ebprec report -q ../out/clean.data)" " main"
}

@test "names of files that nothing hides are bundled, too, for other machines" {
	mkdir opt
	cp "$(command -v ebprec)" opt/tool
	start=0x$(nm opt/tool | symbol_address main)
	printf '0 comm 100 100 tool\n0 map 100 0x555555554000 0x1000000 0 %s\n1000 sample 100 100 0 1 u:%#x\n' \
		"$PWD/opt/tool" $((0x555555554000 + start + 1)) | gen_story own.data
	ebprec scrub --keep home -o clean.data own.data 2>err || fail "$(cat err)"
	contains "$(cat err)" "bundled first: names of functions in 1 files"
	ebprec scrub --keep home --without-names -o none.data own.data 2>err
	same 0 "$(grep -c "bundled first" err)"
	# A capture that ends too early can have none.
	{
		printf '0 comm 100 100 tool\n0 map 100 0x555555554000 0x1000000 0 %s\n' "$PWD/opt/tool"
		seq -f '%.0f sample 100 100 0 1 u:0x555555554100' 1000 1000 9000000
	} | gen_story long.data
	head -c $(($(stat -c %s long.data) - 2000)) long.data >cut.data
	ebprec scrub --keep home -o part.data cut.data 2>err
	contains "$(cat err)" "'cut.data' is not complete, so no names of functions are bundled"
	rm -r opt
	contains "$(ebprec report -q clean.data)" " main"
	same 0 "$(ebprec report -q none.data | grep -c ' main')"
}

@test "without names to be found it refuses, and reports what would be lost" {
	story | gen_story s.data
	refuses ebprec scrub -o clean.data s.data
	contains "$stderr" "cannot scrub 's.data': its files with hidden names are not on this machine, as /home/annabel/heist/thief"
	contains "$stderr" "(files: 1; run 'ebprec bundle' where it was recorded, or give --without-names)"
	[ ! -e clean.data ] || fail "there is a file"
	# Where some are found, it warns of the others.
	home_story /home/tool
	{
		printf '0 comm 100 100 tool\n0 map 100 0x555555554000 0x1000000 0 /home/tool\n'
		printf '0 map 100 0x655555554000 0x1000000 0 /home/annabel/heist/thief\n'
		printf '1000 sample 100 100 0 1 u:%#x\n' $((0x555555554000 + start + 1))
		printf '1000 sample 100 100 0 1 u:0x655555554100\n'
	} | gen_story both.data
	ebprec scrub --symfs "$PWD" -o clean.data both.data 2>err
	contains "$(cat err)" "names of functions in 1 of 2 hidden files are lost: these files are not on this machine, as /home/annabel/heist/thief"
	contains "$(ebprec report -q clean.data)" " main"
}

@test "a capture that is not complete, with hidden files: it names recover, as no names can be bundled" {
	{
		printf '0 comm 100 100 tool\n0 map 100 0x555555554000 0x1000000 0 /home/annabel/tool\n'
		seq -f '%.0f sample 100 100 0 1 u:0x555555554100' 1000 1000 9000000
	} | gen_story s.data
	head -c $(($(stat -c %s s.data) - 2000)) s.data >cut.data
	refuses ebprec scrub -o clean.data cut.data
	contains "$stderr" "it is not complete, and names of functions in its hidden files, as in /home/annabel/tool"
	contains "$stderr" "'ebprec recover' first"
	ebprec scrub --without-names -q -o clean.data cut.data
}

@test "nothing is refused where nothing is hidden, and where names are bundled" {
	story | gen_story s.data
	ebprec scrub -q --keep home -o clean.data s.data
	story | sed 's|/home/annabel/heist/thief|/opt/thief|' | gen_story other.data
	ebprec scrub -q -o clean.data other.data
	mkdir home
	cp "$(command -v ebprec)" home/tool
	story | sed "s|/home/annabel/heist/thief|$PWD/home/tool|" | gen_story own.data
	ebprec bundle -q own.data
	ebprec scrub -q -o clean.data own.data
}

@test "time of day, start of the machine, kernel and CPU are gone, and stay when asked" {
	# An image of the vdso has the version as a number, the name of the build, and here the path of the build.
	printf '\177ELF\6\0\0\0\4\0\0\0\0\0\0\0Linux\0\0\0\1M\6\0' >vdso
	printf '\6\0\0\0\20\0\0\0\0\1\0\0Linux\0\0\0Oddian-build-17\0/build/kernel-6.77.1-unusual/lib' >>vdso
	{
		story
		# shellcheck disable=SC2028 # JSON
		echo '- meta {"started": "2031-05-06T07:08:09Z", "start_wall_ns": 1936000000000000001, "host": {"kernel": "6.77.1-unusual",
			"kernel_version": "#1 unusually", "distribution": "Oddian 9", "cpu_model": "Unusual i9", "memory_bytes": 987654321,
			"boot_wall_ns": 1935000000000000001, "cpus_online": 8}}' | tr '\n' ' '
		printf '\n0 map 200 0x900000 0x1000 0 /lib/modules/6.77.1-unusual/kernel/fs/ext4.ko\n- file [vdso] %s\n' "$PWD/vdso"
	} | gen_story s.data
	ebprec info s.data >was
	contains "$(cat was)" 2023-11-14 # the capture's own clock
	ebprec scrub --without-names -o clean.data s.data --check '2031|6\.77|[oO]dd|987654321|193[56]0' 2>err
	same 0 "$(ebprec info clean.data | grep -c '2023-11-14\|unusual')"
	contains "$(cat err)" "machine: 1 word in "
	contains "$(ebprec report --process 200 clean.data)" "/kernel/fs/ext4.ko"
	same "$(tr '\0' . <vdso | sed 's/Linux\.\.\..M../Linux......./; s/Oddian-build-17/.............../; s/6.77.1-unusual/PPPPPPPPPPPPPP/' |
		od -c)" "$(ebprec info --extract '[vdso]' clean.data | tr '\0' . | sed 's/kernel-[^/]*/kernel-PPPPPPPPPPPPPP/' | od -c)"
	contains "$(ebprec info clean.data)" '"cpus_online": 8'
	ebprec scrub -q --without-names --keep time --keep machine -o retained.data s.data
	contains "$(ebprec info retained.data)" 2023-11-14
	ebprec info --extract '[vdso]' retained.data | cmp - vdso
	for text in 2031-05-06T07:08:09Z 6.77.1-unusual 'Unusual i9' 987654321 1935000000000000001; do
		contains "$(ebprec info retained.data)" "$text"
	done
	# Times of records stay, and reports with them.
	same "$(ebprec script -F time,ip s.data | grep ':$')" "$(ebprec script -F time,ip clean.data | grep ':$')"
}

@test "it ends with what is still in it" {
	{
		story
		echo '0 fork 1 200 200'
		echo '0 comm 200 200 postgres'
		echo '0 comm 201 201 annabel-worker'
		echo '0 map 200 0x400000 0x1000 0 /usr/bin/postgres'
	} | gen_story s.data
	ebprec scrub --without-names -o clean.data s.data 2>err
	grep -qE 'still in it: names of programs and threads \(3\): postgres, [a-z0-9]{7}-worker, swapper/0 ' err ||
		fail "$(cat err)"
	contains "$(cat err)" "still in it: paths of "
	contains "$(cat err)" "none below /home"
	contains "$(cat err)" "texts of marks"
	ebprec scrub --without-names --comm postgr -o clean2.data s.data 2>err2
	case $(cat err2) in *postgres*) fail "$(cat err2)" ;; esac
	contains "$(cat err2)" "names of programs and threads (2): "
	case $(cat err) in *thief* | *annabel*) fail "$(cat err)" ;; esac
	same "" "$(ebprec scrub -q --without-names -o clean.data s.data 2>&1)"
}

@test "wrong calls" {
	story | gen_story s.data
	refuses ebprec scrub -o x.data nowhere.data
	echo short >tiny
	refuses ebprec scrub --key-file tiny -o x.data s.data
	contains "$stderr" "fewer than"
	refuses ebprec scrub --key-file /no/such -o x.data s.data
	run ebprec scrub s.data
	same 2 "$status"
	run ebprec scrub -o x.data --keep everything s.data
	same 2 "$status"
	run ebprec scrub -o x.data --check '(' s.data
	same 2 "$status"
	for option in --check --comm --symbol; do
		run ebprec scrub -o x.data $option '' s.data
		same 2 "$status"
		contains "$output" "an expression was expected"
	done
	[ ! -e x.data ] || fail "there is a file"
}
