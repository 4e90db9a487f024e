// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
// waits - time off the CPU, shared out among stacks by the rule of `ebprec report --off-cpu` (docs/PAGE.md)
//
// Numbers are made in the order and by the arithmetic of that program: they are the same to the last digit.
import { NODE_ROOT } from "../data/model.mjs";
import { list_by_text, list_first, map_get } from "../data/lists.mjs";
import { words_csv } from "../data/words.mjs";

export const STATE_RUN = 0, STATE_RUNNABLE = 1, STATE_UNKNOWN = 5;
export const NO_ROW = 0xffffffff;
const STRATA = 32, SHORTER_MAX = 2; // as wait_times.c
const PART_STATE = 0, PART_QUEUE = 1, PART_BARE = 2, PART_BARE_QUEUE = 3;

// Calls visit(thread) for each thread that the filter has.
export function waits_threads({ waits: { threads } }, filter, visit) {
	for (let t = 0; t < threads.count; t++)
		if (filter.threads[t])
			visit(t);
}

// Calls visit(piece, ns) for each piece of thread t that is within the ranges, and how much of it is.
export function waits_pieces(model, t, ranges, visit) {
	const { pieces, threads } = model.waits, { from, length } = pieces, last = threads.piece[t + 1];
	for (let i = ranges.length ? waits_first(pieces, threads.piece[t], last, ranges[0][0]) : last, r = 0; i < last; i++) {
		const begin = from[i], end = begin + length[i];
		let ns = 0;
		while (r < ranges.length && ranges[r][1] <= begin)
			r++;
		if (r === ranges.length)
			return;
		for (let k = r; k < ranges.length && ranges[k][0] < end; k++) {
			const a = Math.max(begin, ranges[k][0]), b = Math.min(end, ranges[k][1]);
			ns += b > a ? b - a : 0;
		}
		if (ns)
			visit(i, ns);
	}
}

// The first piece of [from, to) that ends behind a time.
export const waits_first = (pieces, from, to, ns) => list_first(from, to, (i) => pieces.from[i] + pieces.length[i] <= ns);

// Lengths from a power of four up to the next.
function waits_stratum(ns) {
	const high = Math.floor(ns / 0x100000000);
	return (high ? 63 - Math.clz32(high) : 31 - Math.clz32(ns)) >> 1;
}

// The sums of one thread: its waits of a kind, a system call, and about one length.
export const waits_kind = (at) => ({ exact: 0, own: 0, sampled: 0, others: 0, seen: 0, given_own: 0, given: 0, count: 0, longest: 0, stacks: 0, weights: 0, seen_weights: 0, given_count: 0, first: at });

function waits_add(k, ns, weight) {
	k.exact += ns;
	k.count++;
	k.longest = Math.max(k.longest, ns);
	k.stacks += weight ? 1 : 0;
	k.weights += weight;
	k.sampled += weight * ns;
	k.own += weight ? ns : 0;
	k.others += weight ? (weight - 1) * ns : 0;
}

// Waits without a stack are taken for the nearest shorter ones that have any, not shorter by far, or else longer ones.
function waits_join(own, key) {
	const k = own[key], stratum = key % STRATA, has = (other) => other?.stacks;
	const to = own.slice(Math.max(key - SHORTER_MAX, key - stratum), key).findLast(has) || own.slice(key + 1, key - stratum + STRATA).find(has);
	if (k.stacks || !to)
		return;
	to.exact += k.exact;
	to.count += k.count;
	to.longest = Math.max(to.longest, k.longest);
	k.exact = k.count = k.longest = 0;
}

// The time of the part itself, and its share in that of those without a stack.
export function waits_share(k, ns, weight) {
	const rest = k.exact - k.own, all = k.others > 0 ? k.others : k.sampled, own = k.own ? Math.min(ns, k.own - k.given_own) : 0;
	k.given_own += own;
	k.seen += (k.others > 0 ? weight - 1 : weight) * ns;
	const upto = k.seen >= all ? rest : Math.min(Math.floor(rest * (k.seen / all) + 0.5), rest);
	const share = Math.max(0, upto - k.given);
	k.given += share;
	return own + share;
}

// Integers below 2^53, divided without rounding up.
const waits_divide = (a, b) => (a - a % b) / b;

function waits_share_count(k, weight) {
	const rest = k.count - k.stacks, others = k.weights > k.stacks, all = others ? k.weights - k.stacks : k.weights;
	if (!weight || !all)
		return 0;
	const before = waits_divide(rest * k.seen_weights, all);
	k.seen_weights += others ? weight - 1 : weight;
	const count = 1 + waits_divide(rest * k.seen_weights, all) - before;
	k.given_count += count;
	return count;
}

// The waits of thread t in the ranges: ns and queue by wait; the list of those that have any.
function waits_lengths(model, t, ranges, { ns, queue }) {
	const { pieces, kinds, waits } = model.waits, list = [];
	waits_pieces(model, t, ranges, (i, part) => {
		const w = pieces.wait[i];
		if (w === NO_ROW)
			return;
		if (!ns[w] && !queue[w])
			list.push(w);
		(pieces.state[i] === STATE_RUNNABLE && kinds.queued[waits.kind[w]] ? queue : ns)[w] += part;
	});
	return list;
}

// Calls visit(wait, part, share_ns, ns, share_count, kind) for each part of a selected wait that has a stack, as its stacks
// were taken, and then for the rest of each kind: its first wait.  end(kinds): those of a thread, when all is shared.
export function waits_each(model, filter, visit, end = (_kinds) => {}) {
	const { threads, waits, kinds, room } = model.waits, { ranges } = filter, own = new Array(2 * kinds.count * STRATA).fill(null);
	for (let t = 0; t < threads.count; t++) {
		if (!filter.threads[t])
			continue;
		const list = waits_lengths(model, t, ranges, room), met = [];
		const add = (base, w, ns) => {
			const key = base * STRATA + waits_stratum(ns);
			if (!ns)
				return;
			if (!own[key]) {
				own[key] = waits_kind(w);
				met.push(key);
			}
			waits_add(own[key], ns, waits.weight[w]);
		};
		for (const w of list) {
			add(kinds.key[waits.kind[w]], w, room.ns[w]);
			add(kinds.queue_key[waits.kind[w]], w, room.queue[w]);
		}
		for (const key of met)
			waits_join(own, key);
		// Those that have a stack, in the order in which stacks were taken.
		for (const w of list.filter((own) => waits.stack[own]).sort((a, b) => waits.taken[a] - waits.taken[b])) {
			const kind = waits.kind[w], weight = waits.weight[w];
			const part = (part, base, ns) => {
				const k = own[base * STRATA + waits_stratum(ns)];
				if (ns)
					visit(w, part, waits_share(k, ns, weight), ns, waits_share_count(k, weight), k);
			};
			part(PART_STATE, kinds.key[kind], room.ns[w]);
			part(PART_QUEUE, kinds.queue_key[kind], room.queue[w]);
		}
		for (const key of met) {
			const k = own[key], left = k.exact - k.given_own - k.given;
			if (left)
				visit(k.first, kinds.key[waits.kind[k.first]] === Math.floor(key / STRATA) ? PART_BARE : PART_BARE_QUEUE, left,
					left < k.exact ? 0 : k.longest, k.count - k.given_count, k);
		}
		end(met.map((key) => own[key]));
		for (const w of list)
			room.ns[w] = room.queue[w] = 0;
		for (const key of met)
			own[key] = null;
	}
}

// ---- rows: distinct pairs of a task and a stack, into which waits are added up ----

// stack, task: by row; node: by stack, where stacks of one node that ended differently are two, as in the program.
// of: by wait and part, its row.  more(row_of): makes rows of a node, an end and a task, and returns what it has of them.
export function waits_rows(model, wakers, more = (_row_of) => null) {
	const { waits, stacks, kinds } = model.waits, rows = { count: 0, stack: [], task: [], node: [] };
	const pairs = new Map(), ends = new Map();
	const row_of = (node, end, task) => {
		if (node === NODE_ROOT)
			return NO_ROW; // a filter of the page took it out
		const stack = map_get(ends, node * 65536 + end, () => rows.node.push(node) - 1);
		return map_get(pairs, stack * model.tasks.count + task, () => {
			rows.task.push(task);
			return rows.stack.push(stack) - 1;
		});
	};
	rows.of = [0, 1, 2, 3, 4].map(() => new Uint32Array(waits.count).fill(NO_ROW));
	for (let w = 0; w < waits.count; w++) {
		const s = waits.stack[w] - 1, kind = waits.kind[w], task = waits.task[w];
		if (s >= 0) {
			rows.of[PART_STATE][w] = row_of((wakers && stacks.woken[s]) || stacks.node[s], stacks.end[s], task);
			rows.of[PART_QUEUE][w] = row_of(stacks.queue[s], stacks.end[s], task);
			rows.of[4][w] = row_of((wakers && stacks.queue_woken[s]) || stacks.queue[s], stacks.end[s], task);
		}
		rows.of[PART_BARE][w] = row_of(kinds.node[kind], 0, task);
		rows.of[PART_BARE_QUEUE][w] = row_of(kinds.queue[kind], 0, task);
	}
	return { ...rows, ...more(row_of), is_rounded: true, count: rows.stack.length, stack: Uint32Array.from(rows.stack), task: Uint32Array.from(rows.task), node: Uint32Array.from(rows.node) };
}

// Nanoseconds by row.
export function waits_weigh(model, rows, filter) {
	const ns = new Float64Array(rows.count), { room } = model.waits;
	waits_each(model, filter, (w, part, share) => {
		// A waker is known of a wait that was seen, not of the time behind it alone.
		const row = rows.of[part === PART_QUEUE && room.ns[w] ? 4 : part][w];
		if (row !== NO_ROW)
			ns[row] += share;
	});
	return ns;
}

// Microseconds by slot: each is rounded for itself, as the program does with its stacks.
export function waits_count_slots(rows, filter, ns, slots, slot_count) {
	const weights = new Float64Array(slot_count);
	let sum = 0;
	for (let r = 0; r < rows.count; r++)
		if (!filter.stacks || filter.stacks[rows.stack[r]])
			weights[slots[r]] += ns[r];
	for (let i = 0; i < slot_count; i++) {
		weights[i] = Math.floor((weights[i] + 500) / 1000);
		sum += weights[i];
	}
	return { weights, sum };
}

// ---- the table of `ebprec report --waits` ----

// By node in which a wait's stack ends: the frame that it is shown by, and 1; 0: none.
function waits_where({ waits: { stacks }, nodes }) {
	const where = new Uint32Array(nodes.count);
	for (const list of [stacks.node, stacks.queue])
		list.forEach((node, s) => { where[node] = stacks.where[s]; });
	return where;
}

// Rows: waiter, reason, woken_by, count, total_ns, longest_ns, where, object; the longest total first.
export function waits_table(model, rows, filter) {
	const { waits, stacks, room } = model.waits, { tasks, nodes, frames, objects } = model;
	const found = new Map(), known = new Map(), unseen = [], where_of = waits_where(model), left_out = { count: 0, total_ns: 0, longest_ns: 0 };
	// waker: a row of stacks and 1; 0: none.
	const row_of = (w, row, waker) => map_get(known, row * (stacks.count + 1) + waker, () => {
		const node = rows.node[rows.stack[row]], at = where_of[node] - 1, waiter = tasks.comm[waits.task[w]], reason = frames.name[nodes.frame[node]];
		const woken_by = waker ? stacks.waker[waker - 1] : "", [where, object] = at < 0 ? ["", ""] : [frames.name[at], objects.path[frames.object[at]]];
		return map_get(found, [waiter, reason, woken_by, where, object].join("\0"), () => ({ waiter, reason, woken_by, count: 0, total_ns: 0, longest_ns: 0, where, object }));
	});
	waits_each(model, filter, (w, part, share, ns, count, kind) => {
		const row = rows.of[part][w], s = waits.stack[w] - 1;
		const passes = row !== NO_ROW && (!filter.stacks || filter.stacks[rows.stack[row]]);
		const into = passes ? row_of(w, row, part <= PART_QUEUE && room.ns[w] ? s + 1 : 0) : left_out;
		into.total_ns += share;
		into.count += count;
		into.longest_ns = Math.max(into.longest_ns, ns);
		kind.most = Math.max(kind.most || 0, ns);
		if (passes)
			(kind.rows ||= new Set()).add(into);
	}, (own) => unseen.push(...own.filter((k) => k.rows && k.longest > k.most)));
	const compare = (a, b) => b.total_ns - a.total_ns || ["waiter", "reason", "woken_by", "where", "object"].reduce((order, key) => order || list_by_text(a[key], b[key]), 0);
	// The longest wait of a kind may have no stack: most likely it was where most of that kind's waits are.
	for (const k of unseen) {
		const [first] = [...k.rows].sort(compare);
		first.longest_ns = Math.max(first.longest_ns, k.longest);
	}
	return [...found.values()].filter((row) => row.total_ns).map((row) => ({ ...row, longest_ns: Math.min(row.longest_ns, row.total_ns) })).sort(compare);
}

export const waits_reason = (row) => /^\[.+\]$/.test(row.reason) ? row.reason.slice(1, -1) : row.reason;

// `ebprec report --waits --csv`
export const waits_csv = (list) => words_csv("waiter,reason,woken_by,count,total_ns,longest_ns,where", list.map((r) => [r.waiter, waits_reason(r), r.woken_by, r.count, r.total_ns, r.longest_ns, r.where]));
