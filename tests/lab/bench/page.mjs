// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
// page.mjs MODULES FOLDER - FOLDER/page.html and what others make of the same stacks, opened in one chromium from the disk
//
// With other pages there (small.html, ten.html), the milliseconds until these can be used, by name.
//
// Prints a line a number: of page.html, page.svg (flamegraph.pl), speedscope (page.speedscope.json) and d3 (page.folded in the template that
// `perf script report flamegraph` takes) the milliseconds until it can be used; of ours the steps of the brush and the nodes besides.
import { readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname } from "node:path";

const [modules, folder] = process.argv.slice(2), require = createRequire(modules + "/"), RUNS = 5;
const browser = await require("puppeteer-core").launch({ executablePath: process.env.CHROMIUM || "/usr/bin/chromium", protocolTimeout: 600000,
	args: ["--no-sandbox", "--disable-gpu", "--allow-file-access-from-files", "--host-resolver-rules=MAP * ~NOTFOUND"] });
const median = (list) => list.sort((a, b) => a - b)[list.length >> 1];

// Milliseconds from the navigation until is_ready() is true in the page, on the page's own clock.
async function open(address, is_ready) {
	const page = await browser.newPage();
	await page.setViewport({ width: 1280, height: 900 });
	await page.goto(address, { timeout: 600000 });
	const ms = await page.waitForFunction("(" + is_ready + ")() && performance.now()", { polling: "raf", timeout: 600000 });
	return { page, ms: await ms.jsonValue() };
}

async function measure(name, address, is_ready) {
	const times = [];
	for (let i = 0; i < RUNS; i++) {
		const { page, ms } = await open(address, is_ready);
		times.push(ms);
		await page.close();
	}
	console.log(name + " " + median(times).toFixed(0));
}

// The tree that perf writes into the page: n name, v value, c callees.
function d3_tree(folded) {
	const root = { n: "all", v: 0, c: new Map() };
	for (const line of folded.trim().split("\n")) {
		const value = Number(line.slice(line.lastIndexOf(" ") + 1));
		let at = root;
		at.v += value;
		for (const name of line.slice(0, line.lastIndexOf(" ")).split(";")) {
			if (!at.c.has(name))
				at.c.set(name, { n: name, v: 0, c: new Map() });
			at = at.c.get(name);
			at.v += value;
		}
	}
	return JSON.stringify(root, (key, value) => (value instanceof Map ? [...value.values()] : value)).replaceAll("<", "\\u003c");
}

async function brush() {
	const { page } = await open("file://" + folder + "/page.html", () => document.documentElement.dataset.ready === "yes");
	await new Promise((done) => setTimeout(done, 3000)); // what is counted at rest
	const client = await page.createCDPSession(), cpu_s = async () => (await client.send("Performance.getMetrics")).metrics.find(({ name }) => name === "ThreadTime").value;
	await client.send("Performance.enable", { timeDomain: "threadTicks" });
	const begin_s = await cpu_s(), steps = await page.evaluate(async () => {
		const canvas = document.querySelector(".overview-picture canvas"), box = canvas.getBoundingClientRect(), times = [];
		const event = (type, x) => canvas.dispatchEvent(new PointerEvent(type, { clientX: x, clientY: box.top + 40, bubbles: true, pointerId: 1, isPrimary: true }));
		canvas.setPointerCapture = () => {};
		event("pointerdown", box.left + 10);
		for (let i = 0; i < 100; i++) {
			// From the begin of a frame until it is drawn: the page asked for the same frame later than we did.
			const frame = new Promise((done) => requestAnimationFrame(() => {
				const from = performance.now(), channel = new MessageChannel();
				channel.port1.onmessage = () => done(performance.now() - from);
				channel.port2.postMessage(0);
			}));
			event("pointermove", box.left + 30 + i * 8);
			times.push(await frame);
		}
		event("pointerup", box.left + 900);
		return times.sort((a, b) => a - b);
	});
	console.log("brush_median " + steps[50].toFixed(1) + "\nbrush_p95 " + steps[95].toFixed(1));
	console.log("brush_cpu " + ((await cpu_s() - begin_s) * 1000 / steps.length).toFixed(1)); // of the page's main thread
	console.log("nodes " + await page.$$eval("*", (list) => list.length));
	await page.close();
}

const is_ready = () => document.documentElement.dataset.ready === "yes", has = (name) => { try { return readFileSync(folder + "/" + name); } catch { return null; } };
for (const name of ["page", "small", "ten"])
	if (has(name + ".html"))
		await measure(name, "file://" + folder + "/" + name + ".html", is_ready);
await brush();
if (has("page.svg"))
	await measure("svg", "file://" + folder + "/page.svg", () => document.querySelectorAll("rect").length > 1);
const speedscope = dirname(require.resolve("speedscope/package.json")) + "/dist/release/index.html";
writeFileSync(folder + "/speedscope.js", "speedscope.loadFileFromBase64('page', '" + has("page.speedscope.json").toString("base64") + "')");
await measure("speedscope", "file://" + speedscope + "#localProfilePath=" + folder + "/speedscope.js", () => document.title.includes("- speedscope") && document.querySelector("canvas"));
const template = readFileSync(dirname(require.resolve("d3-flame-graph/package.json")) + "/dist/templates/d3-flamegraph-base.html", "utf8");
const d3 = template.replace("/** @options_json **/", () => '{"colorscheme": "blue-green", "context": ""}').replace("/** @flamegraph_json **/", () => d3_tree(has("page.folded").toString()));
writeFileSync(folder + "/d3.html", d3);
console.log("d3_bytes " + d3.length);
await measure("d3", "file://" + folder + "/d3.html", () => document.querySelectorAll("rect").length > 1);
await browser.close();
