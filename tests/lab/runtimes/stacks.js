// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
// stacks.js WAITS PERIOD FILE - waits in each of the ways in which a function comes to be in another, and writes its stacks
const cell = new Int32Array(new SharedArrayBuffer(4)), out = [];
Error.stackTraceLimit = 60;
let calls = 0, naps = 0;
const maxNaps = +process.argv[2] || 600, period = +process.argv[3] || 997;
const from = Date.now() + 500; // stacks of the first moments are copied, as the recorder does not know the program yet, and have no functions
function nap() {
	if (++calls % period === 0 && Date.now() > from) {
		naps++;
		const at = new Error().stack;
		const begin = process.hrtime();
		Atomics.wait(cell, 0, 0, 1.5);
		out.push([begin[0] + begin[1] / 1e9, at]);
	}
	return calls & 7;
}
class P { constructor(n) { this.n = n; } get twice() { return nap() + this.n; } set put(v) { this.n = v + nap(); } method(n) { return nap() + n; } static make(n) { return new P(n + nap()); } }
class Q extends P { constructor(n) { super(n); this.m = nap(); } method(n) { return super.method(n) + 1; } }
const arr = [1, 2, 3, 4, 5, 6, 7];
function l3(n) { return nap() + n; }
function l2(n) { return l3(n) + 1; }
function l1(n) { let x = l2(n); x += l2(n + 1); return x; }
function maps(n) { return arr.map(x => x + l3(n)).length; }
function each(n) { let s = 0; arr.forEach(x => { s += l2(x) + n; }); return s; }
function red(n) { return arr.reduce((a, x) => a + l3(x), n); }
function some(n) { return arr.some(x => l3(x) < -n); }
function find(n) { return arr.find(x => l3(x) === -1) | 0; }
function filt(n) { return arr.filter(x => l3(x) > n).length; }
function sorts(n) { return [3, 1, 2].sort((a, b) => a - b + 0 * l3(n))[0]; }
function getters(n) { const p = new P(n); p.put = n; return p.twice; }
function ctors(n) { return new P(l3(n)).n + new Q(n).m + P.make(n).n; }
function methods(n, o) { return o.method(n); }
function fib(n) { return n < 2 ? nap() : fib(n - 1) + fib(n - 2); }
function tries(n) { try { if (n % 3 === 0) throw new RangeError('x'); return l3(n); } catch (e) { return l2(n); } finally { l3(n); } }
function applies(n) { return l3.apply(null, [n]) + l3.call(null, n) + l3.bind(null, n)(); }
function rest(...a) { return l3(a[0]) + a.length; }
function spread(n) { return rest(...[n, 1, 2]); }
function closures(n) { const f = k => l3(k) + n; return f(n) + f(n + 1); }
function gen(n) { let s = 0; for (const x of (function* g() { yield l3(n); yield l2(n); })()) s += x; return s; }
function strs(n) { return ('' + { toString() { return 'a' + l3(n); } }).length; }
function valueOf(n) { return +{ valueOf() { return l3(n); } }; }
function proxies(n) { return new Proxy({}, { get(t, k) { return l3(n); } }).x; }
function destruct(n) { const { a, b = l3(n) } = { a: l3(n) }; return a + b; }
function deflt(n, m = l3(n)) { return m + l2(n); }
function switches(n) { switch (n & 3) { case 0: return l3(n); case 1: return l2(n); case 2: return l1(n); default: return nap(); } }
function loops(n) { let s = 0; for (let i = 0; i < 3; i++) { for (const x of arr) { s += l3(x); } } return s; }
function json(n) { return JSON.stringify({ toJSON() { return l3(n); } }).length; }
function regs(n) { return 'abc'.replace(/b/, () => l3(n)).length; }
const P1 = new P(1), Q1 = new Q(2), L = { method(n) { return l2(n) } };
async function as(n) { const a = l3(n); await null; return a + l2(n); }
const all = [l1, maps, each, red, some, find, filt, sorts, getters, ctors, n => methods(n, P1), n => methods(n, Q1), n => methods(n, L),
	n => fib(5), tries, applies, spread, closures, gen, strs, valueOf, proxies, destruct, deflt, switches, loops, json, regs];
function drive(count) { let s = 0; for (let i = 0; i < count; i++) for (let k = 0; k < all.length; k++) s += all[k](i) | 0; return s; }
function one(k) { const f = all[k]; let s = 0; for (let i = 0; i < 60; i++) s += f(i) | 0; return s; }
(async () => {
	for (let round = 0; naps < maxNaps; round++) {
		for (let k = 0; k < all.length && naps < maxNaps; k++) one(k);
		drive(2);
		for (let i = 0; i < 50; i++) await as(i);
	}
	require('fs').writeFileSync(process.argv[4] || 'truth.json', JSON.stringify(out));
})();
