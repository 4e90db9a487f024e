// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
// states.mjs CAPTURE PAGE - times of threads by state, of a capture and of its parts, against the head of `ebprec report --wall`
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";

import { command_words } from "../../../analyze/web/data/command.mjs";
import { filter_all, filter_make } from "../../../analyze/web/data/filter.mjs";
import { STATES, states_account, states_at, states_cpus, states_strip, states_round } from "../../../analyze/web/count/states.mjs";
import { page_load } from "./page_file.mjs";

const [capture, page] = process.argv.slice(2), model = await page_load(page), span = model.head.span_us + 1;
const { pieces, threads } = model.waits;

// Seconds on a CPU, and off it, as the report begins.
function head_of(words) {
	const text = execFileSync("ebprec", ["report", "--wall", ...words, "-i", capture], { encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] });
	return [/# ([0-9.]+) s on a CPU/, /# ([0-9.]+) s off the CPU/].map((regex) => (text.match(regex) || [0, "0.000000"])[1]);
}

for (const times of [[], [[0, span]], [[0, Math.floor(span / 2)]], [[Math.floor(span / 3), Math.floor(span / 2)]], [[span - 1, span]]]) {
	const selection = { ...filter_all(), times }, { ns } = states_account(model, filter_make(model, selection)), off = ns.reduce((sum, own, state) => sum + (state > 0 && state < 5 ? own : 0), 0);
	assert.deepEqual([ns[0], off].map((n) => (n / 1e9).toFixed(6)), head_of(command_words(model, selection)), JSON.stringify(times));
}

// The microseconds of CPUs and of threads add up, and the time on a CPU is the same in both.
for (const times of [[], [[0, span]], [[Math.floor(span / 3), Math.floor(span / 2)]]]) {
	const filter = filter_make(model, { ...filter_all(), times }), { time_ns, user, kernel, rest } = states_cpus(model, filter, model.head.cpus || 0), { ns, before } = states_account(model, filter);
	assert.equal(user + kernel, ns[0]);
	assert.equal(time_ns % 1000, 0);
	assert.ok(user >= 0 && kernel >= 0 && rest >= 0 && time_ns <= (times.length ? times[0][1] - times[0][0] : Infinity) * 1000);
	if (user + kernel <= (model.head.cpus || 0) * time_ns)
		assert.equal(user + kernel + rest, (model.head.cpus || 0) * time_ns);
	for (const parts of [[user, kernel, rest], [...ns, before]]) {
		const us = states_round(parts);
		assert.equal(us.reduce((a, b) => a + b, 0), Math.floor(parts.reduce((a, b) => a + b, 0) / 1000));
		assert.ok(us.every((n, i) => Math.abs(n - parts[i] / 1000) < 1));
	}
}

// Two halves add up to the capture, and a strip has each piece once.
const account = (times) => states_account(model, filter_make(model, { ...filter_all(), times })).ns.reduce((a, b) => a + b, 0);
assert.ok(account([[0, span]]) > 0);
for (let t = 0; t < threads.count; t++) {
	const strip = states_strip(model, threads.tid[t], -1e9, 1e12, 1e9);
	assert.ok(strip.length >= threads.piece[t + 1] - threads.piece[t]);
	for (const { piece, state, from_us, to_us } of strip) {
		assert.ok(state < STATES.length && to_us > from_us);
		const at = states_at(model, threads.tid[t], (from_us + to_us) / 2);
		assert.ok(at === piece || pieces.from[at] === pieces.from[piece], "piece " + piece);
	}
	if (strip.length > 1)
		assert.equal(states_strip(model, threads.tid[t], -1e9, 1e12, 1), null);
}
