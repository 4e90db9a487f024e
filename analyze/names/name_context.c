/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "analyze/names/name_context.h"

#include <errno.h>
#include <stdlib.h>

#include "analyze/names/kallsyms.h"
#include "analyze/names/function_table.h"

int name_context_open(struct name_context *n, const struct capture *c, const struct load_scan *scan,
		      const struct process_model *model, const struct name_roots *roots,
		      bool demangle, unsigned thread_count)
{
	struct resolver_opts opts = {
		.roots = *roots,
		.demangle = demangle,
		.jits = scan->jits.list,
		.jit_count = scan->jits.count,
		.thread_count = thread_count,
	};
	size_t broken;
	int err;

	*n = (struct name_context){ .capture = c, .scan = scan, .model = model };
	if (embedded_get(scan->files, "[vdso]", &n->vdso, &opts.roots.vdso_bytes) == -ENOMEM)
		return -ENOMEM;
	opts.roots.vdso = n->vdso;
	err = mount_hints_read(c, &n->hints);
	if (!err)
		err = bundle_sources_read(c, &n->bundles, &broken);
	if (err)
		return err;
	opts.hints = mount_hints_for_resolver(n->hints);
	opts.bundles = n->bundles.list;
	opts.bundle_count = n->bundles.count;
	return resolver_new(&opts, &n->resolver);
}

int name_context_renew(struct name_context *n, const struct capture *c,
		       const struct load_scan *scan, const struct process_model *model)
{
	struct mount_hints *hints;
	int err = mount_hints_read(c, &hints);

	if (err)
		return err;
	resolver_renew(n->resolver, scan->jits.list, scan->jits.count,
		       mount_hints_for_resolver(hints));
	mount_hints_free(n->hints);
	n->hints = hints;
	n->capture = c;
	n->scan = scan;
	n->model = model;
	return 0;
}

void name_context_trim(struct name_context *n, unsigned reports)
{
	if (n->resolver)
		resolver_trim(n->resolver, reports);
}

void name_context_done(struct name_context *n)
{
	name_context_fold_end(n);
	resolver_free(n->resolver);
	mount_hints_free(n->hints);
	bundle_sources_done(&n->bundles);
	free(n->vdso);
	*n = (struct name_context){ .capture = NULL };
}

int name_context_ask_kernel(struct name_context *n)
{
	char *text = NULL;
	size_t size = 0;
	int err = 0;

	if (n->asked_kernel)
		return 0;
	n->asked_kernel = true;
	n->kernel_err = kallsyms_of_capture(n->capture, n->scan, &text, &size);
	if (n->kernel_err == -ENOMEM)
		return -ENOMEM;
	if (!n->kernel_err)
		err = resolver_take_kallsyms(n->resolver, text, size);
	free(text);
	return err;
}

/* symbol_buckets_read_fn */
static int read_bounds(void *arg, uint32_t file, uint64_t **out, size_t *count)
{
	struct name_context *n = arg;
	uint32_t id;
	int err;

	if (file == SYMBOL_BUCKETS_KERNEL) {
		err = name_context_ask_kernel(n);
		return err ? err : resolver_kernel_bounds(n->resolver, out, count);
	}
	id = function_table_file(n->model, file, n->resolver);
	return id == UINT32_MAX ? -ENOMEM : resolver_bounds(n->resolver, id, out, count);
}

int name_context_fold(struct name_context *n)
{
	return symbol_buckets_set_new(process_model_file_count(n->model), read_bounds, n,
				      &n->parts);
}

void name_context_fold_end(struct name_context *n)
{
	symbol_buckets_set_free(n->parts);
	n->parts = NULL;
}
