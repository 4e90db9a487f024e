#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
# Programs of other mount namespaces have their names when all that is left are the layers.
# runs beside others: names and build-ids do not depend on time

load ../../lib/helper

# Two programs of one name with other functions, without build-ids: only size and time distinguish
# them; and a third with a build-id.
program() {
	cat >"$1.c" <<-END
		#include <time.h>
		volatile long x;
		__attribute__((noinline)) void $1_inner(void) { for (int i = 0; i < 100000; i++) x += i; }
		__attribute__((noinline)) void $1_outer(void) { for (int i = 0; i < 10; i++) $1_inner(); }
		int main(void) {
			struct timespec a, b; clock_gettime(CLOCK_MONOTONIC, &a);
			do { $1_outer(); clock_gettime(CLOCK_MONOTONIC, &b);
			} while ((b.tv_sec - a.tv_sec) * 1000 + (b.tv_nsec - a.tv_nsec) / 1000000 < 400);
			return 0; }
	END
	"${CC:-cc}" -O1 -static -Wl,--build-id="${2:-none}" -o "$1" "$1.c"
}

# In a chroot / is no mount point, and unshare cannot cut all mounts off: those below here are.
keep_mounts_here() {
	apart=unchanged
	unshare -m --propagation $apart true 2>/dev/null || skip "may not make mount namespaces"
	mkdir apart && mount --bind apart apart && mount --make-private "$PWD/apart" && cd apart || return
}

teardown() {
	end_background
	cd / || return
	[ "${apart:-private}" = private ] || umount "$BATS_TEST_TMPDIR/apart"
}

setup() {
	need_bpf
	cd "$BATS_TEST_TMPDIR" || return
	apart=private
	unshare -m true 2>/dev/null || keep_mounts_here
	program lower
	program upper
	mkdir -p low/bin up work merged bin
}

# named PROGRAM... - in the report of x.data the functions of each PROGRAM have their names, with nothing mounted.
named() {
	ebprec report --folded -i x.data >out 2>err
	for program; do
		grep -q "main;.*${program}_outer;.*${program}_inner" out ||
			fail "no $program: $(sort -k2 -n out | tail -3; ebprec report --symbols-report -q -i x.data | head -5)"
	done
}

# not_named PROGRAM - no function in the report of x.data is PROGRAM's.
not_named() {
	case $(cat out) in *"$1"_*) fail "$1 in: $(cat out)" ;; esac
}

@test "a library in two layers with different contents has the upper one's names" {
	cp lower low/bin/app
	mkdir up/bin && cp upper up/bin/app
	ebprec record -q -F 499 -o x.data -- unshare -m --propagation "$apart" sh -c '
		mount -t overlay o -o lowerdir='"$PWD"'/low,upperdir='"$PWD"'/up,workdir=work merged &&
		exec merged/bin/app'
	named upper
	not_named lower
	# Without the upper layer there is none: the lower one is another file.
	mv up/bin/app up/bin/gone
	ebprec report --folded -i x.data >out 2>err
	not_named lower
	contains "$(cat err)" "app"
}

# bats test_tags=long
@test "a file of one layer has its names when the process is chrooted into the overlay" {
	cp lower low/bin/app
	cp upper up/other
	ebprec record -q -F 499 -o x.data -- unshare -m --propagation "$apart" sh -c '
		mount -t overlay o -o lowerdir='"$PWD/low"',upperdir='"$PWD/up"',workdir=work merged &&
		chroot merged /bin/app; chroot merged /other'
	named lower upper
}

@test "a program in an overlay on an overlay, as in nested containers, has its names" {
	mkdir -p up2 work2 merged2
	cp upper low/bin/app
	# A tmpfs holds the outer upper layer: overlayfs takes no overlay as its own upper one.
	ebprec record -q -F 499 -o x.data -- unshare -m --propagation "$apart" sh -c '
		mount -t overlay o -o lowerdir='"$PWD"'/low:'"$PWD"'/bin merged &&
		mount -t overlay o -o lowerdir='"$PWD"'/merged:'"$PWD"'/up2 merged2 &&
		cd / && exec '"$PWD"'/merged2/bin/app'
	named upper
}

# two_layers NAME... - programs, one after the other, each at the same path of an overlay whose upper layer is
# a new file system in memory: all have the same device, inode and path.  Each runs by its own name.
two_layers() {
	cat >in_layer.sh <<-'END'
		mount -t tmpfs t tmp && mkdir -p tmp/up/opt tmp/work && cp -p "$1" tmp/up/opt/app &&
			ln -s app "tmp/up/opt/$1" &&
			mount -t overlay o -o lowerdir="$PWD/low",upperdir="$PWD/tmp/up",workdir="$PWD/tmp/work" merged &&
			"merged/opt/$1" && "merged/opt/$1"
	END
	mkdir -p tmp
	# shellcheck disable=SC2016 # for the inner shell
	ebprec record -q -F 499 -o x.data -- sh -c 'for n; do
		unshare -m --propagation '"$apart"' sh in_layer.sh "$n"; done' sh "$@"
	perf script -i x.data --show-mmap-events 2>/dev/null |
		sed -n 's|.*\[[^@]* @ [^ ]* \(.*\)\]: r-xp .*/merged/opt/app$|\1|p' | uniq >mapped
}

# bats test_tags=long
@test "containers one after the other, with other programs under the same numbers: none has another's names" {
	local n
	mkdir -p debug/.build-id/11 debug/.build-id/22
	program lower 0x11223344 && cp lower debug/.build-id/11/223344
	program upper 0x22334455 && cp upper debug/.build-id/22/334455
	two_layers lower upper lower
	[ "$(grep -c . mapped)" = 3 ] || fail "$(cat mapped)"
	ebprec report --folded --debug-dir debug -i x.data >out 2>err
	for n in lower upper; do
		grep -q "^$n;.*main;${n}_outer;${n}_inner" out || fail "no $n: $(grep "^$n;" out)"
	done
	grep '^lower;.*upper_\|^upper;.*lower_' out >wrong || :
	[ ! -s wrong ] || fail "$(cat wrong)"
}

# bats test_tags=long
@test "containers one after the other without build-ids: the mappings are distinguished" {
	touch -r lower upper
	two_layers lower upper
	[ "$(grep -c . mapped)" = 2 ] || fail "$(cat mapped)"
	# Both are gone, and the file at the path is a third one.
	program third && touch -r lower third
	[ "$(stat -c %s third)" = "$(stat -c %s lower)" ]
	mkdir -p merged/opt && cp -p third merged/opt/app
	ebprec report --folded -i x.data >out 2>err
	grep -q '^lower;.*\[app\]' out && grep -q '^upper;.*\[app\]' out || fail "$(tail -5 out)"
	not_named third
	[ "$(ebprec report --symbols-report -q -i x.data | grep -c merged/opt/app)" = 2 ]
}

@test "a program bind-mounted over the path of another has its own names" {
	cp lower bin/app
	cp upper up/app
	ebprec record -q -F 499 -o x.data -- unshare -m --propagation "$apart" sh -c 'mount --bind up bin && exec bin/app'
	named upper
	not_named lower
}

@test "a program below a mount point with blanks, backslashes and line ends has its names" {
	# shellcheck disable=SC1003 # a backslash
	folder='a b\c'$'\t''d'$'\n''e'
	mkdir "$folder"
	cp upper up/app
	# shellcheck disable=SC2016 # for the inner shell
	ebprec record -q -F 499 -o x.data -- unshare -m --propagation "$apart" sh -c 'mount --bind up "$1" && exec "$1/app"' sh "$folder"
	rmdir "$folder"
	named upper
}

# bats test_tags=long
@test "a program in a chroot has its names, also when it enters it after the start" {
	cp upper low/bin/app
	ebprec record -q -F 499 -o x.data -- chroot low /bin/app
	named upper
	cp lower low/bin/late
	cat >late.c <<-'END'
		#include <unistd.h>
		int main(void) { return chroot("low") || chdir("/") || execl("/bin/late", "late", (char *)0); }
	END
	"${CC:-cc}" -o late late.c
	ebprec record -q -F 499 -o x.data -- ./late
	named lower
}

@test "a program has its names by another name of its file, and at another inode" {
	program third 0x1234567890abcdef
	mkdir away
	cp third bin/app
	ebprec record -q -F 499 -o x.data -- bin/app
	cp bin/app away/copy && rm bin/app && cp away/copy bin/app # a new inode, a new time
	named third
	rm bin/app
	mkdir -p debug/.build-id/12
	cp away/copy debug/.build-id/12/34567890abcdef
	ebprec report --folded --debug-dir debug -i x.data >out 2>/dev/null
	grep -q third_inner out
}

# replace_running BY OVER - while OVER runs, another file of its size and time is renamed to its place.
replace_running() {
	[ "$(stat -c %s "$1")" = "$(stat -c %s "$2")" ] || fail "sizes differ"
	cp "$1" new && touch -r "$2" new
	ebprec record -q -F 499 -o x.data -- sh -c "$2"' & sleep 0.1; mv new '"$2"'; wait'
}

@test "a program replaced by another of its size and time has no names, and not the other's" {
	cp upper bin/app
	replace_running lower bin/app
	ebprec report --folded -i x.data >out 2>err
	not_named lower
	grep -q '\[app\]' out || fail "$(tail -3 out)"
	contains "$(cat err)" "another file is there now"
	# The file itself, at another inode, has them.
	cp --preserve=timestamps upper bin/back && touch -r bin/app bin/back && mv bin/back bin/app
	named upper
}

@test "a deleted program has no names, and none of another file" {
	cp upper bin/app
	ebprec record -q -F 499 -o x.data -- sh -c 'bin/app & sleep 0.1; rm bin/app; cp lower bin/app; wait'
	ebprec report --folded -i x.data >out 2>err
	not_named lower
	grep -q '\[app\]' out || fail "$(tail -3 out)"
}
