#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
# Functions of JavaScript have their names without an option of node, in samples and in waits.

load ../../lib/helper

setup() {
	need_bpf
	command -v node >/dev/null || skip "needs node"
	version=$(node -p 'process.versions.node.split(".")[0]')
	case $version in 1[89] | 2[0-6]) ;; *) skip "needs node 18 to 26, not $version" ;; esac
	cd "$BATS_TEST_TMPDIR" || return
	# Two functions, of which one runs three times as long; eval() keeps the compiler from inlining them.
	cat >shares.js <<-'END'
		const cpu = () => { const u = process.cpuUsage(); return u.user + u.system; };
		function burn(us) { const end = cpu() + us; let s = 0; while (cpu() < end) for (let i = 0; i < 20000; i++) s += Math.sqrt(i) % 7; return s; }
		function more() { eval(''); return burn(600000); }
		function less() { eval(''); return burn(200000); }
		function sleepy() { for (let i = 0; i < 5; i++) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 20); }
		const nameless = [() => burn(100000)];
		more(); less(); sleepy(); nameless[0]();
	END
}

# bats test_tags=long
@test "node: functions have their shares of samples, and no other names" {
	# The first recording may read the program from the disk while it is sampled; it takes hundreds of milliseconds.
	ebprec record -q -o first.data -- node -e 'const end = Date.now() + 500; while (Date.now() < end);'
	ebprec record -q -F 499 -o x.data -- node shares.js
	ebprec report -q --folded -i x.data >out
	more=$(grep 'js::more (shares.js);.*js::burn (shares.js)' out | weight)
	less=$(grep 'js::less (shares.js);.*js::burn (shares.js)' out | weight)
	nameless=$(grep 'js::burn' out | grep -vE 'js::(more|less) ' | weight)
	# By the program's own clock: 600, 200 and 100 ms.
	[ "$more" -gt $((2 * less)) ] && [ "$more" -lt $((5 * less)) ] || fail "$more $less: $(grep -c js:: out)"
	[ "$nameless" -gt 0 ] || fail "$(grep shares.js out | tail -3)"
	# Functions of the program, of node's own scripts, and nothing else.
	same '' "$(grep -o 'js::[^;]* ([^;]*)' out | grep -v ' (node:' |
		grep -vE 'js::(burn|more|less|sleepy|cpu|nameless|nameless<|wrapped[A-Za-z]*|\(anonymous at [0-9:]+\)) \(shares.js\)' | sort -u)"
	# No function called burn() but these.
	same '' "$(grep -oE 'js::[^;]*;(Builtins_InterpreterEntryTrampoline;)?js::burn ' out |
		grep -vE '^js::((more|less|nameless|nameless<) |\(anonymous at [0-9:]+\) )' | sort -u)"
}

# bats test_tags=long
@test "node: functions have the lines and columns that its own profiler gives them" {
	# Characters of one unit, and of two, stand before them.
	{
		printf '// \xc3\xbc \xf0\x9f\x90\x8d\n'
		cat shares.js
		echo 'class A { late(x) { eval(""); burn(50000); } }'
		echo '[new A()].map(a => { eval(""); a.late(1); });'
	} >lines.js
	node --cpu-prof --cpu-prof-name=x.cpuprofile lines.js
	jq -r '.nodes[].callFrame | select(.url | endswith("lines.js")) |
		"js::\(if .functionName == "" then "(anonymous at \(.lineNumber + 1):\(.columnNumber + 1))" else .functionName end) \(.lineNumber + 1)"' \
		x.cpuprofile | sort -u >truth
	ebprec record -q -F 499 -o x.data -- node lines.js
	# Each function is one line, but for the script's own, which called them from several.
	ebprec report -q --sort sym,srcline -i x.data | sed -n 's/.*\(js::.*\) (lines.js) .*lines.js:\([0-9]*\)$/\1 \2/p' |
		grep -vF '(anonymous at 1:1)' | sort -u >got
	same '' "$(comm -13 truth got)"
	[ "$(grep -cE 'js::(burn|more|less|late) ' got)" = 4 ] || fail "$(cat got)"
	# A file that is another text than what runs has none.
	ebprec record -q -F 499 -o x.data -- node -e "new (require('module'))('x')._compile(require('fs').readFileSync('lines.js', 'utf8') + '//', '$PWD/lines.js')"
	ebprec report -q --sort sym,srcline -i x.data | grep 'js::more (lines.js)' >got
	[ -s got ] || fail "more() has no sample"
	same '' "$(grep 'lines.js:' got || true)"
}

# bats test_tags=long
@test "node: callers that are interpreted have the lines of its own stack traces, those that are compiled these or the first one" {
	printf '// \xc3\xbc \xf0\x9f\x90\x8d\n' >calls.js # characters of one unit of UTF-16, and of two
	cat >>calls.js <<-'END'
		const cell = new Int32Array(new SharedArrayBuffer(4)), seen = [];
		function nap(s) { if (s) seen.push(new Error().stack); Atomics.wait(cell, 0, 0, 10); }
		function outer(n, s) {
			if (n === 1)
				inner(1, s);
			else
				inner(2,
					s);
		}
		function inner(k, s) {
			for (const [a, b] of [[1, s], [2, s]]) {
				if (a === k)
					nap(b);
			}
		}
		class Made {
			constructor(s) {
				this.x = 1;
				outer(2, s);
			}
			late(s) {
				[1].forEach(() => {
					outer(1, s);
				});
			}
		}
		function deep(n, s) {
			return n
				? deep(n - 1, s)
				: new Made(s);
		}
		for (let i = 0; i < 25; i++) {
			deep(2, i === 24);
			new Made(false).late(i === 24);
		}
		for (const line of seen.join('\n').split('\n').filter(l => l.includes(__filename)))
			console.log(line.replace(/.*at (?:new |\w+\.)?(?:([\w<>]+) \()?.*:(\d+):\d+\)?$/, '$1 $2').replace(/^(<anonymous>)? /, 'anonymous '));
	END
	ebprec record -q -F 99 -o x.data -- node --no-opt --no-sparkplug calls.js >out
	sort -u out >truth
	[ "$(wc -l <truth)" = 11 ] || fail "$(cat truth)"
	same "$(cat truth)" "$(lines_of_callers x.data)"
	# With its compilers.
	ebprec record -q -F 99 -o x.data -- node calls.js >out
	lines_of_callers x.data >got
	printf '%s\n' 'nap 3' 'outer 4' 'inner 11' 'Made 18' 'late 22' 'anonymous 1' 'anonymous 23' 'deep 28' | sort -u - truth >either
	same '' "$(comm -23 got either)"
	[ "$(comm -12 got truth | wc -l)" -ge 5 ] || fail "$(cat got)"
}

# bats test_tags=long
@test "node: functions that TurboFan put into their callers are in the stack, with the lines of its own stack traces" {
	case $version in 20 | 22 | 24 | 26) ;; *) skip "needs node 20, 22, 24 or 26, not $version" ;; esac
	# Now and then a method is replaced that was inlined, so code on the stack is left for good.
	cat >inlined.js <<-'END'
		const cell = new Int32Array(new SharedArrayBuffer(4)), seen = new Set();
		let naps = 0;
		class Base { side(n) { return n + 1; } }
		const base = new Base();
		function nap(n) {
			if (n % 5000 === 0) {
				if (++naps % 10 === 0)
					seen.add(new Error().stack);
				if (naps % 100 === 0)
					Base.prototype.side = new Function('n', 'return n + ' + naps);
				Atomics.wait(cell, 0, 0, 5);
			}
			return n & 7;
		}
		function inner(n) {
			let x = base.side(n);
			x += nap(n);
			return x + 1;
		}
		function middle(n) {
			return inner(n) +
				inner(n + 1);
		}
		function outer(n) {
			return middle(n) - 7;
		}
		function run(count) {
			let s = 0;
			for (let i = 0; i < count; i++)
				s += outer(i);
			return s;
		}
		const end = Date.now() + 4000;
		let t = 0;
		while (Date.now() < end)
			t += run(20000);
		for (const line of [...seen].join('\n').split('\n').filter(l => l.includes(__filename)))
			console.log(line.replace(/.*at (?:([\w<>.]+) \()?.*:(\d+):\d+\)?$/, '$1 $2').replace(/^(Object.<anonymous>)? /, 'main '));
	END
	# Interpreted functions have a frame of V8's between them; so has none that is inlined.
	ebprec record -q -F 99 -o x.data -- node --no-sparkplug --no-maglev inlined.js >out
	ebprec report -q --off-cpu --folded --parent 'Builtin_AtomicsWait' -i x.data | sed 's/(anonymous at 1:1)/main/' >stacks
	grep -q ';js::run (inlined.js);js::outer (inlined.js);js::middle (inlined.js);js::inner (inlined.js);js::nap (inlined.js);Builtins_C' stacks ||
		fail "$(cut -c1-900 stacks | tail -n 3)"
	# In code that is being left the compiled function stands alone.
	while read -r line; do
		grep -o 'js::[^;]* (inlined.js)' <<<"$line" | sed 's/js:://; s/ (.*//' | paste -sd ';'
	done <stacks | sort -u >chains
	same '' "$(grep -vxE 'main(;run(;outer(;middle(;inner(;nap)?)?)?)?)?' chains)"
	ebprec report -q --off-cpu --parent 'Builtin_AtomicsWait' --min-percent 0 --sort sym,srcline -i x.data |
		sed -n 's/.*js::\(.*\) (inlined.js) .*inlined.js:\([0-9]*\)$/\1 \2/p' | sed 's/^(anonymous at 1:1)/main/' | sort -u >got
	# The stack is taken a few lines before the wait; inner() is called from two lines.
	sed 's/^nap .*/nap 11/' out | sort -u - <(printf '%s\n' 'middle 21' 'middle 22') >truth
	same "$(grep -vx 'main.*' truth)" "$(grep -vxE 'main.*|nap 5|inner 15|middle 20|outer 24|run 27' got)"
}

# lines_of_callers CAPTURE - functions of calls.js in which nap() waited, each with its line
lines_of_callers() {
	ebprec report -q --off-cpu --parent 'js::nap ' --min-percent 0 --sort sym,srcline -i "$1" |
		sed -n 's/.*js::\(.*\) (calls.js) .*calls.js:\([0-9]*\)$/\1 \2/p' | sed 's/^(anonymous at [0-9:]*)/anonymous/' | sort -u
}

# bats test_tags=long
@test "node: waits have the functions that waited" {
	ebprec record -q -o x.data -- node shares.js
	ebprec report -q --off-cpu --folded -i x.data >out
	[ "$(grep -c 'js::sleepy (shares.js)' out)" -gt 0 ] || fail "$(tail -3 out)"
	same '' "$(grep 'js::sleepy' out | grep 'js::more\|js::less' || true)"
}

# bats test_tags=long
@test "node: with a map of its own its functions have one name each" {
	ebprec record -q -F 499 -o x.data -- node --perf-basic-prof shares.js
	ebprec report -q --folded -i x.data >out
	same 0 "$(grep -c 'js::' out || true)"
	[ "$(grep -c 'JS:.*burn\|LazyCompile:.*burn' out)" -gt 0 ] || fail "$(tail -3 out)"
}

# bats test_tags=long
@test "a made-up stack of signals does not make samples costly where V8's code is looked for" {
	[ "$(uname -m)" = x86_64 ] || skip "needs x86-64"
	ebprec record -q -F 99 -o x.data -- hostile_v8 2 || true # it ends by SIGPROF
	samples=$(account x.data samples)
	sampling_ns=$(account x.data own_cpu sampling_ns)
	[ "$samples" -gt 20 ] || fail "$samples samples"
	# 0.3 ms a sample; 18 ms where each frame of a signal had a search of its own.
	[ $((sampling_ns / samples)) -lt 6000000 ] || fail "$sampling_ns ns for $samples samples"
	ebprec report -q --folded -i x.data | grep -q '__restore_rt;\[anon\];__restore_rt;\[anon\]' || fail "the stack has no signals"
}
