// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
// browser.mjs MODULES PAGES - what people do with a page, done in chromium; prints TAP
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";

import { filter_all, filter_make } from "../../../analyze/web/data/filter.mjs";
import { words_count, words_weight } from "../../../analyze/web/data/words.mjs";
import { count_stacks, page_load } from "../../lib/web/page_file.mjs";
import { harness_begin, harness_end, harness_open, harness_settled, harness_test as test, harness_text } from "./harness.mjs";

const [modules, pages] = process.argv.slice(2);
const real = pages + "/real.html", story = pages + "/story.html", hostile = pages + "/hostile.html", big = pages + "/big.html";
await harness_begin(modules);
const model = await page_load(real);
// Times of the recording by shares of it: how long it takes depends on the machine.
const span = (from, to) => [from, to].map((part) => Math.round(part * model.head.span_us)).join("-"), middle = span(0.1, 0.9);

function selected(selection) {
	const filter = filter_make(model, { ...filter_all(), ...selection });
	return words_weight(count_stacks(model, filter).sum, model.head.weight);
}

async function done(page, faults) {
	await harness_settled(page);
	assert.deepEqual(faults, []);
	await page.browserContext().close();
}

async function picture(page) {
	const handle = await page.$(".overview-picture canvas");
	return handle.boundingBox();
}

const chips = (page) => page.$$eval(".chip", (list) => list.map((chip) => chip.firstChild.textContent));

for (const name of ["story", "real", "hostile", "big", "diff", "zero"])
	await test(name + " opens from the disk without a request, a message or a violation", async () => {
		const { page, faults } = await harness_open(pages + "/" + name + ".html");
		assert.equal(await page.$(".broken"), null);
		assert.match(await harness_text(page, ".selected"), name === "zero" ? /^0 samples selected/ : / selected, 100 % of all$/);
		assert.ok(await page.$$eval("*", (list) => list.length) <= 2000, "more than 2,000 nodes");
		await page.screenshot({ path: pages + "/" + name + ".png", fullPage: true });
		await done(page, faults);
	});

await test("a drag over the overview counts again while it is dragged", async () => {
	const { page, faults } = await harness_open(real), box = await picture(page);
	const seen = [], times = new Set(); // there may be no sample between two steps
	await page.mouse.move(box.x + box.width * 0.25, box.y + 40);
	await page.mouse.down();
	for (const part of [0.4, 0.5, 0.75]) {
		await page.mouse.move(box.x + box.width * part, box.y + 40);
		await harness_settled(page);
		seen.push(await harness_text(page, ".selected"));
		times.add(await harness_text(page, ".chips"));
	}
	await page.mouse.up();
	assert.equal(times.size, 3);
	const range = await page.evaluate(() => document.querySelector("#h-command ~ .command code").textContent.match(/--time=([0-9.]+),([0-9.]+)/).slice(1));
	const [from, to] = range.map((text) => Math.round(Number(text) * 1e6) - model.head.base_us);
	assert.ok(seen[2].startsWith(selected({ times: [[from, to]] }) + " selected"), seen[2]);
	await done(page, faults);
});

await test("two ranges are selected with Shift, and a chip takes one away", async () => {
	const { page, faults } = await harness_open(real), box = await picture(page);
	const drag = async (a, b) => {
		await page.mouse.move(box.x + box.width * a, box.y + 40);
		await page.mouse.down();
		await page.mouse.move(box.x + box.width * b, box.y + 40, { steps: 3 });
		await page.mouse.up();
		await harness_settled(page);
	};
	await drag(0.1, 0.3);
	await page.keyboard.down("Shift");
	await drag(0.6, 0.7);
	await page.keyboard.up("Shift");
	assert.equal((await chips(page)).length, 2);
	assert.match(await harness_text(page, "#h-command ~ .command"), /one range/);
	await page.click(".chip button");
	await harness_settled(page);
	assert.equal((await chips(page)).length, 1);
	await done(page, faults);
});

await test("the state is in the address, and a reload shows the same", async () => {
	const fragment = "time=1000-" + Math.floor(model.head.span_us / 2) + "&cpus=0&search=^[a-m]&group=none&order=up&sort=total&theme=dark";
	const { page, faults } = await harness_open(real, { fragment });
	const before = [await harness_text(page, ".selected"), await harness_text(page, ".matched"), await harness_text(page, "tbody")];
	assert.ok(before[0].startsWith(selected({ times: [[1000, Math.floor(model.head.span_us / 2)]], cpus: [0] }) + " selected"), before[0]);
	await page.reload();
	await page.waitForFunction(() => document.documentElement.dataset.ready === "yes");
	const after = [await harness_text(page, ".selected"), await harness_text(page, ".matched"), await harness_text(page, "tbody")];
	assert.deepEqual(after, before);
	await page.keyboard.press("[");
	await page.waitForFunction((old) => location.hash !== old, {}, "#" + fragment);
	assert.match(await page.evaluate(() => location.hash), /time=.*cpus=0/);
	await done(page, faults);
});

await test("a link that is followed before the address of a change is written is not lost", async () => {
	const { page, faults } = await harness_open(real);
	await page.evaluate(() => {
		const later = window.setTimeout;
		window.held = [];
		window.setTimeout = (act, ms, ...more) => (ms === 250 ? window.held.push(act) : later(act, ms, ...more));
	});
	await page.keyboard.press("[");
	await harness_settled(page);
	await page.evaluate(() => {
		location.hash = "group=none";
		window.held.at(-1)();
	});
	await harness_settled(page);
	assert.deepEqual(await page.$$eval(".tools select", (list) => list.map((select) => select.value)), ["program", "after", "cpu", "none", "down", "top", "name"]);
	assert.equal(await page.evaluate(() => location.hash), "#group=none");
	await done(page, faults);
});

await test("a fragment of nonsense is ignored", async () => {
	const { page, faults } = await harness_open(real, { fragment: "time=9-1,x-,1e99-2&cpus=a&zoom=%E0%A4%A/x&symbol=(&search=[&group=evil&__proto__=1&=&&" });
	assert.match(await harness_text(page, ".selected"), /Not an expression|selected/);
	assert.deepEqual(await page.$$eval(".tools select", (list) => list.map((select) => select.value)), ["program", "after", "cpu", "comm", "down", "top", "name"]);
	await done(page, faults);
});

await test("the saved stacks and functions are those of the command that is shown", async () => {
	const { page, faults } = await harness_open(real, { fragment: "time=" + middle + "&cpus=0&parent=^do_syscall_64$" });
	await page.evaluate(() => {
		const create = URL.createObjectURL;
		URL.createObjectURL = (blob) => {
			window.saved = blob.text();
			return create(blob);
		};
	});
	const words = (await harness_text(page, "#h-command ~ .command code")).match(/'[^']*'|\S+/g).map((word) => word.replaceAll("'", ""));
	for (const [button, more] of [["stacks", ["--folded"]], ["functions", ["--csv", "--min-percent", "0"]]]) {
		await page.evaluate((text) => [...document.querySelectorAll("button")].find((b) => b.textContent.includes("save " + text)).click(), button);
		const want = execFileSync(words[0], [words[1], "-q", ...more, ...words.slice(2)], { cwd: pages, encoding: "utf8" });
		assert.equal(await page.evaluate(() => window.saved), want);
	}
	await done(page, faults);
});

await test("a page that carries its capture saves it byte for byte", async () => {
	const { page, faults } = await harness_open(pages + "/carried.html");
	const saved = await page.evaluate(() => new Promise((done) => {
		URL.createObjectURL = (blob) => {
			blob.arrayBuffer().then((bytes) => done([...new Uint8Array(bytes)]));
			return "#";
		};
		[...document.querySelectorAll("button")].find((b) => b.textContent === "save the capture").click();
	}));
	assert.deepEqual(Buffer.from(saved), readFileSync(pages + "/story.data"));
	await done(page, faults);
});

await test("looking closer shows the selected time, rows are by CPU, and a found function is painted on them", async () => {
	const { page, faults } = await harness_open(real, { fragment: "time=" + middle + "&rows=cpu&search=." });
	const names = await page.$$eval(".overview-labels .name", (list) => list.map((name) => name.textContent));
	assert.ok(names[0] === "all CPUs" && names.slice(1).every((name) => /^CPU \d+$|: /.test(name)), names.join());
	const painted = () => page.evaluate(() => {
		const canvas = document.querySelector(".overview-picture canvas"), copy = new OffscreenCanvas(canvas.width, canvas.height);
		const context = copy.getContext("2d");
		context.drawImage(canvas, 0, 0);
		const { data } = context.getImageData(0, 0, canvas.width, canvas.height);
		const match = getComputedStyle(document.documentElement).getPropertyValue("--match").trim().match(/[0-9a-f]{2}/g).map((hex) => parseInt(hex, 16));
		let count = 0;
		for (let i = 0; i < data.length; i += 4)
			count += match.every((value, n) => Math.abs(value - data[i + n]) < 3) ? 1 : 0;
		return count;
	});
	const before = await painted();
	assert.ok(before > 0);
	await page.keyboard.press("+");
	await page.waitForFunction((axis) => location.hash.includes("axis=" + axis), {}, middle);
	assert.notEqual(await painted(), before);
	await page.keyboard.press("-");
	await page.waitForFunction(() => !location.hash.includes("axis"));
	assert.equal(await painted(), before);
	await page.click(".overview-labels button.name");
	await harness_settled(page);
	assert.ok((await chips(page)).some((chip) => /^CPU \d+$/.test(chip)));
	await done(page, faults);
});

await test("waits: the graph, the table and both commands are of the selection, and a closer look shows states", async () => {
	const { page, faults } = await harness_open(real, { fragment: "measure=off-cpu&time=" + middle });
	const settled = () => page.waitForFunction(() => document.querySelector("#h-waits ~ .command code").textContent.includes("--time"));
	await settled();
	const words = (selector) => harness_text(page, selector).then((text) => text.match(/'[^']*'|\S+/g).map((word) => word.replaceAll("'", "")));
	const run = ([program, ...more], ...last) => execFileSync(program, [...more, ...last], { cwd: pages, encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] });
	const table = run(await words("#h-waits ~ .command code"), "-q", "--csv", "--min-percent", "0").split("\r\n").slice(1, -1);
	assert.match(await harness_text(page, ".waits caption"), new RegExp("^" + words_count(table.length) + " kinds"));
	assert.equal(await page.$eval(".waits tbody tr td", (cell) => cell.textContent), table[0].split(",")[0]);
	const folded = run(await words("#h-command ~ .command code"), "-q", "--folded").trim().split("\n");
	const sum = folded.reduce((all, line) => all + Number(line.slice(line.lastIndexOf(" "))), 0);
	assert.ok((await harness_text(page, ".selected")).startsWith(words_weight(sum, "us") + " selected"));
	assert.equal(await page.$eval('[aria-label="States of threads"]', (legend) => legend.hidden), true);
	// A fiftieth of the recording: no thread changes its state more often there than the picture has room for.
	await page.evaluate((axis) => { location.hash = "measure=off-cpu&axis=" + axis; }, span(0.4, 0.42));
	await page.waitForFunction(() => !document.querySelector('[aria-label="States of threads"]').hidden);
	await done(page, faults);
});

await test("processes: a head sorts them, a click selects one", async () => {
	const { page, faults } = await harness_open(real), cells = (n) => page.$$eval(".processes tbody tr", (list, at) => list.map((row) => row.cells[at].textContent), n);
	await page.waitForFunction(() => document.querySelectorAll(".processes tbody tr").length > 1);
	await page.evaluate(() => [...document.querySelectorAll(".processes th button")].find((button) => button.textContent === "pid").click());
	const pids = (await cells(1)).map(Number);
	assert.deepEqual(pids, [...pids].sort((a, b) => b - a));
	await page.click(".processes td .name");
	await harness_settled(page);
	assert.deepEqual(await chips(page), ["process " + pids[0]]);
	await page.waitForFunction(() => document.querySelectorAll(".processes tbody tr").length === 1);
	await done(page, faults);
});

await test("two ranges: the table shows the changes, noise is no colour, and chips end the comparison", async () => {
	const half = Math.floor(model.head.span_us / 2), { page, faults } = await harness_open(real, { fragment: "baseline=0-" + half + "&time=" + half + "-" + model.head.span_us });
	await page.waitForFunction(() => document.querySelectorAll("#h-changes ~ div tbody tr").length);
	assert.match(await harness_text(page, "#h-changes ~ .command code"), /^ebprec diff --total --normalize=share --time-before=\S+ --time-after=\S+ --rename=none (\S+) \1$/);
	for (const row of await page.$$eval("#h-changes ~ div tbody tr", (list) => list.map((r) => [r.className, r.cells[4].textContent])))
		assert.equal(row[0] === "chance", row[1] !== "real");
	const after = await harness_text(page, ".selected");
	await page.evaluate(() => [...document.querySelectorAll("select")].find((s) => [...s.options].some((o) => o.value === "before")).focus());
	await page.keyboard.press("ArrowDown");
	await harness_settled(page);
	assert.notEqual(await harness_text(page, ".selected"), after);
	assert.ok((await harness_text(page, ".selected")).startsWith(selected({ times: [[0, half]] }) + " selected"));
	await page.waitForFunction(() => document.querySelectorAll('[aria-label="Table of changed waits"] tbody tr').length);
	for (const row of await page.$$eval('[aria-label="Table of changed waits"] tbody tr', (list) => list.map((r) => [r.className, r.cells[6].textContent])))
		assert.equal(row[0] === "chance", row[1] !== "real");
	await page.click('[aria-label^="remove compared"]');
	await harness_settled(page);
	assert.equal(await page.$eval("#h-changes", (h) => h.parentElement.hidden), true);
	await done(page, faults);
});

await test("two captures: the page begins with both and what changed, and its commands name the file that is selected", async () => {
	const { page, faults } = await harness_open(pages + "/diff.html");
	await page.waitForFunction(() => document.querySelectorAll("#h-changes ~ div tbody tr").length);
	assert.match(await harness_text(page, "#h-changes ~ .command code"), /^ebprec diff --total .*before.data after.data$/);
	const list = await chips(page);
	assert.ok(list[0].startsWith("after.data") && list[1].startsWith("compared with before.data"), list.join());
	await page.evaluate(() => [...document.querySelectorAll("select")].find((s) => [...s.options].some((o) => o.value === "before")).focus());
	for (const [key, file] of [["ArrowUp", "before.data"], ["ArrowUp", "after.data"]]) {
		await page.keyboard.press(key);
		await harness_settled(page);
		assert.match(await harness_text(page, "#h-command ~ .command code"), new RegExp(" -i " + file + "$"));
	}
	await done(page, faults);
});

await test("the account: parts of CPUs and of threads are those of their sum, and bars are as wide", async () => {
	const { page, faults } = await harness_open(real, { fragment: "time=" + middle });
	await page.waitForFunction(() => document.querySelectorAll(".account p").length === 3);
	for (const text of await page.$$eval(".account p", (list) => list.slice(0, 2).map((line) => line.textContent))) {
		const [sum, ...parts] = text.slice(text.indexOf(" = ")).match(/\d+\.\d{6}(?= s)/g).map((number) => Math.round(Number(number) * 1e6));
		assert.ok(parts.length && sum === parts.reduce((a, b) => a + b, 0), text);
	}
	const [, cpus, time, all_time] = (await harness_text(page, ".account p")).match(/^(\d+) CPUs for ([0-9.]+) s = ([0-9.]+) s/);
	assert.equal((cpus * time).toFixed(6), all_time);
	for (const [width, all] of await page.$$eval(".sum", (list) => list.map((bar) => [[...bar.children].reduce((sum, part) => sum + part.getBoundingClientRect().width, 0), bar.clientWidth])))
		assert.ok(Math.abs(width - all) < 6, width + " of " + all);
	assert.match(await page.$eval(".account p:last-child", (line) => line.textContent), /^Waited most from .* to .*: /);
	// Each part in words has the swatch of its part of the bar, which may be too small to be seen.
	for (const [bar, words] of await page.$$eval(".sum", (list) => list.map((bar) => [bar, bar.nextSibling].map((line) => [...line.querySelectorAll("span:not(.part)")].map((part) => part.className.replace("swatch ", ""))))))
		assert.deepEqual(words, bar.filter((kind) => words.includes(kind)));
	await done(page, faults);
});

await test("counters: a button draws a line over time, it is in the address, and an interval can be selected", async () => {
	const { page, faults } = await harness_open(real), lines = () => page.$$eval(".overview-labels .name", (list) => list.map((name) => name.textContent).filter((name) => name.includes(": ")));
	await page.waitForFunction(() => document.querySelector('[aria-label="Table of counters"] tbody tr'));
	const before = await lines(), show = await page.$('[aria-label="Table of counters"] [aria-label^="show "], [aria-label="Table of counters"] [title^="show "]');
	assert.ok(before.length >= 1 && before.length <= 4, before.join());
	await show.click();
	await page.waitForFunction((count) => [...document.querySelectorAll(".overview-labels .name")].filter((name) => name.textContent.includes(": ")).length === count, {}, before.length + 1);
	await page.waitForFunction(() => location.hash.includes("lines="));
	await page.evaluate(() => scrollTo(0, 0));
	const box = await picture(page), rows = await page.$$(".overview-labels li");
	await page.mouse.move(box.x + box.width / 2, (await rows[rows.length - 1].boundingBox()).y - 8);
	assert.match(await harness_text(page, ".overview .tip"), /^.*: .* at \+[0-9.]+ s: .* in [0-9.]+ [mu]?s$|no value$/);
	await page.click('[aria-label="Intervals of counters"] td .name');
	await harness_settled(page);
	assert.equal((await chips(page)).length, 1);
	assert.match(await harness_text(page, "#h-counters ~ .command code"), /^ebprec metrics --interval/);
	await done(page, faults);
});

await test("by keys alone: a row over time is chosen and read at each moment, and what is read is announced and marked", async () => {
	const { page, faults } = await harness_open(real), reading = () => harness_text(page, ".overview + [aria-live]"), value = () => page.$eval("[role=slider]", (slider) => [slider.getAttribute("aria-valuetext"), Number(slider.getAttribute("aria-valuenow"))]);
	await page.waitForFunction(() => document.querySelector('[aria-label="Table of counters"] tbody tr'));
	await page.focus("[role=slider]");
	await page.keyboard.press("ArrowDown");
	const first = await reading(), [, middle] = await value();
	assert.match(first, /^\S.* at \+[0-9.]+ s: \d.* samples? in /);
	assert.equal(middle, Math.floor((model.head.span_us + 1) / 2));
	for (const line of model.counters.lines.slice(0, 1)) {
		const names = await page.$$eval(".overview-labels .name", (list) => list.map((name) => name.textContent)), row = names.findIndex((name) => name.includes(": "));
		for (let i = 1; i < row; i++)
			await page.keyboard.press("ArrowDown");
		assert.ok((await reading()).startsWith(names[row] + " at "), await reading());
		assert.ok(line.points.length && / in [0-9.]+ [mu]?s$/.test(await reading()), await reading());
	}
	const before = await value();
	await page.keyboard.down("Shift");
	await page.keyboard.press("ArrowRight");
	await page.keyboard.up("Shift");
	const [text, now] = await value();
	assert.equal(now, before[1] + Math.round((model.head.span_us + 1) / 10));
	assert.ok(text !== before[0] && text === await reading());
	const at = await page.$eval(".cursor", (cursor) => parseFloat(cursor.style.left));
	assert.ok(Math.abs(at - 100 * now / (model.head.span_us + 1)) < 0.01, String(at));
	await page.keyboard.press("End");
	assert.equal((await value())[1], model.head.span_us);
	await page.keyboard.press("Tab");
	assert.equal(await reading(), "");
	await done(page, faults);
});

await test("at 390 pixels no table but that of functions leaves columns out", async () => {
	const { page, faults } = await harness_open(real, { width: 390, height: 844 });
	await page.waitForFunction(() => document.querySelector('[aria-label="Table of counters"] tbody tr'));
	const hidden = await page.$$eval("table", (list) => list.filter((table) => table.offsetWidth && [...table.rows[0].cells].some((cell) => !cell.offsetWidth)).map((table) => table.closest("[role=region]").getAttribute("aria-label")));
	assert.deepEqual(hidden, ["Table of functions"]);
	await done(page, faults);
});

await test("by keys alone: find, walk, zoom, out, turn around, select all", async () => {
	const { page, faults } = await harness_open(real);
	await page.keyboard.press("/");
	await page.keyboard.type("^(do_|main)");
	await harness_settled(page);
	assert.match(await harness_text(page, ".matched"), /% matched$/);
	await page.keyboard.press("Escape");
	await harness_settled(page);
	assert.equal(await harness_text(page, ".matched"), "");
	await page.focus(".flame-tree");
	const current = () => harness_text(page, "#flame-current");
	const path = [await current()];
	for (const key of ["ArrowDown", "ArrowDown", "ArrowRight", "ArrowLeft", "ArrowDown"]) {
		await page.keyboard.press(key);
		path.push(await current());
	}
	assert.ok(new Set(path).size >= 4, path.join("\n"));
	await page.keyboard.press("Enter");
	await harness_settled(page);
	assert.equal(await page.$$eval('.flame-tree [aria-level="1"]', (list) => list.length), 1);
	await page.waitForFunction(() => location.hash.includes("zoom="));
	await page.keyboard.press("0");
	await page.waitForFunction(() => !location.hash.includes("zoom="));
	await page.keyboard.press("i");
	await page.waitForFunction(() => location.hash.includes("order=up"));
	await page.keyboard.press("Escape");
	await done(page, faults);
});

await test("? and the button show what keys do, and lead there", async () => {
	const { page, faults } = await harness_open(real), close = () => page.evaluate(() => {
		document.querySelector("details").open = false;
		document.activeElement.blur();
	});
	for (const show of [() => page.keyboard.press("?"), () => page.evaluate(() => [...document.querySelectorAll("button")].find((button) => button.textContent === "keys (?)").click())]) {
		await close();
		await show();
		assert.ok(await page.evaluate(() => document.querySelector("details").open && document.activeElement.tagName === "SUMMARY"));
		const { top, bottom } = await page.$eval(".keys", (keys) => keys.getBoundingClientRect().toJSON());
		assert.ok(bottom > 0 && top < 900, top + " to " + bottom);
	}
	await done(page, faults);
});

await test("a function chosen in the table stands where functions are searched, and Esc takes it away", async () => {
	const { page, faults } = await harness_open(story), field = () => page.$eval("input[type=search]", (input) => input.value);
	const name = await page.$eval(".functions td .name", (button) => button.lastChild.textContent);
	await page.click(".functions td .name");
	await harness_settled(page);
	assert.equal((await field()).replaceAll("\\", ""), "^" + name + "$");
	assert.match(await harness_text(page, ".matched"), /% matched$/);
	await page.keyboard.press("Escape");
	await harness_settled(page);
	assert.deepEqual([await field(), await harness_text(page, ".matched")], ["", ""]);
	await done(page, faults);
});

await test("without samples the page states that, and how to get some", async () => {
	const { page, faults } = await harness_open(pages + "/zero.html");
	assert.match(await harness_text(page, ".quality"), /no samples of 'cpu-clock': record longer/);
	assert.equal(await harness_text(page, ".flame p"), "nothing is selected");
	await done(page, faults);
});

await test("a hidden function and folded recursion are chips, are in the address, and come back", async () => {
	const { page, faults } = await harness_open(real), items = () => page.$$eval(".flame-tree li", (list) => list.map((item) => item.textContent));
	await page.focus(".flame-tree");
	for (let i = 0; i < 2; i++)
		await page.keyboard.press("ArrowDown");
	const name = await page.$eval(".detail h3", (title) => title.textContent), selected = await harness_text(page, ".selected");
	await page.evaluate(() => [...document.querySelectorAll(".detail button")].find((button) => button.textContent === "hide").click());
	await page.keyboard.press("r");
	await page.waitForFunction(() => /hide=.*fold=yes/.test(location.hash));
	assert.deepEqual(await chips(page), ["graph without " + name, "recursion folded"]);
	assert.ok((await items()).every((item) => !item.startsWith(name + ",")));
	assert.equal(await harness_text(page, ".selected"), selected);
	for (let i = 0; i < 2; i++) {
		await page.click(".chip button");
		await harness_settled(page);
	}
	assert.deepEqual(await chips(page), []);
	await done(page, faults);
});

await test("around a function: its share and what it called, from the bottom up its callers, with the command of each, and a chip ends it", async () => {
	const { page, faults } = await harness_open(real, { fragment: "group=none" }), items = () => page.$$eval(".flame-tree li", (list) => list.map((item) => item.textContent));
	const words = async () => (await harness_text(page, "#h-command ~ .command code")).match(/'[^']*'|\S+/g).map((word) => word.replaceAll("'", ""));
	await page.focus(".flame-tree");
	for (let i = 0; i < 3; i++)
		await page.keyboard.press("ArrowDown");
	const name = await page.$eval(".detail h3", (title) => title.textContent), selected = await harness_text(page, ".selected");
	await page.evaluate(() => [...document.querySelectorAll(".detail button")].find((button) => button.textContent === "around it").click());
	for (const option of ["--callees", "--callers"]) {
		await harness_settled(page);
		const [program, command, ...more] = await words();
		assert.equal(more[0], option + "=" + name);
		const { nodes } = JSON.parse(execFileSync(program, [command, "-q", "--json", "--min-percent", "0", ...more], { cwd: pages, encoding: "utf8" }));
		const total = nodes.filter((node) => !node.parent).reduce((sum, node) => sum + node.total, 0);
		assert.ok((await items())[0].includes(", " + words_weight(total, "samples")), (await items())[0] + " for " + total);
		await page.focus(".flame-tree");
		await page.keyboard.press("Home");
		await page.keyboard.press("ArrowDown");
		assert.ok((await harness_text(page, "#flame-current")).startsWith(name + ","));
		await page.keyboard.press("i");
	}
	assert.deepEqual(await chips(page), ["graph around " + name]);
	assert.equal(await harness_text(page, ".selected"), selected);
	await page.click(".chip button");
	await harness_settled(page);
	assert.deepEqual(await chips(page), []);
	await done(page, faults);
});

await test("over time: calls of one thread from left to right; arrows go to those beside, Enter selects the time of one", async () => {
	const counts = new Map();
	model.samples.task.forEach((task) => counts.set(model.tasks.tid[task], (counts.get(model.tasks.tid[task]) || 0) + 1));
	const [tid] = [...counts].sort((a, b) => b[1] - a[1])[0], { page, faults } = await harness_open(real, { fragment: "place=time" });
	assert.match(await harness_text(page, ".flame .quiet"), /one thread/);
	await page.evaluate((id) => { location.hash = "place=time&tids=" + id; }, tid);
	await page.waitForFunction(() => document.querySelector(".flame .quiet").textContent.startsWith("from +0.000000 s"));
	await page.focus(".flame-tree");
	const current = async () => (await harness_text(page, "#flame-current")).match(/, at \+([0-9.]+) s for ([^,]*),/)?.slice(1) || [];
	const moments = [];
	for (const key of ["ArrowDown", "ArrowDown", "ArrowDown", "ArrowRight", "ArrowRight", "ArrowLeft"]) {
		await page.keyboard.press(key);
		// The page gets higher and lower, as it does when more is known of one call than of another.
		await page.evaluate((height) => { document.querySelector(".detail").style.minHeight = height; }, 200 + 40 * moments.length + "px");
		await harness_settled(page);
		moments.push(Number((await current())[0]));
	}
	assert.ok(moments[4] > moments[3] && moments[3] > moments[2] && moments[5] === moments[3], moments.join());
	await page.keyboard.press("Enter");
	await harness_settled(page);
	const [from, to] = (await chips(page))[0].match(/[0-9.]+/g).map(Number);
	assert.equal(from, moments[5]);
	assert.ok(to > from);
	assert.match(await harness_text(page, "#h-command ~ .command code"), new RegExp("--time=.* --tid=" + tid));
	await page.screenshot({ path: pages + "/chart.png", fullPage: true });
	await done(page, faults);
});

await test("the root at the bottom: callees stand above, arrows go where they point, and a reload shows the same", async () => {
	const { page, faults } = await harness_open(real, { fragment: "group=none&root=bottom" }), title = () => page.$eval(".detail h3", (h) => h.textContent);
	// A click on the last row that is in sight, and on the one above.
	const click = async (rows) => {
		const box = await (await page.$(".flame-scroll")).boundingBox();
		await page.mouse.click(box.x + 30, box.y + box.height - 1 - 18 * rows + 6);
		await harness_settled(page);
	};
	await page.evaluate(() => document.querySelector(".flame-scroll").scrollIntoView());
	await click(2);
	const callee = await title();
	await click(1);
	assert.equal(await title(), "all");
	assert.notEqual(callee, "all");
	await page.focus(".flame-tree");
	await page.keyboard.press("ArrowUp");
	const first = await title();
	assert.notEqual(first, "all");
	await page.keyboard.press("ArrowUp");
	assert.notEqual(await title(), first);
	await page.keyboard.press("ArrowDown");
	assert.equal(await title(), first);
	const scrolled = () => page.$eval(".flame-scroll", ({ scrollTop, scrollHeight, clientHeight }) => scrollHeight - clientHeight - scrollTop);
	await page.reload();
	await page.waitForFunction(() => document.documentElement.dataset.ready === "yes");
	assert.ok(await scrolled() < 2, "the root is out of sight");
	await page.screenshot({ path: pages + "/bottom.png", fullPage: true });
	await done(page, faults);
});

await test("instruments: the graph is of the one that is chosen, with its unit and its command, and the selection stays", async () => {
	const own = await page_load(real, 1), { of, weight, options } = own.head, sum = count_stacks(own, filter_make(own, filter_all())).sum;
	const { page, faults } = await harness_open(real), command = () => harness_text(page, "#h-command ~ .command code");
	assert.ok(options.includes("--of=" + of));
	const choose = (value) => page.$$eval("select", (list, name) => {
		const select = list.find((one) => [...one.options].some((option) => option.value === "off-cpu"));
		select.focus();
		select.value = name;
		select.dispatchEvent(new Event("change"));
	}, value);
	await choose(of);
	await page.waitForFunction((name) => document.querySelector("#h-command ~ .command code")?.textContent.includes("--of=" + name), {}, of);
	assert.ok((await harness_text(page, ".selected")).startsWith(words_weight(sum, weight) + " selected, 100 % of all"));
	assert.equal(await page.evaluate(() => document.activeElement.value), of);
	assert.equal(await page.$("#h-waits"), null);
	await page.evaluate((hash) => { location.hash = hash; }, "measure=" + of + "&time=" + middle);
	await page.waitForFunction(() => document.querySelector(".chip"));
	const [from, to] = middle.split("-").map(Number), part = count_stacks(own, filter_make(own, { ...filter_all(), times: [[from, to]] })).sum;
	assert.ok((await harness_text(page, ".selected")).startsWith(words_weight(part, weight) + " selected"));
	const [program, ...words] = (await command()).match(/'[^']*'|\S+/g).map((word) => word.replaceAll("'", ""));
	const folded = execFileSync(program, [...words, "-q", "--folded"], { cwd: pages, encoding: "utf8" }).trim().split("\n");
	assert.equal(folded.reduce((all, line) => all + Number(line.slice(line.lastIndexOf(" "))), 0), part);
	await page.screenshot({ path: pages + "/instrument.png", fullPage: true });
	await choose("off-cpu");
	await page.waitForFunction(() => document.querySelector("#h-waits") && document.querySelector(".selected").textContent.includes("s selected"));
	assert.equal((await chips(page)).length, 1);
	await done(page, faults);
});

await test("a file whose functions are hidden is a chip: the graph has none of it, and the same sum", async () => {
	const path = model.objects.path[model.frames.object[model.nodes.frame[1]]], of = model.frames.name.filter((_, i) => model.objects.path[model.frames.object[i]] === path);
	const { page, faults } = await harness_open(real, { fragment: "group=none" }), selected = await harness_text(page, ".selected");
	const total = async () => (await harness_text(page, ".flame-tree li")).match(/[0-9\u202f]+ samples/)[0], all = await total();
	await page.focus(".flame-tree");
	await page.evaluate((hash) => { location.hash = hash; }, "group=none&hide=" + encodeURIComponent(encodeURIComponent(path)));
	await page.waitForFunction(() => document.querySelector(".chip"));
	assert.deepEqual(await chips(page), ["graph without " + path]);
	assert.deepEqual([await total(), await harness_text(page, ".selected")], [all, selected]);
	for (let i = 0; i < 12; i++) {
		assert.ok(!of.includes((await harness_text(page, "#flame-current")).split(", ")[0]));
		await page.keyboard.press("ArrowDown");
	}
	const name = await page.$eval(".detail h3", (title) => title.textContent), other = model.objects.path[model.frames.object[model.frames.name.indexOf(name)]];
	await page.evaluate(() => [...document.querySelectorAll(".detail button")].find((button) => button.textContent === "hide its file").click());
	await harness_settled(page);
	assert.deepEqual(await chips(page), ["graph without " + path, "graph without " + other]);
	await page.click(".chip button");
	await harness_settled(page);
	assert.deepEqual(await chips(page), ["graph without " + other]);
	await done(page, faults);
});

await test("the page lists what it gives away, and a capture that it carries", async () => {
	const given = async (name) => {
		const { page, faults } = await harness_open(pages + "/" + name + ".html"), text = await harness_text(page, "#h-command ~ .given");
		await done(page, faults);
		return text;
	};
	assert.match(await given("real"), new RegExp("the host, " + words_count(model.tasks.count) + " threads and .* " + words_count(model.frames.count) + " functions"));
	assert.ok(!(await given("real")).includes("all of the capture") && (await given("carried")).includes("all of the capture"));
});

await test("a screen reader has the path to the frame, its share, and where it stands among others", async () => {
	const { page, faults } = await harness_open(real);
	await page.focus(".flame-tree");
	for (let i = 0; i < 3; i++)
		await page.keyboard.press("ArrowDown");
	const client = await page.createCDPSession(), { nodes } = await client.send("Accessibility.getFullAXTree");
	const items = nodes.filter((node) => node.role?.value === "treeitem").map((node) => node.name.value);
	assert.ok(items.length >= 4, "items: " + items.length);
	assert.match(items[0], /^all, 100 %/);
	assert.match(items[3], / %, /);
	await done(page, faults);
});

await test("a frame's colour is that of its kind in the legend, and all callees of the root fill the width", async () => {
	const { page, faults } = await harness_open(real);
	const found = await page.evaluate(() => {
		const canvas = document.querySelector(".flame canvas"), dots = canvas.width / canvas.clientWidth;
		const data = canvas.getContext("2d").getImageData(0, Math.round(27 * dots), canvas.width, 1).data;
		const group = getComputedStyle(document.querySelector(".swatch.kind-group")).backgroundColor.match(/\d+/g).map(Number);
		let same = 0;
		for (let x = 0; x < canvas.width; x++)
			same += group.every((value, i) => Math.abs(value - data[4 * x + i]) < 3) ? 1 : 0;
		return same / canvas.width;
	});
	assert.ok(found > 0.5, "of the second row, " + found + " has the colour of threads");
	await done(page, faults);
});

await test("names that are markup are text: no element, no dialog, and as ebprec prints them", async () => {
	const { page, faults } = await harness_open(hostile);
	assert.equal(await page.$$eval("img, iframe, object, embed, base, link, form", (list) => list.length), 0);
	assert.equal(await page.$$eval("script", (list) => list.length), JSON.parse(await harness_text(page, "#head")).tables.length + 2);
	const names = await page.$$eval("td .name", (list) => list.map((name) => name.lastChild.textContent));
	assert.ok(names.some((name) => name.startsWith("</SCRIPT ><!--]]><img src=x onerror=alert(1)>\"'`&\\xe2\\x80\\xa8\\xe2\\x80\\xae\\x9b\\xff;\\x01")), names[0]);
	assert.ok(names.some((name) => name.length === 65000));
	await page.waitForFunction(() => document.querySelectorAll("#h-marks ~ div tbody tr").length === 4);
	assert.equal(await page.$$eval(".table-scroll", (list) => list.filter((box) => box.scrollWidth > box.clientWidth).length), 0);
	assert.equal(await page.$eval("#h-marks ~ div tbody td", (cell) => cell.textContent), "</SCRIPT><img/<img/src=x>");
	await page.click("td .name");
	await harness_settled(page);
	assert.match(await harness_text(page, ".matched"), /% matched$/);
	await done(page, faults);
});

await test("the graph is saved as a picture and as SVG, in which names that are markup are text", async () => {
	const { page, faults } = await harness_open(hostile);
	await page.evaluate(() => {
		const create = URL.createObjectURL;
		window.saved = [];
		URL.createObjectURL = (blob) => {
			window.saved.push(blob);
			return create(blob);
		};
	});
	for (const text of ["SVG", "PNG"])
		await page.evaluate((t) => [...document.querySelectorAll("button")].find((b) => b.textContent.includes(t)).click(), text);
	await page.waitForFunction(() => window.saved.length === 2);
	const [svg, png] = await page.evaluate(async () => [await window.saved[0].text(), [window.saved[1].type, window.saved[1].size]]);
	assert.match(svg, /^<svg [^<]*>[^]*<title>all, 100 %[^]*<\/svg>\n$/);
	assert.ok(svg.includes("&#60;/SCRIPT &#62;&#60;!--") && !/<(img|script|!--)/i.test(svg));
	assert.ok(png[0] === "image/png" && png[1] > 500);
	await done(page, faults);
});

await test("a page opens at the view it was written with", async () => {
	const { page, faults } = await harness_open(pages + "/view.html");
	assert.equal(await page.$eval("#h-functions ~ div th[aria-sort=descending] button", (button) => button.textContent), "total");
	await done(page, faults);
});

await test("markup made by a script is refused by the browser", async () => {
	const { page } = await harness_open(real);
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

await test("without scripts the page is its text", async () => {
	const { page, faults } = await harness_open(real, { script: false });
	const shown = await page.$eval("#summary", (pre) => pre.innerText);
	assert.match(shown, /samples of '/);
	assert.match(shown, /stacks: /);
	await page.browserContext().close();
	assert.deepEqual(faults, []);
});

for (const [width, height] of [[320, 700], [1280, 900], [3840, 2160]])
	await test("at " + width + " pixels nothing is wider than the window, and tables that are scroll below their captions", async () => {
		const { page, faults } = await harness_open(real, { width, height });
		await page.waitForFunction(() => document.querySelector("#h-counters ~ div caption").textContent);
		assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), "it scrolls sideways");
		assert.deepEqual(await page.$$eval("caption", (list) => list.filter((caption) => caption.getBoundingClientRect().right > innerWidth).map((caption) => caption.textContent)), []);
		await page.screenshot({ path: pages + "/real-" + width + ".png", fullPage: true });
		await done(page, faults);
	});

// Every view, each in one theme or the other, and what a tool finds in it that people with a screen reader or a weak sight would stumble over.
const [busiest] = [...new Set(model.tasks.tid)].map((tid) => [tid, model.samples.task.filter((task) => model.tasks.tid[task] === tid).length]).sort((a, b) => b[1] - a[1])[0];
const views = [["real", "light", "time=" + middle + "&search=main&axis=" + middle + "&baseline=" + span(0, 0.05)], ["real", "dark", "time=" + middle + "&search=main&axis=" + middle + "&measure=wakers"],
	["real", "light", "measure=off-cpu&group=process&order=up"], ["real", "dark", "measure=wall&group=thread&place=weight"], ["real", "light", "rows=cpu&group=container&sort=name"],
	["real", "dark", "place=time&tids=" + busiest + "&fold=yes"], ["real", "light", "rows=container&around=" + encodeURIComponent(model.frames.name[model.nodes.frame[1]]) + "&hide=x"],
	["real", "dark", "time=" + middle + "&baseline=" + span(0, 0.08) + "&side=both"], ["hostile", "light", "theme=dark&symbol=("], ["diff", "light", ""], ["diff", "dark", "side=before"], ["carried", "dark", ""], ["zero", "light", ""],
	["real", "light", "measure=kmem&root=bottom"], ["real", "dark", "measure=kmem&order=up&time=" + middle],
	["real", "light", "time=" + middle, 3840], ["real", "dark", "rows=cpu&measure=wall", 3840]];
for (const [name, theme, fragment, width] of views)
	await test("axe finds nothing in " + name + " " + fragment + ", " + theme + (width ? ", " + width + " wide" : ""), async () => {
		const { page } = await harness_open(pages + "/" + name + ".html", { width, height: width ? 2160 : 900, media: [{ name: "prefers-color-scheme", value: theme }], bypass: true, fragment });
		await page.focus(".flame-tree");
		await page.waitForFunction(() => [...document.querySelectorAll("section")].every((section) => section.hidden || !section.querySelector("table") || section.querySelector("caption").textContent));
		await page.evaluate(() => { document.querySelector("details").open = true; });
		await page.evaluate(readFileSync(createRequire(modules + "/").resolve("axe-core/axe.min.js"), "utf8"));
		const { violations } = await page.evaluate(() => window.axe.run());
		assert.deepEqual(violations.map((v) => v.id + ": " + v.nodes.map((n) => n.html.slice(0, 120) + " " + n.failureSummary).join(" | ")), []);
		await page.screenshot({ path: pages + "/view-" + views.findIndex((view) => view[2] === fragment && view[0] === name) + ".png", fullPage: true });
		await page.browserContext().close();
	});

await test("with forced colours, kinds keep colours of their own in the legend and in the graph, and nothing is a colour on itself", async () => {
	const { page, faults } = await harness_open(real), client = await page.createCDPSession();
	await client.send("Emulation.setEmulatedMedia", { features: [{ name: "forced-colors", value: "active" }, { name: "prefers-color-scheme", value: "dark" }] });
	await harness_settled(page);
	assert.ok(await page.evaluate(() => matchMedia("(forced-colors: active)").matches));
	const swatches = await page.$$eval('[aria-label="Colours"] .swatch', (list) => list.map((swatch) => getComputedStyle(swatch).backgroundColor));
	assert.equal(new Set(swatches).size, swatches.length);
	await page.waitForSelector(".sum .kind-user"); // the account is made when the selection rests
	assert.ok(swatches.includes(await page.$eval(".sum .kind-user", (bar) => getComputedStyle(bar).backgroundColor)));
	for (const selector of ["h1", ".quality li", ".selected", "td", ".command code", ".legend li", "button", "select"])
		assert.ok(await page.$eval(selector, (element) => {
			const ground = (at) => (at && getComputedStyle(at).backgroundColor.match(/, 0\)$/) ? ground(at.parentElement) : at ? getComputedStyle(at).backgroundColor : "");
			return getComputedStyle(element).color !== ground(element);
		}), selector);
	await page.screenshot({ path: pages + "/forced-colors.png", fullPage: true });
	await done(page, faults);
});

await test("printed, it has the summary, the selection, the graph, functions and the command, and no buttons", async () => {
	const { page, faults } = await harness_open(real, { fragment: "time=" + middle }), line = await harness_text(page, "#h-command ~ .command code");
	await page.pdf({ path: pages + "/real.pdf", format: "A4", printBackground: true });
	const text = execFileSync("pdftotext", ["-layout", pages + "/real.pdf", "-"], { encoding: "utf8" }), words = text.replace(/\s+/g, "");
	for (const part of [await harness_text(page, ".quality li"), await harness_text(page, ".selected"), await harness_text(page, ".chip"), line, await page.$eval("td .name", (name) => name.lastChild.textContent)])
		assert.ok(words.includes(part.replace(/\s+|\u00d7$/g, "")), part);
	assert.ok(!["save the graph", "look closer", "select all"].some((button) => text.includes(button)));
	const pictures = execFileSync("pdfimages", ["-list", pages + "/real.pdf"], { encoding: "utf8" }).trim().split("\n").slice(2).map((row) => row.trim().split(/\s+/));
	for (const row of pictures)
		assert.ok(Number(row[3]) / Number(row[12]) < 8.3, "a picture is wider than the paper");
	assert.ok(pictures.length >= 2);
	await done(page, faults);
});

for (const [sandbox, works] of [["allow-scripts", true], ["", false]])
	await test('in <iframe sandbox="' + sandbox + '"> ' + (works ? "it works" : "it is its text"), async () => {
		writeFileSync(pages + "/outer.html", '<!DOCTYPE html><title>x</title><iframe sandbox="' + sandbox + '" src="real.html" width=1200 height=800></iframe>');
		const { page, faults } = await harness_open(pages + "/outer.html", { frame: real }), frame = page.frames()[1];
		if (!works) {
			assert.match(await frame.$eval("#summary", (pre) => pre.innerText), /stacks: /);
			assert.equal(await frame.$("main"), null);
		} else {
			await frame.waitForFunction(() => document.documentElement.dataset.ready === "yes");
			await frame.focus(".flame-tree");
			for (const key of ["ArrowDown", "ArrowDown", "Enter", "["])
				await page.keyboard.press(key);
			await frame.waitForFunction(() => document.querySelector(".chip") && document.querySelectorAll('.flame-tree [aria-level="1"]').length === 1);
			assert.match(await frame.$eval("#h-command ~ .command code", (code) => code.textContent), /--time=/);
		}
		// Chromium itself reports that it ran no script.
		assert.deepEqual(faults.filter((fault) => works || !fault.startsWith("console: Blocked script execution")), []);
		await page.browserContext().close();
	});

await test("the back button undoes a zoom and a view around a function, and forward does them again", async () => {
	const { page, faults } = await harness_open(real, { fragment: "group=none" });
	await page.focus(".flame-tree");
	for (const key of ["ArrowDown", "ArrowDown", "Enter"])
		await page.keyboard.press(key);
	await page.waitForFunction(() => location.hash.includes("zoom="));
	await page.evaluate(() => [...document.querySelectorAll(".detail button")].find((button) => button.textContent === "around it").click());
	await page.waitForFunction(() => location.hash.includes("around="));
	const list = await chips(page);
	await page.goBack();
	await page.waitForFunction(() => location.hash.includes("zoom=") && !document.querySelector(".chip"));
	await page.goBack();
	await page.waitForFunction(() => location.hash === "#group=none");
	await page.goForward();
	await page.goForward();
	await page.waitForFunction(() => document.querySelector(".chip"));
	assert.deepEqual(await chips(page), list);
	await done(page, faults);
});

await test("a page that was truncated or changed reports that in one line, with its text below", async () => {
	const html = readFileSync(real, "utf8");
	const at = html.indexOf('id="d3">') + 40;
	writeFileSync(pages + "/damaged.html", html.slice(0, at) + (html[at] === "A" ? "B" : "A") + html.slice(at + 1));
	const { page, faults } = await harness_open(pages + "/damaged.html");
	assert.match(await harness_text(page, ".broken"), /^This page cannot be shown: .*Its text is below\.$/);
	assert.match(await page.$eval("#summary", (pre) => pre.innerText), /stacks: /);
	await done(page, faults);
});

await test("an instrument whose part was changed is reported in one line when it is chosen, and all else works", async () => {
	const html = readFileSync(real, "utf8"), at = html.indexOf('id="of1-3">') + 20;
	assert.ok(at > 20);
	writeFileSync(pages + "/damaged-part.html", html.slice(0, at) + (html[at] === "A" ? "B" : "A") + html.slice(at + 1));
	const { page, faults } = await harness_open(pages + "/damaged-part.html"), select = await page.evaluateHandle(() => [...document.querySelectorAll("select")].find((one) => [...one.options].some((option) => option.value === "off-cpu")));
	const choose = (value) => select.evaluate((one, name) => {
		one.value = name;
		one.dispatchEvent(new Event("change"));
	}, value);
	await choose("kmem");
	await page.waitForFunction(() => document.querySelector(".broken"));
	assert.match(await harness_text(page, ".broken"), /^This page cannot be shown: .*Its text is below\.$/);
	await choose("off-cpu");
	await page.waitForFunction(() => document.querySelector("#h-command ~ .command code").textContent.includes("--off-cpu"));
	assert.deepEqual(faults, []);
	await page.browserContext().close();
});

await test("1,000,000 samples: the time of opening and of a step of the brush (printed, not judged)", async () => {
	const begin = performance.now(), { page, faults } = await harness_open(big), opened = performance.now() - begin;
	const steps = await page.evaluate(async () => {
		const canvas = document.querySelector(".overview-picture canvas"), box = canvas.getBoundingClientRect(), times = [];
		const event = (type, x) => canvas.dispatchEvent(new PointerEvent(type, { clientX: x, clientY: box.top + 40, bubbles: true, pointerId: 1, isPrimary: true }));
		canvas.setPointerCapture = () => {};
		event("pointerdown", box.left + 10);
		for (let i = 0; i < 40; i++) {
			event("pointermove", box.left + 30 + i * 15);
			const from = performance.now();
			await new Promise((done) => requestAnimationFrame(() => done()));
			await new Promise((done) => setTimeout(done));
			times.push(performance.now() - from);
		}
		event("pointerup", box.left + 700);
		return times.sort((a, b) => a - b);
	});
	console.log("# opened in " + Math.round(opened) + " ms; steps of the brush: median " + steps[20].toFixed(1) + " ms, p95 " + steps[38].toFixed(1) + " ms");
	await done(page, faults);
});

await harness_end();
