// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
// marking - the marks that are selected: summed up by name, and one by one
import { command_events, command_lacks } from "../data/command.mjs";
import { filter_ranges } from "../data/filter.mjs";
import { marks_kind, marks_selected, marks_summary } from "../data/marks.mjs";
import { words_count, words_length, words_moment } from "../data/words.mjs";
import { dom_button, dom_command, dom_section } from "./dom.mjs";
import { table_make, table_set } from "./table.mjs";

export function marking_make(app) {
	const { marks, spans, span_of } = app.model.marks, length = (ns) => (ns === undefined ? "-" : words_length(ns / 1000));
	const number = (text, value) => ({ text, number: true, cell: (row) => length(row.lengths.length ? row[value] : undefined) });
	const of = (i) => (span_of[i] >= 0 ? spans.mark[span_of[i]] : i), ended = (i) => (spans.ended[span_of[i]] ? spans.length[span_of[i]] : undefined);
	const marking = { app, update: () => marking_count(marking), commands: [dom_command(), dom_command()] };
	marking.sums = table_make({ label: "Marks by name", first: 100, columns: [
		{ text: "mark", code: true, cell: (row) => row.group + "/" + row.name + (row.unended ? " (" + words_count(row.unended) + " without an end)" : "") },
		{ text: "times", number: true, cell: (row) => words_count(row.count) },
		...["total", "min", "mean", "median", "p99", "max"].map((value) => number(value, value)),
		{ text: "select", cell: (row) => (row.is_span ? [marking_choose(app, row, "during", false), marking_choose(app, row, "outside", true)] : "") },
	] });
	marking.table = table_make({ label: "Table of marks", first: 10, columns: [
		{ text: "when", number: true, cell: (i) => dom_button(words_moment(marks.time[i] / 1000, 1), () => marking_select(app, i), "select this time", "name") },
		{ text: "thread", cell: (i) => marks.comm[i] + " " + marks.tid[i] },
		{ text: "kind", cell: (i) => marks_kind(marks, i) },
		{ text: "length", number: true, cell: (i) => length(span_of[i] >= 0 ? ended(i) : undefined) },
		{ text: "mark", code: true, cell: (i) => (marks.name[of(i)] ? marks.group[of(i)] + "/" + marks.name[of(i)] : "") + (span_of[i] >= 0 ? "#" + spans.number[span_of[i]] : "") },
		{ text: "text", cell: (i) => marks.text[i] },
	] });
	marking.element = dom_section("marks", "Marks", marking.sums.element, marking.table.element, ...marking.commands.map((command) => command.line));
	return marking;
}

function marking_choose(app, row, text, not) {
	const name = row.group + "/" + row.name;
	return dom_button(text, () => app.change({ during: name, not_during: not }), (not ? "all times but those of " : "all times of ") + name);
}

function marking_select(app, i) {
	const { marks, spans, span_of } = app.model.marks, s = span_of[i];
	const from = s >= 0 ? spans.start[s] : marks.time[i], to = s >= 0 ? from + spans.length[s] : from;
	app.change({ times: [[Math.max(0, Math.floor(from / 1000)), Math.max(1, Math.floor(to / 1000) + 1)]] }, true);
}

function marking_count(marking) {
	const { model, state } = marking.app, lacks = command_lacks(model, { ...state.selection, cpus: [], symbol: "", dso: "", parent: "" });
	const list = marks_selected(model, state.selection, filter_ranges(model, state.selection)), names = marks_summary(model, list);
	marking.commands.forEach((command, i) => command.set(lacks, () => command_events(model, state.selection, i ? ["marks"] : ["marks", "--summary"])));
	table_set(marking.sums, names, words_count(names.length) + " names");
	table_set(marking.table, list, words_count(list.length) + " marks");
}
