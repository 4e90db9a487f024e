// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
// lists - sums of lists, places in lists that rise, and maps whose values are made when they are first asked for

/** Throws an error with a reason of one line. @returns {never} */
export function refuse(why) {
	throw new Error(why);
}

export const list_sum = (list) => list.reduce((a, b) => a + b, 0);

// The number of [least, most] that is nearest to n.
export const list_within = (n, least, most) => Math.max(least, Math.min(n, most));

// 0, 1, 2 ...
export const list_numbers = (count) => Array.from({ length: count }, (_, i) => i);

// The first of [from, to) that is not before what is sought; to: all are.
export function list_first(from, to, is_before) {
	while (from < to) {
		const middle = (from + to) >>> 1;
		if (is_before(middle))
			from = middle + 1;
		else
			to = middle;
	}
	return from;
}

// Ranges that begin later and later: those are joined that overlap, or are no farther apart than this.
export function list_join(ranges, near = 0) {
	const joined = [];
	for (const [from, to] of ranges) {
		const last = joined.at(-1);
		if (last && from - last[1] <= near)
			last[1] = Math.max(last[1], to);
		else
			joined.push([from, to]);
	}
	return joined;
}

export const list_by_text = (a, b) => a < b ? -1 : a > b ? 1 : 0;

export function map_get(map, key, make) {
	if (!map.has(key))
		map.set(key, make());
	return map.get(key);
}
