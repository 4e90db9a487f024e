# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
"""schema.py SCHEMA FILE - each JSON document of FILE is as SCHEMA has it; else prints the first error and fails"""
import json
import sys

import jsonschema

valid = jsonschema.Draft202012Validator(json.load(open(sys.argv[1])))
decoder, text, at = json.JSONDecoder(), open(sys.argv[2]).read(), 0
if not text.strip():
    sys.exit("no document")
while at < len(text):
    document, at = decoder.raw_decode(text, at)
    for error in valid.iter_errors(document):
        sys.exit("%s: %s" % (list(error.path), error.message[:200]))
    at += len(text[at:]) - len(text[at:].lstrip())
