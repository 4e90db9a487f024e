// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
// join - two captures as one model: the samples of the one before, then those of the other, on one axis of time
//
// parts: of each capture its range [from_us, to_us) of that axis, and its head.
import { list_by_text, list_numbers, map_get } from "./lists.mjs";
import { model_tree } from "./model.mjs";

// Lists of both behind each other; add: by column, what the second one's numbers are more.
function join_lists(a, b, add = 0) {
	if (Array.isArray(a))
		return [...a, ...b];
	const type = b.BYTES_PER_ELEMENT > a.BYTES_PER_ELEMENT ? b.constructor : a.constructor, both = new type(a.length + b.length);
	both.set(a);
	b.forEach((value, i) => { both[a.length + i] = value + add; });
	return both;
}

function join_columns(a, b, add = {}) {
	/** @type {any} */
	const both = { count: a.count + b.count };
	for (const [key, list] of Object.entries(a))
		if (list?.length === a.count && b[key]?.length === b.count)
			both[key] = join_lists(list, b[key], add[key]);
	return both;
}

// Frames of one name in one file are one row, whichever capture they are of.  of: by frame of the first and of the second behind it.
function join_frames(a, b) {
	const both = join_columns(a.frames, b.frames, { object: a.objects.count });
	const base = [...a.objects.base, ...b.objects.base], { count } = both;
	const by_row = (x, y) => list_by_text(both.name[x], both.name[y]) || list_by_text(base[both.object[x]], base[both.object[y]]) || (both.flags[x] & 1) - (both.flags[y] & 1);
	const order = list_numbers(count).sort((x, y) => by_row(x, y) || x - y), of = new Uint32Array(count), labels = new Map(), frames = { ...both };
	for (const [key, list] of Object.entries(both))
		if (key !== "count")
			frames[key] = list.map((_, at) => list[order[at]]);
	order.forEach((i, at) => {
		of[i] = at;
		frames.row[at] = at ? frames.row[at - 1] + (by_row(order[at - 1], i) ? 1 : 0) : 0;
		frames.label_id[at] = map_get(labels, frames.label[at], () => labels.size);
	});
	return { frames, of };
}

// The stacks of the second below the same root.
function join_nodes(a, b, of, a_frames) {
	return model_tree(a.count + b.count - 1, (i) => {
		const second = i >= a.count, from = second ? b : a, more = second ? a.count - 1 : 0, up = from.parent[i - more];
		return [up && up + more, of[from.frame[i - more] + (second ? a_frames : 0)]];
	});
}

function join_samples(a, b, tasks, nodes, shift_us) {
	const ones = (samples) => samples.weight || new Uint32Array(samples.count).fill(1);
	return { ...join_columns(a, b, { time: shift_us, stack: a.node.length, task: tasks }), weight: a.weight || b.weight ? join_lists(ones(a), ones(b)) : null,
		end: join_lists(a.end, b.end), node: join_lists(a.node, b.node.map((node) => (node ? node + nodes - 1 : 0))) };
}

// Waits, marks and the table of processes are left out: they are not compared.
export function join_models(a, b) {
	const shift_us = a.head.span_us + 1, { frames, of } = join_frames(a, b);
	const parts = [{ from_us: 0, to_us: shift_us, head: a.head }, { from_us: shift_us, to_us: shift_us + b.head.span_us + 1, head: b.head }];
	const tasks = { ...join_columns(a.tasks, b.tasks), first: join_lists(a.tasks.first.subarray(0, a.tasks.count), b.tasks.first, a.samples.count) };
	const quality = parts.flatMap(({ head }) => [head.file + ":", ...head.verdict.map((line) => " " + line)]), { to_us } = parts[1];
	return { parts, head: { ...b.head, file: a.head.file + " and " + b.head.file, samples: a.head.samples + b.head.samples, span_us: to_us - 1, verdict: quality,
		view: "baseline=0-" + shift_us + "&time=" + shift_us + "-" + to_us + "&side=both" }, objects: join_columns(a.objects, b.objects), frames, nodes: join_nodes(a.nodes, b.nodes, of, a.frames.count),
	tasks, samples: join_samples(a.samples, b.samples, a.tasks.count, a.nodes.count, shift_us), waits: null, marks: null, processes: null, counters: null };
}

// The part in which a range of time is; null: the page is of one capture, or the range is not in one.
export function join_part(model, [from_us, to_us]) {
	return model.parts?.find((part) => from_us >= part.from_us && to_us <= part.to_us) || null;
}

export function join_is_part(part, [from_us, to_us]) {
	return part.from_us === from_us && part.to_us === to_us;
}
