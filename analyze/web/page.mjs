// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
// page - puts the parts together: one state, and what is counted and drawn again when it changes
import { bytes_from_base64 } from "./data/bytes.mjs";
import { changes_baseline, changes_ranges, changes_make, changes_show } from "./view/changes.mjs";
import { command_around, command_lacks, command_line } from "./data/command.mjs";
import { count_by_stack } from "./count/count.mjs";
import { counting_make } from "./view/counting.mjs";
import { detail_make, detail_update } from "./view/detail.mjs";
import { dom_button, dom_command, dom_legend, dom_section, el } from "./view/dom.mjs";
import { filter_all, filter_is_all, filter_join_times, filter_make, FILTER_TEXTS } from "./data/filter.mjs";
import { flame_describe, flame_find_zoom, flame_go, flame_make, flame_picture, flame_svg, flame_update, flame_zoom } from "./view/flame.mjs";
import { folded_text } from "./count/folded.mjs";
import { functions_csv, functions_outermost, functions_table } from "./count/functions.mjs";
import { heat_tasks } from "./count/heat.mjs";
import { KINDS, kinds_of } from "./data/kinds.mjs";
import { join_is_part, join_models, join_part } from "./data/join.mjs";
import { link_names, link_names_of, link_read, link_write } from "./data/link.mjs";
import { marking_make } from "./view/marking.mjs";
import { measure_make, MEASURES } from "./count/measure.mjs";
import { match_exactly, match_frames, match_weight } from "./data/match.mjs";
import { model_load } from "./data/model.mjs";
import { overview_draw, overview_make, overview_update } from "./view/overview.mjs";
import { processing_make } from "./view/processing.mjs";
import { profile_make, profile_set } from "./view/profile.mjs";
import { tree_grow, tree_weigh } from "./count/tree.mjs";
import { waiting_make } from "./view/waiting.mjs";
import { waits_csv } from "./count/waits.mjs";
import { words_count, words_length, words_percent, words_weight } from "./data/words.mjs";

const REST_MS = 120;

export async function page_start() {
	const summary = document.getElementById("summary");
	let app;
	try {
		const text = (id) => document.getElementById(id)?.textContent;
		const model = await model_load(text("head"), (i) => text("d" + i));
		app = page_make(document.getElementById("before") ? join_models(await model_load(text("before"), (i) => text("b" + i)), model) : model);
	} catch (error) {
		document.body.prepend(el("p", { role: "alert", class: "broken" }, "This page cannot be shown: " + error.message + ". Its text is below."));
		return;
	}
	page_build(app, summary);
	page_go(app, location.hash);
	window.addEventListener("hashchange", () => page_go(app, location.hash));
	const sizes = new ResizeObserver(() => page_change(app, {}));
	sizes.observe(document.body);
	sizes.observe(app.flame.scroll); // a scroll bar of it came or went
	matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => page_change(app, { tree: true }));
	document.addEventListener("keydown", (event) => page_key(app, event));
}

function page_make(model) {
	const app = { model, state: link_read(""), tree: null, grown: "", filter: null, filter_key: null, zoom: 0, hits: null,
		self: null, total: null, counted: null, outermost: functions_outermost(model), task_weights: heat_tasks(model), measure: null, measured: new Map(),
		kinds: Array.from({ length: model.frames.count }, (_, frame) => kinds_of(model, frame)),
		span_us: model.head.span_us + 1, sum: 0, pending: null, controls: {} };
	app.sampled_sum = app.task_weights.reduce((a, b) => a + b, 0);
	app.measures = (name) => app.measured.get(name) || app.measured.set(name, measure_make(model, name)).get(name);
	app.measure = app.measures("cpu");
	// Sets what the edit names of the selection and of the view.
	app.change = (edit, history) => {
		for (const key of Object.keys(edit))
			(key in app.state.selection ? app.state.selection : app.state.view)[key] = edit[key];
		app.push ||= history;
		page_change(app, {});
	};
	app.redraw = () => page_change(app, { changes: true });
	app.find = (frame) => app.change({ search: match_exactly(model.frames.name[frame]) });
	app.hide = (key, name) => app.change({ [key]: link_names([...link_names_of(app.state.view[key]), name]) }, true);
	app.zoom_to = (node) => flame_zoom(app.flame, node);
	app.chose = (node) => detail_update(app.detail, node);
	return app;
}

// ---- what stands on the page ----

function page_build(app, summary) {
	const { head } = app.model;
	app.flame = flame_make(app);
	app.profile = profile_make(app);
	app.overview = overview_make(app);
	app.changes = changes_make(app);
	app.waiting = app.model.waits && waiting_make(app);
	app.views = [app.changes, app.waiting, app.profile, app.model.processes && processing_make(app), app.model.marks && marking_make(app), app.model.counters && counting_make(app)].filter((view) => view);
	app.detail = detail_make(app);
	app.chips = el("div", { class: "chips", role: "group", "aria-label": "Selection" });
	app.share = el("p", { class: "selected", "aria-live": "polite" });
	app.command = dom_command();
	app.matched = el("span", { class: "matched", "aria-live": "polite" });
	const facts = [head.host, head.kernel, head.cpus ? head.cpus + " CPUs" : "", head.event, words_length(head.span_us),
		words_count(head.samples) + " samples"].filter((text) => text);
	document.documentElement.dataset.ready = "no";
	summary.tabIndex = 0; // it scrolls
	const main = el("main", null,
		el("header", null, el("div", null, el("h1", null, head.file), el("p", { class: "quiet" }, facts.join(" \u00b7 "))), page_select(app, "theme", "theme", [["auto", "as the system"], ["light", "light"], ["dark", "dark"]])),
		page_quality(head, app.waiting),
		el("section", { "aria-labelledby": "h-time" }, el("div", { class: "bar-top" }, el("h2", { id: "h-time" }, "When"), page_axis(app)), app.overview.element, app.overview.legend),
		el("div", { class: "selection" }, app.chips, app.share),
		el("section", { "aria-labelledby": "h-calls" }, el("div", { class: "bar-top" }, el("h2", { id: "h-calls" }, "Calls"), page_tools(app)),
			app.flame.element, page_legend(app), app.detail.element),
		...app.views.map((view) => view.element),
		dom_section("command", "The same in a terminal", app.command.line, page_files(app), page_given(app.model)),
		el("details", null, el("summary", null, "As text, and keys"), page_keys(), summary));
	document.body.prepend(main);
}

// Saves a text as a file, or copies it.
function page_save(name, text) {
	const address = URL.createObjectURL(text instanceof Blob ? text : new Blob([text], { type: "text/plain" }));
	el("a", { href: address, download: name }).click();
	setTimeout(() => URL.revokeObjectURL(address), 1000);
}

async function page_copy(app, button) {
	try {
		await navigator.clipboard.writeText(app.command.code.textContent);
		button.textContent = "copied";
	} catch {
		getSelection().selectAllChildren(app.command.code);
		button.textContent = "selected: copy it";
	}
	setTimeout(() => { button.textContent = "copy the command"; }, 1500);
}

function page_folded(app) {
	const { measure } = app, tree = tree_grow(app.model, measure.rows, "comm", false), counted = measure.count(app.filter, tree.slots, tree.ends.length);
	return folded_text(app.model, tree, tree_weigh(tree, counted.weights).self);
}

function page_files(app) {
	const save = (text, name, make) => dom_button("save " + text, async () => page_save(name, await make()));
	const carried = document.getElementById("capture");
	return el("div", { class: "buttons" }, carried ? save("the capture", "ebprec.data", () => new Blob([bytes_from_base64(carried.textContent)])) : "", dom_button("copy the command", (event) => page_copy(app, event.target)),
		save("the graph as PNG", "graph.png", () => new Promise((done) => flame_picture(app.flame).toBlob(done))),
		save("the graph as SVG", "graph.svg", () => flame_svg(app.flame)),
		save("stacks as folded lines", "stacks.folded", () => page_folded(app)),
		save("functions as CSV", "functions.csv", () => functions_csv(app.model, app.profile.list)),
		app.waiting ? save("waits as CSV", "waits.csv", () => waits_csv(app.waiting.list)) : "");
}

// The facts of a page that are no numbers, for those that it is given to.
function page_given({ head, frames, objects, tasks, processes, counters }) {
	const list = [[tasks.comm, "programs and threads"], [processes?.command || [], "command lines"], [frames.name, "functions"], [objects.path, "files"], [tasks.cgroup, "control groups"], [counters?.lines.map((line) => line.by + line.of) || [], "disks, processes and others with counters"]];
	return el("p", { class: "quiet given" }, "This page has the names of " + (head.host ? "the host, " : "") +
		list.map(([names, text]) => words_count(new Set(names).size) + " " + text).join(", ") + (document.getElementById("capture") ? ", and all of the capture" : "") + ". ebprec scrub makes a capture without them.");
}

// A list that sets the view's key; zooms: a zoom is of one value of it alone.
function page_select(app, key, label, values, zooms) {
	const select = app.controls[key] = el("select", { onchange: () => app.change({ [key]: select.value, ...(zooms ? { zoom: "" } : null) }) },
		...values.map(([value, text]) => el("option", { value }, text)));
	return el("label", null, label + " ", select);
}

function page_quality(head, waiting) {
	const { lost_samples, lost_events } = head, lines = lost_samples || lost_events ? [...head.verdict, "lost by the recorder: " + words_count(lost_samples) + " samples and " + words_count(lost_events) + " events"] : head.verdict;
	return el("section", { class: "quality", "aria-label": "How far these numbers can be trusted, and what they are of" },
		el("ul", null, ...lines.map((line) => el("li", { class: /^ /.test(line) ? "cause" : null }, line.trim()))), waiting?.account);
}

// The tools of the overview: selecting time and looking closer are two things.
function page_axis(app) {
	app.closer = dom_button("look closer", () => page_look(app, true), "show the selected time alone (+)");
	app.farther = dom_button("all of the time", () => page_look(app, false), "show all of the time (-)");
	return el("div", { class: "tools" }, app.farther, app.closer, page_select(app, "rows", "rows", [["program", "programs"], ["cpu", "CPUs"], ["container", "containers"]]));
}

function page_look(app, closer) {
	const { times } = app.state.selection;
	app.change({ axis: closer && times.length ? times[0][0] + "-" + times[times.length - 1][1] : "" }, true);
}

function page_tools(app) {
	app.search = el("input", { type: "search", placeholder: "find functions (/)", "aria-label": "find functions by a regular expression",
		spellcheck: "false", autocomplete: "off", oninput: () => app.change({ search: app.search.value }) });
	app.case = el("input", { type: "checkbox", onchange: () => app.change({ case: app.case.checked ? "exact" : "any" }) });
	app.sides = page_select(app, "side", "of the time", [["after", "selected"], ["before", "compared with"], ["both", "both"]]);
	return el("div", { class: "tools" }, app.sides, app.search, el("label", null, app.case, " case"), app.matched,
		app.model.waits ? page_select(app, "measure", "of", MEASURES, true) : "",
		page_select(app, "group", "by", [["comm", "program"], ["none", "nothing"], ["process", "process"], ["thread", "thread"], ["container", "container"]], true),
		page_select(app, "order", "from", [["down", "the top down"], ["up", "the bottom up"]], true), page_select(app, "place", "ordered by", [["name", "name"], ["weight", "weight"], ["time", "time"]]));
}

function page_legend(app) {
	app.legends = [dom_legend("Colours", KINDS, "kind-"), dom_legend("Colours of changes", [["group", "thread or process"], ["grown", "\u25b2 more than before"],
		["shrunk", "\u25bc less"], ["gone", "\u25bc gone"], ["noname", "not more than chance"]], "kind-")];
	return el("div", null, ...app.legends);
}

function page_keys() {
	const keys = [["drag", "select time; with Shift one more range, with Alt what it is compared with; double click selects all"], ["/", "find functions"], ["Esc", "find nothing, then select all"],
		["[ ]", "shorten and lengthen the selected time"], ["h l", "move it"], ["+ -", "show the selected time alone, all of the time"], ["arrows", "walk the graph: callers up, callees down"],
		["Enter", "zoom to the frame; over time, select that of the call"], ["Backspace, 0", "zoom out"], ["i", "turn the graph around"], ["r", "fold recursion"], ["d", "dark or light"]];
	return el("dl", { class: "keys" }, ...keys.flatMap(([key, text]) => [el("dt", null, key), el("dd", null, text)]));
}

// ---- from a state to what is shown ----

// what: parts that must be made again though the state is the same.
function page_change(app, what) {
	app.what = { ...app.what, ...what };
	app.pending ||= requestAnimationFrame(() => {
		app.pending = null;
		page_update(app);
		page_link(app);
		app.what = {};
		document.documentElement.dataset.ready = "yes";
	});
}

// The tree of the graph: the selection, or the same of the time that it is compared with.
function page_shown(app) {
	const baseline = changes_baseline(app), { selection, view } = app.state;
	if (!baseline || view.side === "after")
		return selection;
	return { ...selection, times: filter_join_times(view.side === "both" ? [baseline, ...changes_ranges(app).slice(1)] : [baseline]), during: "" };
}

function page_filter(app) {
	const selection = page_shown(app);
	try {
		app.filter = app.measure.filter(selection);
		app.sampled = filter_make(app.model, selection);
		return "";
	} catch (error) {
		const without = { ...selection, ...Object.fromEntries(FILTER_TEXTS.map((key) => [key, ""])) };
		app.filter = app.measure.filter(without);
		app.sampled = filter_make(app.model, without);
		return "Not an expression: " + error.message;
	}
}

function page_update(app) {
	const { model, state } = app, { view } = state;
	const grown = [view.group, view.order, view.measure, view.hide, view.hide_file, view.fold, view.around].join(" ");
	app.measure = app.measures(view.measure);
	if (grown !== app.grown || !app.tree) {
		const [names, files] = [view.hide, view.hide_file].map((text) => new Set(link_names_of(text))), { name, object } = model.frames;
		app.tree = tree_grow(model, app.measure.rows, view.group, view.order === "up", undefined,
			{ hidden: names.size + files.size ? Uint8Array.from(name, (own, i) => (names.has(own) || files.has(model.objects.path[object[i]]) ? 1 : 0)) : null, fold: view.fold === "yes",
				around: view.around ? Uint8Array.from(name, (own) => (own === view.around ? 1 : 0)) : null });
		app.sum = app.measure.count(app.measure.filter(filter_all()), app.tree.slots, app.tree.ends.length).sum;
	}
	app.grown = grown;
	document.documentElement.dataset.theme = view.theme !== "auto" ? view.theme : matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light";
	changes_show(app.changes);
	if (!app.what.changes)
		page_rest(app);
	app.legends[0].hidden = !(app.legends[1].hidden = !app.changed);
	app.sides.hidden = !changes_baseline(app);
	const problem = page_filter(app);
	const sums = app.measure.count(app.filter, app.tree.slots, app.tree.ends.length);
	Object.assign(app, tree_weigh(app.tree, sums.weights));
	app.counted = count_by_stack(app.measure.rows, app.tree, sums);
	app.zoom = flame_find_zoom(model, app.tree, view.place === "time" ? "" : view.zoom);
	page_search(app);
	flame_update(app.flame);
	const rest = JSON.stringify([{ ...state.selection, times: [] }, view.theme, view.rows, view.axis, view.lines, view.search, view.case, document.body.clientWidth]);
	if (rest !== app.filter_key || app.what.tree)
		overview_update(app.overview);
	else
		overview_draw(app.overview);
	app.filter_key = rest;
	if (!app.overview.drag) { // while it lasts, pictures follow
		profile_set(app.profile, functions_table(model, app.outermost, app.counted, app.measure.rows.node));
		flame_describe(app.flame);
		detail_update(app.detail, app.flame.current);
	}
	app.closer.disabled = !state.selection.times.length;
	app.farther.hidden = !view.axis;
	page_chips(app, problem);
	page_command(app);
}

// Counts that take longer than a frame are made when the selection rests.
function page_rest(app) {
	clearTimeout(app.resting);
	app.resting = setTimeout(() => app.views.forEach((view) => view.update?.()), REST_MS);
}

function page_search(app) {
	const { search } = app.state.view;
	app.hits = null;
	app.search.classList.remove("wrong");
	app.matched.textContent = "";
	if (!search)
		return;
	try {
		app.hits = match_frames(app.model, search, app.state.view.case === "any");
	} catch {
		app.search.classList.add("wrong");
		app.matched.textContent = "not an expression yet";
		return;
	}
	app.matched.textContent = words_percent(match_weight(app.tree, app.hits, app.self), app.counted.sum) + " matched";
}

// With two captures, times are those of the one that they are in.
function page_range(app, range) {
	const part = join_part(app.model, range), moment = (us) => "+" + ((us - (part ? part.from_us : 0)) / 1e6).toFixed(6) + " s";
	return (part ? part.head.file + " " : "") + (part && join_is_part(part, range) ? "" : moment(range[0]) + " to " + moment(range[1]));
}

function page_chips(app, problem) {
	const { selection } = app.state, baseline = changes_baseline(app), { view } = app.state, shown = JSON.stringify([selection, baseline, app.grown]), chips = [];
	const chip = (text, edit) => chips.push(el("span", { class: "chip" }, text, el("button", { type: "button", "aria-label": "remove " + text, onclick: () => app.change(edit) }, "\u00d7")));
	app.share.textContent = problem || words_weight(app.counted.sum, app.measure.unit) + " selected, " + words_percent(app.counted.sum, app.sum) + " of all";
	if (app.chips_shown === shown)
		return; // a chip that has the focus keeps it
	app.chips_shown = shown;
	selection.times.forEach((range, i) => chip(page_range(app, range) + " (" + words_length(range[1] - range[0]) + ")", { times: selection.times.filter((_, n) => n !== i) }));
	if (selection.during)
		chip((selection.not_during ? "outside of " : "during ") + selection.during, { during: "", not_during: false });
	for (const [list, name] of [["comms", "program"], ["pids", "process"], ["tids", "thread"], ["cpus", "CPU"]])
		if (selection[list].length)
			chip((selection["not_" + list] ? "not " : "") + name + " " + selection[list].join(", "), { [list]: [], ["not_" + list]: false });
	for (const [key, name] of [["symbol", "ran in"], ["dso", "in file"], ["parent", "called by"]])
		if (selection[key])
			chip(name + " " + selection[key], { [key]: "" });
	for (const [key, text] of [["hide", "graph without "], ["hide_file", "graph without file "]])
		for (const name of link_names_of(view[key]))
			chip(text + name, { [key]: link_names(link_names_of(view[key]).filter((other) => other !== name)) });
	if (view.around)
		chip("graph around " + view.around, { around: "", zoom: "" });
	if (view.fold === "yes")
		chip("recursion folded", { fold: "no" });
	if (selection.times.length && !baseline)
		chips.push(dom_button("compare with another time", () => app.change({ baseline: selection.times[0].join("-"), times: [] }, true), "what is selected next is compared with this time (Alt and drag does the same)"));
	if (baseline)
		chip("compared with " + page_range(app, baseline), { baseline: "", side: "after" });
	if (!filter_is_all(selection))
		chips.push(dom_button("select all", () => app.change(filter_all())));
	app.chips.replaceChildren(...chips);
}

function page_command(app) {
	const shown = page_shown(app), { view } = app.state, words = [...app.measure.words, ...command_around(view)];
	app.command.set(command_lacks(app.model, shown, view.around), () => command_line(app.model, shown, words));
}

// ---- the address ----

function page_link(app) {
	const fragment = "#" + link_write(app.state);
	// The browser limits how often this may be done.
	clearTimeout(app.link_timer);
	app.link_timer = setTimeout(() => {
		try {
			if (fragment !== (location.hash || "#"))
				history[app.push ? "pushState" : "replaceState"](null, "", fragment);
		} catch {
			// The page works without.
		}
		app.push = false;
	}, 250);
}

function page_go(app, fragment) {
	app.state = link_read(fragment.length > 1 ? fragment : app.model.head.view || "");
	const { view } = app.state;
	app.search.value = view.search;
	app.case.checked = view.case === "exact";
	for (const [key, select] of Object.entries(app.controls))
		select.value = view[key];
	page_change(app, { tree: true });
}

// ---- keys ----

function page_shift(app, grow, move) {
	const [from, to] = app.state.selection.times[0] || [0, app.span_us], length = to - from;
	const wider = Math.max(1, Math.round(length * grow)), first = Math.round(from + (length - wider) / 2 + length * move);
	const begin = Math.max(0, Math.min(first, app.span_us - 1)), end = Math.min(app.span_us, begin + wider);
	app.change({ times: begin === 0 && end === app.span_us ? [] : [[begin, end]] });
}

function page_escape(app) {
	app.change(app.state.view.search ? { search: app.search.value = "" } : filter_all());
}

// Sets what is not one as it is, and else the other.
function page_toggle(app, key, one, other) {
	const value = app.state.view[key] === one ? other : one;
	app.change({ [key]: value, ...(key === "order" ? { zoom: "" } : null) });
	if (app.controls[key])
		app.controls[key].value = value;
}

function page_key(app, event) {
	if (event.ctrlKey || event.altKey || event.metaKey)
		return;
	if (event.key === "Escape")
		return page_escape(app);
	if (event.target.matches("input, select"))
		return;
	const keys = {
		"/": () => app.search.focus(),
		"[": () => page_shift(app, 0.5, 0),
		"]": () => page_shift(app, 2, 0),
		"+": () => page_look(app, true),
		"-": () => page_look(app, false),
		h: () => page_shift(app, 1, -0.25),
		l: () => page_shift(app, 1, 0.25),
		r: () => page_toggle(app, "fold", "yes", "no"),
		i: () => page_toggle(app, "order", "up", "down"),
		d: () => page_toggle(app, "theme", ...(getComputedStyle(document.documentElement).colorScheme === "dark" ? ["light", "dark"] : ["dark", "light"])),
	};
	if (!keys[event.key])
		return;
	keys[event.key]();
	event.preventDefault();
}
