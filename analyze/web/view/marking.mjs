// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
// marking - the marks that are selected: summed up by name, and one by one
import { command_events, command_lacks, command_of_events } from "../data/command.mjs";
import { filter_ranges } from "../data/filter.mjs";
import { marks_kind, marks_selected, marks_summary } from "../data/marks.mjs";
import { words_count, words_length, words_many, words_moment } from "../data/words.mjs";
import { dom_button, dom_command, dom_section } from "./dom.mjs";
import { table_make, table_set } from "./table.mjs";

export function marking_make(app) {
	const { model } = app, { marks, spans } = model.marks, span = (i) => marks.span[i] - 1, length = (ns) => (ns === undefined ? "-" : words_length(ns / 1000)), called = ({ group, name }) => group + "/" + name;
	const of = (i) => spans.mark[span(i)] ?? i, ended = (i) => (spans.ended[span(i)] ? spans.length[span(i)] : undefined);
	const choose = (row, text, not_during) => dom_button(text, () => app.change({ during: called(row), not_during }), (not_during ? "all times but those of " : "all times of ") + called(row));
	const sums = table_make({ label: "Marks by name", first: 100, columns: [
		["mark", (row) => called(row) + (row.unended ? " (" + words_count(row.unended) + " without an end)" : ""), "code"],
		["times", (row) => words_count(row.count), "number"],
		...["total", "min", "mean", "median", "p99", "max"].map((value) => [value, (row) => length(row.lengths.length ? row[value] : undefined), "number"]),
		["select", (row) => (row.is_span ? [choose(row, "during", false), choose(row, "outside", true)] : "")],
	] });
	const table = table_make({ label: "Table of marks", first: 10, columns: [
		["when", (i) => dom_button(words_moment(marks.time[i] / 1000, 1), () => marking_select(app, i), "select this time", "name"), "number"],
		["thread", (i) => marks.comm[i] + " " + marks.tid[i]],
		["kind", (i) => marks_kind(marks, i)],
		["length", (i) => length(ended(i)), "number"],
		["mark", (i) => (marks.name[of(i)] ? called({ group: marks.group[of(i)], name: marks.name[of(i)] }) : "") + (marks.span[i] ? "#" + spans.number[span(i)] : ""), "code"],
		["text", (i) => marks.text[i], "code"],
	] });
	const commands = [["marks", "--summary"], ["marks"]].map((words) => ({ ...dom_command(), words }));
	return { element: dom_section("marks", "Marks", null, sums.element, table.element, ...commands.map(({ line }) => line)), update: () => {
		const { selection } = app, lacks = command_lacks(model, command_of_events(selection)), list = marks_selected(model, selection, filter_ranges(model, selection)), names = marks_summary(model, list);
		for (const { set, words } of commands)
			set(lacks, () => command_events(model, selection, words));
		table_set(sums, names, words_many(names.length, "names"));
		table_set(table, list, words_many(list.length, "marks"));
	} };
}

function marking_select(app, i) {
	const { marks, spans } = app.model.marks, s = marks.span[i] - 1, from = spans.start[s] ?? marks.time[i], to = from + (spans.length[s] ?? 0);
	app.select(from / 1000, Math.floor(to / 1000) + 1);
}
