// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
// detail - what is known of the frame that was chosen, and what can be done with it
import { dom_button, el } from "./dom.mjs";
import { KINDS } from "../data/kinds.mjs";
import { match_exactly } from "../data/match.mjs";
import { tree_name } from "../count/tree.mjs";
import { words_percent, words_weight } from "../data/words.mjs";

export function detail_make(app) {
	return { app, element: el("div", { class: "detail" }) };
}

function detail_facts(app, node) {
	const { model, tree } = app, frame = tree.frame[node], unit = app.measure.unit;
	const facts = [["total", words_weight(app.total[node], unit) + ", " + words_percent(app.total[node], app.counted.sum) + " of the selection, " +
		words_percent(app.total[node], app.sum) + " of all"],
		["itself", words_weight(app.self[node], unit) + ", " + words_percent(app.self[node], app.counted.sum)]];
	if (frame < 0)
		return facts;
	const object = model.frames.object[frame], kind = app.kinds[frame];
	facts.push(["file", model.objects.path[object]], ["kind", KINDS.find((k) => k[0] === kind)[1]]);
	if (model.objects.build_id[object])
		facts.push(["build id", model.objects.build_id[object]]);
	if (model.frames.line[frame])
		facts.push(["line", model.frames.line[frame]]);
	if (model.frames.reason[frame])
		facts.push(["no name", model.frames.reason[frame]]);
	return facts;
}

function detail_actions(app, node) {
	const { model, tree } = app, frame = tree.frame[node], name = tree_name(model, tree, node);
	const choose = (text, option, key, value) => dom_button(text, () => app.change({ [key]: value }), option);
	const list = [];
	if (node !== app.zoom)
		list.push(dom_button("zoom", () => app.zoom_to(node), "show it over the full width (Enter)"));
	if (app.zoom)
		list.push(dom_button("zoom out", () => app.zoom_to(0), "show all (0)"));
	if (frame < 0)
		return list;
	const exactly = match_exactly(name), path = model.objects.path[model.frames.object[frame]];
	list.push(dom_button("around it", () => app.change({ around: name, zoom: "" }, true), "what it called (--callees), and from the bottom up its callers (--callers)"),
		dom_button("hide", () => app.hide("hide", name), "leave its frames out of the graph; what it called is its caller's then"),
		dom_button("hide its file", () => app.hide("hide_file", path), path),
		dom_button("find", () => app.find(frame), "mark it everywhere"),
		choose("only where it ran", "--symbol", "symbol", exactly),
		choose("only what it called", "--parent", "parent", exactly),
		choose("leave out what it called", "--parent '!...'", "parent", "!" + exactly),
		choose("only its file", "--dso", "dso", match_exactly(path)));
	return list;
}

export function detail_update(detail, node) {
	const { app } = detail;
	detail.element.replaceChildren(
		el("h3", null, tree_name(app.model, app.tree, node)),
		el("dl", null, ...detail_facts(app, node).flatMap(([key, value]) => [el("dt", null, key), el("dd", null, value)])),
		el("div", { class: "buttons" }, ...detail_actions(app, node)));
}
