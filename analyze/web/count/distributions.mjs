// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
// distributions - intervals of counts: the beta distribution, its quantiles, and what is made of them

const ENOUGH = 1e-14, TINY = 1e-300, TERMS = 1e5, STEPS = 200, NORMAL = 1e6;

// The rest of log_gamma after Stirling's formula, from 12 on.
function stirling_rest(x) {
	const y = 1 / (x * x);
	return (1 / 12 - y * (1 / 360 - y * (1 / 1260 - y * (1 / 1680 - y / 1188)))) / x;
}

function log_gamma(x) {
	let shift = 0;
	for (; x < 12; x++)
		shift += Math.log(x);
	return (x - 0.5) * Math.log(x) - x + 0.9189385332046727 - shift + stirling_rest(x);
}

function beta_fraction(x, a, b) {
	const away = (v) => (Math.abs(v) < TINY ? TINY : v);
	let c = 1, d = 1 / away(1 - (a + b) * x / (a + 1)), f = d;
	for (let m = 1; m < TERMS; m++) {
		const even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m)), uneven = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
		d = 1 / away(1 + even * d);
		c = away(1 + even / c);
		f *= c * d;
		d = 1 / away(1 + uneven * d);
		c = away(1 + uneven / c);
		f *= c * d;
		if (Math.abs(c * d - 1) < ENOUGH)
			break;
	}
	return f;
}

// Large parameters would leave few digits of a difference of log_gamma.
function log_beta(a, b) {
	if (a < b)
		return log_beta(b, a);
	if (a < 12)
		return log_gamma(a) + log_gamma(b) - log_gamma(a + b);
	return log_gamma(b) + stirling_rest(a) - stirling_rest(a + b) - (a - 0.5) * Math.log1p(b / a) - b * (Math.log(a + b) - 1);
}

const beta_log_term = (x, a, b) => a * Math.log(x) + b * Math.log1p(-x) - log_beta(a, b);

// P(X <= x), or P(X > x) if upper: each has its digits where it is the smaller one.
function beta_tail(x, a, b, upper) {
	if (!(x > 0) || x >= 1)
		return +((x >= 1) !== upper);
	const below = x < (a + 1) / (a + b + 2), part = Math.exp(beta_log_term(x, a, b)) * (below ? beta_fraction(x, a, b) / a : beta_fraction(1 - x, b, a) / b);
	return below !== upper ? part : 1 - part;
}

// The x whose tail is p.
function beta_quantile(p, a, b, upper) {
	let low = 0, high = 1, x = a / (a + b);
	for (let i = 0; i < STEPS && high - low > ENOUGH * high; i++) {
		const over = (beta_tail(x, a, b, upper) - p) * (upper ? -1 : 1), density = Math.exp(beta_log_term(x, a, b)) / (x * (1 - x));
		if (over > 0)
			high = x;
		else
			low = x;
		let next = density > 0 ? x - over / density : -1;
		if (!(next > low && next < high))
			next = low > 0 && high > 16 * low ? Math.sqrt(low * high) : (low + high) / 2;
		if (Math.abs(next - x) <= ENOUGH * x)
			break;
		x = next;
	}
	return x;
}

// The odds of a quantile, which has few digits of them near 1.
function beta_odds(p, a, b) {
	if (!(p > 0))
		return 0;
	const x = beta_quantile(p, a, b, false), rest = x < 0.5 ? 1 - x : beta_quantile(p, b, a, true);
	return x < 0.5 ? x / rest : 1 / rest - 1;
}

// How far from its middle Student's distribution has this level outside.
export const student_distance = (level, freedom) => Math.sqrt(freedom / beta_odds(level, freedom / 2, 0.5));

// The level of a normal distribution as far out as a level of Student's: one of many degrees is normal, by the first term of Cornish and Fisher.
export function student_to_normal_level(level, freedom) {
	if (freedom > 1e8)
		return level;
	const z = student_distance(level, freedom), t = z + (z ** 3 + z) / (4 * NORMAL);
	return beta_tail(1 / (1 + t * t / NORMAL), NORMAL / 2, 0.5, false);
}

// Clopper and Pearson's interval of a share, as odds.
export const binomial_odds = (hits, misses, level) => [hits > 0 ? beta_odds(level / 2, hits, misses + 1) : 0, misses > 0 ? 1 / beta_odds(level / 2, misses, hits + 1) : Infinity];
