# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
#
# The only build file.  `make help` lists the targets.  Everything built goes below $(O).

VERSION	:= 0.1.0
O	?= build
prefix	?= /usr/local
V	?= 0

CC	?= cc
CLANG	?= clang
BPFTOOL	?= $(firstword $(wildcard /usr/sbin/bpftool /usr/bin/bpftool) bpftool)
PKG_CONFIG ?= pkg-config

CFLAGS	?= -O2 -g
WARN	:= -Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wvla -Wpointer-arith \
	   -Wno-unused-parameter $(if $(CI),-Werror)
EB_CFLAGS := -std=gnu11 -D_GNU_SOURCE -DEBPREC_VERSION='"$(VERSION)"' -I. $(WARN)
EB_LDFLAGS :=

ifneq ($(SAN),)
O	:= $(O)/san-$(subst $(comma),-,$(SAN))
EB_CFLAGS += -fsanitize=$(SAN) -fno-omit-frame-pointer -fno-sanitize-recover=all
EB_LDFLAGS += -fsanitize=$(SAN)
endif
comma	:= ,

ifeq ($(V),0)
say	= @printf '  %-7s %s\n' $(1) $(2);
Q	:= @
else
say	=
Q	:=
endif

# One list a folder.  A new file belongs in one of these, or is found by its place in tests/.
SRCS_format  := $(sort $(wildcard format/*.c))
SRCS_record  := $(sort $(wildcard record/*.c))
SRCS_analyze := $(sort $(wildcard analyze/*.c analyze/sym/*.c))
BPF	     := $(sort $(wildcard bpf/*.bpf.c))
UNIT	     := $(sort $(wildcard tests/unit/test_*.c))

LIBS_format  := -lzstd
LIBS_record  := -lbpf -lelf -lz
LIBS_analyze := -ldw -lelf -ltraceevent -liberty -lpthread
LIBS_unit    := -lcmocka

obj	= $(patsubst %.c,$(O)/%.o,$(1))
SKELS	:= $(patsubst bpf/%.bpf.c,$(O)/bpf/%.skel.h,$(BPF))

.DELETE_ON_ERROR:
.SECONDARY:
.PHONY: all analyze record unit check clean help

all: analyze record
analyze: $(O)/ebprec
record: $(O)/ebprec-record

$(O)/ebprec: $(call obj,$(SRCS_analyze)) $(O)/libformat.a
	$(call say,LD,$@)$(CC) $(LDFLAGS) $(EB_LDFLAGS) -o $@ $^ $(LIBS_analyze) $(LIBS_format)

$(O)/ebprec-record: $(call obj,$(SRCS_record)) $(O)/libformat.a
	$(call say,LD,$@)$(CC) $(LDFLAGS) $(EB_LDFLAGS) -o $@ $^ $(LIBS_record) $(LIBS_format)

$(O)/libformat.a: $(call obj,$(SRCS_format))
	$(call say,AR,$@)rm -f $@; $(AR) rcs $@ $^

$(O)/%.o: %.c
	@mkdir -p $(@D)
	$(call say,CC,$<)$(CC) $(EB_CFLAGS) -I$(O) $(CFLAGS) -MMD -MP -c -o $@ $<

# Recorder objects may include any skeleton.
$(call obj,$(SRCS_record)): | $(SKELS)

$(O)/bpf/%.bpf.o: bpf/%.bpf.c
	@mkdir -p $(@D)
	$(call say,BPF,$<)$(CLANG) -g -O2 -target bpf -D__TARGET_ARCH_x86 -I. \
		-I/usr/include/$(shell uname -m)-linux-gnu -Wall -Werror -MMD -MP -c -o $@ $<

$(O)/bpf/%.skel.h: $(O)/bpf/%.bpf.o
	$(call say,SKEL,$@)$(BPFTOOL) gen skeleton $< > $@

# A unit test links the format library and every analyzer and recorder object but the mains,
# so that a test is only its file.
$(O)/tests/unit/%: $(O)/tests/unit/%.o $(O)/libunder.a $(O)/libformat.a
	$(call say,LD,$@)$(CC) $(LDFLAGS) $(EB_LDFLAGS) -o $@ $^ $(LIBS_unit) $(LIBS_record) \
		$(LIBS_analyze) $(LIBS_format)

$(O)/libunder.a: $(filter-out %/main.o,$(call obj,$(SRCS_analyze) $(SRCS_record)))
	$(call say,AR,$@)rm -f $@; $(AR) rcs $@ $^

unit: $(patsubst tests/unit/%.c,$(O)/tests/unit/%,$(UNIT))
	$(Q)set -e; for t in $^; do $$t; done

clean:
	$(Q)rm -rf build

help:
	@echo "targets: all (default) analyze record unit check clean"

-include $(shell find $(O) -name '*.d' 2>/dev/null)
