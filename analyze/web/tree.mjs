// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
// tree - trees of calls made from the page's one tree: below groups, or from the leaves on
//
// A tree has, by node: parent (which comes first), frame (>= 0), or for a group -2 - its number; node 0 is the root
// (-1).  Frames of one label below one caller are one node, as in folded stacks.  slots says by sample
// for which pair of group and stack it counts; by slot, ends says which node that is, and stacks which stack.
import { NODE_ROOT } from "./model.mjs";

export const TREE_GROUPS = {
	none: null,
	comm: (model) => (task) => model.tasks.label[task],
	process: (model) => (task) => model.tasks.label[task] + " (" + model.tasks.pid[task] + ")",
	thread: (model) => (task) => model.tasks.label[task] + " (" + model.tasks.pid[task] + "/" + model.tasks.tid[task] + ")",
	container: (model) => (task) => model.tasks.container[task],
};

// The number of each task's group, and the groups' names.
function tree_groups(model, by) {
	const of = new Uint32Array(model.tasks.count), names = [], known = new Map();
	const name_of = TREE_GROUPS[by](model);
	for (let t = 0; t < of.length; t++) {
		const name = name_of(t);
		if (!known.has(name)) {
			known.set(name, names.length);
			names.push(name);
		}
		of[t] = known.get(name);
	}
	return { of, names };
}

// Distinct pairs of group and stack, and which each sample has.
function tree_slots(model, groups) {
	const { stack, task, count } = model.samples, stack_count = model.samples.node.length;
	if (!groups)
		return { slots: stack, pairs: Float64Array.from({ length: stack_count }, (_, i) => i) };
	const slots = new Uint32Array(count), known = new Map(), pairs = [];
	for (let i = 0; i < count; i++) {
		const pair = groups.of[task[i]] * stack_count + stack[i];
		let slot = known.get(pair);
		if (slot === undefined) {
			slot = pairs.length;
			known.set(pair, slot);
			pairs.push(pair);
		}
		slots[i] = slot;
	}
	return { slots, pairs };
}

function tree_child(growing, up, frame, key) {
	const id = up * growing.keys + key;
	let node = growing.index.get(id);
	if (node === undefined) {
		node = growing.parent.length;
		growing.index.set(id, node);
		growing.parent.push(up);
		growing.frame.push(frame);
	}
	return node;
}

// Puts the stack that ends in node below top.
function tree_add(growing, model, node, top, inverted, memo) {
	const { parent, frame } = model.nodes, label = model.frames.label_id, path = [];
	let at = node;
	if (!inverted) {
		for (; at !== NODE_ROOT && !memo.has(at); at = parent[at])
			path.push(at);
		let to = at === NODE_ROOT ? top : memo.get(at);
		while (path.length) {
			at = path.pop();
			to = tree_child(growing, to, frame[at], label[frame[at]]);
			memo.set(at, to);
		}
		return to;
	}
	for (; at !== NODE_ROOT; at = parent[at])
		top = tree_child(growing, top, frame[at], label[frame[at]]);
	return top;
}

// by: a key of TREE_GROUPS; inverted: from the function that ran to its callers.
export function tree_grow(model, by, inverted) {
	const groups = by === "none" ? null : tree_groups(model, by);
	const { slots, pairs } = tree_slots(model, groups);
	const stack_count = model.samples.node.length;
	const growing = { parent: [0], frame: [-1], index: new Map(), keys: 0 };
	const ends = new Uint32Array(pairs.length), stacks = new Uint32Array(pairs.length), memos = new Map();
	// Labels are numbers of strings; groups come behind them.
	const label_count = model.frames.label_id.reduce((a, b) => Math.max(a, b + 1), 0);
	growing.keys = label_count + (groups ? groups.names.length : 0);
	for (let i = 0; i < pairs.length; i++) {
		const group = Math.floor(pairs[i] / stack_count);
		stacks[i] = pairs[i] % stack_count;
		const node = model.samples.node[stacks[i]];
		if (!memos.has(group))
			memos.set(group, new Map());
		const top = groups ? tree_child(growing, 0, -2 - group, label_count + group) : 0;
		ends[i] = tree_add(growing, model, node, top, inverted, memos.get(group));
	}
	return tree_finish(model, growing, groups, { slots, ends, stacks });
}

function tree_finish(model, growing, groups, counting) {
	const count = growing.parent.length;
	const tree = { count, parent: Uint32Array.from(growing.parent), frame: Int32Array.from(growing.frame),
		depth: new Uint32Array(count), groups: groups ? groups.names : [], ...counting };
	tree.first = new Uint32Array(count + 2); // callees of i: callees[first[i]] to callees[first[i + 1]]
	for (let i = 1; i < count; i++) {
		tree.depth[i] = tree.depth[tree.parent[i]] + 1;
		tree.first[tree.parent[i] + 1]++;
	}
	for (let i = 1; i < count + 1; i++)
		tree.first[i] += tree.first[i - 1];
	const at = tree.first.slice();
	tree.callees = new Uint32Array(count - 1);
	for (let i = 1; i < count; i++)
		tree.callees[at[tree.parent[i]]++] = i;
	tree.deepest = tree.depth.reduce((a, b) => Math.max(a, b), 0);
	tree_sort(model, tree);
	tree.place = new Uint32Array(count); // where in callees it is
	tree.callees.forEach((node, i) => { tree.place[node] = i; });
	return tree;
}

// Callees by name: frames keep their place when the selection changes.
function tree_sort(model, tree) {
	const rank = new Float64Array(tree.count);
	const names = Array.from({ length: tree.count }, (_, i) => i);
	const text = names.map((i) => tree_name(model, tree, i));
	names.sort((a, b) => text[a] < text[b] ? -1 : text[a] > text[b] ? 1 : a - b);
	names.forEach((node, i) => { rank[node] = i; });
	for (let i = 0; i < tree.count; i++)
		if (tree.first[i + 1] - tree.first[i] > 1)
			tree.callees.subarray(tree.first[i], tree.first[i + 1]).sort((a, b) => rank[a] - rank[b]);
}

export function tree_name(model, tree, node) {
	const frame = tree.frame[node];
	return frame >= 0 ? model.frames.name[frame] : frame === -1 ? "all" : tree.groups[-2 - frame];
}

// weights: by slot.  self and total by node.
export function tree_weigh(tree, weights) {
	const self = new Float64Array(tree.count);
	for (let i = 0; i < weights.length; i++)
		self[tree.ends[i]] += weights[i];
	const total = self.slice();
	for (let i = tree.count - 1; i > 0; i--)
		total[tree.parent[i]] += total[i];
	return { self, total };
}

// The nodes from the root's callee down to node.
export function tree_path(tree, node) {
	const path = [];
	for (; node; node = tree.parent[node])
		path.push(node);
	return path.reverse();
}
