// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
// tree - trees of calls made from the page's one tree: below groups, or from the leaves on
//
// A tree has, by node: parent (which comes first), frame (>= 0), or for a group -2 - its number; node 0 is the root
// (-1).  Frames of one label below one caller are one node, as in folded stacks.  slots has by sample
// for which pair of group and stack it counts; by slot, ends has which node that is (NO_NODE: the tree is around functions
// that the stack does not have), and stacks which stack.
import { list_by_text, list_numbers, map_get } from "../data/lists.mjs";
import { NODE_ROOT } from "../data/model.mjs";

const NO_NODE = 0xffffffff;

export const TREE_GROUPS = {
	none: null,
	comm: ({ label }, task) => label[task],
	process: ({ label, pid }, task) => label[task] + " (" + pid[task] + ")",
	thread: ({ label, pid, tid }, task) => label[task] + " (" + pid[task] + "/" + tid[task] + ")",
	container: ({ container }, task) => container[task],
};

// Numbers of tasks by their names, and the names.
function tree_number({ count }, name_of) {
	const known = new Map(), of = Uint32Array.from({ length: count }, (_, t) => map_get(known, name_of(t), () => known.size));
	return { of, names: [...known.keys()] };
}

// Parts that are rounded each: groups of programs of one name.
function tree_parts({ tasks }, groups) {
	const { of, names } = tree_number(tasks, (t) => (groups ? groups.of[t] : 0) + " " + tasks.comm[t]);
	return { of, top: names.map((name) => parseInt(name, 10)) };
}

// Distinct pairs of group and stack, and which each row has.
function tree_slots(rows, groups) {
	const { stack, task, count } = rows, stack_count = rows.node.length;
	if (!groups)
		return { slots: stack, pairs: list_numbers(stack_count) };
	const slots = new Uint32Array(count), known = new Map();
	for (let i = 0; i < count; i++) {
		const pair = groups.of[task[i]] * stack_count + stack[i];
		let slot = known.get(pair);
		if (slot === undefined)
			known.set(pair, slot = known.size);
		slots[i] = slot;
	}
	return { slots, pairs: [...known.keys()] };
}

function tree_child(growing, up, frame, key) {
	const id = up * growing.keys + key;
	let node = growing.index.get(id);
	if (node === undefined) {
		growing.index.set(id, node = growing.parent.push(up) - 1);
		growing.frame.push(frame);
	}
	return node;
}

// Whether a frame has no node of its own below this one: it is hidden, or its caller has the same name and recursion is folded.
const tree_skips = ({ shape, frame }, label, up, at) => shape.hidden?.[at] || (shape.fold && frame[up] >= 0 && label[frame[up]] === label[at]);

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
	for (const pair of pairs) {
		const d = depth[node[pair % node.length]];
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
	const groups = by === "none" ? null : tree_number(model.tasks, (t) => TREE_GROUPS[by](model.tasks, t)), names = groups ? groups.names : [], parts = rows.is_rounded ? tree_parts(model, groups) : null;
	const { slots, pairs } = tree_slots(rows, parts || groups), stack_count = rows.node.length, ends = new Uint32Array(pairs.length), stacks = new Uint32Array(pairs.length);
	// Labels are numbers of strings; groups come behind them.
	const label_count = model.frames.label_id.reduce((count, id) => Math.max(count, id + 1), 0);
	const growing = { shape, parent: [0], frame: [-1], index: new Map(), keys: label_count + names.length + 1, further: -2 - names.length,
		to: new Uint32Array(model.nodes.count), turn: new Uint32Array(model.nodes.count), path: [] };
	const order = list_numbers(pairs.length), levels = inverted ? tree_levels(model, rows.node, pairs, most) : 0;
	const group_of = (i) => {
		const group = Math.floor(pairs[i] / stack_count);
		return parts ? parts.top[group] : group;
	};
	if (groups) // those of a group side by side
		order.sort((a, b) => group_of(a) - group_of(b) || pairs[a] - pairs[b]);
	for (const i of order) {
		const group = group_of(i), top = groups ? tree_child(growing, 0, -2 - group, label_count + group) : 0;
		stacks[i] = pairs[i] % stack_count;
		ends[i] = inverted ? tree_add_inverted(growing, model, rows.node[stacks[i]], top, levels)
			: tree_add(growing, model, rows.node[stacks[i]], top, group + 1);
	}
	return tree_finish(growing, { slots, ends, stacks, groups: [...names, TREE_FURTHER] });
}

// first: callees of i are callees[first[i]] to callees[first[i + 1]]; place: where in callees a node is.
function tree_finish(growing, made) {
	const parent = Uint32Array.from(growing.parent), count = parent.length, depth = new Uint32Array(count), first = new Uint32Array(count + 2), callees = new Uint32Array(count - 1), place = new Uint32Array(count);
	const tree = { ...made, count, parent, frame: Int32Array.from(growing.frame), depth, deepest: 0, first, callees, place };
	for (let i = 1; i < count; i++) {
		depth[i] = depth[parent[i]] + 1;
		tree.deepest = Math.max(tree.deepest, depth[i]);
		first[parent[i] + 1]++;
	}
	for (let i = 1; i < count + 1; i++)
		first[i] += first[i - 1];
	const at = first.slice();
	for (let i = 1; i < count; i++)
		callees[at[parent[i]]++] = i;
	tree_sort(tree);
	callees.forEach((node, i) => { place[node] = i; });
	return tree;
}

// Callees by name, so that frames keep their place when the selection changes.  Frames are numbered by name.
function tree_sort(tree) {
	const { groups, frame, first, callees, count } = tree, rank = new Map([...groups].sort(list_by_text).map((name, i) => [name, i]));
	const key = (node) => (frame[node] < -1 ? rank.get(groups[-2 - frame[node]]) : frame[node]);
	for (let i = 0; i < count; i++)
		if (first[i + 1] - first[i] > 1)
			callees.subarray(first[i], first[i + 1]).sort((a, b) => key(a) - key(b));
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
