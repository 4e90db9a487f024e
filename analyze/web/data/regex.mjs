// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
// regex - whether a text has a part that matches an expression, in time that grows with the text's length alone
//
// A browser's own expressions try one way after the other, and some never end; names are strangers', and an
// expression may come with a link.  Here all ways are followed at once: sets of places in the expression are states, made when
// a text first leads to them.  Known are . [] [^] [:alpha:] () (?:) | * + ? {m,n} ^ $ \w \s \d \b and their opposites;
// what is not, is refused by an Error.

const REGEX_MOST = 2000, REGEX_STATES = 1000, REGEX_DEPTH = 100;
const END = -1, START = -2; // in place of characters
const UNKNOWN = -1, MATCH = -2, NO_MATCH = -3; // in place of states

const REGEX_CLASSES = { d: (c) => c >= 48 && c <= 57, w: regex_is_word, s: (c) => c === 32 || (c >= 9 && c <= 13) || c === 0xa0 };
const REGEX_NAMED = { alpha: /\p{L}/u, digit: /[0-9]/, alnum: /[\p{L}0-9]/u, upper: /\p{Lu}/u, lower: /\p{Ll}/u, space: /\s/, punct: /[!-/:-@[-`{-~]/, xdigit: /[0-9A-Fa-f]/ };
const REGEX_ESCAPED = { n: 10, t: 9, r: 13, f: 12, v: 11 };

function regex_is_word(c) {
	return (c >= 48 && c <= 57) || (c >= 65 && c <= 90) || c === 95 || (c >= 97 && c <= 122);
}

// ---- from text to a tree ----

function regex_parse(text) {
	const at = { list: [...text], i: 0, depth: 0 }, tree = regex_choice(at);
	if (at.i < at.list.length)
		throw new Error("a ) too many");
	return tree;
}

function regex_choice(at) {
	const ways = [regex_row(at)];
	while (at.list[at.i] === "|") {
		at.i++;
		ways.push(regex_row(at));
	}
	return ways.length > 1 ? { ways } : ways[0];
}

function regex_row(at) {
	const row = [];
	while (at.i < at.list.length && at.list[at.i] !== "|" && at.list[at.i] !== ")")
		row.push(regex_repeated(at, regex_one(at)));
	return { row };
}

function regex_repeated(at, what) {
	for (;;) {
		const c = at.list[at.i];
		let counts = { "*": [0, Infinity], "+": [1, Infinity], "?": [0, 1] }[c];
		if (c === "{") {
			const bounds = at.list.slice(at.i, at.i + 12).join("").match(/^\{(\d{1,4})(,(\d{0,4}))?\}/);
			if (!bounds)
				throw new Error("a { without {number} or {number,number}");
			counts = [Number(bounds[1]), bounds[2] === undefined ? Number(bounds[1]) : bounds[3] === "" ? Infinity : Number(bounds[3])];
			at.i += bounds[0].length - 1;
		}
		if (!counts)
			return what;
		if (counts[0] > counts[1])
			throw new Error("numbers in { } out of order");
		if (what.assert)
			throw new Error("nothing to repeat");
		at.i++;
		what = { what, least: counts[0], most: counts[1] };
	}
}

function regex_group(at) {
	if (++at.depth > REGEX_DEPTH)
		throw new Error("too many ( within another");
	if (at.list[at.i] === "?") {
		if (at.list[at.i + 1] !== ":")
			throw new Error("(?" + (at.list[at.i + 1] || "") + " is not known here");
		at.i += 2;
	}
	const inside = regex_choice(at);
	if (at.list[at.i++] !== ")")
		throw new Error("a ( without )");
	at.depth--;
	return inside;
}

function regex_one(at) {
	const c = at.list[at.i++];
	switch (c) {
	case "(":
		return regex_group(at);
	case "[":
		return { test: regex_set(at) };
	case ".":
		return { test: (code) => code !== 10 };
	case "^":
	case "$":
		return { assert: c };
	case "\\":
		return regex_escape(at);
	case "*":
	case "+":
	case "?":
	case "{":
		throw new Error("nothing to repeat");
	default:
		return { code: c.codePointAt(0) };
	}
}

function regex_escape(at) {
	const c = at.list[at.i++];
	if (c === undefined)
		throw new Error("a \\ at the end");
	if (c === "b" || c === "B")
		return { assert: c };
	const test = REGEX_CLASSES[c.toLowerCase()];
	if (test)
		return { test: c === c.toLowerCase() ? test : (code) => !test(code) };
	if (/[A-Za-z0-9]/.test(c) && !(c in REGEX_ESCAPED))
		throw new Error("\\" + c + " is not known here");
	return { code: REGEX_ESCAPED[c] || c.codePointAt(0) };
}

// [...], of which the [ is behind.
function regex_set(at) {
	const tests = [], negated = at.list[at.i] === "^";
	at.i += negated ? 1 : 0;
	for (let first = true; first || at.list[at.i] !== "]"; first = false) {
		if (at.i >= at.list.length)
			throw new Error("a [ without ]");
		const named = at.list.slice(at.i, at.i + 12).join("").match(/^\[:([a-z]+):\]/);
		if (named) {
			const regex = Object.hasOwn(REGEX_NAMED, named[1]) ? REGEX_NAMED[named[1]] : null;
			if (!regex)
				throw new Error("[:" + named[1] + ":] is not known here");
			at.i += named[0].length;
			tests.push((code) => regex.test(String.fromCodePoint(code)));
			continue;
		}
		const from = regex_member(at);
		if (from.test || at.list[at.i] !== "-" || at.list[at.i + 1] === "]") {
			tests.push(from.test || ((code) => code === from.code));
			continue;
		}
		at.i++;
		const to = regex_member(at);
		if (to.test || to.code < from.code)
			throw new Error("a range in [ ] out of order");
		tests.push((code) => code >= from.code && code <= to.code);
	}
	at.i++;
	return (code, other) => tests.some((test) => test(code) || test(other)) !== negated;
}

function regex_member(at) {
	const c = at.list[at.i++];
	if (c === undefined)
		throw new Error("a [ without ]");
	const member = c === "\\" ? regex_escape(at) : { code: c.codePointAt(0) };
	if (member.assert)
		throw new Error("\\" + member.assert + " within [ ]");
	return member;
}

// ---- from the tree to places: a place reads a character, is an assertion, leads to others, or is the end ----

function regex_place(places, place) {
	if (places.push(place) > REGEX_MOST)
		throw new Error("too long an expression");
	return places.length - 1;
}

// Puts what before the place next, and says where it begins.
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
	return (regex_is_word(before) !== regex_is_word(after)) === (assert === "b");
}

function regex_reads(place, code, other) {
	return place.test ? place.test(code, other) : place.code === code || place.code === other;
}

// Where a state gets to by reading code after a character like before; MATCH: there was one.
function regex_step(machine, state, code) {
	const { places, first, caseless } = machine, todo = [...state.places, first], seen = new Set(todo), next = new Set();
	const char = code >= 0 && caseless ? String.fromCodePoint(code) : "";
	const other = char ? (char.toLowerCase() === char ? char.toUpperCase() : char.toLowerCase()).codePointAt(0) : code;
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
		if (!place.to && !place.assert && code !== END && regex_reads(place, code, other))
			next.add(place.next);
	}
	return code === END ? NO_MATCH : regex_state(machine, next, regex_is_word(code) ? 97 : 32);
}

// The number of the state of these places; when there are too many states, all are made anew.
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

// A function that says whether a text has such a part.  Throws an Error of a few words.
export function regex_make(expression, caseless) {
	const machine = { places: [], first: 0, caseless, numbers: null, states: null, near: new Int16Array(REGEX_STATES * 128), turn: 0 };
	const end = regex_place(machine.places, { end: true });
	machine.first = regex_put(machine.places, regex_parse(expression), end);
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
