// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
// overview - which threads ran when, as heat; dragging over it selects time
import { changes_baseline } from "./changes.mjs";
import { counters_at, counters_chosen, counters_id, counters_name, counters_summary, counters_value } from "../data/counters.mjs";
import { DOM_HIDDEN, dom_button, dom_canvas, dom_colors, dom_fill, dom_is_shortcut, dom_legend, dom_tip, dom_tip_make, el } from "./dom.mjs";
import { filter_join_times } from "../data/filter.mjs";
import { link_names_of, link_range } from "../data/link.mjs";
import { HEAT_ROWS, heat_cells, heat_row } from "../count/heat.mjs";
import { match_inside } from "../data/match.mjs";
import { list_join, list_numbers, list_within } from "../data/lists.mjs";
import { marks_lanes } from "../data/marks.mjs";
import { STATES, states_at, states_strip } from "../count/states.mjs";
import { words_fit, words_length, words_many, words_moment, words_percent, words_step, words_weight } from "../data/words.mjs";

const OVERVIEW_ROW = 20, OVERVIEW_AXIS = 22, OVERVIEW_ROWS = 16, OVERVIEW_CELL = 3, OVERVIEW_LANES = 12, OVERVIEW_RANGES = 200;

export function overview_make(app) {
	/** @type {any} */
	const overview = { app, open: new Set(), rows: [], tip: dom_tip_make(), labels: el("ul.overview-labels"),
		veil: el("div.overview-veil", DOM_HIDDEN), legend: dom_legend("States of threads", STATES, "state-"), canvas: el("canvas", { ...DOM_HIDDEN,
			onpointerdown: (event) => overview_begin(overview, event),
			onpointermove: (event) => overview_move(overview, event),
			onpointerup: () => {
				overview.drag = null;
				app.change({});
			},
			onpointerleave: (event) => dom_tip(overview.tip, event, ""),
			ondblclick: () => app.change({ times: [] }) }) };
	overview.picture = el("div.overview-picture", { tabindex: "0", role: "slider", "aria-label": "Moment", "aria-valuemax": app.span_us, "aria-valuenow": 0, onkeydown: (event) => overview_key(overview, event),
		onblur: () => overview_go(overview, null) }, overview.canvas, overview.veil);
	overview.reading = el("p.reading quiet", { "aria-live": "polite" });
	overview.element = el("div", el("div.overview", overview.labels, overview.picture, overview.tip), overview.reading);
	return overview;
}

// After filters (but for time), open rows or the size have changed.
export function overview_update(overview) {
	const { app, open } = overview, { model, sampled, hits } = app, { nodes } = model;
	const rows = HEAT_ROWS[app.view.rows](model, open), top = overview.all ? rows : overview_busiest(rows);
	overview.rows = [heat_row({ name: "all CPUs", level: -1, weight: app.sampled_sum, tasks: list_numbers(model.tasks.count) }), ...top, ...overview_lanes(app), ...overview_lines(app)];
	overview_labels(overview, rows.length - top.length);
	overview.width = Math.max(100, overview.picture.clientWidth);
	overview.columns = Math.max(1, Math.floor(overview.width / OVERVIEW_CELL));
	[overview.from, overview.to] = overview_axis_of(app);
	const cells = (filter) => heat_cells(model, filter, overview.rows, overview.columns, overview.from, overview.to), inside = hits && match_inside(nodes, hits);
	overview.cells = cells(sampled);
	// Stacks that pass the filter and have a function that was found.
	overview.found = hits && cells({ ...sampled, stacks: Uint8Array.from(model.samples.node, (node, i) => inside[node] && (!sampled.stacks || sampled.stacks[i]) ? 1 : 0) });
	overview_states(overview);
	overview_paint(overview);
	overview_draw(overview);
}

// Closer, rows of one thread have what it did at each moment, in place of how much it ran.
function overview_states({ app: { model, span_us }, legend, rows, width, from, to }) {
	const { tid } = model.tasks, closer = model.waits && (from > 0 || to < span_us);
	rows.forEach((row, r) => {
		row.tid = tid[row.tasks[0]];
		row.strip = closer && r && row.tasks.length && row.cpu < -1 && row.tasks.every((t) => tid[t] === row.tid) ? states_strip(model, row.tid, from, to, 2 * width) : null;
	});
	legend.hidden = !rows.some((row) => row.strip);
}

// The time that is shown.
export function overview_axis_of({ view, span_us }) {
	const range = link_range(view.axis);
	return range && range[1] <= span_us ? range : [0, span_us];
}

function overview_busiest(rows) {
	let programs = 0;
	const end = rows.findIndex((row) => (programs += row.level ? 0 : 1) > OVERVIEW_ROWS);
	return end < 0 ? rows : rows.slice(0, end);
}

function overview_labels(overview, hidden) {
	const { app, open, rows, labels } = overview;
	const items = rows.map((row, i) => {
		const { lane, line, name } = row, toggle = () => {
			if (!open.delete(row.id))
				open.add(row.id);
			overview_update(overview);
			labels.children[i].querySelector("button").focus();
		};
		return el("li.level" + row.level, row.more ? el("button.toggle", { type: "button", "aria-expanded": String(open.has(row.id)), "aria-label": "parts of " + name, onclick: toggle }, open.has(row.id) ? "\u25be" : "\u25b8") : "",
			row.selects ? dom_button(name, () => app.change({ ...(lane ? null : { comms: [], pids: [], tids: [] }), ...row.selects }), "select " + name, "name") : el("span.name", { title: line && name }, name),
			el("span.quiet", lane ? words_many(lane.list.length, "marks") : line ? "up to " + counters_value(row.most, line.unit) : words_percent(row.weight, app.sampled_sum)));
	});
	if (hidden > 0 || overview.all)
		items.push(el("li", dom_button(overview.all ? "only the busiest" : words_many(hidden, "others"), () => {
			overview.all = !overview.all;
			overview_update(overview);
		}, null, "more")));
	labels.replaceChildren(...items);
}

// ---- drawing ----

// Calls paint(x, width) where some of a time is in the picture.
function overview_place({ from, to, width }, from_us, to_us, paint) {
	const scale = width / (to - from), x = Math.max(0, (from_us - from) * scale), end = Math.min(width, (to_us - from) * scale);
	if (x <= end)
		paint(x, end - x);
}

// A row for each of the names that were marked most.
function overview_lanes(app) {
	app.lanes ||= app.model.marks ? marks_lanes(app.model, OVERVIEW_LANES) : [];
	return app.lanes.map((lane) => heat_row({ id: "mark " + lane.name, name: lane.name, lane, selects: lane.is_span ? { during: lane.name, not_during: false } : null }));
}

function overview_lane(context, overview, { lane: { list, is_span } }, y) {
	let drawn = -1; // up to where, so that many in one place are drawn once
	for (const { from_us, to_us } of list)
		overview_place(overview, from_us, to_us, (x, w) => {
			if (x + w <= drawn && w < 1)
				return;
			context.fillRect(x, y + (is_span ? 6 : 3), Math.max(1.5, w), OVERVIEW_ROW - (is_span ? 11 : 6));
			context.fillRect(x, y + 3, 1.5, OVERVIEW_ROW - 6); // where it began
			drawn = Math.max(x + 1.5, x + w);
		});
}

const overview_lines = ({ model: { counters }, view }) => (counters ? counters_chosen(counters, link_names_of(view.lines)) : []).map((line) => heat_row({ id: "line " + counters_id(line), name: counters_name(line), line, most: counters_summary(line.points).max }));

// Each interval as high as its value; what is below 0 is no higher than 0.
function overview_line(context, overview, { line, most }, y) {
	for (const { from_us, to_us, value } of line.points)
		overview_place(overview, from_us, to_us, (x, w) => {
			const h = most > 0 ? Math.max(0, value / most) * (OVERVIEW_ROW - 4) : 0, top = y + OVERVIEW_ROW - 1 - h;
			context.globalAlpha = 0.25;
			context.fillRect(x, top, w, h);
			context.globalAlpha = 1;
			context.fillRect(x, top - 1, Math.max(1, w), 1.5);
		});
}

// Each state has a form of its own: what runs is as high as the row, what sleeps is a line.  How far up it begins, how thick it is, and
// whether it is hatched: high for a CPU, dots where nothing is known.
const OVERVIEW_STATES = { run: [17, 17], runnable: [12, 12, true], sleep: [2, 2], block: [7, 7], stop: [8.5, 2], unknown: [8.5, 2, true] };

function overview_strip(context, overview, { strip }, y) {
	const bottom = y + OVERVIEW_ROW - 1;
	for (const { state, from_us, to_us } of strip)
		overview_place(overview, from_us, to_us, (x, part) => {
			const w = Math.max(0.5, part), [high, thick, hatched] = OVERVIEW_STATES[STATES[state][0]];
			for (let at = x; at < x + w; at += hatched ? 4 : w)
				context.fillRect(at, bottom - high, hatched ? Math.min(1.5, x + w - at) : w, thick);
		});
}

// Height and colour both show how much.
function overview_heat(context, { rows, columns, cells, found, width }, row, y, colors) {
	const r = rows.indexOf(row), cell = width / columns;
	for (let c = 0; c < columns; c++) {
		const value = cells[r * columns + c], share = Math.min(1, value / colors.most[r ? 1 : 0]), h = Math.max(2, share * (OVERVIEW_ROW - 3));
		const bar = (alpha, color, high) => {
			context.globalAlpha = alpha;
			dom_fill(context, color, c * cell, y + OVERVIEW_ROW - 1 - high, cell, high);
		};
		if (value)
			bar(0.35 + 0.65 * share, colors.heat, h);
		if (value && found?.[r * columns + c])
			bar(1, colors.match, h * found[r * columns + c] / value);
	}
}

// Parts that do not change with the selected time are painted once.
function overview_paint(overview) {
	const { rows, columns, cells, width, canvas } = overview, height = OVERVIEW_AXIS + rows.length * OVERVIEW_ROW, context = dom_canvas(canvas, width, height);
	const most = (list) => list.reduce((a, b) => Math.max(a, b), 1);
	// most: the fullest cell of all CPUs, and of all other rows.
	/** @type {any} */
	const colors = { ...dom_colors("panel ground mark frame-edge heat match line quiet"), most: [most(cells.subarray(0, columns)), most(cells.subarray(columns))] };
	rows.forEach((row, r) => {
		const y = OVERVIEW_AXIS + r * OVERVIEW_ROW;
		context.globalAlpha = 1;
		dom_fill(context, r % 2 ? colors.ground : colors.panel, 0, y, width, OVERVIEW_ROW);
		context.fillStyle = row.strip ? colors["frame-edge"] : colors.mark;
		(row.lane ? overview_lane : row.line ? overview_line : row.strip ? overview_strip : overview_heat)(context, overview, row, y, colors);
	});
	context.globalAlpha = 1;
	overview_axis(context, overview, height, colors);
}

// Moments since the first sample; of two captures since that of each, and where it begins its name.
function overview_axis(context, { app: { model, span_us }, from, to, width }, height, { line, quiet }) {
	const step = words_step(to - from, Math.max(2, width / 110));
	for (const { from_us: zero, to_us, head } of model.parts || [{ from_us: 0, to_us: span_us }])
		for (let us = zero + Math.ceil(Math.max(0, from - zero) / step) * step; us <= Math.min(to, to_us); us += step) {
			const x = (us - from) / (to - from) * width, begins = head && us === zero;
			dom_fill(context, line, Math.round(x), begins ? 0 : OVERVIEW_AXIS - 6, begins ? 2 : 1, height);
			context.fillStyle = quiet;
			if (x < width - 50 && (us < to_us || !head))
				context.fillText(begins ? words_fit(head.file, 12) : words_moment(us - zero, step), x + 3, OVERVIEW_AXIS / 2);
		}
}

// Over the picture, which stays as it is: what is selected has an edge, and a veil lies over the rest.
export function overview_draw({ app, veil, cursor, from: begin, to: end }) {
	const baseline = changes_baseline(app), marks = [], length = end - begin, all = app.filter.times, times = all.length > OVERVIEW_RANGES ? list_join(all, length / OVERVIEW_RANGES) : all; // many are drawn as fewer
	const put = (kind, from, to) => {
		const mark = el("span." + kind), at = Math.max(begin, from), width = Math.min(end, to) - at;
		mark.style.left = 100 * (at - begin) / length + "%";
		mark.style.width = 100 * width / length + "%";
		if (width > 0)
			marks.push(mark);
	};
	times.forEach(([from, to], i) => {
		put("veiled", i ? times[i - 1][1] : begin, from);
		put("chosen", from, to);
	});
	if (times.length)
		put("veiled", times.at(-1)[1], end);
	if (baseline)
		put("compared", ...baseline);
	if (cursor)
		put("cursor", cursor.us, cursor.us + 1);
	veil.replaceChildren(...marks);
}

// ---- the mouse ----

function overview_us({ canvas, from, to }, event) {
	const box = canvas.getBoundingClientRect(), us = Math.round(from + (event.clientX - box.left) / box.width * (to - from));
	return list_within(us, from, to);
}

function overview_begin(overview, event) {
	if (event.button)
		return;
	overview.canvas.setPointerCapture(event.pointerId);
	overview.drag = { from: overview_us(overview, event), x: event.clientX, compares: event.altKey, retained: event.shiftKey ? overview.app.selection.times : [] };
}

function overview_move(overview, event) {
	const us = overview_us(overview, event), { drag, app } = overview;
	if (drag && Math.abs(event.clientX - drag.x) >= 3) {
		const range = [Math.min(us, drag.from), Math.max(us, drag.from)];
		app.change(drag.compares ? { baseline: range.join("-") } : { times: filter_join_times([...drag.retained, range]) });
	}
	overview_hover(overview, event, us);
}

function overview_hover(overview, event, us) {
	const { canvas, rows, tip, drag } = overview, row = rows[Math.floor((event.clientY - canvas.getBoundingClientRect().top - OVERVIEW_AXIS) / OVERVIEW_ROW)];
	dom_tip(tip, event, row && (drag ? words_length(Math.abs(us - drag.from)) + " from " + words_moment(Math.min(us, drag.from), 1000) : overview_text(overview, row, us)));
}

// The text of a row and of a moment: its name, and what it has there.
function overview_text({ app, from, to, columns, cells, rows }, row, us) {
	const at = row.name + " at " + words_moment(us, (to - from) / 1000), column = Math.min(columns - 1, Math.floor((us - from) * columns / (to - from)));
	return at + (row.strip ? overview_state_text(app.model, row.tid, us) : ": " + (row.line ? overview_line_text(row.line, us)
		: row.lane ? words_many(row.lane.list.filter(({ from_us, to_us }) => from_us <= us && to_us >= us).length, "marks")
			: words_weight(cells[rows.indexOf(row) * columns + column], app.model.head.weight) + " in " + words_length((to - from) / columns)));
}

// ---- keys ----

// Puts the cursor there; null: there is none.
function overview_go(overview, cursor) {
	const { rows, picture, reading } = overview, text = cursor && overview_text(overview, rows[cursor.row], cursor.us);
	overview.cursor = cursor;
	reading.textContent = text || "";
	picture.setAttribute("aria-valuenow", cursor ? cursor.us : 0);
	picture.setAttribute("aria-valuetext", text || "none");
	overview_draw(overview);
}

// Left and right move in time, by as much as a column of the picture has, or with Shift by a tenth; up and down choose the row that is read.
function overview_key(overview, event) {
	const { rows, from, to, columns, cursor } = overview, { row = 0, us = Math.floor((from + to) / 2) } = cursor || {}, step = cursor ? Math.max(1, Math.round((to - from) / (event.shiftKey ? 10 : columns))) : 0;
	const moved = { ArrowLeft: [row, us - step], ArrowRight: [row, us + step], ArrowUp: [row - 1, us], ArrowDown: [row + 1, us], Home: [row, from], End: [row, to - 1] }[event.key];
	if (!moved || dom_is_shortcut(event))
		return;
	overview_go(overview, { row: list_within(moved[0], 0, rows.length - 1), us: list_within(moved[1], from, to - 1) });
	event.preventDefault();
}

function overview_line_text(line, us) {
	const point = counters_at(line, us);
	return point ? counters_value(point.value, line.unit) + " in " + words_length(point.to_us - point.from_us) : "no value";
}

function overview_state_text(model, tid, us) {
	const { waits: { pieces, waits, stacks }, nodes, frames } = model, i = states_at(model, tid, us), state = pieces.state[i];
	if (i < 0)
		return "";
	const s = (waits.stack[pieces.wait[i]] || 0) - 1, node = s >= 0 && state > 1 ? stacks.node[s] : 0;
	return ": " + STATES[state][1] + " " + words_length(pieces.length[i] / 1000) + (node ? " " + frames.name[nodes.frame[node]] : "") + (s >= 0 && stacks.waker[s] ? ", woken by " + stacks.waker[s] : "");
}
