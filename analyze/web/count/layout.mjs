// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
// layout - where the frames of a graph of calls are
//
// Rectangles as columns: node, x and width in pixels, row.  Above the node that is zoomed to stand its callers over the
// whole width.  Frames narrower than half a pixel are put together: node -1.
import { tree_path } from "./tree.mjs";

const LAYOUT_LEAST = 0.5;

// heavy_first: callees of a frame by weight; else they stay where they are whatever is selected.
export function layout_graph(tree, total, zoom, width, heavy_first) {
	const out = { node: [], x: [], width: [], row: [], rows: 1 };
	const put = (node, x, w, row) => {
		out.node.push(node);
		out.x.push(x);
		out.width.push(w);
		out.row.push(row);
		out.rows = Math.max(out.rows, row + 1);
	};
	put(0, 0, width, 0);
	for (const node of tree_path(tree, zoom))
		put(node, 0, width, tree.depth[node]);
	if (!total[zoom])
		return out;
	const scale = width / total[zoom], todo = [[zoom, 0]];
	while (todo.length) {
		const [up, left] = todo.pop(), row = tree.depth[up] + 1;
		let x = left, thin = 0, thin_from = 0;
		const end = tree.first[up + 1];
		let callees = tree.callees, at = tree.first[up];
		if (heavy_first) {
			callees = callees.slice(at, end).sort((a, b) => total[b] - total[a] || tree.place[a] - tree.place[b]);
			at = 0;
		}
		for (const last = at + end - tree.first[up]; at < last; at++) {
			const node = callees[at], w = total[node] * scale;
			if (!w)
				continue;
			if (w >= LAYOUT_LEAST) {
				put(node, x, w, row);
				todo.push([node, x]);
			} else {
				if (!thin || x > thin_from + thin + LAYOUT_LEAST) {
					if (thin >= LAYOUT_LEAST)
						put(-1, thin_from, thin, row);
					thin = 0;
					thin_from = x;
				}
				thin = x + w - thin_from;
			}
			x += w;
		}
		if (thin >= LAYOUT_LEAST)
			put(-1, thin_from, thin, row);
	}
	return out;
}

// The rectangle at a point; -1: none.
export function layout_find(layout, x, row) {
	for (let i = layout.node.length; i-- > 0;)
		if (layout.row[i] === row && x >= layout.x[i] && x < layout.x[i] + layout.width[i])
			return i;
	return -1;
}
