/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "analyze/names/name_context.h"

#include <errno.h>
#include <stdlib.h>

#include "analyze/names/kallsyms.h"
#include "analyze/names/function_table.h"

int namer_open(struct namer *n, const struct capture *c, const struct load_scan *scan,
	       const struct model *model, const struct name_roots *roots, bool demangle,
	       unsigned thread_count)
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

	*n = (struct namer){ .capture = c, .scan = scan, .model = model };
	if (embedded_get(scan->files, "[vdso]", &n->vdso, &opts.roots.vdso_bytes) == -ENOMEM)
		return -ENOMEM;
	opts.roots.vdso = n->vdso;
	err = filehints_read(c, &n->hints);
	if (!err)
		err = bundles_read(c, &n->bundles, &broken);
	if (err)
		return err;
	opts.hints = filehints_for_resolver(n->hints);
	opts.bundles = n->bundles.list;
	opts.bundle_count = n->bundles.count;
	return resolver_new(&opts, &n->resolver);
}

void namer_done(struct namer *n)
{
	namer_fold_end(n);
	resolver_free(n->resolver);
	filehints_free(n->hints);
	bundles_done(&n->bundles);
	free(n->vdso);
	*n = (struct namer){ .capture = NULL };
}

int namer_ask_kernel(struct namer *n)
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

/* codeparts_read_fn */
static int read_bounds(void *arg, uint32_t file, uint64_t **out, size_t *count)
{
	struct namer *n = arg;
	uint32_t id;
	int err;

	if (file == CODEPARTS_KERNEL) {
		err = namer_ask_kernel(n);
		return err ? err : resolver_kernel_bounds(n->resolver, out, count);
	}
	id = naming_file(n->model, file, n->resolver);
	return id == UINT32_MAX ? -ENOMEM : resolver_bounds(n->resolver, id, out, count);
}

int namer_fold(struct namer *n)
{
	return codeparts_set_new(model_file_count(n->model), read_bounds, n, &n->parts);
}

void namer_fold_end(struct namer *n)
{
	codeparts_set_free(n->parts);
	n->parts = NULL;
}
