#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
# Methods of Java against jstack and JFR, of each JVM of Java 17 to 25 that is here; a JVM that is asked; made-up JVMs.
# make check-jvm

# shellcheck source=tests/lib/helper.bash
. "$BATS_TEST_DIRNAME/../../lib/helper.bash"

# The folders of JVMs, once each.
homes() {
	local home
	for home in /usr/lib/jvm/*/; do
		[ -x "$home/bin/javac" ] && [ ! -L "${home%/}" ] &&
			"$home/bin/java" -XshowSettings:properties -version 2>&1 |
			grep -qE 'java.specification.version = (1[7-9]|2[0-5])$' && echo "${home%/}"
	done
}

setup_file() {
	need_bpf
	[ "$(uname -m)" = x86_64 ] || skip "needs x86-64"
	HOMES=$(homes)
	[ -n "$HOMES" ] || skip "needs a JDK of Java 17 to 25"
	export HOMES
	cd "$BATS_FILE_TMPDIR" || return
	"$(head -n 1 <<<"$HOMES")/bin/javac" --release 17 -d . "$BATS_TEST_DIRNAME"/{Churn,Inlined,K0000,Work}.java
}

setup() {
	cd "$BATS_FILE_TMPDIR" || return
	# Methods that the compiler put into their callers have their callers' names.
	options=(-XX:CompileCommand=quiet '-XX:CompileCommand=dontinline,Work.*' -cp .)
}

# Starts Work: $pid, and its output in the file out.
start_work() { # HOME SECONDS OPTION...
	local home=$1 seconds=$2
	shift 2
	: >out
	"$home/bin/java" "${options[@]}" "$@" Work "$seconds" >out 2>err &
	pid=$!
	await grep -q ^ready out
}

# Methods of stacks from jstack, outermost first, of the threads that begin with a name: NAME;CLASS.METHOD;...
of_jstack() {
	awk -f "$BATS_TEST_DIRNAME/stacks_of_jstack.awk" "$@" | sort -u
}

# The same of a folded report by thread: the frames that are Java's.
of_folded() {
	sed 's/ [0-9]*$//' | awk -f "$BATS_TEST_DIRNAME/java_frames.awk" | sort -u
}

@test "shares of methods are those of the program's clock and of JFR, whatever compiled them" {
	local home mode all
	for home in $HOMES; do
		for mode in -Xmixed -Xint -XX:TieredStopAtLevel=1 -XX:-TieredCompilation -XX:+PreserveFramePointer; do
			rm -f x.jfr
			ebprec record -q -F 499 -o x.data -- "$home/bin/java" "${options[@]}" $mode \
				-XX:StartFlightRecording=filename=x.jfr,settings=profile Work 4 >out 2>err
			read -r -a ms < <(tail -n 1 out)
			ebprec report -q --folded -i x.data | grep 'java::Work\.burn' >burns
			"$home/bin/jfr" print --events jdk.ExecutionSample x.jfr >jfr
			all=$(weight <burns)
			for i in 0 1 2; do
				n=$((60 - 30 * i + (i == 2) * 10))
				share=$(($(grep "java::Work.main (Work.java);java::Work.burn$n (Work.java)" burns | weight) * 100 / all))
				true=$((ms[i] * 100 / (ms[0] + ms[1] + ms[2])))
				jfr_count=$(grep -cE '^ +Work.burn[0-9]*\(' jfr)
				by_jfr=$(($(grep -cE "^ +Work.burn$n\(" jfr || true) * 100 / jfr_count))
				echo "# ${home##*/} $mode burn$n: $share %, the program $true %, JFR $by_jfr %" >&3
				[ $((share - true)) -le 6 ] && [ $((true - share)) -le 6 ] || fail "$mode $n: $share of $true"
				# JFR has some 100 samples on a busy machine: three standard deviations of them.
				most=$((6 + $(jq -n "150 / ($jfr_count | sqrt) | floor")))
				[ $((share - by_jfr)) -le $most ] && [ $((by_jfr - share)) -le $most ] || fail "$mode $n: $share, JFR $by_jfr"
			done
			quality=$(ebprec report -i x.data 2>&1 >/dev/null)
			complete=$(sed -n 's/.* of these complete (\([0-9]*\)\..*/\1/p' <<<"$quality")
			echo "# ${home##*/} $mode: $(grep -o 'stacks: .*' <<<"$quality")" >&3
			[ "$complete" -ge 96 ] || fail "$mode: $quality"
		done
	done
}

@test "threads that wait have the stacks that jstack prints of them" {
	local home mode name
	for home in $HOMES; do
		for mode in -Xint -Xmixed; do
			start_work "$home" 60 $mode
			ebprec record -q --max-frames 1024 -p $pid -o x.data -d 2
			for _ in 1 2 3 4 5; do "$home/bin/jstack" $pid; done >stacks
			kill $pid
			wait $pid || true
			of_jstack stacks >truth
			for name in deep sleeper waiter reader; do
				ebprec report -q --off-cpu --folded --comm $name -i x.data >folded
				of_folded <folded >seen
				grep "^$name;" truth >true || fail "$name: jstack has none"
				# "deep" has 201 frames of down().
				comm -12 true seen >common
				[ -s common ] || fail "${home##*/} $mode $name: $(head -n 2 true | cut -c1-300) | $(head -n 3 seen | cut -c1-300)"
				# All of its stacks with methods begin with the same ones.
				first=$(head -n 1 true | cut -d ';' -f 1-4)
				same '' "$(grep -F ';' seen | grep -vF "$first" | cut -c1-300 || true)"
			done
		done
	done
}

@test "inlined methods and lines of a thread that sleeps are those that the JVM reports" {
	local home mode
	for home in $HOMES; do
		for mode in -Xmixed -Xint -XX:TieredStopAtLevel=1; do
			ebprec record -q -F 99 -o x.data -- "$home/bin/java" -XX:CompileCommand=quiet $mode -cp . Inlined 4 >truth
			# shellcheck disable=SC2016 # the name of a lambda
			ebprec report -q --off-cpu --min-percent 0 --parent 'Thread.sleep' --comm worker --sort sym,srcline -i x.data |
				sed -n 's/.*java::Inlined\.\([a-z$0]*[a-z0-9$]*\) (Inlined.java)  *Inlined.java:/\1:/p' | sort -u >seen
			tr ';' '\n' <truth | sort -u >lines
			[ "$(wc -l <lines)" -ge 6 ] || fail "${home##*/} $mode: $(cat truth)"
			same "$(cat lines)" "$(cat seen)"
			# Each of its waits has one of the stacks, or, where loop() is being deoptimized, the compiled method's alone.
			sed 's/:[0-9]*//g' truth | sort -u >stacks
			ebprec report -q --off-cpu --folded --parent 'Thread.sleep' --comm worker -i x.data |
				awk -f "$BATS_TEST_DIRNAME/java_frames.awk" | sed 's/;\(java\|jdk\)\.[^;]*//g; s/^worker;//; s/[^;]*Lambda[^;]*;//; s/Inlined\.//g; s/;$//' | sort -u >seen
			# shellcheck disable=SC2016 # the name of a lambda
			same "$(cat stacks)" "$(grep -vx 'lambda$main$0;loop' seen)"
		done
	done
}

@test "classes that are unloaded, exceptions and code that is compiled anew leave no wrong method and no wrong line" {
	local home mode gone
	for home in $HOMES; do
		for mode in -Xint -XX:TieredStopAtLevel=4 '-XX:TieredStopAtLevel=1 -XX:ReservedCodeCacheSize=3m -XX:InitialCodeCacheSize=2496k'; do
			# shellcheck disable=SC2086 # several options
			ebprec record -q -F 1999 -o x.data -- "$home/bin/java" $mode -XX:+UseSerialGC -Xlog:class+unload:file=unload.log -cp . Churn 5 . >out
			gone=$(grep -c 'unloading class K' unload.log)
			[ "$gone" -gt 20 ] || fail "${home##*/} $mode: $gone classes were unloaded of $(cat out)"
			ebprec report -q --folded -i x.data | grep -o 'java::K[0-9].*' >stacks
			[ "$(weight <stacks)" -gt 300 ] || fail "${home##*/} $mode: $(weight <stacks) samples"
			# In each stack all digits are the same.
			same '' "$(awk -f "$BATS_TEST_DIRNAME/one_class.awk" stacks | head -n 3)"
			sed 's/[0-9]\{4\}//g; s/ (K.java)//g; s/java:://g' stacks | grep -o '^[^ ]*' | grep -o '^K[^;]*\(;K[^;]*\)*' | sort -u >chains
			same '' "$(grep -vxE 'K\.<init>|K\.run(;K\.first(;K\.(second|third))?)?' chains)"
			# A method that calls another one of K is in that line.
			ebprec report -q --min-percent 0 --sort sym,srcline -i x.data | sed -n 's/.*java::K[0-9]*\.\([a-z]*\)[0-9]* (K[0-9]*.java) *K[0-9]*.java:\([0-9]*\)$/\1 \2/p' | sort -u >lines
			for line in 'run 10' 'first 16' 'first 19' 'second 22'; do
				grep -qx "$line" lines || fail "${home##*/} $mode: $line: $(cat lines)"
			done
			same '' "$(grep -vxE 'run ([8-9]|1[0-4])|first (1[6-9]|20)|second 22|third (2[5-9]|30)|init (3|4|5)' lines)"
		done
	done
}

@test "a virtual thread has its frames and those of the thread that runs it, and a reason while others are on the heap" {
	local home mode spins none=1 below of='jdk.internal.vm.Continuation.run;'
	for home in $HOMES; do
		"$home/bin/javac" -d virtual "$BATS_TEST_DIRNAME/Virtual.java" 2>/dev/null || continue
		none=0
		for mode in -Xint -Xmixed -XX:TieredStopAtLevel=1; do
			ebprec record -q -F 499 -o x.data -- "$home/bin/java" -XX:CompileCommand=quiet '-XX:CompileCommand=dontinline,Virtual.*' $mode -cp virtual Virtual 4
			# shellcheck disable=SC2016 # names with a $
			ebprec report -q --folded -i x.data | grep 'java::Virtual.deep' | sed 's/java:://g; s/ ([A-Za-z$0-9]*\(\.java\)*)//g' >stacks
			# From the carrier's frames to those of the virtual thread: all of them are there, or the barrier is.
			spins=$(grep -c "$of"'jdk.internal.vm.Continuation.enterSpecial;jdk.internal.vm.Continuation.enter;.*;java.lang.VirtualThread.run;.*;Virtual.\(stays\|leaves\);Virtual.work\(;Virtual.deep\)\{13\};Virtual.spin' stacks)
			[ "$spins" -gt 0 ] || fail "${home##*/} $mode: $(head -n 3 stacks)"
			same '' "$(grep ';Virtual.spin' stacks | grep -v "$of"'jdk.internal.vm.Continuation.enterSpecial;.*;Virtual.\(stays\|leaves\);Virtual.work\(;Virtual.deep\)\{13\};Virtual.spin' | grep -v ';\[anon];Virtual' | head -n 2)"
			grep ';\[anon];Virtual' stacks >barrier || fail "${home##*/} $mode: no thread came back from the heap"
			below=$(ebprec report -i x.data 2>&1 >/dev/null | sed -n 's/^ebprec: *\([0-9]*\) of [0-9]* samples in Java code lack .*: the outer frames of a virtual thread were.*/\1/p')
			[ "$below" -ge "$(weight <barrier)" ] || fail "${home##*/} $mode: $below of $(weight <barrier)"
			echo "# ${home##*/} $mode: $(weight <stacks) samples, $below with frames on the heap" >&3
		done
	done
	[ $none = 0 ] || skip "needs a JDK of Java 21 or later"
}

@test "a JVM of milliseconds has names from its first samples on" {
	local home
	for home in $HOMES; do
		ebprec record -q -F 2999 -o x.data -- "$home/bin/java" -version 2>/dev/null
		ebprec report -q --folded -i x.data >out
		[ "$(grep 'java::java\.' out | weight)" -gt 5 ] || fail "${home##*/}: $(grep -c java:: out) $(tail -n 3 out)"
	done
}

@test "made-up JVMs: only what is right has a name, and none of them takes time" {
	local how ns samples
	for how in good again scopes loop other hops used pointers lengths still deep; do
		ebprec record -q -F 499 -o x.data -- hostile_jvm $how 2 || true # it ends by SIGALRM
		ebprec report -q --folded -i x.data | sed 's/ (Fake.java)//g' >out
		known='java::Fake.\(run\|spin\)'
		case $how in
		good | again)
			[ "$(grep '__libc_start_call_main;main;java::Fake.run;java::Fake.inner;java::Fake.spin ' out | weight)" -gt 20 ] || fail "$(tail -n 3 out)"
			known='java::Fake.\(run\|spin\|inner\)'
			;;&
		again)
			[ "$(grep '__libc_start_call_main;main;java::Fake.run;java::Fake.later;java::Fake.spin ' out | weight)" -gt 20 ] || fail "$(tail -n 3 out)"
			known='java::Fake.\(run\|spin\|inner\|later\)'
			;;
		good) ;;
		scopes | loop | other) [ "$(grep '__libc_start_call_main;main;java::Fake.run;java::Fake.spin ' out | weight)" -gt 20 ] || fail "$(tail -n 3 out)" ;;
		deep | still) [ "$(grep -c 'java::Fake.spin' out)" -gt 0 ] || fail "$(tail -n 3 out)" ;;
		*) same 0 "$(grep -c 'java::' out || true)" ;;
		esac
		same '' "$(grep -o 'java::[^;]*' out | sed 's/ [0-9]*$//' | grep -vx "$known" | sort -u)"
		ns=$(account x.data own_cpu sampling_ns) samples=$(account x.data samples)
		echo "# $how: $((ns / samples)) ns a sample" >&3
		[ $((ns / samples)) -lt 2000000 ] || fail "$how: $((ns / samples)) ns a sample"
	done
}

@test "--ask-jvm: a JVM writes its names, and one that refuses costs a line" {
	local home
	for home in $HOMES; do
		start_work "$home" 60
		ebprec record -q --ask-jvm -p $pid -o x.data -d 3
		same 1 "$(account x.data jit jvms_asked)"
		kill $pid && wait $pid || true
		rm -f /tmp/perf-$pid.map
		ebprec report -q --folded -i x.data >folded
		[ "$(grep -c 'JavaCalls::call_helper;StubRoutines' folded)" -gt 0 ] || fail "$(tail -n 3 folded)"
		[ "$(grep -c 'java::Work.burn60' folded)" -gt 0 ] || fail "$(tail -n 3 folded)"
		start_work "$home" 60 -XX:+DisableAttachMechanism
		ebprec record --ask-jvm -p $pid -o x.data -d 5 2>notes
		same 0 "$(account x.data jit jvms_asked)"
		same 1 "$(account x.data jit jvms_without_answer)"
		same 1 "$(grep -c "cannot ask the JVM of process $pid for names of its code: it opened no socket" notes)"
		kill $pid && wait $pid || true
		start_work "$home" 60
		kill -STOP $pid
		ebprec record --ask-jvm -p $pid -o x.data -d 2 2>notes
		kill -CONT $pid
		kill $pid && wait $pid || true
		same 1 "$(grep -c "cannot ask the JVM of process $pid for names of its code: it is stopped" notes)"
		same 0 "$(grep -c 'Full thread dump' out || true)"
	done
}

@test "--ask-jvm connects to no socket but the JVM's own" {
	local home
	home=$(head -n 1 <<<"$HOMES")
	start_work "$home" 60 -XX:+DisableAttachMechanism
	python3 - /tmp/.java_pid$pid <<-'END' &
		import socket, sys, time
		s = socket.socket(socket.AF_UNIX)
		s.bind(sys.argv[1])
		s.listen()
		s.settimeout(30)
		c, _ = s.accept()
		print("got", c.recv(100), flush=True)
	END
	other=$!
	await [ -S /tmp/.java_pid$pid ]
	ebprec record --ask-jvm -p $pid -o x.data -d 3 2>notes
	kill $other || true
	same 1 "$(grep -c "cannot ask the JVM of process $pid for names of its code: the socket in its /tmp is not its own" notes)"
	rm /tmp/.java_pid$pid
	ln -s "$PWD/elsewhere" /tmp/.java_pid$pid
	ebprec record --ask-jvm -p $pid -o x.data -d 3 2>notes
	rm /tmp/.java_pid$pid
	kill $pid && wait $pid || true
	same 1 "$(grep -c "cannot ask the JVM of process $pid for names of its code: the socket in its /tmp is not its own" notes)"
	same 0 "$(grep -c 'Full thread dump' out || true)"
}

@test "--ask-jvm asks as the JVM's user, and in its container" {
	local home
	home=$(head -n 1 <<<"$HOMES")
	# Another user's.
	mkdir -p open && cp ./*.class open && chmod -R a+rX . && chmod a+x "$BATS_RUN_TMPDIR" "$BATS_FILE_TMPDIR"
	cp -r open /tmp/ebprec-jvm.$$
	: >out
	(cd /tmp/ebprec-jvm.$$ && exec setpriv --reuid=65534 --regid=65534 --clear-groups "$home/bin/java" "${options[@]}" Work 60) >out 2>&1 &
	await grep -q ^ready out
	pid=$(sed -n 's/^ready //p' out)
	ebprec record -q --ask-jvm -p "$pid" -o x.data -d 3
	rm -rf /tmp/ebprec-jvm.$$
	same 1 "$(account x.data jit jvms_asked)"
	same 65534 "$(stat -c %u "/tmp/perf-$pid.map")"
	kill "$pid"
	wait || true
	rm -f "/tmp/perf-$pid.map"
	# In a container, whose /tmp and pids are its own.
	command -v podman >/dev/null || skip "needs podman"
	mkdir -p tree/tmp tree/etc tree/w tree/usr
	ln -sfn usr/lib tree/lib && ln -sfn usr/lib64 tree/lib64 && ln -sfn usr/bin tree/bin
	# The machine's own store may be of another driver.
	pod() { podman --runtime runc --storage-driver vfs --root "$PWD/pods" --runroot "$PWD/pods-run" --cgroup-manager cgroupfs --events-backend file "$@"; }
	tar -C tree -cf - . | pod import -q - ebprec-jvm:one >/dev/null
	pod_is_ready() { pod logs ebprec-jvm 2>/dev/null | grep -q ^ready; }
	pod run -d --rm --name ebprec-jvm --ulimit nofile=1024:1024 --ulimit nproc=1000:1000 --network=none \
		-v /usr:/usr:ro -v /etc:/etc:ro -v "$PWD/open:/w:ro" ebprec-jvm:one \
		"$home/bin/java" "${options[@]:0:2}" -cp /w Work 60 >/dev/null
	await pod_is_ready
	pid=$(pod inspect -f '{{.State.Pid}}' ebprec-jvm)
	ebprec record -q --ask-jvm -p "$pid" -o x.data -d 3
	pod kill ebprec-jvm >/dev/null
	same 1 "$(account x.data jit jvms_asked)"
	same 1 "$(account x.data jit files)"
	ebprec report -q --folded -i x.data >folded
	[ "$(grep -c 'StubRoutines[^;]*;java::Work.main (Work.java);java::Work.burn60' folded)" -gt 0 ] || fail "$(tail -n 3 folded)"
}
