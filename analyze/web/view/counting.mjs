// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
// counting - what instruments counted: each line summed up, and the intervals of those that the overview draws
import { command_events } from "../data/command.mjs";
import { counters_chosen, counters_id, counters_name, counters_points, counters_summary, counters_value } from "../data/counters.mjs";
import { filter_all } from "../data/filter.mjs";
import { link_names, link_names_of } from "../data/link.mjs";
import { words_count, words_length, words_many, words_moment } from "../data/words.mjs";
import { dom_button, dom_command, dom_section } from "./dom.mjs";
import { table_make, table_set } from "./table.mjs";

export function counting_make(app) {
	const { counters } = app.model, { tables, lines } = counters, command = dom_command(), number = (text) => [text, ({ points, line, ...row }) => (points.length ? counters_value(row[text], line.unit) : "-"), "number"];
	const sums = table_make({ label: "Table of counters", class: "counters", first: 12, columns: [
		["over time", ({ line, shown }) => dom_button(shown ? "hide" : "show", () => counting_toggle(app, line, shown), (shown ? "hide " : "show ") + counters_name(line) + " above")],
		["of", ({ line }) => line.group],
		["counter", ({ line }) => line.what + (line.left_out ? " (without " + words_many(line.left_out, "too large values") + ")" : "")],
		number("min"), number("mean"), number("max"), ["table", ({ line }) => line.title],
	] });
	const table = table_make({ label: "Intervals of counters", first: 10, columns: [
		["from", ({ point }) => dom_button(words_moment(point.from_us, 1000), () => app.select(point.from_us, point.to_us), "select this time", "name"), "number"],
		["for", ({ point }) => words_length(point.to_us - point.from_us), "number"],
		["counter", ({ line }) => counters_name(line)],
		["value", ({ line, point }) => counters_value(point.value, line.unit), "number"],
	] });
	const note = tables.title.map((title, t) => (tables.groups[t] > tables.shown[t] ? "; " + title + ": the largest " + words_count(tables.shown[t]) + " of " + words_count(tables.groups[t]) : "")).join("");
	return { element: dom_section("counters", "Counters", null, sums.element, table.element, command.line), update: () => counting_count(app, { sums, table, command, note }) };
}

const counting_shown = ({ model, view }) => counters_chosen(model.counters, link_names_of(view.lines));

function counting_toggle(app, line, shown) {
	const ids = [...counting_shown(app).filter((other) => other !== line), ...(shown ? [] : [line])].map(counters_id);
	app.change({ lines: link_names(ids.length ? ids : ["-"]) }, true);
}

function counting_count(app, { sums, table, command, note }) {
	const { model, selection: { times } } = app, chosen = counting_shown(app);
	const rows = model.counters.lines.map((line) => ({ line, shown: chosen.includes(line), points: counters_points(line, times) })).filter((row) => row.points.length || row.line.left_out);
	const ends = rows.flatMap(({ points }) => points.map(({ to_us }) => Math.floor(to_us))).sort((a, b) => a - b);
	command.set(ends.length ? "" : "no interval is in it", () => command_events(model, { ...filter_all(), times: times.length ? [[ends[0], ends.at(-1) + 1]] : [] }, ["metrics", "--interval"]));
	table_set(sums, rows.map((row) => ({ ...row, ...counters_summary(row.points) })), words_many(rows.length, "counters") + (times.length ? " in the intervals of the selected time" : "") + note);
	const values = rows.filter((row) => row.shown).flatMap(({ line, points }) => points.map((point) => ({ line, point }))).sort((a, b) => a.point.from_us - b.point.from_us);
	table_set(table, values, words_many(values.length, "intervals") + " of what is shown over time");
}
