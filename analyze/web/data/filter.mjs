// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
// filter - which samples are selected, by the rules of `ebprec report`'s options of the same names
//
// A selection is plain data:
//	times: [[from_us, to_us), ...] since head.base_us, rising and apart; none: all
//	comms, pids, tids, cpus: lists; none: all.  not_comms ...: true: all but these
//	during: what spans are called whose times alone are selected; not_during: all but these
//	symbol, dso: an expression over the function that ran and the path of its file; parent: over its callers.
//		"" takes all; "!" in front takes what does not match
import { marks_during } from "./marks.mjs";
import { match_frames, match_test } from "./match.mjs";

export const FILTER_LISTS = ["comms", "pids", "tids", "cpus"];
export const FILTER_TEXTS = ["symbol", "dso", "parent"];

export function filter_all() {
	return { times: [], comms: [], pids: [], tids: [], cpus: [],
		not_comms: false, not_pids: false, not_tids: false, not_cpus: false,
		during: "", not_during: false, symbol: "", dso: "", parent: "" };
}

export function filter_is_all(selection) {
	return !selection.times.length && !selection.during && FILTER_LISTS.every((list) => !selection[list].length) &&
		FILTER_TEXTS.every((text) => !selection[text]);
}

// Which of tasks, threads or marks are selected by name, process and thread, 1 each.
export function filter_tasks({ count, comm, pid, tid }, selection) {
	const pass = new Uint8Array(count).fill(1);
	for (const [key, values] of [["comms", comm], ["pids", pid], ["tids", tid]]) {
		const wanted = new Set(selection[key]);
		for (let i = 0; wanted.size && i < count; i++)
			pass[i] &= wanted.has(values[i]) !== selection["not_" + key] ? 1 : 0;
	}
	return pass;
}

// By CPU + 1; null: all.
function filter_cpus(model, selection) {
	if (!selection.cpus.length)
		return null;
	const pass = new Uint8Array(0x10001).fill(selection.not_cpus ? 1 : 0);
	for (const cpu of selection.cpus)
		pass[cpu + 1] = selection.not_cpus ? 0 : 1;
	return pass;
}

// Whether each text passes; null: all do.
function filter_texts(expression, texts) {
	if (!expression)
		return null;
	const negated = expression[0] === "!";
	const test = match_test(negated ? expression.slice(1) : expression, false);
	return Uint8Array.from(texts, (text) => test(text) !== negated ? 1 : 0);
}

// Nodes of which a caller, however far, matches.
function filter_below(model, expression) {
	const negated = expression[0] === "!", nodes = model.nodes;
	const hit = match_frames(model, negated ? expression.slice(1) : expression, false);
	const below = new Uint8Array(nodes.count), pass = new Uint8Array(nodes.count);
	pass[0] = negated ? 1 : 0;
	for (let i = 1; i < nodes.count; i++) {
		const up = nodes.parent[i];
		below[i] = below[up] || (up && hit[nodes.frame[up]]) ? 1 : 0;
		pass[i] = below[i] ^ (negated ? 1 : 0);
	}
	return pass;
}

// By stack; null: all.  node: of each stack.
function filter_stacks(model, selection, nodes) {
	const names = filter_texts(selection.symbol, model.frames.name);
	const paths = filter_texts(selection.dso, model.objects.path);
	const below = selection.parent ? filter_below(model, selection.parent) : null;
	if (!names && !paths && !below)
		return null;
	// A stack without frames is of no function, and passes.
	return Uint8Array.from(nodes, (node) => {
		const frame = model.nodes.frame[node];
		return !node || ((!names || names[frame]) && (!paths || paths[model.frames.object[frame]]) &&
			(!below || below[node])) ? 1 : 0;
	});
}

// The common part of two lists of ranges that rise and are apart.
function filter_meet(a, b) {
	const both = [];
	for (let i = 0, k = 0; i < a.length && k < b.length;) {
		const from = Math.max(a[i][0], b[k][0]), to = Math.min(a[i][1], b[k][1]);
		if (from <= to)
			both.push([from, to]);
		if (a[i][1] < b[k][1])
			i++;
		else
			k++;
	}
	return both;
}

function filter_outside(ranges) {
	const ends = [-Infinity, ...ranges.flat(), Infinity], outside = [];
	for (let i = 0; i < ends.length; i += 2)
		outside.push([ends[i], ends[i + 1]]);
	return outside;
}

// The selected time in nanoseconds since head.base_us, both ends included.
export function filter_ranges(model, selection) {
	const times = selection.times.length ? selection.times.map(([from, to]) => [from * 1000, to * 1000 - 1]) : [[-Infinity, Infinity]];
	if (!selection.during)
		return times;
	const during = marks_during(model, selection.during);
	return filter_meet(times, selection.not_during ? filter_outside(during) : during);
}

// The same as [from_us, to_us), for what has microseconds; none: all.  All that is in the microsecond of an end of a span is within it.
function filter_times(model, selection) {
	if (!selection.during)
		return selection.times;
	const during = filter_join_times(marks_during(model, selection.during).map(([from, to]) => [Math.floor(from / 1000), Math.floor(to / 1000) + 1]));
	const wanted = selection.not_during ? filter_outside(during) : during, times = selection.times.length ? selection.times : [[-Infinity, Infinity]];
	const met = filter_meet(times, wanted).filter(([from, to]) => to > from);
	return met.length ? met : [[-Infinity, -Infinity]];
}

// The filter that count.mjs asks row by row.  rows: those whose stacks are asked for.  Throws what match_test() throws.
export function filter_make(model, selection, rows = model.samples) {
	// Threads of waits have the name that each had last.  Where a wait is, no CPU is: as in `ebprec report`.
	const threads = model.waits ? filter_tasks(model.waits.threads, selection) : null;
	if (selection.cpus.length && !selection.not_cpus)
		threads?.fill(0);
	return { tasks: filter_tasks(model.tasks, selection), cpus: filter_cpus(model, selection), threads,
		stacks: filter_stacks(model, selection, rows.node), times: filter_times(model, selection), ranges: filter_ranges(model, selection) };
}

// Whether the filter's CPUs and stacks have the sample.
export function filter_passes({ cpus, stacks }, samples, i) {
	return (!cpus || cpus[samples.cpu[i] + 1]) && (!stacks || stacks[samples.stack[i]]);
}

// Rising and apart, as selections are.
export function filter_join_times(times) {
	const joined = [];
	for (const [from, to] of times.filter((range) => range[1] > range[0]).sort((a, b) => a[0] - b[0])) {
		const last = joined[joined.length - 1];
		if (last && from <= last[1])
			last[1] = Math.max(last[1], to);
		else
			joined.push([from, to]);
	}
	return joined;
}
