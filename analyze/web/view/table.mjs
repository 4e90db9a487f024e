// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
// table - functions by cost, as `ebprec report` has them
import { el } from "./dom.mjs";
import { functions_is_kernel } from "../count/functions.mjs";
import { words_count, words_percent } from "../data/words.mjs";

const TABLE_ROWS = 40, TABLE_MORE = 400;

const TABLE_SORTS = {
	self: (a, b) => b.self - a.self || b.total - a.total || a.row - b.row,
	total: (a, b) => b.total - a.total || b.self - a.self || a.row - b.row,
	name: (a, b) => a.row - b.row,
};

export function table_make(app) {
	const table = { app, list: [], shown: TABLE_ROWS, heads: {} };
	const head = (key, text, numeric) => {
		const button = el("button", { type: "button", onclick: () => app.change((state) => { state.view.sort = key; }) }, text);
		table.heads[key] = el("th", { scope: "col", class: numeric ? "number" : null }, button);
		return table.heads[key];
	};
	table.unit = el("th", { scope: "col", class: "number" });
	table.body = el("tbody", { onclick: (event) => table_click(table, event) });
	table.caption = el("caption", { class: "quiet" });
	table.more = el("button", { type: "button", class: "more", onclick: () => { table.shown += TABLE_MORE; table_update(table); } });
	table.element = el("div", { class: "functions" },
		el("div", { class: "table-scroll", tabindex: "0", role: "region", "aria-label": "Table of functions" }, el("table", null, table.caption,
			el("thead", null, el("tr", null, head("self", "self", true), head("total", "total", true),
				table.unit,
				el("th", { scope: "col" }, "object"), head("name", "function", false))),
			table.body)), table.more);
	return table;
}

export function table_set(table, list) {
	table.list = list;
	table_update(table);
}

function table_row(table, r) {
	const { model } = table.app, sum = table.app.counted.sum, name = model.frames.name[r.frame];
	const hit = table.app.hits && table.app.hits[r.frame];
	const bar = el("span", { class: "bar", "aria-hidden": "true" });
	bar.style.width = (sum ? 100 * r.total / sum : 0) + "%";
	const self = el("span", { class: "bar self", "aria-hidden": "true" });
	self.style.width = (sum ? 100 * r.self / sum : 0) + "%";
	return el("tr", { class: hit ? "hit" : null },
		el("td", { class: "number" }, words_percent(r.self, sum)),
		el("td", { class: "number barred" }, bar, self, el("span", { class: "over" }, words_percent(r.total, sum))),
		el("td", { class: "number" }, words_count(r.self)),
		el("td", { class: "object", title: model.objects.path[model.frames.object[r.frame]] }, model.objects.base[model.frames.object[r.frame]]),
		el("td", null, el("button", { type: "button", class: "name", "data-frame": r.frame, title: "find " + name },
			functions_is_kernel(model, r.frame) && table.app.kinds[r.frame] !== "wait" ? el("span", { class: "tag" }, "kernel") : null, name)));
}

export function table_update(table) {
	const sort = table.app.state.view.sort, list = [...table.list].sort(TABLE_SORTS[sort]);
	for (const [key, head] of Object.entries(table.heads))
		head.setAttribute("aria-sort", key === sort ? (key === "name" ? "ascending" : "descending") : "none");
	table.body.replaceChildren(...list.slice(0, table.shown).map((r) => table_row(table, r)));
	table.unit.textContent = table.app.measure.unit;
	table.caption.textContent = words_count(list.length) + " functions";
	table.more.hidden = list.length <= table.shown;
	table.more.textContent = "show more of " + words_count(list.length);
}

function table_click(table, event) {
	const button = event.target.closest("button[data-frame]");
	if (button)
		table.app.find(Number(button.dataset.frame));
}
