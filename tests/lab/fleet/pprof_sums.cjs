// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
// pprof_sums.cjs FILE... - values of samples of gzipped profiles by the innermost function, as npm's pprof-format reads them
const { readFileSync } = require("fs");
const { gunzipSync } = require("zlib");
const { Profile } = require("pprof-format");

const sums = new Map();
for (const path of process.argv.slice(2)) {
	const bytes = readFileSync(path);
	const profile = Profile.decode(bytes[0] === 0x1f ? gunzipSync(bytes) : bytes);
	const text = (index) => profile.stringTable.strings[Number(index)];
	const locations = new Map(profile.location.map((l) => [Number(l.id), l]));
	const functions = new Map(profile.function.map((f) => [Number(f.id), f]));
	const at = profile.sampleType.findIndex((type) => text(type.type) === "samples");
	for (const sample of profile.sample) {
		const leaf = locations.get(Number(sample.locationId[0]));
		const name = text(functions.get(Number(leaf.line[0].functionId)).name);
		sums.set(name, (sums.get(name) ?? 0n) + BigInt(sample.value[at]));
	}
}
for (const name of [...sums.keys()].sort())
	console.log(`${name} ${sums.get(name)}`);
