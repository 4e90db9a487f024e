// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
// wait_phases.mjs [HALF] - a story for gen_story of 4 s in steps of 10 ms: "steady" waits 3 to 5 ms of each, "grown" 1 ms and from the middle on 4 ms,
// "shrunk" 5 ms and then 2 ms, and "burst" 8 ms in a tenth of a second alone;
// HALF: of its first two seconds, 0, or its last ones, 1, alone
const STEPS = 400, MS = 1000000, KERNEL = 0xffffffff81001000n;
const waits = [
	["steady", (i) => 3 + i * 7919 % 13 / 5],
	["grown", (i) => (i < STEPS / 2 ? 1 : 4) + i % 5 / 10],
	["shrunk", (i) => (i < STEPS / 2 ? 5 : 2) + i % 4 / 10],
	["burst", (i) => (i >= 260 && i < 270 ? 8 : 0)],
];
const [half = -1] = process.argv.slice(2).map(Number), [first, end] = half < 0 ? [0, STEPS] : [half * STEPS / 2, (half + 1) * STEPS / 2];
const lines = ["- kallsyms ffffffff81000000 T _text", "- kallsyms ffffffff81001000 T __schedule", "- kallsyms ffffffff81005000 T _etext", "0 kmap 0xffffffff81000000 0x1000000 _text"];
const events = [];

waits.forEach(([name, wait_ms], cpu) => {
	const tid = 10 + cpu;
	lines.push("0 fork 1 " + tid + " " + tid, "0 comm " + tid + " " + tid + " " + name);
	for (let i = first; i < end; i++) {
		const at = 1000 * MS + i * 10 * MS + cpu * 1000, ns = Math.round(wait_ms(i) * MS);
		events.push([at, "sample " + tid + " " + tid + " " + cpu + " 10 k:0x" + (KERNEL + 16n).toString(16)]);
		if (!ns)
			continue;
		events.push([at + MS, "switch " + cpu + " " + tid + " " + tid + " 1 " + name + " 0 swapper/" + cpu + " 202 1 k:0x" + (KERNEL + 16n).toString(16)]);
		events.push([at + MS + ns, "switch " + cpu + " 0 0 0 swapper/" + cpu + " " + tid + " " + name]);
	}
});
events.sort((a, b) => a[0] - b[0]);
console.log([...lines, ...events.map(([at, text]) => at + " " + text)].join("\n"));
