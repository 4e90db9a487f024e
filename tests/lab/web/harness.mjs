// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
// harness - a page in a browser, and everything that it must not do: requests, messages, dialogs, violations
import { createRequire } from "node:module";

let browser, count = 0, failed = 0;

export async function harness_begin(modules, name = "chromium") {
	const puppeteer = createRequire(modules + "/")("puppeteer-core");
	browser = await puppeteer.launch(name === "firefox" ? { browser: "firefox", executablePath: process.env.FIREFOX || "/usr/bin/firefox-esr" }
		: { executablePath: process.env.CHROMIUM || "/usr/bin/chromium", args: ["--no-sandbox", "--disable-gpu", "--host-resolver-rules=MAP * ~NOTFOUND"] });
}

// Opens a page; faults is what it did that it must not.  frame: a page that it shows in itself, for which a test waits.
export async function harness_open(path, { width = 1280, height = 900, fragment = "", media = [], script = true, bypass = false, frame = "" } = {}) {
	const context = await browser.createBrowserContext(), page = await context.newPage(), faults = [];
	const address = "file://" + path;
	page.on("console", (message) => faults.push("console: " + message.text()));
	page.on("pageerror", (error) => faults.push("error: " + error.message));
	page.on("dialog", (dialog) => { faults.push("dialog: " + dialog.message()); dialog.dismiss(); });
	page.on("request", (request) => {
		// Firefox has fonts of its own as such addresses, which need no server.
		if (request.url().split("#")[0] !== address && request.url() !== "file://" + frame && !request.url().startsWith("data:font/"))
			faults.push("request: " + request.url());
	});
	await page.exposeFunction("harness_fault", (text) => faults.push(text));
	await page.evaluateOnNewDocument(() => document.addEventListener("securitypolicyviolation",
		(event) => window.harness_fault("policy: " + event.violatedDirective + " " + event.blockedURI)));
	// These three are Chromium's alone.
	if (bypass)
		await page.setBypassCSP(true);
	if (!script)
		await page.setJavaScriptEnabled(false);
	if (media.length)
		await page.emulateMediaFeatures(media);
	await page.setViewport({ width, height });
	await page.goto(address + (fragment ? "#" + fragment : ""));
	if (script && !frame)
		await page.waitForFunction(() => document.documentElement.dataset.ready === "yes" || document.querySelector(".broken"));
	return { page, faults };
}

// Waits until the page has counted and drawn again what changed.
export async function harness_settled(page) {
	await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
}

export async function harness_text(page, selector) {
	return page.$eval(selector, (element) => element.textContent);
}

// A test throws when it fails.  WEB_TESTS: an expression that chooses tests by name, to work on one.
export async function harness_test(name, test) {
	if (!new RegExp(process.env.WEB_TESTS || "").test(name))
		return;
	count++;
	try {
		await test();
		console.log("ok " + count + " - " + name);
	} catch (error) {
		failed++;
		console.log("not ok " + count + " - " + name + "\n" + String(error.stack).replace(/^/gm, "# "));
	}
}

export async function harness_end() {
	await browser.close();
	console.log("1.." + count);
	console.log(count - failed + " passed, " + failed + " failed");
	process.exit(failed ? 1 : 0);
}
