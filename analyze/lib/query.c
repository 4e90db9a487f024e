/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "analyze/lib/query.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "analyze/lib/sized.h"

/* The size of the first release. */
#define QUERY_BYTES sizeof(struct ebprec_query)

#define ALL_BY (EBPREC_BY_COMM | EBPREC_BY_PID | EBPREC_BY_TID | EBPREC_BY_CPU | EBPREC_BY_CGROUP)
#define ALL_FLAGS                                                          \
	(EBPREC_INLINED | EBPREC_LINES | EBPREC_MANGLED | EBPREC_NO_IDLE | \
	 EBPREC_NO_KERNEL_THREADS | EBPREC_OFF_CPU | EBPREC_QUALITY_TEXT)

static int add_list(struct ebprec *e, struct filter *f, const char *text,
		    int (*add)(struct filter *f, const char *text, struct filter_error *error))
{
	struct filter_error error = { "" };
	int err = text ? add(f, text, &error) : 0;

	return err ? handle_fail(e, err, "%s", *error.text ? error.text : strerror(-err)) : 0;
}

int lib_query_filter(struct ebprec *e, const struct ebprec_query *q, struct filter *f)
{
	int err;

	filter_init(f);
	err = add_list(e, f, q->comms, filter_add_comms);
	if (!err)
		err = add_list(e, f, q->pids, filter_add_pids);
	if (!err)
		err = add_list(e, f, q->tids, filter_add_tids);
	if (!err)
		err = add_list(e, f, q->cpus, filter_add_cpus);
	f->no_idle = q->flags & EBPREC_NO_IDLE;
	f->no_kernel_threads = q->flags & EBPREC_NO_KERNEL_THREADS;
	f->span.from_ns = q->from_ns;
	if (q->to_ns)
		f->span.to_ns = q->to_ns;
	return err;
}

static int check_query(struct ebprec *e, const struct ebprec_query *q)
{
	if (q->by & ~ALL_BY)
		return handle_fail(e, -EINVAL, "by: 0x%" PRIx32 " is not known", q->by & ~ALL_BY);
	if (q->flags & ~ALL_FLAGS)
		return handle_fail(e, -EINVAL, "flags: 0x%" PRIx32 " is not known",
				   q->flags & ~ALL_FLAGS);
	if (q->reserved)
		return handle_fail(e, -EINVAL, "reserved: 0 was expected");
	if (q->to_ns && q->to_ns < q->from_ns)
		return handle_fail(e, -EINVAL, "to_ns is before from_ns");
	return 0;
}

int lib_query_take(struct ebprec *e, const struct ebprec_query *given, struct ebprec_query *out)
{
	int err = sized_take(out, sizeof(*out), QUERY_BYTES, given);

	return err ? handle_fail_structure(e, err, "ebprec_query") : check_query(e, out);
}

int lib_query_event(struct ebprec *e, const struct load_scan *scan, const char *name, size_t *out)
{
	int err = load_choose_event(e->capture, scan, name, out);

	if (!err)
		return 0;
	return name ? handle_fail(e, err, "there is no event '%s'", name)
		    : handle_fail(e, err, "there are no events");
}

struct name_roots lib_query_roots(const struct ebprec_query *q)
{
	return (struct name_roots){ .symfs = q->symfs,
				    .debug_dirs = &q->debug_dir,
				    .debug_dir_count = q->debug_dir != NULL,
				    .function_addresses = true };
}
