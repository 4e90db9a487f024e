#!/usr/bin/perl
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
#
# explain.pl OURS - compares folded stacks with the text of
# `perf script --no-inline -F comm,tid,time,event,ip,sym,symoff,dso` (standard input)
#
# It folds on its own, and it is strict: every sample of perf's must be in OURS, line by line and
# count by count, but for the differences that are known and have a reason.  These are:
#
#   call     The call was the last instruction of its function, so the return address is the start
#            of the next one, or lies behind the end.  perf looks the address up as it is, ebprec
#            one byte earlier.  (In stacks without frame pointers such "return addresses" are
#            mostly pointers to functions that lay on the stack.)
#   plt      A call stub.  perf 6.1 knows no .plt.sec and .plt.got, and prints "@plt" or no name; what lies
#            before the first stub, which finds functions that are called for the first time, is "_init" to
#            it: that symbol has no size, and lasts until the next one.
#   data     perf names what lies outside of all code; no program runs there.
#   bpf      A BPF program that came or went while perf recorded; perf does not always know it, and names the
#            mapping instead, which is the kernel's where no module ends that.
#   stale    perf keeps the mappings of the program before an exec.
#   marker   A broken chain of frame pointers ended in a number that looks like a context marker (-1
#            to -4095).  perf drops all of the stack, ebprec the marker.
#
# Prints how many samples are equal and how many are explained by what; then those that are not,
# and exits with 1 if there are any.
use strict;
use warnings;

# What may stand in place of a frame: a character that no line holds -> what ebprec has there.
my %free = ("\1" => '[^;]+', "\2" => '(?:[^;]*@plt|\[[^;]*\])', "\3" => '.+', "\4" => '\[[^;]*\]',
	"\5" => '(?:\[unknown\]|\[kernel\.kallsyms\]|bpf_[^;]*)');
my %want;	# line without its count -> samples, as perf has them
my %reason;	# line -> why it holds one of these
my %files;	# path -> what is in it

# Garbage in a user stack may look like a kernel address, but the kernel's frames come first.
sub is_kernel { return length($_[0]) == 16 && $_[0] ge 'ffff800000000000' }

# Where functions end and where stubs lie, as offsets in the file; by readelf.
sub file_of {
	my ($path) = @_;
	my (@loads, %ends, @stubs, @code);
	local $/ = "\n";

	return $files{$path} if $files{$path};
	my $debug = '';
	if (-f $path) {
		my ($id) = `readelf -nW '$path' 2>/dev/null` =~ /Build ID: ([0-9a-f]+)/;
		$debug = '/usr/lib/debug/.build-id/' . substr($id, 0, 2) . '/' . substr($id, 2) . '.debug'
			if $id;
		for (`readelf -lSW '$path' 2>/dev/null`) {
			push @loads, [map { hex } $1, $2, $3]
				if /^\s+LOAD\s+(\S+)\s+(\S+)\s+\S+\s+(\S+)/;
			push @stubs, [hex $1, hex($1) + hex $2]
				if /\]\s+\.plt\S*\s+\S+\s+\S+\s+(\S+)\s+(\S+)/;
			push @code, [hex $1, hex($1) + hex $2]
				if /\]\s+\S+\s+PROGBITS\s+\S+\s+(\S+)\s+(\S+)\s+\S+\s+\w*X/;
		}
	}
	for (map { -f $_ ? `readelf -sW '$_' 2>/dev/null` : () } $path, $debug) {
		my ($value, $size) = /^\s*\d+:\s+([0-9a-f]+)\s+(\d+|0x[0-9a-f]+)\s/ or next;
		my $end = hex($value) + ($size =~ /^0x/ ? hex $size : $size);
		for my $load (@loads) {
			my ($off, $vaddr, $bytes) = @$load;
			$ends{$end - $vaddr + $off} = 1
				if $end > $vaddr && $end <= $vaddr + $bytes;
		}
	}
	return $files{$path} = { ends => \%ends, stubs => \@stubs, code => \@code };
}

sub is_in {
	my ($off, $ranges) = @_;
	return grep { $off >= $_->[0] && $off < $_->[1] } @$ranges;
}

# The name as ebprec should have it, and why when it is not perf's.
sub frame_of {
	my ($line, $above, $in_user) = @_;

	$line =~ s/ \(deleted\)\)$/)/;
	my ($ip, $name, $file) = $line =~ /^\s*([0-9a-f]+) (.*) \((.*)\)$/
		or die "explain.pl: not a frame: $line\n";
	my $is_return = defined $above && ($in_user || is_kernel($ip));
	my $at_start = $name =~ s/\+0x0$//;

	$name =~ s/\+0x[0-9a-f]+$//;
	return ($ip, "\1", 'call') if $is_return && $at_start;
	return ($ip, "\5", 'bpf') if $name eq '[unknown]' && $file eq '[unknown]' && !$in_user &&
		is_kernel($ip);
	if ($file =~ m{^/}) {
		my ($off, $elf) = (hex $ip, file_of($file));

		if ($name eq '[unknown]' || $name eq '_init' || $name =~ /\@plt$/) {
			return ($ip, "\2", 'plt') if is_in($is_return ? $off - 1 : $off, $elf->{stubs});
			return ($ip, "\1", 'call') if $is_return && $elf->{ends}{$off};
		} elsif (@{$elf->{code}} && !is_in($off, $elf->{code})) {
			return ($ip, "\4", 'data');
		}
	}
	if ($name eq '[unknown]' && $file ne '[unknown]') {
		$file =~ s{.*/}{} unless $file =~ /^\[/;
		$name = $file =~ /^\[/ ? $file : "[$file]";
	}
	$name =~ tr/;/:/;
	return ($ip, $name, undef);
}

# The line of one sample, outermost frame first.
sub fold {
	my ($comm, @frames) = @_;	# text of the frames, innermost first
	my (@names, $above, $why, $in_user);

	$comm =~ tr/ ;/_:/;
	for (@frames) {
		my ($ip, $name, $reason) = frame_of($_, $above, $in_user);
		unshift @names, $name;
		$why = $reason if $reason;
		$above = $ip;
		$in_user ||= !is_kernel($ip);
	}
	unless (@names) {
		@names = ("\3");
		$why = 'marker';
	}
	my $line = join ';', $comm, @names;
	$reason{$line} = $why if $why;
	return $line;
}

{
	local $/ = '';	# a sample: its header, its frames, an empty line

	while (my $sample = <STDIN>) {
		my ($head, @frames) = grep { /\S/ } split /\n/, $sample;
		my ($comm) = $head =~ /^\s*(.+?)\s+-?\d+\s+[\d.]+:/
			or die "explain.pl: not a sample: $head\n";
		$want{fold($comm, @frames)}++;
	}
}

my %have;
open my $ours, '<', $ARGV[0] or die "explain.pl: cannot open $ARGV[0]: $!\n";
while (<$ours>) {
	chomp;
	my ($line, $count) = /^(.*) (\d+)$/ or die "explain.pl: not a folded line: $_\n";
	die "explain.pl: twice: $line\n" if $have{$line};
	$have{$line} = $count;
}

my ($equal, %explained) = (0);

sub take {
	my ($line, $other, $n) = @_;

	$n //= $want{$line} < $have{$other} ? $want{$line} : $have{$other};

	delete $want{$line} unless $want{$line} -= $n;
	delete $have{$other} unless $have{$other} -= $n;
	return $n;
}

# What is equal without a reason goes first, so that no reason can take it.
for my $line (grep { !$reason{$_} } keys %want) {
	$equal += take($line, $line) if $have{$line};
}

# Then each line of perf's that has a reason gets a line of ours, if there is a way to give all of
# them one (Kuhn's matching).
no warnings 'recursion';
my (@units, @ours, %fits, @owner);

sub candidates {
	my ($line) = @_;
	my $pattern = join '', map { $free{$_} // quotemeta } split /([\x01-\x05])/, $line;

	return $fits{$line} //= [grep { $ours[$_] =~ /^$pattern$/ } 0 .. $#ours];
}

sub place {
	my ($unit, $tried) = @_;

	for my $i (@{candidates($units[$unit])}) {
		next if $tried->{$i}++;
		if (!defined $owner[$i] || place($owner[$i], $tried)) {
			$owner[$i] = $unit;
			return 1;
		}
	}
	return 0;
}

sub match {
	@units = map { ($_) x $want{$_} } sort @_;
	@ours = map { ($_) x $have{$_} } sort keys %have;
	%fits = @owner = ();
	place($_, {}) for 0 .. $#units;
	for my $i (grep { defined $owner[$_] } 0 .. $#ours) {
		$explained{$reason{$units[$owner[$i]]}} += take($units[$owner[$i]], $ours[$i], 1);
	}
}
match(grep { $reason{$_} && $reason{$_} ne 'marker' } keys %want);

# What is left may differ in one frame that is not mapped any more.
for my $line (sort keys %want) {
	my @theirs = split /;/, $line;

	for my $other (sort keys %have) {
		my @mine = split /;/, $other;
		next if @mine != @theirs;
		my @differ = grep { $mine[$_] ne $theirs[$_] } 0 .. $#mine;
		next if grep { $mine[$_] ne '[unknown]' } @differ;
		$explained{stale} += take($line, $other);
		last unless $want{$line};
	}
}

# perf prints no more than the comm of these.
match(grep { $reason{$_} } keys %want);

print "equal: $equal\n";
print "explained by $_: $explained{$_}\n" for sort keys %explained;
my $left = 0;
for my $line (sort keys %want) {
	$left += $want{$line};
	(my $shown = $line) =~ s/[\x01-\x05]/*/g;
	print "only perf: $shown $want{$line}\n";
}
for my $line (sort keys %have) {
	print "only ebprec: $line $have{$line}\n";
	$left += $have{$line};
}
exit($left ? 1 : 0);
