// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
// flame - the graph of calls: a canvas for eyes, and beside it a tree that screen readers and keys walk
import { changes_interval, changes_ratio } from "./changes.mjs";
import { COMPARE_RESULTS } from "../count/compare.mjs";
import { DOM_HIDDEN, dom_canvas, dom_colors, dom_fill, dom_is_shortcut, dom_tip, dom_tip_make, el } from "./dom.mjs";
import { KINDS, kinds_of } from "../data/kinds.mjs";
import { link_names, link_names_of } from "../data/link.mjs";
import { layout_chart, layout_find, layout_graph, layout_thread, layout_turn } from "../count/layout.mjs";
import { overview_axis_of } from "./overview.mjs";
import { tree_name, tree_path } from "../count/tree.mjs";
import { words_fit, words_length, words_moment, words_percent, words_weight } from "../data/words.mjs";

const FLAME_ROW = 18, FLAME_TEXT_LEAST = 24, FLAME_ITEMS = 24;

// app: of page.mjs.  Returns what the page shows, and draw().
export function flame_make(app) {
	/** @type {any} */
	const flame = { app, current: 0, tip: dom_tip_make(), note: el("p.quiet", { role: "status" }),
		canvas: el("canvas", { ...DOM_HIDDEN,
			onpointermove: (event) => flame_hover(flame, event, flame_at(flame, event)),
			onpointerleave: (event) => flame_hover(flame, event, null),
			onclick: (event) => flame_click(flame, event),
			ondblclick: () => flame_zoom(flame, flame.current) }),
		items: el("ul.flame-tree", { role: "tree", tabindex: "0", "aria-label": "Graph of calls",
			onkeydown: (event) => flame_key(flame, event),
			onfocus: () => { flame_describe(flame); flame_draw(flame); },
			onblur: () => flame_draw(flame) }) };
	flame.space = el("div.flame-space", flame.canvas);
	flame.scroll = el("div.flame-scroll", { tabindex: "-1", onscroll: () => flame_draw(flame) }, flame.space);
	flame.element = el("div.flame", flame.note, flame.items, flame.scroll, flame.tip);
	return flame;
}

// After the tree, its weights, the zoom or the size have changed.
export function flame_update(flame) {
	const { app } = flame, { tree, total, zoom } = app, width = Math.max(100, flame.scroll.clientWidth), when = flame.layout && flame_when(flame, flame.at);
	if (flame.current >= tree.count || !total[flame.current])
		flame.current = zoom;
	flame.layout = flame_chart(flame, width) || layout_graph(tree, total, zoom, width, app.view.place === "weight");
	if (app.view.root === "bottom")
		flame.layout = layout_turn(flame.layout, tree.deepest + 1);
	flame.at = flame_first(flame, flame.current, when?.[0]);
	const high = flame.layout.rows * FLAME_ROW, turned = app.view.root === "bottom" && high;
	flame.space.style.height = high + "px";
	// As high as the deepest stack, whatever is selected, so that nothing jumps below.
	flame.scroll.style.height = (tree.deepest + 1) * FLAME_ROW + 4 + "px";
	if (turned && turned !== flame.turned)
		flame.scroll.scrollTop = turned; // where the root is
	flame.turned = turned;
	flame.colors = null;
	flame_draw(flame);
}

// Where the node is shown at a moment, else first.
function flame_first({ layout }, node, us = -1) {
	const { frames } = layout;
	return (us >= 0 && frames.find((place) => place.node === node && flame_when({ layout }, place)?.[0] === us)) || frames.find((place) => place.node === node);
}

// In the order of time; null: something else is shown.
function flame_chart(flame, width) {
	const { app, note } = flame, { times } = app.filter, wanted = app.view.place === "time";
	/** @type {any} */
	const range = times.length ? [times[0][0], times.at(-1)[1]] : overview_axis_of(app);
	const list = wanted && app.view.measure === "cpu" && layout_thread(app.model, app.filter, range);
	note.textContent = !app.counted.sum ? "nothing is selected" : !wanted ? "A box is a function, as wide as its share; click: details, double click: zoom" :
		list ? "from " + words_moment(range[0], 1) + " to " + words_moment(range[1], 1) + "; select less to see more" : "Calls over time are of one thread: select one above.";
	return list && layout_chart(app.model, app.tree, list, range, width);
}

function flame_draw(flame) {
	const { layout, at } = flame;
	if (!layout)
		return;
	const width = flame.scroll.clientWidth, height = Math.min(flame.scroll.clientHeight, layout.rows * FLAME_ROW);
	const context = dom_canvas(flame.canvas, width, height), top = flame.scroll.scrollTop;
	flame.colors ||= dom_colors("text ground match frame-edge focus kind-grown kind-shrunk " + KINDS.map(([kind]) => "kind-" + kind).join(" "));
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

function flame_fill(context, color, x, y, width, height) {
	const at = Math.round(x);
	dom_fill(context, color, at, y, Math.max(1, Math.round(x + width) - at), height);
}

// A picture has thousands: nothing is made for one.
function flame_frame(flame, context, place, y) {
	const { app, colors } = flame, { tree, zoom } = app, { node, x } = place, width = Math.max(0.5, place.width - 1), high = FLAME_ROW - 1;
	for (let at = x; node < 0 && at < x + width; at += 3) // hatched: many too narrow frames
		flame_fill(context, colors["kind-noname"], at, y, 1, high);
	if (node < 0)
		return;
	const frame = tree.frame[node], change = app.changed ? flame_change(app, frame) : "", kind = change || kinds_of(app.model, frame)[0], hit = app.hits && app.hits[frame];
	const faded = tree.depth[node] <= tree.depth[zoom] && node && node !== zoom;
	if (faded)
		context.globalAlpha = 0.55;
	flame_fill(context, hit ? colors.match : colors["kind-" + kind], x, y, width, high);
	if (kind === "kernel" && width > 4) // not by colour alone
		flame_fill(context, colors["frame-edge"], x, y, 2, high);
	if (change === "shrunk" && app.changed[frame].ratio === 0) // hatched: it is gone
		for (let at = x + 2; at < x + width; at += 6)
			flame_fill(context, colors["frame-edge"], at, y, 1, high);
	if (kind === "wait")
		flame_fill(context, colors["frame-edge"], x, y, width, 2);
	if (faded)
		context.globalAlpha = 1;
	if (place.width >= FLAME_TEXT_LEAST) {
		const sign = change === "grown" ? "\u25b2 " : change === "shrunk" ? "\u25bc " : "";
		context.fillStyle = hit ? colors.ground : colors.text;
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
	const { layout, colors, scroll } = flame, canvas = el("canvas"), width = scroll.clientWidth, height = Math.min(FLAME_HIGHEST, layout.rows * FLAME_ROW), context = dom_canvas(canvas, width, height);
	dom_fill(context, colors.ground, 0, 0, width, height);
	for (const place of layout.frames)
		flame_frame(flame, context, place, place.row * FLAME_ROW);
	return canvas;
}

// The same as text: what draws on a canvas writes elements.
export function flame_svg(flame) {
	const list = [], safe = (text) => text.replace(/[&<>"\u0000-\u001f]/g, (c) => "&#" + Math.max(32, c.charCodeAt(0)) + ";");
	const width = flame.scroll.clientWidth, height = flame.layout.rows * FLAME_ROW, pen = { globalAlpha: 1, fillStyle: flame.colors.ground, strokeRect: () => {},
		fillRect: (x, y, w, h) => list.push(`<rect x="${x}" y="${y}" width="${w}" height="${h}" fill="${pen.fillStyle}" opacity="${pen.globalAlpha}"/>`),
		fillText: (text, x, y) => list.push(`<text x="${x.toFixed(1)}" y="${y + 4}" fill="${pen.fillStyle}">${safe(text)}</text>`) };
	list.push(`<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" font-family="monospace" font-size="11.5">`);
	pen.fillRect(0, 0, width, height);
	for (const place of flame.layout.frames) {
		list.push("<g><title>" + safe(flame_text(flame, place.node, place)) + "</title>");
		flame_frame(flame, pen, place, place.row * FLAME_ROW);
		list.push("</g>");
	}
	return list.join("\n") + "\n</svg>\n";
}

// The result of two compared ranges for a frame's function: "grown", "shrunk", "noname": not more than chance; "": it is of none.
function flame_change(app, frame) {
	const row = app.changed?.[frame];
	return frame < 0 ? "" : !row || row.result < 2 ? "noname" : row.ratio > 1 ? "grown" : "shrunk";
}

// ---- the mouse ----

function flame_at({ canvas, scroll, layout }, event) {
	const box = canvas.getBoundingClientRect();
	return layout_find(layout, event.clientX - box.left, Math.floor((event.clientY - box.top + scroll.scrollTop) / FLAME_ROW));
}

// place: what the mouse is over; none: it left the graph.
function flame_hover(flame, event, place) {
	if (place !== flame.hover) {
		flame.hover = place;
		flame_draw(flame);
	}
	dom_tip(flame.tip, event, place && flame_text(flame, place.node, place));
}

function flame_click(flame, event) {
	const place = flame_at(flame, event);
	if (place?.node >= 0)
		flame_go(flame, place.node, place);
}

// Over time, selects that of the call; else shows the frame over the full width.
export function flame_zoom(flame, node) {
	const when = node === flame.current && flame_when(flame, flame.at);
	flame.app.change(when ? { times: [when] } : { zoom: link_names(tree_path(flame.app.tree, node).map((n) => tree_name(flame.app.model, flame.app.tree, n))) }, true);
	flame_go(flame, node);
}

// The node that the zoom of a view means; as far as there are such nodes.
export function flame_find_zoom(model, tree, text) {
	let node = 0;
	for (const name of link_names_of(text)) {
		const next = tree.callees.subarray(tree.first[node], tree.first[node + 1]).find((callee) => tree_name(model, tree, callee) === name);
		if (next === undefined)
			return node;
		node = next;
	}
	return node;
}

// ---- words and keys ----

// Over time, the time of a call; null: it is none of one call.
const flame_when = ({ layout: { us } }, place) => us && place?.node ? [us(place.x), Math.max(us(place.x) + 1, us(place.x + place.width))] : null;

// place: of layout.frames.
export function flame_text(flame, node, place) {
	if (node < 0)
		return "frames too narrow to draw: zoom in to see them";
	const { app } = flame, { model, tree, total, self, counted } = app, frame = tree.frame[node], row = app.changed?.[frame], time = flame_when(flame, place);
	return [tree_name(model, tree, node), frame < 0 ? "" : model.objects.base[model.frames.object[frame]], time ? "at " + words_moment(time[0], 1) + " for " + words_length(time[1] - time[0]) : "",
		words_percent(total[node], counted.sum), words_weight(total[node], app.measure.unit), row ? "function " + words_percent(row.share[0], 1) + " before and " + words_percent(row.share[1], 1) + " after: " +
			changes_ratio(row.ratio) + " (" + changes_interval(row) + "), " + COMPARE_RESULTS[row.result] : "", self[node] ? words_percent(self[node], counted.sum) + " itself" : ""].filter(Boolean).join(", ");
}

// Callees that have weight, the heaviest first.
const flame_callees = ({ tree, total }, node) => [...tree.callees.subarray(tree.first[node], tree.first[node + 1])].filter((callee) => total[callee]).sort((a, b) => total[b] - total[a]);

// The frames of one caller.
const flame_siblings = (app, node) => node ? flame_callees(app, app.tree.parent[node]) : [0];

export function flame_go(flame, node, place = flame_first(flame, node)) {
	const top = place?.row * FLAME_ROW, view = flame.scroll;
	flame.current = node;
	flame.at = place;
	if (place && (top < view.scrollTop || top + FLAME_ROW > view.scrollTop + view.clientHeight))
		view.scrollTop = Math.max(0, top - view.clientHeight / 2);
	flame_draw(flame);
	flame_describe(flame);
	flame.app.chose(node);
}

// For a screen reader: the path to the current frame, the frame, and what it calls.
export function flame_describe(flame) {
	const { app, current, items, at } = flame, { tree } = app, path = [0, ...tree_path(tree, current)];
	const item = (node, beside, open) => el("li", { role: "treeitem", id: node === current ? "flame-current" : null, "aria-level": tree.depth[node] + 1,
		"aria-posinset": beside.indexOf(node) + 1, "aria-setsize": beside.length, "aria-selected": String(node === current),
		"aria-expanded": tree.first[node] < tree.first[node + 1] ? String(open) : null }, flame_text(flame, node, node === current ? at : null));
	const callees = flame_callees(app, current);
	items.replaceChildren(...path.map((node) => item(node, flame_siblings(app, node), true)), ...callees.slice(0, FLAME_ITEMS).map((node) => item(node, callees, false)));
	items.setAttribute("aria-activedescendant", "flame-current");
}

function flame_step(app, node, by) {
	const beside = flame_siblings(app, node);
	if (app.view.place === "name") // as they lie in the picture
		beside.sort((a, b) => app.tree.place[a] - app.tree.place[b]);
	return beside[beside.indexOf(node) + by] ?? node;
}

// Over time: the call beside this one, or the first one above or below it.
function flame_beside({ layout: { frames }, at, turned }, key) {
	const row = at.row + ({ ArrowUp: -1, ArrowDown: 1 }[key] || 0) * (turned ? -1 : 1), own = frames.filter((other) => other.row === row && other.node >= 0).sort((a, b) => a.x - b.x);
	return (row !== at.row ? own.find((other) => other.x + other.width > at.x && other.x < at.x + at.width) : own[own.indexOf(at) + (key === "ArrowLeft" ? -1 : 1)]) || at;
}

function flame_key(flame, event) {
	const { app } = flame, node = flame.current, key = (flame.turned && { ArrowUp: "ArrowDown", ArrowDown: "ArrowUp" }[event.key]) || event.key;
	if (dom_is_shortcut(event))
		return;
	if (flame.layout.us && flame.at && key.startsWith("Arrow")) {
		const place = flame_beside(flame, key);
		flame_go(flame, place.node, place);
		return event.preventDefault();
	}
	const to = { ArrowUp: () => (node === app.zoom ? node : app.tree.parent[node]), ArrowDown: () => flame_callees(app, node)[0] ?? node,
		ArrowLeft: () => flame_step(app, node, -1), ArrowRight: () => flame_step(app, node, 1), Home: () => app.zoom }[key];
	if (to)
		flame_go(flame, to());
	else if (key === "Enter")
		flame_zoom(flame, flame.current);
	else if (key === "Backspace" || key === "0")
		flame_zoom(flame, key === "0" ? 0 : app.tree.parent[app.zoom]);
	else
		return;
	event.preventDefault();
}
