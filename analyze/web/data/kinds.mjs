// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
// kinds - what a frame is, by which it is coloured: the legend has the same list
import { FRAME_INLINED, FRAME_KERNEL } from "./model.mjs";

export const KINDS = [
	["group", "thread or process"],
	["user", "program or library"],
	["inlined", "inlined"],
	["kernel", "kernel"],
	["jit", "compiled at run time"],
	["bpf", "BPF"],
	["wait", "[why it waited]"],
	["noname", "no name"],
];

export function kinds_of(model, frame) {
	if (frame < 0)
		return "group";
	const object = model.objects.kind[model.frames.object[frame]], flags = model.frames.flags[frame];
	if (model.frames.reason[frame])
		return "noname";
	if (object === "bpf" || object === "jit" || object === "wait")
		return object;
	return flags & FRAME_KERNEL ? "kernel" : flags & FRAME_INLINED ? "inlined" : "user";
}
