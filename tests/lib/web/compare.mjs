// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
// compare.mjs PAGE BEFORE AFTER [OPTION...] - the change from the first half of a page's time to the second, or of a page of two captures
// from one to the other, against `ebprec diff --total` of two captures that have these
// compare.mjs PAGE - the same of a recording, against the command that the page prints: rows and costs.  The time of a slice is longer than that of its
// samples, so that blocks begin elsewhere
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";

import { folded_text } from "../../../analyze/web/count/folded.mjs";
import { count_slots } from "../../../analyze/web/count/count.mjs";
import { tree_grow, tree_weigh } from "../../../analyze/web/count/tree.mjs";
import { command_compare, command_line } from "../../../analyze/web/data/command.mjs";
import { compare_make, COMPARE_RESULTS } from "../../../analyze/web/count/compare.mjs";
import { filter_all, filter_make } from "../../../analyze/web/data/filter.mjs";
import { page_load } from "./page_file.mjs";

const [page, before, after, ...options] = process.argv.slice(2), model = await page_load(page), half = Math.floor((model.head.span_us + 1) / 2);
const ranges = model.parts ? model.parts.map((part) => [part.from_us, part.to_us]) : [[0, half], [half, model.head.span_us + 1]];
const json = !before ? execFileSync("sh", ["-c", command_compare(model, filter_all(), ranges) + " --json -q --min-percent 0"], { encoding: "utf8" }) : execFileSync("ebprec", ["diff", "-q", "--json", "--total", ...(model.parts ? [] : ["--rename", "none"]), "--min-percent", "0", ...options, before, after], { encoding: "utf8" }), want = JSON.parse(json);
const got = compare_make(model, filter_make(model, filter_all()), ...ranges);
const close = (a, b, what) => assert.ok(a === b || Math.abs(a - b) <= 1e-5 * Math.abs(a) || (a ?? Infinity) === b, what + ": ebprec " + a + ", page " + b);

if (before)
	assert.equal(got.tested, want.tested);
assert.equal(got.rows.length, want.rows.length);
const seen = new Set();
const base = (frame) => model.objects.base[model.frames.object[frame]], name_of = (frame) => (model.frames.reason[frame] ? "[" + base(frame) + "]" : model.frames.name[frame]) + " " + base(frame);
const rows = new Map(got.rows.map((row) => [name_of(row.frame), row]));
for (const row of want.rows) {
	const name = row.symbol + " " + row.dso, ours = rows.get(name);
	assert.ok(ours, name);
	if (before)
		assert.equal(COMPARE_RESULTS[ours.result], row.verdict, name);
	close(row.samples_before, ours.sum[0], name);
	close(row.samples_after, ours.sum[1], name);
	close(row.ratio, ours.ratio, name + " ratio");
	if (before) {
		close(row.low, ours.low, name + " low");
		close(row.high, ours.high, name + " high");
	}
	seen.add(row.verdict);
}
// Each capture's part of such a page has its stacks, and both have the commands that were run.
for (const [i, range] of model.parts ? ranges.entries() : []) {
	const filter = filter_make(model, { ...filter_all(), times: [range] }), tree = tree_grow(model, model.samples, "comm", false);
	const { self } = tree_weigh(tree, count_slots(model, filter, tree.slots, tree.ends.length).weights), file = [before, after][i];
	const [program, ...words] = command_line(model, { ...filter_all(), times: [range] }, ["-q", "--folded"]).split(" ");
	assert.equal(words[words.length - 1], file);
	if (i || !model.parts[0].head.renames)
		assert.equal(folded_text(model, tree, self), execFileSync(program, words, { encoding: "utf8" }));
	const by_any = (text) => text.replaceAll(/"by": "[a-z]+"/g, '"by": "any"');
	assert.equal(by_any(execFileSync("sh", ["-c", command_compare(model, filter_all(), ranges) + " --json -q --min-percent 0"], { encoding: "utf8" })), by_any(json));
}
console.log([...seen].sort().join());
