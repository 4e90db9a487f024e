// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
// link - the state of the page as the fragment of its address, and back
//
// Values as they are at first are left out.  A fragment comes from strangers: parts that make no sense are ignored.
import { FILTER_LISTS, FILTER_TEXTS, filter_all } from "./filter.mjs";

const LINK_RANGES = 64;

// The values that each part of the view may have, each with its text where the page has a list of them; "" takes any text.
export const LINK_VIEW = {
	measure: [["cpu", "running"], ["off-cpu", "waiting"], ["wakers", "waits and wakers"], ["wall", "running and waiting"]], // and the page's instruments
	rows: [["program", "programs"], ["cpu", "CPUs"], ["container", "containers"]],
	baseline: "", // "FROM-TO" of the time that the selected one is compared with; "": none
	side: [["after", "selected"], ["before", "compared with"], ["both", "both"]], // of the two the graph shows
	axis: "", // "FROM-TO" of the time that the overview shows; "": all
	group: [["comm", "program"], ["none", "nothing"], ["process", "process"], ["thread", "thread"], ["container", "container"]],
	order: [["down", "the top down"], ["up", "the bottom up"]], // callers, or callees, stand first
	root: [["top", "the top"], ["bottom", "the bottom"]],
	place: [["name", "name"], ["weight", "weight"], ["time", "time"]], // by which the callees of a frame stand side by side; time: of one thread, as they were called
	sort: [["self"], ["total"], ["name"]],
	theme: [["auto", "as the system"], ["light", "light"], ["dark", "dark"]],
	search: "",
	hide: "", // names of functions, and paths of files whose functions, the graph leaves out, as in zoom
	fold: [["no"], ["yes"]], // recursion
	lines: "", // ids of counters that the overview draws, as in zoom; "": some
	around: "", // the function from which on the graph shows callees, or callers; "": all of each stack
	zoom: "", // labels of the path, each encoded, with "/" between
};

export const link_view = () => Object.fromEntries(Object.entries(LINK_VIEW).map(([key, may]) => [key, may && may[0][0]]));

// Commas and bars part the list.
const link_encode = (text) => encodeURIComponent(text).replace(/[!'()*~]/g, (c) => "%" + c.charCodeAt(0).toString(16));

function link_decode(text) {
	try {
		return decodeURIComponent(text);
	} catch {
		return "";
	}
}

export function link_write({ selection, view = link_view() }) {
	const parts = [], usual = link_view(), add = (key, text) => text && parts.push(key + "=" + text);
	add("time", selection.times.map((range) => range.join("-")).join(","));
	for (const list of FILTER_LISTS)
		add(list, selection[list].map(link_encode).join(","));
	add("during", selection.during && (selection.not_during ? "!" : "") + link_encode(selection.during));
	for (const text of FILTER_TEXTS)
		add(text, link_encode(selection[text]));
	for (const key of Object.keys(usual))
		add(key, view[key] !== usual[key] && link_encode(view[key]));
	return parts.join("&");
}

// Names as one text, and back.
export const link_names = (list) => list.map(encodeURIComponent).join("/");

export const link_names_of = (text) => text.split("/").map(link_decode).filter(Boolean);

// "FROM-TO"; null: it is none.
export function link_range(text) {
	const [from, to] = text.split("-").map(Number);
	return [from, to].every(Number.isSafeInteger) && from >= 0 && to > from ? [from, to] : null;
}

function link_times(text) {
	const times = [];
	for (const range of text.split(",").slice(0, LINK_RANGES).map(link_range))
		if (range && range[0] >= (times.at(-1)?.[1] ?? 0))
			times.push(range);
	return times;
}

function link_list(key, text) {
	const list = text.split(",").map(link_decode).filter(Boolean);
	return key === "comms" ? list : list.map(Number).filter(Number.isSafeInteger);
}

export function link_read(fragment) {
	const selection = filter_all(), view = link_view();
	for (const [, key, value] of fragment.matchAll(/([^#&=]+)=([^&]*)/g)) {
		const text = link_decode(value), may = Object.hasOwn(LINK_VIEW, key) ? LINK_VIEW[key] : null;
		if (key === "time")
			selection.times = link_times(value);
		else if (FILTER_LISTS.includes(key))
			selection[key] = link_list(key, value);
		else if (key === "during") {
			selection.not_during = value[0] === "!";
			selection.during = selection.not_during ? link_decode(value.slice(1)) : text;
		} else if (FILTER_TEXTS.includes(key))
			selection[key] = text;
		else if (may === "" || may?.some(([one]) => one === text))
			view[key] = text;
	}
	return { selection, view };
}
