// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
// lines.mjs PAGE FUNCTION - the source lines that a page has of a function
import { page_load } from "./page_file.mjs";

const [page, wanted] = process.argv.slice(2), { frames } = await page_load(page, 0);
for (const [i, name] of frames.name.entries())
	if (name === wanted && frames.line[i])
		console.log(frames.line[i]);
