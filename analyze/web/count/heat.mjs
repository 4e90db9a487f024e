// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
// heat - how much ran when: rows of threads, columns of time

// Rows by what they are of.  A row: id, name, level, tasks, cpu (-2: all), weight, more (it can be opened), and selects:
// what choosing it filters by; null: nothing does.  open: set of the ids of open rows.
export const HEAT_ROWS = {
	program: heat_programs,
	cpu: heat_cpus,
	container: (model, weights) => heat_split(model, heat_all(model), weights, (t) => model.tasks.container[t], () => null, "", 0),
};

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

// Programs, the processes of each that are open, and of these the threads: the busiest first.
function heat_programs(model, weights, open) {
	const programs = heat_split(model, heat_all(model), weights,
		(t) => model.tasks.comm[t], (t) => ({ comms: [model.tasks.comm[t]] }), "", 0);
	return programs.flatMap((program) => heat_open(model, weights, program, open));
}

function heat_open(model, weights, row, open) {
	const { pid, tid, comm } = model.tasks;
	if (row.level === 0) {
		const processes = heat_split(model, row.tasks, weights, (t) => "process " + pid[t],
			(t) => ({ comms: [comm[t]], pids: [pid[t]] }), row.id + "/", 1);
		const threads = new Set(row.tasks.map((t) => tid[t]));
		row.more = processes.length > 1 || threads.size > 1;
		return row.more && open.has(row.id) ? [row, ...processes.flatMap((p) => heat_open(model, weights, p, open))] : [row];
	}
	const threads = heat_split(model, row.tasks, weights, (t) => "thread " + tid[t],
		(t) => ({ comms: [comm[t]], tids: [tid[t]] }), row.id + "/", 2);
	row.more = threads.length > 1;
	return row.more && open.has(row.id) ? [row, ...threads] : [row];
}

function heat_split(model, tasks, weights, name_of, selects, prefix, level) {
	const rows = new Map();
	for (const t of tasks) {
		const name = name_of(t);
		if (!rows.has(name))
			rows.set(name, { id: prefix + name, name, level, tasks: [], cpu: -2, weight: 0, more: false, selects: selects(t) });
		rows.get(name).tasks.push(t);
		rows.get(name).weight += weights[t];
	}
	return [...rows.values()].sort((a, b) => b.weight - a.weight || (a.name < b.name ? -1 : 1));
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
	const { cpus, stacks } = filter, scale = columns / (to_us - from_us);
	rows.forEach((row, r) => {
		for (const t of row.tasks) {
			if (!filter.tasks[t])
				continue;
			for (let i = tasks.first[t]; i < tasks.first[t + 1]; i++) {
				const column = Math.floor((samples.time[i] - from_us) * scale);
				if (column < 0 || column >= columns || (row.cpu > -2 && samples.cpu[i] !== row.cpu) || (cpus && !cpus[samples.cpu[i] + 1]) ||
					(stacks && !stacks[samples.stack[i]]))
					continue;
				cells[r * columns + column] += samples.weight ? samples.weight[i] : 1;
			}
		}
	});
	return cells;
}
