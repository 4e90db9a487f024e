// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
// damage.mjs PAGE COUNT [SEED] - COUNT changed pages: each is read, or refused by an Error of one line
//
// Base64 is cut and changed, blocks change places, numbers of the head are others; and, where no checksum finds it, bytes of the
// unpacked tables and the head's list of tables and columns.  A table that is read has no more rows than its tables have bytes, which
// bounds the steps that counting takes, and all that a page counts of it is counted.
import { readFileSync } from "node:fs";
import { deflateSync, inflateSync } from "node:zlib";

import { compare_make } from "../../../analyze/web/count/compare.mjs";
import { filter_all, filter_make, filter_ranges } from "../../../analyze/web/data/filter.mjs";
import { folded_text } from "../../../analyze/web/count/folded.mjs";
import { functions_outermost, functions_table } from "../../../analyze/web/count/functions.mjs";
import { count_by_stack } from "../../../analyze/web/count/count.mjs";
import { HEAT_ROWS, heat_cells } from "../../../analyze/web/count/heat.mjs";
import { kinds_of } from "../../../analyze/web/data/kinds.mjs";
import { layout_graph } from "../../../analyze/web/count/layout.mjs";
import { marks_lanes, marks_selected, marks_summary } from "../../../analyze/web/data/marks.mjs";
import { LINK_VIEW } from "../../../analyze/web/data/link.mjs";
import { measure_make } from "../../../analyze/web/count/measure.mjs";
import { model_load } from "../../../analyze/web/data/model.mjs";
import { processes_table } from "../../../analyze/web/count/processes.mjs";
import { states_account, states_strip } from "../../../analyze/web/count/states.mjs";
import { tree_grow, tree_weigh } from "../../../analyze/web/count/tree.mjs";
import { waits_table } from "../../../analyze/web/count/waits.mjs";
import { page_block } from "./page_file.mjs";

const [path, count, seed] = process.argv.slice(2);
const html = readFileSync(path, "utf8"), head = page_block(html, "head");
const tables = JSON.parse(head).tables, blocks = tables.map((_, i) => page_block(html, "d" + i));
let state = Number(seed) || 1;

function random(below) {
	state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
	return Math.floor(state / 2 ** 32 * below);
}

// A few bytes of an unpacked table, packed again.
function changed_table(block) {
	const bytes = inflateSync(Buffer.from(block, "base64"));
	for (let n = 1 + random(3); n && bytes.length; n--)
		bytes[random(bytes.length)] = [0, 1, 127, 128, 255, random(256)][random(6)];
	return deflateSync(bytes).toString("base64");
}

// A table or a column that is not there, twice there, called otherwise, or of another kind or size.
function changed_list(text) {
	const made = JSON.parse(text), table = made.tables[random(made.tables.length)], list = random(3) ? table.columns : made.tables, at = random(list.length);
	const { name } = list[at] || { name: "" };
	switch (random(5)) {
	case 0:
		list.splice(at, 1);
		break;
	case 1:
		list.push({ ...list[random(list.length)] });
		break;
	case 2:
		if (name)
			list[at].name = [name + "x", "time", "count", "__proto__", "", "rows"][random(6)];
		break;
	case 3:
		if (list[at]?.kind)
			list[at].kind = ["u", "z", "text", "?"][random(4)];
		break;
	default:
		table.rows = [0, 1, table.rows + 1, -1, 2 ** 32, 1.5][random(6)];
	}
	return JSON.stringify(made);
}

function damaged() {
	const changed = [...blocks], i = random(blocks.length), at = random(blocks[i].length);
	let text = head;
	switch (random(8)) {
	case 0: // cut
		changed[i] = changed[i].slice(0, at);
		break;
	case 1: // a digit of base64
		changed[i] = changed[i].slice(0, at) + "Az09+/"[random(6)] + changed[i].slice(at + 1);
		break;
	case 2: // a number of the head
		text = head.replace(/"(rows|bytes)": \d+/g, (m, key) => random(12) ? m : '"' + key + '": ' + [0, 1, 2 ** 31, 2 ** 53][random(4)]);
		break;
	case 3: // a block in the place of another
		changed[i] = blocks[random(blocks.length)];
		break;
	case 4:
		text = changed_list(head);
		break;
	default:
		changed[i] = changed_table(blocks[i]);
	}
	return [text, changed];
}

// The counts that a page makes when it is opened.
function count_all(model) {
	const range = [0, model.head.span_us + 1], outermost = functions_outermost(model), sampled = filter_make(model, filter_all());
	for (const [name] of LINK_VIEW.measure) {
		const measure = measure_make(model, name), filter = measure.filter(filter_all());
		for (const inverted of [false, true]) {
			const tree = tree_grow(model, measure.rows, "comm", inverted), sums = measure.count(filter, tree.slots, tree.ends.length), { self, total } = tree_weigh(tree, sums.weights);
			layout_graph(tree, total, 0, 1000, inverted);
			functions_table(model, outermost, count_by_stack(measure.rows, tree, sums), measure.rows.node);
			if (!inverted)
				folded_text(model, tree, self);
		}
		if (name === "off-cpu" && model.waits)
			waits_table(model, measure.rows, filter);
	}
	heat_cells(model, sampled, HEAT_ROWS.program(model, new Set()), 300, ...range);
	for (let frame = 0; frame < model.frames.count; frame++)
		kinds_of(model, frame);
	if (model.waits) {
		states_account(model, sampled);
		states_strip(model, model.waits.threads.tid[0], ...range, 1000);
	}
	if (model.marks) {
		marks_lanes(model, 12);
		marks_summary(model, marks_selected(model, filter_all(), filter_ranges(model, filter_all())));
	}
	if (model.processes)
		processes_table(model, sampled);
	const half = Math.floor(range[1] / 2);
	compare_make(model, sampled, [0, half], [half, range[1]]);
}

function rows_of(model) {
	const { waits, marks, processes } = model;
	return [model.frames, model.nodes, model.tasks, model.samples, waits?.threads, waits?.pieces, waits?.waits, marks?.marks, marks?.spans, processes].map((table) => table?.count || 0);
}

let refused = 0;
for (let i = 0; i < Number(count); i++) {
	const [text, changed] = damaged(), bytes = JSON.parse(text).tables.reduce((sum, table) => sum + table.bytes, 0);
	let model = null;
	try {
		model = await model_load(text, (n) => changed[n]);
	} catch (error) {
		if (!(error instanceof Error) || error.message.includes("\n") || (error instanceof TypeError && error.code !== "ERR_ENCODING_INVALID_ENCODED_DATA")) { // not UTF-8
			console.error("damage " + i + ": " + error.stack);
			process.exit(1);
		}
		refused++;
	}
	if (!model)
		continue;
	try {
		if (rows_of(model).some((rows) => rows > bytes + 1))
			throw new Error("more rows than bytes: " + rows_of(model));
		count_all(model);
	} catch (error) {
		console.error("damage " + i + " was read, and then: " + error.stack);
		process.exit(1);
	}
}
if (refused < Number(count) / 4 || refused === Number(count)) {
	console.error(refused + " of " + count + " changed pages were refused");
	process.exit(1);
}
console.log(refused + " of " + count + " changed pages were refused");
