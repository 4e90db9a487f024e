// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
// regex - whether a text has a part that matches an expression, in time that grows with the text's length alone
//
// A browser's own expressions try one way after the other, and some never end; names are strangers', and an
// expression may come with a link.  Here all ways are followed at once: sets of places in the expression are states, made when
// a text first leads to them.  The browser's own read single characters.  Known are . [] [^] [:alpha:] () (?:) | * + ? {m,n}
// ^ $ \w \s \d \b and their opposites; what is not, is refused by an Error.
import { map_get, refuse } from "./lists.mjs";

const REGEX_MOST = 2000, REGEX_STATES = 1000, REGEX_DEPTH = 100;
const END = -1, START = -2; // in place of characters
const MATCH = { over: true }, NO_MATCH = { over: true }; // in place of states

const REGEX_TOKENS = /\[\^?\]?(?:\[:[a-z]+:\]|\\.|(?!\[:[a-z]+:\])[^\]\\])*\]|\\.|\{\d{1,4}(?:,\d{0,4})?\}|./gsu;
const REGEX_WORD = /^\w$/, REGEX_ASSERTION = /^(\^|\$|\\[bB])$/;
const REGEX_NAMED = { alpha: "\\p{L}", digit: "0-9", alnum: "\\p{L}0-9", upper: "\\p{Lu}", lower: "\\p{Ll}", space: "\\s", punct: "!-\\/:-@\\[-`{-~", xdigit: "0-9A-Fa-f" };

// ---- from text to places: a place reads a character, is an assertion, leads to others, or is the end ----

// Each of these reads a part from at, and returns a function that puts it before the place next and returns where it begins.
function regex_choice(at) {
	const ways = [];
	do {
		const row = [];
		while (at.i < at.list.length && at.list[at.i] !== "|" && at.list[at.i] !== ")")
			row.push(regex_repeated(at, regex_one(at)));
		ways.push((next) => row.reduceRight((to, part) => part(to), next));
	} while (at.list[at.i++] === "|");
	at.i--;
	return (next) => regex_put(at, { to: ways.map((way) => way(next)) });
}

function regex_put({ places }, place) {
	if (places.push(place) > REGEX_MOST)
		refuse("too long an expression");
	return places.length - 1;
}

function regex_repeated(at, part) {
	const token = at.list[at.i] || "", bounds = token.match(/^\{(\d+)(,?)(\d*)\}$/);
	const [least, most] = { "*": [0, Infinity], "+": [1, Infinity], "?": [0, 1] }[token] ||
		(bounds ? [Number(bounds[1]), bounds[3] ? Number(bounds[3]) : bounds[2] ? Infinity : Number(bounds[1])] : []);
	if (token === "{")
		refuse("a { without {number} or {number,number}");
	if (least === undefined)
		return part;
	if (least > most)
		refuse("numbers in { } out of order");
	if (REGEX_ASSERTION.test(at.list[at.i++ - 1]))
		refuse("nothing to repeat");
	return regex_repeated(at, (next) => {
		let to = next;
		if (most === Infinity) {
			to = regex_put(at, { to: [next] });
			at.places[to].to.push(part(to));
		} else {
			for (let i = least; i < most; i++)
				to = regex_put(at, { to: [next, part(to)] });
		}
		for (let i = 0; i < least; i++)
			to = part(to);
		return to;
	});
}

function regex_group(at) {
	if (++at.depth > REGEX_DEPTH)
		refuse("too many ( within another");
	if (at.list[at.i] === "?") {
		if (at.list[at.i + 1] !== ":")
			refuse("(?" + (at.list[at.i + 1] || "") + " is not known here");
		at.i += 2;
	}
	const inside = regex_choice(at);
	if (at.list[at.i++] !== ")")
		refuse("a ( without )");
	at.depth--;
	return inside;
}

function regex_one(at) {
	const token = at.list[at.i++], fold = (char) => (at.caseless ? char.toLowerCase() : char), own = fold(token);
	if (token === "(")
		return regex_group(at);
	if (/^[*+?{]/.test(token))
		refuse("nothing to repeat");
	if (token === "[" || token === "\\")
		refuse(token === "[" ? "a [ without ]" : "a \\ at the end");
	const place = REGEX_ASSERTION.test(token) ? { assert: token.at(-1) } : { test: /^[.[\\]/.test(token) ? regex_set(token, at.caseless) : (char) => fold(char) === own };
	return (next) => regex_put(at, { ...place, next });
}

// A set, a class of characters or an escaped one, as the browser reads it.
function regex_set(token, caseless) {
	const inside = token.replace(/(?!^)\[:([a-z]+):\]|\\(.)|(?<=^\[\^?)\]/gsu, (part, name, escaped) => {
		if (name ? !Object.hasOwn(REGEX_NAMED, name) : /[A-Za-z0-9]/.test(escaped || "") && !/[dDwWsSnrtfv]/.test(escaped))
			refuse(part + " is not known here");
		return name ? REGEX_NAMED[name] : !escaped ? "\\]" : /[\w\\\]^-]/.test(escaped) ? part : escaped;
	});
	try {
		const regex = new RegExp("^" + (token === "." ? "[^\\n]" : token[0] === "[" ? inside : "[" + inside + "]") + "$", caseless ? "iu" : "u");
		return (char) => regex.test(char);
	} catch {
		refuse("a range in [ ] out of order");
	}
}

// ---- states ----

function regex_holds(assert, before, after) {
	if (assert === "^")
		return before === START;
	if (assert === "$")
		return after === END;
	return ((before === true) !== (after >= 0 && REGEX_WORD.test(String.fromCodePoint(after)))) === (assert === "b");
}

// A machine in its first state, and none other known.
function regex_begin(machine) {
	machine.known.clear();
	machine.start = { places: [], before: START, to: [] };
}

// The state in which it is behind code; MATCH: there was one.
function regex_step(machine, state, code) {
	const { places, first, known } = machine, seen = new Set([...state.places, first]), next = new Set(), char = code === END ? "" : String.fromCodePoint(code);
	for (const at of seen) { // those that are added meanwhile, too
		const { to, assert, test, end, next: behind } = places[at];
		if (end)
			return MATCH;
		(to || (assert && regex_holds(assert, state.before, code) ? [behind] : [])).forEach((other) => seen.add(other));
		if (char && test?.(char))
			next.add(behind);
	}
	// Behind a word's character (true) or another.  When there are too many states, all are made anew.
	const list = [...next].sort((a, b) => a - b), before = REGEX_WORD.test(char);
	return code === END ? NO_MATCH : map_get(known, before + ":" + list, () => {
		if (known.size === REGEX_STATES)
			regex_begin(machine);
		return { places: list, before, to: [] };
	});
}

// A function that returns whether a text has such a part.  Throws an Error of a few words.
export function regex_make(expression, caseless) {
	const at = { list: expression.match(REGEX_TOKENS) || [], i: 0, depth: 0, caseless, places: [{ end: true }] }, first = regex_choice(at)(0), machine = { places: at.places, first, known: new Map(), start: null };
	if (at.i < at.list.length)
		refuse("a ) too many");
	regex_begin(machine);
	return (text) => {
		let state = machine.start;
		for (let i = 0; !state.over; i++) {
			const code = i < text.length ? text.codePointAt(i) : END;
			i += code > 0xffff ? 1 : 0;
			state = state.to[code] ??= regex_step(machine, state, code);
		}
		return state === MATCH;
	};
}
