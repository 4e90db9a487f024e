// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
// processing - the processes of the selection, each in a row
import { processes_exit, processes_table } from "../count/processes.mjs";
import { command_lacks, command_line } from "../data/command.mjs";
import { list_by_text } from "../data/lists.mjs";
import { words_count, words_length, words_many, words_moment, words_weight } from "../data/words.mjs";
import { dom_button, dom_command, dom_section, el } from "./dom.mjs";
import { table_make, table_set } from "./table.mjs";

const PROCESS_WAS_THERE = 1, PROCESS_ENDED = 2;

export function processing_make(app) {
	const { model } = app, { processes: p } = model, command = dom_command(), weight = (n) => words_weight(n, model.head.weight), time = (ns) => words_length(ns / 1000), moment = (us) => words_moment(us, 1000);
	// show(value, row); value(row): by which rows are sorted, the largest first.
	const number = (text, value, show) => [text, (row) => show(value(row), row), "number", text, (a, b) => value(b) - value(a) || a.i - b.i];
	const name = (text, list, show) => [text, show, null, text, (a, b) => list_by_text(list[a.i], list[b.i]) || a.i - b.i];
	const ended = (row) => p.flags[row.i] & PROCESS_ENDED;
	const columns = [
		name("program", p.comm, (row) => dom_button(p.comm[row.i] || ":" + p.pid[row.i], () => app.change({ pids: [p.pid[row.i]], tids: [] }), "select process " + p.pid[row.i], "name")),
		number("pid", (row) => p.pid[row.i], String),
		number("parent", (row) => p.parent[row.i], (pid) => (pid ? String(pid) : "")),
		number("sampled", (row) => row.weight, weight),
		...(model.waits ? [number("on a CPU", (row) => row.run_ns, time), number("off it", (row) => row.off_ns, time)] : []),
		number("threads", (row) => p.threads[row.i], words_count),
		number("began", (row) => p.start[row.i], (us, row) => (p.flags[row.i] & PROCESS_WAS_THERE ? "before" : moment(us))),
		number("ended", (row) => (ended(row) ? p.end[row.i] : Infinity), (us, row) => (ended(row) ? moment(us) : "")),
		number("exit", (row) => p.exit[row.i], processes_exit),
		name("command line", p.command, (row) => el("div.clamp", { title: p.command[row.i] }, p.command[row.i])),
	];
	const table = table_make({ label: "Table of processes", class: "processes", first: 12, columns, key: "sampled" });
	return { element: dom_section("processes", "Processes", null, table.element, command.line), update: () => {
		const { rows, other } = processes_table(model, app.sampled);
		command.set(command_lacks(model, app.selection), () => command_line(model, app.selection, ["--sort=pid"]));
		table_set(table, rows, words_count(rows.length) + " of " + words_many(p.count, "processes") + (other ? "; " + weight(other) + " of none of them" : ""));
	} };
}
