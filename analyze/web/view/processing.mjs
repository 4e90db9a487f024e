// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
// processing - the processes of the selection, each in a row
import { processes_exit, processes_table } from "../count/processes.mjs";
import { PROCESS_ENDED, PROCESS_WAS_THERE } from "../data/model.mjs";
import { words_count, words_length, words_moment, words_weight } from "../data/words.mjs";
import { dom_button, dom_section, el } from "./dom.mjs";
import { table_make, table_set } from "./table.mjs";

export function processing_make(app) {
	const { model } = app, { processes: p } = model, processing = { app, key: "weight", rows: [], other: 0, table: null, element: null,
		update: () => processing_show(Object.assign(processing, processes_table(model, app.sampled))) };
	const number = (text, key, value, show) => ({ text, number: true, key, compare: (a, b) => value(b) - value(a) || a.i - b.i, cell: (row) => show(value(row), row) });
	const name = (text, key, list, show) => ({ text, key, compare: (a, b) => (list[a.i] < list[b.i] ? -1 : list[a.i] > list[b.i] ? 1 : a.i - b.i), cell: show });
	const moment = (us) => words_moment(us, 1000), ended = (row) => p.flags[row.i] & PROCESS_ENDED;
	const choose = (row) => app.change({ pids: [p.pid[row.i]], not_pids: false, tids: [], not_tids: false });
	const columns = [
		name("program", "comm", p.comm, (row) => dom_button(p.comm[row.i] || ":" + p.pid[row.i], () => choose(row), "select process " + p.pid[row.i], "name")),
		number("pid", "pid", (row) => p.pid[row.i], String),
		number("parent", "parent", (row) => p.parent[row.i], (pid) => (pid ? String(pid) : "")),
		number("sampled", "weight", (row) => row.weight, (weight) => words_weight(weight, model.head.weight)),
		...(model.waits ? [number("on a CPU", "run", (row) => row.run_ns, (ns) => words_length(ns / 1000)), number("off it", "off", (row) => row.off_ns, (ns) => words_length(ns / 1000))] : []),
		number("threads", "threads", (row) => p.threads[row.i], words_count),
		number("began", "start", (row) => p.start[row.i], (us, row) => (p.flags[row.i] & PROCESS_WAS_THERE ? "before" : moment(us))),
		number("ended", "end", (row) => (ended(row) ? p.end[row.i] : Infinity), (us, row) => (ended(row) ? moment(us) : "")),
		number("exit", "exit", (row) => p.exit[row.i], processes_exit),
		name("command line", "command", p.command, (row) => el("div", { class: "clamp", title: p.command[row.i] }, p.command[row.i])),
	];
	processing.table = table_make({ label: "Table of processes", class: "processes", first: 12, columns, sort_by: (key) => {
		processing.key = key;
		processing_show(processing);
	} });
	processing.element = dom_section("processes", "Processes", processing.table.element);
	return processing;
}

function processing_show({ app, table, rows, other, key }) {
	table_set(table, rows, words_count(rows.length) + " of " + words_count(app.model.processes.count) + " processes" +
		(other ? "; " + words_weight(other, app.model.head.weight) + " of none of them" : ""), key);
}
