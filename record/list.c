/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "record/list.h"

#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "record/instrument_options.h"
#include "record/metric/catalogue.h"
#include "record/probe.h"
#include "record/recording/recording_priv.h"
#include "record/events/tracepoint/tracefs.h"

static const char *perf_lacks(void)
{
	int err = probe_perf(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_DUMMY, false, false);

	if (!err)
		return NULL;
	return err == -ENOSYS ? "this kernel has no perf events"
			      : "perf events are not allowed (kernel.perf_event_paranoid)";
}

static const char *bpf_lacks(void)
{
	int has = libbpf_probe_bpf_prog_type(BPF_PROG_TYPE_RAW_TRACEPOINT, NULL);

	if (access("/sys/kernel/btf/vmlinux", R_OK))
		return "no BTF: cannot read '/sys/kernel/btf/vmlinux'";
	if (has == -EPERM || has == -EACCES || geteuid())
		return "BPF is not allowed (root, or CAP_BPF and CAP_PERFMON)";
	return has > 0 ? NULL : "this kernel has no BPF for tracepoints";
}

static const char *sched_lacks(void)
{
	char *format = tracefs_format("sched", "sched_switch");

	free(format);
	return format ? NULL : "cannot read the format of sched:sched_switch (tracefs)";
}

/* The needs that are not met, as one text; NULL: nothing. */
static const char *unmet_needs(enum instrument_need needs)
{
	static const struct {
		enum instrument_need need;
		const char *(*lacks)(void);
	} checks[] = {
		{ NEED_PERF, perf_lacks },
		{ NEED_BPF, bpf_lacks },
		{ NEED_SCHED, sched_lacks },
	};
	const char *why = NULL;

	for (size_t i = 0; !why && i < sizeof(checks) / sizeof(checks[0]); i++)
		if (needs & checks[i].need)
			why = checks[i].lacks();
	return why;
}

static void print_needs(FILE *to, enum instrument_need need)
{
	static const struct {
		enum instrument_need need;
		const char *text;
	} needs[] = {
		{ NEED_PERF, "perf events" },
		{ NEED_BPF, "BPF with BTF" },
		{ NEED_SCHED, "tracepoints sched:*" },
	};
	const char *comma = "";

	fputs(need ? "" : "nothing", to);
	for (size_t k = 0; k < sizeof(needs) / sizeof(needs[0]); k++) {
		if (!(need & needs[k].need))
			continue;
		fprintf(to, "%s%s", comma, needs[k].text);
		comma = ", ";
	}
}

static void print_one(FILE *to, const char *name, const char *summary, bool is_default,
		      enum instrument_need need, const char *costs, const char *lacks,
		      const char *less)
{
	fprintf(to, "%-8s %s%s\n", name, summary, is_default ? " (on by default)" : "");
	fputs("         needs: ", to);
	print_needs(to, need);
	fprintf(to, "\n         costs: %s\n         here:  %s%s\n", costs,
		lacks  ? "no, "
		: less ? "yes, with "
		       : "yes",
		lacks  ? lacks
		: less ? less
		       : "");
}

/* One that records the same without BPF, where there is one. */
static void print_fallback(FILE *to, const struct instrument *inst)
{
	for (size_t i = 0; i < INSTRUMENT_COUNT; i++) {
		const struct instrument *other = recording_instruments[i];
		const char *lacks;

		if (other == inst || !other->costs || strcmp(other->name, inst->name) != 0)
			continue;
		lacks = unmet_needs(other->needs);
		fputs("         without BPF it needs: ", to);
		print_needs(to, other->needs);
		fprintf(to, "; costs: %s; here: %s%s\n", other->costs, lacks ? "no, " : "yes",
			lacks ? lacks : "");
	}
}

static void print_metric(FILE *to, const struct catalogue_entry *m, const struct btf *kernel)
{
	const char *lacks = m->elf ? unmet_needs(NEED_BPF) : NULL, *less = NULL, *text;
	enum catalogue_has has = CATALOGUE_ALL;
	struct outbuf why = { 0 };
	char options[128];

	if (!lacks && m->lacks)
		lacks = m->lacks();
	if (!lacks)
		has = catalogue_check(m, kernel, &why);
	text = outbuf_ok(&why) && why.size_bytes ? (const char *)why.data : "something missing";
	if (has == CATALOGUE_NONE)
		lacks = text;
	else if (has == CATALOGUE_LESS)
		less = text;
	print_one(to, m->name, m->summary, false, m->elf ? NEED_BPF : 0, m->costs, lacks, less);
	if (m->options) {
		instrument_options_names(m->options, options, sizeof(options));
		fprintf(to, "         takes: --with %s:%s\n", m->name, options);
	}
	outbuf_done(&why);
}

void instrument_list_print(FILE *to)
{
	struct btf *kernel = btf__load_vmlinux_btf(); /* once for all */
	const struct instrument *inst;

	for (size_t i = 0; i < INSTRUMENT_COUNT; i++) {
		inst = recording_instruments[i];
		if (!inst->costs || !(inst->needs & NEED_BPF))
			continue;
		print_one(to, inst->name, inst->summary, true, inst->needs, inst->costs,
			  unmet_needs(inst->needs), NULL);
		print_fallback(to, inst);
	}
	for (size_t i = 0; i < catalogue_count; i++)
		print_metric(to, &metriclist[i], kernel);
	btf__free(kernel);
}
