/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "record/instrument/instrument.h"

#include <errno.h>
#include <unistd.h>

#include "record/privsep/caps.h"

uint32_t instrument_page_bits(void)
{
	return (uint32_t)__builtin_ctzl((unsigned long)sysconf(_SC_PAGESIZE));
}

const char *instrument_hint(int err)
{
	switch (err) {
	case -EPERM:
	case -EACCES:
		return caps_hint_bpf();
	case -ENOSYS:
	case -EINVAL:
		return "does this kernel have BPF? ebprec needs 6.1 or later";
	case -ENOMEM:
		return "out of memory, or kernel rings too large: try a smaller -m";
	default:
		return NULL;
	}
}

void instrument_note_cpu_clock(const struct instrument_ctx *c)
{
	if (c->opts->event != RECORD_CPU_CLOCK)
		note(c->notes, NOTE_INFO, "no hardware counters here: sampling by cpu-clock");
	if (c->opts->freq_hz > EVENT_ATTRS_CPU_CLOCK_MAX_HZ)
		note(c->notes, NOTE_INFO,
		     "cpu-clock: %d samples a second in place of %u, as its interrupts would leave "
		     "programs no time",
		     EVENT_ATTRS_CPU_CLOCK_MAX_HZ, c->opts->freq_hz);
}

void instrument_note_probes(const struct instrument_ctx *c, size_t left)
{
	if (left)
		note(c->notes, NOTE_WARNING,
		     "the kernel has not removed the probes of %zu file%s yet: a process that maps one holds its mmap "
		     "lock; the capture is complete all the same, but this process ends when the kernel is done",
		     left, left == 1 ? "" : "s");
}

int instrument_fail(struct instrument_ctx *c, int err, const char *what)
{
	if (err != -EPERM && err != -EACCES && access("/sys/kernel/btf/vmlinux", R_OK))
		return note_fail(c->notes, -errno, "a kernel with CONFIG_DEBUG_INFO_BTF is needed",
				 "%s: no BTF: cannot read '/sys/kernel/btf/vmlinux'", what);
	/* Programs that read the kernel's memory are taken for broken ones then. */
	if (err == -EINVAL && caps_locked_down())
		return note_fail(c->notes, err,
				 "the kernel is locked down: boot without lockdown=confidentiality",
				 "%s", what);
	return note_fail(c->notes, err, instrument_hint(err), "%s", what);
}
