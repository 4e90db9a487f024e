# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
# bpf_stack.pl - reads `llvm-objdump -dr --no-show-raw-insn` of a BPF object on standard input, and prints the most stack, in
# bytes, that functions need which call each other, and the names of these, the outermost first.  Linux before 6.8 counts
# 32 bytes at least for each, and their multiples.
use strict;
use warnings;

my ($section, $f, $number) = ("", "");
# By function: the bytes of its stack, the functions that it calls; by address in .text: its function; registers that hold r10.
my (%need, %calls, %at, %copy);

while (<STDIN>) {
	if (/^Disassembly of section (.*):/) {
		$section = $1;
	} elsif (/^([0-9a-f]+) <(?!LBB)(.*)>:/) {
		$f = $2;
		$need{$f} //= 0;
		$at{hex $1} = $f if $section eq ".text";
		%copy = ();
	} elsif (/^\s*\d+:\t(.*)/) {
		$_ = $1;
		$need{$f} = $1 if /\(r10 - (\d+)\)/ && $1 > $need{$f};
		$copy{$1} = 1, next if /^(r\d) = r10$/;
		if (/^(r\d) \+= -(\d+)$/ && $copy{$1}) { $need{$f} = $2 if $2 > $need{$f} }
		delete $copy{$1} if /^([rw]\d) /;
		$number = /^call (-?\d+)/ ? 8 * ($1 + 1) : /^r\d = (-?\d+) ll/ ? $1 : undef;
	} elsif (/R_BPF_64_(?:32|64)\s+(\S+)/) {
		# A function of .text is called by its address, which the instruction before has.
		push @{$calls{$f}}, $1 eq ".text" ? { address => $number } : { name => $1 };
	}
}

sub most {
	my ($f) = @_;
	my ($bytes, @path) = (0);
	for (map { exists $_->{name} ? $_->{name} : defined $_->{address} ? $at{$_->{address}} : undef } @{$calls{$f}}) {
		next if !defined || !exists $need{$_};
		my ($more, @deeper) = most($_);
		($bytes, @path) = ($more, @deeper) if $more > $bytes;
	}
	return ($bytes + 32 * (int(($need{$f} + 31) / 32) || 1), $f, @path);
}

my @all = sort { $b->[0] <=> $a->[0] || $a->[1] cmp $b->[1] } map { [most($_)] } keys %need;
print "@{$all[0]}\n" if @all;
