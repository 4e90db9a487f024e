// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
// folded - stacks as lines of text: comm;root;...;leaf count, as `ebprec report --folded` has them
import { tree_path } from "./tree.mjs";

// By the bytes of UTF-8, which is the order of code points.
function folded_compare(a, b) {
	for (let i = 0; i < a.length && i < b.length; i++)
		if (a[i] !== b[i])
			return a[i] - b[i];
	return a.length - b.length;
}

// tree: by comm, not inverted.
export function folded_text(model, tree, self) {
	const encoder = new TextEncoder(), decoder = new TextDecoder(), lines = [];
	for (let i = 1; i < tree.count; i++)
		if (self[i]) {
			const labels = tree_path(tree, i).map((node) => model.frames.label[tree.frame[node]] ?? tree.groups[-2 - tree.frame[node]]);
			lines.push(encoder.encode(labels.join(";") + " " + self[i] + "\n"));
		}
	return lines.sort(folded_compare).map((line) => decoder.decode(line)).join("");
}
