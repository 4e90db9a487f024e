#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
# Frames of Python programs stand between the native ones: compared with the stacks that the program prints.

load ../../lib/helper

setup() {
	need_bpf
	stacks=$BATS_TEST_DIRNAME/../../lib/python/stacks.py
	cd "$BATS_TEST_TMPDIR" || return
}

# Each CPython of this machine that is read: the system's, and those of pyenv.
pythons() {
	for try in /usr/bin/python3 ~/.pyenv/versions/3.*/bin/python3; do
		"$try" -c 'import sys; sys.exit(not (3, 8) <= sys.version_info < (3, 14))' 2>/dev/null &&
			echo "$try"
	done
	true
}

# record_each COMMAND [OPTION...] - one recording of COMMAND in the shell, with each PYTHON of $list side by side; N counts them from 1, and
# pid.N has the process.
record_each() {
	local command=$1
	shift
	# shellcheck disable=SC2016,SC2086 # for the other shell; words
	ebprec record -q -F 1999 "$@" -o x.data -- sh -c 'command=$1; shift; N=0
		for PYTHON; do
			N=$((N + 1))
			export PYTHON N
			sh -c "$command" &
			echo $! >pid.$N
		done
		wait' sh "$command" $list
}

# held_to_truth PYTHON N [OPTION...] - of at least 50 stacks of the process in pid.N in the interpreter's loop 99 % have Python
# frames, and all of these are stacks that the program has seen.
held_to_truth() {
	python=$1 n=$2
	shift 2
	ebprec report --folded -p "$(cat "pid.$n")" "$@" -i x.data >folded 2>err
	python3 "$stacks" check "truth.$n" <folded >counts 2>others
	read -r all merged equal <counts
	if [ "$all" -le 50 ] || [ $((merged * 100)) -lt $((all * 99)) ] || [ "$equal" -ne "$merged" ]; then
		fail "$python: $all stacks, $merged joined, $equal known: $(cat err; sort others | head -5)"
	fi
}

# lacking FILE - how many samples a report in FILE counts that lack functions of Python
lacking() {
	local sum
	sum=$(sed -n 's/.*: *\([0-9]*\) of [0-9]* samples in Python code lack.*/\1/p' "$1" | paste -sd+)
	echo $((${sum:-0}))
}

need_python() {
	list=$(pythons)
	[ -n "$list" ] || skip "needs a CPython of 3.8 to 3.13"
}

# bats test_tags=long
@test "each CPython: stacks of CPU samples, in garbage collections and in imports are those that the program has" {
	need_python
	for kind in calls collections imports; do
		record_each "exec \"\$PYTHON\" '$stacks' run truth.\$N 2 1 $kind"
		n=0
		for python in $list; do
			n=$((n + 1))
			held_to_truth "$python" $n
		done
	done
}

# bats test_tags=long
@test "each CPython: code that runs while the interpreter starts and ends has the stack that it reports" {
	need_python
	cp "${stacks%/*}/phases.py" sitecustomize.py
	# shellcheck disable=SC2016 # for the other shell
	record_each 'PYTHONPATH=. TRUTH=truth.$N exec "$PYTHON" sitecustomize.py run'
	n=0
	for python in $list; do
		n=$((n + 1))
		ebprec report --folded -p "$(cat pid.$n)" -i x.data >folded 2>err
		python3 sitecustomize.py check truth.$n <folded >counts 2>others
		same 'in_site at_exit in_teardown' "$(sed 's/ .*//; s/.*\.//' counts | paste -sd' ')"
		while read -r _ all equal; do
			[ "$all" -ge 100 ] && [ "$equal" -eq "$all" ] || fail "$python: $equal of $all: $(sort others | uniq -c | head -3; cat err)"
		done <counts
	done
}

# bats test_tags=long
@test "each CPython: samples of its start and end have functions that there are, or a reason" {
	need_python
	# The first one is there when its interpreter gets known.
	# shellcheck disable=SC2016 # for the other shell
	record_each '"$PYTHON" -c "import time; time.sleep(1)"
		for i in $(seq 20); do "$PYTHON" -c "" & echo $! >>pids.$N; wait $!; done'
	n=0
	for python in $list; do
		n=$((n + 1))
		ebprec report --folded -p "$(paste -sd, pids.$n)" -i x.data >folded 2>err
		same '' "$("$python" "${stacks%/*}/phases.py" known <folded | sort | uniq -c)"
		all=$(grep _PyEval_EvalFrameDefault folded | weight)
		some=$(grep _PyEval_EvalFrameDefault folded | weight py::)
		# Samples of the first process, before anything of it is known, have no reason: 2 of 466 once in 40 recordings.
		# The report mentions such samples from 5 % of all on.
		[ "$some" -gt 100 ] && [ $((all - some - $(lacking err))) -le $((all / 100)) ] ||
			fail "$python: $some of $all, $(lacking err): $(cat err)"
	done
}

# bats test_tags=long
@test "threads that wait for the GIL and sleep have their stacks, too" {
	need_python
	list=${list%%$'\n'*}
	record_each "exec \"\$PYTHON\" '$stacks' run truth.\$N 2 3 calls"
	held_to_truth "$list" 1 --off-cpu
}

# bats test_tags=long
@test "processes of milliseconds have frames from their start on, where their interpreter is known" {
	# The system's program is the interpreter itself, and found at once; the other one has it in a library, which
	# takes a sample or two, and on a busy machine more.
	share=95
	for python in $(pythons | sed -n '1p;$p'); do
		# The first one is there when its interpreter gets known.
		# shellcheck disable=SC2016 # for the other shell
		PYTHON=$python ebprec record -q -F 1999 -o x.data -- sh -c '"$PYTHON" -S -c "import time; time.sleep(2)"
			for i in $(seq 20); do
				"$PYTHON" -S -E -c "
def f(): return sum(i * i for i in range(20000))
f()"
			done'
		first=$(ebprec script -i x.data -F pid,comm 2>/dev/null | sed -n 's/^ *python[^ ]* *//p' | sort -n | head -1)
		pids=$(ebprec script -i x.data -F pid,comm 2>/dev/null | sed -n 's/^ *python[^ ]* *//p' | sort -un |
			grep -vx "$first" | paste -sd,)
		ebprec report --folded -p "$pids" -i x.data >out 2>err
		read -r some all < <(part_of_weight py:: _PyEval_EvalFrameDefault <out)
		[ "$all" -gt 50 ] && [ $((some * 100)) -ge $((all * share)) ] || fail "$python: $some of $all: $(cat err)"
		# Each that has none is counted, with the reason.
		[ "$(lacking err)" -ge $((all - some)) ] || fail "$python: $(lacking err) have a reason, $all - $some: $(cat err)"
		share=60
	done
}

# alone CACHE COMMAND... - of its recordings' samples in the interpreter's loop those with Python frames, and all
alone() {
	cache=$1
	shift
	for _ in 1 2 3 4; do
		ebprec record -q --table-cache "$cache" -F 999 -o x.data -- "$@"
		ebprec report -q --folded -i x.data
	done | part_of_weight py:: _PyEval_EvalFrameDefault
}

# bats test_tags=long
@test "a program of milliseconds that is recorded alone has frames from its start on" {
	list=$(pythons | sed -n '1p;$p')
	[ -n "$list" ] || skip "needs a CPython of 3.8 to 3.13"
	printf 'import time\nend = time.process_time() + 0.02\nwhile time.process_time() < end: pass\n' >short.py
	for python in $list; do
		cache=none # it is the command itself, or the program of a script
		case $(ldd "$python") in
		*libpython*) # a first recording finds it
			cache=$PWD/cache
			ebprec record -q --table-cache "$cache" -o x.data -- "$python" -c 'import time; time.sleep(0.3)' ;;
		esac
		printf '#!/usr/bin/env -S %s -S -E\n' "$python" | cat - short.py >script
		chmod +x script
		for command in "$python -S -E short.py" ./script; do
			# shellcheck disable=SC2086 # words
			read -r some all < <(alone "$cache" $command)
			# Samples of the first milliseconds, of 25 in a run, may come before the interpreter is read.
			[ "$all" -gt 50 ] && [ $((some * 100)) -ge $((all * 75)) ] || fail "$command: $some of $all"
		done
	done
}

# bats test_tags=long
@test "a program that CPython is linked into has frames, stripped, too, and around C that calls back" {
	config=$(/usr/bin/python3 -c 'import sysconfig as s; print(s.get_config_var("LIBPL"), s.get_config_var("LIBRARY"))' 2>/dev/null) || true
	archive=${config/ //}
	[ -f "$archive" ] || skip "needs a libpython to link statically (python3-dev)"
	gcc -O2 -no-pie -I"$(/usr/bin/python3 -c 'import sysconfig as s; print(s.get_path("include"))')" \
		"${stacks%/*}/../fixtures/embed_python.c" -o embed "$archive" -lexpat -lz -lm -Wl,-E
	strip -o stripped embed
	for program in embed stripped; do
		ebprec record -q -F 999 -o x.data -- ./$program
		ebprec report --folded -i x.data >out 2>err
		[ "$(weight 'py::work [(]<string>[)];.*_PyEval_EvalFrameDefault;py::inner [(]<string>[)]' <out)" -gt 100 ] || fail "$program: $(cat err; grep py:: out | tail -2)"
		same '' "$(grep 'py::inner' out | grep -v ';main;.*;py::<module> (<string>);py::work (<string>);' || true)"
	done
}

# bats test_tags=long
@test "a frozen program has frames: a module in C, and a zipapp" {
	config=$(/usr/bin/python3 -c 'import sysconfig as s; print(s.get_config_var("LIBPL"), s.get_config_var("LIBRARY"))' 2>/dev/null) || true
	archive=${config/ //}
	[ -f "$archive" ] || skip "needs a libpython to link statically (python3-dev)"
	mkdir app
	cat >app/__main__.py <<-'END'
		import time
		def inner(): return sum(i * i for i in range(2000))
		def work(end):
		    while time.process_time() < end: inner()
		work(time.process_time() + 1)
	END
	/usr/bin/python3 - <<-'END' >frozen.h
		import marshal
		code = marshal.dumps(compile(open("app/__main__.py").read(), "<frozen app>", "exec"))
		print("static const unsigned char program[] = {", ",".join(map(str, code)), "};")
	END
	gcc -O2 -s -no-pie -DFROZEN='"frozen.h"' -I. -I"$(/usr/bin/python3 -c 'import sysconfig as s; print(s.get_path("include"))')" \
		"${stacks%/*}/../fixtures/embed_python.c" -o frozen "$archive" -lexpat -lz -lm -Wl,-E
	/usr/bin/python3 -m zipapp app -o app.pyz
	for command in ./frozen '/usr/bin/python3 app.pyz'; do
		# shellcheck disable=SC2086 # words
		ebprec record -q -F 999 -o x.data -- $command
		ebprec report --folded -i x.data >out 2>err
		file='<frozen app>'
		[ "$command" = ./frozen ] || file=__main__.py
		# Others are of modules that it imports.
		all=$(grep "py::inner.<locals>.<genexpr> (.*$file)" out | weight)
		[ "$all" -gt 100 ] || fail "$command: $all: $(cat err)"
		same "$all" "$(grep "py::<module> (.*$file);.*py::work (.*$file);.*py::inner (.*$file);.*py::inner.<locals>.<genexpr> (.*$file)" out | weight)"
	done
}

# depths FILE - how many frames of py::deep stacks have, that most have
depths() {
	awk -f "$BATS_TEST_DIRNAME/usual_depth.awk" "$1"
}

# bats test_tags=long
@test "a recursion of 300 is complete, one of 5,000 has its innermost frames, and the missing ones are counted" {
	need_python
	python=${list%%$'\n'*}
	cat >deep.py <<-'END'
		import sys, time
		sys.setrecursionlimit(20000)
		def deep(n, end):
		    if n: return deep(n - 1, end)
		    while time.process_time() < end: sum(range(100))
		deep(int(sys.argv[1]), time.process_time() + 1)
	END
	ebprec record -q -F 999 -o x.data -- "$python" deep.py 300
	ebprec report --folded -i x.data >out 2>err
	same 301 "$(depths out)"
	same 0 "$(grep -c 'there are more frames than are recorded' err || true)"
	ebprec record -q -F 999 -o x.data -- "$python" deep.py 5000
	ebprec report --folded -i x.data >out 2>err
	same 512 "$(depths out)"
	grep -q 'samples in Python code lack functions of it: there are more frames than are recorded' err || fail "$(cat err)"
	ebprec record -q -F 999 --max-frames 1024 -o x.data -- "$python" deep.py 700
	ebprec report --folded -i x.data >out 2>err
	same 701 "$(depths out)"
	ebprec record -q -F 999 --max-frames 1024 -o x.data -- "$python" deep.py 5000
	ebprec report --folded -i x.data >out 2>err
	same 1024 "$(depths out)"
	grep -q 'there are more frames than are recorded' err || fail "$(cat err)"
}

@test "a program that makes code without end gets no more than a share of the numbers, and its stacks have the reason" {
	need_python
	cat >endless.py <<-'END'
		import sys, time
		sys.setrecursionlimit(3000)

		def deep(chain, at):
		    if at < len(chain):
		        return chain[at](chain, at + 1)
		    end = time.process_time() + 0.004
		    while time.process_time() < end:
		        pass

		line = 1
		for _ in range(120):
		    chain = []
		    for _ in range(900):
		        line += 1
		        chain.append(type(deep)(deep.__code__.replace(co_firstlineno=line), globals()))
		    deep(chain, 0)
	END
	ebprec record -q -F 1999 --max-frames 1024 -o x.data -- "${list%%$'\n'*}" endless.py 2>err
	contains "$(cat err)" "stacks lack frames of interpreted code: their process made more than 65536 pieces of it"
	[ "$(account x.data lost code_numbers)" -gt 0 ]
	contains "$(ebprec report x.data 2>&1)" "the process makes more code than the recorder holds of one"
}

# bats test_tags=long
@test "wrong offsets of the interpreter give no wrong stack, and the recorder lives" {
	command -v bpftool >/dev/null || skip "needs bpftool"
	for python in $(pythons | head -n "${EBPREC_PYTHONS:-1}"); do
		"$python" "$stacks" run truth 60 1 3>&- &
		program=$!
		for _ in $(seq 300); do
			[ -s truth ] && break
			sleep 0.1
		done
		ebprec record -q --table-cache none -F 1999 -o x.data -p $program 3>&- &
		recorder=$!
		sleep 1
		python3 "${stacks%/*}/mutate.py" $recorder 11 3 >changes
		kill -INT $recorder
		wait $recorder
		kill $program
		ebprec report --folded -i x.data >folded 2>err
		# The name in the place of the qualified one is no wrong name.
		python3 "$stacks" check truth unqualified <folded >counts 2>others
		read -r all merged equal <counts
		[ "$(cat changes)" -gt 5 ] && [ "$merged" -gt 50 ] && [ "$merged" -lt "$all" ] ||
			fail "$python: $(cat changes) changes, $merged of $all joined"
		same "$merged" "$equal" || fail "$python: $(grep unknown: others | sort | uniq -c | head -5)"
		contains "$(cat err)" "samples in Python code lack functions of it: "
		rm truth
	done
}

# bats test_tags=long
@test "a line is that of the code, a file its path" {
	need_python
	python=${list%%$'\n'*}
	cat >lines.py <<-'END'
		import time
		def spin(until):
		    x = 0
		    while time.process_time() < until:
		        for i in range(1000): x += i * i
		    return x
		spin(time.process_time() +
		     1)
	END
	ebprec record -q -F 999 -o x.data -- "$python" lines.py
	ebprec report --lines -i x.data >out 2>err
	[ "$(grep -c 'py::spin (lines.py) *lines.py:5$\|py::<module> (lines.py) *lines.py:7$' out)" -eq 2 ] ||
		fail "$(cat err; grep py:: out)"
	# The text of a function, with what was spent in each line; also of a file that was changed since.
	ebprec report -q --annotate spin -i x.data >out 2>err
	grep -qE '%  +[1-9][0-9]* +5  +for i in range\(1000\): x \+= i \* i$' out || fail "$(cat err out)"
	run ! grep -q 'changed after' out
	echo '#' >>lines.py
	contains "$(ebprec report -q --annotate spin -i x.data)" "lines.py: it was changed after the recording: its lines may have moved"
	rm lines.py
	contains "$(ebprec report -q --annotate spin -i x.data)" "lines.py: it is not here (--source-dir DIR; "
}

# python_frames - of a script's lines: how often each function of a Python program is in a stack
python_frames() {
	sed -n 's/^[[:space:]]*[0-9a-f]* \(.*\) (\[python\])$/\1/p' | sort | uniq -c
}

# bats test_tags=long
@test "perf prints the names of Python functions that export --to perf-cache has written" {
	need_perf
	need_python
	python=${list%%$'\n'*}
	# "import json": from the frozen importlib, and files.
	# The first process with an interpreter makes it known, which takes some of its milliseconds.
	cat >once.py <<-'END'
		import json
		def inner(n): return sum(i * i for i in range(n))
		for i in range(400): inner(2000)
	END
	ebprec record -q -F 1999 -o x.data -- sh -c "'$python' -c 'import time; time.sleep(0.5)'; exec '$python' once.py"
	ebprec script -i x.data -F ip,sym,dso 2>err | python_frames >ours
	[ "$(grep -c ' py::' ours)" -gt 10 ] || fail "$(cat err ours)"
	perf script --max-stack 1024 -i x.data -F ip,sym,dso 2>err | python_frames >unnamed
	same '' "$(grep ' py::' unnamed || true)"
	# The folder is made; from a bundle, which has further tables of names.
	mkdir below
	ebprec bundle -q -i x.data -o bundled.data
	for file in x bundled; do
		ebprec export --to perf-cache -o below/$file -i $file.data 2>note
		contains "$(cat note)" "to 'below/$file', for 'perf --buildid-dir below/$file report"
		perf --buildid-dir "$PWD/below/$file" script --max-stack 1024 -i $file.data -F ip,sym,dso 2>err | python_frames >theirs
		cmp ours theirs || fail "$file: $(diff ours theirs | head -5; cat err)"
	done
}

# bats test_tags=long
@test "frames of an earlier call, which a thread still has when an entry of the loop of 3.11 or 3.12 begins, are not shown" {
	list=$(pythons | grep '/3\.1[12]\.') || true
	[ -n "$list" ] || skip "needs a CPython of pyenv of 3.11 or 3.12"
	record_each "exec \"\$PYTHON\" '${stacks%/*}/stale.py'"
	n=0
	for python in $list; do
		n=$((n + 1))
		ebprec report --folded -p "$(cat pid.$n)" -i x.data >folded 2>err
		[ "$(weight 'py::outer .*;py::inner ' <folded)" -gt 100 ] || fail "$python: $(cat err)"
		same '' "$(grep PKCS5_PBKDF2_HMAC folded | grep -m1 py::outer || true)"
		contains "$(cat err)" 'samples in Python code lack functions of it: what was read is no frame of its program'
	done
}

# bats test_tags=long
@test "a thread never has the functions of another one in a second interpreter, and a reason where it has none" {
	found=
	# Two ways to share a process: one lock for all interpreters, and since 3.12 one for each.
	for python in $({ pythons | head -n 1; pythons | grep '3\.11\.'; pythons | grep '3\.1[23]\.' | tail -n 1; } | sort -u); do
		rm -f started
		"$python" "${stacks%/*}/subinterpreter.py" started 3>&- &
		program=$!
		for _ in $(seq 300); do
			[ ! -e started ] && kill -0 $program 2>/dev/null || break
			sleep 0.1
		done
		if [ ! -e started ]; then
			status=0
			wait $program || status=$?
			same 3 $status
			continue
		fi
		found=y
		# The first thread is known for what it is by its id, others by theirs.
		ebprec record -q -F 1999 -d 1 -o x.data -p $program
		kill $program
		wait $program || true
		ebprec report --folded --tid $program -i x.data >first 2>err
		[ "$(weight <first)" -gt 50 ] || fail "$python: $(cat err)"
		same '' "$(grep 'py::in_sub' first | head -1)"
		ebprec report --folded --tid "!$program" -i x.data >other 2>>err
		same '' "$(grep 'py::in_main' other | head -1)"
		bare=$(($(cat first other | weight _PyEval_EvalFrameDefault) - $(cat first other | weight py::in_)))
		[ "$(lacking err)" -ge $bare ] || fail "$python: $(lacking err) have a reason, $bare lack frames: $(cat err)"
	done
	[ -n "$found" ] || skip "needs a CPython with subinterpreters, of 3.8 to 3.13"
}

# bats test_tags=long
@test "children after a fork and after an exec have frames" {
	need_python
	python=${list%%$'\n'*}
	cat >family.py <<-'END'
		import os, sys, time
		def burn(name):
		    end = time.process_time() + 0.4
		    while time.process_time() < end: sum(range(1000))
		def in_parent(): burn(1)
		def in_child(): burn(2)
		def in_program(): burn(3)
		if sys.argv[1:]: in_program(); sys.exit()
		in_parent()
		if os.fork() == 0:
		    in_child()
		    os.execv(sys.executable, [sys.executable, __file__, "again"])
		os.wait()
	END
	ebprec record -q -F 999 -o x.data -- "$python" family.py
	ebprec report --folded -i x.data >out 2>err
	for process in parent child program; do
		n=$(grep "py::in_$process (family.py);py::burn" out | weight)
		[ "$n" -gt 100 ] || fail "$process: $n: $(cat err)"
	done
}

@test "an interpreter that contradicts its version has no names, and a note has the reason" {
	python=/usr/bin/python3
	"$python" -c 'import sys; sys.exit(sys.version_info[:2] != (3, 11))' 2>/dev/null ||
		skip "needs /usr/bin/python3 to be 3.11"
	cp "$(readlink -f $python)" other
	# Py_Version, in the file: of 3.12.
	at=$(readelf --dyn-syms -W other | pick_fields 8 Py_Version 2)
	# shellcheck disable=SC2046 # two words
	set -- $(readelf -SW other | sed 's/\[ */[/' | pick_fields 2 .rodata 4 5)
	printf '\xf0\x02\x0c\x03' | dd of=other bs=1 conv=notrunc status=none \
		seek=$((0x$at - 0x$1 + 0x$2))
	PYTHONHOME=/usr ebprec record -F 999 -o x.data -- ./other -c 'sum(i * i for i in range(10000000))' 2>messages
	contains "$(cat messages)" "cannot read frames of Python 3.12 in '$PWD/other': its structs are not those of its version, skipping"
	ebprec report --folded -i x.data >out 2>err
	grep -q _PyEval_EvalFrameDefault out
	[ "$(grep -c py:: out)" -eq 0 ]
	contains "$(cat err)" " samples in Python code lack functions of it: the interpreter is not one that the recorder understands (CPython 3.8 to 3.13, with the GIL, is)"
}

@test "a CPython without the GIL has no names, and a note has the reason" {
	python=~/.pyenv/versions/3.13.0/bin/python3
	"$python" -c 'import sys; sys.exit(sys.version_info[:2] != (3, 13))' 2>/dev/null || skip "needs CPython 3.13.0 of pyenv"
	# The table of offsets in the library has a field for it, at 16.
	cp "${python%/bin/python3}/lib/libpython3.13.so.1.0" .
	at=$((0x$(readelf -SW libpython3.13.so.1.0 | sed 's/\[ */[/' | pick_fields 2 .PyRuntime 5) + 16))
	printf '\001' | dd of=libpython3.13.so.1.0 bs=1 conv=notrunc status=none seek=$at
	LD_LIBRARY_PATH=$PWD ebprec record -F 999 -o x.data -- "$python" -c 'sum(i * i for i in range(5000000))' 2>messages
	contains "$(cat messages)" "cannot read frames of Python 3.13 in '$PWD/libpython3.13.so.1.0': it is built without the GIL, skipping"
	ebprec report --folded -i x.data >out 2>err
	grep -q _PyEval_EvalFrameDefault out
	[ "$(grep -c py:: out)" -eq 0 ]
	contains "$(cat err)" " samples in Python code lack functions of it: the interpreter is not one that the recorder understands (CPython 3.8 to 3.13, with the GIL, is)"
}

# bats test_tags=long
@test "--waits: a wait of a Python program is in the function of it that waits" {
	need_python
	cat >waits.py <<-'END'
		import socket, threading, time
		lock = threading.Lock()
		def hold(): lock.acquire(); time.sleep(0.04); lock.release()
		def wait_for_lock(): lock.acquire(); lock.release()
		def answer(end): time.sleep(0.04); end.send(b"x")
		def wait_for_socket(end): end.recv(1)
		def run(*calls):
		    threads = [threading.Thread(target=f, args=args) for f, *args in calls]
		    for t in threads: t.start(); time.sleep(0.01)
		    for t in threads: t.join()
		ours, theirs = socket.socketpair()
		for i in range(6):
		    run((hold,), (wait_for_lock,))
		    run((answer, ours), (wait_for_socket, theirs))
	END
	# shellcheck disable=SC2016 # for the other shell
	record_each 'exec "$PYTHON" waits.py' --max-overhead 100
	n=0
	for python in $list; do
		n=$((n + 1))
		ebprec report -q --waits --min-percent 0 --csv -p "$(cat pid.$n)" -i x.data >out
		# time.sleep() of 3.8 to 3.10 is a select().
		for line in '(nanosleep|select),hold' '(nanosleep|select),answer' futex,wait_for_lock socket,wait_for_socket; do
			grep -qE ",${line%,*},.*,py::${line#*,} \(waits.py\)" out || fail "$python: $line: $(cat out)"
		done
	done
}

# through FILE - samples by function that is on a stack and starts or runs Python
through() {
	awk -f "$BATS_TEST_DIRNAME/functions_on_stacks.awk" "$1" | grep 'libc_start\|_start$\|Py_RunMain\|Py_BytesMain\|python3$' | sort
}

# bats test_tags=long
@test "--hide interpreter leaves no frame of it between two functions of Python, and its callers as they were" {
	need_python
	python=${list%%$'\n'*}
	cat >sorts.py <<-'END'
		import time
		def key(v): return sum(range(v % 100))
		def spin(until):
		    while time.process_time() < until:
		        sorted(range(500), key=key)
		        time.sleep(0.001)
		spin(time.process_time() + 1)
	END
	ebprec record -q -F 999 -o x.data -- "$python" sorts.py
	for how in "" --off-cpu; do
		ebprec report --folded $how -i x.data >all 2>err
		ebprec report --folded $how --hide interpreter -i x.data >some 2>err
		grep -q 'py::<module> (sorts.py);py::spin (sorts.py);' some || fail "$how: $(cat err)"
		same '' "$(grep 'py::' some | grep _PyEval_EvalFrameDefault || true)"
		# Functions outside of the interpreter's file have the counts that they had.
		same "$(through all)" "$(through some)"
		same "$(weight <all)" "$(weight <some)"
	done
	ebprec report --folded --hide interpreter -i x.data >some 2>err
	grep -q 'py::spin (sorts.py);py::key (sorts.py)' some || fail "$(grep py:: some | head -3)"
	ebprec export --to speedscope --hide interpreter -i x.data -o - 2>err >shown
	grep -q 'py::key (sorts.py)' shown
	contains "$(ebprec report --hide all -i x.data 2>&1 || true)" "option '--hide' cannot be 'all': 'interpreter' was expected"
}

@test "perf opens a capture with Python's frames, without a message" {
	need_perf
	need_python
	python=${list%%$'\n'*}
	ebprec record -q -F 999 -o x.data -- "$python" -c 'sum(i * i for i in range(5000000))'
	perf script -i x.data 2>err | grep -q '\[python\]'
	perf report --stdio -i x.data >/dev/null 2>>err
	[ -z "$(complaints err)" ] || fail "$(cat err)"
}

# bats test_tags=long
@test "files of --rotate have the names of their samples" {
	need_python
	python=${list%%$'\n'*}
	ebprec record -q -F 999 --rotate 1s -o x.data -- "$python" -c '
import time
def spin(until):
    while time.monotonic() < until: sum(range(1000))
spin(time.monotonic() + 2.5)'
	for file in x.data x.data.1; do
		ebprec report --folded -i $file >out 2>err
		grep -q 'py::<module> (<string>);py::spin (<string>)' out || fail "$file: $(cat err; head -3 out)"
	done
}

# bats test_tags=long
@test "scrub hides scripts below /home, and keeps functions of them, their lines, and of the programs they start" {
	need_python
	python=${list%%$'\n'*}
	export HOME=$PWD # names from a build-id cache would hide that the capture has none
	mkdir -p home/annabel/heist
	cd home/annabel/heist || return
	cp "$(type -P shares)" vault
	printf '%s\n' 'import subprocess' 'def open_safe(n):' '    t = 0' '    for i in range(n): t += i * i' '    return t' \
		'child = subprocess.Popen(["./vault", "0.5"])' 'open_safe(9000000)' 'child.wait()' >safecrack.py
	ebprec record -q -F 999 -o "$BATS_TEST_TMPDIR/x.data" -- "$python" safecrack.py
	cd "$BATS_TEST_TMPDIR" || return
	ebprec scrub -q -o clean.data --check 'annabel|heist|vault|safecrack|nr_inodes=[1-9]' x.data
	ebprec report -q --lines --min-percent 0 clean.data >lines
	grep -qE 'burn_three' lines || fail "$(cat lines)"
	grep -qE 'py::open_safe \(([a-z0-9]+)\) +\1:4$' lines || fail "$(cat lines)"
	for file in x clean; do # and as many of each
		ebprec report -q --folded $file.data | grep -oE 'py::[a-z_]+|burn_[a-z]+' | sort | uniq -c >$file.names
	done
	cmp x.names clean.names
	ebprec scrub -q --list -o listed.data x.data | grep -q '^mount ' || fail "no mounts"
	ebprec bundle -q -o bundled.data x.data
	same "$(ebprec report -q --lines x.data | grep -c 'safecrack.py:')" "$(ebprec report -q --lines bundled.data | grep -c 'safecrack.py:')"
	same '' "$(ebprec info --json clean.data | grep -oE '\\"cgroup\\": \\"[^\\]|\\"node_bytes\\": \[(\\u000a| )*[0-9]' || true)"
}
