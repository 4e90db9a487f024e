// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
// changed_waits.mjs PAGE CAPTURE - waits of two halves side by side: their times against `ebprec report --waits` of each half; prints what is real
// changed_waits.mjs PAGE BEFORE AFTER - the same of the page of two captures
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";

import { measure_make } from "../../../analyze/web/count/measure.mjs";
import { waits_compare } from "../../../analyze/web/count/waits_compare.mjs";
import { waits_reason, waits_table } from "../../../analyze/web/count/waits.mjs";
import { command_words } from "../../../analyze/web/data/command.mjs";
import { filter_all } from "../../../analyze/web/data/filter.mjs";
import { page_load } from "./page_file.mjs";

const [page, ...captures] = process.argv.slice(2), model = await page_load(page), measure = measure_make(model, "off-cpu"), span = model.head.span_us + 1;
const half = Math.floor(span / 2), ranges = model.parts?.map(({ from_us, to_us }) => [from_us, to_us]) || [[0, half], [half, span]], selection = (range) => ({ ...filter_all(), times: [range] });
const rows = waits_compare((range) => waits_table(model, measure.rows, measure.filter(selection(range))), ranges);

ranges.forEach((range, side) => {
	const csv = execFileSync("ebprec", ["report", "--waits", "--csv", "-q", "--min-percent", "0", ...(model.parts ? [] : command_words(model, selection(range))), "-i", captures[side] || captures[0]], { encoding: "utf8" });
	const want = csv.split("\r\n").slice(1, -1).map((line) => line.split(",").slice(0, 5)).map(([waiter, reason, by, count, ns]) => [waiter, reason, by, Number(count), Number(ns)].join());
	const got = rows.filter((row) => row.share[side]).map(({ share, count, ...row }) => [row.waiter, waits_reason(row), row.woken_by, count[side], Math.round(share[side] * (range[1] - range[0]) * 1000)].join());
	assert.deepEqual(got.sort(), want.sort());
});
for (const { low, high, share, result } of rows) {
	assert.ok(low <= share[1] - share[0] && share[1] - share[0] <= high);
	assert.equal(result > 0, low > 0 || high < 0);
}
console.log(rows.filter((row) => row.result === 2).map(({ share, waiter }) => waiter + " " + (share[1] > share[0] ? "more" : "less")).sort().join(", "));
