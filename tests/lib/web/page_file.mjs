// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
// page_file - reads a page of `ebprec report --html` as docs/PAGE.md describes it, without a browser
import { readFileSync } from "node:fs";

import { count_slots } from "../../../analyze/web/count/count.mjs";
import { model_load } from "../../../analyze/web/data/model.mjs";

// The text of a data block.
export function page_block(html, id) {
	const open = '<script type="application/x-ebprec" id="' + id + '">';
	const from = html.indexOf(open);
	if (from < 0)
		throw new Error("the page has no block '" + id + "'");
	return html.slice(from + open.length, html.indexOf("</script>", from));
}

// instrument: the number of the one whose part is meant, from 1 on; 0: that of the event and all else.
export async function page_load(path, instrument = 0) {
	const html = readFileSync(path, "utf8"), [head, data] = instrument ? ["of" + instrument, "of" + instrument + "-"] : ["head", "d"];
	return model_load(page_block(html, head), (i) => page_block(html, data + i));
}

// By stack.
export function count_stacks(model, filter) {
	return count_slots(model, filter, model.samples.stack, model.samples.node.length);
}
