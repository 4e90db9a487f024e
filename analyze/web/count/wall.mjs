// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
// wall - all of the time that threads lived, as `ebprec report --wall` has it: what they ran, which their samples share, and waits
import { FILTER_EVER } from "../data/filter.mjs";
import { list_sum, map_get } from "../data/lists.mjs";
import { count_lower } from "./count.mjs";
import { NO_ROW, STATE_RUN, STATE_UNKNOWN, waits_kind, waits_pieces, waits_rows, waits_share, waits_threads, waits_weigh } from "./waits.mjs";

const WALL_KINDS = [5, 6, 7]; // on a CPU, since before the recording, not known

// By thread its samples by time, and their times.
function wall_samples({ samples, tasks, waits }) {
	const { threads } = waits, lives = new Map(), own = Array.from({ length: threads.count }, () => []), start = (t) => threads.begin[t] - threads.start[t];
	threads.tid.forEach((tid, t) => map_get(lives, tid, () => []).push(t));
	lives.forEach((list) => list.sort((a, b) => start(a) - start(b)));
	for (let i = 0; i < samples.count; i++)
		own[lives.get(tasks.tid[samples.task[i]])?.findLast((t) => start(t) <= samples.time[i] * 1000 + 999)]?.push(i);
	// One that was called otherwise for a time has them by name.
	return own.map((list) => {
		list.sort((a, b) => samples.time[a] - samples.time[b] || a - b);
		return { list, time: Float64Array.from(list, (i) => samples.time[i]) };
	});
}

// bare: of each kind by thread; of_sample: by sample; own: wall_samples().
export function wall_rows(model) {
	const { threads, kinds } = model.waits, { samples } = model, nodes = WALL_KINDS.map((kind) => kinds.node[kinds.kind.indexOf(kind)] || 0);
	return waits_rows(model, false, (row_of) => ({ own: wall_samples(model),
		bare: nodes.map((node) => Uint32Array.from(threads.task, (task) => row_of(node, 0, task))),
		of_sample: samples.stack.map((stack, i) => row_of(samples.node[stack] || nodes[0], samples.end[stack], samples.task[i])) }));
}

// The part of its time on a CPU that the selected samples of a thread get.
function wall_share({ samples }, { list, time }, { times, cpus }, exact, add) {
	const weight = (i) => (samples.weight ? samples.weight[i] || 1 : 1), selected = [];
	for (const [from, to] of times.length ? times : FILTER_EVER)
		for (let at = count_lower(time, 0, list.length, from); at < list.length && time[at] < to; at++)
			if (!cpus || cpus[samples.cpu[list[at]] + 1])
				selected.push(list[at]);
	const kind = { ...waits_kind(0), exact, sampled: list_sum(selected.map(weight)) };
	for (const i of selected)
		add(i, waits_share(kind, weight(i), 1));
	return selected.length > 0;
}

// Nanoseconds by row.
export function wall_weigh(model, rows, filter) {
	const ns = waits_weigh(model, rows, filter), { pieces } = model.waits;
	const add = (row, part) => { if (row !== NO_ROW) ns[row] += part; };
	waits_threads(model, filter, (t) => {
		let on = 0;
		waits_pieces(model, t, filter.ranges, (i, part) => {
			const state = pieces.state[i];
			on += state === STATE_RUN ? part : 0;
			if (state === STATE_UNKNOWN)
				add(rows.bare[2][t], part);
			else if (state !== STATE_RUN && pieces.wait[i] === NO_ROW)
				add(rows.bare[1][t], part);
		});
		if (on && !wall_share(model, rows.own[t], filter, on, (i, part) => add(rows.of_sample[i], part)))
			add(rows.bare[0][t], on);
	});
	return ns;
}
