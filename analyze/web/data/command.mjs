// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
// command - the words of `ebprec report` that choose the same samples as the page does
import { FILTER_LISTS, FILTER_TEXTS, filter_ranges } from "./filter.mjs";
import { model_is_part, model_part } from "./model.mjs";

// Seconds of the capture's clock, with all digits.
const command_seconds = (us) => Math.floor(us / 1e6) + "." + String(us % 1e6).padStart(6, "0");

// Both ends of --time belong to it, to the nanosecond; ours is [from, to) in microseconds.
const command_time = (head, [from_us, to_us]) => command_seconds(head.base_us + from_us) + "," + command_seconds(head.base_us + to_us - 1) + "999";

// The options that were given for the page, by name; --between has two words.
function command_options({ options }) {
	const list = [];
	options.forEach((word, i) => {
		if (i && options[i - 1].startsWith("--between="))
			list.at(-1).words.push(word);
		else
			list.push({ name: word.slice(2).split("=")[0], words: [word] });
	});
	return list;
}

const COMMAND_TIMES = ["time", "last", "during", "between"];

// On a page of two captures: the selection as one of the capture that it is in; null: it is not in one.
function command_of_part(model, selection) {
	const [range] = selection.times, part = selection.times.length === 1 ? model_part(model, range) : null;
	return part && { model: { ...model, parts: null, head: part.head },
		selection: { ...selection, times: model_is_part(part, range) ? [] : [range.map((us) => us - part.from_us)] } };
}

// Why no command chooses these samples; null: one does.
export function command_lacks(model, selection, around = "") {
	const { times, during, not_during, comms, pids, tids, cpus } = selection, given = command_options(model.head).map(({ name }) => name);
	if (model.parts) {
		const of = command_of_part(model, selection);
		return of ? command_lacks(of.model, of.selection, around) : "it takes one range of time of one capture";
	}
	const twice = FILTER_TEXTS.find((text) => selection[text] && given.includes(text));
	return [[times.length > 1, "it takes one range of time"],
		[during && not_during, "all but a span's times"],
		[during && (given.includes("during") || given.includes("between")), "the page was made of a span's times"],
		[during && !filter_ranges(model, selection).length, "the span is not within the selected time"],
		[comms.some((name) => /,|^\s|\s$|\\x|^!/.test(name)) || (during + around).includes("\\x") || FILTER_TEXTS.some((text) => selection[text].includes("\\\\x")), "a name has characters that options do not take"],
		[[...pids, ...tids, ...cpus].some((number) => number < 0), "options take no negative number"],
		[twice, "the page was made with --" + twice + ", and a second one would add to it"]].find(([is]) => is)?.[1] ?? null;
}

// keeps(name): whether an option that was given for the page is one of this command, too.
export function command_words(model, selection, keeps = (_name) => true) {
	const words = [], replaced = new Set();
	const add = (name, value) => {
		if (!value)
			return;
		words.push("--" + name + "=" + value);
		replaced.add(name);
	};
	add("time", selection.times.length && command_time(model.head, selection.times[0]));
	add("during", selection.during);
	for (const list of FILTER_LISTS)
		add(list.slice(0, -1), selection[list].join(","));
	for (const name of FILTER_TEXTS)
		add(name, selection[name]);
	return [...command_options(model.head).filter(({ name }) => !replaced.has(name) && keeps(name)).flatMap((option) => option.words), ...words];
}

// Words as a shell takes them.
const command_join = (words) => words.map((word) => (/^[A-Za-z0-9_\-+=:,./%@^]+$/.test(word) ? word : "'" + word.replaceAll("'", "'\\''") + "'")).join(" ");

export function command_line(model, selection, view) {
	const of = model.parts ? command_of_part(model, selection) : { model, selection };
	return command_join(["ebprec", "report", ...view, ...command_words(of.model, of.selection), "-i", of.model.head.file]);
}

// The part of each stack that the graph shows; of all of it, functions may be by their lines.
export const command_around = ({ around, order }, by_line) => around ? ["--" + (order === "up" ? "callers" : "callees") + "=" + around, "--sort=symbol"] : by_line ? ["--lines"] : [];

// `ebprec marks` and `ebprec metrics` take threads and times alone.
export const command_of_events = (selection) => ({ ...selection, cpus: [], symbol: "", dso: "", parent: "" });

export function command_events(model, selection, view) {
	const words = command_words(model, command_of_events(selection), (name) => [...COMMAND_TIMES, "comm", "pid", "tid"].includes(name));
	return command_join(["ebprec", ...view, ...words, "-i", model.head.file]);
}

// Two ranges of a capture, or of the captures that they are in, which may be all of these; null: one is in none.
export function command_compare(model, selection, ranges) {
	const { parts } = model, sides = ranges.map((range) => (parts ? model_part(model, range) : { from_us: 0, head: model.head }));
	if (sides.includes(null))
		return null;
	const captures = parts && sides.every((side, i) => model_is_part(side, ranges[i])), [{ head }] = sides, { renames = ["none"] } = head;
	const times = captures ? [] : sides.map((side, i) => "--time-" + ["before", "after"][i] + "=" + command_time(side.head, ranges[i].map((us) => us - side.from_us)));
	return command_join(["ebprec", "diff", "--total", "--normalize=share", ...times, ...(parts && !head.renames ? [] : renames.flatMap((name, i) => (i % 2 ? [] : ["--rename=" + renames.slice(i, i + 2).join("=")]))),
		...command_words({ ...model, head }, selection, (name) => captures || !["time", "last"].includes(name)), ...sides.map((side) => side.head.file)]);
}
