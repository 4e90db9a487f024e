// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
// model - the tables of a page in memory: typed arrays, checked once, so that no reader needs to check them
import { map_get, refuse } from "./lists.mjs";
import { bytes_from_base64, bytes_inflate, bytes_signed, bytes_texts, bytes_varints } from "./bytes.mjs";

export const FRAME_KERNEL = 1, FRAME_INLINED = 2, FRAME_SAME_ROW = 4;
export const NODE_ROOT = 0;

// The columns of a table by name, and count: how many rows it has.
async function model_table({ name, rows, bytes, columns }, text) {
	const unpacked = await bytes_inflate(bytes_from_base64(text), bytes);
	/** @type {any} */
	const table = { __proto__: null };
	let at = 0;
	if (rows >>> 0 !== rows)
		refuse("table '" + name + "' has no number of rows");
	for (const column of columns) {
		const end = at + column.bytes, list = end <= unpacked.length ? (column.kind === "text" ? bytes_texts : bytes_varints)(unpacked, at, end, rows) : refuse("table '" + name + "' is shorter than its columns");
		table[column.name] = column.kind === "z" ? bytes_signed(list) : list;
		at = end;
	}
	table.count = rows;
	return table;
}

// The columns that are needed, and what their numbers are: name$ of strings, name:TABLE rows of a table, where 0 of waits.stacks and of a where is none and 0
// of nodes the root, or name:NUMBER below it; name- also below 0, and else any number.
const MODEL_NEEDED = 8; // the others may not be there
const MODEL_NAMES = {
	strings: "text",
	objects: "path$ base$ build_id$ kind$",
	frames: "name$ label$ line$ reason$ object:objects flags",
	nodes: "parent frame:frames",
	tasks: "pid- tid- samples comm$ label$ cgroup$ container$",
	samples: "time stack:samples.stacks",
	"samples.stacks": "node:nodes end:65536",
	"samples.cpus": "cpu- samples",
	threads: "tid- pid comm$ task:tasks begin- pieces waits",
	pieces: "state length hole",
	waits: "weight task- order- kind:waits.kinds stack:waits.stacks",
	"waits.stacks": "node:nodes queue:nodes woken:nodes queue_woken:nodes where:frames end:65536 waker$",
	"waits.kinds": "node:nodes queue:nodes kind:8 syscall:65536 queued",
	marks: "time- kind pid tid comm$ group$ name$ text$",
	spans: "mark:marks start- length ended number",
	processes: "pid parent start- length flags threads exit comm$ command$",
	counters: "name$ title$ by$ groups intervals lines",
	"counters.intervals": "from- length",
	"counters.lines": "of$ group$ what$ key$ unit$ thousandths points left_out",
	"counters.points": "interval value-",
};

// Differences as numbers.
function model_sums(type, list) {
	const sums = new type(list.length);
	for (let i = 0, sum = 0; i < list.length; i++)
		sums[i] = sum += list[i];
	return sums;
}

// Where the rows of each begin, and where the last ones end: there are so many rows.
function model_firsts(counts, count, what) {
	const firsts = new Float64Array(counts.length + 1);
	firsts.set(model_sums(Float64Array, counts), 1);
	return firsts.at(-1) === count ? firsts : refuse("the " + what);
}

function model_check(numbers, count, what) {
	for (let i = 0; i < numbers.length; i++)
		if (!(numbers[i] >= 0 && numbers[i] < count))
			refuse(what + " " + numbers[i] + " is not in the page");
}

// Checks the numbers of columns, and puts texts in the place of those of strings.
function model_resolve(tables) {
	Object.entries(MODEL_NAMES).forEach(([name, columns], i) => {
		const table = tables[name];
		if (!table && i < MODEL_NEEDED)
			refuse("there is no table '" + name + "'");
		for (const [, column, sign, of] of table ? columns.matchAll(/(\w+)([$-]?):?(\S*)/g) : []) {
			const list = table[column], other = sign === "$" ? "strings" : of;
			if (!list || Array.isArray(list) !== (name === "strings"))
				refuse("table '" + name + "' has no column '" + column + "'");
			if (other || (!sign && list instanceof Float64Array))
				model_check(list, other ? Number(other) || (tables[other]?.count ?? 0) + (column === "where" || other === "nodes" || other === "waits.stacks" ? 1 : 0) : Infinity, column);
			if (sign === "$")
				table[column] = Array.from(list, (n) => tables.strings.text[n]);
		}
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
	const count = table.count + 1, [parent, frame, depth] = [1, 2, 3].map(() => new Uint32Array(count));
	for (let i = 1; i < count; i++) {
		const up = table.parent[i - 1];
		parent[i] = up < 1 || up > i ? refuse("node " + i + " has no caller") : i - up;
		frame[i] = table.frame[i - 1];
		depth[i] = depth[parent[i]] + 1;
	}
	return { count, parent, frame, depth };
}

function model_tasks(table, sample_count) {
	const pid = model_sums(Int32Array, table.pid), tid = pid.map((own, i) => own + table.tid[i]);
	return { ...table, pid, tid, first: model_firsts(table.samples, sample_count, "tasks do not have all samples") };
}

// A row a sample, by task and then by time.
function model_samples(table, cpus, stacks, tasks) {
	// time: us since head.base_us; weight: null: 1 each; node, end: of each stack.
	const { count, stack, weight = null } = table, { node, end } = stacks, time = new Float64Array(count), task = new Uint32Array(count), cpu = new Int32Array(count);
	for (let t = 0; t < tasks.count; t++)
		for (let i = tasks.first[t], us = 0; i < tasks.first[t + 1]; i++) {
			time[i] = us += table.time[i];
			task[i] = t;
		}
	const ends = model_firsts(cpus.samples, count, "CPUs are not of all samples");
	cpus.cpu.forEach((own, r) => (own < -1 || own > 0xffff ? refuse("CPU " + own + " is not in the page") : cpu.fill(own, ends[r], ends[r + 1])));
	return { count, time, stack, weight, task, cpu, node, end };
}

// ---- states and waits ----

const STATE_COUNT = 6, WAIT_RUN_QUEUE = 4;
const NO_WAIT = 0xffffffff;

// Thread i has pieces piece[i] to piece[i + 1] and waits wait[i] to wait[i + 1].
const model_threads = (table, pieces, waits) => ({ ...table, tid: model_sums(Float64Array, table.tid), piece: model_firsts(table.pieces, pieces.count, "threads do not have all pieces"), wait: model_firsts(table.waits, waits.count, "threads do not have all waits") });

// from: nanoseconds since head.base_us; wait: of which it is a part; NO_WAIT: of none.
function model_pieces(table, threads) {
	const { count, length } = table, from = new Float64Array(count), state = new Uint8Array(count), wait = new Uint32Array(count).fill(NO_WAIT);
	for (let t = 0; t < threads.count; t++) {
		let at = threads.begin[t], next = threads.wait[t];
		for (let i = threads.piece[t]; i < threads.piece[t + 1]; i++) {
			const relation = table.state[i] >> 3;
			from[i] = at += table.hole[i];
			at += length[i];
			state[i] = table.state[i] & 7;
			next += relation === 2 ? 1 : 0;
			if (state[i] >= STATE_COUNT || table.state[i] > 23 || (relation && next === threads.wait[t]))
				refuse("state " + table.state[i] + " is not in the page");
			if (relation)
				wait[i] = next - 1;
		}
		if (next !== threads.wait[t + 1])
			refuse("the pieces do not have all waits");
	}
	return { count, from, length, state, wait };
}

// Numbers of pairs of a kind and a system call: of each row, and of the time for a CPU behind it.
function model_wait_keys(table) {
	const known = new Map(), number = (key) => map_get(known, key, () => known.size);
	const key = Uint32Array.from(table.kind, (kind, i) => number(kind * 65536 + table.syscall[i]));
	const queue_key = Uint32Array.from(table.syscall, (syscall) => number(WAIT_RUN_QUEUE * 65536 + syscall));
	return { key, queue_key, key_count: known.size };
}

// taken: of a wait with a stack, its place among those of its thread.
function model_taken(table, threads, tasks) {
	const taken = new Float64Array(table.count), task = model_sums(Float64Array, table.task);
	model_check(task, tasks.count, "task");
	for (let t = 0; t < threads.count; t++)
		for (let i = threads.wait[t], place = 0; i < threads.wait[t + 1]; i++)
			taken[i] = table.stack[i] ? place++ + table.order[i] : 0;
	return { ...table, task: Uint32Array.from(task), taken };
}

// null: the page has none.
function model_waits(tables, tasks) {
	const { threads, pieces, waits } = tables, stacks = tables["waits.stacks"], kinds = tables["waits.kinds"];
	if (!threads || !pieces || !waits || !stacks || !kinds)
		return null;
	const made = model_threads(threads, pieces, waits);
	return { threads: made, stacks, pieces: model_pieces(pieces, made), waits: model_taken(waits, made, tasks), kinds: { ...kinds, ...model_wait_keys(kinds) },
		room: { ns: new Float64Array(waits.count), queue: new Float64Array(waits.count) } }; // for waits.mjs to count in
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
	const [table, intervals, lines, points] = ["", ".intervals", ".lines", ".points"].map((part) => tables["counters" + part]), list = [];
	if (!table || !intervals || !lines || !points)
		return null;
	const firsts = (counts, of) => model_firsts(counts, of.count, "counters do not have all rows"), line_of = firsts(table.lines, lines), interval_of = firsts(table.intervals, intervals), point_of = firsts(lines.points, points);
	table.name.forEach((name, t) => {
		const [from, length] = [intervals.from, intervals.length].map((column) => column.subarray(interval_of[t], interval_of[t + 1])), begin = model_sums(Float64Array, from);
		for (let l = line_of[t]; l < line_of[t + 1]; l++) {
			const at = model_sums(Float64Array, points.interval.subarray(point_of[l], point_of[l + 1]));
			model_check(at, begin.length, "interval");
			list.push({ table: name, title: table.title[t], by: table.by[t], of: lines.of[l], group: lines.group[l], what: lines.what[l], key: lines.key[l], unit: lines.unit[l], left_out: lines.left_out[l],
				points: Array.from(at, (i, n) => ({ from_us: begin[i] / 1000, to_us: (begin[i] + length[i]) / 1000, value: points.value[point_of[l] + n] / (lines.thousandths[l] ? 1000 : 1) })) });
		}
	});
	return { tables: table, lines: list };
}

// ---- two captures ----

// The part in which a range of time is; null: the page is of one capture, or the range is not in one.
export const model_part = ({ parts }, [from_us, to_us]) => parts?.find((part) => from_us >= part.from_us && to_us <= part.to_us) || null;

export const model_is_part = (part, [from_us, to_us]) => part.from_us === from_us && part.to_us === to_us;

// parts: of two captures the range [from_us, to_us) of each, and its head.  head: the text of the block "head"; block(i): that of block i.
export async function model_load(head_text, block) {
	const head = JSON.parse(head_text);
	/** @type {any} */
	const tables = {};
	if (head.format !== "ebprec page" || head.version !== 1)
		refuse("this is no page of a version that this viewer reads");
	for (const [i, info] of head.tables.entries())
		tables[info.name] = await model_table(info, block(i));
	const label_id = tables.frames?.label, { objects, frames, samples } = model_resolve(tables), tasks = model_tasks(tables.tasks, samples.count);
	return { head, parts: head.parts, objects, nodes: model_nodes(tables.nodes), tasks, frames: { ...frames, label_id, row: model_rows(frames.flags) },
		samples: model_samples(samples, tables["samples.cpus"], tables["samples.stacks"], tasks), waits: model_waits(tables, tasks), marks: model_marks(tables), processes: model_processes(tables.processes), counters: model_counters(tables) };
}
