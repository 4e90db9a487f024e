// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
// marks - moments and spans that programs marked: which are selected, how long they took, as `ebprec marks` has it

import { filter_tasks } from "./filter.mjs";
import { search_first } from "./search.mjs";

export const MARK_BEGIN = 1, MARK_END = 2, MARK_SPAN = 3;
const MARK_KINDS = ["point", "begin", "end", "span"];

// Whether a word means the mark, as --during takes it: its name, its text, or GROUP/NAME.
function marks_is_called(marks, i, word) {
	return marks.name[i] === word || marks.text[i] === word || marks.group[i] + "/" + marks.name[i] === word;
}

// The times of all spans that are called so, in nanoseconds: rising and apart, both ends included.
export function marks_during(model, word) {
	const { marks, spans } = model.marks || { marks: null, spans: { count: 0 } }, ranges = [];
	for (let s = 0; s < spans.count; s++) {
		if (!marks_is_called(marks, spans.mark[s], word))
			continue;
		const from = spans.start[s], to = from + spans.length[s], last = ranges[ranges.length - 1];
		if (last && from <= last[1])
			last[1] = Math.max(last[1], to);
		else
			ranges.push([from, to]);
	}
	return ranges;
}

export function marks_kind(marks, i) {
	return MARK_KINDS[marks.kind[i]] || "point";
}

function marks_in(ranges, ns) {
	const i = search_first(0, ranges.length, (n) => ranges[n][1] < ns);
	return i < ranges.length && ranges[i][0] <= ns;
}

// Numbers of the marks that are selected.  ranges: of time, in nanoseconds, both ends included.
export function marks_selected(model, selection, ranges) {
	const { marks } = model.marks, list = [];
	filter_tasks(marks, selection).forEach((passes, i) => {
		if (passes && marks_in(ranges, marks.time[i]))
			list.push(i);
	});
	return list;
}

// The smallest length that at least this share of all does not exceed.
function marks_quantile(lengths, share) {
	return lengths[Math.max(0, Math.min(lengths.length, Math.ceil(share * lengths.length)) - 1)];
}

// A row for each name, in the order in which they came: group, name, is_span, count, unended, and of spans that ended
// total, min, max, mean, median, p99 in nanoseconds.
export function marks_summary(model, list) {
	const { marks, spans, span_of } = model.marks, rows = new Map();
	for (const i of list) {
		if (marks.kind[i] === MARK_END)
			continue;
		const is_span = span_of[i] >= 0, key = is_span + "\0" + marks.group[i] + "\0" + marks.name[i];
		if (!rows.has(key))
			rows.set(key, { group: marks.group[i], name: marks.name[i], is_span, count: 0, unended: 0, lengths: [] });
		const row = rows.get(key);
		row.count++;
		if (is_span && spans.ended[span_of[i]])
			row.lengths.push(spans.length[span_of[i]]);
		else if (is_span)
			row.unended++;
	}
	for (const row of rows.values()) {
		const lengths = row.lengths.sort((a, b) => a - b);
		row.total = lengths.reduce((a, b) => a + b, 0);
		if (lengths.length)
			Object.assign(row, { min: lengths[0], max: lengths[lengths.length - 1], mean: row.total / lengths.length,
				median: marks_quantile(lengths, 0.5), p99: marks_quantile(lengths, 0.99) });
	}
	return [...rows.values()];
}

// The contents of a lane: of one name its spans and moments in [from_us, to_us), each { from_us, to_us, mark }.  The busiest names first.
export function marks_lanes(model, most) {
	const { marks, spans, span_of } = model.marks, lanes = new Map();
	for (let i = 0; i < marks.count; i++) {
		if (marks.kind[i] === MARK_END)
			continue;
		const name = marks.group[i] + "/" + marks.name[i], s = span_of[i];
		if (!lanes.has(name))
			lanes.set(name, { name, list: [], is_span: false });
		const from = s >= 0 ? spans.start[s] : marks.time[i];
		lanes.get(name).is_span ||= s >= 0;
		lanes.get(name).list.push({ mark: i, from_us: from / 1000, to_us: (from + (s >= 0 ? spans.length[s] : 0)) / 1000 });
	}
	return [...lanes.values()].sort((a, b) => b.list.length - a.list.length || (a.name < b.name ? -1 : 1)).slice(0, most);
}
