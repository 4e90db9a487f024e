// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
// Today's ClickHouse, as npm's chdb has it, behind the part of its HTTP interface that ebprec uses.
//	node chdb_server.cjs DIR, which gets `port`; NODE_PATH has chdb
const { Session } = require("chdb");
const fs = require("fs");
const http = require("http");
const zlib = require("zlib");

const folder = process.argv[2];
const session = new Session(folder + "/db");

function insert(sql, settings, body) {
	const [, table, columns] = sql.match(/^INSERT INTO (\S+) \((.*)\) FORMAT RowBinary$/);
	const file = folder + "/rows.bin";
	const types = Object.fromEntries(session.query("DESCRIBE TABLE " + table, "TSVRaw").trim().split("\n").map((l) => l.split("\t")));
	const structure = columns.split(",").map((c) => "`" + c + "` " + types[c]).join(", ");
	fs.writeFileSync(file, body);
	const set = [...settings].filter(([name]) => name !== "query" && name !== "database").map(([name, value]) => `${name} = '${value}'`);
	session.query(`INSERT INTO ${table} (${columns}) ${set.length ? "SETTINGS " + set.join(", ") : ""} ` +
		`SELECT * FROM file('${file}', 'RowBinary', '${structure.replace(/\\/g, "\\\\").replace(/'/g, "\\'")}')`);
}

http.createServer((request, response) => {
	const parts = [];
	request.on("data", (part) => parts.push(part));
	request.on("end", () => {
		const url = new URL(request.url, "http://x");
		let body = Buffer.concat(parts), sql = url.searchParams.get("query"), answer = "";
		try {
			if (request.headers["content-encoding"] === "gzip")
				body = zlib.gunzipSync(body);
			if (sql && sql.startsWith("INSERT"))
				insert(sql, url.searchParams, body);
			else
				answer = session.query((sql || body.toString()).replace(/ FORMAT TSV$/, ""), "TSV");
			response.writeHead(200);
			response.end(answer);
		} catch (problem) {
			response.writeHead(500);
			response.end(String(problem));
		}
	});
}).listen(0, "127.0.0.1", function () {
	fs.writeFileSync(folder + "/port", this.address().port + "\n");
});
