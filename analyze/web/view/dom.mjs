// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
// dom - elements made from plain data; text is only ever text

// el("button.chip", { onclick: f, title: "..." }, "text", child ...): attributes that are null, and all of them, may be missing
export function el(tag, attributes, ...children) {
	const [name, kind] = tag.split("."), element = document.createElement(name), has = attributes?.constructor === Object;
	for (const [key, value] of Object.entries({ class: kind, ...(has ? attributes : null) }))
		if (key.startsWith("on"))
			element.addEventListener(key.slice(2), value);
		else if (value !== null && value !== undefined)
			element.setAttribute(key, value);
	element.append(...[attributes, ...children].slice(has || !attributes ? 1 : 0));
	return element;
}

export const dom_button = (text, act, title = null, kind = null) => el("button", { type: "button", class: kind, title, onclick: act }, text);

// name: of the section in ids; tools: beside its title.
export function dom_section(name, title, tools, ...children) {
	const head = el("h2", { id: "h-" + name }, title);
	return el("section", { "aria-labelledby": "h-" + name }, tools ? el("div.bar-top", head, tools) : head, ...children);
}

// A bar as wide as the part of all.
export function dom_bar(kind, part, all) {
	const bar = el("span." + kind, DOM_HIDDEN);
	bar.style.width = (all ? 100 * part / all : 0) + "%";
	return bar;
}

// Kinds, each with its swatch and its text.
export function dom_legend(label, kinds, kind_class) {
	return el("ul.legend", { "aria-label": label }, ...kinds.map(([kind, text]) => {
		const swatch = el("span.swatch " + kind_class + kind, DOM_HIDDEN);
		if (kind_class === "kind-")
			swatch.style.backgroundColor = "var(--kind-" + kind + ")";
		return el("li", swatch, text);
	}));
}

// A line that is selected to be copied when it has the focus, the element whose text it is, and set(): to a command, or to why there is none.
export function dom_command() {
	const code = el("code", { tabindex: "0", onfocus: () => getSelection().selectAllChildren(code) });
	return { code, line: el("p.command", code),
		set: (lacks, make) => { code.textContent = lacks ? "No one command selects this: " + lacks + "." : make(); } };
}

export const dom_tip_make = () => el("div.tip", { hidden: "", ...DOM_HIDDEN });

// Puts the text of a point beside it, within the element that the tip is in: on the side that has more room.  It is laid out once with all else that
// changes in the frame.
export function dom_tip(tip, event, text) {
	const box = tip.parentElement.getBoundingClientRect(), x = event.clientX - box.left, y = event.clientY - box.top, is_right = x > box.width / 2;
	requestAnimationFrame(() => {
		tip.hidden = !text;
		tip.textContent = text;
		tip.style.left = is_right ? "" : x + 14 + "px";
		tip.style.right = is_right ? box.width - x + 14 + "px" : "";
		tip.style.top = y + 18 + "px";
	});
}

// Sizes a canvas to its place on the screen, dot for dot, and returns its context in CSS pixels, with the font of names.
export function dom_canvas(canvas, width, height) {
	const dots = window.devicePixelRatio || 1, context = canvas.getContext("2d");
	for (const [side, size] of [["width", width], ["height", height]])
		if (canvas[side] !== Math.round(size * dots)) {
			canvas[side] = Math.round(size * dots);
			canvas.style[side] = size + "px";
		}
	context.setTransform(dots, 0, 0, dots, 0, 0);
	context.clearRect(0, 0, width, height);
	context.font = "11.5px ui-monospace, 'DejaVu Sans Mono', monospace";
	context.textBaseline = "middle";
	return context;
}

// Keys with these are the browser's own.
export const dom_is_shortcut = ({ ctrlKey, altKey, metaKey }) => ctrlKey || altKey || metaKey;

// The page's colours of these names, with "-" between words, by name.
export function dom_colors(names) {
	const style = getComputedStyle(document.documentElement);
	return Object.fromEntries(names.split(" ").map((name) => [name, style.getPropertyValue("--" + name).trim()]));
}

export function dom_fill(context, color, x, y, width, height) {
	context.fillStyle = color;
	context.fillRect(x, y, width, height);
}

// For elements whose contents stand elsewhere as text.
export const DOM_HIDDEN = { "aria-hidden": "true" };
