// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
// changes - two ranges of time side by side: which functions cost more or less, and what of it is chance
import { compare_make, COMPARE_RESULTS } from "../count/compare.mjs";
import { command_compare, command_lacks } from "../data/command.mjs";
import { filter_make } from "../data/filter.mjs";
import { link_range } from "../data/link.mjs";
import { words_count, words_many, words_percent } from "../data/words.mjs";
import { dom_command, dom_section } from "./dom.mjs";
import { profile_name } from "./profile.mjs";
import { table_make, table_set } from "./table.mjs";

export function changes_make(app) {
	const { objects, frames } = app.model, command = dom_command();
	const table = changes_table("Table of changes", "", [
		["before", (row) => words_percent(row.share[0], 1), "number"],
		["after", (row) => words_percent(row.share[1], 1), "number"],
		["ratio", (row) => changes_ratio(row.ratio), "number"],
		["95 % interval", changes_interval, "number"],
		["is", (row) => COMPARE_RESULTS[row.result]],
		["object", (row) => objects.base[frames.object[row.frame]]],
		["function", ({ frame }) => (frames.reason[frame] ? "[" + objects.base[frames.object[frame]] + "]" : profile_name(app, frame))],
	]);
	const changes = { app, table, command, element: dom_section("changes", "Changes", null, table.element, command.line), update: () => changes_count(changes) };
	return changes;
}

// Rows that are unsure or noise are grey.
export const changes_table = (label, kind, columns) => table_make({ label, class: kind, first: 15, row: ({ result }) => (result < 2 ? "chance" : null), columns });

export const changes_caption = (rows, things) => words_count(rows.filter((row) => row.result === 2).length) + " of " + words_many(rows.length, things) + " changed by more than chance; what is unsure or noise is grey";

// The ranges that are compared; null: none are.
export function changes_ranges(app) {
	const before = changes_baseline(app), after = app.model.parts?.[1] || { from_us: 0, to_us: app.span_us };
	return before && [before, app.selection.times[0] || [after.from_us, after.to_us]];
}

export const changes_baseline = (app) => link_range(app.view.baseline);

export function changes_show({ app, element }) {
	element.hidden = !changes_ranges(app) || !["cpu", app.of].includes(app.view.measure);
	if (element.hidden)
		app.changed = null;
}

function changes_count({ app, table, command, element }) {
	const { model } = app, ranges = changes_ranges(app), selection = { ...app.selection, times: [], during: "" };
	if (element.hidden)
		return;
	const { rows, too_short, row_of } = compare_make(model, filter_make(model, selection), ...ranges), size = (row) => Math.abs(row.share[1] - row.share[0]);
	const by_row = new Map(rows.map((row) => [row.row, row]));
	app.changed = Array.from(row_of, (row) => by_row.get(row)); // by frame
	const lacks = model.parts ? null : command_lacks(model, selection), line = lacks ? null : command_compare(model, selection, ranges);
	command.set(line ? null : lacks || "it takes ranges of one capture each", () => line);
	table_set(table, rows.sort((a, b) => b.result - a.result || size(b) - size(a) || a.row - b.row), too_short ? "too short to know what is chance" : changes_caption(rows, "functions"));
	app.redraw();
}

const changes_times = (ratio) => "x" + (ratio < 1e6 ? ratio.toFixed(ratio < 0.1 ? 3 : ratio < 100 ? 2 : 0) : ratio.toExponential(1));

export const changes_ratio = (ratio) => ratio === Infinity ? "new" : ratio === 0 ? "gone" : changes_times(ratio);

export const changes_interval = ({ low, high }) => high < Infinity || low ? changes_times(low) + " .. " + (high < Infinity ? changes_times(high) : "") : "";
