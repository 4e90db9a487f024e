// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
// counters.mjs CAPTURE PAGE [OPTION...] - the page's lines against `ebprec metrics --interval --json`; prints the tables that have some
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";

import { counters_at, counters_chosen, counters_id, counters_name, counters_points, counters_summary, counters_value } from "../../../analyze/web/data/counters.mjs";
import { page_load } from "./page_file.mjs";

const [capture, page, ...options] = process.argv.slice(2), model = await page_load(page), { tables, lines } = model.counters;
const metrics = JSON.parse(execFileSync("ebprec", ["metrics", "--interval", "--json", ...options, "-i", capture], { encoding: "utf8", maxBuffer: 2 ** 28, stdio: ["ignore", "pipe", "ignore"] })).tables;
const MOST_GROUPS = 32, base_ns = model.head.base_us * 1000, ns = (us) => base_ns + Math.round(us * 1000);
const IDS = { process: ["pid"], thread: ["pid", "tid"] };

const group_of = (by, row) => (by ? (IDS[by] || [by]).map((key) => String(row[key])).join("/") : "");

for (const [t, name] of tables.name.entries()) {
	const own = lines.filter((line) => line.table === name), { by } = own[0], intervals = metrics.filter((table) => table.name === name);
	const groups = new Set(own.map((line) => line.of)), seen = new Set(intervals.flatMap((table) => table.rows.map((row) => group_of(by, row))));
	assert.equal(tables.groups[t], seen.size, name);
	assert.equal(groups.size, Math.min(seen.size, MOST_GROUPS), name);
	for (const line of own) {
		const want = [];
		for (const { from_ns, to_ns, rows } of intervals)
			for (const row of rows.filter((one) => group_of(by, one) === line.of))
				want.push([from_ns, to_ns, row[line.key]]);
		const fits = want.filter(([,, value]) => value < 2 ** 51);
		assert.deepEqual(line.points.map(({ from_us, to_us, value }) => [ns(from_us), ns(to_us), value]), fits.sort((a, b) => a[0] - b[0]), counters_id(line));
		assert.equal(line.left_out, want.length - fits.length);
	}
}

// No other table has rows of intervals: those of events have their times, or are known; "exits" has a row a process.
for (const { name, rows } of metrics)
	assert.ok([...tables.name].includes(name) || !rows.length || rows[0].time_ns !== undefined || /^exits$|_(stacks|allocs)$/.test(name), name);

// Values, sums and moments of a line come from its points.
assert.equal(new Set(lines.map(counters_id)).size, lines.length);
for (const line of lines.filter(({ points }) => points.length).slice(0, 100)) {
	const middle = line.points[line.points.length >> 1], at = (middle.from_us + middle.to_us) / 2, { min, max, mean } = counters_summary(line.points);
	assert.equal(counters_at(line, at), middle);
	assert.equal(counters_at(line, line.points[0].from_us - 1), undefined);
	assert.deepEqual(counters_points(line, [[at, at + 1]]), [middle]);
	assert.deepEqual([min, max], [Math.min(...line.points.map((p) => p.value)), Math.max(...line.points.map((p) => p.value))]);
	assert.ok(mean >= min - 1e-9 * Math.abs(min) && mean <= max + 1e-9 * Math.abs(max));
}
const ids = [lines[0], lines.at(-1)].map(counters_id);
assert.deepEqual(counters_chosen(model.counters, ids).map(counters_id), [...new Set(ids)]);
assert.deepEqual(counters_chosen(model.counters, ["-"]), []);
assert.deepEqual([[1500000, "ns"], [1234567, "bytes"], [12.345, "%"], [2400000000, "millionths"], [-2500, "ns"], [3, ""], [3 * 2 ** 30, "bytes"]].map(([value, unit]) => counters_value(value, unit)),
	["1.50 ms", "1\u202f234\u202f567 bytes", "12.35 %", "2\u202f400", "-3 us", "3", "3\u202f072 MiB"]);
console.log([...tables.name].join(" "));
for (const name of new Set(lines.map(counters_name)))
	console.log(name);
