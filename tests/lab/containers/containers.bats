#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
# Programs in real containers have their names: podman, runc, fuse-overlayfs.  make check-containers

# shellcheck source=tests/lib/helper.bash
. "$BATS_TEST_DIRNAME/../../lib/helper.bash"

pod() {
	podman --runtime runc \
		--storage-driver overlay --storage-opt overlay.mount_program=/usr/bin/fuse-overlayfs \
		--cgroup-manager cgroupfs --events-backend file "$@"
}

# Layers that /proc shows: the kernel mounts them, no mount program does.
native() {
	podman --runtime runc --storage-driver overlay --root "$PWD/native" --runroot "$PWD/native-run" \
		--cgroup-manager cgroupfs --events-backend file "$@"
}

# in_pod RUN|CREATE ARGS...
in_pod() {
	local how=$1
	shift
	pod "$how" --ulimit nofile=1024:1024 --ulimit nproc=1000:1000 --network=none "$@"
}

# A program with its libraries, and a shell; the second image has another library over the first's.
setup_file() {
	need_bpf
	cd "$BATS_FILE_TMPDIR" || return
	local v l
	stat -c %a /dev/fuse >fuse.mode
	for v in one two; do
		cat >$v.c <<-END
			__attribute__((noinline)) int layer_$v(int n)
			{ volatile int s = 0; for (int i = 0; i < 100000; i++) s += i * n; return s; }
			int spin(int n) { return layer_$v(n) + 1; }
		END
		cc -O1 -shared -fPIC -Wl,--build-id,-soname,libspin.so -o lib$v.so $v.c
	done
	# Half a second of CPU time: at first its stacks are not complete, until there are unwind tables of its files.
	cat >spin.c <<-'END'
		int spin(int n);
		int main(void) { int s = 0; for (int i = 0; i < 20000; i++) s += spin(i); return s == 42; }
	END
	mkdir -p tree/opt tree/bin tree/tmp
	cc -O1 -Wl,--build-id,-rpath,/opt -o tree/opt/spinner spin.c -L. -l:libone.so
	cp libone.so tree/opt/libspin.so
	# podman takes a file of the same size and second for the same.
	touch -d 2020-01-01 tree/opt/libspin.so
	cp /bin/busybox tree/bin/sh
	ldd tree/opt/spinner | grep -o '/lib[^ ]*' | while read -r l; do
		mkdir -p "tree/${l%/*}" && cp -L "$l" "tree/$l"
	done
	tar -C tree -cf - . | pod import -q - ebprec-test:one >/dev/null
	in_pod run -i --name c ebprec-test:one /bin/sh -c 'cat >/opt/libspin.so' <libtwo.so
	pod commit -q c ebprec-test:two >/dev/null
	pod rm c >/dev/null
	pod save -q -o one.tar ebprec-test:one
	pod save -q -o two.tar ebprec-test:two
	# None of the files is left outside of the images.
	rm -rf tree libone.so libtwo.so
}

teardown_file() {
	cd "$BATS_FILE_TMPDIR" || return
	pod rmi -f --ignore ebprec-test:two ebprec-test:one ebprec-test:plain-one ebprec-test:plain-two >/dev/null 2>&1 || :
	userdel -rf ebprec-user >/dev/null 2>&1 || :
	chmod "$(cat fuse.mode)" /dev/fuse
}

setup() {
	cd "$BATS_TEST_TMPDIR" || return
	recorder=
	local v # some tests take the images away
	for v in one two; do
		pod image exists ebprec-test:$v || pod load -q -i "$BATS_FILE_TMPDIR/$v.tar" >/dev/null
	done
}

teardown() {
	end_background
	# One that has just ended may still be in the hands of its cleanup.
	for _ in $(seq 50); do
		pod rm -f --ignore a b c upper >/dev/null 2>&1 || :
		[ -n "$(pod ps -aq --filter name='^(a|b|c|upper)$')" ] || break
		sleep 0.1
	done
}

# recorded - the machine, into x.data, while work runs
recorded() {
	rm -f x.data # of a recording before
	ebprec record -q -a -F 499 -o x.data 2>err 3>&- &
	recorder=$!
	until [ -s x.data ]; do sleep 0.1; done
	work
	kill -INT $recorder
	wait $recorder || fail "$(cat err)"
}

# named COMM FUNCTION... - most samples of COMM are in one of these, and each is there
named() {
	local comm=$1 f
	shift
	ebprec report --folded x.data >folded 2>err
	for f; do
		grep -q "^$comm;.*;spin;$f " folded || fail "no $f: $(grep "^$comm" folded | sort -t' ' -k2n | tail -4)"
	done
	stacks_match ';layer_' 51 21 "^$comm;" <folded || fail "$(grep "^$comm" folded)"
}

@test "a library that two images have with different content has each image's names" {
	work() {
		in_pod run --name a ebprec-test:one /opt/spinner &
		in_pod run --name b ebprec-test:two /opt/spinner &
		wait %2 %3 2>/dev/null || wait "$(jobs -p | tail -1)" || :
		pod wait a b >/dev/null
	}
	recorded
	named spinner layer_one layer_two
}

# plain VERSION... - images ebprec-test:plain-VERSION, whose library has no build-id, all of one size and time
plain() {
	local v
	for v; do
		in_pod run --name c "ebprec-test:$v" /bin/sh -c 'cat /opt/libspin.so' >"$v.so"
		pod rm c >/dev/null
		objcopy --remove-section .note.gnu.build-id "$v.so"
		in_pod run -i --name c ebprec-test:one /bin/sh -c \
			'cat >/opt/libspin.so; ln -s /bin/sh /bin/touch; touch -d "2020-01-01 00:00:00" /opt/libspin.so' <"$v.so"
		pod commit -q c "ebprec-test:plain-$v" >/dev/null
		pod rm c >/dev/null
	done
	same "$(stat -c %s one.so)" "$(stat -c %s two.so)"
}

# its_own NAME VERSION - the container has no function but that version's
its_own() {
	ebprec report -q --folded --container "^$1\$" x.data >its
	grep -q ";layer_$2 " its || fail "$2: $(cat its)"
	if grep ';layer_' its | grep -v ";layer_$2"; then fail "names of the other"; fi
}

# Each in a layer of its own: of fuse-overlayfs, and of the kernel's overlays.
@test "a library without a build-id, of one size and time in two containers, has each container's names" {
	local store v
	plain one two
	for v in one two; do
		pod save -q "ebprec-test:plain-$v" | native load -q >/dev/null
	done
	for store in pod native; do
		work() {
			$store run -d --name a --ulimit nofile=1024:1024 --ulimit nproc=1000:1000 --network=none \
				ebprec-test:plain-one /opt/spinner >/dev/null
			$store run -d --name b --ulimit nofile=1024:1024 --ulimit nproc=1000:1000 --network=none \
				ebprec-test:plain-two /opt/spinner >/dev/null
			$store wait a b >/dev/null
		}
		recorded
		its_own a one
		its_own b two
		ebprec report --folded x.data >folded 2>/dev/null
		ebprec bundle -q x.data
		$store rm -f a b >/dev/null
		$store rmi -f ebprec-test:plain-one ebprec-test:plain-two >/dev/null
		ebprec report --folded --symfs "$BATS_TEST_TMPDIR" x.data 2>/dev/null | cmp - folded
	done
}

@test "a container removed before the report, and then its image: names as long as the files exist" {
	work() { in_pod run --rm ebprec-test:two /opt/spinner; }
	recorded
	named spinner layer_two
	ebprec bundle -q x.data
	HOME=/nowhere ebprec report --folded --symfs "$BATS_TEST_TMPDIR" x.data 2>/dev/null >away
	cmp folded away
}

@test "a file that only the upper layer has, and a deleted one, have their names" {
	work() {
		in_pod run --name upper ebprec-test:one /bin/sh -c 'cp /opt/spinner /tmp/fresh; /tmp/fresh
			cp /opt/spinner /tmp/gone; /tmp/gone & sleep 0.2; rm /tmp/gone; wait'
	}
	recorded
	# The container is there, and stopped; what it deleted is nowhere, but its library is.
	named fresh layer_one
	named gone layer_one
}

@test "a container that is gone is identified by its cgroup" {
	work() { id=$(in_pod run -d --name c ebprec-test:one /opt/spinner); pod wait c >/dev/null; }
	recorded
	ebprec report -q --sort cgroup x.data >rows
	contains "$(cat rows)" "$id"
	ebprec scrub -q -o clean.data x.data --check "$id"
	ebprec report -q --sort cgroup clean.data | grep -q libpod
}

@test "every view has a container's name, also when the container is gone" {
	work() {
		in_pod run --rm --name my-web ebprec-test:one /opt/spinner
		in_pod run --rm --name other ebprec-test:one /opt/spinner
	}
	recorded
	ebprec report -q --sort container x.data >rows
	for name in my-web other '\[host\]'; do
		grep -qE " $name\$" rows || fail "no $name: $(cat rows)"
	done
	# The filter takes the same samples, by name or id.
	local id
	ebprec report -q --sort cgroup --container '^my-web$' x.data >one
	[ "$(grep -c libpod- one)" = 1 ] || fail "$(cat one)"
	id=$(grep -oE '[0-9a-f]{64}' one | head -1)
	ebprec report -q --folded --container '^my-web$' x.data >by-name
	ebprec report -q --folded --container "^$id" x.data >by-id
	grep -q '^spinner;.*layer_one' by-name
	cmp by-name by-id
	ebprec report -q --folded --container '!^my-web$' x.data >others
	cat by-name others | sort >both
	ebprec report -q --folded x.data | weight >all
	weight <both | cmp - all
	# All processes: others may be busier.
	ebprec summary --top 0 x.data 2>/dev/null >summary.txt
	grep -q 'my-web' summary.txt || fail "$(cat summary.txt)"
	# Samples one by one, and what other tools read.
	ebprec script -q -F comm,container --container '^my-web$' x.data | sort -u | grep . >commands
	grep -q '^ *spinner.* my-web$' commands || fail "$(cat commands)"
	[ "$(grep -vc ' my-web$' commands)" = 0 ] || fail "$(cat commands)"
	[ "$(ebprec script -q --container "^$id" -F comm x.data | grep -c .)" = \
		"$(ebprec script -q --container '^my-web$' -F comm x.data | grep -c .)" ]
	ebprec export -q --to chrome -i x.data | grep -q '"name": "layer_one".*"build_id": "[0-9a-f]*", .*"container": "my-web"'
	ebprec export -q --to firefox -i x.data | grep -q '"processName": "my-web"'
	ebprec export -q --to pprof -i x.data | gzip -dc | grep -aq my-web
	local pid
	pid=$(ebprec script -q -F comm,pid x.data | pick_fields 1 spinner 2 | head -n 1)
	ebprec report --process "$pid" x.data 2>/dev/null | grep -qE 'container +(my-web|other)$' ||
		fail "$(ebprec report --process "$pid" x.data)"
}

@test "names of containers are scrubbed, and still distinguish them" {
	work() { in_pod run --rm --name my-web ebprec-test:one /opt/spinner; }
	recorded
	ebprec report -q --sort container x.data | grep -q ' my-web$'
	ebprec scrub -q -o clean.data x.data --check my-web
	ebprec report -q --sort container clean.data >rows
	! grep -q my-web rows || fail "$(cat rows)"
	# One row for the host and one for what was my-web.
	[ "$(grep -cv '^#' rows)" = 2 ] || fail "$(cat rows)"
	ebprec scrub -q --keep container -o scrubbed.data x.data
	ebprec report -q --sort container scrubbed.data | grep -q ' my-web$'
}

@test "metrics by container have the containers' names" {
	ebprec record -q -a --with syscalls --interval 0.2 -o x.data 2>err &
	local recorder=$!
	until [ -s x.data ]; do sleep 0.1; done
	# shellcheck disable=SC2016 # for the shell in the container
	in_pod run --rm --name my-web ebprec-test:one /bin/sh -c 'i=0; while [ $i -lt 200 ]; do i=$((i + 1)); echo; done' >/dev/null
	kill -INT $recorder
	wait $recorder || fail "$(cat err)"
	ebprec metrics --by container -i x.data >rows 2>&1 || fail "$(cat rows)"
	grep -q 'my-web' rows || fail "$(cat rows)"
}

# own - a program of the host that needs nothing, as it is named in its stacks
own() {
	cat >own.c <<-'END'
		#include <time.h>
		volatile long x;
		__attribute__((noinline)) void own_inner(void) { for (int i = 0; i < 100000; i++) x += i; }
		__attribute__((noinline)) void own_outer(void) { for (int i = 0; i < 10; i++) own_inner(); }
		int main(void) { for (int i = 0; i < 400; i++) own_outer(); return 0; }
	END
	cc -O1 -static -Wl,--build-id=none -o "$1" own.c
}

# own_named - its functions have their names
own_named() {
	ebprec report --folded -i x.data >folded 2>err
	grep -q '^own;.*main;own_outer;own_inner ' folded ||
		fail "$(grep '^own;' folded | tail -3; ebprec report --symbols-report -q -i x.data | grep own)"
}

# own_leaf - without its unwind tables, which are in no mapping of it: the function that ran
own_leaf() {
	ebprec report --folded -i x.data >folded 2>err
	grep -q '^own;.*own_inner ' folded ||
		fail "$(grep '^own;' folded | tail -3; ebprec report --symbols-report -q -i x.data | grep own)"
}

@test "a program in a bind mount with blanks and backslashes in its path has its names" {
	mkdir 'my \tools'
	own 'my \tools/own'
	work() { in_pod run --rm -v "$PWD/my \tools:/mnt/the \ir tools" ebprec-test:one '/mnt/the \ir tools/own'; }
	recorded
	own_named
}

@test "a process that enters a chroot inside of its container has its names" {
	mkdir tree
	own tree/own
	work() {
		in_pod run --rm -v "$PWD/tree:/mnt/tree" ebprec-test:one /bin/sh -c \
			'ln -s /bin/sh /bin/chroot && exec /bin/chroot /mnt/tree /own'
	}
	recorded
	own_named
}

@test "a program in a store that only storage.conf names has its names" {
	mkdir -p home/.config/containers
	pod save -q -o one.tar ebprec-test:one
	pod --root "$PWD/store" --runroot "$PWD/run" load -q -i one.tar >/dev/null
	work() {
		pod --root "$PWD/store" --runroot "$PWD/run" run --rm --name elsewhere --ulimit nofile=1024:1024 \
			--ulimit nproc=1000:1000 --network=none ebprec-test:one /opt/spinner
	}
	recorded
	pod rmi -f ebprec-test:one ebprec-test:two >/dev/null 2>&1 # where else it could be found
	# The mount program has reported the layers; when the store has moved, storage.conf alone knows where to.
	HOME=/nowhere named spinner layer_one
	mv store moved
	printf '[storage]\ndriver = "overlay"\ngraphroot = "%s/moved"\n' "$PWD" >home/.config/containers/storage.conf
	HOME=/nowhere ebprec report --folded x.data 2>/dev/null >folded
	if grep -q '^spinner;.*layer_one' folded; then fail "it is found without storage.conf, too"; fi
	HOME=$PWD/home
	named spinner layer_one
	# No list of the system's has this container; its name is in the arguments of its monitor.
	ebprec report -q --sort container x.data | grep -q ' elsewhere$' || fail "$(ebprec report -q --sort container x.data)"
}

@test "a library that the container deleted and replaced by another build has the names of the one that ran" {
	native load -q -i "$BATS_FILE_TMPDIR/one.tar" >/dev/null
	mkdir two
	work() {
		in_pod run --name c ebprec-test:two /bin/sh -c 'cat /opt/libspin.so' >two/lib
		native run -i --name white --ulimit nofile=1024:1024 --ulimit nproc=1000:1000 --network=none \
			ebprec-test:one /bin/sh -c \
			'rm /opt/libspin.so; [ ! -e /opt/libspin.so ] && cat >/opt/libspin.so && /opt/spinner' <two/lib
	}
	recorded
	native diff white | grep -q libspin
	named spinner layer_two
	if grep -q layer_one folded; then fail "names of the layer below"; fi
	ebprec report -q --sort container x.data | grep -q ' white$' || fail "$(ebprec report -q --sort container x.data)"
	ebprec bundle -q -o bundled.data x.data
	native rm white >/dev/null
	pod rmi -f ebprec-test:two >/dev/null 2>&1
	# Now only the other build is there, at the same path: its names are not used for this one.
	ebprec report --folded x.data 2>/dev/null >after
	grep -q '^spinner;' after
	if grep -q layer_one after; then fail "$(grep layer_one after)"; fi
	ebprec report --folded bundled.data 2>/dev/null | cmp - folded
	native rmi -f ebprec-test:one >/dev/null
}

@test "podman in podman: both have their names, and the functions theirs" {
	mkdir -p rootfs up work store
	mount -t overlay overlay -o "lowerdir=/,upperdir=$PWD/up,workdir=$PWD/work" rootfs
	cp "$BATS_FILE_TMPDIR/one.tar" up/
	cat >up/inner.sh <<-'END'
		mount -t tmpfs t /run
		P="podman --runtime runc --storage-driver vfs --cgroup-manager cgroupfs --events-backend file"
		$P load -q -i /one.tar >/dev/null &&
			$P run --ulimit nofile=1024:1024 --ulimit nproc=1000:1000 --network=none \
				--name within ebprec-test:one /opt/spinner
	END
	work() {
		podman --runtime runc --cgroup-manager cgroupfs --events-backend file run --rm --privileged \
			--ulimit nofile=1024:1024 --ulimit nproc=1000:1000 --network=none --name around \
			-v "$PWD/store:/var/lib/containers" --cgroupns=host -v /sys/fs/cgroup:/sys/fs/cgroup --rootfs "$PWD/rootfs" /bin/sh /inner.sh
	}
	recorded
	umount rootfs
	named spinner layer_one
	ebprec script -q -F comm,ip,sym,+container,+origin x.data >frames
	grep -qE '^ *spinner .* within$' frames
	grep -qE 'layer_one .*\[build-id: .*/libspin.so\]$' frames || fail "$(grep -A9 spinner frames | head -20)"
	ebprec report -q --sort comm,container x.data >rows
	grep -qE ' spinner +within$' rows || fail "$(ebprec report -q --sort comm,cgroup x.data | grep spinner)"
	grep -qE ' podman +around$' rows || fail "$(cat rows)"
}

# users_pod OPTION... - a user's podman with these options runs the commands of $home/inside.sh, in an image
users_pod() {
	command -v newuidmap >/dev/null
	id ebprec-user >/dev/null 2>&1 || useradd -m ebprec-user
	home=$(getent passwd ebprec-user | cut -d: -f6)
	cp "$BATS_FILE_TMPDIR/one.tar" "$home/"
	cat >"$home/run.sh" <<-END
		cd && export XDG_RUNTIME_DIR=\$HOME/run && mkdir -p -m 700 "\$XDG_RUNTIME_DIR"
		P="podman --runtime runc --cgroup-manager cgroupfs --events-backend file --storage-driver overlay $*"
		\$P load -q -i one.tar >/dev/null 2>&1 &&
			\$P run -i --ulimit nofile=1024:1024 --ulimit nproc=1000:1000 --network=none --name own \
				ebprec-test:one /bin/sh -c "\$(cat inside.sh)" <stdin
		kill "\$(cat "\$XDG_RUNTIME_DIR/libpod/tmp/pause.pid")" # it holds the namespace
	END
	: >"$home/stdin"
	echo /opt/spinner >"$home/inside.sh"
}

# users_work - records the user's container; afterwards no other store has the image
users_work() {
	work() { su ebprec-user -s /bin/bash -c "bash $home/run.sh" >messages 2>&1 || :; }
	recorded
	pod rmi -f ebprec-test:one ebprec-test:two >/dev/null 2>&1
}

# Also while its processes end.
users_end() {
	userdel -rf ebprec-user 2>/dev/null || :
	rm -rf "$home"
}

@test "functions in a user's own container have their names" {
	users_pod
	users_work
	HOME=$home named spinner layer_one || fail "$(cat messages)"
	users_end
}

@test "functions in a user's fuse-overlayfs, which root may not read, have their names" {
	users_pod --storage-opt overlay.mount_program=/usr/bin/fuse-overlayfs
	chmod 666 /dev/fuse # as it is on ordinary machines
	own "$home/stdin"
	echo '/opt/spinner; cat >/tmp/own; chmod +x /tmp/own; /tmp/own' >"$home/inside.sh"
	users_work
	[ -e "$home/.local/share/containers/storage/overlay/.has-mount-program" ] || fail "$(cat messages)"
	# Build-ids come from the memory of the process, the layers from the program that serves them: HOME is not read.
	HOME=/nowhere named spinner layer_one || fail "$(cat messages)"
	HOME=/nowhere own_leaf
	ebprec bundle -q -o bundled.data x.data
	users_end
	ebprec report --folded x.data 2>/dev/null >after
	grep -q '^spinner;' after
	if grep -qE 'layer_one|own_inner' after; then fail "names of what is gone: $(ebprec report --symbols-report -q x.data | grep spin)"; fi
	ebprec report --folded bundled.data 2>/dev/null | cmp - folded
}
