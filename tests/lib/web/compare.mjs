// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
// compare.mjs PAGE BEFORE AFTER - the change from the first half of a page's time to the second against `ebprec diff --total` of two
// captures that have these halves
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";

import { compare_make, COMPARE_VERDICTS } from "../../../analyze/web/count/compare.mjs";
import { filter_all, filter_make } from "../../../analyze/web/data/filter.mjs";
import { functions_outermost } from "../../../analyze/web/count/functions.mjs";
import { page_load } from "./page_file.mjs";

const [page, before, after] = process.argv.slice(2), model = await page_load(page), half = Math.floor((model.head.span_us + 1) / 2);
const want = JSON.parse(execFileSync("ebprec", ["diff", "-q", "--json", "--total", "--rename", "none", "--min-percent", "0", before, after], { encoding: "utf8" }));
const got = compare_make(model, filter_make(model, filter_all()), functions_outermost(model), [0, half], [half, model.head.span_us + 1]);
const close = (a, b, what) => assert.ok(a === b || Math.abs(a - b) <= 1e-5 * Math.abs(a) || (a ?? Infinity) === b, what + ": ebprec " + a + ", page " + b);

assert.equal(got.tested, want.tested);
assert.equal(got.rows.length, want.rows.length);
const seen = new Set();
const rows = new Map(got.rows.map((row) => [model.frames.name[row.frame] + " " + model.objects.base[model.frames.object[row.frame]], row]));
for (const row of want.rows) {
	const name = row.symbol + " " + row.dso, ours = rows.get(name);
	assert.ok(ours, name);
	assert.equal(COMPARE_VERDICTS[ours.verdict], row.verdict, name);
	close(row.samples_before, ours.sum[0], name);
	close(row.samples_after, ours.sum[1], name);
	close(row.ratio, ours.ratio, name + " ratio");
	close(row.low, ours.low, name + " low");
	close(row.high, ours.high, name + " high");
	seen.add(row.verdict);
}
console.log([...seen].sort().join());
