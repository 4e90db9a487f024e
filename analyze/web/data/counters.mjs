// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
// counters - what instruments counted, as `ebprec metrics --interval` has it: lines over time
import { list_first, list_sum, map_get } from "./lists.mjs";
import { words_count, words_length } from "./words.mjs";

const COUNTERS_FIRST = 4;

export const counters_id = (line) => line.table + "/" + line.of + "/" + line.key;

export const counters_name = ({ group, what }) => group + ": " + what;

// The lines of these ids; without any: of the first tables the first line that changes, those of processes last.
export function counters_chosen({ lines }, ids) {
	const firsts = new Map();
	if (ids.length)
		return lines.filter((line) => line.points.length && ids.includes(counters_id(line)));
	for (const line of lines)
		if (line.points.some(({ value }) => value !== line.points[0].value))
			map_get(firsts, line.table, () => line);
	return [...firsts.values()].sort((a, b) => (a.by === "process" ? 1 : 0) - (b.by === "process" ? 1 : 0)).slice(0, COUNTERS_FIRST);
}

export function counters_value(value, unit) {
	if (unit === "ns")
		return (value < 0 ? "-" : "") + words_length(Math.abs(value) / 1000);
	if (unit === "bytes" && Math.abs(value) >= 1e8)
		return words_count(value / 2 ** 20) + " MiB";
	const scaled = unit === "millionths" ? value / 1e6 : value;
	return (Math.abs(scaled) < 100 && scaled % 1 ? scaled.toFixed(2) : words_count(scaled)) + (unit === "millionths" || !unit ? "" : " " + unit);
}

// The points of which some is in a range of times; no ranges: all.
export const counters_points = (line, times) => times.length ? line.points.filter(({ from_us, to_us }) => times.some(([from, to]) => from_us < to && to_us > from)) : line.points;

// The point of that moment; undefined: there is none.
export function counters_at(line, us) {
	const point = line.points[list_first(0, line.points.length, (i) => line.points[i].to_us <= us)];
	return point?.from_us <= us ? point : undefined;
}

// mean: of the time that the points have.
export function counters_summary(points) {
	const values = points.map(({ value }) => value).sort((a, b) => a - b), time = list_sum(points.map(({ from_us, to_us }) => to_us - from_us));
	return { min: values[0], max: values.at(-1), mean: time ? list_sum(points.map(({ from_us, to_us, value }) => value * (to_us - from_us))) / time : values[0] };
}
