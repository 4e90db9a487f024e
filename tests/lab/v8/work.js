// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
// work - functions of all kinds that JavaScript has, called over and over for argv[2] seconds

function burn(n) { let x = 0; for (let i = 0; i < n; i++) x += i * i % 7; return x; }
class Point { constructor(a) { this.a = burn(a); } twice() { return burn(60) + this.a; } get half() { return burn(40); } }
const arrow = v => burn(v % 50);
function recurse(n) { return n ? recurse(n - 1) + burn(20) : burn(300); }
function* generate(n) { for (let i = 0; i < n; i++) yield burn(i); }
async function step(n) { burn(n); await null; return burn(n); }
function outer(n) { function inner(k) { return burn(k); } let s = 0; for (let i = 0; i < n; i++) s += inner(i); return s; }
const made = new Function('n', 'let s = 0; for (let i = 0; i < n; i++) s += i % 3; return s;');
async function work() {
  [5, 3, 9, 1, 7, 2].concat(Array.from({length: 60}, (_, i) => i * 37 % 61)).sort((a, b) => burn(30) && a - b);
  Array.from({length: 50}, (_, i) => i).map(arrow).reduce((a, b) => a + burn(b % 9), 0);
  new Point(50).twice(); new Point(4).half; recurse(40); for (const v of generate(60)) arrow(v);
  await Promise.all([step(500), step(100)]); outer(60); made(1000);
  JSON.parse(JSON.stringify({a: [1, 2, {b: 3}]}), (k, v) => (burn(20), v));
}
const end = Date.now() + 1000 * +process.argv[2];
(async () => { while (Date.now() < end) await work(); })();
