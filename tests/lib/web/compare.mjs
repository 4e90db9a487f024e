// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
// compare.mjs PAGE COUNT SEED [NUMBER] - the change from the first half of a page's time to the second, and from one random range to another, against the
// `ebprec diff` that the page prints: costs, ratios, intervals, results.  NUMBER: of the instrument whose samples are meant
// compare.mjs PAGE BEFORE AFTER [OPTION...] - the same of a page of two captures
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";

import { folded_text } from "../../../analyze/web/count/folded.mjs";
import { count_slots } from "../../../analyze/web/count/count.mjs";
import { tree_grow, tree_weigh } from "../../../analyze/web/count/tree.mjs";
import { command_compare, command_line } from "../../../analyze/web/data/command.mjs";
import { compare_make, COMPARE_RESULTS } from "../../../analyze/web/count/compare.mjs";
import { filter_all, filter_make } from "../../../analyze/web/data/filter.mjs";
import { page_load } from "./page_file.mjs";

const [page, before, after, ...options] = process.argv.slice(2), is_one = /^\d+$/.test(before), model = await page_load(page, is_one ? Number(options[0] || 0) : 0);
const seen = new Set(), close = (a, b, what) => assert.ok(a === b || Math.abs(a - b) <= 1e-7 * Math.abs(a) || (a ?? Infinity) === b, what + ": ebprec " + a + ", page " + b);
const run = (command) => execFileSync("sh", ["-c", command], { encoding: "utf8" }), printed = (ranges) => command_compare(model, filter_all(), ranges) + " --json -q --min-percent 0";
const base = (frame) => model.objects.base[model.frames.object[frame]], name_of = (frame) => (model.frames.reason[frame] ? "[" + base(frame) + "]" : model.frames.name[frame]) + " " + base(frame);

function agree(ranges, want) {
	const got = compare_make(model, filter_make(model, filter_all()), ...ranges), rows = new Map(got.rows.map((row) => [name_of(row.frame), row]));
	assert.equal(got.tested, want.tested);
	assert.equal(got.rows.length, want.rows.length);
	for (const row of want.rows) {
		const name = row.symbol + " " + row.dso, ours = rows.get(name);
		assert.ok(ours, name);
		assert.equal(COMPARE_RESULTS[ours.result], row.verdict, name);
		close(row.share_before, ours.share[0], name);
		close(row.share_after, ours.share[1], name);
		close(row.ratio, ours.ratio, name + " ratio");
		close(row.low, ours.low, name + " low");
		close(row.high, ours.high, name + " high");
		seen.add(row.verdict);
	}
}

let seed = Number(after);
const random = (most) => {
	seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0;
	return Math.floor(seed / 2 ** 32 * most);
};
const span = model.head.span_us + 1, half = Math.floor(span / 2);
for (let i = 0; is_one && i < Number(before); i++) {
	const ends = Array.from({ length: 4 }, () => random(span)).sort((a, b) => a - b), ranges = i ? [[ends[0], ends[1] + 1], [ends[2], ends[3] + 1]] : [[0, half], [half, span]];
	agree(ranges, JSON.parse(run(printed(ranges))));
}
if (!is_one) {
	const ranges = model.parts.map((part) => [part.from_us, part.to_us]), json = execFileSync("ebprec", ["diff", "-q", "--json", "--total", "--min-percent", "0", ...options, before, after], { encoding: "utf8" });
	agree(ranges, JSON.parse(json));
	// Each capture's part of such a page has its stacks, and both have the commands that were run.
	for (const [i, range] of ranges.entries()) {
		const filter = filter_make(model, { ...filter_all(), times: [range] }), tree = tree_grow(model, model.samples, "comm", false);
		const { self } = tree_weigh(tree, count_slots(model, filter, tree.slots, tree.ends.length).weights), file = [before, after][i];
		const [program, ...words] = command_line(model, { ...filter_all(), times: [range] }, ["-q", "--folded"]).split(" ");
		assert.equal(words[words.length - 1], file);
		if (i || !model.parts[0].head.renames)
			assert.equal(folded_text(model, tree, self), execFileSync(program, words, { encoding: "utf8" }));
		const by_any = (text) => text.replaceAll(/"by": "[a-z]+"/g, '"by": "any"');
		assert.equal(by_any(run(printed(ranges))), by_any(json));
	}
	// A part of each.
	const parts = ranges.map(([from, to]) => [Math.floor(from + (to - from) / 4), Math.floor(to - (to - from) / 4)]);
	agree(parts, JSON.parse(run(printed(parts))));
}
console.log([...seen].sort().join());
