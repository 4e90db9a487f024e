#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
# Code that node and java make has the names that they write down, also from other namespaces.

load ../../lib/helper

setup() {
	need_bpf
	cd "$BATS_TEST_TMPDIR" || return
	cat >hot.js <<-'END'
		function hotInner(x) { let s = 0; for (let i = 0; i < 1000; i++) s += Math.sqrt(i * x) % 7; return s; }
		const cpu = () => { const u = process.cpuUsage(); return u.user + u.system; };
		const end = cpu() + 800000; let t = 0;
		while (cpu() < end) for (let i = 0; i < 100; i++) t += hotInner(i);
		if (t < 0) console.log(t);
	END
}

# hot SAMPLES_OF - more than a third of the samples of these comms are in hotInner, by its name.
hot() {
	ebprec report --folded -i x.data >out 2>err
	stacks_match 'hotInner|Hot\.(inner|main)|;JS:' 34 21 "$1" <out || fail "$(cat err; sort -k2 -n out | tail -5)"
}

# bats test_tags=long
@test "node's functions have names when its map is gone before the report" {
	command -v node >/dev/null || skip "needs node"
	# shellcheck disable=SC2016 # for the inner shell
	ebprec record -q -F 499 -o x.data -- sh -c 'echo $$ >pid && exec node --perf-basic-prof --no-turbo-inlining hot.js'
	rm "/tmp/perf-$(cat pid).map"
	hot '^node'
	contains "$(ebprec info --objects x.data)" "perf-"
}

# bats test_tags=long
@test "node's functions have names in a pid and mount namespace with a /tmp of its own" {
	command -v node >/dev/null || skip "needs node"
	# In a chroot / is no mount point, and cannot be made private: what is mounted is taken away again.
	spread=private
	unshare -m true 2>/dev/null || spread=unchanged
	ebprec record -q -F 499 -o x.data -- unshare --pid --fork --mount --propagation $spread \
		--mount-proc sh -c '
		mount -t tmpfs none /tmp
		cat >/tmp/hot.js && node --perf-basic-prof --no-turbo-inlining /tmp/hot.js && sleep 0.5
		umount -l /tmp' <hot.js
	hot '^node'
	[ -z "$(ls /tmp/perf-1.map /tmp/perf-2.map 2>/dev/null)" ]
}

# bats test_tags=long
@test "node's functions have names by a jitdump in a chroot of its own" {
	command -v node >/dev/null || skip "needs node"
	mkdir -p root/tmp root/work
	for dir in bin lib lib64 usr proc dev; do
		mkdir -p "root/$dir" && mount --rbind "/$dir" "root/$dir"
	done
	cp hot.js root/work
	ebprec record -q -F 499 -o x.data -- chroot root sh -c 'cd /work && node --perf-prof --no-turbo-inlining hot.js' ||
		status=$?
	for dir in bin lib lib64 usr proc dev; do umount -l "root/$dir"; done
	[ -n "$(ls root/work/jit-*.dump)" ]
	rm -rf --one-file-system root/work
	[ "${status:-0}" = 0 ]
	hot '^node'
	contains "$(ebprec info --objects x.data)" "jit-"
	# Scrubbed, it has moved with its samples.
	ebprec scrub -q --keep host -o clean.data x.data
	mv clean.data x.data
	hot '^node'
}

# leaves - "PERCENT NAME" of the functions of JavaScript that samples were in, the most frequent first
leaves() {
	awk -f "$BATS_TEST_DIRNAME/js_leaves.awk" | sort -rn
}

# bats test_tags=long
@test "a jitdump's functions have the samples that perf inject --jit gives them" {
	command -v node >/dev/null || skip "needs node"
	need_perf
	cat >work.js <<-'END'
		function most(n) { let s = 0; for (let i = 0; i < n; i++) s += Math.sqrt(i * 7919 % 1000); return s; }
		function least(n) { let s = 0; for (let i = 0; i < n; i++) s += i % 7; return s; }
		let x = 0;
		for (let i = 0; i < 2500; i++) x += most(30000) + least(20000);
		console.log(x > 0);
	END
	# Both watch the same process.
	export HOME=$PWD
	ebprec record -q -F 499 --without sched -o x.data -- \
		perf record -q -k mono -F 499 -g -o p.data node --perf-prof --no-turbo-inlining work.js
	perf inject --jit -i p.data -o injected.data
	perf script -i injected.data -F ip,sym 2>/dev/null | leaves >theirs
	ebprec script -q -c node -i x.data -F ip,sym 2>/dev/null | leaves >ours
	read -r share _ <theirs
	[ "$share" -ge 30 ] || fail "perf has no names: $(head -3 theirs)"
	while read -r share name; do
		mine=$(sed 's/ /\t/' ours | pick_fields -F '\t' 2 "$name" 1)
		[ "$share" -ge 30 ] || continue
		[ "${mine:-0}" -gt $((share - 20)) ] && [ "${mine:-0}" -lt $((share + 20)) ] ||
			fail "$name: $share of 100 by perf, ${mine:-0} by us"
	done <theirs
}

@test "a map that an earlier process of the same pid left names nothing, and is counted" {
	cat >jitted.pl <<-'END'
		# Maps a loop of half a billion turns as code (syscall 9: mmap, in the low 2 GiB; 0: read), and runs it.
		use DynaLoader; use POSIX;
		my $at = syscall(9, 0, 4096, 7, 0x62, -1, 0);
		open my $code, "<", "code" or die;
		syscall(0, fileno($code), $at, 13) == 13 or die;
		&{DynaLoader::dl_install_xsub("main::run", $at)}();
		POSIX::_exit(0);
	END
	printf '\x48\xc7\xc0\x00\x00\x00\x20\x48\xff\xc8\x75\xfb\xc3' >code
	for time in now '1 minute ago'; do
		# shellcheck disable=SC2016 # for the inner shell
		ebprec record -q -F 997 -o x.data -- sh -c 'echo $$ >pid
			echo "1000 7fffffffe000 left_behind" >/tmp/perf-$$.map
			touch -d "$0" /tmp/perf-$$.map
			exec perl jitted.pl' "$time"
		rm "/tmp/perf-$(cat pid).map"
		ebprec report -q --folded -i x.data >out
		grep -q '^perl' out
		if [ "$time" = now ]; then
			grep -q '^perl.*;left_behind' out || fail "$(cat out)"
			contains "$(ebprec info --objects x.data)" '"older_files": 0'
		else
			! grep left_behind out || fail "$(cat out)"
			contains "$(ebprec info --objects x.data)" '"older_files": 1'
		fi
	done
}

@test "a file that is no jitdump costs names, and nothing else" {
	# As a runtime announces it: its first page, mapped for code.
	for what in nothing rubbish; do
		[ $what = nothing ] && : >jit-1.dump || head -c 5000 /dev/urandom >jit-1.dump
		ebprec record -q -F 997 -o x.data -- perl "$BATS_TEST_DIRNAME/map_jitdump.pl" 3e6
		ebprec report -q --folded -i x.data >out
		grep -q '^perl' out
	done
}

# bats test_tags=long
@test "a jitdump is read by the helper for files of other users, not by the recorder" {
	chmod a+rx "$BATS_RUN_TMPDIR" "$BATS_RUN_TMPDIR"/test .
	head -c 5000 /dev/urandom >jit-1.dump
	chown 65534 jit-1.dump
	cp "$BATS_TEST_DIRNAME/map_jitdump.pl" .
	strace -f -y -e trace=execve,read,pread64,mmap -o trace ebprec record -q -o x.data -- \
		setpriv --reuid=65534 --regid=65534 --clear-groups perl map_jitdump.pl 2e7 # a file of a program that is gone at once cannot be opened any more
	reader=$(sed -n 's/^\([0-9]*\) .*execve(.*"--text-files".*/\1/p' trace)
	[ -n "$reader" ] || fail "there is no such process: $(grep execve trace)"
	grep '/jit-1.dump>' trace >reads
	grep -q "^$reader .*pread64" reads || fail "it did not read it: $(cat reads)"
	# The processes that read it: the helpers for files of other users, and the program itself.
	sed -nE 's/^([0-9]+) .*execve\(.*"(--text-files|--elf-facts|--elf-worker|perl)".*/\1/p' trace | sort -u >allowed
	same "" "$(cut -d' ' -f1 reads | sort -u | comm -23 - allowed)"
}

# bats test_tags=long
@test "java's functions have names when java writes its map at its exit" {
	java -version 2>&1 | grep -q '"17' || skip "needs java 17"
	command -v javac >/dev/null || skip "needs javac"
	cat >Hot.java <<-'END'
		public class Hot {
			static double inner(int x) { double s = 0; for (int i = 0; i < 1000; i++) s += Math.sqrt((double) i * x) / 7; return s; }
			public static void main(String[] a) {
				var me = java.lang.management.ManagementFactory.getThreadMXBean();
				long end = me.getCurrentThreadCpuTime() + 1000000000L; double t = 0;
				while (me.getCurrentThreadCpuTime() < end) for (int i = 0; i < 100; i++) t += inner(i);
				if (t < 0) System.out.println(t);
			}
		}
	END
	javac Hot.java
	# shellcheck disable=SC2016 # for the inner shell
	ebprec record -q -F 499 -o x.data -- sh -c 'echo $$ >pid && exec java -XX:+UnlockDiagnosticVMOptions -XX:+DumpPerfMapAtExit Hot'
	rm "/tmp/perf-$(cat pid).map"
	hot '^java|^C[12]_Comp'
}

# bats test_tags=long
@test "a map that is no regular file, or not owned by the process's user, is not read" {
	command -v node >/dev/null || skip "needs node"
	# shellcheck disable=SC2016 # for the inner shell
	for what in '0 mkfifo $m' '0 ln -s /etc/passwd $m' '0 mkdir $m' \
		'0 echo 1000 10 x >$m; chown 12345 $m' '1 echo 1000 10 x >$m; chown 65534 $m'; do
		ebprec record -q -o x.data -- sh -c 'echo $$ >pid; m=/tmp/perf-$$.map; '"${what#* }"'
			exec setpriv --reuid=65534 --clear-groups node -e "setTimeout(() => 0, 600)"'
		rm -r "/tmp/perf-$(cat pid).map"
		contains "$(ebprec info --objects x.data)" "\"files\": ${what%% *},"
	done
}
