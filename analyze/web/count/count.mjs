// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
// count - adds the weights of the selected samples up
import { FILTER_EVER, filter_apart } from "../data/filter.mjs";
import { list_first, list_sum } from "../data/lists.mjs";

// The first row of [from, to) whose time is not below us.
export const count_lower = (time, from, to, us) => list_first(from, to, (i) => time[i] < us);

// Adds rows [from, to) to the sums, or with a sign of -1 takes them away.
function count_rows(samples, { cpus, stacks }, slots, from, to, sums, sign) {
	const { stack, cpu, weight } = samples, { weights } = sums;
	if (!cpus && !stacks && !weight) { // most often
		for (let i = from; i < to; i++)
			weights[slots[i]] += sign;
		sums.sum += sign * (to - from);
		return;
	}
	for (let i = from; i < to; i++) {
		if ((cpus && !cpus[cpu[i] + 1]) || (stacks && !stacks[stack[i]])) // as filter_passes(), but faster
			continue;
		const w = weight ? sign * weight[i] : sign;
		weights[slots[i]] += w;
		sums.sum += w;
	}
}

// Calls visit(from, to) for the rows of each selected task and time.
export function count_each({ tasks, samples }, filter, visit) {
	for (let t = 0; t < tasks.count; t++) {
		if (!filter.tasks[t])
			continue;
		let at = tasks.first[t];
		const end = tasks.first[t + 1];
		if (!filter.times.length)
			visit(at, end);
		for (const [from_us, to_us] of filter.times) {
			at = count_lower(samples.time, at, end, from_us);
			const to = count_lower(samples.time, at, end, to_us);
			if (at < to)
				visit(at, to);
			at = to;
		}
	}
}

function count_add(model, filter, slots, sums, sign) {
	count_each(model, filter, (from, to) => count_rows(model.samples, filter, slots, from, to, sums, sign));
}

// slots: by row, where in a list of so many sums its weight belongs.
export function count_slots(model, filter, slots, slot_count) {
	const sums = { weights: new Float64Array(slot_count), sum: 0 };
	count_add(model, filter, slots, sums, 1);
	return sums;
}

// The same beside what was counted last: where times alone have changed, and by little, what entered them is added to the same list, and what
// left them is taken away.  Weights are integers: nothing is rounded.  Returns what is to be last then.
export function count_next(model, last, filter, slots, slot_count) {
	const times_of = (own) => (own?.times.length ? own.times : FILTER_EVER), length = (times) => list_sum(times.map(([from, to]) => to - from));
	const now = times_of(filter), then = times_of(last?.filter), entered = filter_apart(now, then), left = filter_apart(then, now);
	if (last?.slots !== slots || last.filter.key !== filter.key || !(length(entered) + length(left) < length(now)))
		return { filter, slots, sums: count_slots(model, filter, slots, slot_count) };
	if (entered.length)
		count_add(model, { ...filter, times: entered }, slots, last.sums, 1);
	if (left.length)
		count_add(model, { ...filter, times: left }, slots, last.sums, -1);
	return { filter, slots, sums: last.sums };
}

// The same by stack, of what was counted by slots of a tree.
export function count_by_stack(rows, tree, counted) {
	const weights = new Float64Array(rows.node.length);
	for (let i = 0; i < counted.weights.length; i++)
		weights[tree.stacks[i]] += counted.weights[i];
	return { ...counted, weights };
}
