// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
// heat - how much ran when: rows of threads, columns of time
import { filter_passes } from "../data/filter.mjs";
import { list_by_text, list_numbers, map_get } from "../data/lists.mjs";

export const heat_row = (row) => ({ id: row.name, level: 0, tasks: [], cpu: -2, weight: 0, more: false, selects: null, ...row });

// Rows by what they are of.  A row: id, name, level, tasks, cpu (-2: all), weight, more (it can be opened), and selects:
// what choosing it filters by; null: nothing does.  open: set of the ids of open rows.
export const HEAT_ROWS = {
	program: heat_levels.bind(null, [["comms", "comm", ""], ["pids", "pid", "process "], ["tids", "tid", "thread "]]),
	cpu: heat_cpus,
	container: heat_levels.bind(null, [["", "container", ""]]),
};

function heat_cpus(model) {
	const { cpu, weight, count } = model.samples, weights = new Map();
	for (let i = 0; i < count; i++)
		weights.set(cpu[i], (weights.get(cpu[i]) || 0) + (weight ? weight[i] : 1));
	const tasks = list_numbers(model.tasks.count);
	return [...weights].sort((a, b) => a[0] - b[0]).map(([cpu, weight]) => heat_row({ name: cpu < 0 ? "no CPU known" : "CPU " + cpu, tasks, cpu, weight, selects: cpu < 0 ? null : { cpus: [cpu] } }));
}

// Rows of the first level, and below each that is open those of the next: the busiest first.
// levels: of each the key of a selection that chooses such tasks, their column, and what stands before their name.
function heat_levels(levels, { tasks }, open, list = list_numbers(tasks.count), up = null) {
	const rows = new Map(), [[key, column, prefix], ...deeper] = levels;
	for (const t of list) {
		const value = tasks[column][t], name = prefix + value;
		const row = map_get(rows, name, () => heat_row({ id: (up ? up.id + "/" : "") + name, name, level: up ? up.level + 1 : 0, tasks: [],
			selects: key ? { ...up?.selects, ...(key === "tids" ? { pids: [] } : null), [key]: [value] } : null }));
		row.tasks.push(t);
		row.weight += tasks.weight[t];
	}
	return [...rows.values()].sort((a, b) => b.weight - a.weight || list_by_text(a.name, b.name)).flatMap((row) => {
		row.more = deeper.some(([, part]) => new Set(row.tasks.map((t) => tasks[part][t])).size > 1);
		return row.more && open.has(row.id) ? [row, ...heat_levels(deeper, { tasks }, open, row.tasks, row)] : [row];
	});
}

// cells[row * columns + column] of the time [from_us, to_us); filter: its times are not asked.
export function heat_cells(model, filter, rows, columns, from_us, to_us) {
	const cells = new Float32Array(rows.length * columns), { tasks, samples } = model, scale = columns / (to_us - from_us);
	rows.forEach((row, r) => {
		for (const t of row.tasks) {
			if (!filter.tasks[t])
				continue;
			for (let i = tasks.first[t]; i < tasks.first[t + 1]; i++) {
				const column = Math.floor((samples.time[i] - from_us) * scale);
				if (column < 0 || column >= columns || (row.cpu > -2 && samples.cpu[i] !== row.cpu) || !filter_passes(filter, samples, i))
					continue;
				cells[r * columns + column] += samples.weight ? samples.weight[i] : 1;
			}
		}
	});
	return cells;
}
