# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
"""
syscap-bytes.py FILE - how many samples a capture of Sysprof holds, and in how many bytes

A header of 256 bytes, then frames: length (u16), CPU (i16), process (i32), time (i64), type (the low 8 bits of a u32),
padding (sysprof-capture-types.h).  Prints "SAMPLES BYTES".
"""
import struct
import sys

SAMPLE = 2

data = open(sys.argv[1], "rb").read()
at, samples, size = 256, 0, 0
while at + 24 <= len(data):
    length, _, _, _, kind = struct.unpack_from("<HhiqI", data, at)
    if length < 24:
        sys.exit(f"syscap-bytes.py: {sys.argv[1]}: a frame of {length} bytes at {at}")
    if kind & 0xff == SAMPLE:
        samples += 1
        size += length
    at += length
print(samples, size)
