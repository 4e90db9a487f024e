// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
// read.js NAME WEIGHT - reads NAME.pprof and friends; their weights must add up to what is in NAME.sum
const assert = require('assert');
const fs = require('fs');
const zlib = require('zlib');
const path = require('path');
const { Profile } = require('pprof-format');
const Ajv = require('ajv').default;

const [name, weight] = process.argv.slice(2);
const want = Number(fs.readFileSync(`${name}.sum`, 'utf8'));
const json = (form) => JSON.parse(fs.readFileSync(`${name}.${form}`, 'utf8'));
const sum = (list) => list.reduce((a, b) => a + b, 0);

function pprof() {
	const p = Profile.decode(zlib.gunzipSync(fs.readFileSync(`${name}.pprof`)));
	const text = (i) => p.stringTable.strings[Number(i)];
	const column = weight === 'time' ? 1 : 0;

	assert.strictEqual(text(0), '');
	assert.strictEqual(sum(p.sample.map((s) => Number(s.value[column]))), want);
	assert.strictEqual(text(p.sampleType[column].type), weight === 'time' ? 'time_ns' : 'samples');
	const locations = new Map(p.location.map((l) => [Number(l.id), l]));
	const functions = new Map(p.function.map((f) => [Number(f.id), f]));
	const mappings = new Set(p.mapping.map((m) => Number(m.id)));
	for (const m of p.mapping)
		assert.match(text(m.buildId), /^([0-9a-f]{2})*$/);
	assert.strictEqual(p.mapping.some((m) => text(m.buildId)), name === 'real');
	for (const s of p.sample) {
		assert.strictEqual(s.value.length, p.sampleType.length);
		for (const id of s.locationId) {
			const l = locations.get(Number(id));
			assert.ok(l && mappings.has(Number(l.mappingId)));
			assert.ok(text(functions.get(Number(l.line[0].functionId)).name));
		}
	}
}

function speedscope() {
	const release = path.join(path.dirname(require.resolve('speedscope/package.json')), 'dist/release');
	const schema = JSON.parse(fs.readFileSync(path.join(release, 'file-format-schema.json')));
	const file = json('speedscope');
	const ajv = new Ajv({ strict: false });
	const good = ajv.validate(schema, file);

	assert.ok(good, JSON.stringify(ajv.errors));
	assert.strictEqual(sum(file.profiles.map((p) => sum(p.weights))), want);
	for (const p of file.profiles) {
		assert.strictEqual(p.samples.length, p.weights.length);
		assert.ok(p.samples.every((s) => s.every((f) => f < file.shared.frames.length)));
	}
}

function columns(table) {
	for (const [key, list] of Object.entries(table))
		if (Array.isArray(list))
			assert.strictEqual(list.length, table.length, key);
}

function firefox() {
	const file = json('firefox');
	let total = 0;

	// As the Profiler makes it of a build-id: its first 16 bytes as a GUID, and the age 0.
	for (const l of file.libs) {
		const b = (l.codeId || '').match(/../g) || [];
		const guid = [3, 2, 1, 0, 5, 4, 7, 6, 8, 9, 10, 11, 12, 13, 14, 15].map((i) => b[i]).join('');
		assert.strictEqual(l.breakpadId, b.length ? guid.toUpperCase() + '0' : '');
		assert.ok(l.path.endsWith(`/${l.debugName}`));
	}
	assert.strictEqual(file.libs.some((l) => l.codeId), name === 'real');
	for (const t of file.threads) {
		t.resourceTable.lib.forEach((l, i) =>
			assert.strictEqual(file.libs[l].name, t.stringArray[t.resourceTable.name[i]]));
		t.funcTable.resource.forEach((r, i) => {
			const dso = t.stringArray[t.funcTable.fileName[i]];
			assert.strictEqual(r >= 0, dso.startsWith('/'));
			assert.ok(r < 0 || file.libs[t.resourceTable.lib[r]].path === dso);
		});
		[t.samples, t.stackTable, t.frameTable, t.funcTable, t.resourceTable, t.markers].forEach(columns);
		t.stackTable.prefix.forEach((p, i) => assert.ok(p === null || p < i));
		t.stackTable.frame.forEach((f) => assert.ok(f < t.frameTable.length));
		t.funcTable.name.forEach((n) => assert.ok(n < t.stringArray.length));
		t.samples.stack.forEach((s) => assert.ok(s === null || s < t.stackTable.length));
		t.samples.time.reduce((a, b) => (assert.ok(a <= b), b), 0);
		total += sum(t.samples.weight);
	}
	assert.ok(Math.abs(total * (weight === 'time' ? 1e6 : 1) - want) < 1, `${total} ${want}`);
}

function chrome() {
	const open = new Map();

	for (const e of json('chrome').traceEvents) {
		assert.ok(e.ph === 'X' || e.ph === 'M');
		if (e.ph === 'X')
			open.set(e.tid, (open.get(e.tid) || []).concat(e));
	}
	// Slices of a thread nest: what overlaps contains.
	for (const slices of open.values()) {
		slices.sort((a, b) => a.ts - b.ts || b.dur - a.dur);
		const stack = [];
		for (const s of slices) {
			while (stack.length && stack[stack.length - 1] <= s.ts + 0.0001)
				stack.pop();
			assert.ok(!stack.length || s.ts + s.dur <= stack[stack.length - 1] + 0.01);
			stack.push(s.ts + s.dur);
		}
	}
}

for (const check of [pprof, speedscope, firefox, chrome]) {
	check();
	console.log(`ok ${name} ${weight} ${check.name}`);
}
