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

// Sizes a canvas to its place on the screen, dot for dot, and returns its context in CSS pixels.
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
	return context;
}

export function dom_color(name) {
	return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
}

export function dom_select(label, values, value, change) {
	const select = el("select", { onchange: () => change(select.value) },
		...values.map(([key, text]) => el("option", { value: key, selected: key === value }, text)));
	return { label: el("label", null, label + " ", select), select };
}
