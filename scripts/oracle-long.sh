#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
#
# oracle-long.sh ORACLE - compares our unwind tables with libdw's on large real files
#
# Takes what is installed of libcrypto, libLLVM, cc1, node, python, libstdc++ and the aarch64 cross
# libraries; names what is missing.  `ORACLE_ALL=1` takes every ELF file below /usr instead.
set -eu

oracle=$1
lib=/usr/lib/$(uname -m)-linux-gnu
arm=/usr/aarch64-linux-gnu/lib

if [ "${ORACLE_ALL:-0}" = 1 ]; then
	find /usr/bin /usr/sbin /usr/lib -xdev -type f \( -perm -u+x -o -name '*.so*' \) -print0 |
		nice xargs -0 -n 200 "$oracle" -e | grep -v ' unsupported at '
	exit
fi

files=
for f in "$lib"/libc.so.6 /lib64/ld-linux-x86-64.so.2 "$lib"/libcrypto.so.3 \
	"$lib"/libLLVM-14.so.1 "$(${CC:-cc} -print-prog-name=cc1)" /usr/bin/node \
	/usr/bin/python3 "$lib"/libstdc++.so.6 "$arm"/libc.so.6 "$arm"/ld-linux-aarch64.so.1 \
	"$arm"/libstdc++.so.6; do
	if [ -e "$f" ]; then
		files="$files $f"
	else
		echo "oracle-long: $f is not installed, skipping"
	fi
done
# shellcheck disable=SC2086
nice "$oracle" $files
