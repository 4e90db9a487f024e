# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
#
# ran_shorter.awk - of lines "PID MICROSECONDS NANOSECONDS ...": those with fewer nanoseconds than microseconds
$3 < $2 * 1000
