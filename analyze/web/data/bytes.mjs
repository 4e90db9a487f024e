// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
// bytes - base64, zlib streams and LEB128 varints, as docs/PAGE.md has them.  Broken input throws an Error of one line.
import { refuse } from "./lists.mjs";

export function bytes_from_base64(text = "") {
	try {
		const chars = atob(text.trim().length % 4 ? "?" : text), bytes = new Uint8Array(chars.length); // without padding it would be taken, too
		for (let i = 0; i < bytes.length; i++)
			bytes[i] = chars.charCodeAt(i);
		return bytes;
	} catch {
		refuse("a data block is not base64");
	}
}

// want: how many bytes the head promises.
export async function bytes_inflate(packed, want) {
	const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("deflate"));
	const out = await new Response(stream).arrayBuffer().catch((error) => refuse("a data block cannot be unpacked: " + error.message));
	return out.byteLength === want ? new Uint8Array(out) : refuse("a data block has not the length of its head");
}

// count numbers, which fill [from, to) exactly, all first bytes first: as Uint32Array where they have at most four, else as Float64Array.
export function bytes_varints(bytes, from, to, count) {
	const wrong = () => refuse("a column has not as many numbers below 2^53 as rows");
	if (to - from < count)
		wrong();
	/** @type {any} */
	let out = new Uint32Array(count);
	const open = new Uint32Array(count); // the rows whose numbers have more bytes
	let at = from, left = count;
	for (let scale = 1; left; scale *= 128) {
		const end = at + left;
		if (end > to || scale > 2 ** 49)
			wrong();
		if (scale === 2 ** 28)
			out = Float64Array.from(out);
		left = 0;
		for (let k = 0; at < end; k++) {
			const i = scale > 1 ? open[k] : k, byte = bytes[at++];
			out[i] += (byte & 127) * scale;
			if (byte > 127)
				open[left++] = i;
		}
	}
	return at === to && (out instanceof Uint32Array || out.every(Number.isSafeInteger)) ? out : wrong();
}

// Zigzag: 0, -1, 1, -2 ..., or if these are differences, their sums.
export function bytes_signed(numbers, are_differences) {
	const out = new Float64Array(numbers.length);
	for (let i = 0, before = 0; i < out.length; i++) {
		out[i] = before + (numbers[i] % 2 ? -(numbers[i] + 1) / 2 : numbers[i] / 2);
		before = are_differences ? out[i] : 0;
	}
	return out;
}

// Texts with a NUL behind each.
export function bytes_texts(bytes, from, to, count) {
	const texts = new TextDecoder("utf-8", { fatal: true }).decode(bytes.subarray(from, to)).split("\0");
	if (texts.pop() !== "" || texts.length !== count)
		refuse("the strings are not as many as their rows");
	return texts;
}
