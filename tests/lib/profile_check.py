#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
"""Reads profiles as a receiver does that believes nothing, and prints their folded stacks.

profile_check.py otlp|pprof TYPE [--halved] FILE...
profile_check.py otlp --labels FILE...			the attributes of resources that are none of a service and host

otlp: bodies of ExportProfilesServiceRequest; pprof: profiles, gzipped or not.  TYPE: of the values that are added up, as "samples" or "cpu".
Of a pprof FILE.headers has the address that it was sent to.
Two profiles of one series have different times.
Each field must be one of the published protocol, with its wire type, once unless it is repeated; each index inside its table.
Of OTLP's dictionary row 0 of each table is the zero value, no row is there twice, and each is used (--halved: not each).
A line is SERVICE;COMM;OUTERMOST;...;INNERMOST VALUE (pprof: without SERVICE).
"""
import gzip
import struct
import sys
import urllib.parse

# Field number: name, type.  "*": repeated; "ints": int32 or int64, packed; "int": a varint.
PPROF = {
    "Profile": {1: ("sample_type", "ValueType*"), 2: ("sample", "Sample*"), 3: ("mapping", "Mapping*"), 4: ("location", "Location*"),
                5: ("function", "Function*"), 6: ("string_table", "string*"), 7: ("drop_frames", "int"), 8: ("keep_frames", "int"),
                9: ("time_nanos", "int"), 10: ("duration_nanos", "int"), 11: ("period_type", "ValueType"), 12: ("period", "int"),
                13: ("comment", "ints"), 14: ("default_sample_type", "int")},
    "ValueType": {1: ("type", "int"), 2: ("unit", "int")},
    "Sample": {1: ("location_id", "ints"), 2: ("value", "ints"), 3: ("label", "Label*")},
    "Label": {1: ("key", "int"), 2: ("str", "int"), 3: ("num", "int"), 4: ("num_unit", "int")},
    "Mapping": {1: ("id", "int"), 2: ("memory_start", "int"), 3: ("memory_limit", "int"), 4: ("file_offset", "int"), 5: ("filename", "int"),
                6: ("build_id", "int"), 7: ("has_functions", "int"), 8: ("has_filenames", "int"), 9: ("has_line_numbers", "int"),
                10: ("has_inline_frames", "int")},
    "Location": {1: ("id", "int"), 2: ("mapping_id", "int"), 3: ("address", "int"), 4: ("line", "Line*"), 5: ("is_folded", "int")},
    "Line": {1: ("function_id", "int"), 2: ("line", "int"), 3: ("column", "int")},
    "Function": {1: ("id", "int"), 2: ("name", "int"), 3: ("system_name", "int"), 4: ("filename", "int"), 5: ("start_line", "int")},
}
# opentelemetry-proto 1.9 to 1.11: profiles/v1development, common/v1, resource/v1.
OTLP = {
    "Request": {1: ("resource_profiles", "ResourceProfiles*"), 2: ("dictionary", "ProfilesDictionary")},
    "ProfilesDictionary": {1: ("mapping_table", "Mapping*"), 2: ("location_table", "Location*"), 3: ("function_table", "Function*"),
                           4: ("link_table", "Link*"), 5: ("string_table", "string*"), 6: ("attribute_table", "KeyValueAndUnit*"),
                           7: ("stack_table", "Stack*")},
    "ResourceProfiles": {1: ("resource", "Resource"), 2: ("scope_profiles", "ScopeProfiles*"), 3: ("schema_url", "string")},
    "Resource": {1: ("attributes", "KeyValue*"), 2: ("dropped_attributes_count", "int")},
    "ScopeProfiles": {1: ("scope", "InstrumentationScope"), 2: ("profiles", "Profile*"), 3: ("schema_url", "string")},
    "InstrumentationScope": {1: ("name", "string"), 2: ("version", "string"), 3: ("attributes", "KeyValue*"),
                             4: ("dropped_attributes_count", "int")},
    "KeyValue": {1: ("key", "string"), 2: ("value", "AnyValue"), 3: ("key_strindex", "int")},
    "AnyValue": {1: ("string_value", "string"), 2: ("bool_value", "int"), 3: ("int_value", "int"), 7: ("bytes_value", "bytes"),
                 8: ("string_value_strindex", "int")},
    "Profile": {1: ("sample_type", "ValueType"), 2: ("samples", "Sample*"), 3: ("time_unix_nano", "fixed64"), 4: ("duration_nano", "int"),
                5: ("period_type", "ValueType"), 6: ("period", "int"), 7: ("profile_id", "bytes"), 8: ("dropped_attributes_count", "int"),
                9: ("original_payload_format", "string"), 10: ("original_payload", "bytes"), 11: ("attribute_indices", "ints")},
    "ValueType": {1: ("type_strindex", "int"), 2: ("unit_strindex", "int")},
    "Sample": {1: ("stack_index", "int"), 2: ("attribute_indices", "ints"), 3: ("link_index", "int"), 4: ("values", "ints"),
               5: ("timestamps_unix_nano", "fixed64s")},
    "Mapping": {1: ("memory_start", "int"), 2: ("memory_limit", "int"), 3: ("file_offset", "int"), 4: ("filename_strindex", "int"),
                5: ("attribute_indices", "ints")},
    "Stack": {1: ("location_indices", "ints")},
    "Location": {1: ("mapping_index", "int"), 2: ("address", "int"), 3: ("lines", "Line*"), 4: ("attribute_indices", "ints")},
    "Line": {1: ("function_index", "int"), 2: ("line", "int"), 3: ("column", "int")},
    "Function": {1: ("name_strindex", "int"), 2: ("system_name_strindex", "int"), 3: ("filename_strindex", "int"), 4: ("start_line", "int")},
    "Link": {1: ("trace_id", "bytes"), 2: ("span_id", "bytes")},
    "KeyValueAndUnit": {1: ("key_strindex", "int"), 2: ("value", "AnyValue"), 3: ("unit_strindex", "int")},
}
TABLES = ("mapping", "location", "function", "link", "string", "attribute", "stack")


def check(good, words):
    if not good:
        sys.exit("profile_check: " + words)


def once(seen, key):
    check(key not in seen, "two profiles of one series have one time: %s" % (key,))
    seen.add(key)


def varint(data, at):
    value = shift = 0
    while True:
        check(at < len(data) and shift < 64, "a varint ends outside of its message")
        value |= (data[at] & 0x7F) << shift
        shift += 7
        at += 1
        if data[at - 1] < 0x80:
            return value, at


def numbers(data):
    out, at = [], 0
    while at < len(data):
        value, at = varint(data, at)
        out.append(value)
    return out


def value_of(schema, kind, raw):
    if kind == "string":
        return raw.decode("utf-8")
    if kind == "bytes":
        return bytes(raw)
    if kind == "ints":
        return numbers(raw)
    if kind == "fixed64s":
        return list(struct.unpack("<%dQ" % (len(raw) // 8), raw))
    return decode(schema, kind, raw)


def decode(schema, name, data):
    out, at = {}, 0
    while at < len(data):
        tag, at = varint(data, at)
        check(tag >> 3 in schema[name], "%s has a field %d" % (name, tag >> 3))
        field, kind = schema[name][tag >> 3]
        repeated = kind.endswith("*")
        kind = kind.rstrip("*")
        wire = 0 if kind == "int" else 1 if kind == "fixed64" else 2
        check(tag & 7 == wire, "%s.%s has wire type %d" % (name, field, tag & 7))
        check(repeated or field not in out, "%s has %s twice" % (name, field))
        if wire == 0:
            value, at = varint(data, at)
        elif wire == 1:
            check(at + 8 <= len(data), "%s.%s ends outside" % (name, field))
            value, at = struct.unpack_from("<Q", data, at)[0], at + 8
        else:
            size, at = varint(data, at)
            check(at + size <= len(data), "%s.%s ends outside" % (name, field))
            value, at = value_of(schema, kind, data[at:at + size]), at + size
        if repeated:
            out.setdefault(field, []).append(value)
        else:
            out[field] = value
    return out


class Otlp:
    def __init__(self, data, halved, _):
        self.request = decode(OTLP, "Request", data)
        self.tables = {name: self.request["dictionary"].get(name + "_table", []) for name in TABLES}
        self.used = {name: {0} for name in TABLES}
        for name, rows in self.tables.items():
            zero = {"trace_id": bytes(16), "span_id": bytes(8)} if name == "link" else "" if name == "string" else {}
            check(rows and rows[0] == zero, "row 0 of %s_table is not the zero value" % name)
            check(len(set(map(repr, rows))) == len(rows), "%s_table has a row twice" % name)
        self.halved = halved

    def row(self, name, index):
        check(0 <= index < len(self.tables[name]), "%s_table has no row %d" % (name, index))
        self.used[name].add(index)
        return self.tables[name][index]

    def string(self, index):
        return self.row("string", index)

    def attributes(self, indices):
        out = {}
        for index in indices:
            row = self.row("attribute", index)
            key = self.string(row["key_strindex"])
            check(key and key not in out, "an attribute has no key, or another one's")
            out[key] = row["value"]["string_value"]
        return out

    def frame(self, index):
        location = self.row("location", index)
        check(index, "a stack has the zero location")
        mapping = self.row("mapping", location.get("mapping_index", 0))
        if mapping:
            check(self.string(mapping["filename_strindex"]), "a mapping has no file")
            build_id = self.attributes(mapping.get("attribute_indices", [])).get("process.executable.build_id.gnu", "00")
            bytes.fromhex(build_id)
        kind = self.attributes(location.get("attribute_indices", [])).get("profile.frame.type", "native")
        check(kind in ("native", "kernel"), "profile.frame.type is " + kind)
        line, = location["lines"]
        check(line["function_index"], "a line has the zero function")
        return self.string(self.row("function", line["function_index"])["name_strindex"])

    def type(self, value):
        return self.string(value["type_strindex"]), self.string(value["unit_strindex"])

    def about(self, resource):
        return {pair["key"]: pair["value"]["string_value"] for pair in resource["resource"]["attributes"]}

    def resources(self):
        return [self.about(resource) for resource in self.request["resource_profiles"]]

    def stacks(self, wanted, ids):
        for resource in self.request["resource_profiles"]:
            about = self.about(resource)
            check(about.get("service.name") and about.get("host.name"), "a resource has no service.name or host.name")
            for scope in resource["scope_profiles"]:
                check(scope["scope"]["name"] == "ebprec" and scope["scope"]["version"], "a scope has no name and version")
                for profile in scope["profiles"]:
                    yield from self.profile(profile, wanted, ids, about["service.name"], tuple(sorted(about.items())))
        for name in TABLES:
            unused = set(range(len(self.tables[name]))) - self.used[name]
            check(self.halved or not unused, "%s_table has rows that nothing uses: %s" % (name, sorted(unused)[:5]))

    def profile(self, profile, wanted, ids, service, series):
        kind, unit = self.type(profile["sample_type"])
        check(unit in ("count", "nanoseconds"), "a unit is " + unit)
        check(profile["time_unix_nano"] > 10**18 and profile.get("duration_nano", 0) < 10**15, "a time is none in nanoseconds")
        if "period" in profile:
            self.type(profile["period_type"])
        once(ids, (series, kind, profile["time_unix_nano"]))
        check(len(profile["profile_id"]) == 16 and profile["profile_id"] not in ids, "a profile's id is not 16 bytes, or another one's")
        ids.add(profile["profile_id"])
        for sample in profile["samples"]:
            value, = sample["values"]
            comm = self.attributes(sample.get("attribute_indices", [])).get("thread.name", "")
            frames = [self.frame(index) for index in self.row("stack", sample.get("stack_index", 0)).get("location_indices", [])]
            if kind == wanted:
                yield [service, comm] + frames[::-1], value


class Pprof:
    def __init__(self, data, _, address):
        self.series = urllib.parse.parse_qs(urllib.parse.urlparse(address).query)["name"][0] if address else ""
        self.profile = decode(PPROF, "Profile", gzip.decompress(data) if data[:2] == b"\x1f\x8b" else data)
        self.strings = self.profile["string_table"]
        check(self.strings[0] == "", "string 0 is not empty")
        self.by_id = {name: self.ids(name) for name in ("mapping", "location", "function")}

    def ids(self, name):
        rows = self.profile.get(name, [])
        out = {row["id"]: row for row in rows}
        check(len(out) == len(rows) and 0 not in out, "two of %s have one id" % name)
        return out

    def string(self, index):
        check(0 <= index < len(self.strings), "there is no string %d" % index)
        return self.strings[index]

    def frame(self, index):
        location = self.by_id["location"][index]
        if location.get("mapping_id"):
            mapping = self.by_id["mapping"][location["mapping_id"]]
            check(self.string(mapping["filename"]), "a mapping has no file")
        line, = location["line"]
        return self.string(self.by_id["function"][line["function_id"]]["name"])

    def stacks(self, wanted, ids):
        types = [self.string(t["type"]) for t in self.profile["sample_type"]]
        check(self.profile["time_nanos"] > 10**18, "the time is none in nanoseconds")
        if self.series:
            once(ids, (self.series, tuple(types), self.profile["time_nanos"]))
        for sample in self.profile["sample"]:
            check(len(sample["value"]) == len(types), "a sample has not a value for each type")
            labels = {self.string(l["key"]): self.string(l.get("str", 0)) for l in sample.get("label", [])}
            frames = [self.frame(index) for index in sample.get("location_id", [])]
            if wanted in types:
                yield [labels.get("comm", "")] + frames[::-1], sample["value"][types.index(wanted)]


def address_of(path):
    try:
        with open(path + ".headers") as f:
            return f.readline().strip()
    except FileNotFoundError:
        return ""


OWN = ("service.name", "host.name", "container.name")
form, wanted, *files = sys.argv[1:]
halved = "--halved" in files
sums, ids = {}, set()
for path in files:
    if path == "--halved":
        continue
    with open(path, "rb") as f:
        profile = (Otlp if form == "otlp" else Pprof)(f.read(), halved, address_of(path))
    if wanted == "--labels":
        sums.update(("%s=%s" % pair, "") for about in profile.resources() for pair in about.items() if pair[0] not in OWN)
        continue
    for stack, value in profile.stacks(wanted, ids):
        key = ";".join(stack)
        sums[key] = sums.get(key, 0) + value
for key in sorted(sums):
    print(key, sums[key]) if wanted != "--labels" else print(key)
