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
		refuse("a data block is not base64: the file was cut or changed");
	}
}

// want: how many bytes the head promises.
export async function bytes_inflate(packed, want) {
	const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("deflate"));
	const out = await new Response(stream).arrayBuffer().catch((error) => refuse("a data block cannot be unpacked: " + error.message));
	return out.byteLength === want ? new Uint8Array(out) : refuse("a data block has not the length of its head");
}

// count numbers, which fill [from, to) exactly: as Uint32Array where they fit, else as Float64Array.
export function bytes_varints(bytes, from, to, count) {
	if (to - from < count)
		refuse("a column is shorter than its rows");
	/** @type {any} */
	let out = new Uint32Array(count);
	let at = from;
	for (let i = 0; i < count; i++) {
		let value = at < to ? bytes[at++] : 128, scale = 128, byte = value;
		if (value > 127) // most are shorter
			value -= 128;
		while (byte > 127) {
			if (at >= to || scale > 2 ** 56)
				refuse("a column ends within a number");
			byte = bytes[at++];
			value += (byte & 127) * scale;
			scale *= 128;
		}
		if (value > 0xffffffff && out instanceof Uint32Array)
			out = Float64Array.from(out);
		if (value > Number.MAX_SAFE_INTEGER)
			refuse("a number is larger than 2^53");
		out[i] = value;
	}
	if (at !== to)
		refuse("a column is longer than its rows");
	return out;
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
