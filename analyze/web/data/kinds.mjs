// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
// kinds - what a frame is, by which it is coloured: in the order of docs/PAGE.md: the legend has the same list

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

export const kinds_of = ({ frames }, frame) => KINDS[frame < 0 ? 0 : frames.kind[frame]];
