// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
// modules.mjs PAGE - what the viewer's modules without a document promise, on a page and on chosen values
import assert from "node:assert/strict";

import { bytes_from_base64, bytes_inflate, bytes_signed, bytes_texts, bytes_varints } from "../../../analyze/web/data/bytes.mjs";
import { count_slots } from "../../../analyze/web/count/count.mjs";
import { filter_all, filter_join_times, filter_make } from "../../../analyze/web/data/filter.mjs";
import { HEAT_ROWS, heat_cells } from "../../../analyze/web/count/heat.mjs";
import { layout_chart, layout_find, layout_graph, layout_thread } from "../../../analyze/web/count/layout.mjs";
import { link_read, link_view, link_write } from "../../../analyze/web/data/link.mjs";
import { measure_make } from "../../../analyze/web/count/measure.mjs";
import { match_exactly, match_frames, match_test, match_weight } from "../../../analyze/web/data/match.mjs";
import { TREE_GROUPS, tree_grow, tree_path, tree_weigh } from "../../../analyze/web/count/tree.mjs";
import { words_count, words_fit, words_length, words_many, words_moment, words_percent, words_step, words_weight } from "../../../analyze/web/data/words.mjs";
import { count_stacks, page_load } from "./page_file.mjs";

const model = await page_load(process.argv[2]), all = filter_make(model, filter_all());

// ---- bytes ----

// All first bytes, all second ones, and so on.
function varints(...numbers) {
	const bytes = numbers.map((n) => {
		const own = [];
		for (; n >= 128; n = Math.floor(n / 128))
			own.push(n % 128 + 128);
		return [...own, n];
	});
	return Uint8Array.from([0, 1, 2, 3, 4, 5, 6, 7].flatMap((place) => bytes.filter((own) => place < own.length).map((own) => own[place])));
}

const numbers = [0, 1, 127, 128, 16383, 16384, 2 ** 32 - 1, 2 ** 32, 2 ** 53 - 1], packed = varints(...numbers);
assert.deepEqual([...bytes_varints(packed, 0, packed.length, numbers.length)], numbers);
assert.throws(() => bytes_varints(packed, 0, packed.length, numbers.length - 1), /as many numbers/);
assert.throws(() => bytes_varints(packed, 0, packed.length - 1, numbers.length), /as many numbers/);
assert.throws(() => bytes_varints(varints(2 ** 53 + 2), 0, 8, 1), /2\^53/);
assert.throws(() => bytes_varints(new Uint8Array(20).fill(255), 0, 20, 1), /2\^53/);
assert.deepEqual([...bytes_signed([0, 1, 2, 3, 4])], [0, -1, 1, -2, 2]);
assert.deepEqual(bytes_texts(new TextEncoder().encode("a\0\0\u00e9\0"), 0, 6, 3), ["a", "", "\u00e9"]);
assert.throws(() => bytes_from_base64("abc"), /base64/);
assert.throws(() => bytes_from_base64("ab<d"), /base64/);
await assert.rejects(bytes_inflate(Uint8Array.of(1, 2, 3, 4), 10), /unpacked/);

// ---- words ----

assert.equal(words_count(1234567), "1\u202f234\u202f567");
assert.deepEqual([0, 1, 2].map((n) => words_many(n, "processes")), ["0 processes", "1 process", "2 processes"]);
assert.deepEqual([words_weight(1, "samples"), words_weight(1000, "faults"), words_weight(1, "period"), words_weight(2, "ns")], ["1 sample", "1\u202f000 faults", "1 period", "0 us"]);
assert.deepEqual([words_percent(1, 3), words_percent(1, 1), words_percent(0, 0), words_percent(1, 1e6)], ["33.3 %", "100 %", "-", "0.00 %"]);
assert.deepEqual([words_length(5), words_length(1500), words_length(2.5e6)], ["5 us", "1.50 ms", "2.500 s"]);
assert.deepEqual([words_step(10e6, 10), words_step(999, 10), words_step(1, 10)], [1e6, 100, 1]);
assert.equal(words_moment(1250000, 50000), "+1.25 s");
assert.deepEqual([words_fit("abcdef", 6), words_fit("abcdef", 5), words_fit("abcdef", 2)], ["abcdef", "abc..", ""]);

// ---- selections ----

assert.deepEqual(filter_join_times([[5, 9], [1, 3], [2, 4], [9, 12], [7, 7]]), [[1, 4], [5, 12]]);
const every = { ...filter_all(), times: [[0, 5], [7, 9]], during: "!a/b&,", not_during: true, comms: ["a,b", "!x", "&=#%", "\u00fc"], cpus: [0, 3],
	symbol: "^std::(a|b)\\[\\]$", parent: "!x&y" };
const state = { selection: every, view: { ...link_view(), search: "a&b=c#d", zoom: "a%2Fb/c", theme: "dark" } };
assert.deepEqual(link_read("#" + link_write(state)), state);
assert.equal(link_write(link_read("")), "");
assert.deepEqual(link_read("#time=5-1,a-b&cpus=x&group=y&constructor=1&%").selection, filter_all());
for (const name of ["a.b", "f(int)", "operator[]", "a\\x9b|c", "$^{}*+?", "a/b"]) {
	assert.ok(match_test(match_exactly(name), false)(name), name);
	assert.ok(!match_test(match_exactly(name), false)(name + "x"), name);
}

// ---- counting: the same samples, however they are added up ----

const sum = count_stacks(model, all).sum;
for (const by of Object.keys(TREE_GROUPS))
	for (const inverted of [false, true]) {
		const tree = tree_grow(model, model.samples, by, inverted), { weights } = count_slots(model, all, tree.slots, tree.ends.length);
		const { self, total } = tree_weigh(tree, weights), layout = layout_graph(tree, total, 0, 1000, inverted);
		assert.equal(total[0], sum, by);
		assert.equal(self.reduce((a, b) => a + b, 0), sum, by);
		const right = new Map(), left = new Map(layout.frames.map((place) => [place.node, place]));
		layout.frames.forEach((place, i) => {
			const { node, row: key } = place, last = layout.frames[i - 1];
			assert.ok(place.x >= 0 && place.x + place.width <= 1000.001, "outside the picture");
			if (node > 0) {
				const up = left.get(tree.parent[node]);
				assert.ok(place.x >= up.x - 0.001 && place.x + place.width <= up.x + up.width + 0.001, "outside its caller");
				assert.ok(Math.abs(place.width - total[node] / sum * 1000) < 0.001, "not as wide as its share");
				assert.equal(layout_find(layout, place.x + place.width / 2, key), place);
			}
			const before = last?.row === key && place.x > last.x && node > 0 ? last.node : 0;
			if (inverted && before > 0 && tree.parent[before] === tree.parent[node])
				assert.ok(total[before] >= total[node], "not the heaviest first");
			right.set(key, (right.get(key) || 0) + place.width);
		});
		for (const width of right.values())
			assert.ok(width <= 1000.01, "a row is wider than the picture");
		const hits = match_frames(model, ".", false), none = match_frames(model, "^$", false);
		assert.equal(match_weight(tree, hits, self), sum - self[0]);
		assert.equal(match_weight(tree, none, self), 0);
	}

// Selections that follow each other, of which each is counted by what differs from the one before, are as counted anew.
{
	const measure = measure_make(model, "cpu"), { slots, ends } = tree_grow(model, model.samples, "comm", false), span = model.head.span_us + 2, tasks = model.tasks;
	let seed = 1, times = [[0, span]], followed = 0, before = null;
	const random = (below) => {
		seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0;
		return Math.floor(seed / 2 ** 32 * below);
	};
	for (let i = 0; i < 500; i++) {
		const moved = times.map(([from, to]) => [from + random(span / 8) - random(span / 8), to + random(span / 8) - random(span / 8)]);
		times = filter_join_times(random(9) ? moved : [...moved, [random(span), random(span)]].slice(-3));
		const selection = { ...filter_all(), times: random(20) ? times : [], comms: random(15) ? [] : [tasks.comm[random(tasks.count)]], cpus: random(15) ? [] : [0], symbol: random(15) ? "" : "[a-m]" };
		const sums = measure.count(measure.filter(selection), slots, ends.length);
		followed += sums === before ? 1 : 0;
		before = sums;
		assert.deepEqual(sums, count_slots(model, filter_make(model, selection), slots, ends.length));
	}
	assert.ok(followed > 50 && followed < 450, followed + " of 500 were counted by what differs");
}

// Over time, each sample of a thread has its stack at its moment, and its frames are within those that called them.
for (const tid of new Set(model.tasks.tid)) {
	const range = [0, model.head.span_us + 1], tree = tree_grow(model, model.samples, "comm", false), width = 10 * range[1];
	const list = layout_thread(model, filter_make(model, { ...filter_all(), tids: [tid] }), range);
	if (!list)
		continue; // it has none
	assert.deepEqual(list.map((i) => model.tasks.tid[model.samples.task[i]]), list.map(() => tid));
	const chart = layout_chart(model, tree, list, range, width), rows = [];
	for (const place of chart.frames)
		(rows[place.row] ||= []).push(place);
	for (const row of rows)
		row.sort((a, b) => a.x - b.x).forEach((place, n) => assert.ok(place.x >= (n ? row[n - 1].x + row[n - 1].width - 0.001 : 0) && place.x + place.width <= width + 0.001, "one over another"));
	for (let k = 0; k < Math.min(50, list.length); k++) {
		const n = Math.floor(k * list.length / Math.min(50, list.length)), time = model.samples.time[list[n]];
		if (n + 1 < list.length && model.samples.time[list[n + 1]] === time)
			continue; // another one at the same microsecond
		const path = tree_path(tree, tree.ends[tree.slots[list[n]]]);
		path.forEach((node, i) => assert.equal(rows[i + 1].find((place) => 10 * time + 1 >= place.x && 10 * time + 1 < place.x + place.width)?.node, node));
		assert.ok(!rows[path.length + 1]?.some((place) => 10 * time + 1 >= place.x && 10 * time + 1 < place.x + place.width), "more than its stack");
		assert.equal(chart.us(10 * time), time);
	}
	assert.ok(chart.frames.length > 1);
	for (const place of layout_chart(model, tree, list, range, 300).frames)
		assert.ok(place.width >= 0.5 && place.x + place.width <= 300.001, "too narrow, or outside the picture");
}
assert.ok(new Set(model.tasks.tid).size < 2 || !model.samples.count || !layout_thread(model, all, [0, model.head.span_us + 1]));

// Without the frames of a function, and with recursion folded, the sum is the same, and no node is of them.
const busiest = model.frames.count ? model.frames.name[model.nodes.frame[1]] : "", hidden = Uint8Array.from(model.frames.name, (name) => (name === busiest ? 1 : 0));
for (const inverted of [false, true]) {
	const tree = tree_grow(model, model.samples, "comm", inverted, undefined, { hidden, fold: true });
	assert.equal(tree_weigh(tree, count_slots(model, all, tree.slots, tree.ends.length).weights).total[0], sum);
	for (let node = 1; node < tree.count; node++) {
		const frame = tree.frame[node], up = tree.frame[tree.parent[node]];
		assert.ok(frame < 0 || !hidden[frame], "a hidden frame");
		assert.ok(frame < 0 || up < 0 || model.frames.label_id[frame] !== model.frames.label_id[up], "recursion");
	}
}

// The times of a span and all but these are all.
if (model.marks)
	for (const mark of model.marks.spans.mark) {
		const during = model.marks.marks.name[mark], part = (not_during) => filter_make(model, { ...filter_all(), during, not_during });
		assert.equal(count_stacks(model, part(false)).sum + count_stacks(model, part(true)).sum, sum, during);
		assert.equal(count_stacks(model, filter_make(model, { ...filter_all(), during: "no such span" })).sum, 0);
		const ns = (filter) => filter.ranges.reduce((all, [from, to]) => all + Math.min(to, 1e12) - Math.max(from, -1e12), 0);
		assert.equal(ns(part(false)) + ns(part(true)), 2e12, during);
	}

// Where there is no room for all callers, the rest is one node, and nothing is lost.
const cut = tree_grow(model, model.samples, "comm", true, 1), cut_total = tree_weigh(cut, count_slots(model, all, cut.slots, cut.ends.length).weights).total;
assert.equal(cut_total[0], sum);
assert.ok(cut.deepest <= 3);
assert.equal([...cut.frame].some((frame) => frame < -1 && cut.groups[-2 - frame] === "[further callers]"), model.nodes.depth.some((depth) => depth > 1));
assert.ok(!tree_grow(model, model.samples, "comm", true, 1e9).frame.includes(-2 - (cut.groups.length - 1)));

const span = model.head.span_us + 1;
for (const rows_of of Object.values(HEAT_ROWS)) {
	const rows = rows_of(model, new Set()), cells = heat_cells(model, all, rows, 50, 0, span);
	assert.equal(rows.reduce((a, row) => a + row.weight, 0), sum);
	assert.equal(cells.reduce((a, b) => a + b, 0), sum);
}
const open = HEAT_ROWS.program(model, { has: () => true });
for (const row of open) {
	const { comms = [], pids = [], tids = [] } = row.selects;
	assert.equal(count_stacks(model, filter_make(model, { ...filter_all(), comms, pids, tids })).sum, row.weight, row.id);
}
