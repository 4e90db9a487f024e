#!/usr/bin/perl
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
#
# stacks.pl SECONDS [TRUTH] - subs, methods, callbacks of C and evals over and over; with TRUTH, every stack that they have
#
# TRUTH gets a line for each stack at each statement, by caller(): its subs with their lines, outermost first, as the
# recorder names them. Blocks of eval, sort and regular expressions have no frame there. In a second of CPU time each path
# is run many times.
use strict;
use warnings;

# Statements are compiled as those of a program that is debugged, and subs are called as they are.
BEGIN { $^P = 2 if @ARGV > 1; $DB::trace = 0 }

package DB;
our %stacks;

sub DB {
	my (undef, $file, $line) = caller(0);
	return if $file !~ /stacks\.pl$|^\(eval|part\.pl$/;
	my @stack;
	for (my $i = 1; my @c = caller($i); $i++) {
		next if $c[3] eq '(eval)' && !defined $c[6] && !$c[7];
		my $name = $c[3] ne '(eval)' ? $c[3] : $c[7] ? '(require)' : '(eval)';
		unshift @stack, $name . ($name eq '(eval)' ? '' : shown($file)) . " $line";
		(undef, $file, $line) = @c;
	}
	unshift @stack, '(main)' . shown($file) . " $line";
	$stacks{join ';', @stack} = 1;
}

sub shown {
	my $file = $_[0] =~ /^\(eval/ ? 'eval' : $_[0];
	$file =~ s{.*/}{};
	return " ($file)";
}

package Shape;
use overload '<=>' => \&m_compare, '+' => sub { main::m_work($_[0][0]); 1 }, '""' => sub { 'shape' };
our $AUTOLOAD;

sub m_new {
	my ($class, $n) = @_;
	return bless [$n], $class;
}

sub m_area {
	my $self = shift;
	return main::m_work($self->[0]);
}

sub m_compare {
	my ($x, $y) = @_;
	main::m_work(20);
	return $x->[0] - $y->[0];
}

sub m_added {
	my $self = shift;
	main::m_work($self->[0]);
	return 1;
}

sub AUTOLOAD {
	my $name = $AUTOLOAD;
	return if $name =~ /DESTROY/;
	goto &m_added;
}

package Handle;

sub TIESCALAR { return bless [$_[1]], $_[0] }

sub FETCH {
	my $self = shift;
	return main::m_work($self->[0]);
}

package Held;

sub DESTROY {
	my $self = shift;
	main::m_work($self->{n});
}

package main;
use List::Util qw(first reduce);

my $folder = $0 =~ s{[^/]*$}{}r;

sub m_work {
	my $n = shift;
	my $s = 0;
	for (my $i = 0; $i < $n; $i++) {
		$s += $i * 3 % 7;
	}
	return $s;
}

sub m_by_number {
	m_work(20);
	return $a <=> $b;
}

sub m_sorts {
	my $n = shift;
	my @s = sort { m_work($n); $a <=> $b } 3, 1, 2;
	@s = sort m_by_number 5, 4, 6, 1;
	@s = sort { m_by_number() } 5, 4, 6, 1;
	@s = sort { $a <=> $b } map { Shape->m_new($_) } 3, 1, 2;
	return scalar @s;
}

sub m_callbacks {
	my $n = shift;
	my $x = first { m_work($n); $_ == 2 } 1, 2, 3;
	$x = reduce { m_work($n); $a + $b } 1, 2, 3;
	tie my $tied, 'Handle', $n;
	$x = "$tied";
	$x = Shape->m_new($n) + 1;
	local $SIG{__WARN__} = sub { m_work($n) };
	warn "here";
	'abc' =~ /b(?{ m_work($n) })/;
	my $y = 'abc' =~ s/b/m_work($n)/er;
	return $x;
}

sub m_maps {
	my $n = shift;
	my @x = map { m_work($n) } 1, 2;
	@x = grep { m_work($n) } 1, 2;
	m_work($n) for 1, 2;
	my $inner = sub { m_work($n) };
	$inner->();
	return scalar @x;
}

sub m_evals {
	my $n = shift;
	eval { m_work($n); die "here\n" };
	eval "m_work($n); 1" or die;
	eval { first { eval { m_work($n); 1 } } 1 };
	do "${folder}part.pl" or die $@ || $!;
	return 1;
}

sub m_deep {
	my ($depth, $n) = @_;
	return $depth ? m_deep($depth - 1, $n) : m_work($n);
}

sub m_destroys {
	my $n = shift;
	my $held = bless { n => $n }, 'Held';
	undef $held;
	{
		my $other = bless { n => $n }, 'Held';
	}
	return 1;
}

sub m_methods {
	my $n = shift;
	my $shape = Shape->m_new($n);
	$shape->m_area;
	$shape->m_nothing;
	no strict 'refs';
	*{'main::m_alias'} = \&m_work;
	&{'m_alias'}($n);
	my $name = 'm_area';
	return $shape->$name;
}

sub m_round {
	my $n = shift;
	m_sorts($n);
	m_callbacks($n);
	m_maps($n);
	m_evals($n);
	m_deep(60, $n);
	m_destroys($n);
	m_methods($n);
	return 1;
}

if (@ARGV > 1) {
	$DB::trace = 1;
	m_round(2);
	$DB::trace = 0;
	open my $out, '>', $ARGV[1] or die;
	print $out "$_\n" for sort keys %DB::stacks;
} else {
	m_round(300) while (times)[0] < $ARGV[0];
}
