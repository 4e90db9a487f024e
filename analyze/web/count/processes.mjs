// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
// processes - what each process cost in the selected time
import { map_get } from "../data/lists.mjs";
import { count_slots } from "./count.mjs";
import { waits_pieces, waits_threads, STATE_RUN, STATE_UNKNOWN } from "./waits.mjs";

// A function that returns which process has a pid at a time: the last one that had begun by then, else the first; count: none.
function processes_at({ pid, start, count }) {
	const lists = new Map();
	pid.forEach((number, i) => map_get(lists, number, () => []).push(i));
	return (number, us) => {
		const list = lists.get(number) || [count];
		return list.findLast((i) => start[i] <= us) ?? list[0];
	};
}

// rows, by process: weight of its samples, and where the page has states nanoseconds on a CPU and off it.  other: the weight of the idle
// task, and of what else has no process.
export function processes_table(model, filter) {
	const { processes, waits, samples, tasks } = model, at = processes_at(processes);
	model.process_of ||= samples.task.map((task, i) => at(tasks.pid[task], samples.time[i])); // which samples are whose
	const { weights } = count_slots(model, filter, model.process_of, processes.count + 1);
	const rows = Array.from(weights, (weight, i) => ({ i, weight, run_ns: 0, off_ns: 0 }));
	if (waits)
		waits_threads(model, filter, (t) => {
			const row = rows[at(waits.threads.pid[t], waits.threads.begin[t] / 1000 + 1)];
			waits_pieces(model, t, filter.ranges, (i, ns) => {
				const state = waits.pieces.state[i];
				if (state !== STATE_UNKNOWN)
					row[state === STATE_RUN ? "run_ns" : "off_ns"] += ns;
			});
		});
	const { weight: other } = rows.pop();
	return { rows: rows.filter((row) => row.weight || row.run_ns || row.off_ns), other };
}

// As wait() has it.
export const processes_exit = (code) => code < 0 ? "" : code & 127 ? "signal " + (code & 127) : String(code >> 8);
