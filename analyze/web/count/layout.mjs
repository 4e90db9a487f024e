// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
// layout - where the frames of a graph of calls are
//
// frames: of each its node, x and width in pixels, and row.  Above the node that is zoomed to stand its callers over the
// entire width.  Frames narrower than half a pixel are put together: node -1.
import { count_each } from "./count.mjs";
import { filter_passes } from "../data/filter.mjs";
import { tree_path } from "./tree.mjs";

const LAYOUT_LEAST = 0.5;

function layout_make() {
	const out = { frames: [], rows: 1, us: null };
	const put = (node, x, width, row) => {
		out.frames.push({ node, x, width, row });
		out.rows = Math.max(out.rows, row + 1);
	};
	return { out, put };
}

// Puts frames of a row from left to right; returns whether it was wide enough.  Without a node: what is left of narrow ones.
function layout_line(put, row) {
	let from = 0, to = -1;
	return (node = null, x = 0, w = 0) => {
		if (w >= LAYOUT_LEAST) {
			put(node, x, w, row);
			return true;
		}
		if (node === null || x > to + LAYOUT_LEAST) {
			if (to - from >= LAYOUT_LEAST)
				put(-1, from, to - from, row);
			from = x;
		}
		to = x + w;
		return false;
	};
}

// heavy_first: callees of a frame by weight; else they stay where they are whatever is selected.
export function layout_graph(tree, total, zoom, width, heavy_first) {
	const { out, put } = layout_make();
	put(0, 0, width, 0);
	for (const node of tree_path(tree, zoom))
		put(node, 0, width, tree.depth[node]);
	const scale = width / total[zoom], todo = total[zoom] ? [zoom] : [], left = [0];
	while (todo.length) {
		const up = todo.pop(), first = tree.first[up], last = tree.first[up + 1];
		let x = left.pop();
		if (first === last)
			continue;
		const line = layout_line(put, tree.depth[up] + 1), sorted = heavy_first && tree.callees.slice(first, last).sort((a, b) => total[b] - total[a] || tree.place[a] - tree.place[b]);
		for (let i = first; i < last; i++) {
			const node = sorted ? sorted[i - first] : tree.callees[i], w = total[node] * scale;
			if (w && line(node, x, w)) {
				todo.push(node);
				left.push(x);
			}
			x += w;
		}
		line();
	}
	return out;
}

// The samples that pass, of one thread, by time; null: they are of more than one.
export function layout_thread({ samples, tasks }, filter, [from_us, to_us]) {
	const list = [], { time, task } = samples;
	count_each({ samples, tasks }, filter, (from, to) => {
		for (let i = from; i < to; i++)
			if (time[i] >= from_us && time[i] < to_us && filter_passes(filter, samples, i))
				list.push(i);
	});
	return new Set(list.map((i) => tasks.tid[task[i]])).size === 1 ? list.sort((a, b) => time[a] - time[b] || a - b) : null;
}

// Their stacks from left to right: a sample lasts until the next one, or where that is far away as long as samples are apart.
// Frames that are the same in neighbours are one.  us(x): the moment there.
export function layout_chart({ samples, head }, tree, list, [from_us, to_us], width) {
	const { out, put } = layout_make(), scale = width / (to_us - from_us), interval = head.interval_ns / 1000 || Infinity, open = [], since = [], lines = [], paths = {};
	let end = from_us; // of the sample before
	const close = (rows) => {
		while (open.length > rows) {
			const row = open.length, x = (since.pop() - from_us) * scale;
			lines[row] ||= layout_line(put, row);
			lines[row](open.pop(), x, (end - from_us) * scale - x);
		}
	};
	put(0, 0, width, 0);
	list.forEach((i, n) => {
		const time = samples.time[i], next = n + 1 < list.length ? samples.time[list[n + 1]] : Infinity, node = tree.ends[tree.slots[i]], path = paths[node] ||= node < tree.count ? tree_path(tree, node) : [];
		let same = 0;
		while (time === end && same < open.length && open[same] === path[same])
			same++;
		close(same);
		for (; same < path.length; same++) {
			open.push(path[same]);
			since.push(time);
		}
		end = Math.min(to_us, next - time <= 2 * interval ? next : time + interval);
	});
	close(0);
	lines.forEach((line) => line());
	return { ...out, us: (x) => Math.round(from_us + x / scale) };
}

// The same upside down, in so many rows.
export function layout_turn(layout, rows) {
	for (const frame of layout.frames)
		frame.row = rows - 1 - frame.row;
	return { ...layout, rows };
}

// The frame at a point; undefined: there is none.
export const layout_find = ({ frames }, x, row) => frames.findLast((frame) => frame.row === row && x >= frame.x && x < frame.x + frame.width);
