// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
// waits_compare - waits of two ranges of time side by side: which take more or less of each second, and what of it is chance
//
// The time of each range is that of `ebprec report --waits`.  How much it varies is seen in twenty blocks of each range: the difference of
// their means has Student's distribution with Welch's degrees of freedom, and is real at a level divided by the number of rows.
import { list_sum, map_get } from "../data/lists.mjs";
import { student_distance } from "./distributions.mjs";

const WAITS_BLOCKS = 20, WAITS_LEVEL = 0.05;

// By text of the row: its share of the range's time (of all threads together), its times, and its share of each block.
function waits_compare_side(table_of, [from, to]) {
	const items = new Map(), edge = (b) => Math.round(from + (to - from) * b / WAITS_BLOCKS);
	const item_of = (row) => map_get(items, [row.waiter, row.reason, row.woken_by, row.where, row.object].join("\0"), () => ({ row, share: 0, count: 0, blocks: new Float64Array(WAITS_BLOCKS) }));
	const add = (range, put) => {
		for (const row of range[0] < range[1] ? table_of(range) : [])
			put(item_of(row), row.total_ns / 1000 / (range[1] - range[0]), row);
	};
	add([from, to], (item, share, { count }) => Object.assign(item, { share, count }));
	for (let b = 0; b < WAITS_BLOCKS; b++)
		add([edge(b), edge(b + 1)], (item, share) => { item.blocks[b] = share; });
	return items;
}

// The variance of the mean of blocks.
function waits_compare_variance({ blocks }) {
	const mean = list_sum(blocks) / WAITS_BLOCKS;
	return list_sum(blocks.map((share) => (share - mean) ** 2)) / (WAITS_BLOCKS - 1) / WAITS_BLOCKS;
}

// table_of(range): rows of waits_table() in it.  Rows: those of waits_table() with share and count by side, low and high (of the second share less the first), result as
// of compare.mjs; the largest difference first.
export function waits_compare(table_of, ranges) {
	const none = { share: 0, count: 0, blocks: new Float64Array(WAITS_BLOCKS) }, sides = ranges.map((range) => waits_compare_side(table_of, range));
	const keys = [...new Set(sides.flatMap((side) => [...side.keys()]))];
	return keys.map((key) => {
		const pair = sides.map((side) => side.get(key) || none), [a, b] = pair.map(waits_compare_variance), error = Math.sqrt(a + b), difference = pair[1].share - pair[0].share;
		const off = (level) => (error ? error * student_distance(level, (a + b) ** 2 * (WAITS_BLOCKS - 1) / (a * a + b * b)) : 0), far = off(WAITS_LEVEL);
		return { ...(sides[1].get(key) || sides[0].get(key)).row, share: pair.map((item) => item.share), count: pair.map((item) => item.count), low: difference - far, high: difference + far,
			result: Math.abs(difference) <= far ? 0 : Math.abs(difference) <= off(WAITS_LEVEL / keys.length) ? 1 : 2 };
	}).sort((x, y) => Math.abs(y.share[1] - y.share[0]) - Math.abs(x.share[1] - x.share[0]));
}
