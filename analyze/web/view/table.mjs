// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
// table - a list of rows as a table: the first ones, and more of them on demand
import { dom_button, el } from "./dom.mjs";
import { words_count } from "../data/words.mjs";

const TABLE_MORE = 200;

// spec: label; class; first: how many rows stand there at first; columns, each with text (or a function that returns it),
// number: it has numbers, code: it has names, cell(row): what stands in it, and where one can sort by it key and compare(a, b);
// row(row): attributes of a row; sort_by(key): a head was chosen.
export function table_make(spec) {
	const table = { spec, list: [], shown: spec.first, body: el("tbody"), caption: el("caption", { class: "quiet" }) };
	table.heads = spec.columns.map(({ number, key, text }) => el("th", { scope: "col", class: number ? "number" : null },
		key ? dom_button(text, () => spec.sort_by(key)) : null));
	table.more = dom_button("", () => { table.shown += TABLE_MORE; table_show(table); }, null, "more");
	table.element = el("div", { class: spec.class }, el("div", { class: "table-scroll", tabindex: "0", role: "region", "aria-label": spec.label },
		el("table", null, table.caption, el("thead", null, el("tr", null, ...table.heads)), table.body)), table.more);
	return table;
}

// key: of the column by which rows are sorted; none: they stand in their order.
export function table_set(table, list, caption, key) {
	const sorted = table.spec.columns.find((column) => key && column.key === key);
	table.list = sorted ? [...list].sort(sorted.compare) : list;
	table.caption.textContent = caption;
	table.spec.columns.forEach(({ text, key: own, number }, i) => {
		if (own)
			table.heads[i].setAttribute("aria-sort", own !== key ? "none" : number ? "descending" : "ascending");
		else
			table.heads[i].textContent = typeof text === "function" ? text() : text;
	});
	table_show(table);
}

function table_show(table) {
	const { spec, list } = table;
	const cell = (column, row) => {
		const content = column.cell(row);
		return content instanceof HTMLTableCellElement ? content : el("td", { class: column.number ? "number" : column.code ? "code" : null }, ...[content].flat());
	};
	table.body.replaceChildren(...list.slice(0, table.shown).map((row) => el("tr", spec.row?.(row), ...spec.columns.map((column) => cell(column, row)))));
	table.more.hidden = list.length <= table.shown;
	table.more.textContent = "show more of " + words_count(list.length);
}
