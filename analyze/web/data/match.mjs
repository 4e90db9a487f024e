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
export const match_exactly = (text) => "^" + text.replace(/[\\^$.*+?()[\]{}|]/g, "\\$&") + "$";

// Frames whose name matches, 1 each.
export function match_frames(model, expression, caseless) {
	const test = match_test(expression, caseless);
	return Uint8Array.from(model.frames.name, (name) => test(name) ? 1 : 0);
}

// Nodes of a tree, whose parents come first, that are a match or below one, 1 each.
export function match_inside({ count, parent, frame }, hits) {
	const inside = new Uint8Array(count);
	for (let i = 1; i < count; i++)
		inside[i] = inside[parent[i]] || hits[frame[i]] ? 1 : 0;
	return inside;
}

// The weight of stacks that have a match anywhere, each once.  self: by node.
export function match_weight(tree, hits, self) {
	const inside = match_inside(tree, hits);
	return self.reduce((sum, own, i) => sum + (inside[i] ? own : 0), 0);
}
