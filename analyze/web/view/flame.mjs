// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
// flame - the graph of calls: a canvas for eyes, and beside it a tree that screen readers and keys walk
import { changes_interval, changes_ratio } from "./changes.mjs";
import { COMPARE_RESULTS } from "../count/compare.mjs";
import { dom_canvas, dom_color, dom_tip, dom_tip_make, el } from "./dom.mjs";
import { KINDS } from "../data/kinds.mjs";
import { layout_chart, layout_find, layout_graph, layout_thread } from "../count/layout.mjs";
import { overview_axis_of } from "./overview.mjs";
import { tree_name, tree_path } from "../count/tree.mjs";
import { words_fit, words_length, words_moment, words_percent, words_weight } from "../data/words.mjs";

const FLAME_ROW = 18, FLAME_FONT = 11.5, FLAME_TEXT_LEAST = 24, FLAME_ITEMS = 24;

// app: of page.mjs.  Returns what the page shows, and draw().
export function flame_make(app) {
	const flame = {
		app, layout: null, current: 0, at: null, hover: null, colors: null, character: 7,
		canvas: el("canvas", { "aria-hidden": "true" }),
		space: el("div", { class: "flame-space" }),
		tip: dom_tip_make(),
		items: el("ul", { role: "tree", class: "flame-tree", tabindex: "0", "aria-label": "Graph of calls" }),
	};
	flame.space.append(flame.canvas);
	flame.scroll = el("div", { class: "flame-scroll", tabindex: "-1" }, flame.space);
	flame.note = el("p", { class: "quiet", role: "status" });
	flame.element = el("div", { class: "flame" }, flame.note, flame.items, flame.scroll, flame.tip);
	flame.scroll.addEventListener("scroll", () => flame_draw(flame), { passive: true });
	flame.canvas.addEventListener("pointermove", (event) => flame_hover(flame, event));
	flame.canvas.addEventListener("pointerleave", () => flame_leave(flame));
	flame.canvas.addEventListener("click", (event) => flame_click(flame, event));
	flame.canvas.addEventListener("dblclick", () => flame_zoom(flame, flame.current));
	flame.items.addEventListener("keydown", (event) => flame_key(flame, event));
	flame.items.addEventListener("focus", () => { flame_describe(flame); flame_draw(flame); });
	flame.items.addEventListener("blur", () => flame_draw(flame));
	return flame;
}

// After the tree, its weights, the zoom or the size have changed.
export function flame_update(flame) {
	const { app } = flame, width = Math.max(100, flame.scroll.clientWidth);
	if (flame.current >= app.tree.count || !app.total[flame.current])
		flame.current = app.zoom;
	flame.layout = flame_chart(flame, width) || layout_graph(app.tree, app.total, app.zoom, width, app.state.view.place === "weight");
	flame.at = flame_first(flame, flame.current);
	flame.space.style.height = flame.layout.rows * FLAME_ROW + "px";
	// As high as the deepest stack, whatever is selected, so that nothing jumps below.
	flame.scroll.style.height = (app.tree.deepest + 1) * FLAME_ROW + 4 + "px";
	flame.colors = null;
	flame_draw(flame);
}

// Where the node is shown first.
function flame_first({ layout }, node) {
	return layout.frames.find((frame) => frame.node === node);
}

// In the order of time; null: something else is shown.
function flame_chart(flame, width) {
	const { app } = flame, { times } = app.filter, wanted = app.state.view.place === "time";
	/** @type {any} */
	const range = times.length ? [times[0][0], times[times.length - 1][1]] : overview_axis_of(app);
	const list = wanted && app.measure.name === "cpu" ? layout_thread(app.model, app.filter, range) : null;
	flame.note.textContent = !wanted ? "" : list ? "from " + words_moment(range[0], 1) + " to " + words_moment(range[1], 1) :
		"Calls over time are those of one thread while it ran: select one above.";
	return list && layout_chart(app.model, app.tree, list, range, width);
}

function flame_colors() {
	const colors = { text: dom_color("--frame-text"), gap: dom_color("--ground"), thin: dom_color("--kind-noname"),
		mark: dom_color("--match"), mark_text: dom_color("--match-text"), edge: dom_color("--frame-edge"), focus: dom_color("--focus") };
	for (const kind of [...KINDS.map((k) => k[0]), "grown", "shrunk"])
		colors[kind] = dom_color("--kind-" + kind);
	return colors;
}

function flame_draw(flame) {
	const { layout, at } = flame;
	if (!layout)
		return;
	const width = flame.scroll.clientWidth, height = Math.min(flame.scroll.clientHeight, layout.rows * FLAME_ROW);
	const context = dom_canvas(flame.canvas, width, height), top = flame.scroll.scrollTop;
	flame.colors ||= flame_colors();
	flame.character = context.measureText("m").width || 7;
	const first = Math.floor(top / FLAME_ROW), last = Math.ceil((top + height) / FLAME_ROW);
	for (const place of layout.frames)
		if (place.row >= first && place.row <= last)
			flame_frame(flame, context, place, place.row * FLAME_ROW - top);
	if (at && document.activeElement === flame.items) {
		context.strokeStyle = flame.colors.focus;
		context.lineWidth = 2;
		context.strokeRect(at.x + 1, at.row * FLAME_ROW - top + 1, Math.max(2, at.width - 2), FLAME_ROW - 2);
	}
}

function flame_frame(flame, context, place, y) {
	const { app, colors } = flame, { node, x } = place, width = Math.max(0.5, place.width - 1);
	if (node < 0) {
		context.fillStyle = colors.thin;
		context.fillRect(x, y, width, FLAME_ROW - 1);
		return;
	}
	const frame = app.tree.frame[node], change = flame_change(app, frame), sign = { grown: "\u25b2 ", shrunk: "\u25bc " }[change] || "";
	const kind = change || (frame < 0 ? "group" : app.kinds[frame]);
	const hit = app.hits && frame >= 0 && app.hits[frame];
	context.globalAlpha = node && app.tree.depth[node] <= app.tree.depth[app.zoom] && node !== app.zoom ? 0.55 : 1;
	context.fillStyle = hit ? colors.mark : colors[kind];
	context.fillRect(x, y, width, FLAME_ROW - 1);
	if (kind === "kernel" && width > 4) { // not by colour alone
		context.fillStyle = colors.edge;
		context.fillRect(x, y, 2, FLAME_ROW - 1);
	}
	if (change === "shrunk" && app.changed.get(app.model.frames.row[frame]).ratio === 0) { // hatched: it is gone
		context.fillStyle = colors.edge;
		for (let at = x + 2; at < x + width; at += 6)
			context.fillRect(at, y, 1, FLAME_ROW - 1);
	}
	if (kind === "wait") {
		context.fillStyle = colors.edge;
		context.fillRect(x, y, width, 2);
	}
	context.globalAlpha = 1;
	if (place.width >= FLAME_TEXT_LEAST) {
		context.fillStyle = hit ? colors.mark_text : colors.text;
		context.fillText(words_fit(sign + tree_name(app.model, app.tree, node), Math.floor((width - 8) / flame.character)), x + 5, y + FLAME_ROW / 2);
	}
	if (flame.hover === place) {
		context.strokeStyle = colors.text;
		context.lineWidth = 1;
		context.strokeRect(x + 0.5, y + 0.5, width - 1, FLAME_ROW - 2);
	}
}

// All rows of it, not those alone that are in sight; a browser draws no canvas that is higher.
const FLAME_HIGHEST = 16000;

export function flame_picture(flame) {
	const canvas = el("canvas"), width = flame.scroll.clientWidth, height = Math.min(FLAME_HIGHEST, flame.layout.rows * FLAME_ROW), context = dom_canvas(canvas, width, height);
	context.fillStyle = flame.colors.gap;
	context.fillRect(0, 0, width, height);
	for (const place of flame.layout.frames)
		flame_frame(flame, context, place, place.row * FLAME_ROW);
	return canvas;
}

// The same as text: what draws on a canvas writes elements.
export function flame_svg(flame) {
	const width = flame.scroll.clientWidth, height = flame.layout.rows * FLAME_ROW, list = [];
	const safe = (text) => text.replace(/[&<>"\u0000-\u001f]/g, (c) => "&#" + Math.max(32, c.charCodeAt(0)) + ";"), at = (n) => Math.round(n * 100) / 100;
	const pen = { globalAlpha: 1, fillStyle: "", strokeRect: () => {},
		fillRect: (x, y, w, h) => list.push('<rect x="' + at(x) + '" y="' + at(y) + '" width="' + at(w) + '" height="' + at(h) + '" fill="' + pen.fillStyle + '" opacity="' + pen.globalAlpha + '"/>'),
		fillText: (text, x, y) => list.push('<text x="' + at(x) + '" y="' + at(y + 4) + '" fill="' + pen.fillStyle + '">' + safe(text) + "</text>") };
	for (const place of flame.layout.frames) {
		list.push("<g><title>" + safe(place.node < 0 ? "frames too narrow to draw" : flame_text(flame, place.node, place)) + "</title>");
		flame_frame(flame, pen, place, place.row * FLAME_ROW);
		list.push("</g>");
	}
	return '<svg xmlns="http://www.w3.org/2000/svg" width="' + width + '" height="' + height + '" font-family="monospace" font-size="' + FLAME_FONT + '">\n<rect width="100%" height="100%" fill="' +
		flame.colors.gap + '"/>\n' + list.join("\n") + "\n</svg>\n";
}

// The result of two compared ranges for a frame's function: "grown", "shrunk", "noname": not more than chance; "": nothing is compared.
function flame_change(app, frame) {
	const row = app.changed && frame >= 0 ? app.changed.get(app.model.frames.row[frame]) : null;
	return !app.changed || frame < 0 ? "" : !row || row.result < 2 ? "noname" : row.ratio > 1 ? "grown" : "shrunk";
}

// ---- the mouse ----

function flame_at(flame, event) {
	const box = flame.canvas.getBoundingClientRect();
	const row = Math.floor((event.clientY - box.top + flame.scroll.scrollTop) / FLAME_ROW);
	return layout_find(flame.layout, event.clientX - box.left, row);
}

function flame_hover(flame, event) {
	const place = flame_at(flame, event);
	if (place !== flame.hover) {
		flame.hover = place;
		flame_draw(flame);
	}
	dom_tip(flame.tip, flame.element, event, !place ? "" : place.node < 0 ? "frames too narrow to draw: zoom in to see them" : flame_text(flame, place.node, place));
}

function flame_leave(flame) {
	flame.hover = null;
	flame.tip.hidden = true;
	flame_draw(flame);
}

function flame_click(flame, event) {
	const place = flame_at(flame, event);
	if (place?.node >= 0)
		flame_go(flame, place.node, place);
}

// Over time, selects that of the call; else shows the frame over the full width.
export function flame_zoom(flame, node) {
	const when = node === flame.current && flame_when(flame, flame.at);
	flame.app.change(when ? { times: [when] } : { zoom: flame_zoom_text(flame.app, node) }, true);
	flame_go(flame, node);
}

function flame_zoom_text(app, node) {
	return tree_path(app.tree, node).map((n) => encodeURIComponent(tree_name(app.model, app.tree, n))).join("/");
}

// The node that a text of flame_zoom_text() means; as far as there are such nodes.
export function flame_find_zoom(model, tree, text) {
	let node = 0;
	for (const part of text ? text.split("/") : []) {
		let name;
		try {
			name = decodeURIComponent(part);
		} catch {
			return node;
		}
		const callees = tree.callees.subarray(tree.first[node], tree.first[node + 1]);
		const next = callees.find((callee) => tree_name(model, tree, callee) === name);
		if (next === undefined)
			return node;
		node = next;
	}
	return node;
}

// ---- words and keys ----

// Over time, the time of a call; null: it is none of one call.
function flame_when({ layout: { us } }, place) {
	return us && place?.row ? [us(place.x), Math.max(us(place.x) + 1, us(place.x + place.width))] : null;
}

// place: of layout.frames.
export function flame_text(flame, node, place) {
	const { app } = flame, frame = app.tree.frame[node], name = tree_name(app.model, app.tree, node);
	const time = flame_when(flame, place), when = time ? ", at " + words_moment(time[0], 1) + " for " + words_length(time[1] - time[0]) : "";
	const object = frame >= 0 ? ", " + app.model.objects.base[app.model.frames.object[frame]] : "";
	return name + object + when + ", " + words_percent(app.total[node], app.counted.sum) + ", " +
		words_weight(app.total[node], app.measure.unit) +
		(app.changed?.has(app.model.frames.row[frame]) ? ", " + flame_compared(app.changed.get(app.model.frames.row[frame])) : "") + (app.self[node] ? ", " + words_percent(app.self[node], app.counted.sum) + " itself" : "");
}

function flame_compared(row) {
	return "function " + words_percent(row.share[0], 1) + " before and " + words_percent(row.share[1], 1) + " after: " + changes_ratio(row.ratio) + " (" + changes_interval(row) + "), " +
		COMPARE_RESULTS[row.result];
}

// Callees that have weight, the heaviest first.
function flame_callees(app, node) {
	return [...app.tree.callees.subarray(app.tree.first[node], app.tree.first[node + 1])]
		.filter((callee) => app.total[callee]).sort((a, b) => app.total[b] - app.total[a]);
}

export function flame_go(flame, node, place = flame_first(flame, node)) {
	const { layout } = flame, row = flame.app.tree.depth[node];
	flame.current = node;
	flame.at = place;
	const top = row * FLAME_ROW, view = flame.scroll;
	if (layout && (top < view.scrollTop || top + FLAME_ROW > view.scrollTop + view.clientHeight))
		view.scrollTop = Math.max(0, top - view.clientHeight / 2);
	flame_draw(flame);
	flame_describe(flame);
	flame.app.chose?.(node);
}

// For a screen reader: the path to the current frame, the frame, and what it calls.
export function flame_describe(flame) {
	const { app } = flame, path = [0, ...tree_path(app.tree, flame.current)];
	const item = (node, id, at, count, open) => el("li", { role: "treeitem", id, "aria-level": app.tree.depth[node] + 1,
		"aria-posinset": at, "aria-setsize": count, "aria-selected": node === flame.current ? "true" : "false",
		"aria-expanded": app.tree.first[node] < app.tree.first[node + 1] ? String(open) : null }, flame_text(flame, node, node === flame.current ? flame.at : null));
	const rows = path.map((node, i) => {
		const beside = i ? flame_callees(app, app.tree.parent[node]) : [0];
		return item(node, node === flame.current ? "flame-current" : null, beside.indexOf(node) + 1, beside.length, true);
	});
	const callees = flame_callees(app, flame.current);
	rows.push(...callees.slice(0, FLAME_ITEMS).map((node, i) => item(node, null, i + 1, callees.length, false)));
	flame.items.replaceChildren(...rows);
	flame.items.setAttribute("aria-activedescendant", "flame-current");
}

function flame_step(app, node, by) {
	const beside = node ? flame_callees(app, app.tree.parent[node]) : [0];
	if (app.state.view.place === "name") // as they lie in the picture
		beside.sort((a, b) => app.tree.place[a] - app.tree.place[b]);
	return beside[beside.indexOf(node) + by] ?? node;
}

// Over time: the call beside this one, or the first one above or below it.
function flame_beside({ layout: { frames }, at }, key) {
	const row = at.row + ({ ArrowUp: -1, ArrowDown: 1 }[key] || 0), own = frames.filter((other) => other.row === row && other.node >= 0).sort((a, b) => a.x - b.x);
	return (row !== at.row ? own.find((other) => other.x + other.width > at.x && other.x < at.x + at.width) : own[own.indexOf(at) + (key === "ArrowLeft" ? -1 : 1)]) || at;
}

function flame_key(flame, event) {
	const { app } = flame, node = flame.current;
	if (event.ctrlKey || event.altKey || event.metaKey)
		return;
	if (flame.layout.us && flame.at && event.key.startsWith("Arrow")) {
		const place = flame_beside(flame, event.key);
		flame_go(flame, place.node, place);
		return event.preventDefault();
	}
	const to = { ArrowUp: () => (node === app.zoom ? node : app.tree.parent[node]), ArrowDown: () => flame_callees(app, node)[0] ?? node,
		ArrowLeft: () => flame_step(app, node, -1), ArrowRight: () => flame_step(app, node, 1), Home: () => app.zoom }[event.key];
	if (to)
		flame_go(flame, to());
	else if (event.key === "Enter")
		flame_zoom(flame, flame.current);
	else if (event.key === "Backspace" || event.key === "0")
		flame_zoom(flame, event.key === "0" ? 0 : app.tree.parent[app.zoom]);
	else
		return;
	event.preventDefault();
}
