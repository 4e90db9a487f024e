// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
// dom - elements made from plain data; text is only ever text

// el("button", { class: "chip", onclick: f, title: "..." }, "text", child ...)
export function el(tag, attributes, ...children) {
	const element = document.createElement(tag);
	for (const [name, value] of Object.entries(attributes || {})) {
		if (name.startsWith("on"))
			element.addEventListener(name.slice(2), value);
		else if (value === true)
			element.setAttribute(name, "");
		else if (value !== false && value !== null && value !== undefined)
			element.setAttribute(name, value);
	}
	element.append(...children.filter((child) => child !== null && child !== undefined));
	return element;
}

export function dom_button(text, act, title, kind) {
	return el("button", { type: "button", class: kind, title, onclick: act }, text);
}

// name: of the section in ids.
export function dom_section(name, title, ...children) {
	return el("section", { "aria-labelledby": "h-" + name }, el("h2", { id: "h-" + name }, title), ...children);
}

// Kinds, each with its swatch and its text.
export function dom_legend(label, kinds, kind_class) {
	return el("ul", { class: "legend", "aria-label": label }, ...kinds.map(([kind, text]) => {
		const swatch = el("span", { class: "swatch " + kind_class + kind, "aria-hidden": "true" });
		if (kind_class === "kind-")
			swatch.style.backgroundColor = "var(--kind-" + kind + ")";
		return el("li", null, swatch, text);
	}));
}

// A line that can be copied, the element whose text it is, and set(): to a command, or to why there is none.
export function dom_command() {
	const code = el("code", { tabindex: "0" });
	return { code, line: el("p", { class: "command" }, code),
		set: (lacks, make) => { code.textContent = lacks ? "No one command selects this: " + lacks + "." : make(); } };
}

export function dom_tip_make() {
	return el("div", { class: "tip", hidden: true, "aria-hidden": "true" });
}

// Puts the text of a point beside it, within the element that tip is in.
export function dom_tip(tip, outer, event, text) {
	const box = outer.getBoundingClientRect();
	tip.hidden = !text;
	if (!text)
		return;
	tip.textContent = text;
	tip.style.left = Math.max(0, Math.min(event.clientX - box.left + 14, box.width - tip.offsetWidth)) + "px";
	tip.style.top = event.clientY - box.top + 18 + "px";
}

// Sizes a canvas to its place on the screen, dot for dot, and returns its context in CSS pixels, with the font of names.
export function dom_canvas(canvas, width, height) {
	const dots = window.devicePixelRatio || 1;
	if (canvas.width !== Math.round(width * dots) || canvas.height !== Math.round(height * dots)) {
		canvas.width = Math.round(width * dots);
		canvas.height = Math.round(height * dots);
		canvas.style.width = width + "px";
		canvas.style.height = height + "px";
	}
	const context = canvas.getContext("2d");
	context.setTransform(dots, 0, 0, dots, 0, 0);
	context.clearRect(0, 0, width, height);
	context.font = "11.5px ui-monospace, 'DejaVu Sans Mono', monospace";
	context.textBaseline = "middle";
	return context;
}

export function dom_color(name) {
	return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
}
