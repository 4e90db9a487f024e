// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
// command - the words of `ebprec report` that choose the same samples as the page does
import { filter_ranges } from "./filter.mjs";
import { join_is_part, join_part } from "./join.mjs";

// Seconds of the capture's clock, with all digits.
function command_seconds(us) {
	return Math.floor(us / 1e6) + "." + String(us % 1e6).padStart(6, "0");
}

// Both ends of --time belong to it, to the nanosecond; ours is [from, to) in microseconds.
function command_time(head, [from_us, to_us]) {
	return command_seconds(head.base_us + from_us) + "," + command_seconds(head.base_us + to_us - 1) + "999";
}

// The options that were given for the page, without those of these names.
function command_given(head, without) {
	const words = [];
	for (let i = 0; i < head.options.length; i++) {
		const name = head.options[i].slice(2).split("=")[0], count = name === "between" ? 2 : 1;
		if (!without.has(name))
			words.push(...head.options.slice(i, i + count));
		i += count - 1;
	}
	return words;
}

function command_is_given(head, name) {
	return head.options.some((word) => word.slice(2).split("=")[0] === name);
}

const COMMAND_LISTS = [["comms", "comm"], ["pids", "pid"], ["tids", "tid"], ["cpus", "cpu"]];

// The values that a list selects.  Where the page itself was made with such an option, "all but these" are those that are left in it.
function command_list(model, selection, list, name) {
	if (!selection["not_" + list] || !command_is_given(model.head, name))
		return { negated: selection["not_" + list], values: selection[list] };
	const all = { comms: model.tasks.comm, pids: model.tasks.pid, tids: model.tasks.tid, cpus: model.samples.cpu }[list];
	return { negated: false, values: [...new Set(all)].filter((value) => !selection[list].includes(value)) };
}

// On a page of two captures: the selection as one of the capture that it is in; null: it is not in one.
function command_of_part(model, selection) {
	const [range] = selection.times, part = selection.times.length === 1 ? join_part(model, range) : null;
	return part && { model: { ...model, parts: null, head: part.head },
		selection: { ...selection, times: join_is_part(part, range) ? [] : [range.map((us) => us - part.from_us)] } };
}

// Why no command chooses these samples; null: one does.
export function command_lacks(model, selection, around = "") {
	if (model.parts) {
		const of = command_of_part(model, selection);
		return of ? command_lacks(of.model, of.selection, around) : "it takes one range of time of one capture";
	}
	if (selection.times.length > 1)
		return "it takes one range of time";
	if (selection.during) {
		if (selection.not_during)
			return "all but a span's times";
		if (["during", "between"].some((name) => command_is_given(model.head, name)))
			return "the page was made of a span's times";
		if (!filter_ranges(model, selection).length)
			return "the span is not within the selected time";
	}
	if ((selection.during + around).includes("\\x"))
		return "a name has a byte that is shown as \\xNN";
	for (const [list, name] of COMMAND_LISTS) {
		const { values } = command_list(model, selection, list, name);
		if (selection[list].length && !values.length)
			return "nothing is left of the page";
		if (values.some((value) => /,|^\s|\s$|\\x|^!/.test(value)))
			return "a name has a character that --comm does not take";
		if (list !== "comms" && values.some((value) => value < 0))
			return "--" + name + " takes no negative number";
	}
	for (const text of ["symbol", "dso", "parent"]) {
		if (selection[text] && command_is_given(model.head, text))
			return "the page was made with --" + text + ", and a second one would add to it";
		if (selection[text].includes("\\\\x"))
			return "a name has a byte that is shown as \\xNN";
	}
	return null;
}

export function command_words(model, selection) {
	const words = [], replaced = new Set();
	const add = (name, value) => {
		words.push("--" + name + "=" + value);
		replaced.add(name);
	};
	if (selection.times.length)
		add("time", command_time(model.head, selection.times[0]));
	if (selection.during)
		add("during", selection.during);
	for (const [list, name] of COMMAND_LISTS) {
		const { negated, values } = command_list(model, selection, list, name);
		if (selection[list].length)
			add(name, (negated ? "!" : "") + values.join(","));
	}
	for (const name of ["symbol", "dso", "parent"])
		if (selection[name])
			add(name, selection[name]);
	return [...command_given(model.head, replaced), ...words];
}

// A word as a shell takes it.
function command_quote(word) {
	return /^[A-Za-z0-9_\-+=:,./%@^]+$/.test(word) ? word : "'" + word.replaceAll("'", "'\\''") + "'";
}

export function command_line(model, selection, view) {
	if (model.parts) {
		const of = command_of_part(model, selection);
		return command_line(of.model, of.selection, view);
	}
	return ["ebprec", "report", ...view, ...command_words(model, selection), "-i", model.head.file].map(command_quote).join(" ");
}

// The part of each stack that the graph shows.
export function command_around({ around, order }) {
	return around ? ["--" + (order === "up" ? "callers" : "callees") + "=" + around, "--sort=symbol"] : [];
}

// `ebprec marks` and `ebprec metrics` take threads and times alone.
export function command_events(model, selection, view) {
	const options = model.head.options.filter((word, i, all) => /^--(time|last|during|between|comm|pid|tid)=/.test(word) || (i && all[i - 1].startsWith("--between=")));
	const words = command_words({ ...model, head: { ...model.head, options } }, { ...selection, cpus: [], symbol: "", dso: "", parent: "" });
	return ["ebprec", ...view, ...words, "-i", model.head.file].map(command_quote).join(" ");
}

// Two ranges are two captures for `ebprec diff`; null: one is in none.
export function command_compare(model, selection, ranges) {
	const line = (words) => words.map(command_quote).join(" "), names = ["before.data", "after.data"];
	const parts = ranges.map((range) => (model.parts ? join_part(model, range) : { from_us: 0, head: model.head }));
	if (parts.includes(null))
		return null;
	const captures = model.parts && parts.every((part, i) => join_is_part(part, ranges[i])), renames = parts[0].head.renames || [];
	const slice = (part, i) => line(["ebprec", "slice", "--time=" + command_time(part.head, ranges[i].map((us) => us - part.from_us)), "-o", names[i], "-i", part.head.file]);
	const options = parts[0].head.options.filter((word, n, all) => captures || (!/^--(time|last|during|between)=/.test(word) && !(n && all[n - 1].startsWith("--between="))));
	const words = ["ebprec", "diff", "--total", ...(captures ? ["--normalize=share"] : []), ...renames.flatMap((name, i) => (i % 2 ? "--rename=" + renames[i - 1] + "=" + name : [])),
		...command_words({ ...model, head: { ...model.head, options } }, selection), ...(captures ? parts.map((part) => part.head.file) : names)];
	return [...(captures ? [] : parts.map(slice)), line(words)].join(" && ");
}
