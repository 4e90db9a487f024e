// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
// detail - what is known of the frame that was chosen, and what can be done with it
import { dom_button, el } from "./dom.mjs";
import { flame_zoom } from "./flame.mjs";
import { kinds_of } from "../data/kinds.mjs";
import { link_names, link_names_of } from "../data/link.mjs";
import { match_exactly } from "../data/match.mjs";
import { tree_name } from "../count/tree.mjs";
import { words_percent, words_weight } from "../data/words.mjs";

export const detail_make = (app) => ({ app, element: el("div.detail") });

function detail_facts({ model, tree, measure, total, self, counted, sum }, node) {
	const { objects, frames } = model, frame = tree.frame[node], object = frames.object[frame], weight = (n) => words_weight(n, measure.unit) + ", ";
	const facts = [["total", weight(total[node]) + words_percent(total[node], counted.sum) + " of the selection, " + words_percent(total[node], sum) + " of all"],
		["itself", weight(self[node]) + words_percent(self[node], counted.sum)]];
	if (frame >= 0)
		facts.push(["file", objects.path[object]], ["kind", kinds_of(model, frame)[1]], ["build id", objects.build_id[object]], ["no name", frames.reason[frame]]);
	return facts.filter(([, text]) => text);
}

function detail_actions(app, node) {
	const { model, tree, zoom, flame, view } = app, frame = tree.frame[node], name = tree_name(model, tree, node), exactly = match_exactly(name), path = model.objects.path[model.frames.object[frame]];
	const choose = (text, title, edit) => dom_button(text, () => app.change(edit, true), title), hide = (what) => ({ hide: link_names([...new Set([...link_names_of(view.hide), what])]) });
	const list = node === zoom ? [] : [dom_button("zoom", () => flame_zoom(flame, node), "show it over the full width (Enter)")];
	if (zoom)
		list.push(dom_button("zoom out", () => flame_zoom(flame, 0), "show all (0)"));
	return frame < 0 ? list : [...list,
		choose("around it", "what it called; from the bottom up, its callers", { around: name, zoom: "" }),
		choose("hide", "leave its frames out of the graph", hide(name)),
		choose("hide its file", path, hide(path)),
		choose("find", null, { search: exactly }),
		choose("only where it ran", "--symbol", { symbol: exactly }),
		choose("only what it called", "--parent", { parent: exactly }),
		choose("leave out what it called", "--parent '!...'", { parent: "!" + exactly }),
		choose("only its file", "--dso", { dso: match_exactly(path) })];
}

export function detail_update({ app, element }, node) {
	element.replaceChildren(el("h3", tree_name(app.model, app.tree, node)), el("dl", ...detail_facts(app, node).flatMap(([key, value]) => [el("dt", key), el("dd", value)])),
		el("div.buttons", ...detail_actions(app, node)));
}
