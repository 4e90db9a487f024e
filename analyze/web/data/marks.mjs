// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
// marks - moments and spans that programs marked: which are selected, how long they took, as `ebprec marks` has it

import { filter_tasks } from "./filter.mjs";
import { list_by_text, list_first, list_join, list_numbers, list_sum, map_get } from "./lists.mjs";

const MARK_END = 2, MARK_KINDS = ["point", "begin", "end", "span"];

const marks_name = ({ group, name }, i) => group[i] + "/" + name[i];

// The times of all spans that are called so as --during takes it (by name, text, or GROUP/NAME), in nanoseconds: rising and apart, both ends
// included.
export function marks_during(model, word) {
	const { marks, spans } = model.marks || { marks: null, spans: { mark: [] } };
	const own = list_numbers(spans.mark.length).filter((s) => [marks.name[spans.mark[s]], marks.text[spans.mark[s]], marks_name(marks, spans.mark[s])].includes(word));
	return list_join(own.map((s) => [spans.start[s], spans.start[s] + spans.length[s]]));
}

export const marks_kind = (marks, i) => MARK_KINDS[marks.kind[i]] || "point";

// Numbers of the marks that are selected.  ranges: of time, in nanoseconds, both ends included.
export function marks_selected(model, selection, ranges) {
	const { marks } = model.marks, passes = filter_tasks(marks, selection), { time } = marks;
	return list_numbers(marks.count).filter((i) => passes[i] && ranges[list_first(0, ranges.length, (n) => ranges[n][1] < time[i])]?.[0] <= time[i]);
}

// The smallest length that at least this share of all does not exceed.
const marks_quantile = (lengths, share) => lengths[Math.ceil(share * lengths.length) - 1];

// A row for each name, in the order in which they came: group, name, is_span, count, unended, and of spans that ended
// total, min, max, mean, median, p99 in nanoseconds.
export function marks_summary(model, list) {
	const { marks, spans } = model.marks, rows = new Map();
	for (const i of list) {
		if (marks.kind[i] === MARK_END)
			continue;
		const s = marks.span[i] - 1, is_span = s >= 0, group = marks.group[i], name = marks.name[i], row = map_get(rows, [is_span, group, name].join("\0"), () => ({ group, name, is_span, count: 0, unended: 0, lengths: [] }));
		row.count++;
		if (spans.ended[s])
			row.lengths.push(spans.length[s]);
		else if (is_span)
			row.unended++;
	}
	for (const row of rows.values()) {
		const lengths = row.lengths.sort((a, b) => a - b);
		row.total = list_sum(lengths);
		Object.assign(row, { min: lengths[0], max: lengths.at(-1), mean: row.total / lengths.length, median: marks_quantile(lengths, 0.5), p99: marks_quantile(lengths, 0.99) });
	}
	return [...rows.values()];
}

// The contents of a lane: of one name its spans and moments in [from_us, to_us), each { from_us, to_us }.  The busiest names first.
export function marks_lanes(model, most) {
	const { marks, spans } = model.marks, lanes = new Map();
	for (let i = 0; i < marks.count; i++) {
		if (marks.kind[i] === MARK_END)
			continue;
		const name = marks_name(marks, i), s = marks.span[i] - 1, lane = map_get(lanes, name, () => ({ name, list: [], is_span: false })), from = spans.start[s] ?? marks.time[i];
		lane.is_span ||= s >= 0;
		lane.list.push({ from_us: from / 1000, to_us: (from + (spans.length[s] ?? 0)) / 1000 });
	}
	return [...lanes.values()].sort((a, b) => b.list.length - a.list.length || list_by_text(a.name, b.name)).slice(0, most);
}
