// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
// model - the tables of a page in memory: typed arrays, checked once, so that no reader needs to check them
import { refuse } from "./lists.mjs";
import { bytes_from_base64, bytes_inflate, bytes_signed, bytes_texts, bytes_varints } from "./bytes.mjs";

export const FRAME_KERNEL = 1;
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
		table[column.name] = /^[zd]$/.test(column.kind) ? bytes_signed(list, column.kind === "d") : list;
		at = end;
	}
	table.count = rows;
	return table;
}

// The columns that are needed, and what their numbers are: name$ of strings, name:TABLE rows of a table, where 0 of waits.stacks and of a where is none and 0
// of nodes the root, or name:NUMBER below it; name- also below 0, and else any number.  "+": it is needed where the one before it is.
const MODEL_NAMES = {
	strings: "+ text",
	objects: "+ path$ base$ build_id$",
	frames: "+ name$ label$ line$ reason$ object:objects flags kind:8 row:frames",
	nodes: "+ parent frame:frames",
	tasks: "+ pid tid- samples weight comm$ label$ cgroup$ container$",
	samples: "+ time stack:samples.stacks",
	"samples.stacks": "+ node:nodes lines:nodes end:65536",
	"samples.cpus": "+ cpu- samples",
	threads: "tid- pid comm$ task:tasks begin- start pieces waits",
	pieces: "+ state:24 hole",
	"pieces.lengths": "+ length",
	runs: "+ thread gap- length",
	waits: "+ weight task:tasks order- kind:waits.kinds stack:waits.stacks",
	"waits.stacks": "+ node:nodes queue:nodes woken:nodes queue_woken:nodes where:frames end:65536 waker$",
	"waits.kinds": "+ node:nodes queue:nodes kind:8 syscall:65536 queued key queue_key",
	marks: "time- kind span:spans pid tid comm$ group$ name$ text$",
	spans: "+ mark:marks start- length ended number",
	processes: "pid parent start- end- flags threads exit- comm$ command$",
	counters: "name$ title$ by$ groups shown lines",
	"counters.intervals": "+ from- length",
	"counters.lines": "+ of$ group$ what$ key$ unit$ thousandths points left_out",
	"counters.points": "+ interval:counters.intervals value-",
};

// Where the rows of each begin, and where the last ones end: there are so many rows.
function model_firsts(counts, { count }) {
	const firsts = new Float64Array(counts.length + 1);
	counts.forEach((own, i) => { firsts[i + 1] = firsts[i] + own; });
	return firsts.at(-1) === count ? firsts : refuse("a table has not the rows that another counts");
}

function model_check(numbers, count, what) {
	for (let i = 0; i < numbers.length; i++)
		if (!(numbers[i] >= 0 && numbers[i] < count))
			refuse(what + " " + numbers[i] + " is not in the page");
}

// Checks the numbers of columns, and puts texts in the place of those of strings.
function model_resolve(tables) {
	let before = true;
	for (const [name, columns] of Object.entries(MODEL_NAMES)) {
		const table = tables[name];
		if (!table && before && columns[0] === "+")
			refuse("there is no table '" + name + "'");
		for (const [, column, sign, of] of table ? columns.matchAll(/(\w+)([$-]?):?(\S*)/g) : []) {
			const list = table[column], other = sign === "$" ? "strings" : of;
			if (!list || Array.isArray(list) !== (name === "strings"))
				refuse("table '" + name + "' has no column '" + column + "'");
			if (other || (!sign && list instanceof Float64Array))
				model_check(list, other ? Number(other) || (tables[other]?.count ?? 0) + (column === "where" || ["nodes", "spans", "waits.stacks"].includes(other) ? 1 : 0) : Infinity, column);
			if (sign === "$")
				table[column] = Array.from(list, (n) => tables.strings.text[n]);
		}
		before = table;
	}
	return tables;
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

const model_tasks = (table, samples) => ({ ...table, tid: table.pid.map((own, i) => own + table.tid[i]), first: model_firsts(table.samples, samples) });

// A row a sample, by task and then by time.
function model_samples(table, cpus, stacks, tasks) {
	// time: us since head.base_us; weight: null: 1 each; node, lines, end: of each stack.
	const { count, stack, weight = null } = table, { node, lines, end } = stacks, time = new Float64Array(count), task = new Uint32Array(count), cpu = new Int32Array(count);
	for (let t = 0; t < tasks.count; t++)
		for (let i = tasks.first[t], us = 0; i < tasks.first[t + 1]; i++) {
			time[i] = us += table.time[i];
			task[i] = t;
		}
	const ends = model_firsts(cpus.samples, table);
	cpus.cpu.forEach((own, r) => (own < -1 || own > 0xffff ? refuse("CPU " + own + " is not in the page") : cpu.fill(own, ends[r], ends[r + 1])));
	return { count, time, stack, weight, task, cpu, node, lines, end };
}

// ---- states and waits ----

const STATE_COUNT = 6;
const NO_WAIT = 0xffffffff;

// Thread i has pieces piece[i] to piece[i + 1] and waits wait[i] to wait[i + 1].
const model_threads = (table, pieces, waits) => ({ ...table, piece: model_firsts(table.pieces, pieces), wait: model_firsts(table.waits, waits) });

const RECENT = 64; // so many threads that ran last have a place

// Puts the beginnings and ends of all runs into these, those of a thread from its first piece on, and returns behind which place they end.
function model_runs({ thread, gap, length }, { piece }, begins, ends) {
	const last = piece.slice(), recent = new Uint32Array(RECENT);
	let at = 0;
	thread.forEach((place, r) => {
		const t = place < RECENT ? recent[place] : place - RECENT;
		recent.copyWithin(1, 0, Math.min(place, RECENT - 1));
		recent[0] = t;
		begins[last[t]] = at += gap[r];
		ends[last[t]++] = at += length[r];
	});
	return last;
}

// from: nanoseconds since head.base_us; wait: of which it is a part; NO_WAIT: of none.
function model_pieces({ count, state: states, hole }, threads, runs, lengths) {
	const [from, length, begins, ends] = [1, 2, 3, 4].map(() => new Float64Array(count)), state = new Uint8Array(count), wait = new Uint32Array(count).fill(NO_WAIT), last = model_runs(runs, threads, begins, ends);
	let l = 0, wrong = false;
	for (let t = 0; t < threads.count; t++) {
		let at = threads.begin[t], next = threads.wait[t], r = threads.piece[t], open = -1; // open: this piece is as long as the others leave until the next run
		for (const list of [begins, ends])
			list.subarray(r, last[t]).sort(); // by CPU until now
		for (let i = r; i < threads.piece[t + 1]; i++) {
			const relation = states[i] >> 3, own = state[i] = states[i] & 7;
			from[i] = at += hole[i];
			if (own && open < 0 && r < last[t])
				open = i;
			else if (own)
				at += length[i] = lengths[l++];
			else {
				const late = begins[r] - at;
				wrong ||= open < 0 ? late !== 0 : !(late >= 0);
				if (open >= 0)
					length[open] = late;
				while (open >= 0 && ++open <= i)
					from[open] += late;
				length[i] = ends[r] - begins[r];
				at = ends[r++];
				open = -1;
			}
			next += relation >> 1;
			wrong ||= own >= STATE_COUNT || (relation && next === threads.wait[t]);
			if (relation)
				wait[i] = next - 1;
		}
		wrong ||= next !== threads.wait[t + 1] || r !== last[t];
	}
	return wrong || l !== lengths.length ? refuse("states are not those of runs and waits") : { count, from, length, state, wait };
}

// taken: of a wait with a stack, its place among those of its thread.
function model_taken(table, threads) {
	const taken = new Float64Array(table.count);
	for (let t = 0; t < threads.count; t++)
		for (let i = threads.wait[t], place = 0; i < threads.wait[t + 1]; i++)
			taken[i] = table.stack[i] ? place++ + table.order[i] : 0;
	return { ...table, taken };
}

// null: the page has none.
function model_waits(tables) {
	const { threads, pieces, waits } = tables, stacks = tables["waits.stacks"], kinds = tables["waits.kinds"];
	if (!threads)
		return null;
	const made = model_threads(threads, pieces, waits);
	return { threads: made, stacks, pieces: model_pieces(pieces, made, tables.runs, tables["pieces.lengths"].length), waits: model_taken(waits, made), kinds,
		room: { ns: new Float64Array(waits.count), queue: new Float64Array(waits.count) } }; // for waits.mjs to count in
}

// ---- counters ----

// Lines by table, each with points { from_us, to_us, value } by time.
function model_counters(tables) {
	const [table, intervals, lines, points] = ["", ".intervals", ".lines", ".points"].map((part) => tables["counters" + part]), list = [];
	if (!table)
		return null;
	const line_of = model_firsts(table.lines, lines), point_of = model_firsts(lines.points, points), { from, length } = intervals;
	table.name.forEach((name, t) => {
		for (let l = line_of[t]; l < line_of[t + 1]; l++) {
			const line = Object.fromEntries(Object.entries(lines).map(([key, column]) => [key, column[l]]));
			list.push({ ...line, table: name, title: table.title[t], by: table.by[t], points: Array.from(points.interval.subarray(point_of[l], point_of[l + 1]), (i, n) =>
				({ from_us: from[i] / 1000, to_us: (from[i] + length[i]) / 1000, value: points.value[point_of[l] + n] / (line.thousandths ? 1000 : 1) })) });
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
	if (head.format !== "ebprec page" || head.version !== 2)
		refuse("this viewer reads no page of that version");
	for (const [i, info] of head.tables.entries())
		tables[info.name] = await model_table(info, block(i));
	const label_id = tables.frames?.label, { objects, frames, samples } = model_resolve(tables), tasks = model_tasks(tables.tasks, samples);
	return { head, parts: head.parts, objects, nodes: model_nodes(tables.nodes), tasks, frames: { ...frames, label_id },
		samples: model_samples(samples, tables["samples.cpus"], tables["samples.stacks"], tasks), waits: model_waits(tables), marks: tables.marks ? { marks: tables.marks, spans: tables.spans } : null, processes: tables.processes || null, counters: model_counters(tables) };
}
