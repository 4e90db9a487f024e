# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
# counts_agree.pl - reads the JSON of `ebprec info` on standard input and prints each count of the account that differs from
# the events of the file, or from its LOST records
use strict;
use warnings;
use JSON::PP;

my $info = decode_json(join "", <STDIN>);
my $account = decode_json($info->{account}{text});
my %kind = ("sched:sched_switch" => "switches", "sched:sched_wakeup" => "wakeups",
	"sched:sched_wakeup_new" => "wakeups", "ebprec:waker" => "wakers", "ebprec:exit" => "exits",
	"ebprec:mark" => "marks");
my (%there, %lost);
for (@{$info->{events}}) {
	my $kind = $kind{$_->{name}} // ($_->{type} ne "tracepoint" ? $_->{name} =~ /^dummy/ ? "side" : "samples"
		: $_->{name} =~ /^sched:/ ? "other_task_events" : "rows");
	$there{$kind} += $_->{samples};
	$lost{$kind =~ /wakeups|other_task|exits/ ? "task_events" : $kind} += $_->{lost};
}
for (qw(samples switches wakeups other_task_events wakers exits marks rows)) {
	my $n = $there{$_} // 0;
	print "$_: $n are there, $account->{$_} are counted\n" if $n != $account->{$_};
}
# Without BPF all events share the rings of the side-band, and a loss there counts as of samples.
$account->{lost} = {} if !decode_json($info->{meta}{text})->{options}{bpf};
for (grep { exists $account->{lost}{$_} } qw(samples switches task_events wakers marks rows)) {
	my $n = $lost{$_} // 0;
	print "$_: $n are reported lost, $account->{lost}{$_} are counted\n" if $n != $account->{lost}{$_};
}
