/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "record/metric/bpf_object.h"

#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "record/metric/drop_reasons.h"
#include "record/metric/table/table_schema.h"
#include "record/metric/table/missing_tracepoints.h"
#include "record/metric/pmu_events.h"

/* ---- opening ---- */

static void set(const struct bpf_object *obj, const char *name, const void *value, uint32_t bytes)
{
	uint32_t off;
	struct bpf_map *map = table_schema_variable(obj, name, bytes, &off);
	size_t map_bytes = 0;
	char *data = map ? (char *)(uintptr_t)bpf_map__initial_value(map, &map_bytes) : NULL;

	if (data && off <= map_bytes && map_bytes - off >= bytes)
		memcpy(data + off, value, bytes);
}

void metric_object_set(const struct metric_object *o, const char *name, const void *value,
		       uint32_t bytes)
{
	set(o->obj, name, value, bytes);
}

/* After the load: where a variable is in the memory that is shared with the programs. */
void *metric_object_variable(const struct metric_object *o, const char *name, uint32_t bytes)
{
	uint32_t off;
	struct bpf_map *map = table_schema_variable(o->obj, name, bytes, &off);

	return map && o->shared && bpf_map__fd(map) == o->shared_fd &&
			       off + bytes <= o->shared_bytes
		       ? o->shared + off
		       : NULL;
}

/* Maps the section that metric_interval is in: bpf_object__load() alone does not. */
static void share_variables(struct metric_object *o)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE), bytes;
	uint32_t off;
	struct bpf_map *map = table_schema_variable(o->obj, "metric_interval", sizeof(uint32_t),
						    &off);
	void *at;

	if (!map)
		return;
	bytes = (bpf_map__value_size(map) + page - 1) & ~(page - 1);
	at = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, bpf_map__fd(map), 0);
	if (at == MAP_FAILED)
		return;
	o->shared = at;
	o->shared_fd = bpf_map__fd(map);
	o->shared_bytes = bytes;
}

static void set_knobs(const struct metric_object *o, const struct instrument_ctx *c,
		      uint64_t sample_bytes, uint32_t first)
{
	uint64_t wake_bytes = bpf_ring_wake_bytes(c->rings), slower_ns = c->opts->slower_ns;
	uint32_t max_frames = instrument_max_frames(c->opts), page_bits = instrument_page_bits();
	uint64_t namespace = c->pidns->namespace;
	bool filter = !c->targets->all, user_stacks = c->walker != NULL, each = c->opts->each;

	set(o->obj, "wake_bytes", &wake_bytes, sizeof(wake_bytes));
	set(o->obj, "page_bits", &page_bits, sizeof(page_bits));
	set(o->obj, "filter", &filter, sizeof(filter));
	set(o->obj, "pidns_level", &c->pidns->level, sizeof(c->pidns->level));
	set(o->obj, "pidns_here", &namespace, sizeof(namespace));
	set(o->obj, "user_stacks", &user_stacks, sizeof(user_stacks));
	set(o->obj, "max_frames", &max_frames, sizeof(max_frames));
	if (sample_bytes)
		set(o->obj, "sample_bytes", &sample_bytes, sizeof(sample_bytes));
	set(o->obj, "slower_ns", &slower_ns, sizeof(slower_ns));
	set(o->obj, "each", &each, sizeof(each));
	set(o->obj, "metric_first_event", &first, sizeof(first));
}

/* Without them reasons are shown by number. */
static void set_drop_reasons(const struct metric_object *o, const struct btf *kernel)
{
	struct drop_reasons reasons;
	uint32_t off;

	if (kernel && table_schema_variable(o->obj, "drop_reasons", sizeof(reasons.names), &off) &&
	    !drop_reasons_from_btf(kernel, &reasons))
		set(o->obj, "drop_reasons", reasons.names, sizeof(reasons.names));
}

/* The maps that all programs share, as far as this object has them. */
static int share_maps(const struct bpf_object *obj, const struct instrument_ctx *c)
{
	const struct unwind_bpf_maps *w = c->walker ? unwinder_space(c->walker) : NULL;
	const struct {
		const char *name;
		int fd;
	} walk[] = {
		{ "walk_chunks", w ? w->chunks_fd : -1 }, { "walk_pages", w ? w->pages_fd : -1 },
		{ "walk_rules", w ? w->rules_fd : -1 },   { "walk_maps", w ? w->maps_fd : -1 },
		{ "walk_procs", w ? w->procs_fd : -1 },   { "walk_execs", w ? w->execs_fd : -1 },
	};
	struct bpf_map *rings = bpf_object__find_map_by_name(obj, "rings"), *map;
	struct bpf_map *lost = bpf_object__find_map_by_name(obj, "lost");
	struct bpf_map *targets = bpf_object__find_map_by_name(obj, "targets");
	int err = rings && lost ? bpf_ring_share(c->rings, rings, lost) : 0;

	if (!err && targets)
		err = targets_share(c->targets, targets);
	if (!err)
		err = pid_namespace_share(c->pidns,
					  bpf_object__find_map_by_name(obj, "pidns_ending"));
	for (size_t i = 0; w && !err && i < sizeof(walk) / sizeof(walk[0]); i++) {
		map = bpf_object__find_map_by_name(obj, walk[i].name);
		if (map)
			err = bpf_map__reuse_fd(map, walk[i].fd);
	}
	return err;
}

/* Their sections name no file: malloc_probes.c attaches them. */
static bool is_uprobe(const struct bpf_program *prog)
{
	const char *section = bpf_program__section_name(prog);

	return !strcmp(section, "uprobe") || !strcmp(section, "uretprobe");
}

static void mean_uprobes(struct metric_object *o)
{
	struct bpf_program *prog;
	bool asked = false;

	bpf_object__for_each_program(prog, o->obj)
	{
		if (!is_uprobe(prog))
			continue;
		if (!asked)
			o->uprobes.by_links = uprobe_multi_have_links();
		asked = true;
		uprobe_multi_mean(&o->uprobes, prog);
	}
}

/* Kinds of single events: what the variables metric_event_N point to. */
static int add_events(struct metric_object *o, struct metric_tables *tabs)
{
	const struct btf *btf = bpf_object__btf(o->obj);
	struct metric_table *tab;
	uint32_t type, n;
	char variable[32];
	int err = 0;

	for (n = 0; !err; n++) {
		snprintf(variable, sizeof(variable), "metric_event_%u", n);
		type = btf ? table_schema_pointed(btf, variable) : 0;
		if (!type)
			break;
		err = metric_tables_add(
			tabs, btf__name_by_offset(btf, btf__type_by_id(btf, type)->name_off), &tab);
		if (!err)
			err = table_schema_fields(btf, tabs->kernel, type, METRIC_ROW_OFF, false,
						  &tab->fmt);
		if (!err && tab->fmt.row_bytes > METRIC_ROW_OFF + METRIC_EVENT_ROW_MAX)
			err = -EOVERFLOW;
	}
	return err;
}

static int add_tables(struct metric_object *o, struct metric_tables *tabs)
{
	struct metric_table *tab;
	struct bpf_map *map;
	int err = 0;

	bpf_object__for_each_map(map, o->obj)
	{
		if (err || strncmp(bpf_map__name(map), "table_", 6) != 0)
			continue;
		err = metric_tables_add_map(tabs, o->obj, map, &tab);
	}
	return err;
}

/* Their maps exist from the load on. */
static int finish_tables(struct metric_object *o, const struct instrument_ctx *c,
			 struct metric_tables *tabs)
{
	struct metric_table *tab;
	char name[METRIC_NAME_BYTES + 8];
	int err = 0;

	o->table_count = tabs->count - o->first_table;
	for (uint32_t i = o->first_table; i < tabs->count && !err; i++) {
		tab = &tabs->tab[i];
		snprintf(name, sizeof(name), "table_%s", tab->fmt.name);
		if (tab->key_bytes)
			tab->map_fd = bpf_object__find_map_fd_by_name(o->obj, name);
		err = metric_tables_describe(tabs, tab, c->attrs);
	}
	return err;
}

/* Views show it with the tables of that instrument (format/payload/metric_format.h). */
static void note_missing(const struct metric_object *o, const struct btf *kernel, const char *name,
			 const struct instrument_ctx *c)
{
	struct outbuf text = { 0 };

	if (missing_tracepoints_text(o->obj, kernel, &text) && outbuf_ok(&text))
		note(c->notes, NOTE_WARNING, "'%.20s' " METRIC_NOTE_WORDS "%s", name,
		     (const char *)text.data);
	outbuf_done(&text);
}

int metric_object_open(struct metric_object *o, const char *name, const void *elf, size_t elf_bytes,
		       unsigned sample_bytes, const struct instrument_ctx *c,
		       struct metric_tables *tabs)
{
	struct bpf_object_open_opts opts = { .sz = sizeof(opts), .object_name = name };
	char lacks[64], what[128];
	uint32_t first_event;
	int err;

	*o = (struct metric_object){ .first_table = tabs->count,
				     .where = { c->cpus, c->reopener },
				     .possible_cpus = libbpf_num_possible_cpus() };
	snprintf(what, sizeof(what), "cannot load '%.60s'", name);
	if (o->possible_cpus < 0)
		return note_fail(c->notes, o->possible_cpus, NULL, "%s", what);
	o->obj = bpf_object__open_mem(elf, elf_bytes, &opts);
	if (!o->obj)
		return note_fail(c->notes, -errno, "is it a BPF object?", "%s", what);
	if (missing_tracepoints_fails(o->obj, tabs->kernel, lacks))
		return note_fail(c->notes, -ENOENT, "a kernel that has it is needed",
				 "cannot record '%.60s', no tracepoint '%s'", name, lacks);
	missing_tracepoints_leave_out(o->obj, tabs->kernel);
	err = add_tables(o, tabs);
	first_event = tabs->count;
	if (!err)
		err = add_events(o, tabs);
	if (!err && tabs->count == o->first_table)
		err = -ENODATA;
	if (err)
		return note_fail(c->notes, err, "see docs/instruments/custom.md",
				 "cannot understand the tables of '%.60s'", name);
	set_knobs(o, c, sample_bytes, first_event);
	set_drop_reasons(o, tabs->kernel);
	err = pmu_events_name(o, c, tabs);
	if (err)
		return err;
	mean_uprobes(o);
	err = share_maps(o->obj, c);
	if (!err)
		err = bpf_object__load(o->obj);
	if (err == -EACCES) /* of a right that is missing: EPERM */
		return note_fail(c->notes, err, "the kernel's verifier refuses it", "%s", what);
	if (err)
		return instrument_fail((struct instrument_ctx *)c, err, what);
	err = pmu_events_count(o, c);
	if (err)
		return err;
	share_variables(o);
	o->interval = metric_object_variable(o, "metric_interval", sizeof(*o->interval));
	if (!o->interval && tabs->count > o->first_table)
		return note_fail(c->notes, -EINVAL, "see docs/instruments/custom.md",
				 "'%.60s' has no variable metric_interval", name);
	err = finish_tables(o, c, tabs);
	if (!err)
		note_missing(o, tabs->kernel, name, c);
	return err;
}

/* ---- running ---- */

/* Run by us on every CPU: its name ends with _flush. */
static bool is_flush(const struct bpf_program *prog)
{
	const char *name = bpf_program__name(prog);
	size_t bytes = strlen(name);

	return bytes > 6 && !strcmp(name + bytes - 6, "_flush");
}

int metric_object_attach(struct metric_object *o, uint64_t now_ns)
{
	struct bpf_program *prog;
	struct bpf_link *link;
	uint64_t *start = metric_object_variable(o, "metric_start_ns", sizeof(*start));
	const char *section;
	bool is_iter;
	int err;

	if (start)
		*start = now_ns;
	bpf_object__for_each_program(prog, o->obj)
	{
		if (!bpf_program__autoload(prog))
			continue;
		if (is_flush(prog)) {
			if (o->flush_count < METRIC_OBJECT_FLUSHES_MAX)
				o->flush_fds[o->flush_count++] = bpf_program__fd(prog);
			continue;
		}
		if (object_perf_events_is(prog)) {
			err = object_perf_events_attach(&o->perf, prog, &o->where);
			if (err)
				return err;
			continue;
		}
		section = bpf_program__section_name(prog);
		if (is_uprobe(prog) || !strcmp(section, "perf_event")) /* record/pmuevents */
			continue;
		is_iter = !strncmp(section, "iter/", 5);
		if ((is_iter ? o->iter_count : o->link_count) == METRIC_OBJECT_LINKS_MAX)
			return -EOVERFLOW;
		link = bpf_program__attach(prog);
		if (!link)
			return -errno;
		if (is_iter)
			o->iters[o->iter_count++] = link;
		else
			o->links[o->link_count++] = link;
	}
	return metric_object_walk(o);
}

size_t metric_object_stop(struct metric_object *o)
{
	size_t left;

	while (o->link_count)
		bpf_link__destroy(o->links[--o->link_count]);
	left = uprobe_multi_end(&o->uprobes);
	object_perf_events_done(&o->perf);
	return left;
}

/*
 * On every CPU that is online; of others it is -ENXIO.  No list of CPUs: the thread that runs this is not the
 * one that adds to it those that come.
 */
static int run_on_cpus(const struct metric_object *o, int fd)
{
	LIBBPF_OPTS(bpf_test_run_opts, opts, .flags = BPF_F_TEST_RUN_ON_CPU);
	int err;

	for (int cpu = 0; cpu < o->possible_cpus; cpu++) {
		opts.cpu = (uint32_t)cpu;
		err = bpf_prog_test_run_opts(fd, &opts);
		if (err && err != -ENXIO)
			return err;
	}
	return 0;
}

int metric_object_walk(const struct metric_object *o)
{
	char none[64];
	int fd, err;

	for (size_t i = 0; i < o->flush_count; i++) {
		err = run_on_cpus(o, o->flush_fds[i]);
		if (err)
			return err;
	}
	for (size_t i = 0; i < o->iter_count; i++) {
		fd = bpf_iter_create(bpf_link__fd(o->iters[i]));
		if (fd < 0)
			return -errno;
		while (read(fd, none, sizeof(none)) > 0)
			;
		close(fd);
	}
	return 0;
}

uint64_t metric_object_missed(const struct metric_object *o, struct outbuf *names)
{
	struct bpf_program *prog;
	uint64_t missed = 0;

	bpf_object__for_each_program(prog, o->obj)
	{
		struct bpf_prog_info info = { 0 };
		uint32_t bytes = sizeof(info);

		if (bpf_program__fd(prog) < 0 ||
		    bpf_obj_get_info_by_fd(bpf_program__fd(prog), &info, &bytes) ||
		    !info.recursion_misses)
			continue;
		missed += info.recursion_misses;
		outbuf_printf(names, ", %s %llu", bpf_program__name(prog),
			      (unsigned long long)info.recursion_misses);
	}
	return missed;
}

void metric_object_close(struct metric_object *o)
{
	(void)metric_object_stop(o);
	while (o->iter_count)
		bpf_link__destroy(o->iters[--o->iter_count]);
	if (o->shared)
		munmap(o->shared, o->shared_bytes);
	bpf_object__close(o->obj); /* NULL is fine */
	*o = (struct metric_object){ 0 };
}
