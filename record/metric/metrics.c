/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * metrics - all instruments with tables, and the intervals that these are cut into
 *
 * At the end of an interval every object gets the number of the next one.  Then the recorder waits
 * until no program runs that read the old number: replacing an entry of a map of maps waits for
 * just that. Now no program writes to the entries of the old interval, and they are taken out.
 */
#include <bpf/btf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "format/os/clock.h"
#include "record/metric/interval_collector.h"
#include "record/metric/malloc_probes.h"
#include "record/instrument/instrument.h"
#include "record/metric/final_events.h"
#include "record/metric/catalogue.h"
#include "record/metric/pmu_events.h"
#include "record/events/sideband.h"
#include "format/os/slurp.h"
#include "record/metric/trial_load.h"

enum { CUSTOM_MAX = 8 }; /* objects of users */

struct metric_state {
	struct metric_tables tabs;
	struct metric_object objs[CATALOGUE_MAX + CUSTOM_MAX];
	struct proc_counters *counters; /* NULL: not asked for */
	size_t obj_count, custom_count;
	struct interval_collector *collector; /* from attach() on */
};

/* ---- beginning ---- */

/* An instrument that fails does not affect the others. */
static void open_one(struct instrument_ctx *c, struct metric_state *s, const char *name,
		     const void *elf, size_t bytes, unsigned sample_bytes)
{
	struct metric_object *o = &s->objs[s->obj_count];
	int err = c->rings ? metric_object_open(o, name, elf, bytes, sample_bytes, c, &s->tabs)
			   : note_fail(c->notes, -ENOTSUP, NULL,
				       "cannot record '%.60s' without BPF", name);

	if (!err) {
		s->obj_count++;
		return;
	}
	note(c->notes, NOTE_WARNING, "%s, skipping",
	     c->notes->failure[0] ? c->notes->failure : strerror(-err));
	notes_forgive(c->notes);
	metric_tables_cut(&s->tabs, o->first_table, c->attrs);
	metric_object_close(o);
}

struct trial {
	struct instrument_ctx *c;
	struct metric_state *s;
	const char *name;
	const struct outbuf *elf;
};

/* Runs in a child: it prints nothing, and the kernel frees everything. */
static void try_open(void *arg)
{
	const struct trial *t = arg;

	t->c->notes->show = NULL;
	t->c->reopener = NULL; /* it would keep what the parent does not know of */
	(void)metric_object_open(&t->s->objs[t->s->obj_count], t->name, t->elf->data,
				 t->elf->size_bytes, t->c->opts->sample_bytes, t->c, &t->s->tabs);
}

static int outlives_loading(struct instrument_ctx *c, struct metric_state *s, const char *name,
			    const struct outbuf *elf)
{
	struct trial t = { c, s, name, elf };
	int err = trialload(try_open, &t);

	return err ? note_fail(c->notes, err, err == -EBADMSG ? "the object is broken" : NULL,
			       "cannot load '%.60s'", name)
		   : 0;
}

/* An object of the user's own; its name is the file's. */
static void open_file(struct instrument_ctx *c, struct metric_state *s, const char *path)
{
	const char *slash = strrchr(path, '/'), *dot;
	struct outbuf elf = { 0 };
	char name[64];
	int err = s->custom_count++ < CUSTOM_MAX ? slurp(path, &elf) : -EMFILE;

	if (err) {
		note(c->notes, NOTE_WARNING, "cannot read '%s': %s, skipping", path,
		     strerror(-err));
	} else {
		snprintf(name, sizeof(name), "%s", slash ? slash + 1 : path);
		dot = strchr(name, '.');
		name[dot ? (size_t)(dot - name) : strlen(name)] = '\0';
		if (!c->rings || !outlives_loading(c, s, name, &elf)) {
			open_one(c, s, name, elf.data, elf.size_bytes, c->opts->sample_bytes);
		} else {
			note(c->notes, NOTE_WARNING, "%s, skipping", c->notes->failure);
			notes_forgive(c->notes);
		}
	}
	outbuf_done(&elf);
}

static void open_known(struct instrument_ctx *c, struct metric_state *s,
		       const struct catalogue_entry *inst)
{
	size_t bytes = 0;
	const void *elf = inst->elf(&bytes);
	unsigned own = c->opts->own_sample_bytes[inst - metriclist];

	open_one(c, s, inst->name, elf, bytes, own ? own : c->opts->sample_bytes);
}

static int open_all(struct instrument_ctx *c, struct metric_state *s)
{
	int err = 0;

	for (size_t i = 0; i < catalogue_count; i++) {
		if (!(c->opts->metrics & 1u << i))
			continue;
		if (sideband_drain(c->sideband)) /* each takes a while to load, on a busy machine */
			return -ENOMEM;
		if (metriclist[i].elf)
			open_known(c, s, &metriclist[i]);
		else
			err = proc_counters_new(&s->tabs, c->attrs, c->targets, "/", &s->counters);
		if (err)
			return note_fail(c->notes, err, NULL, "cannot make tables");
	}
	for (unsigned i = 0; i < c->opts->bpf_objects.count; i++)
		open_file(c, s, c->opts->bpf_objects.values[i]);
	return 0;
}

static int metric_prepare(struct instrument_ctx *c)
{
	struct metric_state *s = calloc(1, sizeof(*s));
	struct btf *kernel;
	int err;

	if (!s)
		return -ENOMEM;
	c->state = s;
	kernel = c->rings ? btf__load_vmlinux_btf() : NULL; /* once for all objects */
	s->tabs.kernel = kernel;
	err = open_all(c, s);
	s->tabs.kernel = NULL;
	btf__free(kernel);
	return err;
}

static int metric_attach(struct instrument_ctx *c)
{
	struct metric_state *s = c->state;
	struct interval_collector_sources from = { &s->tabs, s->objs, s->obj_count, s->counters,
						   !c->rings };
	uint64_t since_ns = clock_ns(CLOCK_MONOTONIC);
	int err;

	err = interval_collector_new(&from, since_ns, &s->collector);
	if (err)
		return instrument_fail(c, err, "cannot make tables");
	for (size_t i = 0; i < s->obj_count; i++) {
		if (sideband_drain(c->sideband))
			return -ENOMEM;
		err = metric_object_attach(&s->objs[i], since_ns);
		if (!err)
			err = malloc_probes_attach(&s->objs[i], c);
		if (!err)
			err = pmu_events_attach(&s->objs[i], c);
		if (!err)
			continue;
		if (c->notes->failure[0])
			note(c->notes, NOTE_WARNING, "%s, skipping", c->notes->failure);
		else
			note(c->notes, NOTE_WARNING, "cannot attach '%s': %s, skipping",
			     bpf_object__name(s->objs[i].obj), strerror(-err));
		notes_forgive(c->notes);
		instrument_note_probes(c, metric_object_stop(&s->objs[i]));
	}
	return s->counters ? proc_counters_begin(s->counters) : 0;
}

/* Samples are worth having without them. */
static int metric_cpu_back(struct instrument_ctx *c, uint32_t cpu, int output_fd)
{
	struct metric_state *s = c->state;

	for (size_t i = 0; i < s->obj_count; i++) {
		int err = object_perf_events_cpu_back(&s->objs[i].perf, c->reopener, cpu);

		if (err)
			note(c->notes, NOTE_WARNING,
			     "CPU %u came online: '%s' does not count its perf events there: %s (record anew)",
			     cpu, bpf_object__name(s->objs[i].obj), strerror(-err));
	}
	return 0;
}

/* ---- intervals ---- */

#define ROWS_AT_ONCE 1024 /* some milliseconds; then the rings are looked at */

/*
 * Writes what was collected.  All rows of an interval have one time, which is not before what readers
 * have already put in order.
 */
static int write_rows(struct instrument_ctx *c, struct collected *got, bool last)
{
	struct metric_state *s = c->state;
	uint64_t time_ns = got->end_ns;
	int err = 0;

	if (time_ns < c->emit->floor_ns)
		time_ns = c->emit->floor_ns;
	while (!err && !row_queue_is_empty(&got->rows)) {
		err = metric_tables_write(&s->tabs, &got->rows, ROWS_AT_ONCE, time_ns, c->emit);
		if (!err && !last)
			err = c->meanwhile(c->meanwhile_arg);
	}
	return err;
}

static int take_rows(struct instrument_ctx *c, bool last)
{
	struct metric_state *s = c->state;
	struct collected *got = interval_collector_take(s->collector, last);
	int err;

	if (!got)
		return 0;
	for (size_t i = 0; i < got->error_count; i++)
		note_delayed_part(c->notes, got->errors[i].err, got->errors[i].what,
				  "what it has is read with the next interval");
	err = outbuf_ok(&got->rows.rows) ? write_rows(c, got, last) : -ENOMEM;
	interval_collector_give_back(s->collector);
	return err;
}

static int metric_tick(struct instrument_ctx *c, uint64_t now_ns)
{
	struct metric_state *s = c->state;
	int err = take_rows(c, false);

	if (!err && now_ns - interval_collector_since_ns(s->collector) >= c->opts->interval_ns)
		(void)interval_collector_start(s->collector);
	return err;
}

/* The kernel runs no program on a CPU on which it is running: an interrupt may be such an event. */
static void note_missed(struct instrument_ctx *c, const struct metric_state *s)
{
	struct outbuf names = { 0 };
	uint64_t missed = 0;

	for (size_t i = 0; i < s->obj_count; i++)
		missed += metric_object_missed(&s->objs[i], &names);
	c->emit->account.interrupted_count = missed;
	if (missed)
		note(c->notes, NOTE_WARNING,
		     "%llu events interrupted the program that counts them and are missing (%.*s)",
		     (unsigned long long)missed,
		     names.size_bytes > 2 ? (int)names.size_bytes - 2 : 0,
		     names.size_bytes > 2 ? (const char *)names.data + 2 : "");
	outbuf_done(&names);
}

#define LAST_TRIES 3 /* to read a table, when there is no next interval */

static bool has_unread(const struct metric_state *s)
{
	for (uint32_t i = 0; i < s->tabs.count; i++) {
		if (s->tabs.tab[i].err)
			return true;
	}
	return false;
}

static void count_unread(struct instrument_ctx *c, const struct metric_state *s)
{
	for (uint32_t i = 0; i < s->tabs.count; i++) {
		const struct metric_table *tab = &s->tabs.tab[i];
		uint64_t count = tab->err ? metric_tables_count_unread(&s->tabs, i) : 0;
		char what[96];

		if (!count)
			continue;
		snprintf(what, sizeof(what),
			 "%llu rows of the table '%s' could not be read and are lost",
			 (unsigned long long)count, tab->fmt.name);
		note_failed_part(c->notes, tab->err, what, "all others were recorded");
		while (count--)
			sink_count_unrecorded(c->emit, EBPREC_EV_METRIC);
	}
}

static int metric_augment(struct instrument_ctx *c)
{
	struct metric_state *s = c->state;
	int err, result = 0;

	note_missed(c, s);
	err = take_rows(c, true); /* of an interval that was about to end */
	if (err)
		return err;
	for (size_t i = 0; i < s->obj_count; i++)
		final_events_ending(&s->objs[i]);
	for (int tries = 0; !err && tries < LAST_TRIES && (!tries || has_unread(s)); tries++) {
		(void)interval_collector_start(s->collector);
		err = take_rows(c, true);
	}
	count_unread(c, s);
	for (size_t i = 0; i < s->obj_count && !err; i++) {
		result = final_events_emit(&s->objs[i], &s->tabs, c);
		err = writer_error(c->emit->writer);
		if (result && !err)
			note_failed_part(c->notes, result,
					 "cannot read the events that were retained for the end",
					 "those of one instrument are missing");
	}
	return err;
}

static int metric_on_event(struct instrument_ctx *c, const struct event_header *h)
{
	const struct metric_event *ev = (const void *)h;
	struct metric_state *s = c->state;
	struct event_stack_writer stack;
	struct table_row r = {
		.time_ns = h->time_ns,
		.weight = ev->weight,
		.pid = ev->pid,
		.tid = ev->tid,
		.cpu = h->cpu,
		.stack = &stack,
	};

	if (!event_stack_fits(h, EVENT_HEAD_BYTES(metric_event), &ev->stack) ||
	    ev->table >= s->tabs.count || s->tabs.tab[ev->table].key_bytes ||
	    ev->row_bytes + METRIC_ROW_OFF != s->tabs.tab[ev->table].fmt.row_bytes)
		return -EBADMSG;
	event_stack_read(&ev->stack, c->kallsyms, &stack);
	return metric_tables_row(&s->tabs, ev->table, ev->row, &r, c->emit);
}

static void metric_stop(struct instrument_ctx *c)
{
	struct metric_state *s = c->state;

	for (size_t i = 0; s && i < s->obj_count; i++)
		instrument_note_probes(c, metric_object_stop(&s->objs[i]));
}

static void metric_detach(struct instrument_ctx *c)
{
	struct metric_state *s = c->state;

	if (!s)
		return;
	interval_collector_free(s->collector);
	for (size_t i = 0; i < s->obj_count; i++)
		metric_object_close(&s->objs[i]);
	proc_counters_free(s->counters);
	metric_tables_done(&s->tabs);
	free(s);
	c->state = NULL;
}

const struct instrument inst_metric = {
	.name = "metric",
	.summary = "instruments with tables",
	.needs = NEED_BPF,
	.events = 1u << EBPREC_EV_METRIC,
	.prepare = metric_prepare,
	.attach = metric_attach,
	.cpu_back = metric_cpu_back,
	.on_event = metric_on_event,
	.tick = metric_tick,
	.augment = metric_augment,
	.stop = metric_stop,
	.detach = metric_detach,
};
