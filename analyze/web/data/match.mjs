// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
// match - names by regular expressions
import { regex_make } from "./regex.mjs";

const MATCH_EXACTLY = /^\^((?:[^\\^$.*+?()[\]{}|]|\\[\\^$.*+?()[\]{}|])*)\$$/;

// A function that returns whether a text matches.  Throws an Error with the reason why there is none.  One text alone may be longer than
// an expression: names of templates are.
export function match_test(expression, caseless) {
	const exactly = expression.match(MATCH_EXACTLY), fold = (text) => (caseless ? text.toLowerCase() : text), wanted = fold(exactly?.[1].replace(/\\(.)/gs, "$1") || "");
	return exactly ? (text) => fold(text) === wanted : regex_make(expression, caseless);
}

// The expression that matches this text alone, for us and as POSIX has it.
export function match_exactly(text) {
	return "^" + text.replace(/[\\^$.*+?()[\]{}|]/g, "\\$&") + "$";
}

// Frames whose name matches, 1 each.
export function match_frames(model, expression, caseless) {
	const test = match_test(expression, caseless);
	return Uint8Array.from(model.frames.name, (name) => test(name) ? 1 : 0);
}

// The weight of stacks that have a match anywhere, each once.  self: by node of a tree whose parents come first.
export function match_weight(tree, hits, self) {
	const inside = new Uint8Array(tree.count);
	let sum = 0;
	for (let i = 1; i < tree.count; i++) {
		inside[i] = inside[tree.parent[i]] || (tree.frame[i] >= 0 && hits[tree.frame[i]]) ? 1 : 0;
		if (inside[i])
			sum += self[i];
	}
	return sum;
}
