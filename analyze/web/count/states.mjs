// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
// states - what threads did at each moment, to the nanosecond, and how long altogether
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
