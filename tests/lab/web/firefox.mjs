// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
// firefox.mjs MODULES PAGES - what must be the same in Firefox as in Chromium; prints TAP
import assert from "node:assert/strict";

import { filter_all, filter_make } from "../../../analyze/web/data/filter.mjs";
import { words_weight } from "../../../analyze/web/data/words.mjs";
import { count_stacks, page_load } from "../../lib/web/page_file.mjs";
import { harness_begin, harness_end, harness_open, harness_settled, harness_test as test, harness_text } from "./harness.mjs";

const [modules, pages] = process.argv.slice(2);
await harness_begin(modules, "firefox");
const model = await page_load(pages + "/real.html");

async function done(page, faults) {
	await harness_settled(page);
	assert.deepEqual(faults, []);
	await page.browserContext().close();
}

for (const name of ["story", "real", "hostile", "diff"])
	await test("firefox: " + name + " opens from the disk without a request, a message or a violation", async () => {
		const { page, faults } = await harness_open(pages + "/" + name + ".html");
		assert.equal(await page.$(".broken"), null);
		assert.match(await harness_text(page, ".selected"), / selected, 100 % of all$/);
		assert.equal(await page.$$eval("img, iframe, object, embed, base, link, form", (list) => list.length), 0);
		await page.screenshot({ path: pages + "/firefox-" + name + ".png" });
		await done(page, faults);
	});

await test("firefox: a drag selects time, and the numbers are those of the modules", async () => {
	const { page, faults } = await harness_open(pages + "/real.html"), box = await (await page.$(".overview-picture canvas")).boundingBox();
	await page.mouse.move(box.x + box.width * 0.25, box.y + 40);
	await page.mouse.down();
	await page.mouse.move(box.x + box.width * 0.6, box.y + 40, { steps: 3 });
	await page.mouse.up();
	await page.waitForFunction(() => location.hash.includes("time="));
	const [from, to] = (await page.evaluate(() => location.hash)).match(/time=(\d+)-(\d+)/).slice(1).map(Number);
	const want = count_stacks(model, filter_make(model, { ...filter_all(), times: [[from, to]] })).sum;
	assert.ok((await harness_text(page, ".selected")).startsWith(words_weight(want, model.head.weight) + " selected"));
	await done(page, faults);
});

await test("firefox: by keys: find, walk, zoom, turn around", async () => {
	const { page, faults } = await harness_open(pages + "/real.html");
	await page.keyboard.press("/");
	await page.keyboard.type("^(do_|main)");
	await harness_settled(page);
	assert.match(await harness_text(page, ".matched"), /% matched$/);
	await page.keyboard.press("Escape");
	await page.focus(".flame-tree");
	for (const key of ["ArrowDown", "ArrowDown", "Enter"])
		await page.keyboard.press(key);
	await page.waitForFunction(() => location.hash.includes("zoom="));
	await page.keyboard.press("i");
	await page.waitForFunction(() => location.hash.includes("order=up"));
	await done(page, faults);
});

await test("firefox: markup made by a script is refused", async () => {
	const { page } = await harness_open(pages + "/real.html");
	assert.equal(await page.evaluate(() => {
		try {
			document.body.innerHTML = "x";
			return "taken";
		} catch (error) {
			return error.name;
		}
	}), "TypeError");
	await page.browserContext().close();
});

await harness_end();
