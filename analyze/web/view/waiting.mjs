// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
// waiting - the table of waits, and what the selected threads did altogether
import { command_lacks, command_line } from "../data/command.mjs";
import { el } from "./dom.mjs";
import { functions_is_kernel } from "../count/functions.mjs";
import { STATES, states_account } from "../count/states.mjs";
import { waits_csv, waits_reason, waits_table } from "../count/waits.mjs";
import { words_count, words_length, words_percent } from "../data/words.mjs";

const WAITING_ROWS = 15, WAITING_MORE = 200, WAITING_DELAY_MS = 120;

export function waiting_make(app) {
	const waiting = { app, list: [], shown: WAITING_ROWS, timer: 0, body: el("tbody"), account: el("p", { class: "account" }), command: el("code", { tabindex: "0" }) };
	waiting.caption = el("caption", { class: "quiet" });
	waiting.more = el("button", { type: "button", class: "more", onclick: () => { waiting.shown += WAITING_MORE; waiting_show(waiting); } });
	const head = (text, numeric) => el("th", { scope: "col", class: numeric ? "number" : null }, text);
	waiting.element = el("section", { "aria-labelledby": "h-waits" }, el("h2", { id: "h-waits" }, "Waits"), waiting.account,
		el("div", { class: "table-scroll", tabindex: "0", role: "region", "aria-label": "Table of waits" }, el("table", { class: "waits" }, waiting.caption,
			el("thead", null, el("tr", null, head("who"), head("waited for"), head("ended by"), head("times", true), head("total", true), head("longest", true), head("in"))),
			waiting.body)), waiting.more, el("p", { class: "command" }, waiting.command));
	return waiting;
}

// Counting by rows takes longer than a frame: it is done when the selection rests.
export function waiting_update(waiting) {
	clearTimeout(waiting.timer);
	waiting.timer = setTimeout(() => waiting_count(waiting), WAITING_DELAY_MS);
}

function waiting_count(waiting) {
	const { app } = waiting, { model } = app, measure = app.measures("off-cpu");
	let filter;
	try {
		filter = measure.filter(app.state.selection);
	} catch {
		return; // the page says what is wrong
	}
	waiting.list = waits_table(model, measure.rows, filter, (frame) => functions_is_kernel(model, frame));
	const { ns, before, off } = states_account(model, filter), all = ns.reduce((a, b) => a + b, 0) + before;
	const parts = STATES.map(([, text], i) => [text, ns[i]]).concat([["since before the recording", before]]).filter((part) => part[1]);
	waiting.account.textContent = "The selected threads lived " + words_length(all / 1000) + (parts.length ? ": " : "") +
		parts.map(([text, part]) => text + " " + words_length(part / 1000) + " (" + words_percent(part, all) + ")").join(", ");
	waiting.off = off;
	const lacks = command_lacks(model, app.state.selection);
	waiting.command.textContent = lacks ? "No one command selects this: " + lacks + "." : command_line(model, app.state.selection, ["--waits"]);
	waiting_show(waiting);
}

function waiting_show(waiting) {
	const { app, list } = waiting, all = list.reduce((sum, row) => sum + row.total_ns, 0);
	const number = (text) => el("td", { class: "number" }, text);
	waiting.body.replaceChildren(...list.slice(0, waiting.shown).map((row) => el("tr", null,
		el("td", null, el("button", { type: "button", class: "name", title: "select " + row.waiter,
			onclick: () => app.change((state) => { state.selection.comms = [row.waiter]; state.selection.not_comms = false; }) }, row.waiter)),
		el("td", null, waits_reason(row)), el("td", null, row.woken_by), number(words_count(row.count)),
		number(words_length(row.total_ns / 1000) + " (" + words_percent(row.total_ns, all) + ")"), number(words_length(row.longest_ns / 1000)),
		el("td", { class: "code" }, row.where))));
	waiting.caption.textContent = words_count(list.length) + " kinds of waits, " + words_length(all / 1000);
	waiting.more.hidden = list.length <= waiting.shown;
	waiting.more.textContent = "show more of " + words_count(list.length);
	app.drawn?.("waits");
}

export function waiting_text(waiting) {
	return waits_csv(waiting.list);
}
