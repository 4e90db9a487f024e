// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
// distributions - intervals of counts: the beta distribution, its quantiles, and what is made of them

const ENOUGH = 1e-14, TINY = 1e-300, FRACTION_MOST = 100000, NEWTON_MOST = 200, NORMAL_FREEDOM = 1e5;

// Stirling's series, from where it is exact to the last digits.
function log_gamma(x) {
	let shift = 0;
	for (; x < 12; x++)
		shift += Math.log(x);
	const y = 1 / (x * x);
	return (x - 0.5) * Math.log(x) - x + 0.9189385332046727 - shift +
		(1 / 12 - y * (1 / 360 - y * (1 / 1260 - y * (1 / 1680 - y * (1 / 1188 - y * 691 / 360360))))) / x;
}

function beta_fraction(x, a, b) {
	const away = (v) => (Math.abs(v) < TINY ? TINY : v);
	let c = 1, d = 1 / away(1 - (a + b) * x / (a + 1)), f = d;
	for (let m = 1; m < FRACTION_MOST; m++) {
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

const beta_log_term = (x, a, b) => log_gamma(a + b) - log_gamma(a) - log_gamma(b) + a * Math.log(x) + b * Math.log1p(-x);

function beta_cdf(x, a, b) {
	if (!(x > 0))
		return 0;
	if (x >= 1)
		return 1;
	const scale = Math.exp(beta_log_term(x, a, b));
	return x < (a + 1) / (a + b + 2) ? scale * beta_fraction(x, a, b) / a : 1 - scale * beta_fraction(1 - x, b, a) / b;
}

function beta_quantile(p, a, b) {
	let low = 0, high = 1, x = a / (a + b);
	if (!(p > 0))
		return 0;
	if (p >= 1)
		return 1;
	for (let i = 0; i < NEWTON_MOST && high - low > ENOUGH * high; i++) {
		const over = beta_cdf(x, a, b) - p, density = Math.exp(beta_log_term(x, a, b)) / (x * (1 - x));
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

// How far from its middle Student's distribution has this level outside.
export function student_distance(level, freedom) {
	const x = beta_quantile(level, freedom / 2, 0.5);
	return x > 0 ? Math.sqrt(freedom * (1 - x) / x) : Infinity;
}

// The level of a normal distribution that is as far out as a level of Student's: one of many degrees is normal, by the first term of the
// expansion of Cornish and Fisher.
export function student_to_normal_level(level, freedom) {
	if (freedom > 1e8)
		return level;
	const z = student_distance(level, freedom), t = z + (z ** 3 + z) / (4 * NORMAL_FREEDOM);
	return beta_cdf(1 / (1 + t * t / NORMAL_FREEDOM), NORMAL_FREEDOM / 2, 0.5);
}

// Clopper and Pearson's interval of a share.
export const binomial_interval = (hits, misses, level) => [hits > 0 ? beta_quantile(level / 2, hits, misses + 1) : 0, misses > 0 ? beta_quantile(1 - level / 2, hits + 1, misses) : 1];
