// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
// join - two captures as one model: the samples of the one before, then those of the other, on one axis of time
//
// parts: of each capture its range [from_us, to_us) of that axis, and its head.
import { list_by_text, list_numbers, map_get } from "./lists.mjs";
import { model_tree, model_wait_rows, NO_WAIT } from "./model.mjs";

// Lists of both behind each other; change(value, side): numbers as they are then.
function join_lists(a, b, change = (n, _side) => n) {
	if (Array.isArray(a))
		return [...a, ...b];
	const type = b.BYTES_PER_ELEMENT > a.BYTES_PER_ELEMENT ? b.constructor : a.constructor, both = new type(a.length + b.length);
	[a, b].forEach((list, side) => list.forEach((value, i) => { both[side * a.length + i] = change(value, side); }));
	return both;
}

// Those of the second are more by so many, for which what is 0 may be none.
const join_more = (count) => (n, side) => n + side * count, join_some = (count) => (n, side) => n && n + side * count;

function join_columns(a, b, changes = {}) {
	/** @type {any} */
	const both = { count: a.count + b.count };
	for (const [key, list] of Object.entries(a))
		if (list?.length === a.count && b[key]?.length === b.count)
			both[key] = join_lists(list, b[key], changes[key]);
	return both;
}

// Frames of one name in one file are one row, whichever capture they are of.  of: by frame of the first and of the second behind it.
function join_frames(a, b) {
	const both = join_columns(a.frames, b.frames, { object: join_more(a.objects.count) });
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

function join_samples(a, b, parts, tasks, node) {
	const ones = (samples) => samples.weight || new Uint32Array(samples.count).fill(1);
	return { ...join_columns(a, b, { time: (us, side) => us + parts[side].shift_us, stack: join_more(a.node.length), task: join_more(tasks) }), weight: a.weight || b.weight ? join_lists(ones(a), ones(b)) : null,
		end: join_lists(a.end, b.end), node: join_lists(a.node, b.node, node) };
}

// where: frames as they are numbered then.  null: one of them has no waits.
function join_waits(a, b, parts, tasks, node, where) {
	if (!a || !b)
		return null;
	const later = (ns, side) => ns + 1000 * parts[side].shift_us, nodes = { node, queue: node, woken: node, queue_woken: node, where }, kinds = join_columns(a.kinds, b.kinds, nodes);
	const firsts = (key, { count }) => join_lists(a.threads[key].subarray(0, a.threads.count), b.threads[key], join_more(count));
	return { stacks: join_columns(a.stacks, b.stacks, nodes), pieces: join_columns(a.pieces, b.pieces, { from: later, wait: (wait, side) => (wait === NO_WAIT ? wait : wait + side * a.waits.count) }),
		threads: { ...join_columns(a.threads, b.threads, { begin: later, task: join_more(tasks) }), piece: firsts("piece", a.pieces), wait: firsts("wait", a.waits) },
		...model_wait_rows(join_columns(a.waits, b.waits, { kind: join_more(a.kinds.count), stack: join_some(a.stacks.count), task: join_more(tasks) }), kinds) };
}

// How long a capture is, which its threads may have been before its first sample and behind its last, and where that begins.
function join_extent({ head, waits }) {
	let from_us = 0, to_us = head.span_us + 1;
	waits?.pieces.from.forEach((ns, i) => {
		from_us = Math.min(from_us, Math.floor(ns / 1000));
		to_us = Math.max(to_us, Math.floor((ns + waits.pieces.length[i]) / 1000) + 1); // the last nanosecond of a range is none of its time
	});
	return { from_us, length_us: to_us - from_us };
}

// Marks and the table of processes are left out: they are not compared.
export function join_models(a, b) {
	const { frames, of } = join_frames(a, b), node = join_some(a.nodes.count - 1), task_count = a.tasks.count;
	let to_us = 0;
	const parts = [a, b].map((own) => {
		const extent = join_extent(own), from_us = to_us;
		to_us += extent.length_us;
		return { from_us, to_us, shift_us: from_us - extent.from_us, head: { ...own.head, base_us: own.head.base_us + extent.from_us } };
	});
	const tasks = { ...join_columns(a.tasks, b.tasks), first: join_lists(a.tasks.first.subarray(0, task_count), b.tasks.first, join_more(a.samples.count)) };
	const quality = parts.flatMap(({ head }) => [head.file + ":", ...head.verdict.map((line) => " " + line)]), middle = parts[1].from_us;
	return { parts, head: { ...b.head, file: a.head.file + " and " + b.head.file, samples: a.head.samples + b.head.samples, span_us: to_us - 1, verdict: quality,
		view: "baseline=0-" + middle + "&time=" + middle + "-" + to_us + "&side=both" }, objects: join_columns(a.objects, b.objects), frames, nodes: join_nodes(a.nodes, b.nodes, of, a.frames.count),
	tasks, samples: join_samples(a.samples, b.samples, parts, task_count, node), waits: join_waits(a.waits, b.waits, parts, task_count, node, (at, side) => at && of[at - 1 + side * a.frames.count] + 1),
	marks: null, processes: null, counters: null };
}

// The part in which a range of time is; null: the page is of one capture, or the range is not in one.
export const join_part = (model, [from_us, to_us]) => model.parts?.find((part) => from_us >= part.from_us && to_us <= part.to_us) || null;

export const join_is_part = (part, [from_us, to_us]) => part.from_us === from_us && part.to_us === to_us;
