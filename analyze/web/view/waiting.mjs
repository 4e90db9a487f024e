// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
// waiting - the table of waits, and what the selected threads did altogether
import { COMPARE_RESULTS } from "../count/compare.mjs";
import { STATES, states_account, states_cpus, states_round } from "../count/states.mjs";
import { waits_compare } from "../count/waits_compare.mjs";
import { waits_reason, waits_table } from "../count/waits.mjs";
import { changes_caption, changes_ranges, changes_table } from "./changes.mjs";
import { command_lacks, command_line } from "../data/command.mjs";
import { model_part } from "../data/model.mjs";
import { list_sum } from "../data/lists.mjs";
import { words_count, words_length, words_many, words_moment, words_percent } from "../data/words.mjs";
import { DOM_HIDDEN, dom_bar, dom_button, dom_command, dom_section, el } from "./dom.mjs";
import { table_make, table_set } from "./table.mjs";

const WAITING_MOST = 3;

export function waiting_make(app) {
	const waiting = { app, list: [], all: 0, update: () => waiting_count(waiting), account: el("div.account"), command: dom_command() };
	const what = [["thread", ({ waiter }) => dom_button(waiter, () => app.change({ comms: [waiter] }), "select " + waiter, "name")],
		["waited for", waits_reason],
		["ended by", (row) => row.woken_by]], where = ["in", (row) => row.where, "code"];
	waiting.table = table_make({ label: "Table of waits", class: "waits", first: 15, columns: [...what,
		["times", (row) => words_count(row.count), "number"],
		["total", (row) => words_length(row.total_ns / 1000) + " (" + words_percent(row.total_ns, waiting.all) + ")", "number"],
		["longest", (row) => words_length(row.longest_ns / 1000), "number"], where] });
	const per_second = (share) => words_length(1e6 * share) + "/s", signed = (share) => (share < 0 ? "-" : "+") + per_second(Math.abs(share));
	waiting.changes = changes_table("Table of changed waits", "waits", [...what,
		["before", ({ share }) => per_second(share[0]), "number"],
		["after", ({ share }) => per_second(share[1]), "number"],
		["95 % interval of the change", ({ low, high }) => signed(low) + " .. " + signed(high), "number"],
		["is", ({ result }) => COMPARE_RESULTS[result]], where]);
	waiting.element = dom_section("waits", "Waits", null, waiting.table.element, waiting.command.line, waiting.changes.element);
	return waiting;
}

function waiting_compare({ app, changes }, table_of) {
	const ranges = changes_ranges(app);
	changes.element.hidden = !ranges;
	if (!ranges)
		return;
	const rows = waits_compare((range) => table_of({ ...app.selection, times: [range], during: "" }), ranges);
	table_set(changes, rows.sort((a, b) => b.result - a.result), changes_caption(rows, "kinds"));
}

const waiting_seconds = (us) => (us / 1e6).toFixed(6) + " s";

// A sum and its parts, to the microsecond: as a bar and in words.  parts: class, text, nanoseconds.
function waiting_account(name, parts) {
	const us = states_round(parts.map(([, , ns]) => ns)), all = list_sum(us);
	const words = parts.map(([kind, text], i) => us[i] ? el("span.part", el("span.swatch " + kind, DOM_HIDDEN), text + " " + waiting_seconds(us[i]) + " (" + words_percent(us[i], all) + ") ") : "");
	return [el("div.sum", DOM_HIDDEN, ...parts.map(([kind], i) => dom_bar(kind, us[i], all))), el("p", name + " = " + waiting_seconds(all) + " ", ...words)];
}

const waiting_most = ({ waiter, total_ns, woken_by, ...row }) => waiter + " for " + waits_reason(row) + " " + words_length(total_ns / 1000) + (woken_by ? " (ended by " + woken_by + ")" : "");

function waiting_count(waiting) {
	const { app, account, command } = waiting, { model, selection } = app, [range = [0, Infinity]] = selection.times, { head } = (model.parts ? model_part(model, range) : model) || { head: {} }, measure = app.measures("off-cpu");
	const table_of = (chosen) => waits_table(model, measure.rows, measure.filter(chosen));
	let filter;
	try {
		filter = measure.filter(selection);
	} catch {
		return; // the page shows what is wrong
	}
	const list = waiting.list = table_of(selection);
	waiting.all = list_sum(list.map((row) => row.total_ns));
	const { ns, before } = states_account(model, filter), { time_ns, user, kernel, rest } = states_cpus(model, filter, head.cpus || 0);
	account.replaceChildren(...(head.cpus ? waiting_account(words_many(head.cpus, "CPUs") + " for " + waiting_seconds(time_ns / 1000), [["kind-user", "in programs", user], ["kind-kernel", "in the kernel", kernel],
		["rest", "idle or not recorded", rest]]) : []), ...waiting_account("All time of the selected threads", [...STATES.map(([kind, text], i) => ["state-" + kind, text, ns[i]]), ["rest", "since before the recording", before]]),
	el("p", list.length ? "Waited most" + (selection.times.length === 1 ? " from " + range.map((us) => words_moment(us, 1000)).join(" to ") : "") + ", all threads added up: " + list.slice(0, WAITING_MOST).map(waiting_most).join(", ") : ""));
	command.set(command_lacks(model, selection), () => command_line(model, selection, ["--waits"]));
	waiting_compare(waiting, table_of);
	table_set(waiting.table, list, words_many(list.length, "kinds") + " of waits, " + words_length(waiting.all / 1000));
}
