// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
// measure - what is counted: samples, or the time of waits, alone or by the threads that ended them
//
// A measure: rows (stack and task by row, node by stack), unit, words (of the command that counts the same), filter() of a
// selection, and count(filter, slots, slot_count), where slots has by row to which sum it belongs:
// its sums are those of the filter until it is called again.
import { count_next } from "./count.mjs";
import { filter_make } from "../data/filter.mjs";
import { wall_rows, wall_weigh } from "./wall.mjs";
import { waits_count_slots, waits_rows, waits_weigh } from "./waits.mjs";

function measure_samples(model) {
	let last = null;
	return { name: "cpu", rows: model.samples, unit: model.head.weight, words: [], filter: (selection) => filter_make(model, selection),
		count: (filter, slots, slot_count) => (last = count_next(model, last, filter, slots, slot_count)).sums };
}

// Sharing takes longer than adding up: for one filter it is done once.
function measure_waits(model, name) {
	const rows = name === "wall" ? wall_rows(model) : waits_rows(model, name === "wakers"), weigh = name === "wall" ? wall_weigh : waits_weigh;
	let last = null, ns = null;
	return { name, rows, unit: "us", words: ["--" + name], filter: (selection) => filter_make(model, selection, rows),
		count: (filter, slots, slot_count) => {
			ns = filter === last ? ns : weigh(model, rows, filter);
			last = filter;
			return waits_count_slots(rows, filter, ns, slots, slot_count);
		} };
}

// Without such waits in the page, samples are counted.
export const measure_make = (model, name) => name === "cpu" || !model.waits ? measure_samples(model) : measure_waits(model, name);
