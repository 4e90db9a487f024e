// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
// words - numbers, shares and times as people read them

export const words_count = (n) => String(Math.round(n)).replace(/\B(?=(\d{3})+$)/g, "\u202f");

// "1 process", "2 processes".
export const words_many = (n, things) => words_count(n) + " " + (n === 1 ? things.replace(/(?<=s)es$|s$/, "") : things);

export function words_percent(part, total) {
	if (!total)
		return "-";
	const percent = 100 * part / total;
	return percent.toFixed(percent >= 99.95 || percent === 0 ? 0 : percent >= 10 ? 1 : 2) + " %";
}

// A weight in the page's own unit: samples, period, time_ns, us, or that of an instrument: ns, bytes ...
export function words_weight(n, unit) {
	if (unit === "time_ns" || unit === "ns")
		return words_length(n / 1000);
	return unit === "us" ? words_length(n) : words_many(n, unit);
}

export function words_length(us) {
	if (us >= 999500)
		return (us / 1e6).toFixed(us >= 1e8 ? 1 : 3) + " s";
	return us >= 1000 ? (us / 1000).toFixed(us >= 1e5 ? 0 : 2) + " ms" : Math.round(us) + " us";
}

// A moment since the first sample, with as many digits as a step of the axis needs.
export function words_moment(us, step_us) {
	const digits = step_us >= 1e6 ? 0 : Math.min(6, Math.ceil(-Math.log10(step_us / 1e6)));
	return (us < 0 ? "" : "+") + (us / 1e6).toFixed(digits) + " s";
}

// A step of 1, 2 or 5 times a power of ten, of which at most so many fit.
export function words_step(span_us, most) {
	const least = Math.max(1, span_us / most), power = 10 ** Math.floor(Math.log10(least));
	return power * [1, 2, 5, 10].find((n) => n * power >= least);
}

// As much of a text as fits into so many characters of a monospaced font.
export const words_fit = (text, room) => text.length <= room ? text : room < 3 ? "" : text.slice(0, room - 2) + "..";

// Lines of a head and of rows of texts and numbers, as `ebprec report --csv` has them.
export const words_csv = (head, rows) => [head, ...rows.map((cells) => cells.map(words_cell).join(",")), ""].join("\r\n");

// A cell as `ebprec report --csv` has it; the text is escaped already.
function words_cell(cell) {
	const text = String(cell);
	const formula = /^[=+\-@\uff1d\uff0b\uff0d\uff20]/.test(text);
	return formula || /[",]/.test(text) ? '"' + (formula ? "'" : "") + text.replaceAll('"', '""') + '"' : text;
}
