// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
// processes.mjs CAPTURE PAGE - the page's table of processes against the processes of `ebprec summary`
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";

import { processes_exit, processes_table } from "../../../analyze/web/count/processes.mjs";
import { filter_all, filter_make } from "../../../analyze/web/data/filter.mjs";
import { page_load } from "./page_file.mjs";

const [capture, page] = process.argv.slice(2), model = await page_load(page), { processes } = model, all = filter_all();
const summary = JSON.parse(execFileSync("ebprec", ["summary", "--json", "-q", "-n", "1000", "-i", capture], { encoding: "utf8" }));
const { rows, other } = processes_table(model, filter_make(model, all));
const find = (want) => rows.find((row) => processes.pid[row.i] === want.pid && processes.comm[row.i] === want.comm); // a pid may be used again

assert.equal(rows.reduce((sum, row) => sum + row.weight, other), model.head.samples);
let missing = 0;
assert.ok(rows.length > 1 && summary.processes.length > 1);
for (const want of summary.processes.filter((row) => row.pid && row.count === 1)) {
	const got = find(want);
	if (!got) { // no record of it but its samples
		missing += want.samples;
		continue;
	}
	assert.equal(processes.command[got.i], want.command_line);
	assert.equal(got.weight, want.samples);
	if (model.waits)
		assert.equal(got.run_ns, want.cpu_time_ns, want.comm);
	if (want.started_ns !== null && want.ended_ns !== null)
		assert.ok(Math.abs(processes.end[got.i] - processes.start[got.i] - (want.ended_ns - want.started_ns) / 1000) <= 2, want.comm);
}

assert.ok(other >= missing);

// Each process selected for itself has what it had of all.
for (const row of rows) {
	const [own] = processes_table(model, filter_make(model, { ...all, pids: [processes.pid[row.i]] })).rows.filter((one) => one.i === row.i);
	assert.deepEqual([own.weight, own.run_ns, own.off_ns], [row.weight, row.run_ns, row.off_ns]);
}
console.log([...processes.comm].map((comm, i) => comm + ":" + processes_exit(processes.exit[i])).sort().join(" "));
