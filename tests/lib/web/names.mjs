// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
// names.mjs PAGE - every name in the page, a line each: "frame NAME", and the texts of other tables as they are
import { page_load } from "./page_file.mjs";

const { frames, objects, tasks } = await page_load(process.argv[2]);
const lines = [...frames.name, ...frames.name.map((name) => "frame " + name), ...objects.path, ...tasks.comm,
	...Array.from(tasks.tid, (tid) => "thread " + tid)];
console.log(lines.join("\n"));
