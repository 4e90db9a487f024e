#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
# Things that older kernels refuse in a BPF program and the one that runs here may not.

load ../lib/helper

setup() {
	cd "$BATS_TEST_TMPDIR" || return
}

# deepest OBJECT - the most stack that functions of it need which call each other, in bytes, and which these are.
# Linux before 6.8 counts 32 bytes at least for each, and their multiples.
deepest() {
	llvm-objdump -dr --no-show-raw-insn "$1" | perl -ne '
		if (/^Disassembly of section (.*):/) { $section = $1 }
		elsif (/^([0-9a-f]+) <(?!LBB)(.*)>:/) { $f = $2; $need{$f} //= 0; $at{hex $1} = $f if $section eq ".text"; %copy = () }
		elsif (/^\s*\d+:\t(.*)/) {
			$_ = $1;
			$need{$f} = $1 if /\(r10 - (\d+)\)/ && $1 > $need{$f};
			$copy{$1} = 1, next if /^(r\d) = r10$/;
			if (/^(r\d) \+= -(\d+)$/ && $copy{$1}) { $need{$f} = $2 if $2 > $need{$f} }
			delete $copy{$1} if /^([rw]\d) /;
			$number = /^call (-?\d+)/ ? 8 * ($1 + 1) : /^r\d = (-?\d+) ll/ ? $1 : undef;
		}
		elsif (/R_BPF_64_(?:32|64)\s+(\S+)/) { push @{$calls{$f}}, $1 eq ".text" ? \(my $n = $number) : $1 }
		sub most {
			my ($f) = @_;
			my ($bytes, @path) = (0);
			for (map { ref $_ ? $at{$$_} : $_ } @{$calls{$f}}) {
				next if !defined || !exists $need{$_};
				my ($more, @deeper) = most($_);
				($bytes, @path) = ($more, @deeper) if $more > $bytes;
			}
			return ($bytes + 32 * (int(($need{$f} + 31) / 32) || 1), $f, @path);
		}
		END {
			my @all = sort { $b->[0] <=> $a->[0] } map { [most($_)] } keys %need;
			print "@{$all[0]}\n" if @all;
		}'
}

@test "functions of a program need no more than 512 bytes of stack together, as Linux 6.1 counts them" {
	command -v llvm-objdump >/dev/null || skip "needs llvm-objdump"
	[ -e "$BUILD/bpf/core/sched.bpf.o" ] || skip "the recorder is not built here"
	for object in "$BUILD"/bpf/*/*.bpf.o; do
		deepest "$object" >got
		read -r bytes path <got
		[ "$bytes" -le 512 ] || fail "${object##*/}: $bytes bytes: $path"
		echo "${object##*/} $bytes $path" >>all
	done
	# Functions are seen through the loop that calls them, of which none is deeper than that over Python frames.
	grep '^sched.bpf.o [0-9]* .*python_frame .*runtime_python_code$' all || fail "$(cat all)"
}
