// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
// tree - trees of calls made from the page's one tree: below groups, or from the leaves on
//
// A tree has, by node: parent (which comes first), frame (>= 0), or for a group -2 - its number; node 0 is the root
// (-1).  Frames of one label below one caller are one node, as in folded stacks.  slots has by sample
// for which pair of group and stack it counts; by slot, ends has which node that is (NO_NODE: the tree is around functions
// that the stack does not have), and stacks which stack.
import { NODE_ROOT } from "../data/model.mjs";

const NO_NODE = 0xffffffff;

export const TREE_GROUPS = {
	none: null,
	comm: (model) => (task) => model.tasks.label[task],
	process: (model) => (task) => model.tasks.label[task] + " (" + model.tasks.pid[task] + ")",
	thread: (model) => (task) => model.tasks.label[task] + " (" + model.tasks.pid[task] + "/" + model.tasks.tid[task] + ")",
	container: (model) => (task) => model.tasks.container[task],
};

// Numbers of tasks by their names, and the names.
function tree_number(count, name_of) {
	const of = new Uint32Array(count), names = [], known = new Map();
	for (let t = 0; t < count; t++) {
		const name = name_of(t);
		if (!known.has(name)) {
			known.set(name, names.length);
			names.push(name);
		}
		of[t] = known.get(name);
	}
	return { of, names };
}

// The number of each task's group, and the groups' names.
function tree_groups(model, by) {
	return tree_number(model.tasks.count, TREE_GROUPS[by](model));
}

// Parts that are rounded each: groups of programs of one name.
function tree_parts(model, groups) {
	const { of, names } = tree_number(model.tasks.count, (t) => (groups ? groups.of[t] : 0) + " " + model.tasks.comm[t]);
	return { of, top: names.map((name) => parseInt(name, 10)) };
}

// 0, 1, 2 ...
function tree_numbers(type, count) {
	const numbers = new type(count);
	for (let i = 0; i < count; i++)
		numbers[i] = i;
	return numbers;
}

// Distinct pairs of group and stack, and which each row has.
function tree_slots(rows, groups) {
	const { stack, task, count } = rows, stack_count = rows.node.length;
	if (!groups)
		return { slots: stack, pairs: tree_numbers(Float64Array, stack_count) };
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

// Whether a frame has no node of its own below this one: it is hidden, or its caller has the same name and recursion is folded.
function tree_skips({ shape, frame }, label, up, at) {
	return shape.hidden?.[at] || (shape.fold && frame[up] >= 0 && label[frame[up]] === label[at]);
}

// Puts the stack that ends in node below top.  growing.to has by node of the model where it was put, when growing.turn
// does that this was in the same group.
function tree_add(growing, model, node, top, turn) {
	const { parent, frame } = model.nodes, label = model.frames.label_id, { path, shape } = growing;
	let at = node, depth = 0;
	for (; at !== NODE_ROOT && growing.turn[at] !== turn; at = parent[at])
		path[depth++] = at;
	let to = at !== NODE_ROOT ? growing.to[at] : shape.around ? NO_NODE : top;
	while (depth) {
		at = path[--depth];
		if (to === NO_NODE && shape.around[frame[at]])
			to = top;
		if (to !== NO_NODE && !tree_skips(growing, label, to, frame[at]))
			to = tree_child(growing, to, frame[at], label[frame[at]]);
		growing.to[at] = to;
		growing.turn[at] = turn;
	}
	return to;
}

// The outermost call on the way to node of one of these functions; the root: there is none.
function tree_outermost({ nodes }, node, around) {
	let outermost = NODE_ROOT;
	for (; node !== NODE_ROOT; node = nodes.parent[node])
		outermost = around[nodes.frame[node]] ? node : outermost;
	return outermost;
}

// The same from the function that ran to its callers, of which at most so many: of two such stacks no beginning is known
// to be the same.
function tree_add_inverted(growing, model, node, top, most) {
	const { parent, frame } = model.nodes, label = model.frames.label_id, { around } = growing.shape;
	if (around)
		node = tree_outermost(model, node, around);
	if (around && node === NODE_ROOT)
		return NO_NODE;
	for (; node !== NODE_ROOT && most > 0; node = parent[node])
		if (!tree_skips(growing, label, top, frame[node])) {
			top = tree_child(growing, top, frame[node], label[frame[node]]);
			most--;
		}
	return node === NODE_ROOT ? top : tree_child(growing, top, growing.further, growing.keys - 1);
}

// How many callers of each stack there is room for.
function tree_levels(model, node, pairs, most) {
	const { depth } = model.nodes, at_depth = [];
	for (let i = 0; i < pairs.length; i++) {
		const d = depth[node[pairs[i] % node.length]];
		at_depth[d] = (at_depth[d] || 0) + 1;
	}
	let deeper = pairs.length, sum = 0;
	for (let level = 1; level < at_depth.length; level++) {
		deeper -= at_depth[level - 1] || 0;
		sum += deeper;
		if (sum > most)
			return Math.max(1, level - 1);
	}
	return at_depth.length;
}

// by: a key of TREE_GROUPS; inverted: from the function that ran to its callers.  Such a tree has a node for nearly
// every frame of every stack: what is more than there is room for is a node of that name.
const TREE_MOST = 600000, TREE_FURTHER = "[further callers]";

// rows: of samples, or of waits: these have parts.  shape: hidden, 1 by frame that is left out; fold: recursion is;
// around: 1 by frame, stacks begin with the outermost call of one of these, as --callees and inverted --callers have them.
export function tree_grow(model, rows, by, inverted, most = TREE_MOST, shape = {}) {
	const groups = by === "none" ? null : tree_groups(model, by);
	const parts = rows.is_rounded ? tree_parts(model, groups) : null;
	const { slots, pairs } = tree_slots(rows, parts || groups);
	const stack_count = rows.node.length, ends = new Uint32Array(pairs.length), stacks = new Uint32Array(pairs.length);
	// Labels are numbers of strings; groups come behind them.
	let label_count = 0;
	for (const id of model.frames.label_id)
		label_count = Math.max(label_count, id + 1);
	const growing = { shape, parent: [0], frame: [-1], index: new Map(), keys: label_count + (groups ? groups.names.length : 0) + 1,
		further: -2 - (groups ? groups.names.length : 0),
		to: new Uint32Array(model.nodes.count), turn: new Uint32Array(model.nodes.count), path: [] };
	const order = tree_numbers(Uint32Array, pairs.length);
	const levels = inverted ? tree_levels(model, rows.node, pairs, most) : 0;
	const group_of = (i) => (parts ? parts.top[Math.floor(pairs[i] / stack_count)] : Math.floor(pairs[i] / stack_count));
	if (groups) // those of a group side by side
		order.sort((a, b) => group_of(a) - group_of(b) || pairs[a] - pairs[b]);
	for (let n = 0; n < order.length; n++) {
		const i = order[n], group = group_of(i), top = groups ? tree_child(growing, 0, -2 - group, label_count + group) : 0;
		stacks[i] = pairs[i] % stack_count;
		ends[i] = inverted ? tree_add_inverted(growing, model, rows.node[stacks[i]], top, levels)
			: tree_add(growing, model, rows.node[stacks[i]], top, group + 1);
	}
	return tree_finish(growing, groups, { slots, ends, stacks });
}

function tree_finish(growing, groups, counting) {
	const count = growing.parent.length;
	const tree = { count, parent: Uint32Array.from(growing.parent), frame: Int32Array.from(growing.frame),
		depth: new Uint32Array(count), deepest: 0, groups: [...(groups ? groups.names : []), TREE_FURTHER], ...counting };
	tree.first = new Uint32Array(count + 2); // callees of i: callees[first[i]] to callees[first[i + 1]]
	for (let i = 1; i < count; i++) {
		tree.depth[i] = tree.depth[tree.parent[i]] + 1;
		tree.deepest = Math.max(tree.deepest, tree.depth[i]);
		tree.first[tree.parent[i] + 1]++;
	}
	for (let i = 1; i < count + 1; i++)
		tree.first[i] += tree.first[i - 1];
	const at = tree.first.slice();
	tree.callees = new Uint32Array(count - 1);
	for (let i = 1; i < count; i++)
		tree.callees[at[tree.parent[i]]++] = i;
	tree_sort(tree);
	tree.place = new Uint32Array(count); // where in callees it is
	tree.callees.forEach((node, i) => { tree.place[node] = i; });
	return tree;
}

// Callees by name, so that frames keep their place when the selection changes.  Frames are numbered by name.
function tree_sort(tree) {
	const order = tree.groups.map((_, i) => i).sort((a, b) => (tree.groups[a] < tree.groups[b] ? -1 : 1));
	const rank = new Uint32Array(order.length);
	order.forEach((group, i) => { rank[group] = i; });
	const key = (node) => (tree.frame[node] < -1 ? rank[-2 - tree.frame[node]] : tree.frame[node]);
	for (let i = 0; i < tree.count; i++)
		if (tree.first[i + 1] - tree.first[i] > 1)
			tree.callees.subarray(tree.first[i], tree.first[i + 1]).sort((a, b) => key(a) - key(b));
}

export function tree_name(model, tree, node) {
	const frame = tree.frame[node];
	return frame >= 0 ? model.frames.name[frame] : frame === -1 ? "all" : tree.groups[-2 - frame];
}

// weights: by slot.  self and total by node.
export function tree_weigh(tree, weights) {
	const self = new Float64Array(tree.count);
	for (let i = 0; i < weights.length; i++)
		if (tree.ends[i] !== NO_NODE)
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
