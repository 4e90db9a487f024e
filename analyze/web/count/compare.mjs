// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
// compare - what changed from one range of time to another, and what of it is chance, as `ebprec diff --total` has it
//
// Shares of functions are compared by their counts in fifty blocks of each side.  How intervals and results come about is
// in analyze/report/diff/diff.h: a ratio's interval is that of independent counts, made wider by how much blocks
// vary, and what is real is so at a level divided by the number of rows that could have been.
import { list_numbers, list_sum, list_within, map_get } from "../data/lists.mjs";
import { model_part } from "../data/model.mjs";
import { count_slots } from "./count.mjs";
import { functions_outermost, functions_sums } from "./functions.mjs";
import { binomial_odds, student_to_normal_level } from "./distributions.mjs";

const BLOCKS = 50, BLOCKS_LEAST = 8, LEVEL = 0.05, VARIED_LEAST = 1e-9, WIDTHS = [1, 2, 5, 10];
export const COMPARE_RESULTS = ["noise", "unsure", "real"];

// ---- counting ----

// Where blocks of a range begin and end, on the axis of the page: at multiples of their length on the clock of the capture.
function compare_edges(model, range) {
	const { from_us = 0, head = model.head } = model_part(model, range) || {}, zero_us = head.base_us - from_us, [first, last] = head.recorded_ns || [0, Infinity];
	const from = Math.max(first, (zero_us + range[0]) * 1000), to = Math.max(from, Math.min(last, (zero_us + range[1]) * 1000 - 1));
	const length_us = Math.ceil((Math.floor((to - from) / BLOCKS) + 1) / 1000), begin = Math.floor(from / (1000 * length_us));
	return list_numbers(BLOCKS + 1).map((b) => (b % BLOCKS ? list_within((begin + b) * length_us - zero_us, ...range) : range[b ? 1 : 0]));
}

// items: by row of the table of functions, cost with all that it called in each block, and samples; total: the cost of each block.
function compare_count(model, filter, outermost, range) {
	const { samples } = model, edges = compare_edges(model, range), items = new Map(), total = new Float64Array(BLOCKS);
	const sums_of = (times, own) => count_slots({ ...model, samples: own }, { ...filter, times: [times] }, samples.stack, samples.node.length);
	const rows_of = (sums) => functions_sums(model, outermost, sums.weights, samples.node).total;
	rows_of(sums_of(range, { ...samples, weight: null })).forEach((count, row) => count && items.set(row, { cost: new Float64Array(BLOCKS), samples: count }));
	for (let b = 0; b < BLOCKS; b++) {
		const sums = sums_of([edges[b], edges[b + 1]], samples), rows = rows_of(sums);
		total[b] = sums.sum;
		for (const [row, { cost }] of items)
			cost[b] = rows[row];
	}
	return { items, total };
}

// ---- how much blocks vary ----

function compare_variance(item, side, cost, width) {
	const groups = Math.ceil(side.blocks.length / width);
	let squares = 0, off = 0;
	side.blocks.forEach((b, i) => {
		off += item.cost[b] - cost * side.expected[b];
		if ((i + 1) % width && i + 1 < side.blocks.length)
			return;
		squares += off * off;
		off = 0;
	});
	return [groups > 1 ? squares * groups / (groups - 1) : 0, groups];
}

function compare_variation(item, side) {
	const share = side.sum > 0 ? item.sum / side.sum : 0, least = Math.max(1 - share, VARIED_LEAST);
	const v = { least, times: least, freedom: side.blocks.length - 1 };
	for (const width of item.sum > 0 ? WIDTHS : []) {
		const [variance, groups] = compare_variance(item, side, item.sum, width), times = variance * (item.samples / (item.sum * item.sum)); // rounded as there
		if (groups < 2 || times <= v.times)
			continue;
		v.times = times;
		v.freedom = groups - 1;
	}
	if (v.times < least + side.drift * item.samples) {
		v.times = least + side.drift * item.samples;
		v.freedom = Infinity;
	}
	return v;
}

// By how much rows of half of the cost vary beyond independent samples.
function compare_drift(items, side) {
	let most = 0;
	for (const width of WIDTHS) {
		const rows = items.filter((item) => item.sum > 0).map((item) => ({ cost: item.sum,
			relative: compare_variance(item, side, item.sum, width)[0] / (item.sum * item.sum) - (1 - item.sum / side.sum) / item.samples }));
		rows.sort((a, b) => a.relative - b.relative);
		const total = list_sum(rows.map((row) => row.cost));
		let sum = 0;
		const middle = rows.find((row) => 2 * (sum += row.cost) >= total);
		most = Math.max(most, middle ? middle.relative : 0);
	}
	return most;
}

// ---- intervals ----

function compare_freedom(pair, v) {
	const seen = v.map((own, i) => ({ ...own, samples: pair[i].samples })).filter(({ samples }) => samples), total = list_sum(seen.map(({ times, samples }) => times / samples));
	const estimated = list_sum(seen.map(({ times, least, freedom, samples }) => ((times - least) / samples) ** 2 / freedom));
	return estimated > 0 ? total * total / estimated : Infinity;
}

function compare_exposures(pair, sides) {
	const v = pair.map((item, i) => compare_variation(item, sides[i])), samples = pair[0].samples + pair[1].samples;
	const both = samples > 0 ? (v[0].times * pair[0].samples + v[1].times * pair[1].samples) / samples : 1;
	const e = { count: [], exposure: [], freedom: compare_freedom(pair, v) };
	pair.forEach((item, i) => {
		const times = Math.max(v[i].times, both), weighed = item.samples ? item : pair[1 - i];
		e.count[i] = item.samples / times;
		e.exposure[i] = sides[i].sum / times * (weighed.samples ? weighed.samples / weighed.sum : 1);
	});
	return e;
}

function compare_interval(e, level) {
	const odds = e.exposure[0] / e.exposure[1];
	return binomial_odds(e.count[1], e.count[0], student_to_normal_level(level, e.freedom)).map((end) => end * odds);
}

// The smallest k so that at most k rows could be outside at LEVEL / k.
function compare_testable(pairs, exposures) {
	const levels = pairs.map((pair, i) => {
		const e = exposures[i], part = Math.min(...e.exposure) / (e.exposure[0] + e.exposure[1]);
		return 2 * part ** Math.max(pair[0].samples + pair[1].samples, e.count[0] + e.count[1]);
	}).sort((a, b) => a - b);
	let within = levels.length;
	for (let k = 1; k <= levels.length; k++) {
		while (within && levels[within - 1] > LEVEL / k)
			within--;
		if (within <= k)
			return k;
	}
	return levels.length || 1;
}

// The same with one row for all functions of a file that have no name.
function compare_model(model) {
	const { frames, objects } = model, files = new Map();
	return { ...model, frames: { ...frames, row: frames.row.map((row, i) => (frames.reason[i] ? map_get(files, objects.base[frames.object[i]], () => row) : row)) } };
}

// Rows: frame, row, sum and share by side (before, after), ratio (Infinity: it is new), low, high, result; the largest growth first.
// filter: its times are not asked.  too_short: too few blocks have samples to know what is chance.  row_of: by frame, its row.
export function compare_make(named, filter, before, after) {
	const model = compare_model(named), outermost = functions_outermost(model), row_of = model.frames.row, counted = [before, after].map((range) => compare_count(model, filter, outermost, range));
	const keys = [...new Set(counted.flatMap(({ items }) => [...items.keys()]))].sort((a, b) => a - b), none = { cost: new Float64Array(BLOCKS), samples: 0 };
	const pairs = keys.map((key) => counted.map(({ items }) => items.get(key) || none).map((item) => ({ ...item, sum: list_sum(item.cost) })));
	const sides = counted.map(({ total }, i) => {
		const sum = list_sum(total), blocks = [...total.keys()].filter((b) => total[b]), side = { sum, blocks, expected: total.map((n) => (sum > 0 ? n / sum : 0)) };
		return { ...side, drift: compare_drift(pairs.map((pair) => pair[i]), side) };
	});
	const too_short = sides.some((side) => side.blocks.length < BLOCKS_LEAST), exposures = pairs.map((pair) => compare_exposures(pair, sides));
	const tested = too_short ? 0 : compare_testable(pairs, exposures), first = new Map();
	row_of.forEach((row, frame) => map_get(first, row, () => frame));
	const rows = pairs.map((pair, i) => {
		const share = pair.map((item, s) => (sides[s].sum > 0 ? item.sum / sides[s].sum : 0));
		const row = { row: keys[i], frame: first.get(keys[i]), sum: pair.map((item) => item.sum), share, low: 0, high: Infinity, result: 0,
			ratio: share[0] > 0 ? share[1] / share[0] : share[1] > 0 ? Infinity : 1 };
		if (too_short || !(exposures[i].exposure[0] > 0 && exposures[i].exposure[1] > 0))
			return row;
		[row.low, row.high] = compare_interval(exposures[i], LEVEL);
		if (row.low > 1 || row.high < 1) {
			const [low, high] = compare_interval(exposures[i], LEVEL / tested);
			row.result = low > 1 || high < 1 ? 2 : 1;
		}
		return row;
	});
	rows.sort((a, b) => (b.share[1] - b.share[0]) - (a.share[1] - a.share[0]) || b.sum[1] - a.sum[1] || a.row - b.row);
	return { rows, too_short, tested, row_of };
}
