// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
// overview - which threads ran when, as heat; dragging over it selects time
import { changes_baseline } from "./changes.mjs";
import { counters_at, counters_chosen, counters_id, counters_name, counters_summary, counters_value } from "../data/counters.mjs";
import { dom_button, dom_canvas, dom_color, dom_legend, dom_tip, dom_tip_make, el } from "./dom.mjs";
import { filter_join_times } from "../data/filter.mjs";
import { link_names_of, link_range } from "../data/link.mjs";
import { HEAT_ROWS, heat_cells } from "../count/heat.mjs";
import { marks_lanes } from "../data/marks.mjs";
import { STATES, states_at, states_strip } from "../count/states.mjs";
import { words_count, words_fit, words_length, words_moment, words_percent, words_step } from "../data/words.mjs";

const OVERVIEW_ROW = 20, OVERVIEW_AXIS = 22, OVERVIEW_ROWS = 16, OVERVIEW_CELL = 3, OVERVIEW_LANES = 12, OVERVIEW_RANGES = 200;

export function overview_make(app) {
	const overview = {
		app, open: new Set(), all: false, rows: [], cells: null, columns: 0, drag: null,
		labels: el("ul", { class: "overview-labels" }),
		canvas: el("canvas", { "aria-hidden": "true" }), veil: el("div", { class: "overview-veil", "aria-hidden": "true" }),
		tip: dom_tip_make(),
	};
	overview.legend = dom_legend("States of threads", STATES, "state-");
	overview.picture = el("div", { class: "overview-picture" }, overview.canvas, overview.veil);
	overview.element = el("div", { class: "overview" }, overview.labels, overview.picture, overview.tip);
	overview.canvas.addEventListener("pointerdown", (event) => overview_begin(overview, event));
	overview.canvas.addEventListener("pointermove", (event) => overview_move(overview, event));
	overview.canvas.addEventListener("pointerup", () => {
		overview.drag = null;
		app.change({});
	});
	overview.canvas.addEventListener("pointerleave", () => { overview.tip.hidden = true; });
	overview.canvas.addEventListener("dblclick", () => app.change({ times: [] }));
	return overview;
}

// After filters (but for time), open rows or the size have changed.
export function overview_update(overview) {
	const { app } = overview;
	const every = { id: "", name: "all CPUs", level: -1, cpu: -2, weight: app.sampled_sum, more: false, selects: null,
		tasks: Array.from({ length: app.model.tasks.count }, (_, i) => i) };
	const rows = HEAT_ROWS[app.state.view.rows](app.model, app.task_weights, overview.open);
	const top = overview.all ? rows : overview_busiest(rows);
	overview.rows = [every, ...top, ...overview_lanes(app), ...overview_lines(app)];
	overview_labels(overview, rows.length - top.length);
	overview.width = Math.max(100, overview.picture.clientWidth);
	overview.columns = Math.max(1, Math.floor(overview.width / OVERVIEW_CELL));
	[overview.from, overview.to] = overview_axis_of(app);
	overview.cells = heat_cells(app.model, app.sampled, overview.rows, overview.columns, overview.from, overview.to);
	overview.found = app.hits ? heat_cells(app.model, overview_found(app), overview.rows, overview.columns, overview.from, overview.to) : null;
	overview_states(overview);
	overview_paint(overview);
	overview_draw(overview);
}

// Closer, rows of one thread have what it did at each moment, in place of how much it ran.
function overview_states(overview) {
	const { app, rows, width, from, to } = overview, { tid } = app.model.tasks;
	const closer = app.model.waits && (from > 0 || to < app.span_us);
	rows.forEach((row, r) => {
		row.tid = r && row.tasks.length && row.tasks.every((t) => tid[t] === tid[row.tasks[0]]) && row.cpu < -1 ? tid[row.tasks[0]] : -1;
		row.strip = closer && row.tid >= 0 ? states_strip(app.model, row.tid, from, to, 2 * width) : null;
	});
	overview.legend.hidden = !rows.some((row) => row.strip);
}

// The time that is shown.
export function overview_axis_of(app) {
	const range = link_range(app.state.view.axis);
	return range && range[1] <= app.span_us ? range : [0, app.span_us];
}

// The stacks that pass the filter and have a function that was found.
function overview_found(app) {
	const { nodes, samples } = app.model, inside = new Uint8Array(nodes.count);
	for (let i = 1; i < nodes.count; i++)
		inside[i] = inside[nodes.parent[i]] || app.hits[nodes.frame[i]];
	const stacks = Uint8Array.from(samples.node, (node, i) => inside[node] && (!app.sampled.stacks || app.sampled.stacks[i]) ? 1 : 0);
	return { ...app.sampled, stacks };
}

function overview_busiest(rows) {
	const shown = [];
	let programs = 0;
	for (const row of rows) {
		programs += row.level === 0 ? 1 : 0;
		if (programs > OVERVIEW_ROWS)
			break;
		shown.push(row);
	}
	return shown;
}

function overview_labels(overview, hidden) {
	const { app } = overview;
	const items = overview.rows.map((row) => {
		const toggle = row.more ? el("button", { type: "button", class: "toggle", "aria-expanded": String(overview.open.has(row.id)),
			"aria-label": "parts of " + row.name, onclick: () => overview_toggle(overview, row.id) }, overview.open.has(row.id) ? "\u25be" : "\u25b8") : null;
		const name = row.selects ? dom_button(row.name, () => app.change({ ...(row.lane ? { not_during: false } :
			{ comms: [], pids: [], tids: [], not_comms: false, not_pids: false, not_tids: false }), ...row.selects }), "select " + row.name, "name") : el("span", { class: "name", title: row.line ? row.name : null }, row.name);
		return el("li", { class: "level" + row.level }, toggle, name, el("span", { class: "quiet" }, row.lane ? words_count(row.lane.list.length) + " marks" : row.line ? "up to " + counters_value(row.most, row.line.unit) : words_percent(row.weight, app.sampled_sum)));
	});
	if (hidden > 0 || overview.all)
		items.push(el("li", null, dom_button(overview.all ? "only the busiest" : hidden + " others", () => {
			overview.all = !overview.all;
			overview_update(overview);
		}, null, "more")));
	overview.labels.replaceChildren(...items);
}

function overview_toggle(overview, id) {
	if (!overview.open.delete(id))
		overview.open.add(id);
	overview_update(overview);
	overview.labels.querySelector('[aria-label="parts of ' + CSS.escape(id) + '"]')?.focus();
}

// ---- drawing ----

// A row for each of the names that were marked most.
function overview_lanes(app) {
	app.lanes ||= app.model.marks ? marks_lanes(app.model, OVERVIEW_LANES) : [];
	return app.lanes.map((lane) => ({ id: "mark " + lane.name, name: lane.name, level: 0, cpu: -2, tasks: [], weight: 0, more: false, lane,
		selects: lane.is_span ? { during: lane.name } : null }));
}

function overview_lane(context, overview, lane, y) {
	const scale = overview.width / (overview.to - overview.from);
	context.fillStyle = dom_color("--mark");
	let drawn = -1; // up to where, so that many in one place are drawn once
	for (const { from_us, to_us } of lane.list) {
		const x = Math.max(0, (from_us - overview.from) * scale), end = Math.min(overview.width, (to_us - overview.from) * scale);
		if (end < 0 || x > overview.width || (end <= drawn && end - x < 1))
			continue;
		context.fillRect(x, y + (lane.is_span ? 6 : 3), Math.max(1.5, end - x), lane.is_span ? OVERVIEW_ROW - 11 : OVERVIEW_ROW - 6);
		context.fillRect(x, y + 3, 1.5, OVERVIEW_ROW - 6); // where it began
		drawn = Math.max(x + 1.5, end);
	}
}

// ---- counters ----

function overview_lines({ model, state }) {
	const lines = model.counters ? counters_chosen(model.counters, link_names_of(state.view.lines)) : [];
	return lines.map((line) => ({ id: "line " + counters_id(line), name: counters_name(line), level: 0, cpu: -2, tasks: [], weight: 0, more: false, selects: null, line,
		most: counters_summary(line.points).max }));
}

// Each interval as high as its value; what is below 0 is no higher than 0.
function overview_line(context, { width, from, to }, { line, most }, y) {
	const scale = width / (to - from), bottom = y + OVERVIEW_ROW - 1;
	context.fillStyle = dom_color("--mark");
	for (const { from_us, to_us, value } of line.points) {
		const x = Math.max(0, (from_us - from) * scale), end = Math.min(width, (to_us - from) * scale), h = most > 0 ? Math.max(0, value / most) * (OVERVIEW_ROW - 4) : 0;
		if (end <= x)
			continue;
		context.globalAlpha = 0.25;
		context.fillRect(x, bottom - h, end - x, h);
		context.globalAlpha = 1;
		context.fillRect(x, bottom - h - 1, Math.max(1, end - x), 1.5);
	}
}

// Parts that do not change with the selected time are painted once.
function overview_paint(overview) {
	const { rows, columns, cells, found } = overview;
	const height = OVERVIEW_AXIS + rows.length * OVERVIEW_ROW, width = overview.width, cell = width / columns;
	const context = dom_canvas(overview.canvas, width, height);
	const heat = dom_color("--heat"), match = dom_color("--match"), lanes = [dom_color("--lane"), dom_color("--ground")], most = overview_most(cells, rows.length, columns);
	for (let r = 0; r < rows.length; r++) {
		const y = OVERVIEW_AXIS + r * OVERVIEW_ROW;
		context.globalAlpha = 1;
		context.fillStyle = lanes[r % 2];
		context.fillRect(0, y, width, OVERVIEW_ROW);
		if (rows[r].lane) {
			overview_lane(context, overview, rows[r].lane, y);
			continue;
		}
		if (rows[r].line) {
			overview_line(context, overview, rows[r], y);
			continue;
		}
		if (rows[r].strip) {
			overview_strip(context, overview, rows[r].strip, y);
			continue;
		}
		for (let c = 0; c < columns; c++) {
			const value = cells[r * columns + c];
			if (!value)
				continue;
			// Height and colour both show how much.
			const full = r ? most.row : most.all, share = Math.min(1, value / full);
			const h = Math.max(2, share * (OVERVIEW_ROW - 3)), hit = found ? h * found[r * columns + c] / value : 0;
			context.globalAlpha = 0.35 + 0.65 * share;
			context.fillStyle = heat;
			context.fillRect(c * cell, y + OVERVIEW_ROW - 1 - h, cell, h);
			if (!hit)
				continue;
			context.globalAlpha = 1;
			context.fillStyle = match;
			context.fillRect(c * cell, y + OVERVIEW_ROW - 1 - hit, cell, hit);
		}
	}
	context.globalAlpha = 1;
	overview_axis(context, overview, width, height);
}

// Each state has a form of its own: what runs is as high as the row, what sleeps is a line.
function overview_strip(context, overview, strip, y) {
	const scale = overview.width / (overview.to - overview.from), bottom = y + OVERVIEW_ROW - 1, height = OVERVIEW_ROW - 3;
	context.fillStyle = dom_color("--state");
	for (const { state, from_us, to_us } of strip) {
		const x = (from_us - overview.from) * scale, w = Math.max(0.5, (to_us - from_us) * scale), name = STATES[state][0];
		if (name === "run")
			context.fillRect(x, bottom - height, w, height);
		else if (name === "sleep" || name === "block")
			context.fillRect(x, bottom - (name === "block" ? 7 : 2), w, name === "block" ? 7 : 2);
		else if (name === "stop")
			context.fillRect(x, bottom - height / 2, w, 2);
		else // hatched: high for a CPU, dots where nothing is known
			for (let at = x; at < x + w; at += 4)
				context.fillRect(at, bottom - (name === "runnable" ? height * 0.7 : height / 2), Math.min(1.5, x + w - at), name === "runnable" ? height * 0.7 : 2);
	}
}

// The fullest cell of all CPUs, and of all other rows.
function overview_most(cells, row_count, columns) {
	const most = { all: 1, row: 1 };
	for (let i = 0; i < row_count * columns; i++) {
		const of = i < columns ? "all" : "row";
		most[of] = Math.max(most[of], cells[i]);
	}
	return most;
}

function overview_axis(context, { app, from, to }, width, height) {
	const all = [{ from_us: 0, to_us: to }];
	for (const part of app.model.parts || all) {
		const first = Math.max(from, part.from_us), last = Math.min(to, part.to_us);
		if (first < last)
			overview_ticks(context, { from, to, first, last, zero: part.from_us, name: part.head?.file }, width, height);
	}
}

// Moments since zero in [first, last]; name: of the capture that begins there.
function overview_ticks(context, { from, to, first, last, zero, name }, width, height) {
	const step = words_step(to - from, Math.max(2, width / 110)), line = dom_color("--line"), quiet = dom_color("--quiet");
	for (let us = zero + Math.ceil((first - zero) / step) * step; us <= last; us += step) {
		const x = (us - from) / (to - from) * width, begins = name && us === zero;
		context.fillStyle = line;
		context.fillRect(Math.round(x), begins ? 0 : OVERVIEW_AXIS - 6, begins ? 2 : 1, height);
		context.fillStyle = quiet;
		if (x < width - 50 && (us < last || !name))
			context.fillText(begins ? words_fit(name, 12) : words_moment(us - zero, step), x + 3, OVERVIEW_AXIS / 2);
	}
}

// Joins the ranges that are nearer than this where there are very many.
function overview_near(times, us) {
	const apart = [];
	for (const [from, to] of times)
		if (times.length > OVERVIEW_RANGES && apart.length && from - apart[apart.length - 1][1] < us)
			apart[apart.length - 1][1] = to;
		else
			apart.push([from, to]);
	return apart;
}

// Over the picture, which stays as it is: what is selected has an edge, and a veil lies over the rest.
export function overview_draw({ app, veil, from: begin, to: end }) {
	const times = overview_near(app.filter.times, (end - begin) / OVERVIEW_RANGES), baseline = changes_baseline(app), marks = [];
	const put = (kind, from, to) => {
		const mark = el("span", { class: kind }), at = Math.max(begin, from), width = Math.min(end, to) - at;
		mark.style.left = 100 * (at - begin) / (end - begin) + "%";
		mark.style.width = 100 * width / (end - begin) + "%";
		if (width > 0)
			marks.push(mark);
	};
	times.forEach(([from, to], i) => {
		put("veiled", i ? times[i - 1][1] : begin, from);
		put("chosen", from, to);
	});
	if (times.length)
		put("veiled", times[times.length - 1][1], end);
	if (baseline)
		put("compared", ...baseline);
	veil.replaceChildren(...marks);
}

// ---- the mouse ----

function overview_us(overview, event) {
	const box = overview.canvas.getBoundingClientRect();
	const us = Math.round(overview.from + (event.clientX - box.left) / box.width * (overview.to - overview.from));
	return Math.max(overview.from, Math.min(overview.to, us));
}

function overview_begin(overview, event) {
	if (event.button)
		return;
	overview.canvas.setPointerCapture(event.pointerId);
	overview.drag = { from: overview_us(overview, event), x: event.clientX, compares: event.altKey,
		retained: event.shiftKey ? overview.app.state.selection.times : [] };
}

function overview_move(overview, event) {
	const us = overview_us(overview, event), { drag, app } = overview;
	overview_hover(overview, event, us);
	if (!drag || Math.abs(event.clientX - drag.x) < 3)
		return;
	const range = [Math.min(us, drag.from), Math.max(us, drag.from)];
	if (drag.compares)
		return app.change({ baseline: range.join("-") });
	app.change({ times: filter_join_times([...drag.retained, range]) });
}

function overview_hover(overview, event, us) {
	const box = overview.canvas.getBoundingClientRect(), r = Math.floor((event.clientY - box.top - OVERVIEW_AXIS) / OVERVIEW_ROW);
	const row = overview.rows[r], { tip, drag } = overview;
	dom_tip(tip, overview.element, event, row && (drag ? words_length(Math.abs(us - drag.from)) + " from " + words_moment(Math.min(us, drag.from), 1000)
		: row.name + " at " + words_moment(us, (overview.to - overview.from) / 1000)) + (row.strip ? overview_state_text(overview.app.model, row.tid, us) : row.line ? overview_line_text(row.line, us) : ""));
}

function overview_line_text(line, us) {
	const point = counters_at(line, us);
	return point ? ": " + counters_value(point.value, line.unit) + " in " + words_length(point.to_us - point.from_us) : ": no value";
}

function overview_state_text(model, tid, us) {
	const { pieces, waits, stacks } = model.waits, i = states_at(model, tid, us), w = i < 0 ? -1 : pieces.wait[i];
	if (i < 0)
		return "";
	const s = w < waits.count ? waits.stack[w] - 1 : -1, frame = s >= 0 && pieces.state[i] > 1 ? model.nodes.frame[stacks.node[s]] : -1;
	return ": " + STATES[pieces.state[i]][1] + " " + words_length(pieces.length[i] / 1000) + (frame >= 0 && stacks.node[s] ? " " + model.frames.name[frame] : "") +
		(s >= 0 && stacks.waker[s] ? ", woken by " + stacks.waker[s] : "");
}
