#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
#
# join-web.sh OUT_DIR - writes OUT_DIR/viewer.js, page.css, head.html and tail.html from analyze/web/
#
# The modules become one script, each before those that import it; imports, the word "export", comments,
# empty lines and indentation are left out, in styles blanks besides: all names are in one function then, and each page carries it.  The policy in the head names script and styles by their hashes.
# Needs awk and coreutils.
set -eu

web=$(dirname "$0")/../analyze/web
out=$1
mkdir -p "$out"

# shellcheck disable=SC2016 # for awk
awk -v folder="$web" '
	# name: as a module of the folder "at" imports it
	function join(at, name,    path, line, more, from) {
		while (sub(/^\.\.\//, "", name))
			sub(/[^\/]*\/$/, "", at)
		name = at name
		if (name in joined)
			return
		joined[name] = 1
		path = folder "/" name
		at = name
		sub(/[^\/]*$/, "", at)
		while ((from = (getline line <path)) > 0) {
			if (line ~ /^import /) {
				while (line !~ /;$/ && (getline more <path) > 0)
					line = line more
				sub(/^.* from "(\.\/)?/, "", line)
				sub(/";$/, "", line)
				join(at, line)
				continue
			}
			if (line ~ /^\t*(\/\/|\/\*\* .*\*\/$)/)
				continue
			if (match(line, /[,;{] \/\/ /))
				line = substr(line, 1, RSTART)
			sub(/^export /, "", line)
			sub(/ \/\/ [^"`]*$/, "", line)
			sub(/^\t+/, "", line)
			if (line != "")
				print line
		}
		if (from < 0) {
			print "join-web.sh: cannot read " path >"/dev/stderr"
			exit 1
		}
		close(path)
	}
	BEGIN {
		print "// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later\n// The viewer of ebprec; its commented source is analyze/web/.\n(function () {\n\"use strict\";"
		join("", "page.mjs")
		print "page_start();\n}());"
	}' >"$out/viewer.js"

# In a page these would end the script, or begin a comment.
if grep -niE '</script|<!--' "$out/viewer.js" >&2; then
	echo "join-web.sh: markup in the script" >&2
	exit 1
fi

# Styles have no text with a blank behind one of these, and none over two lines.
sed -e '/^\/\*.*\*\/$/d' -e "s/^$(printf '\t')*//" -e 's/\([:;,]\) /\1/g' -e 's/ { */{/g' -e 's/;* *}$/}/' "$web/page.css" | tr -d '\n' | sed 's/;}/}/g' >"$out/page.css"

hash() {
	sha256sum <"$1" | cut -c1-64 | tr a-f A-F | basenc --base16 -d | base64 -w0
}

{
	printf '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">\n'
	printf '<meta http-equiv="Content-Security-Policy" content="default-src '"'none'"'; script-src '"'sha256-%s'"'; ' "$(hash "$out/viewer.js")"
	printf 'style-src '"'sha256-%s'"'; require-trusted-types-for '"'script'"'; trusted-types '"'none'"'; ' "$(hash "$out/page.css")"
	printf 'base-uri '"'none'"'; form-action '"'none'"'">\n'
	printf '<meta name="referrer" content="no-referrer"><meta name="color-scheme" content="light dark">\n'
	printf '<meta name="viewport" content="width=device-width, initial-scale=1">\n<style>'
	cat "$out/page.css"
	printf '</style>\n'
} >"$out/head.html"
{
	printf '<script>'
	cat "$out/viewer.js"
	printf '</script>\n</body></html>\n'
} >"$out/tail.html"
