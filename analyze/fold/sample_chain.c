/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "analyze/fold/sample_chain.h"

#include <errno.h>
#include <stdlib.h>

int sample_chains_init(struct sample_chains *s, const struct capture *c,
		       const struct process_model *model, const struct name_roots *roots,
		       const struct deferred_chains *later)
{
	size_t count;
	const struct capture_attr *attrs = capture_attrs(c, &count);
	enum unwind_arch arch;

	*s = (struct sample_chains){ .later = later && later->key_count ? later : NULL };
	for (size_t i = 0; i < count; i++)
		if (user_unwinder_can(c, &attrs[i], &arch))
			return user_unwinder_new(model, roots, arch, &s->unwinder);
	return 0;
}

void sample_chains_done(struct sample_chains *s)
{
	user_unwinder_free(s->unwinder);
	*s = (struct sample_chains){ 0 };
}

int sample_chain_init(struct sample_chain *s, const struct sample_chains *chains)
{
	*s = (struct sample_chain){ .chains = chains };
	return chains->unwinder ? user_unwinder_context_new(chains->unwinder, &s->context) : 0;
}

void sample_chain_done(struct sample_chain *s)
{
	user_unwinder_context_free(s->context);
	free(s->room.words);
	*s = (struct sample_chain){ 0 };
}

int sample_chain_make(struct sample_chain *s, struct perf_sample *sample,
		      const struct capture_attr *attr, uint32_t space, enum result_place where,
		      struct stack_result *info)
{
	bool known = s->context ? user_unwinder_sample(s->context, sample,
						       attr->attr.sample_regs_user, space, info)
				: result_place_read(where, sample, info);

	if (s->chains->later && deferred_chains_join(s->chains->later, sample, &s->room))
		return -ENOMEM;
	return known;
}
