// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
// pprof_sums.cjs TYPE FILE... - sums of such values of gzipped profiles by the innermost function, as npm's pprof-format reads
// them.  Of profiles that have such values: waits are profiles of their own.
const { readFileSync } = require("fs");
const { gunzipSync } = require("zlib");
const { Profile } = require("pprof-format");

const [wanted, ...paths] = process.argv.slice(2);
const sums = new Map();
for (const path of paths) {
	const bytes = readFileSync(path);
	const profile = Profile.decode(bytes[0] === 0x1f ? gunzipSync(bytes) : bytes);
	const text = (index) => profile.stringTable.strings[Number(index)];
	const locations = new Map(profile.location.map((l) => [Number(l.id), l]));
	const functions = new Map(profile.function.map((f) => [Number(f.id), f]));
	const at = profile.sampleType.findIndex((type) => text(type.type) === wanted);
	if (at < 0)
		continue;
	for (const sample of profile.sample) {
		const leaf = locations.get(Number(sample.locationId[0]));
		const name = text(functions.get(Number(leaf.line[0].functionId)).name);
		sums.set(name, (sums.get(name) ?? 0n) + BigInt(sample.value[at]));
	}
}
for (const name of [...sums.keys()].sort())
	console.log(`${name} ${sums.get(name)}`);
