// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
// model - the tables of a page in memory: typed arrays, checked once, so that nobody who reads them need check
import { bytes_from_base64, bytes_inflate, bytes_signed, bytes_texts, bytes_varints } from "./bytes.mjs";

export const FRAME_KERNEL = 1, FRAME_INLINED = 2, FRAME_SAME_ROW = 4;
export const NODE_ROOT = 0;

// The columns of a table by name.
async function model_table(info, text) {
	const bytes = await bytes_inflate(bytes_from_base64(text), info.bytes);
	const table = { rows: info.rows };
	let at = 0;
	for (const column of info.columns) {
		const end = at + column.bytes;
		if (!(end <= bytes.length))
			throw new Error("table '" + info.name + "' is shorter than its columns");
		if (column.kind === "text")
			table[column.name] = bytes_texts(bytes, at, end, info.rows);
		else
			table[column.name] = bytes_varints(bytes, at, end, info.rows);
		if (column.kind === "z")
			table[column.name] = bytes_signed(table[column.name]);
		at = end;
	}
	return table;
}

function model_check(numbers, count, what) {
	for (let i = 0; i < numbers.length; i++)
		if (!(numbers[i] < count))
			throw new Error(what + " " + numbers[i] + " is not in the page");
	return numbers;
}

function model_texts(numbers, strings) {
	return Array.from(model_check(numbers, strings.length, "string"), (n) => strings[n]);
}

// Frames by what a table of functions shows: equal rows get equal numbers, rising with the frames.
function model_rows(flags) {
	const rows = new Uint32Array(flags.length);
	for (let i = 1; i < flags.length; i++)
		rows[i] = rows[i - 1] + (flags[i] & FRAME_SAME_ROW ? 0 : 1);
	return rows;
}

function model_frames(table, objects, strings) {
	const label_ids = model_check(table.label, strings.length, "string");
	return {
		count: table.rows,
		name: model_texts(table.name, strings),
		label: model_texts(label_ids, strings),
		label_id: label_ids,
		object: model_check(table.object, objects.count, "object"),
		flags: table.flags,
		line: model_texts(table.line, strings),
		reason: model_texts(table.reason, strings),
		row: model_rows(table.flags),
	};
}

// Parents come before their callees, and nodes are in the order of a walk: below a node stand all that it calls.
function model_nodes(table, frames) {
	const count = table.rows + 1;
	const parent = new Uint32Array(count), frame = new Uint32Array(count), depth = new Uint32Array(count);
	model_check(table.frame, frames.count, "frame");
	for (let i = 1; i < count; i++) {
		const up = table.parent[i - 1];
		if (up < 1 || up > i)
			throw new Error("node " + i + " has no caller");
		parent[i] = i - up;
		frame[i] = table.frame[i - 1];
		depth[i] = depth[i - up] + 1;
	}
	return { count, parent, frame, depth };
}

function model_tasks(table, strings) {
	const count = table.rows;
	const tasks = {
		count,
		pid: new Int32Array(count),
		tid: new Int32Array(count),
		comm: model_texts(table.comm, strings),
		label: model_texts(table.label, strings),
		cgroup: model_texts(table.cgroup, strings),
		container: model_texts(table.container, strings),
		first: new Uint32Array(count + 1), // rows of task i: first[i] to first[i + 1]
	};
	let pid = 0;
	for (let i = 0; i < count; i++) {
		pid += table.pid[i];
		tasks.pid[i] = pid;
		tasks.tid[i] = pid + table.tid[i];
		tasks.first[i + 1] = tasks.first[i] + table.samples[i];
	}
	return tasks;
}

// A row a sample, by task and then by time.
function model_samples(table, cpus, stacks, tasks, nodes) {
	const count = table.rows;
	const samples = {
		count,
		time: new Float64Array(count), // us since head.base_us
		stack: model_check(table.stack, stacks.rows, "stack"),
		weight: table.weight || null, // null: 1 each
		task: new Uint32Array(count),
		cpu: new Int32Array(count),
		node: model_check(stacks.node, nodes.count, "node"), // of each stack
		end: model_check(stacks.end, 256, "end"), // the same
	};
	if (tasks.first[tasks.count] !== count)
		throw new Error("the tasks do not have all samples");
	for (let t = 0; t < tasks.count; t++) {
		let time = 0;
		for (let i = tasks.first[t]; i < tasks.first[t + 1]; i++) {
			time += table.time[i];
			samples.time[i] = time;
			samples.task[i] = t;
		}
	}
	let at = 0;
	for (let r = 0; r < cpus.rows; r++) {
		if (!(at + cpus.samples[r] <= count) || cpus.cpu[r] < -1 || cpus.cpu[r] > 0xffff)
			throw new Error("the CPUs are of more samples than there are");
		for (const end = at + cpus.samples[r]; at < end; at++)
			samples.cpu[at] = cpus.cpu[r];
	}
	if (at !== count)
		throw new Error("the CPUs are of fewer samples than there are");
	return samples;
}

// ---- states and waits ----

const STATE_COUNT = 6, WAIT_KINDS = 8, WAIT_RUN_QUEUE = 4, NO_WAIT = 0xffffffff;

// Of thread i: pieces piece[i] to piece[i + 1], waits wait[i] to wait[i + 1].
function model_threads(table, strings, tasks) {
	const count = table.rows, threads = { count, tid: new Float64Array(count), pid: table.pid, comm: model_texts(table.comm, strings),
		task: model_check(table.task, tasks.count, "task"), begin: table.begin,
		piece: new Uint32Array(count + 1), wait: new Uint32Array(count + 1) };
	let tid = 0;
	for (let i = 0; i < count; i++) {
		tid += table.tid[i];
		threads.tid[i] = tid;
		threads.piece[i + 1] = threads.piece[i] + table.pieces[i];
		threads.wait[i + 1] = threads.wait[i] + table.waits[i];
	}
	return threads;
}

// from: nanoseconds since head.base_us; wait: of which it is a part; NO_WAIT: of none.
function model_pieces(table, threads) {
	const count = table.rows, pieces = { count, from: new Float64Array(count), length: table.length, state: new Uint8Array(count),
		wait: new Uint32Array(count).fill(NO_WAIT) };
	if (threads.piece[threads.count] !== count)
		throw new Error("the threads do not have all pieces");
	for (let t = 0; t < threads.count; t++) {
		let at = threads.begin[t], next = threads.wait[t];
		for (let i = threads.piece[t]; i < threads.piece[t + 1]; i++) {
			const relation = table.state[i] >> 3;
			at += table.hole[i];
			pieces.from[i] = at;
			at += pieces.length[i];
			pieces.state[i] = table.state[i] & 7;
			next += relation === 2 ? 1 : 0;
			if (pieces.state[i] >= STATE_COUNT || table.state[i] > 23 || (relation && next === threads.wait[t]))
				throw new Error("state " + table.state[i] + " is not in the page");
			if (relation)
				pieces.wait[i] = next - 1;
		}
		if (next !== threads.wait[t + 1])
			throw new Error("the pieces do not have all waits");
	}
	return pieces;
}

function model_wait_kinds(table, nodes) {
	model_check(table.kind, WAIT_KINDS, "kind");
	model_check(table.syscall, 65536, "system call");
	return { count: table.rows, kind: table.kind, queued: table.queued, node: model_check(table.node, nodes.count, "node"),
		queue: model_check(table.queue, nodes.count, "node"),
		...model_wait_keys(table) };
}

// Numbers of pairs of a kind and a system call: of each row, and of the time for a CPU behind it.
function model_wait_keys(table) {
	const known = new Map(), number = (key) => known.get(key) ?? known.set(key, known.size).get(key);
	const key = Uint32Array.from(table.kind, (kind, i) => number(kind * 65536 + table.syscall[i]));
	const queue_key = Uint32Array.from(table.syscall, (syscall) => number(WAIT_RUN_QUEUE * 65536 + syscall));
	return { key, queue_key, key_count: known.size };
}

// taken: of a wait with a stack, its place among those of its thread.
function model_wait_rows(table, threads, stacks, kinds, tasks) {
	const count = table.rows, taken = new Float64Array(count), task = new Uint32Array(count);
	if (threads.wait[threads.count] !== count)
		throw new Error("the threads do not have all waits");
	let of = 0;
	for (let t = 0; t < threads.count; t++)
		for (let i = threads.wait[t], place = 0; i < threads.wait[t + 1]; i++) {
			of += table.task[i];
			if (!(of >= 0 && of < tasks.count))
				throw new Error("task " + of + " is not in the page");
			task[i] = of;
			taken[i] = table.stack[i] ? place++ + table.order[i] : 0;
		}
	return { count, kind: model_check(table.kind, kinds.count, "kind"), weight: table.weight, task, taken,
		stack: model_check(table.stack, stacks.rows + 1, "stack") };
}

// Of each wait its first piece, and its two parts when all of it is selected.
function model_wait_lengths({ waits, pieces, kinds }) {
	waits.ns = new Float64Array(waits.count);
	waits.queue = new Float64Array(waits.count);
	waits.piece = new Uint32Array(waits.count);
	for (let i = pieces.count; i-- > 0;) {
		const w = pieces.wait[i];
		if (w === NO_WAIT)
			continue;
		waits.piece[w] = i;
		(pieces.state[i] === 1 && kinds.queued[waits.kind[w]] ? waits.queue : waits.ns)[w] += pieces.length[i];
	}
}

// null: the page has none.
function model_waits(tables, strings, tasks, nodes) {
	const { threads, pieces, waits } = tables, stacks = tables["waits.stacks"], kinds = tables["waits.kinds"];
	if (!threads || !pieces || !waits || !stacks || !kinds)
		return null;
	for (const column of ["node", "queue", "woken", "queue_woken"])
		model_check(stacks[column], nodes.count, "node");
	model_check(stacks.end, 256, "end");
	/** @type {any} */
	const made = { threads: model_threads(threads, strings, tasks), kinds: model_wait_kinds(kinds, nodes), stacks: { ...stacks, waker: model_texts(stacks.waker, strings) } };
	made.pieces = model_pieces(pieces, made.threads);
	made.waits = model_wait_rows(waits, made.threads, stacks, made.kinds, tasks);
	model_wait_lengths(made);
	made.room = { ns: new Float64Array(made.waits.count), queue: new Float64Array(made.waits.count) }; // for waits.mjs to count in
	return made;
}

// ---- marks ----

// time and start: nanoseconds since head.base_us.  span_of: by mark, the span that it begins or is; -1: none.
function model_marks(tables, strings) {
	const { marks: table, spans: span_table } = tables;
	if (!table || !span_table)
		return null;
	const count = table.rows, marks = { count, time: new Float64Array(count), kind: table.kind, pid: table.pid, tid: table.tid, cpu: table.cpu,
		comm: model_texts(table.comm, strings), group: model_texts(table.group, strings), name: model_texts(table.name, strings), text: model_texts(table.text, strings) };
	let at = 0;
	for (let i = 0; i < count; i++)
		marks.time[i] = at += table.time[i];
	const spans = { count: span_table.rows, mark: model_check(span_table.mark, count, "mark"), start: span_table.start, length: span_table.length,
		ended: span_table.ended, number: span_table.number, depth: span_table.depth };
	const span_of = new Int32Array(count).fill(-1);
	spans.mark.forEach((mark, i) => { span_of[mark] = i; });
	return { marks, spans, span_of };
}

// ---- processes ----

export const PROCESS_WAS_THERE = 1, PROCESS_ENDED = 2;

// start and end: us since head.base_us; exit: as wait() has it, -1: not known.  null: the page has none.
function model_processes(table, strings) {
	if (!table)
		return null;
	const text = (numbers) => model_texts(numbers, strings), processes = { count: table.rows, pid: new Float64Array(table.rows), parent: table.parent, comm: text(table.comm),
		command: text(table.command), start: table.start, end: Float64Array.from(table.length, (length, i) => table.start[i] + length), flags: table.flags,
		threads: table.threads, exit: Float64Array.from(table.exit, (code) => code - 1) };
	let pid = 0;
	for (let i = 0; i < table.rows; i++)
		processes.pid[i] = pid += table.pid[i];
	return processes;
}

// head: the text of the block "head"; block(i): that of block i.
export async function model_load(head_text, block) {
	const head = JSON.parse(head_text);
	if (head.format !== "ebprec page" || head.version !== 1)
		throw new Error("this is no page of a version that this viewer reads");
	const tables = {};
	for (let i = 0; i < head.tables.length; i++)
		tables[head.tables[i].name] = await model_table(head.tables[i], block(i));
	const strings = tables.strings.text;
	const objects = {
		count: tables.objects.rows,
		path: model_texts(tables.objects.path, strings),
		base: model_texts(tables.objects.base, strings),
		build_id: model_texts(tables.objects.build_id, strings),
		kind: model_texts(tables.objects.kind, strings),
	};
	const frames = model_frames(tables.frames, objects, strings);
	const nodes = model_nodes(tables.nodes, frames);
	const tasks = model_tasks(tables.tasks, strings);
	return {
		head, objects, frames, nodes, tasks,
		samples: model_samples(tables.samples, tables["samples.cpus"], tables["samples.stacks"], tasks, nodes),
		waits: model_waits(tables, strings, tasks, nodes),
		marks: model_marks(tables, strings),
		processes: model_processes(tables.processes, strings),
	};
}
