// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
// waiting - the table of waits, and what the selected threads did altogether
import { functions_is_kernel } from "../count/functions.mjs";
import { COMPARE_RESULTS } from "../count/compare.mjs";
import { STATES, states_account, states_cpus, states_round } from "../count/states.mjs";
import { waits_compare } from "../count/waits_compare.mjs";
import { waits_reason, waits_table } from "../count/waits.mjs";
import { changes_ranges } from "./changes.mjs";
import { command_lacks, command_line } from "../data/command.mjs";
import { words_count, words_length, words_percent } from "../data/words.mjs";
import { dom_button, dom_command, dom_section, el } from "./dom.mjs";
import { table_make, table_set } from "./table.mjs";

const WAITING_MOST = 3;

export function waiting_make(app) {
	const waiting = { app, list: [], all: 0, update: () => waiting_count(waiting), account: el("div", { class: "account" }), command: dom_command() };
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
	const per_second = (share) => words_length(1e6 * share) + "/s", signed = (share) => (share < 0 ? "-" : "+") + per_second(Math.abs(share));
	waiting.changes = table_make({ label: "Table of changed waits", class: "waits", first: 15, row: ({ result }) => ({ class: result < 2 ? "chance" : null }), columns: [
		{ text: "thread", cell: ({ row }) => dom_button(row.waiter, () => choose(row), "select " + row.waiter, "name") },
		{ text: "waited for", cell: ({ row }) => waits_reason(row) },
		{ text: "ended by", cell: ({ row }) => row.woken_by },
		{ text: "before", number: true, cell: ({ share }) => per_second(share[0]) },
		{ text: "after", number: true, cell: ({ share }) => per_second(share[1]) },
		{ text: "95 % interval of the change", number: true, cell: ({ low, high }) => signed(low) + " .. " + signed(high) },
		{ text: "is", cell: ({ result }) => COMPARE_RESULTS[result] },
		{ text: "in", code: true, cell: ({ row }) => row.where },
	] });
	waiting.element = dom_section("waits", "Waits", waiting.table.element, waiting.command.line, waiting.changes.element);
	return waiting;
}

function waiting_compare({ app, changes }, measure) {
	const ranges = changes_ranges(app), { model, state } = app;
	changes.element.hidden = !ranges;
	if (!ranges)
		return;
	const rows = waits_compare((range) => waits_table(model, measure.rows, measure.filter({ ...state.selection, times: [range], during: "" }), (frame) => functions_is_kernel(model, frame)), ranges);
	table_set(changes, rows.sort((a, b) => b.result - a.result), words_count(rows.filter((row) => row.result === 2).length) + " of " + words_count(rows.length) +
		" kinds of waits changed by more than chance, in time of each second; what is unsure or noise is grey");
}

function waiting_seconds(us) {
	return (us / 1e6).toFixed(6) + " s";
}

// A sum and its parts, to the microsecond: as a bar and in words.  parts: class, text, nanoseconds.
function waiting_account(name, parts) {
	const us = states_round(parts.map((part) => part[2])), all = us.reduce((a, b) => a + b, 0);
	const bar = parts.map(([kind], i) => {
		const piece = el("span", { class: kind });
		piece.style.width = (all ? 100 * us[i] / all : 0) + "%";
		return piece;
	});
	const words = parts.map(([, text], i) => text + " " + waiting_seconds(us[i]) + " (" + words_percent(us[i], all) + ")").filter((_, i) => us[i]);
	return [el("div", { class: "sum", "aria-hidden": "true" }, ...bar), el("p", null, name + " = " + waiting_seconds(all) + (words.length ? ": " : "") + words.join(", "))];
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
	const { ns, before } = states_account(model, filter), cpus = states_cpus(model, filter), { time_ns } = cpus, cpu_count = model.head.cpus;
	const states = STATES.map(([kind, text], i) => ["state-" + kind, text, ns[i]]);
	const most = waiting.list.length ? "Waited most: " + waiting.list.slice(0, WAITING_MOST).map((row) => row.waiter + " for " + waits_reason(row) + " " + words_length(row.total_ns / 1000) + (row.woken_by ? " (ended by " + row.woken_by + ")" : "")).join(", ") : "";
	waiting.account.replaceChildren(...(cpu_count ? waiting_account(cpu_count + " CPUs for " + waiting_seconds(time_ns / 1000), [["swatch-user", "in programs", cpus.user], ["swatch-kernel", "in the kernel", cpus.kernel],
		["", "idle, or of what was not recorded", cpus.rest]]) : []), ...waiting_account("The selected threads lived", [...states, ["", "since before the recording", before]]), el("p", null, most));
	waiting.command.set(command_lacks(model, app.state.selection), () => command_line(model, app.state.selection, ["--waits"]));
	waiting_compare(waiting, measure);
	table_set(waiting.table, waiting.list, words_count(waiting.list.length) + " kinds of waits, " + words_length(waiting.all / 1000));
}
