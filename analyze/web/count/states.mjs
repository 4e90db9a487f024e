// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
// states - what threads did at each moment, to the nanosecond, and how long altogether
import { FRAME_KERNEL } from "../data/model.mjs";
import { count_each } from "./count.mjs";
import { list_sum } from "../data/lists.mjs";
import { waits_first, waits_pieces, waits_threads, NO_ROW, STATE_RUN, STATE_UNKNOWN } from "./waits.mjs";

export const STATES = [
	["run", "runs"],
	["runnable", "waits for a CPU"],
	["sleep", "sleeps"],
	["block", "is blocked (uninterruptible)"],
	["stop", "is stopped"],
	["unknown", "not known: events are missing"],
];

// Pieces of the thread within [from_us, to_us): { piece, state, from_us, to_us }; null: more than most of them.
export function states_strip({ waits: { pieces, threads } }, tid, from_us, to_us, most) {
	const strip = [];
	for (let t = 0; t < threads.count; t++) {
		const last = threads.tid[t] === tid ? threads.piece[t + 1] : -1;
		for (let i = waits_first(pieces, threads.piece[t], last, from_us * 1000); i < last && pieces.from[i] < to_us * 1000; i++) {
			const begin = pieces.from[i];
			if (strip.length === most)
				return null;
			strip.push({ piece: i, state: pieces.state[i], from_us: Math.max(from_us, begin / 1000), to_us: Math.min(to_us, (begin + pieces.length[i]) / 1000) });
		}
	}
	return strip;
}

// The piece that a thread is in then; -1: none.
export const states_at = (model, tid, us) => states_strip(model, tid, us, us + 0.001, Infinity)[0]?.piece ?? -1;

// Nanoseconds of the selected threads by state, and since before the recording (which the others are without).
export function states_account(model, filter) {
	const { pieces } = model.waits, ns = STATES.map(() => 0);
	let before = 0;
	waits_threads(model, filter, (t) => waits_pieces(model, t, filter.ranges, (i, part) => {
		const state = pieces.state[i];
		if (pieces.wait[i] === NO_ROW && state !== STATE_RUN && state !== STATE_UNKNOWN)
			before += part;
		else
			ns[state] += part;
	}));
	return { ns, before };
}

// Nanoseconds of all CPUs in the filter's times, whatever else it selects: of programs and of the kernel, which share the time of threads
// on a CPU as samples are spread, and the rest.
export function states_cpus(model, { times, ranges }, cpus) {
	const { waits: { pieces, threads }, samples, nodes, frames, tasks } = model;
	let first = Infinity, last = -Infinity, run = 0, kernel = 0, all = 0;
	for (let t = 0; t < threads.count; t++) {
		const end = threads.piece[t + 1] - 1;
		first = Math.min(first, pieces.from[threads.piece[t]]);
		last = Math.max(last, pieces.from[end] + pieces.length[end]);
		waits_pieces(model, t, ranges, (i, part) => { run += pieces.state[i] === STATE_RUN ? part : 0; });
	}
	const in_kernel = Uint8Array.from(samples.node, (node) => frames.flags[nodes.frame[node]] & FRAME_KERNEL);
	count_each(model, { tasks: new Uint8Array(tasks.count).fill(1), times }, (from, to) => {
		all += to - from;
		for (let i = from; i < to; i++)
			kernel += in_kernel[samples.stack[i]];
	});
	const time_ns = 1000 * Math.floor(list_sum(ranges.map(([from, to]) => Math.max(0, Math.min(to + 1, last) - Math.max(from, first)))) / 1000), part = all ? Math.round(run * kernel / all) : 0;
	return { time_ns, user: run - part, kernel: part, rest: Math.max(0, cpus * time_ns - run) };
}

// The same in microseconds, which add up to those of the sum.
export function states_round(parts_ns) {
	let sum = 0;
	return parts_ns.map((ns) => {
		const before = Math.floor(sum / 1000);
		sum += ns;
		return Math.floor(sum / 1000) - before;
	});
}
