# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
# stubborn.pl - ignores SIGTERM for two minutes; its pid is in the file pid
use strict;
use warnings;

$SIG{TERM} = "IGNORE";
open my $file, ">", "pid" or die;
print $file $$;
close $file;
sleep 1 for 1 .. 120;
