# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
#
# sleepers.py - three threads that sleep, and the first one that computes, for a minute; makes the file up when they are there
import threading
import time

for i in range(3):
    threading.Thread(target=time.sleep, args=(60,)).start()
open("up", "w")
end = time.time() + 60
while time.time() < end:
    pass
