// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
// search - places in lists that rise

// The first of [from, to) that is not before what is sought; to: all are.
export function search_first(from, to, is_before) {
	while (from < to) {
		const middle = (from + to) >>> 1;
		if (is_before(middle))
			from = middle + 1;
		else
			to = middle;
	}
	return from;
}
