// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
// heat - how much ran when: rows of threads, columns of time
import { filter_passes } from "../data/filter.mjs";

// Rows by what they are of.  A row: id, name, level, tasks, cpu (-2: all), weight, more (it can be opened), and selects:
// what choosing it filters by; null: nothing does.  open: set of the ids of open rows.
export const HEAT_ROWS = {
	program: (model, weights, open) => heat_levels(model, weights, open, heat_all(model), HEAT_PROGRAMS, null),
	cpu: heat_cpus,
	container: (model, weights, open) => heat_levels(model, weights, open, heat_all(model), HEAT_CONTAINERS, null),
};

// The group of a task: the key of a selection that chooses such, and their name.
const HEAT_PROGRAMS = [["comms", "comm", ""], ["pids", "pid", "process "], ["tids", "tid", "thread "]], HEAT_CONTAINERS = [["", "container", ""]];

function heat_all(model) {
	return Array.from({ length: model.tasks.count }, (_, i) => i);
}

function heat_cpus(model) {
	const { cpu, weight, count } = model.samples, weights = new Map();
	for (let i = 0; i < count; i++)
		weights.set(cpu[i], (weights.get(cpu[i]) || 0) + (weight ? weight[i] : 1));
	const tasks = heat_all(model);
	return [...weights].sort((a, b) => a[0] - b[0]).map(([n, sum]) => ({ id: "cpu" + n, name: n < 0 ? "no CPU known" : "CPU " + n, level: 0,
		tasks, cpu: n, weight: sum, more: false, selects: n < 0 ? null : { cpus: [n], not_cpus: false } }));
}

// Rows of the first level, and below each that is open those of the next: the busiest first.
function heat_levels(model, weights, open, tasks, levels, up) {
	const [[key, column, prefix], ...deeper] = levels, rows = new Map(), parts = (row) => heat_levels(model, weights, open, row.tasks, deeper, row);
	for (const t of tasks) {
		const value = model.tasks[column][t], name = prefix + value;
		if (!rows.has(name))
			rows.set(name, { id: (up ? up.id + "/" : "") + name, name, level: up ? up.level + 1 : 0, tasks: [], cpu: -2, weight: 0, more: false,
				selects: key ? { ...up?.selects, ...(key === "tids" ? { pids: [] } : null), [key]: [value] } : null });
		rows.get(name).tasks.push(t);
		rows.get(name).weight += weights[t];
	}
	return [...rows.values()].sort((a, b) => b.weight - a.weight || (a.name < b.name ? -1 : 1)).flatMap((row) => {
		row.more = deeper.some(([, part]) => new Set(row.tasks.map((t) => model.tasks[part][t])).size > 1);
		return row.more && open.has(row.id) ? [row, ...parts(row)] : [row];
	});
}

// The weight of each task.
export function heat_tasks(model) {
	const weights = new Float64Array(model.tasks.count), { weight } = model.samples, { first } = model.tasks;
	for (let t = 0; t < weights.length; t++)
		for (let i = first[t]; i < first[t + 1]; i++)
			weights[t] += weight ? weight[i] : 1;
	return weights;
}

// cells[row * columns + column] of the time [from_us, to_us); filter: its times are not asked.
export function heat_cells(model, filter, rows, columns, from_us, to_us) {
	const cells = new Float32Array(rows.length * columns), { tasks, samples } = model;
	const scale = columns / (to_us - from_us);
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
