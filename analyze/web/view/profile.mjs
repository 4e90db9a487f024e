// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
// profile - functions by cost, as `ebprec report` has them
import { FUNCTIONS_ORDERS } from "../count/functions.mjs";
import { kinds_of } from "../data/kinds.mjs";
import { match_exactly } from "../data/match.mjs";
import { FRAME_KERNEL } from "../data/model.mjs";
import { words_count, words_many, words_percent } from "../data/words.mjs";
import { dom_bar, dom_button, dom_section, el } from "./dom.mjs";
import { table_make, table_set } from "./table.mjs";

export function profile_make(app) {
	const { objects, frames } = app.model, share = (weight) => words_percent(weight, app.counted.sum), { self, total, name } = FUNCTIONS_ORDERS;
	const table = table_make({ label: "Table of functions", class: "functions", first: 40, sort_by: (key) => app.change({ sort: key }), row: (r) => (app.hits?.[r.frame] ? "hit" : null), columns: [
		["self", (r) => share(r.self), "number", "self", self],
		["total", (r) => [dom_bar("bar", r.total, app.counted.sum), dom_bar("bar self", r.self, app.counted.sum), el("span.over", share(r.total))], "number barred", "total", total],
		[() => app.measure.unit, (r) => words_count(r.self), "number"],
		["object", (r) => el("div.object", { title: objects.path[frames.object[r.frame]] }, objects.base[frames.object[r.frame]])],
		["function", (r) => profile_name(app, r.frame), null, "name", name],
		...(frames.line.some(Boolean) ? [["line", (r) => frames.line[r.frame]]] : []),
	] });
	return { app, table, list: [], element: dom_section("functions", "Functions", null, table.element) };
}

// A function, with a click on which it is found everywhere.
export function profile_name(app, frame) {
	const { name: names, flags } = app.model.frames, name = names[frame], button = dom_button(name, () => app.change({ search: match_exactly(name) }), "find " + name, "name");
	if (flags[frame] & FRAME_KERNEL && kinds_of(app.model, frame)[0] !== "wait")
		button.prepend(el("span.tag", "kernel"));
	return button;
}

export function profile_set(profile, list) {
	profile.list = list;
	table_set(profile.table, list, words_many(list.length, "functions"), profile.app.view.sort);
}
