// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
// waiting - the table of waits, and what the selected threads did altogether
import { functions_is_kernel } from "../count/functions.mjs";
import { STATES, states_account } from "../count/states.mjs";
import { waits_reason, waits_table } from "../count/waits.mjs";
import { command_lacks, command_line } from "../data/command.mjs";
import { words_count, words_length, words_percent } from "../data/words.mjs";
import { dom_button, dom_command, dom_section, el } from "./dom.mjs";
import { table_make, table_set } from "./table.mjs";

export function waiting_make(app) {
	const waiting = { app, list: [], all: 0, update: () => waiting_count(waiting), account: el("p", { class: "account" }), command: dom_command() };
	const choose = (row) => app.change({ comms: [row.waiter], not_comms: false });
	waiting.table = table_make({ label: "Table of waits", class: "waits", first: 15, columns: [
		{ text: "thread", cell: (row) => dom_button(row.waiter, () => choose(row), "select " + row.waiter, "name") },
		{ text: "waited for", cell: waits_reason },
		{ text: "ended by", cell: (row) => row.woken_by },
		{ text: "times", number: true, cell: (row) => words_count(row.count) },
		{ text: "total", number: true, cell: (row) => words_length(row.total_ns / 1000) + " (" + words_percent(row.total_ns, waiting.all) + ")" },
		{ text: "longest", number: true, cell: (row) => words_length(row.longest_ns / 1000) },
		{ text: "in", code: true, cell: (row) => row.where },
	] });
	waiting.element = dom_section("waits", "Waits", waiting.account, waiting.table.element, waiting.command.line);
	return waiting;
}

function waiting_count(waiting) {
	const { app } = waiting, { model } = app, measure = app.measures("off-cpu");
	let filter;
	try {
		filter = measure.filter(app.state.selection);
	} catch {
		return; // the page shows what is wrong
	}
	waiting.list = waits_table(model, measure.rows, filter, (frame) => functions_is_kernel(model, frame));
	waiting.all = waiting.list.reduce((sum, row) => sum + row.total_ns, 0);
	const { ns, before } = states_account(model, filter), all = ns.reduce((a, b) => a + b, 0) + before;
	/** @type {any[]} */
	const parts = STATES.map(([, text], i) => [text, ns[i]]).concat([["since before the recording", before]]).filter((part) => part[1]);
	waiting.account.textContent = "The selected threads lived " + words_length(all / 1000) + (parts.length ? ": " : "") +
		parts.map(([text, part]) => text + " " + words_length(part / 1000) + " (" + words_percent(part, all) + ")").join(", ");
	waiting.command.set(command_lacks(model, app.state.selection), () => command_line(model, app.state.selection, ["--waits"]));
	table_set(waiting.table, waiting.list, words_count(waiting.list.length) + " kinds of waits, " + words_length(waiting.all / 1000));
}
