// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
// counters - what instruments counted, as `ebprec metrics --interval` has it: lines over time
import { search_first } from "./search.mjs";
import { words_count, words_length } from "./words.mjs";

const COUNTERS_FIRST = 4;

export function counters_id(line) {
	return line.table + "/" + line.of + "/" + line.key;
}

export function counters_group(line) {
	return line.of ? [...new Set([line.by, line.of, line.with])].join(" ").trim() : line.title;
}

export function counters_name(line) {
	return line.name + " of " + counters_group(line);
}

function counters_changes({ points }) {
	return points.some(({ value }) => value !== points[0].value);
}

// The lines of these ids; without any: of the first tables the first line that changes, those of processes last.
export function counters_chosen({ lines }, ids) {
	return ids.length ? lines.filter((line) => line.points.length && ids.includes(counters_id(line))) : [...new Map(lines.filter(counters_changes).reverse().map((line) => [line.table, line])).values()].reverse()
		.sort((a, b) => Number(a.by === "process") - Number(b.by === "process")).slice(0, COUNTERS_FIRST);
}

export function counters_value(value, unit) {
	if (unit === "ns")
		return value < 0 ? "-" + words_length(-value / 1000) : words_length(value / 1000);
	if (unit === "bytes" && Math.abs(value) >= 1e8)
		return words_count(value / 2 ** 20) + " MiB";
	const scaled = unit === "millionths" ? value / 1e6 : value, digits = Math.abs(scaled) < 100 && scaled % 1 ? 2 : 0;
	return (digits ? scaled.toFixed(digits) : words_count(scaled)) + (unit === "millionths" || !unit ? "" : " " + unit);
}

// The points of which some is in a range of times; no ranges: all.
export function counters_points(line, times) {
	return times.length ? line.points.filter(({ from_us, to_us }) => times.some(([from, to]) => from_us < to && to_us > from)) : line.points;
}

// The point of that moment; undefined: there is none.
export function counters_at(line, us) {
	const point = line.points[search_first(0, line.points.length, (i) => line.points[i].to_us <= us)];
	return point?.from_us <= us ? point : undefined;
}

// mean: of the time that the points have.
export function counters_summary(points) {
	let min = Infinity, max = -Infinity, sum = 0, time = 0;
	for (const { from_us, to_us, value } of points) {
		min = Math.min(min, value);
		max = Math.max(max, value);
		sum += value * (to_us - from_us);
		time += to_us - from_us;
	}
	return { min, max, mean: time ? sum / time : min };
}
