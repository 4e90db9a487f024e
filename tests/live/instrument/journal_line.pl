# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
# journal_line.pl PRIORITY UNIT TEXT - prints a line of now for systemd-journal-remote; its time in us goes to the file written
use strict;
use warnings;
use Time::HiRes qw(clock_gettime CLOCK_MONOTONIC CLOCK_REALTIME);

my ($priority, $unit, $text) = @ARGV;
my ($monotonic, $wall) = (clock_gettime(CLOCK_MONOTONIC), clock_gettime(CLOCK_REALTIME));
printf "__REALTIME_TIMESTAMP=%d\n__MONOTONIC_TIMESTAMP=%d\n_BOOT_ID=%s\n", $wall * 1e6, $monotonic * 1e6, "3" x 32;
printf "PRIORITY=%s\n_PID=%d\n_SYSTEMD_UNIT=%s\nMESSAGE=%s\n\n", $priority, $$, $unit, $text;
open my $written, ">>", "written" or die;
printf $written "%d\n", $monotonic * 1e6;
