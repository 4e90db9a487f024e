// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
// phases.mjs FROM TO - a story for gen_story: one thread, of which the second half calls some functions more and others less;
// its samples FROM to TO of 8,000
const [from, to] = process.argv.slice(2).map(Number), at = (i) => "0xffffffff8100" + (0x110 + i * 0x100).toString(16).padStart(4, "0");
let state = 7, us = 1000000;

function random(below) {
	state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
	return Math.floor(state / 2 ** 32 * below);
}

console.log("0 fork 1 10 10\n0 comm 10 10 worker\n0 kmap 0xffffffff81000000 0x10000 _text");
for (let i = 0; i < 16; i++)
	console.log("- kallsyms ffffffff8100" + (0x100 + i * 0x100).toString(16).padStart(4, "0") + " T function_" + i);
for (let i = 0; i < 8000; i++) {
	const late = i >= 4000;
	let ran = random(12);
	us += 100 + random(400);
	if (random(3) === 0 && late)
		ran = 3;
	if (random(20) === 0 && !late)
		ran = 14; // it vanishes
	if (random(30) === 0 && late)
		ran = 15; // it is new
	const caller = 12 + random(2);
	if (i >= from && i < to)
		console.log(us * 1000 + " sample 10 10 0 10 k:" + at(ran) + "," + at(caller));
}
