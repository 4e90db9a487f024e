# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
#
# The only build file.  `make help` lists the targets.  Everything built goes below $(O).

VERSION	:= 0.1.0
O	?= build
prefix	?= /usr/local
libdir	?= $(prefix)/lib
DESTDIR	?=
V	?= 0
TIME	?= 60
COUNT	?= 100000
SEED	?= 1
FIRST	?= 0

# The machine to build for: this one, or ARCH=aarch64 by Debian's cross compiler, in a folder of its own below $(O), with
# the libraries of Debian for that machine in its sysroot/ (scripts/sysroot, which asks for them once).  SYSROOT=/: they are installed.
BUILD_ARCH := $(shell uname -m)
ARCH	?= $(BUILD_ARCH)
CROSS	:= $(filter-out $(BUILD_ARCH),$(ARCH))
CXX	?= c++
ifneq ($(CROSS),)
override O := $(O)/$(ARCH)
SYSROOT	:= $(abspath $(O))/sysroot
CXX	:= $(ARCH)-linux-gnu-g++
CC	:= $(ARCH)-linux-gnu-gcc --sysroot=$(SYSROOT)
AR	:= $(ARCH)-linux-gnu-ar
# Runs a program of that machine on this one.
EMULATOR := qemu-$(ARCH)-static -L $(SYSROOT)
endif

CC	?= cc
CLANG	?= clang
BPFTOOL	?= $(firstword $(wildcard /usr/sbin/bpftool /usr/bin/bpftool) bpftool)
INSTALL	?= install

comma	:= ,
CFLAGS	?= -O2 -g
WARN	:= -Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wvla -Wpointer-arith -Wfloat-conversion \
	   -Wno-unused-parameter $(if $(CI),-Werror)
EB_CFLAGS := -std=gnu11 -D_GNU_SOURCE -DEBPREC_VERSION='"$(VERSION)"' -I. $(WARN)
EB_LDFLAGS :=
# These flags, if the compiler takes all of them.
takes	= $(shell $(CC) -Werror $(1) -fsyntax-only -x c /dev/null 2>/dev/null && echo "$(1)")
# GCC for x86 clears and copies larger structs by "rep stos", which takes longer than what is done with them.
EB_CFLAGS += $(call takes,-mmemset-strategy=unrolled_loop:512:noalign$(comma)libcall:-1:noalign \
	-mmemcpy-strategy=unrolled_loop:512:noalign$(comma)libcall:-1:noalign)

# Hardening; docs/SECURITY.md has the purpose of each, tests/e2e/program/hardening.bats holds the programs to it.
# FORTIFY needs an optimizer, and would hide from the sanitizers what they are to see.
HARDEN	:= -fPIC -fvisibility=hidden -fstack-protector-strong $(call takes,-fstack-clash-protection) \
	   $(or $(call takes,-fcf-protection=full),$(call takes,-mbranch-protection=standard))
FORTIFY	:= $(shell echo '\#include <features.h>' | $(CC) -Werror -O2 -D_FORTIFY_SOURCE=3 -E - >/dev/null 2>&1 && echo 3 || echo 2)
ifeq ($(SAN),)
HARDEN	+= $(if $(filter-out -O0,$(lastword $(filter -O%,$(CFLAGS)))),$(if $(findstring _FORTIFY_SOURCE,$(CFLAGS)),,\
	   -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=$(FORTIFY)))
endif
# A shadow stack suits all code that returns where it was called from, the C library's start files included,
# which Debian builds without the note that declares it.
HARDEN_LD = $(if $(filter static,$(LINK)),-static-pie,-pie) -Wl,-z,relro,-z,now,-z,noexecstack \
	   $(if $(findstring -fcf-protection,$(HARDEN)),-Wl$(comma)-z$(comma)shstk)

# One name for a folder, however it is given: what depends on what is known by names.
override O := $(patsubst $(CURDIR)/%,%,$(O))
ifneq ($(SAN),)
override O := $(O)/san-$(subst $(comma),-,$(SAN))
EB_CFLAGS += -fsanitize=$(SAN) -fno-omit-frame-pointer -fno-sanitize-recover=all
EB_LDFLAGS += -fsanitize=$(SAN)
ifneq ($(findstring undefined,$(SAN)),)
EB_CFLAGS += -fsanitize=float-cast-overflow # which is not one of the undefined ones
endif
endif

ifeq ($(V),0)
show_step	= @printf '  %-7s %s\n' $(1) $(2);
Q	:= @
else
show_step	=
Q	:=
endif

# One list a folder.  A new file belongs in one of these, or is found by its place in tests/.
SRCS_format  := $(sort $(wildcard format/*/*.c format/*/*/*.c))
SRCS_record  := $(sort $(wildcard record/*.c record/*/*.c record/*/*/*.c))
SRCS_analyze := $(sort $(wildcard analyze/*.c analyze/*/*.c analyze/*/*/*.c))
BPF	     := $(sort $(wildcard bpf/*/*.bpf.c))
UNIT	     := $(sort $(shell find tests/unit -name 'test_*.c'))
FUZZ	     := $(sort $(wildcard tests/fuzz/*/fuzz_*.c))
GEN	     := $(sort $(wildcard tests/lib/gen/*.c))
LIVE	     := $(sort $(wildcard tests/live/workloads/*.c tests/live/hostile/*.c))
REFUSED	     := $(addprefix $(O)/tests/lab/bpf/refused_,$(addsuffix .bpf.o,nointerval first pointer unaligned field long name \
		taken none array tracepoint verifier nobtf))
MAN	     := $(sort $(wildcard docs/man/*.[1-9]))

LIBS_format  := -lzstd -lZydis
LIBS_record  := -lbpf -lelf -lz -lpthread
LIBS_analyze := -ldw -lelf -llzma -lz -ltraceevent -liberty -lsqlite3 -lncursesw -ltinfo -lpthread -lm
LIBS_unit    := -lcmocka

# LINK=portable: nothing but the C library is loaded when the programs start; LINK=static: not even that.  Debian has no
# archive of Zydis: ZYDIS=FILE is one (scripts/package/stage makes it).
LINK	?= shared
ZYDIS	?= -lZydis
archives = -Wl,-Bstatic $(filter-out -lpthread -lm -lZydis,$(1)) -lbz2 $(if $(filter portable,$(LINK)),-Wl$(comma)-Bdynamic) $(ZYDIS) -lm
link_libs = $(if $(filter shared,$(LINK)),$(1),$(call archives,$(1)))

# Programs for BPF are compiled for the machine that __TARGET_ARCH_* names, with the kernel's headers for it.
BPF_TARGET := -target bpf -D__TARGET_ARCH_$(if $(filter aarch64,$(ARCH)),arm64,x86) \
	$(if $(CROSS),-I$(SYSROOT)/usr/include/$(ARCH)-linux-gnu -I$(SYSROOT)/usr/include,-I/usr/include/$(ARCH)-linux-gnu)

obj	= $(patsubst %.c,$(O)/%.o,$(1))
unit	= $(foreach name,$(1),$(filter %/test_$(name).c,$(UNIT)))
prog	= $(patsubst %.c,$(O)/%,$(1))
SKELS	:= $(patsubst bpf/%.bpf.c,$(O)/bpf/%.skel.h,$(BPF))
# What a purpose of scripts/deps needs is looked for once; the failure names the packages.
have	= $(O)/.have-$(1)

.DELETE_ON_ERROR:
.SECONDARY:
.PHONY: always all analyze record library man unit tests check check-aarch64 check-emulated check-live check-long check-waits check-fleet check-brief check-compare check-exports check-web check-kernels check-kernels-load check-kernels-aarch64 check-kernels-emulated check-kills check-foreign \
	check-mixed check-lines check-memory check-go check-runtimes check-starts check-soak check-valgrind check-containers check-jvm check-faults check-damage check-hostile storm bench graph lint fuzz mutate mutate-four install install-programs install-library tarball rpm sysext packages check-packages clean help

all: analyze record library man	## ebprec, ebprec-record, libebprec and the manual (the default)
analyze: $(O)/ebprec			## ebprec alone: needs no clang, bpftool or libbpf
record: $(O)/ebprec-record		## ebprec-record alone

# A page is its text and the table of options of the program itself.
man: $(MAN:docs/man/%=$(O)/man/%)	## the manual pages, with the options of the programs
$(O)/man/%.1: docs/man/%.1 scripts/man.awk $(O)/ebprec $(O)/ebprec-record
	@mkdir -p $(@D)
	$(call show_step,MAN,$@)$(EMULATOR) $(O)/$(if $(filter ebprec-record,$*),$*,ebprec $(subst ebprec,help,$(subst ebprec-,,$*))) --help=lines | \
		awk -f scripts/man.awk - $< >$@

$(O)/man/%.3: docs/man/%.3
	@mkdir -p $(@D)
	$(call show_step,MAN,$@)cp $< $@

# What every page of `report --html` carries: the modules of analyze/web/ as one script, and its hash in the policy.
$(O)/web/tail.html: scripts/join-web.sh $(wildcard analyze/web/*.* analyze/web/*/*)
	$(call show_step,JOIN,$(@D))scripts/join-web.sh $(@D)

$(O)/analyze/page/viewer.o: EB_CFLAGS += -Wa,-I$(O)/web
$(O)/analyze/page/viewer.o: $(O)/web/tail.html

$(O)/ebprec: $(call obj,$(filter-out analyze/lib/%,$(SRCS_analyze))) $(O)/libformat.a
	$(call show_step,LD,$@)$(CC) $(LDFLAGS) $(EB_LDFLAGS) $(HARDEN_LD) -o $@ $^ $(call link_libs,$(LIBS_analyze) $(LIBS_format))

# The library is what analyze/lib/ needs of all that; other names are not seen from outside.
library: $(O)/libebprec.so.0		## libebprec, which reads captures for other programs
$(O)/libebprec.so.0: $(call obj,$(sort $(wildcard analyze/lib/*.c))) $(O)/libanalyze.a $(O)/libformat.a analyze/lib/libebprec.map
	$(call show_step,LD,$@)$(CC) -shared $(LDFLAGS) $(EB_LDFLAGS) $(filter-out -pie,$(HARDEN_LD)) -Wl,-soname,$(@F) -Wl,--no-undefined \
		-Wl,--version-script=analyze/lib/libebprec.map -Wl,--gc-sections -o $@ $(filter %.o %.a,$^) $(LIBS_analyze) $(LIBS_format)

$(O)/libanalyze.a: $(call obj,$(filter-out analyze/main.c analyze/cmd/% analyze/lib/%,$(SRCS_analyze)))
	$(call show_step,AR,$@)rm -f $@; $(AR) qcs $@ $^

$(O)/ebprec-record: $(call obj,$(SRCS_record)) $(O)/libformat.a
	$(call show_step,LD,$@)$(CC) $(LDFLAGS) $(EB_LDFLAGS) $(HARDEN_LD) -o $@ $^ $(call link_libs,$(LIBS_record) $(LIBS_format))

$(O)/libformat.a: $(call obj,$(SRCS_format))
	$(call show_step,AR,$@)rm -f $@; $(AR) qcs $@ $^

# Objects are made again when the flags are others.
FLAGS	:= $(subst ',,$(subst ",,$(CC) $(filter-out -Werror,$(EB_CFLAGS)) $(HARDEN) $(CFLAGS)))
$(O)/.flags: always
	@mkdir -p $(@D)
	@echo '$(FLAGS)' | cmp -s - $@ || echo '$(FLAGS)' >$@
always:

$(O)/%.o: %.c $(O)/.flags | $(call have,build-analyzer)
	@mkdir -p $(@D)
	$(call show_step,CC,$<)$(CC) $(EB_CFLAGS) $(HARDEN) -I$(O) $(CFLAGS) -MMD -MP -c -o $@ $<

$(O)/.have-%: scripts/deps $(and $(CROSS),$(filter-out /,$(SYSROOT)),$(O)/sysroot/.complete)
	@mkdir -p $(@D)
	@$(if $(CROSS),:,scripts/deps --check $*)
	@touch $@

$(O)/sysroot/.complete: scripts/sysroot scripts/deps
	@scripts/deps --check cross
	$(call show_step,SYSROOT,$(@D))scripts/sysroot $(ARCH) $(@D)

# GCC's thread sanitizer does not follow fences, and reports each; this one orders writes for the BPF programs alone.
$(O)/record/unwind/process_maps.o: EB_CFLAGS += $(if $(filter thread,$(SAN)),$(call takes,-Wno-tsan))

# Recorder objects may include any skeleton.
$(call obj,$(SRCS_record)): | $(call have,build-record) $(SKELS)

$(O)/bpf/%.bpf.o: bpf/%.bpf.c | $(call have,build-record)
	@mkdir -p $(@D)
	$(call show_step,BPF,$<)$(CLANG) -g -O2 $(BPF_TARGET) -ffile-prefix-map=$(CURDIR)=. -I. -Wall -Werror -MMD -MP -c -o $@ $<

$(O)/bpf/%.skel.h: $(O)/bpf/%.bpf.o
	$(call show_step,SKEL,$@)( echo '/* NOLINTBEGIN */' && $(BPFTOOL) gen skeleton $< && echo '/* NOLINTEND */' ) > $@

# ---- tests ----

# A unit test links the format library and every analyzer and recorder object but the mains,
# so that a test is only its file.
$(O)/tests/unit/%: $(O)/tests/unit/%.o $(O)/libunder.a $(O)/libformat.a
	$(call show_step,LD,$@)$(CC) $(LDFLAGS) $(EB_LDFLAGS) -o $@ $^ $(LIBS_unit) $(LIBS_record) \
		$(LIBS_analyze) $(LIBS_format)

$(call obj,$(UNIT)): | $(call have,test)

$(O)/libunder.a: $(filter-out %/main.o,$(call obj,$(SRCS_analyze) $(SRCS_record)))
	$(call show_step,AR,$@)rm -f $@; $(AR) qcs $@ $^

# Programs of known contents that tests of symbols look into.
$(O)/tests/lib/fixtures/.built: tests/lib/fixtures/build $(wildcard tests/lib/fixtures/*.*) | $(call have,test)
	$(call show_step,FIXTURE,$(@D))CC='$(if $(CROSS),cc,$(CC))' TARGET='$(if $(CROSS),$(ARCH)-linux-gnu-)' SYSROOT='$(SYSROOT)' $< $(abspath $(@D)) && touch $@

$(call prog,$(call unit,symbol_buckets addr2line_split file_facts resolve resolve_debug symtab symtab_hostile symtab_wanted function_parts threads elf_python elf_v8 elf_listed elf_perl elf_jvm)): | $(O)/tests/lib/fixtures/.built

# What generators of captures look into besides the format.
$(O)/libsym.a: $(call obj,$(wildcard analyze/sym/*.c analyze/sym/*/*.c) analyze/names/mount_paths.c analyze/base/arena.c analyze/base/shared_library.c)
	$(call show_step,AR,$@)rm -f $@; $(AR) qcs $@ $^

# A fuzz target and the driver that replays its corpus.
$(call prog,$(FUZZ)): %: %.o $(O)/tests/fuzz/replay.o $(O)/libunder.a $(O)/libformat.a
	$(call show_step,LD,$@)$(CC) $(LDFLAGS) $(EB_LDFLAGS) -o $@ $^ $(LIBS_record) $(LIBS_analyze) \
		$(LIBS_format)

# The same target with libFuzzer; only `make fuzz` asks for it, in a build of its own.
$(addsuffix .engine,$(call prog,$(FUZZ))): %.engine: %.o $(O)/libunder.a $(O)/libformat.a
	$(call show_step,LD,$@)$(CC) $(LDFLAGS) -fsanitize=fuzzer,address,undefined -o $@ $^ \
		$(LIBS_record) $(LIBS_analyze) $(LIBS_format)

# Every command on damaged captures.
$(O)/tests/lab/mutate/%: $(O)/tests/lab/mutate/%.o $(O)/libunder.a $(O)/libformat.a
	$(call show_step,LD,$@)$(CC) $(LDFLAGS) $(EB_LDFLAGS) -o $@ $^ $(LIBS_record) $(LIBS_analyze) \
		$(LIBS_format)

# Programs that write captures with chosen contents, and others that help tests.
$(O)/tests/lib/gen/%: $(O)/tests/lib/gen/%.o $(O)/libsym.a $(O)/libformat.a
	$(call show_step,LD,$@)$(CC) $(LDFLAGS) $(EB_LDFLAGS) -o $@ $^ $(LIBS_analyze) $(LIBS_format)

# Workloads whose truth is known.  At -O0 every call stays a call and every function has a frame
# pointer; from -O1 on gcc leaves it out of leaf functions whatever the -f and -m options are.
$(call obj,$(LIVE)): CFLAGS += -O0
$(call obj,$(LIVE)): HARDEN :=
$(O)/tests/live/hostile/hostile_v8 $(O)/tests/live/hostile/made_up_v8 $(O)/tests/live/hostile/hostile_jvm: EB_LDFLAGS += -rdynamic # which is where V8's facts are
$(O)/tests/live/%: $(O)/tests/live/%.o
	$(call show_step,LD,$@)$(CC) $(LDFLAGS) $(EB_LDFLAGS) -o $@ $^ -lpthread

unit: $(call prog,$(UNIT))		## build and run the unit tests, words for people
	$(Q)set -e; for t in $^; do $$t; done

ORACLES	:= $(O)/tests/lab/oracle/oracle_ehframe $(O)/tests/lab/step/step_walk $(O)/tests/lib/fixtures/stepped
# A disk that fails, an older kernel, one call that fails: for LD_PRELOAD.
PRELOADS := $(patsubst %.c,$(O)/%.so,$(wildcard tests/lab/faults/*.c))
$(PRELOADS): $(O)/%.so: %.c
	@mkdir -p $(@D)
	$(call show_step,CC,$<)$(CC) $(WARN) -O1 -g -shared -fPIC -o $@ $< -ldl

tests: $(PRELOADS) $(O)/tests/lab/bench/bench_multiply analyze $(call prog,$(UNIT) $(FUZZ) $(GEN) $(LIVE) tests/lab/mutate/mutate.c) $(ORACLES) $(REFUSED) $(O)/tests/lab/bpf/custom.bpf.o $(O)/tests/lab/bpf/lacking.bpf.o	## build all test programs

check: tests				## unit + golden + corpus replay + layers; UPDATE=1 rewrites goldens
	$(Q)scripts/run-tests.sh $(O) unit golden replay layers

check-aarch64: ## unit tests and goldens of the programs for aarch64, by qemu; minutes; the network once
	$(Q)$(MAKE) ARCH=aarch64 check-emulated

check-emulated: analyze $(call prog,$(UNIT) $(FUZZ) $(GEN))
	$(Q)EMULATOR='$(EMULATOR)' scripts/run-tests.sh $(O) unit golden replay

check-waits: all tests $(call have,waits)	## times of threads against the kernel's and libbpf-tools'; a minute; root, BPF
	$(Q)scripts/run-tests.sh $(O) waits

check-go: all $(O)/tests/lab/oracle/oracle_go $(O)/tests/lib/gen/chains $(call have,go)	## programs of Go; 20 s; root, BPF
	$(Q)PATH=$(abspath $(O)/tests/lab/oracle):$$PATH scripts/run-tests.sh $(O) go

check-runtimes: all $(call have,runtimes)	## stacks and lines of Ruby, PHP, Perl and node, against those that the programs print; a minute; root, BPF
	$(Q)scripts/run-tests.sh $(O) runtimes

check-starts: $(O)/tests/lab/oracle/oracle_starts	## functions of stripped files of Debian, against symbols; a minute; the network once
	$(Q)tests/lab/starts/run $(O)

check-mixed: all			## stacks of a mixed load, 20 s; needs root and BPF
	$(Q)scripts/check-mixed.sh $(O)

check-fleet: all tests $(call have,fleet)	## push to real servers that are killed, and metric stores; two minutes; root, BPF
	$(Q)EBPREC_BUILD=$(abspath $(O)) bats tests/lab/fleet

check-brief: all tests			## report --brief of ten recorded situations; half a minute; root and BPF
	$(Q)EBPREC_BUILD=$(abspath $(O)) bats tests/lab/brief

check-compare: all $(O)/tests/live/workloads/counted	## 40 pairs of recordings with known changes, through diff; 10 minutes; root, BPF
	$(Q)tests/lab/compare/run $(O)

check-containers: all tests $(call have,containers)	## names in real containers and sandboxes; a minute or two; root, BPF, podman
	$(Q)EBPREC_BUILD=$(abspath $(O)) bats tests/lab/containers

check-jvm: all tests $(call have,jvm)	## methods of Java against jstack and JFR, JVMs that are asked, made-up JVMs; three minutes; root, BPF, podman
	$(Q)EBPREC_BUILD=$(abspath $(O)) bats tests/lab/jvm

check-lines: all tests $(call have,lines)	## inlined functions and lines of a large capture against three tools; minutes; root and BPF
	$(Q)scripts/check-lines.sh $(O)

check-live: all tests			## end to end; needs root and BPF
	$(Q)scripts/run-tests.sh $(O) e2e live

check-long: all tests			## the tests that scripts/test leaves out, of seconds each; 15 minutes, root and BPF
	$(Q)LONG_TESTS=only scripts/run-tests.sh $(O) mutate e2e live

storm: all tests			## 1000 programs a second for 10 s; needs root and BPF
	$(Q)STORM_SECONDS=10 EBPREC_BUILD=$(abspath $(O)) bats -f thousand tests/live/unwind/tables.bats

check-foreign: all				## every view of perf's files of twelve kinds; minutes, root, perf
	$(Q)EBPREC_BUILD=$(abspath $(O)) bats tests/lab/foreign/foreign.bats

# Real readers of what `ebprec export` writes, from npm: needs the network once.
check-exports: analyze $(call prog,$(GEN))	## exports against pprof-format and speedscope's schema
	$(Q)tests/lab/exports/run $(O)

check-web: analyze $(call prog,$(GEN)) $(call have,web)	## pages of report --html in chromium and firefox: keys, brush, safety, accessibility; five minutes
	$(Q)tests/lab/web/run $(O)

THREADED := $(call unit,symbol_buckets folded count_samples threads symtab_wanted)
check-threads: analyze tests			## the analyzer's threads under the thread sanitizer
	$(Q)$(MAKE) -s SAN=thread analyze library $(patsubst %.c,$(O)/san-thread/%,$(THREADED))
	$(Q)scripts/check-threads.sh $(O) $(O)/san-thread $(patsubst %.c,%,$(THREADED))

check-kills: all tests			## kill -9 at 50 random moments, minutes; needs root and BPF
	$(Q)EBPREC_KILLS=50 bats tests/live/recording/recover.bats

check-faults: all tests			## disks that fail, CPUs that go, 10,000 processes: minutes; needs root and BPF
	$(Q)EBPREC_BUILD=$(abspath $(O)) bats tests/live/recording/faults.bats tests/live/recording/hangs.bats tests/lab/faults

check-memory: all tests			## does the recorder's memory stand still? new programs, new files; 12 minutes; root and BPF
	$(Q)scripts/check-memory.sh $(O)

check-valgrind: all tests $(call have,test)	## the recorder's user side under valgrind; minutes; root and BPF
	$(Q)scripts/check-valgrind.sh $(O)

check-soak: all				## all instruments at once on a mixed load, TIME=600 s; root and BPF
	$(Q)scripts/check-soak.sh $(O) $(TIME)

check-kernels: all tests $(call have,kernels)	## record under Debian's stock kernels, emulated
	$(Q)scripts/run-tests.sh $(O) kernels

# The programs that every guest has.
GUEST_PROGRAMS := $(addprefix $(O)/tests/live/workloads/,cached calls ends futexes leaks pingpong shares) $(O)/tests/live/hostile/refuse
check-kernels-load: all $(GUEST_PROGRAMS) $(call have,kernels)	## that all BPF programs load there, and no more; two minutes
	$(Q)scripts/run-tests.sh $(O) kernels-load

check-kernels-aarch64: analyze $(call have,kernels) $(call have,kernels-aarch64)	## the same on Debian's kernel for aarch64; ten minutes
	$(Q)$(MAKE) ARCH=aarch64 check-kernels-emulated

EMULATED_UNIT := $(shell awk '!/^\#/ { print "tests/unit/" $$1 ".c" }' scripts/emulator-lacks)
check-kernels-emulated: analyze record $(GUEST_PROGRAMS) $(call prog,$(EMULATED_UNIT)) $(O)/tests/lab/kernels/cpp_shares $(O)/tests/lab/kernels/go_shares
	$(Q)EBPREC_NATIVE=$(abspath $(patsubst %/$(ARCH),%,$(O))) scripts/run-tests.sh $(O) kernels-aarch64

# Programs without frame pointers in other languages, for a machine that has no compiler.
$(O)/tests/lab/kernels/cpp_shares: tests/live/workloads/cpp_shares.cpp
	@mkdir -p $(@D)
	$(call show_step,CXX,$<)$(CXX) -O2 -g -fomit-frame-pointer -Wall -Wextra -static-libstdc++ -static-libgcc -o $@ $<

$(O)/tests/lab/kernels/go_shares: tests/lab/go/shares.go
	@mkdir -p $(@D)
	$(call show_step,GO,$<)GOARCH=$(if $(filter aarch64,$(ARCH)),arm64,amd64) CGO_ENABLED=0 GOFLAGS=-mod=mod GOCACHE=$(abspath $(@D))/cache \
		go build -ldflags='-buildid= -B 0x$(shell printf go_shares | od -An -tx1 | tr -d ' \n')' -o $@ $< # by its GNU build-id the file is known elsewhere; Go's own would hide it

bench: all tests $(call prog,$(wildcard tests/lab/bench/bench_*.c)) $(call have,bench)	## the table against perf; needs root and BPF
	$(Q)tests/lab/bench/run $(O)

graph: $(call have,graph)		## docs/layers.svg: the folders and their includes
	$(Q)scripts/draw-layers.sh docs/layers.svg

lint: $(call have,lint)			## clang-format, words, cppcheck, clang-tidy, gcc -fanalyzer, shellcheck
	$(Q)scripts/lint.sh

fuzz: $(call have,fuzz)			## fuzz each target, or TARGETS="dir lines", for TIME=60 seconds
	$(Q)$(MAKE) CC=clang SAN=fuzzer-no-link,address,undefined TIME=$(TIME) fuzz-run

mutate: tests				## every command on COUNT random changes of captures, with sanitizers
	$(Q)$(MAKE) -s SAN=address,undefined tests
	$(Q)scripts/mutate.sh $(O)/san-address-undefined random $(COUNT) $(SEED)

mutate-four: tests			## info, report, recover and script on COUNT changes, from FIRST=0 on, a process a CPU
	$(Q)$(MAKE) -s SAN=address,undefined tests
	$(Q)scripts/mutate.sh $(O)/san-address-undefined four $(COUNT) $(SEED) $(FIRST)

check-hostile: tests			## every command on all inputs of the fuzz targets as they are, with sanitizers
	$(Q)$(MAKE) -s SAN=address,undefined $(O)/san-address-undefined/tests/lab/mutate/mutate
	$(Q)scripts/mutate.sh $(O)/san-address-undefined all

check-damage: tests			## captures cut at every byte and with a bit of every byte flipped, with sanitizers
	$(Q)$(MAKE) -s SAN=address,undefined tests
	$(Q)scripts/mutate.sh $(O)/san-address-undefined bytes

TARGETS	?= $(patsubst fuzz_%.c,%,$(notdir $(FUZZ)))
fuzz-run: $(foreach name,$(TARGETS),$(patsubst %.c,$(O)/%.engine,$(filter %/fuzz_$(name).c,$(FUZZ))))
	$(Q)set -e; for t in $(TARGETS); do \
		mkdir -p $(O)/corpus/$$t $(O)/artifacts; \
		$(O)/tests/fuzz/*/fuzz_$$t.engine -max_total_time=$(TIME) -timeout=20 -print_final_stats=1 \
			-artifact_prefix=$(O)/artifacts/$$t- $(O)/corpus/$$t tests/fuzz/corpus/fuzz_$$t; \
	done

# ---- install ----
.PHONY: install-programs install-units install-library tarball

put	= put() { printf '  %-7s %s\n' INSTALL $(DESTDIR)$(prefix)/$$3; $(INSTALL) -D -m $$1 $$2 $(DESTDIR)$(prefix)/$$3; }

install: install-programs install-units install-library	## into $(DESTDIR)$(prefix)

install-programs: analyze record man	## the same without the library
	$(Q)set -e; $(put); \
	put 755 $(O)/ebprec bin/ebprec; \
	put 755 $(O)/ebprec-record libexec/ebprec/ebprec-record; \
	put 644 scripts/completions/ebprec.bash share/bash-completion/completions/ebprec; \
	put 644 scripts/completions/_ebprec share/zsh/site-functions/_ebprec; \
	put 644 scripts/completions/ebprec.fish share/fish/vendor_completions.d/ebprec.fish; \
	put 644 format/include/ebprec-mark.h include/ebprec-mark.h; \
	sed 's|@prefix@|$(prefix)|; s|@version@|$(VERSION)|' scripts/ebprec-mark.pc.in >$(O)/ebprec-mark.pc; \
	put 644 $(O)/ebprec-mark.pc share/pkgconfig/ebprec-mark.pc; \
	for f in LICENSE README.md $(wildcard docs/*.* docs/*/*.md); do put 644 $$f share/doc/ebprec/$$f; done; \
	for f in $(patsubst docs/man/%,$(O)/man/%,$(filter-out %.3,$(MAN))); do put 644 $$f share/man/man$${f##*.}/$${f##*/}; done; \
	echo '.so man1/ebprec-live.1' >$(O)/ebprec-top.1; \
	put 644 $(O)/ebprec-top.1 share/man/man1/ebprec-top.1

install-units:				## systemd's: recorder, agent and sender as services, and their user
	$(Q)set -e; $(put); mkdir -p $(O); \
	for u in ebprec ebprec-agent ebprec-push; do \
		sed 's|@prefix@|$(prefix)|' scripts/package/systemd/$$u.service.in >$(O)/$$u.service; \
		put 644 $(O)/$$u.service lib/systemd/system/$$u.service; \
	done; \
	put 644 scripts/package/systemd/ebprec.sysusers lib/sysusers.d/ebprec.conf

install-library: library man
	$(Q)set -e; $(put); \
	$(INSTALL) -D -m 644 $(O)/libebprec.so.0 $(DESTDIR)$(libdir)/libebprec.so.0; \
	ln -sf libebprec.so.0 $(DESTDIR)$(libdir)/libebprec.so; \
	sed 's|@prefix@|$(prefix)|; s|@libdir@|$(libdir)|; s|@version@|$(VERSION)|' analyze/lib/libebprec.pc.in >$(O)/libebprec.pc; \
	$(INSTALL) -D -m 644 $(O)/libebprec.pc $(DESTDIR)$(libdir)/pkgconfig/libebprec.pc; \
	put 644 analyze/lib/ebprec.h include/ebprec.h; \
	put 644 analyze/lib/ebprec.py share/ebprec/python/ebprec.py; \
	for f in $(patsubst docs/man/%,$(O)/man/%,$(filter %.3,$(MAN))); do put 644 $$f share/man/man3/$${f##*/}; done; \
	echo '.so man3/libebprec.3' >$(O)/function.3; \
	for f in $$(sed -n 's/^\t\t\(ebprec_.*\);/\1/p' analyze/lib/libebprec.map); do put 644 $(O)/function.3 share/man/man3/$$f.3; done

tarball: $(call have,package)		## archives of the programs for any x86-64 Linux, in $(O)/tarball; the network once
	+$(Q)scripts/package/tarball $(O)

rpm: $(call have,package)		## rpm packages of the programs, in $(O)/rpm; the network once
	+$(Q)scripts/package/rpm $(O)

sysext: $(call have,package)		## a systemd-sysext tree and image of the programs, in $(O)/sysext; GID=N: members of the group N record; the network once
	+$(Q)scripts/package/sysext $(O) $(GID)

SUITE	?= bookworm
check-packages: packages tarball rpm $(call have,check-packages)	## packages in a fresh Debian, SUITE=bookworm: installed, used, purged; built twice, and for arm64; archives in three; rpm packages; a system extension; root, BPF
	$(Q)EBPREC_BUILD=$(abspath $(O)) SUITE=$(SUITE) bats tests/lab/packages

packages: $(call have,package)		## Debian packages of this tree, in $(O)/packages
	$(Q)scripts/package/build $(O)

clean:					## remove the build folder
	$(Q)rm -rf build

help:					## this list
	@echo "targets (V=1 shows commands, O=DIR builds elsewhere, SAN=address,undefined):"
	@sed -n 's/^\([a-z0-9-]*\):[^#]*## \(.*\)/  \1\t\2/p' $(MAKEFILE_LIST) | expand -t 16

# What was built of a program for BPF whose source is gone is not made again, though older objects depend on it.
-include $(filter-out %.bpf.d,$(shell find $(O) -path $(O)/starts -prune -o -type f -name '*.d' -print 2>/dev/null)) \
	$(wildcard $(patsubst %.c,$(O)/%.d,$(BPF) $(wildcard tests/lab/bpf/*.bpf.c)))

# ---- unwinding: what needs libdw as a judge, or minutes ----
.PHONY: oracle oracle-long
ORACLE_CODE  := $(wildcard /lib/x86_64-linux-gnu/libc.so.6 /lib/x86_64-linux-gnu/libz.so.1 /bin/bash)
ORACLE_SMALL := $(wildcard /lib/x86_64-linux-gnu/libc.so.6 /lib64/ld-linux-x86-64.so.2)
oracle: $(O)/tests/lab/oracle/oracle_ehframe $(O)/tests/lab/oracle/oracle_codeflow $(O)/tests/lab/step/step_walk $(O)/tests/lib/fixtures/stepped	## unwind tables and steps against libdw
	$(Q)$< $(ORACLE_SMALL)
	$(Q)$(O)/tests/lab/oracle/oracle_codeflow $(ORACLE_CODE)
	$(Q)$(O)/tests/lab/step/step_walk $(O)/tests/lib/fixtures/stepped

oracle-long: $(O)/tests/lab/oracle/oracle_ehframe	## the same on large files
	$(Q)scripts/oracle-long.sh $<

$(O)/tests/lab/oracle/oracle_starts: $(O)/tests/lab/oracle/oracle_starts.o $(O)/libsym.a $(O)/libformat.a
	$(call show_step,LD,$@)$(CC) $(LDFLAGS) $(EB_LDFLAGS) -o $@ $^ $(LIBS_analyze) $(LIBS_format)

$(O)/tests/lab/oracle/%: $(O)/tests/lab/oracle/%.o $(O)/libformat.a
	$(call show_step,LD,$@)$(CC) $(LDFLAGS) $(EB_LDFLAGS) -o $@ $^ -ldw -lelf $(LIBS_format)

$(O)/tests/lab/bench/bench_multiply: $(O)/tests/lab/bench/bench_multiply.o $(O)/libunder.a $(O)/libformat.a
	$(call show_step,LD,$@)$(CC) $(LDFLAGS) $(EB_LDFLAGS) -o $@ $^ $(LIBS_record) $(LIBS_analyze) \
		$(LIBS_format)

$(O)/tests/lab/bench/%: $(O)/tests/lab/bench/%.o $(O)/libformat.a
	$(call show_step,LD,$@)$(CC) $(LDFLAGS) $(EB_LDFLAGS) -o $@ $^ $(LIBS_format) -lpthread

# The step function for BPF: that it compiles, and that the verifier takes it.
$(O)/tests/lab/bpf/%.bpf.o: tests/lab/bpf/%.bpf.c
	@mkdir -p $(@D)
	$(call show_step,BPF,$<)$(CLANG) -g -O2 $(BPF_TARGET) -I. -Wall -Werror -MMD -MP -c -o $@ $<

# The example of docs/instruments/custom.md.
$(O)/tests/lab/bpf/custom.bpf.c: docs/instruments/custom.md
	@mkdir -p $(@D)
	$(call show_step,GEN,$@)sed -n '/^```c$$/,/^```$$/p' $< | grep -v '^```' >$@

$(O)/tests/lab/bpf/custom.bpf.o: $(O)/tests/lab/bpf/custom.bpf.c
	$(call show_step,BPF,$<)$(CLANG) -g -O2 $(BPF_TARGET) -Wall -Werror -c -o $@ $<

# Objects that break its contract; that of nobtf has no types.
$(O)/tests/lab/bpf/refused_%.bpf.o: tests/lab/bpf/refused.bpf.c
	@mkdir -p $(@D)
	$(call show_step,BPF,$@)$(CLANG) $(if $(filter nobtf,$*),,-g) -O2 $(BPF_TARGET) -DCASE_$* -Wall \
		-Wno-null-dereference -c -o $@ $<

$(O)/tests/lab/bpf/load_%: $(O)/tests/lab/bpf/load_%.o $(O)/tests/lab/bpf/%.bpf.o
	$(call show_step,LD,$@)$(CC) $(LDFLAGS) $(EB_LDFLAGS) -o $@ $< -lbpf

# Every instruction of a program without frame pointers, ours against libdwfl.
$(O)/tests/lib/fixtures/stepped: tests/lib/fixtures/stepped.c
	@mkdir -p $(@D)
	$(call show_step,CC,$<)$(CC) -O2 -fomit-frame-pointer -Wl,-z,lazy -o $@ $<

$(O)/tests/lab/step/step_walk: $(O)/tests/lab/step/step_walk.o $(O)/tests/lab/step/livewalk.o $(O)/libformat.a
	$(call show_step,LD,$@)$(CC) $(LDFLAGS) $(EB_LDFLAGS) -o $@ $^ -ldw -lelf $(LIBS_format)
