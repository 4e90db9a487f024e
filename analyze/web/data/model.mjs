// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
// model - the tables of a page in memory: typed arrays, checked once, so that no reader needs to check them
import { bytes_from_base64, bytes_inflate, bytes_signed, bytes_texts, bytes_varints } from "./bytes.mjs";

export const FRAME_KERNEL = 1, FRAME_INLINED = 2, FRAME_SAME_ROW = 4;
export const NODE_ROOT = 0;

// The columns of a table by name.
async function model_table(info, text) {
	const bytes = await bytes_inflate(bytes_from_base64(text), info.bytes);
	/** @type {any} */
	const table = Object.create(null);
	if (info.rows >>> 0 !== info.rows)
		throw new Error("table '" + info.name + "' has no number of rows");
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
	table.rows = info.rows;
	return table;
}

// The numbers of columns name rows of a table, where 0 of waits.stacks is none and 0 of nodes the root; or below what they are; 0: any
// number, -1: also below 0.
const MODEL_NODES = { node: "nodes", queue: "nodes" };
const TEXT = "strings", MODEL_NEEDED = 8; // the others may not be there
const MODEL_NAMES = {
	strings: { text: "text" },
	objects: { path: TEXT, base: TEXT, build_id: TEXT, kind: TEXT },
	frames: { name: TEXT, label: TEXT, line: TEXT, reason: TEXT, object: "objects", flags: 0 },
	nodes: { parent: 0, frame: "frames" },
	tasks: { pid: 0, tid: -1, samples: 0, comm: TEXT, label: TEXT, cgroup: TEXT, container: TEXT },
	samples: { time: 0, stack: "samples.stacks" },
	"samples.stacks": { node: "nodes", end: 65536 },
	"samples.cpus": { cpu: -1, samples: 0 },
	threads: { tid: -1, pid: 0, comm: TEXT, task: "tasks", begin: -1, pieces: 0, waits: 0 },
	pieces: { state: 0, length: 0, hole: 0 },
	waits: { weight: 0, task: -1, order: -1, kind: "waits.kinds", stack: "waits.stacks" },
	"waits.stacks": { ...MODEL_NODES, woken: "nodes", queue_woken: "nodes", end: 65536, waker: TEXT },
	"waits.kinds": { ...MODEL_NODES, kind: 8, syscall: 65536, queued: 0 },
	marks: { time: -1, kind: 0, pid: 0, tid: 0, comm: TEXT, group: TEXT, name: TEXT, text: TEXT },
	spans: { mark: "marks", start: -1, length: 0, ended: 0, number: 0 },
	processes: { pid: 0, parent: 0, start: -1, length: 0, flags: 0, threads: 0, exit: 0, comm: TEXT, command: TEXT },
	counters: { name: TEXT, title: TEXT, by: TEXT, groups: 0, intervals: 0, lines: 0 },
	"counters.intervals": { from: -1, length: 0 },
	"counters.lines": { of: TEXT, with: TEXT, title: TEXT, key: TEXT, unit: TEXT, thousandths: 0, points: 0, left_out: 0 },
	"counters.points": { interval: 0, value: -1 },
};

// Differences as numbers.
function model_sums(type, list) {
	const sums = new type(list.length);
	for (let i = 0, sum = 0; i < list.length; i++)
		sums[i] = sum += list[i];
	return sums;
}

// Where the rows of each begin, and where the last ones end.
function model_firsts(counts) {
	const firsts = new Float64Array(counts.length + 1);
	firsts.set(model_sums(Float64Array, counts), 1);
	return firsts;
}

function model_all(firsts, count, what) {
	if (firsts[firsts.length - 1] !== count)
		throw new Error("the " + what);
}

function model_check(numbers, count, what) {
	for (let i = 0; i < numbers.length; i++)
		if (!(numbers[i] >= 0 && numbers[i] < count))
			throw new Error(what + " " + numbers[i] + " is not in the page");
}

// Checks the numbers of columns, and puts texts in the place of those of strings.
function model_resolve(tables) {
	Object.entries(MODEL_NAMES).forEach(([name, columns], i) => {
		const table = tables[name];
		if (!table && i < MODEL_NEEDED)
			throw new Error("there is no table '" + name + "'");
		for (const [column, of] of table ? Object.entries(columns) : []) {
			const rows = typeof of === "number" ? (of > 0 ? of : Infinity) : tables[of]?.rows ?? 0;
			if (!table[column] || Array.isArray(table[column]) !== (of === "text"))
				throw new Error("table '" + name + "' has no column '" + column + "'");
			if (of !== "text" && of !== -1 && (of || table[column] instanceof Float64Array))
				model_check(table[column], rows + (of === "nodes" || of === "waits.stacks" ? 1 : 0), column);
			if (of === TEXT)
				table[column] = Array.from(table[column], (n) => tables.strings.text[n]);
		}
		if (table)
			table.count = table.rows;
	});
	return tables;
}

// Frames by what a table of functions shows: equal rows get equal numbers, rising with the frames.
function model_rows(flags) {
	const rows = new Uint32Array(flags.length);
	for (let i = 1; i < flags.length; i++)
		rows[i] = rows[i - 1] + (flags[i] & FRAME_SAME_ROW ? 0 : 1);
	return rows;
}

// Parents come before their callees, and nodes are in the order of a walk: below a node stand all that it calls.
function model_nodes(table) {
	const count = table.rows + 1;
	const parent = new Uint32Array(count), frame = new Uint32Array(count), depth = new Uint32Array(count);
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

function model_tasks(table) {
	const { count } = table, tid = new Int32Array(count), pid = model_sums(Int32Array, table.pid);
	for (let i = 0; i < count; i++)
		tid[i] = pid[i] + table.tid[i];
	return { ...table, pid, tid, first: model_firsts(table.samples) };
}

// A row a sample, by task and then by time.
function model_samples(table, cpus, stacks, tasks) {
	const { count } = table;
	const samples = {
		count,
		time: new Float64Array(count), // us since head.base_us
		stack: table.stack,
		weight: table.weight || null, // null: 1 each
		task: new Uint32Array(count),
		cpu: new Int32Array(count),
		node: stacks.node, // of each stack
		end: stacks.end, // the same
	};
	model_all(tasks.first, count, "tasks do not have all samples");
	for (let t = 0; t < tasks.count; t++) {
		let time = 0;
		for (let i = tasks.first[t]; i < tasks.first[t + 1]; i++) {
			time += table.time[i];
			samples.time[i] = time;
			samples.task[i] = t;
		}
	}
	const ends = model_firsts(cpus.samples);
	model_all(ends, count, "CPUs are not of all samples");
	for (let r = 0; r < cpus.rows; r++) {
		if (cpus.cpu[r] < -1 || cpus.cpu[r] > 0xffff)
			throw new Error("CPU " + cpus.cpu[r] + " is not in the page");
		for (let i = ends[r]; i < ends[r + 1]; i++)
			samples.cpu[i] = cpus.cpu[r];
	}
	return samples;
}

// ---- states and waits ----

const STATE_COUNT = 6, WAIT_RUN_QUEUE = 4, NO_WAIT = 0xffffffff;

// Thread i has pieces piece[i] to piece[i + 1] and waits wait[i] to wait[i + 1].
function model_threads(table) {
	return { ...table, tid: model_sums(Float64Array, table.tid), piece: model_firsts(table.pieces), wait: model_firsts(table.waits) };
}

// from: nanoseconds since head.base_us; wait: of which it is a part; NO_WAIT: of none.
function model_pieces(table, threads) {
	const { count } = table, pieces = { count, from: new Float64Array(count), length: table.length, state: new Uint8Array(count),
		wait: new Uint32Array(count).fill(NO_WAIT) };
	model_all(threads.piece, count, "threads do not have all pieces");
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

// Numbers of pairs of a kind and a system call: of each row, and of the time for a CPU behind it.
function model_wait_keys(table) {
	const known = new Map(), number = (key) => known.get(key) ?? known.set(key, known.size).get(key);
	const key = Uint32Array.from(table.kind, (kind, i) => number(kind * 65536 + table.syscall[i]));
	const queue_key = Uint32Array.from(table.syscall, (syscall) => number(WAIT_RUN_QUEUE * 65536 + syscall));
	return { key, queue_key, key_count: known.size };
}

// taken: of a wait with a stack, its place among those of its thread.
function model_wait_rows(table, threads, tasks) {
	const { count } = table, taken = new Float64Array(count), task = model_sums(Float64Array, table.task);
	model_all(threads.wait, count, "threads do not have all waits");
	model_check(task, tasks.count, "task");
	for (let t = 0; t < threads.count; t++)
		for (let i = threads.wait[t], place = 0; i < threads.wait[t + 1]; i++)
			taken[i] = table.stack[i] ? place++ + table.order[i] : 0;
	return { ...table, task: Uint32Array.from(task), taken };
}

// For each wait its first piece, and its two parts when all of it is selected.
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
function model_waits(tables, tasks) {
	const { threads, pieces, waits } = tables, stacks = tables["waits.stacks"], kinds = tables["waits.kinds"];
	if (!threads || !pieces || !waits || !stacks || !kinds)
		return null;
	/** @type {any} */
	const made = { threads: model_threads(threads), kinds: { ...kinds, ...model_wait_keys(kinds) }, stacks };
	made.pieces = model_pieces(pieces, made.threads);
	made.waits = model_wait_rows(waits, made.threads, tasks);
	model_wait_lengths(made);
	made.room = { ns: new Float64Array(made.waits.count), queue: new Float64Array(made.waits.count) }; // for waits.mjs to count in
	return made;
}

// ---- marks ----

// time and start: nanoseconds since head.base_us.  span_of: by mark, the span that it begins or is; -1: none.
function model_marks({ marks, spans }) {
	if (!marks || !spans)
		return null;
	const span_of = new Int32Array(marks.count).fill(-1);
	spans.mark.forEach((mark, i) => { span_of[mark] = i; });
	return { marks: { ...marks, time: model_sums(Float64Array, marks.time) }, spans, span_of };
}

// ---- processes ----

export const PROCESS_WAS_THERE = 1, PROCESS_ENDED = 2;

// start and end: us since head.base_us; exit: as wait() has it, -1: not known.  null: the page has none.
function model_processes(table) {
	return table ? { ...table, pid: model_sums(Float64Array, table.pid), end: Float64Array.from(table.length, (length, i) => table.start[i] + length),
		exit: Float64Array.from(table.exit, (code) => code - 1) } : null;
}

// ---- counters ----

// Lines by table, each with points { from_us, to_us, value } by time.
function model_counters(tables) {
	const table = tables.counters, intervals = tables["counters.intervals"], lines = tables["counters.lines"], points = tables["counters.points"], list = [];
	if (!table || !intervals || !lines || !points)
		return null;
	const line_of = model_firsts(table.lines), interval_of = model_firsts(table.intervals), point_of = model_firsts(lines.points);
	for (const [firsts, of, what] of [[line_of, lines, "lines"], [interval_of, intervals, "intervals"], [point_of, points, "points"]])
		model_all(firsts, of.count, "counters do not have all " + what);
	for (let t = 0; t < table.count; t++) {
		const from = model_sums(Float64Array, intervals.from.subarray(interval_of[t], interval_of[t + 1])), length = intervals.length.subarray(interval_of[t], interval_of[t + 1]);
		for (let l = line_of[t]; l < line_of[t + 1]; l++) {
			const at = model_sums(Float64Array, points.interval.subarray(point_of[l], point_of[l + 1]));
			model_check(at, from.length, "interval");
			list.push({ table: table.name[t], title: table.title[t], by: table.by[t], of: lines.of[l], with: lines.with[l], name: lines.title[l], key: lines.key[l], unit: lines.unit[l],
				left_out: lines.left_out[l], points: Array.from(at, (i, n) => ({ from_us: from[i] / 1000, to_us: (from[i] + length[i]) / 1000,
					value: points.value[point_of[l] + n] / (lines.thousandths[l] ? 1000 : 1) })) });
		}
	}
	return { tables: table, lines: list };
}

// head: the text of the block "head"; block(i): that of block i.
export async function model_load(head_text, block) {
	const head = JSON.parse(head_text);
	/** @type {any} */
	const tables = {};
	if (head.format !== "ebprec page" || head.version !== 1)
		throw new Error("this is no page of a version that this viewer reads");
	for (let i = 0; i < head.tables.length; i++)
		tables[head.tables[i].name] = await model_table(head.tables[i], block(i));
	const label_id = tables.frames?.label, { objects, frames } = model_resolve(tables), tasks = model_tasks(tables.tasks);
	return {
		head, objects, nodes: model_nodes(tables.nodes), tasks, frames: { ...frames, label_id, row: model_rows(frames.flags) },
		samples: model_samples(tables.samples, tables["samples.cpus"], tables["samples.stacks"], tasks),
		waits: model_waits(tables, tasks),
		marks: model_marks(tables),
		processes: model_processes(tables.processes),
		counters: model_counters(tables),
	};
}
