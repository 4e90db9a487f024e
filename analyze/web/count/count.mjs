// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
// count - adds the weights of the selected samples up

import { list_first } from "../data/lists.mjs";

// The first row of [from, to) whose time is not below us.
export function count_lower(time, from, to, us) {
	return list_first(from, to, (i) => time[i] < us);
}

function count_rows(samples, filter, slots, from, to, out) {
	const { cpus, stacks } = filter, { stack, cpu, weight } = samples;
	let sum = 0, rows = 0;
	if (!cpus && !stacks && !weight) { // most often
		for (let i = from; i < to; i++)
			out[slots[i]]++;
		return [to - from, to - from];
	}
	for (let i = from; i < to; i++) {
		if ((cpus && !cpus[cpu[i] + 1]) || (stacks && !stacks[stack[i]])) // as filter_passes(), but faster
			continue;
		const w = weight ? weight[i] : 1;
		out[slots[i]] += w;
		sum += w;
		rows++;
	}
	return [sum, rows];
}

// Calls visit(from, to) for the rows of each selected task and time.
export function count_each(model, filter, visit) {
	const { tasks, samples } = model;
	for (let t = 0; t < tasks.count; t++) {
		if (!filter.tasks[t])
			continue;
		let at = tasks.first[t];
		const end = tasks.first[t + 1];
		if (!filter.times.length)
			visit(at, end, t);
		for (const [from_us, to_us] of filter.times) {
			at = count_lower(samples.time, at, end, from_us);
			const to = count_lower(samples.time, at, end, to_us);
			if (at < to)
				visit(at, to, t);
			at = to;
		}
	}
}

// slots: by row, where in a list of so many sums its weight belongs.
export function count_slots(model, filter, slots, slot_count) {
	const weights = new Float64Array(slot_count);
	let sum = 0, rows = 0;
	count_each(model, filter, (from, to) => {
		const [s, n] = count_rows(model.samples, filter, slots, from, to, weights);
		sum += s;
		rows += n;
	});
	return { weights, sum, rows };
}

// The same by stack, of what was counted by slots of a tree.
export function count_by_stack(rows, tree, counted) {
	const weights = new Float64Array(rows.node.length);
	for (let i = 0; i < counted.weights.length; i++)
		weights[tree.stacks[i]] += counted.weights[i];
	return { ...counted, weights };
}
