// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
// profile - functions by cost, as `ebprec report` has them
import { functions_is_kernel } from "../count/functions.mjs";
import { words_count, words_percent } from "../data/words.mjs";
import { dom_button, dom_section, el } from "./dom.mjs";
import { table_make, table_set } from "./table.mjs";

export function profile_make(app) {
	const { model } = app, share = (weight) => words_percent(weight, app.counted.sum);
	const bar = (weight, kind) => {
		const element = el("span", { class: "bar" + kind, "aria-hidden": "true" });
		element.style.width = (app.counted.sum ? 100 * weight / app.counted.sum : 0) + "%";
		return element;
	};
	const profile = { app, list: [] };
	profile.table = table_make({ label: "Table of functions", first: 40,
		sort_by: (key) => app.change({ sort: key }),
		row: (r) => ({ class: app.hits?.[r.frame] ? "hit" : null }),
		columns: [
			{ text: "self", number: true, key: "self", compare: (a, b) => b.self - a.self || b.total - a.total || a.row - b.row, cell: (r) => share(r.self) },
			{ text: "total", number: true, key: "total", compare: (a, b) => b.total - a.total || b.self - a.self || a.row - b.row,
				cell: (r) => el("td", { class: "number barred" }, bar(r.total, ""), bar(r.self, " self"), el("span", { class: "over" }, share(r.total))) },
			{ text: () => app.measure.unit, number: true, cell: (r) => words_count(r.self) },
			{ text: "object", cell: (r) => el("td", { class: "object", title: model.objects.path[model.frames.object[r.frame]] }, model.objects.base[model.frames.object[r.frame]]) },
			{ text: "function", key: "name", compare: (a, b) => a.row - b.row, cell: (r) => profile_name(app, r.frame) },
		] });
	profile.element = dom_section("functions", "Functions", profile.table.element);
	return profile;
}

// A function, with a click on which it is found everywhere.
export function profile_name(app, frame) {
	const name = app.model.frames.name[frame], button = dom_button(name, () => app.find(frame), "find " + name, "name");
	if (functions_is_kernel(app.model, frame) && app.kinds[frame] !== "wait")
		button.prepend(el("span", { class: "tag" }, "kernel"));
	return button;
}

export function profile_set(profile, list) {
	profile.list = list;
	table_set(profile.table, list, words_count(list.length) + " functions", profile.app.state.view.sort);
}
