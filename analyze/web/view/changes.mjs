// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
// changes - two ranges of time side by side: which functions cost more or less, and what of it is chance
import { command_compare, command_lacks } from "../data/command.mjs";
import { compare_make, COMPARE_VERDICTS } from "../count/compare.mjs";
import { el } from "./dom.mjs";
import { filter_make } from "../data/filter.mjs";
import { words_count, words_percent } from "../data/words.mjs";

const CHANGES_ROWS = 15, CHANGES_MORE = 200, CHANGES_DELAY_MS = 150;

export function changes_make(app) {
	const changes = { app, list: [], shown: CHANGES_ROWS, timer: 0, body: el("tbody"), caption: el("caption", { class: "quiet" }), command: el("code", { tabindex: "0" }) };
	const head = (text, numeric) => el("th", { scope: "col", class: numeric ? "number" : null }, text);
	changes.more = el("button", { type: "button", class: "more", onclick: () => { changes.shown += CHANGES_MORE; changes_show(changes); } });
	changes.element = el("section", { "aria-labelledby": "h-changes", hidden: true }, el("h2", { id: "h-changes" }, "Changes"),
		el("div", { class: "table-scroll", tabindex: "0", role: "region", "aria-label": "Table of changes" }, el("table", null, changes.caption,
			el("thead", null, el("tr", null, head("before", true), head("after", true), head("ratio", true), head("95 % interval", true), head("is"), head("object"), head("function"))),
			changes.body)), changes.more, el("p", { class: "command" }, changes.command));
	return changes;
}

// The ranges that are compared; null: none are.
export function changes_ranges(app) {
	const before = changes_baseline(app);
	return before && app.state.view.measure === "cpu" && [before, app.state.selection.times[0] || [0, app.span_us]];
}

export function changes_baseline(app) {
	const [from, to] = app.state.view.baseline.split("-").map(Number);
	return Number.isSafeInteger(from) && Number.isSafeInteger(to) && from >= 0 && to > from ? [from, to] : null;
}

export function changes_update(changes) {
	clearTimeout(changes.timer);
	changes.element.hidden = !changes_ranges(changes.app);
	if (changes.element.hidden)
		changes.app.changed = null;
	else
		changes.timer = setTimeout(() => changes_count(changes), CHANGES_DELAY_MS);
}

function changes_count(changes) {
	const { app } = changes, { model, state } = app, ranges = changes_ranges(app), selection = { ...state.selection, times: [], during: "" };
	const made = ranges && compare_make(model, filter_make(model, selection), app.outermost, ...ranges);
	if (!made)
		return;
	const size = (row) => Math.abs(row.share[1] - row.share[0]);
	changes.list = made.rows.sort((a, b) => b.verdict - a.verdict || size(b) - size(a) || a.row - b.row);
	changes.too_short = made.too_short;
	app.changed = new Map(made.rows.map((row) => [row.row, row]));
	const lacks = command_lacks(model, selection);
	changes.command.textContent = lacks ? "No command selects this: " + lacks + "." : command_compare(model, selection, ranges);
	changes_show(changes);
	app.redraw();
}

export function changes_ratio(ratio) {
	return ratio === Infinity ? "new" : ratio === 0 ? "gone" : "x" + ratio.toFixed(ratio < 0.1 ? 3 : ratio < 100 ? 2 : 0);
}

export function changes_interval(row) {
	return row.high === Infinity && !row.low ? "" : "x" + row.low.toFixed(2) + " .. " + (row.high === Infinity ? "" : "x" + row.high.toFixed(2));
}

function changes_row(changes, row) {
	const { model } = changes.app, name = model.frames.name[row.frame], number = (text) => el("td", { class: "number" }, text);
	return el("tr", { class: row.verdict < 2 ? "chance" : null }, number(words_percent(row.share[0], 1)), number(words_percent(row.share[1], 1)),
		number(changes_ratio(row.ratio)), number(changes_interval(row)), el("td", null, COMPARE_VERDICTS[row.verdict]),
		el("td", { class: "object" }, model.objects.base[model.frames.object[row.frame]]),
		el("td", null, el("button", { type: "button", class: "name", title: "find " + name, onclick: () => changes.app.find(row.frame) }, name)));
}

function changes_show(changes) {
	const { list } = changes, real = list.filter((row) => row.verdict === 2).length;
	changes.body.replaceChildren(...list.slice(0, changes.shown).map((row) => changes_row(changes, row)));
	changes.caption.textContent = changes.too_short ? "too short to say what is chance" :
		words_count(real) + " of " + words_count(list.length) + " functions changed by more than chance; what is unsure or noise is grey";
	changes.more.hidden = list.length <= changes.shown;
	changes.more.textContent = "show more of " + words_count(list.length);
}
