// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
// table - a list of rows as a table: the first ones, and more of them on demand
import { dom_button, el } from "./dom.mjs";
import { words_count } from "../data/words.mjs";

const TABLE_MORE = 200;

// spec: label; class; first: how many rows stand there at first; row(row): its class; key: of the column by which they are sorted; sort_by(key): what choosing
// a head does, if more than sorting; columns, each [text (or a function that returns it), cell(row): what stands in it, class, and where one can sort by it key and compare(a, b)].
export function table_make(spec) {
	/** @type {any} */
	const table = { spec, key: spec.key, list: [], shown: spec.first, body: el("tbody"), caption: el("caption.quiet") };
	table.heads = spec.columns.map(([text, , kind, key]) => el("th", { scope: "col", class: kind }, key ? dom_button(text, () => (spec.sort_by ? spec.sort_by(key) : table_set(table, table.list, table.caption.textContent, key))) : ""));
	table.more = dom_button("", () => { table.shown += TABLE_MORE; table_show(table); }, null, "more");
	table.element = el("div", { class: spec.class }, el("div.table-scroll", { tabindex: "0", role: "region", "aria-label": spec.label },
		el("table", table.caption, el("thead", el("tr", ...table.heads)), table.body)), table.more);
	return table;
}

// key: of the column by which rows are sorted from now on; none: they stand in their order.
export function table_set(table, list, caption, key = table.key) {
	const { columns } = table.spec, sorted = key && columns.find((column) => column[3] === key);
	table.key = key;
	table.list = sorted ? list.toSorted(sorted[4]) : list;
	table.caption.textContent = caption;
	columns.forEach(([text, , kind, own], i) => {
		if (own)
			table.heads[i].setAttribute("aria-sort", own !== key ? "none" : kind ? "descending" : "ascending");
		else
			table.heads[i].textContent = typeof text === "function" ? text() : text;
	});
	table_show(table);
}

function table_show({ spec, list, shown, body, more }) {
	body.replaceChildren(...list.slice(0, shown).map((row) => el("tr", { class: spec.row?.(row) }, ...spec.columns.map(([, cell, kind]) => el("td", { class: kind }, ...[cell(row)].flat())))));
	more.hidden = list.length <= shown;
	more.textContent = "show more of " + words_count(list.length);
}
