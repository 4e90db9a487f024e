#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
#
# mixed-load.sh WORK_DIR SECONDS - some of everything a distribution's machine does, all at once
#
# Compiling, compressing, python, openssl, git, node and short processes, each again and again.
# A program that is not installed is left out and named on stderr.  Reads the sources it lies in.
# It ends with the process that started it, whatever ended that, or with itself: none of its parts goes on alone.
# shellcheck disable=SC2317 # functions are called by name
set -euo pipefail

cd "$(dirname "$0")/../../.."
work=$1
seconds=$2

cat >"$work/busy.py" <<'END'
import hashlib, json, re, zlib
def fold(n, s):
    return hashlib.md5(s.encode()).digest() if n <= 0 else fold(n - 3, s)
data = [("%x" % (i * 7919 % 10007)) * 5 for i in range(3000)]
text = json.dumps(data)
for _ in range(20):
    sorted(data, key=lambda s: fold(len(s), s))
    re.sub(r"([0-9a-f])\1", lambda m: m.group(0).upper(), text)
    zlib.compress(text.encode(), 6)
END
cat >"$work/busy.js" <<'END'
const end = Date.now() + 1500, a = Array.from({ length: 1000 }, (_, i) => i * 7919 % 10007);
while (Date.now() < end)
	JSON.parse(JSON.stringify(a.slice().sort((x, y) => x - y).map(x => ({ x }))));
END

load_cc() { cc -std=gnu11 -D_GNU_SOURCE -I. -O2 -c -o "$work/o.o" format/unwind/table/module_table.c; }
load_xz() { find analyze -name '*.c' -exec cat {} + | xz -6 -c | xz -d | cksum; }
load_python3() { python3 "$work/busy.py"; }
load_openssl() { openssl speed -seconds 1 sha256 rsa2048; }
load_git() {
	rm -rf "$work/repo"
	git init -q "$work/repo"
	cp -r format analyze "$work/repo"
	(cd "$work/repo" && git add . && git -c user.name=n -c user.email=e commit -qm all &&
		git log -p --stat && git gc -q && git grep -c static)
}
load_node() { node "$work/busy.js"; }
load_true() {
	for _ in 1 2 3 4 5 6 7 8; do /bin/true; done
	find /usr/share/doc -maxdepth 1 | sort | tail -n 1
}

end=$((SECONDS + seconds))
goes_on() { [ $SECONDS -lt $end ] && [ -d "/proc/$$" ] && [ -d "/proc/$PPID" ]; }
for part in cc xz python3 openssl git node true; do
	if ! command -v $part >/dev/null; then
		echo "mixed-load: $part is not installed, left out" >&2
		continue
	fi
	while goes_on; do "load_$part"; done >/dev/null 2>&1 &
done
wait
