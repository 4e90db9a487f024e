// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
// page - puts the parts together: one state, and what is counted and drawn again when it changes
import { bytes_from_base64 } from "./data/bytes.mjs";
import { changes_baseline, changes_ranges, changes_make, changes_show } from "./view/changes.mjs";
import { command_around, command_lacks, command_line } from "./data/command.mjs";
import { count_by_stack } from "./count/count.mjs";
import { counting_make } from "./view/counting.mjs";
import { detail_make, detail_update } from "./view/detail.mjs";
import { dom_button, dom_command, dom_is_shortcut, dom_legend, dom_section, el } from "./view/dom.mjs";
import { filter_all, filter_join_times, filter_make } from "./data/filter.mjs";
import { flame_describe, flame_find_zoom, flame_go, flame_make, flame_picture, flame_svg, flame_update } from "./view/flame.mjs";
import { folded_text } from "./count/folded.mjs";
import { functions_by_line, functions_csv, functions_outermost, functions_table } from "./count/functions.mjs";
import { KINDS } from "./data/kinds.mjs";
import { list_sum, list_within, map_get } from "./data/lists.mjs";
import { link_names, link_names_of, link_read, link_write, LINK_VIEW } from "./data/link.mjs";
import { marking_make } from "./view/marking.mjs";
import { measure_make } from "./count/measure.mjs";
import { match_frames, match_weight } from "./data/match.mjs";
import { model_is_part, model_load, model_part } from "./data/model.mjs";
import { overview_draw, overview_make, overview_update } from "./view/overview.mjs";
import { processing_make } from "./view/processing.mjs";
import { profile_make, profile_set } from "./view/profile.mjs";
import { tree_grow, tree_weigh } from "./count/tree.mjs";
import { waiting_make } from "./view/waiting.mjs";
import { waits_csv } from "./count/waits.mjs";
import { words_length, words_percent, words_weight } from "./data/words.mjs";

const REST_MS = 120;

const page_text = (id) => document.getElementById(id)?.textContent;
const page_part = (head, data) => model_load(page_text(head), (i) => page_text(data + i));

export async function page_start() {
	/** @type {any} */
	const page = { instruments: [], summary: document.getElementById("summary"), given: document.getElementById("given"), sizes: new ResizeObserver(() => page_size(page.app)) }, { instruments } = page;
	try {
		page.main = await page_part("head", "d");
		for (let head; (head = page_text("of" + (instruments.length + 1)));)
			instruments.push(JSON.parse(head).of);
		LINK_VIEW.measure.splice(1, page.main.waits ? 0 : Infinity, ...instruments.map((name) => [name, name]));
		await page_open(page, page_linked(page));
	} catch (error) {
		page_refuse(error);
		return;
	}
	window.addEventListener("hashchange", () => page_show(page.app, page_linked(page)));
	matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => page_change(page.app, { tree: true }));
	document.addEventListener("keydown", (event) => page_key(page.app, event));
}

function page_refuse(error) {
	document.body.prepend(el("p.broken", { role: "alert" }, "This page cannot be shown: " + error.message + ". Its text is below."));
}

// Begins anew with the part of the page that has what the state is of: the samples of an instrument, or those of the event and all else.
async function page_open(page, state) {
	const { main, instruments } = page, n = instruments.indexOf(state.view.measure), id = "of" + (n + 1), before = page.app;
	page.state = state;
	const model = n < 0 ? main : { ...await page_part(id, id + "-"), marks: main.marks, processes: main.processes, counters: main.counters };
	if (page.state !== state)
		return; // another one was asked for meanwhile
	const chosen = before && document.activeElement === before.controls.measure;
	before?.element.remove();
	page.app = page_make(page, model, instruments[n]);
	page_build(page.app);
	page.sizes.disconnect();
	for (const element of [document.body, page.app.flame.scroll]) // a scroll bar of it came or went
		page.sizes.observe(element);
	page_show(page.app, state);
	if (chosen)
		page.app.controls.measure.focus();
}

// Draws again where the room for pictures is another; what stands below them may be higher or lower.
function page_size(app) {
	const { clientWidth, clientHeight } = app.flame.scroll, size = [document.body.clientWidth, clientWidth, clientHeight].join();
	if (app.size !== size)
		page_change(app, {});
	app.size = size;
}

// of: the instrument whose samples these are; undefined: those of the event.
function page_make(page, model, of) {
	/** @type {any} */
	const app = { page, model, of, ...link_read(""), span_us: model.head.span_us + 1, controls: {} }, measured = new Map();
	app.sampled_sum = list_sum(model.tasks.weight);
	app.measures = (name) => map_get(measured, name, () => measure_make(model, name));
	app.measure = app.measures("cpu");
	// Sets what the edit names of the selection and of the view.
	app.change = (edit, history) => {
		for (const [key, value] of Object.entries(edit))
			(key in app.selection ? app.selection : app.view)[key] = value;
		app.push ||= history;
		page_change(app, {});
	};
	app.select = (from_us, to_us) => {
		const from = list_within(Math.floor(from_us), 0, app.span_us - 1);
		app.change({ times: [[from, list_within(Math.ceil(to_us), from + 1, app.span_us)]] }, true);
	};
	app.redraw = () => page_change(app, { changes: true });
	app.chose = (node) => detail_update(app.detail, node);
	return app;
}

// ---- what stands on the page ----

function page_build(app) {
	const { model, page: { summary, given } } = app, { head, waits, processes, marks, counters } = model;
	app.flame = flame_make(app);
	app.profile = profile_make(app);
	app.overview = overview_make(app);
	app.changes = changes_make(app);
	app.waiting = waits && waiting_make(app);
	app.views = [app.changes, app.waiting, app.profile, processes && processing_make(app), marks && marking_make(app), counters && counting_make(app)].filter(Boolean);
	app.detail = detail_make(app);
	app.chips = el("div.chips", { role: "group", "aria-label": "Selection" });
	app.share = el("p.selected", { "aria-live": "polite" });
	app.command = dom_command();
	app.matched = el("span.matched", { "aria-live": "polite" });
	page_data("ready", "no");
	summary.tabIndex = 0; // it scrolls
	app.help = el("details", el("summary", "Keys, and all as text"), page_keys(), summary);
	app.element = el("main",
		el("header", el("div", el("h1", head.file), el("p.quiet", head.facts)), el("div.buttons", dom_button("keys (?)", () => page_help(app)), page_select(app, "theme", "theme"))),
		page_quality(head, app.waiting),
		dom_section("time", "When", page_axis(app), app.overview.element, app.overview.legend),
		el("div.selection", app.chips, app.share),
		dom_section("calls", "Calls", page_tools(app), app.flame.element, page_legend(app), app.detail.element),
		...app.views.map((view) => view.element),
		dom_section("command", "The same in a terminal", null, app.command.line, page_files(app), given),
		app.help);
	document.body.prepend(app.element);
}

// Saves a text or other bytes as a file.
function page_save(name, contents) {
	const href = URL.createObjectURL(contents instanceof Blob ? contents : new Blob([contents], { type: "text/plain" }));
	el("a", { href, download: name }).click();
	setTimeout(() => URL.revokeObjectURL(href), 1000);
}

function page_folded({ model, measure, filter }) {
	const tree = tree_grow(model, measure.rows, "comm", false);
	return folded_text(model, tree, tree_weigh(tree, measure.count(filter, tree.slots, tree.ends.length).weights).self);
}

function page_files(app) {
	const save = (text, name, make) => dom_button("save " + text, async () => page_save(name, await make())), carried = document.getElementById("capture");
	return el("div.buttons", carried ? save("the capture", "ebprec.data", () => new Blob([bytes_from_base64(carried.textContent)])) : "",
		save("the graph as PNG", "graph.png", () => new Promise((done) => flame_picture(app.flame).toBlob(done))),
		save("the graph as SVG", "graph.svg", () => flame_svg(app.flame)),
		save("stacks as folded lines", "stacks.folded", () => page_folded(app)),
		save("functions as CSV", "functions.csv", () => functions_csv(app.model, app.profile.list, app.by_line)),
		app.waiting ? save("waits as CSV", "waits.csv", () => waits_csv(app.waiting.list)) : "");
}

// A list that sets the view's key; zooms: a zoom is of one value of it alone.
function page_select(app, key, label, zooms) {
	const select = app.controls[key] = el("select", { onchange: () => app.change({ [key]: select.value, ...(zooms ? { zoom: "" } : null) }) }, ...LINK_VIEW[key].map(([value, text]) => el("option", { value }, text)));
	return el("label", label + " ", select);
}

function page_quality(head, waiting) {
	return el("section.quality", { "aria-label": "Account and trust" },
		waiting ? waiting.account : "", el("ul", ...head.verdict.map((line) => el("li", { class: line[0] === " " ? "cause" : null }, line.trim()))));
}

// The tools of the overview: selecting time and looking closer are two things.
function page_axis(app) {
	app.closer = dom_button("look closer", () => page_look(app, true), "show the selected time alone (+)");
	app.farther = dom_button("all of the time", () => page_look(app, false));
	return el("div.tools", el("span.quiet", "bars: " + app.model.head.weight + "; drag to select time"), app.farther, app.closer, page_select(app, "rows", "rows"));
}

function page_look(app, closer) {
	const { times } = app.selection;
	app.change({ axis: closer && times.length ? times[0][0] + "-" + times.at(-1)[1] : "" }, true);
}

function page_tools(app) {
	const search = app.controls.search = el("input", { type: "search", placeholder: "find functions (/)", "aria-label": "regular expression of functions", spellcheck: "false", autocomplete: "off", oninput: () => app.change({ search: search.value }) });
	app.sides = page_select(app, "side", "of the time");
	return el("div.tools", app.sides, search, app.matched, LINK_VIEW.measure.length > 1 ? page_select(app, "measure", "show", true) : "",
		page_select(app, "group", "by", true), page_select(app, "order", "from", true), page_select(app, "root", "root at"), page_select(app, "place", "ordered by"));
}

function page_legend(app) {
	const narrow = ["narrow", "too narrow to draw"];
	app.legends = [dom_legend("Colours", [...KINDS, narrow], "kind-"), dom_legend("Colours of changes", [KINDS[0], ["grown", "\u25b2 more than before"],
		["shrunk", "\u25bc less"], ["gone", "\u25bc gone"], ["noname", "not more than chance"], narrow], "kind-")];
	return el("div", ...app.legends);
}

function page_keys() {
	const keys = [["drag", "select time; Shift: one more range, Alt: what to compare it with; double click: all"], ["/", "find functions; capitals as they are"], ["Esc", "find nothing, then select all"],
		["[ ]", "shorten, lengthen the selected time"], ["h l", "move it"], ["arrows over time", "read a row at a moment"], ["+ -", "show the selected time alone, all of it"], ["arrows", "walk the graph: callers up, callees down"],
		["Enter", "zoom; over time, select the call's"], ["Backspace, 0", "zoom out"], ["i", "turn the graph around"], ["r", "fold recursion"], ["d", "dark or light"], ["?", "this list"]];
	return el("dl.keys", ...keys.flatMap(([key, text]) => [el("dt", key), el("dd", text)]));
}

function page_help({ help }) {
	help.open = true;
	help.firstChild.focus();
	help.scrollIntoView();
}

// An attribute of the document, by which styles choose: set again, even to the same, all of them are chosen anew.
function page_data(key, value) {
	const { dataset } = document.documentElement;
	if (dataset[key] !== value)
		dataset[key] = value;
}

// ---- from a state to what is shown ----

// what: parts that must be made again though the state is the same.
function page_change(app, what) {
	app.what = { ...app.what, ...what };
	app.pending ||= requestAnimationFrame(() => {
		app.pending = null;
		page_link(app);
		if ((app.page.instruments.includes(app.view.measure) ? app.view.measure : undefined) !== app.of)
			return page_open(app.page, { selection: app.selection, view: app.view }).catch(page_refuse);
		page_update(app);
		app.what = {};
		page_data("ready", "yes");
	});
}

// The samples that the graph shows: the selection, or the same of the time that it is compared with.
function page_shown(app) {
	const baseline = changes_baseline(app), { selection, view: { side } } = app;
	return !baseline || side === "after" ? selection : { ...selection, times: filter_join_times(side === "both" ? [baseline, ...changes_ranges(app).slice(1)] : [baseline]), during: "" };
}

// Returns what is wrong with the selection; its expressions are left out then.
function page_filter(app) {
	const shown = page_shown(app), make = (selection) => {
		app.filter = app.measure.filter(selection);
		app.sampled = app.measure.name === "cpu" ? app.filter : filter_make(app.model, selection);
	};
	try {
		make(shown);
		return "";
	} catch (error) {
		make({ ...shown, symbol: "", dso: "", parent: "" });
		return "Not an expression: " + error.message;
	}
}

// The tree of the graph, and the sum of all that it can show.
function page_grow(app) {
	const { model, view } = app, { name, object } = model.frames, names = new Set(link_names_of(view.hide));
	const mark = (wanted, test) => (wanted ? Uint8Array.from(name, (own, i) => (test(own, i) ? 1 : 0)) : null);
	app.measure = app.measures(view.measure);
	app.tree = tree_grow(model, app.measure.rows, view.group, view.order === "up", undefined, { fold: view.fold === "yes", around: mark(view.around, (own) => own === view.around),
		hidden: mark(names.size, (own, i) => names.has(own) || names.has(model.objects.path[object[i]])) });
	app.sum = app.measure.count(app.measure.filter(filter_all()), app.tree.slots, app.tree.ends.length).sum;
}

function page_update(app) {
	const { model, selection, view } = app, grown = [view.group, view.order, view.measure, view.hide, view.fold, view.around].join(" ");
	if (grown !== app.grown || !app.tree)
		page_grow(app);
	app.grown = grown;
	page_data("theme", view.theme !== "auto" ? view.theme : matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light");
	changes_show(app.changes);
	if (!app.what.changes)
		page_rest(app);
	app.legends[0].hidden = !(app.legends[1].hidden = !app.changed);
	app.sides.hidden = !changes_baseline(app);
	const problem = page_filter(app), sums = app.measure.count(app.filter, app.tree.slots, app.tree.ends.length);
	Object.assign(app, tree_weigh(app.tree, sums.weights));
	app.counted = { sum: sums.sum };
	app.zoom = flame_find_zoom(model, app.tree, view.place === "time" ? "" : view.zoom);
	page_search(app);
	flame_update(app.flame);
	const rest = JSON.stringify([{ ...selection, times: [] }, view.theme, view.rows, view.axis, view.lines, view.search, document.body.clientWidth]);
	(rest !== app.filter_key || app.what.tree ? overview_update : overview_draw)(app.overview);
	app.filter_key = rest;
	app.by_line = functions_by_line(model, app.measure);
	if (!app.overview.drag) { // while it lasts, pictures follow
		profile_set(app.profile, functions_table(model, app.outermost ||= functions_outermost(model), count_by_stack(app.measure.rows, app.tree, sums), app.measure.rows[app.by_line ? "lines" : "node"]));
		flame_describe(app.flame);
		app.chose(app.flame.current);
	}
	for (const [key, control] of Object.entries(app.controls))
		if (control.value !== view[key])
			control.value = view[key];
	app.closer.disabled = !selection.times.length;
	app.farther.hidden = !view.axis;
	page_chips(app, problem);
	const shown = page_shown(app);
	app.command.set(command_lacks(model, shown, view.around), () => command_line(model, shown, [...app.measure.words, ...command_around(view, app.by_line)]));
}

// Counts that take longer than a frame are made when the selection rests.
function page_rest(app) {
	clearTimeout(app.resting);
	app.resting = setTimeout(() => app.views.forEach((view) => view.update?.()), REST_MS);
}

function page_search(app) {
	const { view, controls, matched } = app;
	let text = "";
	app.hits = null;
	try {
		app.hits = view.search && match_frames(app.model, view.search, !/[A-Z]|^\^.*\$$/.test(view.search)); // capitals and complete names are meant as they are
		text = view.search && words_percent(match_weight(app.tree, app.hits, app.self), app.counted.sum) + " matched";
	} catch {
		text = "not an expression yet";
	}
	controls.search.classList.toggle("wrong", view.search && !app.hits);
	if (matched.textContent !== text) // for which the browser would lay out the page
		matched.textContent = text;
}

// With two captures, times are those of the one that they are in.
function page_range({ model }, range) {
	const part = model_part(model, range), moment = (us) => "+" + ((us - (part ? part.from_us : 0)) / 1e6).toFixed(6) + " s";
	return (part ? part.head.file + " " : "") + (part && model_is_part(part, range) ? "" : moment(range[0]) + " to " + moment(range[1]));
}

// The parts of the selection and of the graph: text, and the edit that takes it away.
function page_parts(app, baseline) {
	const { selection, view } = app, { times, during } = selection, parts = times.map((range, i) => [page_range(app, range) + " (" + words_length(range[1] - range[0]) + ")", { times: times.toSpliced(i, 1) }]);
	const add = (is, text, edit) => is && parts.push([text, edit]);
	add(during, (selection.not_during ? "outside of " : "during ") + during, { during: "", not_during: false });
	for (const [key, name] of Object.entries({ comms: "program", pids: "process", tids: "thread", cpus: "CPU", symbol: "ran in", dso: "in file", parent: "called by" }))
		add(selection[key].length, name + " " + [selection[key]].flat().join(", "), { [key]: filter_all()[key] });
	link_names_of(view.hide).forEach((name, i, names) => add(true, "graph without " + name, { hide: link_names(names.toSpliced(i, 1)) }));
	add(view.around, "graph around " + view.around, { around: "", zoom: "" });
	add(view.fold === "yes", "recursion folded", { fold: "no" });
	add(baseline, "compared with " + (baseline && page_range(app, baseline)), { baseline: "", side: "after" });
	return parts;
}

function page_chips(app, problem) {
	const { selection } = app, { times } = selection, baseline = changes_baseline(app), shown = JSON.stringify([selection, baseline, app.grown]);
	app.share.textContent = problem || words_weight(app.counted.sum, app.measure.unit) + " selected, " + words_percent(app.counted.sum, app.sum) + " of all";
	if (app.chips_shown === shown)
		return; // a chip that has the focus keeps it
	app.chips_shown = shown;
	const chips = page_parts(app, baseline).map(([text, edit]) => el("span.chip", text, el("button", { type: "button", "aria-label": "remove " + text, onclick: () => app.change(edit) }, "\u00d7")));
	if (times.length && !baseline)
		chips.push(dom_button("compare with another time", () => app.change({ baseline: times[0].join("-"), times: [] }, true), "compare the next selection with this time (or drag with Alt)"));
	if (Object.values(selection).some((value) => value.length))
		chips.push(dom_button("select all", () => app.change(filter_all())));
	app.chips.replaceChildren(...chips);
}

// ---- the address ----

function page_link(app) {
	const fragment = "#" + link_write(app), before = location.hash;
	// The browser limits how often this may be done.  A link that was followed meanwhile is another state, which is read soon.
	clearTimeout(app.link_timer);
	app.link_timer = setTimeout(() => {
		try {
			if (location.hash === before && fragment !== (before || "#"))
				history[app.push ? "pushState" : "replaceState"](null, "", fragment);
		} catch {
			// The page works without.
		}
		app.push = false;
	}, 250);
}

const page_linked = ({ main }) => link_read(location.hash.slice(1) || main.head.view || "");

function page_show(app, state) {
	Object.assign(app, state);
	page_change(app, { tree: true });
}

// ---- keys ----

function page_shift(app, grow, move) {
	const { span_us } = app, [from, to] = app.selection.times[0] || [0, span_us], length = to - from, wider = Math.max(1, Math.round(length * grow));
	const begin = list_within(Math.round(from + (length - wider) / 2 + length * move), 0, span_us - 1), end = Math.min(span_us, begin + wider);
	app.change({ times: begin === 0 && end === span_us ? [] : [[begin, end]] });
}

// Sets what is not one as it is, and else the other.
const page_toggle = (app, key, one, other) => app.change({ [key]: app.view[key] === one ? other : one, ...(key === "order" ? { zoom: "" } : null) });

function page_key(app, event) {
	const act = {
		Escape: () => app.change(app.view.search ? { search: "" } : filter_all()),
		"/": () => app.controls.search.focus(),
		"[": () => page_shift(app, 0.5, 0),
		"]": () => page_shift(app, 2, 0),
		"+": () => page_look(app, true),
		"-": () => page_look(app, false),
		h: () => page_shift(app, 1, -0.25),
		l: () => page_shift(app, 1, 0.25),
		"?": () => page_help(app),
		r: () => page_toggle(app, "fold", "yes", "no"),
		i: () => page_toggle(app, "order", "up", "down"),
		d: () => app.change({ theme: document.documentElement.dataset.theme === "dark" ? "light" : "dark" }),
	}[event.key];
	if (!act || dom_is_shortcut(event) || (event.key !== "Escape" && event.target.matches("input, select")))
		return;
	act();
	event.preventDefault();
}
