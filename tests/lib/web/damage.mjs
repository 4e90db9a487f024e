// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
// damage.mjs PAGE COUNT - COUNT changed pages: each is read, or refused by an Error of one line
import { readFileSync } from "node:fs";

import { model_load } from "../../../analyze/web/data/model.mjs";
import { page_block } from "./page_file.mjs";

const [path, count] = process.argv.slice(2);
const html = readFileSync(path, "utf8"), head = page_block(html, "head");
const tables = JSON.parse(head).tables, blocks = tables.map((_, i) => page_block(html, "d" + i));
let state = 1;

function random(below) {
	state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
	return Math.floor(state / 2 ** 32 * below);
}

function damaged() {
	const changed = [...blocks], i = random(blocks.length), at = random(blocks[i].length);
	let text = head;
	switch (random(4)) {
	case 0: // cut
		changed[i] = changed[i].slice(0, at);
		break;
	case 1: // a digit of base64
		changed[i] = changed[i].slice(0, at) + "Az09+/"[random(6)] + changed[i].slice(at + 1);
		break;
	case 2: // a number of the head
		text = head.replace(/"(rows|bytes)": \d+/g, (m, key) => random(12) ? m : '"' + key + '": ' + [0, 1, 2 ** 31, 2 ** 53][random(4)]);
		break;
	default: // a block in the place of another
		changed[i] = blocks[random(blocks.length)];
	}
	return [text, changed];
}

let refused = 0;
for (let i = 0; i < Number(count); i++) {
	const [text, changed] = damaged();
	try {
		await model_load(text, (n) => changed[n]);
	} catch (error) {
		if (!(error instanceof Error) || error.message.includes("\n") || error instanceof TypeError) {
			console.error("damage " + i + ": " + error.stack);
			process.exit(1);
		}
		refused++;
	}
}
if (refused < Number(count) / 2) {
	console.error("only " + refused + " of " + count + " changed pages were refused");
	process.exit(1);
}
