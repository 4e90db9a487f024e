// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
// functions - what each function cost: itself, and with all that it called
//
// A row is a name in a file, as in `ebprec report`; what is on a stack more than once is counted once for it.
import { words_csv } from "../data/words.mjs";

// For each node, whether no caller of it is in its row.  Once for a model.
export function functions_outermost(model) {
	const { parent, frame, count, depth } = model.nodes, rows = model.frames.row;
	const open = new Uint32Array(model.frames.count + 1), path = [], outermost = new Uint8Array(count);
	for (let i = 1; i < count; i++) {
		// Nodes are in the order of a walk: what is deeper than the caller has been left.
		while (path.length > depth[parent[i]])
			open[rows[frame[path.pop()]]]--;
		outermost[i] = open[rows[frame[i]]]++ ? 0 : 1;
		path.push(i);
	}
	return outermost;
}

// Orders of the rows of the table, by what they are sorted.
export const FUNCTIONS_ORDERS = {
	self: (a, b) => b.self - a.self || b.total - a.total || a.row - b.row,
	total: (a, b) => b.total - a.total || b.self - a.self || a.row - b.row,
	name: (a, b) => a.row - b.row,
};

// By row, from weights by stack: itself, and with all that it called.  node_of: by stack.
export function functions_sums(model, outermost, weights, node_of) {
	const { parent, frame, count } = model.nodes, rows = model.frames.row, row_count = rows.length;
	const node = new Float64Array(count), self = new Float64Array(row_count), total = new Float64Array(row_count);
	for (let i = 0; i < weights.length; i++)
		node[node_of[i]] += weights[i];
	for (let i = 1; i < count; i++)
		self[rows[frame[i]]] += node[i];
	for (let i = count - 1; i > 0; i--) {
		if (outermost[i])
			total[rows[frame[i]]] += node[i];
		node[parent[i]] += node[i];
	}
	return { self, total };
}

// counted: count_by_stack().  Rows by self, then total, both falling, then by name.
export function functions_table(model, outermost, counted, node_of) {
	const { self, total } = functions_sums(model, outermost, counted.weights, node_of), rows = model.frames.row;
	const list = Array.from(rows, (row, i) => ({ row, frame: i, self: self[row], total: total[row] })).filter((r, i) => r.total && r.row !== rows[i - 1]);
	return list.sort(FUNCTIONS_ORDERS.self);
}

// `ebprec report --csv`, with --lines by_line.
export const functions_csv = ({ objects, frames }, list, by_line) => words_csv("self,total,dso,symbol" + (by_line ? ",line" : ""),
	list.map((r) => [r.self, r.total, objects.base[frames.object[r.frame]], frames.name[r.frame], ...(by_line ? [frames.line[r.frame] || "[unknown]"] : [])]));

// Whether the table of functions has their lines: on a page with these, of samples.
export const functions_by_line = ({ samples }, measure) => !measure.words.length && samples.lines.some(Boolean);
