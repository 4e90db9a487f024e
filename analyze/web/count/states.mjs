// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
// states - what threads did at each moment, to the nanosecond, and how long altogether
import { FRAME_KERNEL } from "../data/model.mjs";
import { count_each } from "./count.mjs";
import { waits_first, waits_pieces, STATE_RUN, STATE_UNKNOWN } from "./waits.mjs";

export const STATES = [
	["run", "runs"],
	["runnable", "waits for a CPU"],
	["sleep", "sleeps"],
	["block", "waits, not to be interrupted"],
	["stop", "is stopped"],
	["unknown", "not known: events are missing"],
];

// The threads that have this id, one after the other.
function states_threads(model, tid) {
	const list = [];
	for (let t = 0; t < model.waits.threads.count; t++)
		if (model.waits.threads.tid[t] === tid)
			list.push(t);
	return list;
}

// Pieces of the thread within [from_us, to_us): { piece, state, from_us, to_us }; null: more than most of them.
export function states_strip(model, tid, from_us, to_us, most) {
	const { pieces, threads } = model.waits, strip = [];
	for (const t of states_threads(model, tid)) {
		const last = threads.piece[t + 1];
		for (let i = waits_first(pieces, threads.piece[t], last, from_us * 1000); i < last && pieces.from[i] < to_us * 1000; i++) {
			if (strip.length === most)
				return null;
			strip.push({ piece: i, state: pieces.state[i], from_us: Math.max(from_us, pieces.from[i] / 1000),
				to_us: Math.min(to_us, (pieces.from[i] + pieces.length[i]) / 1000) });
		}
	}
	return strip;
}

// The piece that a thread is in then; -1: none.
export function states_at(model, tid, us) {
	const { pieces, threads } = model.waits;
	for (const t of states_threads(model, tid)) {
		const i = waits_first(pieces, threads.piece[t], threads.piece[t + 1], us * 1000);
		if (i < threads.piece[t + 1] && pieces.from[i] <= us * 1000)
			return i;
	}
	return -1;
}

// Nanoseconds of the selected threads by state, and since before the recording (which the others are without).
export function states_account(model, filter) {
	const { pieces, threads } = model.waits, ns = STATES.map(() => 0), { ranges } = filter;
	let before = 0;
	for (let t = 0; t < threads.count; t++)
		if (filter.threads[t])
			waits_pieces(model, t, ranges, (i, part) => {
				const state = pieces.state[i];
				if (pieces.wait[i] === 0xffffffff && state !== STATE_RUN && state !== STATE_UNKNOWN)
					before += part;
				else
					ns[state] += part;
			});
	return { ns, before, off: ns.reduce((a, b) => a + b, 0) - ns[STATE_RUN] - ns[STATE_UNKNOWN] };
}

// Nanoseconds of all CPUs in the filter's times, whatever else it selects: of programs and of the kernel, which share the time of threads
// on a CPU as samples are spread, and the rest.
export function states_cpus(model, { times, ranges }) {
	const { pieces, threads } = model.waits, { samples, nodes, frames, tasks } = model, { count } = threads;
	let first = Infinity, last = -Infinity, run = 0, kernel = 0, all = 0;
	for (let t = 0; t < count; t++) {
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
	const ns = 1000 * Math.floor(ranges.reduce((sum, [from, to]) => sum + Math.max(0, Math.min(to + 1, last) - Math.max(from, first)), 0) / 1000), part = all ? Math.round(run * kernel / all) : 0;
	return { time_ns: ns, user: run - part, kernel: part, rest: Math.max(0, (model.head.cpus || 0) * ns - run) };
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
