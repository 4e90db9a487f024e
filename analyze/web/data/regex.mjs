// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
// regex - whether a text has a part that matches an expression, in time that grows with the text's length alone
//
// A browser's own expressions try one way after the other, and some never end; names are strangers', and an
// expression may come with a link.  Here all ways are followed at once: sets of places in the expression are states, made when
// a text first leads to them.  The browser's own read single characters.  Known are . [] [^] [:alpha:] () (?:) | * + ? {m,n}
// ^ $ \w \s \d \b and their opposites; what is not, is refused by an Error.
import { refuse } from "./lists.mjs";

const REGEX_MOST = 2000, REGEX_STATES = 1000, REGEX_DEPTH = 100;
const END = -1, START = -2; // in place of characters
const UNKNOWN = -1, MATCH = -2, NO_MATCH = -3; // in place of states

const REGEX_TOKENS = /\[\^?\]?(?:\[:[a-z]+:\]|\\.|(?!\[:[a-z]+:\])[^\]\\])*\]|\\.|\{\d{1,4}(?:,\d{0,4})?\}|./gsu;
const REGEX_WORD = /^\w$/;
const REGEX_NAMED = { alpha: "\\p{L}", digit: "0-9", alnum: "\\p{L}0-9", upper: "\\p{Lu}", lower: "\\p{Ll}", space: "\\s", punct: "!-\\/:-@\\[-`{-~", xdigit: "0-9A-Fa-f" };

// ---- from text to a tree ----

function regex_parse(text, caseless) {
	const at = { list: text.match(REGEX_TOKENS) || [], i: 0, depth: 0, caseless }, tree = regex_choice(at);
	if (at.i < at.list.length)
		refuse("a ) too many");
	return tree;
}

function regex_choice(at) {
	const ways = [];
	do {
		const row = [];
		while (at.i < at.list.length && at.list[at.i] !== "|" && at.list[at.i] !== ")")
			row.push(regex_repeated(at, regex_one(at)));
		ways.push({ row });
	} while (at.list[at.i++] === "|");
	at.i--;
	return { ways };
}

function regex_repeated(at, what) {
	for (;;) {
		const token = at.list[at.i] || "", bounds = token.match(/^\{(\d+)(,?)(\d*)\}$/);
		const [least, most] = { "*": [0, Infinity], "+": [1, Infinity], "?": [0, 1] }[token] ||
			(bounds ? [Number(bounds[1]), bounds[3] ? Number(bounds[3]) : bounds[2] ? Infinity : Number(bounds[1])] : []);
		if (token === "{")
			refuse("a { without {number} or {number,number}");
		if (least === undefined)
			return what;
		if (least > most)
			refuse("numbers in { } out of order");
		if (what.assert)
			refuse("nothing to repeat");
		at.i++;
		what = { what, least, most };
	}
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
	const token = at.list[at.i++];
	if (token === "(")
		return regex_group(at);
	if (/^(\^|\$|\\[bB])$/.test(token))
		return { assert: token.slice(-1) };
	if (/^[*+?{]/.test(token))
		refuse("nothing to repeat");
	if (token === "[" || token === "\\")
		refuse(token === "[" ? "a [ without ]" : "a \\ at the end");
	if (/^[.[\\]/.test(token))
		return { test: regex_set(token, at.caseless) };
	const fold = (char) => (at.caseless ? char.toLowerCase() : char), own = fold(token);
	return { test: (char) => fold(char) === own };
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

// ---- from the tree to places: a place reads a character, is an assertion, leads to others, or is the end ----

function regex_place(places, place) {
	if (places.push(place) > REGEX_MOST)
		refuse("too long an expression");
	return places.length - 1;
}

// Puts what before the place next, and returns where it begins.
function regex_put(places, what, next) {
	if (what.row)
		return what.row.reduceRight((to, part) => regex_put(places, part, to), next);
	if (what.ways)
		return regex_place(places, { to: what.ways.map((way) => regex_put(places, way, next)) });
	if (what.what)
		return regex_put_repeated(places, what, next);
	return regex_place(places, { ...what, next });
}

function regex_put_repeated(places, { what, least, most }, next) {
	let to = next;
	if (most === Infinity) {
		const again = regex_place(places, { to: [next] });
		places[again].to.push(regex_put(places, what, again));
		to = again;
	} else {
		for (let i = least; i < most; i++)
			to = regex_place(places, { to: [next, regex_put(places, what, to)] });
	}
	for (let i = 0; i < least; i++)
		to = regex_put(places, what, to);
	return to;
}

// ---- states ----

function regex_holds(assert, before, after) {
	if (assert === "^")
		return before === START;
	if (assert === "$")
		return after === END;
	return ((before === true) !== (after >= 0 && REGEX_WORD.test(String.fromCodePoint(after)))) === (assert === "b");
}

// Where a state gets to by reading code; MATCH: there was one.
function regex_step(machine, state, code) {
	const { places, first } = machine, todo = [...state.places, first], seen = new Set(todo), next = new Set();
	const char = code >= 0 ? String.fromCodePoint(code) : "";
	while (todo.length) {
		const place = places[todo.pop()];
		const follow = place.to || (place.assert && regex_holds(place.assert, state.before, code) ? [place.next] : []);
		if (place.end)
			return MATCH;
		for (const to of follow)
			if (!seen.has(to)) {
				seen.add(to);
				todo.push(to);
			}
		if (char && place.test?.(char))
			next.add(place.next);
	}
	return code === END ? NO_MATCH : regex_state(machine, next, REGEX_WORD.test(char));
}

// The number of the state of these places, behind a word's character or (before) another; when there are too many states, all are made anew.
function regex_state(machine, places, before) {
	const list = [...places].sort((a, b) => a - b), key = before + ":" + list.join();
	if (!machine.numbers.has(key)) {
		if (machine.states.length === REGEX_STATES)
			regex_forget(machine);
		machine.numbers.set(key, machine.states.length);
		machine.states.push({ places: list, before, far: new Map() });
	}
	return machine.numbers.get(key);
}

function regex_forget(machine) {
	machine.numbers = new Map();
	machine.states = [{ places: [], before: START, far: new Map() }];
	machine.near.fill(UNKNOWN);
	machine.turn++;
}

function regex_next(machine, number, code) {
	const state = machine.states[number], { turn } = machine;
	let to = code < 128 ? UNKNOWN : state.far.get(code) ?? UNKNOWN;
	if (to !== UNKNOWN)
		return to;
	to = regex_step(machine, state, code);
	if (turn !== machine.turn) // it was forgotten meanwhile
		return to;
	if (code >= 0 && code < 128)
		machine.near[number * 128 + code] = to;
	else
		state.far.set(code, to);
	return to;
}

// A function that returns whether a text has such a part.  Throws an Error of a few words.
export function regex_make(expression, caseless) {
	const machine = { places: [], first: 0, numbers: null, states: null, near: new Int16Array(REGEX_STATES * 128), turn: 0 };
	const end = regex_place(machine.places, { end: true });
	machine.first = regex_put(machine.places, regex_parse(expression, caseless), end);
	regex_forget(machine);
	const { near } = machine;
	return (text) => {
		let state = 0;
		for (let i = 0; i < text.length; i++) {
			let code = text.charCodeAt(i), to = code < 128 ? near[state * 128 + code] : UNKNOWN;
			if (to === UNKNOWN) {
				code = text.codePointAt(i);
				i += code > 0xffff ? 1 : 0;
				to = regex_next(machine, state, code);
			}
			if (to === MATCH)
				return true;
			state = to;
		}
		const { far } = machine.states[state];
		if (!far.has(END))
			far.set(END, regex_step(machine, machine.states[state], END));
		return far.get(END) === MATCH;
	};
}
