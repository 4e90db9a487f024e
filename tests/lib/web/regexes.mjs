// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
// regexes.mjs SEED COUNT - the viewer's expressions against those of JavaScript, and against texts on which these never end
import assert from "node:assert/strict";

import { regex_make } from "../../../analyze/web/data/regex.mjs";

const [seed, count] = process.argv.slice(2);
let state = Number(seed);

function random(below) {
	state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
	return Math.floor(state / 2 ** 32 * below);
}

function random_part(depth) {
	const plain = ["a", "b", "_", "\u00e9", "\ud83d\ude00", ".", "\\.", "[ab]", "[^a]", "[a-c_]", "\\w", "\\W", "\\s", "\\d", "[\\d_]", "^", "$", "\\b", "\\B", " "];
	if (depth < 1 || random(3))
		return plain[random(plain.length)];
	const inside = random_row(depth - 1);
	return random(2) ? "(" + inside + ")" : "(?:" + inside + "|" + random_row(depth - 1) + ")";
}

function random_row(depth) {
	return Array.from({ length: 1 + random(3) }, () => {
		const part = random_part(depth);
		return /^(\^|\$|\\[bB])$/.test(part) ? part : part + ["", "", "*", "+", "?", "{2}", "{0,2}", "{1,}"][random(8)];
	}).join("");
}

function random_text() {
	return Array.from({ length: random(9) }, () => ["a", "b", "A", "c", "_", " ", ".", "1", "\u00e9", "\u00c9", "\ud83d\ude00", "\n"][random(12)]).join("");
}

for (let i = 0; i < Number(count); i++) {
	const expression = random_row(2), caseless = random(2) > 0;
	const ours = regex_make(expression, caseless), theirs = new RegExp(expression, caseless ? "iu" : "u");
	for (let n = 0; n < 20; n++) {
		const text = random_text();
		if (expression.includes("\\B") && text.includes("\ud83d"))
			continue; // V8 looks between the halves of a character, too
		assert.equal(ours(text), theirs.test(text), JSON.stringify([expression, caseless, text]));
	}
}

// As the command has them.
for (const [expression, yes, no] of [["^[]a]$", "]", "b"], ["^[^]a]$", "b", "]"], ["^[[:alpha:]_]+$", "a_b", "a1"], ["^[a-]$", "-", "b"], ["^(a|)$", "", "b"]]) {
	assert.ok(regex_make(expression, false)(yes), expression);
	assert.ok(!regex_make(expression, false)(no), expression);
}
for (const wrong of ["(", ")", "a)", "[", "[a", "[]", "*", "a{2", "a{2,1}", "a{x}", "\\", "(?=a)", "(?<n>a)", "\\1", "\\p{L}", "[b-a]", "[[:nonsense:]]",
	"(((a{99}){99}){99}){99}", "(".repeat(5000), "a{9999}", "^*"])
	assert.throws(() => regex_make(wrong, false), (error) => error instanceof Error && !(error instanceof RangeError) && !error.message.includes("\n"), wrong);

// These take a browser longer than a user waits.
const long = "a".repeat(65000);
for (const endless of ["(a+)+$", "(a|a)*b", "(a|aa)+$", "a*a*a*a*a*b", "(.*)*x", "(a?){50}a{50}b", "([a-z]+)*[0-9]", "(\\w|a|aa|aaa)*\\d"])
	assert.equal(regex_make(endless, true)(long + "!"), false, endless);
