// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
// counting - what instruments counted: each line summed up, and the intervals of those that the overview draws
import { command_events } from "../data/command.mjs";
import { counters_chosen, counters_group, counters_id, counters_name, counters_points, counters_summary, counters_value } from "../data/counters.mjs";
import { filter_all } from "../data/filter.mjs";
import { link_names, link_names_of } from "../data/link.mjs";
import { words_count, words_length, words_moment } from "../data/words.mjs";
import { dom_button, dom_command, dom_section } from "./dom.mjs";
import { table_make, table_set } from "./table.mjs";

export function counting_make(app) {
	const { counters } = app.model, counting = { app, update: () => counting_count(counting), command: dom_command() };
	const number = (text, value) => ({ text, number: true, cell: (row) => (row.points.length ? counters_value(row[value], row.line.unit) : "-") });
	counting.sums = table_make({ label: "Table of counters", first: 12, columns: [
		{ text: "over time", cell: ({ line, shown }) => dom_button(shown ? "hide" : "show", () => counting_toggle(app, line, shown), (shown ? "hide " : "show ") + counters_name(line) + " above") },
		{ text: "table", cell: ({ line }) => line.title },
		{ text: "of", cell: ({ line }) => counters_group(line) },
		{ text: "counter", cell: ({ line }) => line.name + (line.left_out ? " (without " + words_count(line.left_out) + " too large values)" : "") },
		number("min", "min"), number("mean", "mean"), number("max", "max"),
	] });
	counting.table = table_make({ label: "Intervals of counters", first: 10, columns: [
		{ text: "from", number: true, cell: ({ point }) => dom_button(words_moment(point.from_us, 1000), () => counting_select(app, point), "select this time", "name") },
		{ text: "for", number: true, cell: ({ point }) => words_length(point.to_us - point.from_us) },
		{ text: "counter", cell: ({ line }) => counters_name(line) },
		{ text: "value", number: true, cell: ({ line, point }) => counters_value(point.value, line.unit) },
	] });
	counting.element = dom_section("counters", "Counters", counting.sums.element, counting.table.element, counting.command.line);
	counting.note = counters.tables.name.map((name, t) => [counters.tables.groups[t], new Set(counters.lines.filter((line) => line.table === name).map((line) => line.of)).size, counters.tables.title[t]])
		.filter(([all, own]) => all > own).map(([all, own, title]) => "; " + title + ": the largest " + words_count(own) + " of " + words_count(all)).join("");
	return counting;
}

function counting_toggle(app, line, shown) {
	const ids = counters_chosen(app.model.counters, link_names_of(app.state.view.lines)).map(counters_id).filter((id) => !shown || id !== counters_id(line));
	app.change({ lines: link_names(shown ? (ids.length ? ids : ["-"]) : [...ids, counters_id(line)]) }, true);
}

function counting_select(app, { from_us, to_us }) {
	const range = [Math.max(0, Math.floor(from_us)), Math.min(app.span_us, Math.ceil(to_us))];
	app.change({ times: range[0] < range[1] ? [range] : [] }, true);
}

function counting_count(counting) {
	const { app } = counting, { model, state } = app, { times } = state.selection;
	const chosen = new Set(counters_chosen(model.counters, link_names_of(state.view.lines)));
	const rows = model.counters.lines.map((line) => ({ line, shown: chosen.has(line), points: counters_points(line, times) })).filter((row) => row.points.length || row.line.left_out);
	const ends = rows.flatMap((row) => row.points.map((point) => Math.floor(point.to_us))), range = [ends.reduce((a, b) => Math.min(a, b), Infinity), ends.reduce((a, b) => Math.max(a, b), 0) + 1];
	counting.command.set(ends.length ? "" : "no interval is in it", () => command_events(model, { ...filter_all(), times: times.length ? [range] : [] }, ["metrics", "--interval"]));
	table_set(counting.sums, rows.map((row) => ({ ...row, ...counters_summary(row.points) })), words_count(rows.length) + " counters" + (times.length ? " in the intervals of the selected time" : "") + counting.note);
	const values = rows.filter((row) => row.shown).flatMap(({ line, points }) => points.map((point) => ({ line, point }))).sort((a, b) => a.point.from_us - b.point.from_us);
	table_set(counting.table, values, words_count(values.length) + " intervals of what is shown over time");
}
