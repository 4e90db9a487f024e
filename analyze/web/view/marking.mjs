// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
// marking - the marks that are selected: summed up by name, and one by one
import { command_lacks, command_marks } from "../data/command.mjs";
import { el } from "./dom.mjs";
import { marks_kind, marks_selected, marks_summary } from "../data/marks.mjs";
import { filter_ranges } from "../data/filter.mjs";
import { words_count, words_length } from "../data/words.mjs";

const MARKING_ROWS = 10, MARKING_MORE = 200, MARKING_DELAY_MS = 120;

export function marking_make(app) {
	const marking = { app, list: [], names: [], shown: MARKING_ROWS, timer: 0, sums: el("tbody"), body: el("tbody"),
		commands: [el("code", { tabindex: "0" }), el("code", { tabindex: "0" })], caption: el("caption", { class: "quiet" }), count: el("caption", { class: "quiet" }) };
	const head = (text) => el("th", { scope: "col", class: /^[a-z]/.test(text) ? null : "number" }, text.toLowerCase());
	const table = (label, caption, heads, body) => el("div", { class: "table-scroll", tabindex: "0", role: "region", "aria-label": label },
		el("table", null, caption, el("thead", null, el("tr", null, ...heads.map(head))), body));
	marking.more = el("button", { type: "button", class: "more", onclick: () => { marking.shown += MARKING_MORE; marking_show(marking); } });
	marking.element = el("section", { "aria-labelledby": "h-marks" }, el("h2", { id: "h-marks" }, "Marks"),
		table("Marks by name", marking.count, ["mark", "Times", "Total", "Min", "Mean", "Median", "P99", "Max", "select"], marking.sums),
		table("Table of marks", marking.caption, ["When", "who", "kind", "Length", "mark", "text"], marking.body), marking.more,
		...marking.commands.map((command) => el("p", { class: "command" }, command)));
	return marking;
}

export function marking_update(marking) {
	clearTimeout(marking.timer);
	marking.timer = setTimeout(() => marking_count(marking), MARKING_DELAY_MS);
}

function marking_count(marking) {
	const { model, state } = marking.app, lacks = command_lacks(model, { ...state.selection, cpus: [], symbol: "", dso: "", parent: "" });
	marking.list = marks_selected(model, state.selection, filter_ranges(model, state.selection));
	marking.names = marks_summary(model, marking.list);
	marking.commands.forEach((command, i) => {
		command.textContent = lacks ? "No one command selects this: " + lacks + "." : command_marks(model, state.selection, i ? [] : ["--summary"]);
	});
	marking_show(marking);
}

function marking_number(ns) {
	return el("td", { class: "number" }, ns === undefined ? "-" : words_length(ns / 1000));
}

function marking_sum(marking, row) {
	const { app } = marking, name = row.group + "/" + row.name;
	const choose = (text, title, not) => el("button", { type: "button", title: title + " " + name, onclick: () => app.change((state) => {
		state.selection.during = name;
		state.selection.not_during = not;
	}) }, text);
	return el("tr", null, el("td", { class: "code" }, name + (row.unended ? " (" + words_count(row.unended) + " without an end)" : "")),
		el("td", { class: "number" }, words_count(row.count)), ...[row.lengths.length ? row.total : undefined, row.min, row.mean, row.median, row.p99, row.max].map(marking_number),
		el("td", null, row.is_span ? choose("during", "all times of", false) : null, row.is_span ? choose("outside", "all times but those of", true) : null));
}

function marking_mark(marking, i) {
	const { app } = marking, { marks, spans, span_of } = app.model.marks, s = span_of[i];
	const of = s >= 0 ? spans.mark[s] : i;
	const select = () => app.change((state) => {
		const from = s >= 0 ? spans.start[s] : marks.time[i], to = s >= 0 ? from + spans.length[s] : from;
		state.selection.times = [[Math.max(0, Math.floor(from / 1000)), Math.max(1, Math.floor(to / 1000) + 1)]];
	}, true);
	return el("tr", null, el("td", { class: "number" }, el("button", { type: "button", class: "name", title: "select this time", onclick: select },
		"+" + (marks.time[i] / 1e9).toFixed(6) + " s")), el("td", null, marks.comm[i] + " " + marks.tid[i]), el("td", null, marks_kind(marks, i)),
	marking_number(s >= 0 && spans.ended[s] ? spans.length[s] : undefined),
	el("td", { class: "code" }, marks.group[of] + "/" + marks.name[of] + (s >= 0 ? "#" + spans.number[s] : "")), el("td", null, marks.text[i]));
}

function marking_show(marking) {
	const { list, names } = marking;
	marking.sums.replaceChildren(...names.slice(0, MARKING_MORE).map((row) => marking_sum(marking, row)));
	marking.body.replaceChildren(...list.slice(0, marking.shown).map((i) => marking_mark(marking, i)));
	marking.count.textContent = words_count(names.length) + " names" + (names.length > MARKING_MORE ? ", of which the first " + MARKING_MORE + " are shown" : "");
	marking.caption.textContent = words_count(list.length) + " marks";
	marking.more.hidden = list.length <= marking.shown;
	marking.more.textContent = "show more of " + words_count(list.length);
}
