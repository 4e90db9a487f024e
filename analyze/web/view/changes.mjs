// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
// changes - two ranges of time side by side: which functions cost more or less, and what of it is chance
import { compare_make, COMPARE_RESULTS } from "../count/compare.mjs";
import { command_compare, command_lacks } from "../data/command.mjs";
import { filter_make } from "../data/filter.mjs";
import { link_range } from "../data/link.mjs";
import { words_count, words_percent } from "../data/words.mjs";
import { dom_command, dom_section } from "./dom.mjs";
import { profile_name } from "./profile.mjs";
import { table_make, table_set } from "./table.mjs";

export function changes_make(app) {
	const { model } = app, changes = { app, update: () => changes_count(changes), command: dom_command() };
	changes.table = table_make({ label: "Table of changes", first: 15, row: (row) => ({ class: row.result < 2 ? "chance" : null }),
		columns: [
			{ text: "before", number: true, cell: (row) => words_percent(row.share[0], 1) },
			{ text: "after", number: true, cell: (row) => words_percent(row.share[1], 1) },
			{ text: "ratio", number: true, cell: (row) => changes_ratio(row.ratio) },
			{ text: "95 % interval", number: true, cell: changes_interval },
			{ text: "is", cell: (row) => COMPARE_RESULTS[row.result] },
			{ text: "object", cell: (row) => model.objects.base[model.frames.object[row.frame]] },
			{ text: "function", cell: (row) => profile_name(app, row.frame) },
		] });
	changes.element = dom_section("changes", "Changes", changes.table.element, changes.command.line);
	changes.element.hidden = true;
	return changes;
}

// The ranges that are compared; null: none are.
export function changes_ranges(app) {
	const before = changes_baseline(app), after = app.model.parts?.[1] || { from_us: 0, to_us: app.span_us };
	return before && [before, app.state.selection.times[0] || [after.from_us, after.to_us]];
}

export function changes_baseline(app) {
	return link_range(app.state.view.baseline);
}

export function changes_show({ app, element }) {
	element.hidden = !changes_ranges(app) || app.state.view.measure !== "cpu";
	if (element.hidden)
		app.changed = null;
}

function changes_count(changes) {
	const { app } = changes, { model, state } = app, ranges = changes_ranges(app), selection = { ...state.selection, times: [], during: "" };
	const made = !changes.element.hidden && compare_make(model, filter_make(model, selection), app.outermost, ...ranges);
	if (!made)
		return;
	const size = (row) => Math.abs(row.share[1] - row.share[0]), real = made.rows.filter((row) => row.result === 2).length;
	app.changed = new Map(made.rows.map((row) => [row.row, row]));
	const lacks = model.parts ? null : command_lacks(model, selection), command = lacks ? null : command_compare(model, selection, ranges);
	changes.command.set(command ? null : lacks || "it takes ranges of one capture each", () => command);
	table_set(changes.table, made.rows.sort((a, b) => b.result - a.result || size(b) - size(a) || a.row - b.row), made.too_short ? "too short to know what is chance" :
		words_count(real) + " of " + words_count(made.rows.length) + " functions changed by more than chance; what is unsure or noise is grey");
	app.redraw();
}

export function changes_ratio(ratio) {
	return ratio === Infinity ? "new" : ratio === 0 ? "gone" : "x" + ratio.toFixed(ratio < 0.1 ? 3 : ratio < 100 ? 2 : 0);
}

export function changes_interval(row) {
	return row.high === Infinity && !row.low ? "" : "x" + row.low.toFixed(2) + " .. " + (row.high === Infinity ? "" : "x" + row.high.toFixed(2));
}
