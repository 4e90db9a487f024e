#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
# Methods of Java have their names, in samples and in waits, without an option of the JVM.  More of it: make check-jvm.

load ../../lib/helper

setup() {
	need_bpf
	[ "$(uname -m)" = x86_64 ] || skip "needs x86-64"
	cd "$BATS_TEST_TMPDIR" || return
}

need_java() {
	command -v javac >/dev/null || skip "needs a JDK (make check-jvm)"
	version=$(java -XshowSettings:properties -version 2>&1 | sed -n 's/.*java.specification.version = //p')
	case $version in 1[7-9] | 2[0-5]) ;; *) skip "needs Java 17 to 25, not $version" ;; esac
}

compile_shares() {
	need_java
	# Two methods, which print how many milliseconds each had, and one that sleeps.  A method that the compiler put
	# into its caller has the caller's name, so an option forbids that.
	cat >Shares.java <<-'END'
		class Shares {
			static long more(long n) { long x = n; for (long i = 0; i < n; i++) x = x * 6364136223846793005L + 1; return x; }
			static long less(long n) { long x = n; for (long i = 0; i < n; i++) x = x * 6364136223846793005L + 3; return x; }
			static void sleepy() throws Exception { for (int i = 0; i < 5; i++) Thread.sleep(20); }
			public static void main(String[] a) throws Exception {
				long s = 0, more = 0, less = 0;
				var me = java.lang.management.ManagementFactory.getThreadMXBean();
				while (more + less < 1500000000L) {
					long t0 = me.getCurrentThreadCpuTime();
					s += more(3000000);
					long t1 = me.getCurrentThreadCpuTime();
					s += less(1000000);
					more += t1 - t0;
					less += me.getCurrentThreadCpuTime() - t1;
				}
				sleepy();
				System.out.println(more / 1000000 + " " + less / 1000000);
				System.exit((int) (s & 0));
			}
		}
	END
	javac Shares.java
}

# bats test_tags=long
@test "a made-up JVM has the names and lines that it has inlined, with wrong scopes the compiled method's, else none, and takes no time" {
	local how
	for how in good scopes again lengths pointers; do
		ebprec record -q -F 499 -o x.data -- hostile_jvm $how 2 || true # it ends by SIGALRM
		ebprec report -q --folded -i x.data | sed 's/ (Fake.java)//g' >out
		if [ $how = scopes ]; then
			[ "$(grep 'main;java::Fake.run;java::Fake.spin ' out | weight)" -gt 10 ] || fail "$(tail -n 3 out)"
			same 0 "$(grep -c 'Fake.inner' out || true)"
		elif [ $how = good ] || [ $how = again ]; then
			[ "$(grep 'main;java::Fake.run;java::Fake.inner;java::Fake.spin ' out | weight)" -gt 10 ] || fail "$(tail -n 3 out)"
			[ $how = good ] || [ "$(grep 'main;java::Fake.run;java::Fake.later;java::Fake.spin ' out | weight)" -gt 10 ] || fail "$(tail -n 3 out)"
			same "Fake.java:33 Fake.java:53" "$(ebprec report -q --sort sym,srcline -i x.data | grep -o 'Fake\.\(run\|inner\).* Fake.java:.*' | grep -o '[^ ]*$' | sort | paste -sd ' ')"
		else
			same 0 "$(grep -c 'java::' out || true)"
		fi
		samples=$(account x.data samples)
		[ "$samples" -gt 10 ] || fail "$samples samples"
		[ $(($(account x.data own_cpu sampling_ns) / samples)) -lt 2000000 ] || fail "$how takes too long"
	done
}

# without_reason STACKS - these stacks without methods, where the report of x.data has a reason for fewer
without_reason() {
	local counted
	ebprec report -i x.data 2>err >/dev/null
	counted=$(sed -n 's/.*: *\([0-9]*\) of [0-9]* samples in Java code lack functions of it: the recorder did not know .*/\1/p' err)
	[ "$(weight <"$1")" -le "${counted:-0}" ] || cat "$1" err
}

# bats test_tags=long
@test "java: the first call of a native method has its callers" {
	need_java
	# One call of Deflater.deflateBytesBytes(), which runs for some seconds.  The library is there before it: as long as the
	# recorder does not know it, stacks are copied, and have a reason for what is missing.
	cat >First.java <<-'END'
		class First {
			static int pack(byte[] of) {
				var d = new java.util.zip.Deflater();
				d.setInput(of);
				return d.deflate(new byte[of.length * 2]);
			}
			public static void main(String[] a) {
				byte[] of = new byte[32 << 20];
				if (a.length > 0)
					new java.util.zip.CRC32().update(of, 0, 100);
				new java.util.Random(7).nextBytes(of);
				System.exit(pack(of) > 0 ? 0 : 1);
			}
		}
	END
	javac First.java
	ebprec record -q -F 499 -o x.data -- java -Xint -cp . First warm
	ebprec report -q --folded -i x.data | grep 'Java_java_util_zip_Deflater_deflateBytesBytes' >out
	[ "$(weight <out)" -gt 20 ] || fail "$(cat out)"
	grep -v 'java::First.main (First.java);java::First.pack (First.java);.*java::java.util.zip.Deflater.deflateBytesBytes (Deflater.java);Java_' out >without || true
	[ "$(weight <without)" -lt "$(($(weight <out) / 2))" ] || fail "$(cat out)"
	same '' "$(grep 'java::' without || true)"
	same '' "$(without_reason without)"
	# Not loaded before: most are copied.
	ebprec record -q -F 499 -o x.data -- java -Xint -cp . First
	ebprec report -q --folded -i x.data | grep 'Java_java_util_zip_Deflater_deflateBytesBytes' | grep -v 'java::' >without || true
	same '' "$(without_reason without)"
}

# bats test_tags=long
@test "java: methods have their shares of samples and their callers, and waits the methods that waited" {
	compile_shares
	ebprec record -q -F 499 -o x.data -- java -XX:CompileCommand=quiet '-XX:CompileCommand=dontinline,Shares.*' -cp . Shares >truth
	read -r more_ms less_ms <truth
	ebprec report -q --folded -i x.data >out
	more=$(grep 'java::Shares.main (Shares.java);java::Shares.more (Shares.java)' out | weight)
	less=$(grep 'java::Shares.main (Shares.java);java::Shares.less (Shares.java)' out | weight)
	[ "$less" -gt 0 ] && share=$((100 * more / (more + less))) true=$((100 * more_ms / (more_ms + less_ms)))
	[ "$((share - true))" -le 8 ] && [ "$((true - share))" -le 8 ] ||
		fail "$more $less samples, $more_ms $less_ms ms: $(grep -c java:: out)"
	same '' "$(grep -o 'java::Shares\.[^;]*' out | grep -vE '^java::Shares\.(main|more|less|sleepy|<clinit>) \(Shares.java\)' | sort -u)"
	# Lines of the calls; where the thread itself is in compiled code, none is known.
	ebprec report -q --sort sym,srcline -i x.data | sed -n 's/.*java::Shares.main (Shares.java) *Shares.java:\(.*\)/\1/p' | sort >lines
	same "10 12" "$(grep -x '10\|12' lines | paste -sd ' ')"
	same '' "$(grep -vxE '[6-9]|1[0-8]' lines || true)"
	[ "$(account x.data java frames_without_bytecode)" -gt 0 ] || fail "$(account_json x.data)"
	ebprec report -q --off-cpu --folded -i x.data >out
	[ "$(grep -c 'java::Shares.main (Shares.java);java::Shares.sleepy (Shares.java);java::java.lang.Thread.sleep' out)" -gt 0 ] ||
		fail "$(tail -3 out)"
}
