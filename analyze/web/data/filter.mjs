// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
// filter - which samples are selected, by the rules of `ebprec report`'s options of the same names
//
// A selection is plain data:
//	times: [[from_us, to_us), ...] since head.base_us, rising and apart; none: all
//	comms, pids, tids, cpus: lists; none: all
//	during: what spans are called whose times alone are selected; not_during: all but these
//	symbol, dso: an expression over the function that ran and the path of its file; parent: over its callers.
//		"" takes all; "!" in front takes what does not match
import { list_join } from "./lists.mjs";
import { marks_during } from "./marks.mjs";
import { match_test } from "./match.mjs";

export const FILTER_LISTS = ["comms", "pids", "tids", "cpus"];
export const FILTER_TEXTS = ["symbol", "dso", "parent"];

export const filter_all = () => ({ times: [], comms: [], pids: [], tids: [], cpus: [], during: "", not_during: false, symbol: "", dso: "", parent: "" });

// Which of tasks, threads or marks are selected by name, process and thread, 1 each.
export function filter_tasks({ count, comm, pid, tid }, selection) {
	const pass = new Uint8Array(count).fill(1);
	for (const [list, values] of [[selection.comms, comm], [selection.pids, pid], [selection.tids, tid]])
		for (let i = 0; list.length && i < count; i++)
			pass[i] &= list.includes(values[i]) ? 1 : 0;
	return pass;
}

// By CPU + 1; null: all.
function filter_cpus({ cpus }) {
	const pass = cpus.length ? new Uint8Array(0x10001) : null;
	for (const cpu of cpus)
		pass[cpu + 1] = 1;
	return pass;
}

// Whether each text passes, 1 each.
function filter_texts(expression, texts) {
	const negated = expression[0] === "!", test = match_test(negated ? expression.slice(1) : expression, false);
	return Uint8Array.from(texts, (text) => test(text) !== negated ? 1 : 0);
}

// Nodes of which a caller, however far, matches; or none does.
function filter_below({ nodes, frames }, expression) {
	const negated = expression[0] === "!" ? 1 : 0, passes = filter_texts(expression, frames.name), below = new Uint8Array(nodes.count).fill(negated);
	for (let i = 1; i < nodes.count; i++) {
		const up = nodes.parent[i];
		below[i] = up && passes[nodes.frame[up]] !== negated ? 1 - negated : below[up];
	}
	return below;
}

// By stack; null: all.  of: the node of each stack.
function filter_stacks(model, { symbol, dso, parent }, of) {
	const { nodes, frames, objects } = model;
	if (!symbol && !dso && !parent)
		return null;
	const names = symbol && filter_texts(symbol, frames.name), paths = dso && filter_texts(dso, objects.path), below = parent && filter_below(model, parent);
	// A stack without frames is of no function, and passes.
	return Uint8Array.from(of, (node) => {
		const frame = nodes.frame[node];
		return !node || ((!names || names[frame]) && (!paths || paths[frames.object[frame]]) && (!below || below[node])) ? 1 : 0;
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

export const FILTER_EVER = [[-Infinity, Infinity]];

function filter_outside(ranges) {
	const ends = [-Infinity, ...ranges.flat(), Infinity];
	return ends.flatMap((end, i) => (i % 2 ? [[ends[i - 1], end]] : []));
}

// The parts of times that are in none of the others.
export const filter_apart = (times, others) => filter_meet(times, filter_outside(others)).filter(([from, to]) => to > from);

// The selected time in nanoseconds since head.base_us, both ends included.
export function filter_ranges(model, { times, during, not_during }) {
	const ranges = times.length ? times.map(([from, to]) => [from * 1000, to * 1000 - 1]) : FILTER_EVER, spans = during ? marks_during(model, during) : FILTER_EVER;
	return filter_meet(ranges, not_during ? filter_outside(spans) : spans);
}

// The same as [from_us, to_us), for what has microseconds; none: all.  All that is in the microsecond of an end of a span is within it.
function filter_times(model, { times, during, not_during }) {
	if (!during)
		return times;
	const spans = filter_join_times(marks_during(model, during).map(([from, to]) => [Math.floor(from / 1000), Math.floor(to / 1000) + 1]));
	const met = filter_apart(times.length ? times : FILTER_EVER, not_during ? spans : filter_outside(spans));
	return met.length ? met : [[-Infinity, -Infinity]];
}

// The filter that count.mjs asks row by row; key: all of it but the times.  rows: those whose stacks are asked for.  Throws what match_test() throws.
export function filter_make(model, selection, rows = model.samples) {
	// Threads of waits have the name that each had last.  Where a wait is, no CPU is: as in `ebprec report`.
	const threads = model.waits && filter_tasks(model.waits.threads, selection);
	if (selection.cpus.length)
		threads?.fill(0);
	return { tasks: filter_tasks(model.tasks, selection), cpus: filter_cpus(selection), threads,
		stacks: filter_stacks(model, selection, rows.node), key: JSON.stringify({ ...selection, times: [] }), times: filter_times(model, selection), ranges: filter_ranges(model, selection) };
}

// Whether the filter's CPUs and stacks have the sample.
export const filter_passes = ({ cpus, stacks }, samples, i) => (!cpus || cpus[samples.cpu[i] + 1]) && (!stacks || stacks[samples.stack[i]]);

// Rising and apart, as selections are.
export const filter_join_times = (times) => list_join(times.filter(([from, to]) => to > from).sort((a, b) => a[0] - b[0]));
