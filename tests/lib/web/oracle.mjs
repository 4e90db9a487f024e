// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
// oracle.mjs CAPTURE PAGE COUNT SEED [INSTRUMENT] - the page's numbers against those of `ebprec report` of the same capture
//
// COUNT random selections of time, comm, pid, tid, CPU and expressions: folded stacks and the table of functions must
// be the same bytes, and the command that the page prints is the one that was run.  INSTRUMENT: the number of the one whose part of the page
// is meant.
import { execFileSync } from "node:child_process";

import { command_around, command_events, command_lacks, command_words } from "../../../analyze/web/data/command.mjs";
import { count_by_stack } from "../../../analyze/web/count/count.mjs";
import { filter_all, filter_ranges } from "../../../analyze/web/data/filter.mjs";
import { folded_text } from "../../../analyze/web/count/folded.mjs";
import { functions_by_line, functions_csv, functions_outermost, functions_table } from "../../../analyze/web/count/functions.mjs";
import { link_read, link_write } from "../../../analyze/web/data/link.mjs";
import { match_exactly } from "../../../analyze/web/data/match.mjs";
import { marks_selected, marks_summary } from "../../../analyze/web/data/marks.mjs";
import { measure_make } from "../../../analyze/web/count/measure.mjs";
import { tree_grow, tree_weigh } from "../../../analyze/web/count/tree.mjs";
import { waits_csv, waits_table } from "../../../analyze/web/count/waits.mjs";
import { page_load } from "./page_file.mjs";

const [capture, page, count_text, seed_text, instrument] = process.argv.slice(2);
const model = await page_load(page, Number(instrument || 0));
const measures = ["cpu", ...(model.waits ? ["off-cpu", "wakers", "wall"] : [])].map((name) => {
	const measure = measure_make(model, name);
	return { ...measure, tree: tree_grow(model, measure.rows, "comm", false) };
});
const outermost = functions_outermost(model);

let state = Number(seed_text) || 1;
function random(below) {
	state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
	return Math.floor(state / 2 ** 32 * below);
}

function some(list, most) {
	return Array.from({ length: 1 + random(most) }, () => list[random(list.length)]);
}

// Mostly to or from the very moment of a sample: that is where ends are off by one.
function random_moment(span) {
	return random(4) ? model.samples.time[random(model.samples.count)] + random(2) : random(span);
}

function random_times() {
	const span = model.head.span_us + 2;
	const [a, b] = [random_moment(span), random_moment(span)].sort((x, y) => x - y);
	return [[a, b > a ? b : a + 1]];
}

// A part of a name, an exact name, or the negation of one.
function random_expression() {
	const name = model.frames.name[random(model.frames.count)];
	const exact = match_exactly(name);
	// The page matches \xNN as it is shown, the program the byte.
	const parts = model.frames.name.some((other) => other.includes("\\x")) ? [] : ["a", "!^[a-m]", "[0-9]", "e$"];
	return [exact, "!" + exact, ...parts][random(2 + parts.length)];
}

function random_selection() {
	const s = filter_all(), tasks = model.tasks, cpus = [...new Set(model.samples.cpu)].filter((c) => c >= 0);
	if (!model.samples.count)
		return s;
	if (random(2))
		s.times = random_times();
	// A name with a comma or a blank at its ends has no form on the command line.
	if (!random(3))
		s.comms = some(tasks.comm, 3).filter((c) => /^[A-Za-z0-9_:./-]+$/.test(c));
	if (!random(3))
		s.pids = some(tasks.pid, 5);
	if (!random(4))
		s.tids = some(tasks.tid, 5);
	if (!random(3) && cpus.length)
		s.cpus = some(cpus, 2);
	if (model.marks && model.marks.spans.count && !random(3)) {
		const mark = model.marks.spans.mark[random(model.marks.spans.count)];
		s.during = [model.marks.marks.name[mark], model.marks.marks.group[mark] + "/" + model.marks.marks.name[mark]][random(2)];
		s.not_during = !random(6);
	}
	for (const text of ["symbol", "dso", "parent"])
		if (!random(4))
			s[text] = text === "dso" ? ["lib", "!kernel", "/"][random(3)] : random_expression();
	return s;
}

function report(words) {
	return execFileSync("ebprec", ["report", "-q", ...words, "-i", capture],
		{ encoding: "utf8", maxBuffer: 1 << 30, stdio: ["ignore", "pipe", "ignore"] });
}

function first_difference(want, got) {
	const a = want.split("\n"), b = got.split("\n");
	const at = a.findIndex((line, i) => line !== b[i]);
	return at < 0 ? "the page has more: " + b[a.length] : "line " + (at + 1) + "\n  ebprec: " + a[at] + "\n  page:   " + b[at];
}

function check(what, words, want, got) {
	if (want === got)
		return;
	console.error(what + " differ: ebprec report " + words.join(" ") + "\n" + first_difference(want, got));
	process.exit(1);
}

// As `ebprec marks --summary` prints them, but for the width of columns, which depends on what is in them.
function marks_text(list) {
	const ms = (ns) => (ns / 1e6).toFixed(6);
	const line = (row) => row.count + " " + (row.lengths.length ? [row.total, row.min, row.max, row.mean, row.median, row.p99].map(ms) : Array(6).fill("-")).join(" ") +
		" " + row.group + "/" + row.name + (row.unended ? " (" + row.unended + " without an end)" : "") + "\n";
	return list.map(line).join("");
}

function check_marks(selection) {
	const words = command_events(model, selection, ["marks", "--summary"]).match(/'[^']*'|\S+/g).map((word) => word.replaceAll("'", "")).slice(1, -2);
	const text = execFileSync("ebprec", [...words, "-i", capture], { encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] });
	const narrow = (lines) => lines.replaceAll(/ +/g, " ").replaceAll(/^ /gm, "");
	check("marks", words, narrow(text.slice(text.indexOf("\n") + 1)), narrow(marks_text(marks_summary(model, marks_selected(model, selection, filter_ranges(model, selection))))));
}

let filled = 0, around = 0;

// A line a node of the tree: its path, and its weight with all below it and alone.
function tree_lines(nodes) {
	const paths = new Map(), sums = new Map();
	for (const { id, parent, label, total, self } of nodes) {
		const path = (parent ? paths.get(parent) + ";" : "") + label, sum = sums.get(path) || [0, 0];
		paths.set(id, path);
		sums.set(path, [sum[0] + total, sum[1] + self]);
	}
	return [...sums].filter(([, [total]]) => total).map(([path, sum]) => path + " " + sum.join(" ")).sort().join("\n");
}

// Around one of the functions that have weight both trees are those of --callers and --callees; kernel and user frames of one name are one.
function check_around(measure, filter, words, functions) {
	if (!functions.length)
		return;
	const name = model.frames.name[functions[random(functions.length)].frame], wanted = Uint8Array.from(model.frames.name, (other) => (other === name ? 1 : 0));
	for (const order of command_lacks(model, filter_all(), name) ? [] : ["up", "down"]) {
		const tree = tree_grow(model, measure.rows, "none", order === "up", undefined, { around: wanted });
		const { self, total } = tree_weigh(tree, measure.count(filter, tree.slots, tree.ends.length).weights);
		const nodes = Array.from(self, (own, id) => ({ id, parent: tree.parent[id], label: model.frames.label[tree.frame[id]], total: total[id], self: own }));
		const more = [...measure.words, ...command_around({ around: name, order }), ...words], want = JSON.parse(report(["--json", "--min-percent", "0", ...more])).nodes;
		check("calls around", more, tree_lines(want.map((node) => ({ ...node, label: node.symbol.replaceAll(";", ":") }))), tree_lines(nodes.slice(1)));
		around += want.length;
	}
}

function check_measure(measure, selection, words) {
	const { tree } = measure, filter = measure.filter(selection), sums = measure.count(filter, tree.slots, tree.ends.length);
	const by_line = functions_by_line(model, measure);
	const more = [...measure.words, ...words], functions = functions_table(model, outermost, count_by_stack(measure.rows, tree, sums), measure.rows[by_line ? "lines" : "node"]);
	check("folded stacks", more, report(["--folded", ...more]), folded_text(model, tree, tree_weigh(tree, sums.weights).self));
	check("functions", more, report(["--csv", "--min-percent", "0", ...(by_line ? ["--lines"] : []), ...more]),
		functions_csv(model, functions, by_line));
	if (measure.name === "off-cpu")
		check("waits", words, report(["--waits", "--csv", "--min-percent", "0", ...words]),
			waits_csv(waits_table(model, measure.rows, filter)));
	check_around(measure, filter, words, functions);
	filled += sums.sum ? 1 : 0;
}

// Some selections have no command: others are made in their place.
for (let i = 0, checked = 0; checked < Number(count_text) && i < 20 * Number(count_text); i++) {
	const selection = i ? random_selection() : filter_all();
	if (command_lacks(model, selection))
		continue;
	checked++;
	const words = command_words(model, selection);
	for (const measure of measures)
		check_measure(measure, selection, words);
	if (model.marks)
		check_marks(selection);
	check("links", words, JSON.stringify(selection), JSON.stringify(link_read(link_write({ selection })).selection));
}
if (!filled && (model.samples.count || model.waits)) {
	console.error("no selection had samples");
	process.exit(1);
}
console.log(count_text + " selections, " + around + " nodes around functions, " + filled + " of " + measures.length + " measures each with weight");
