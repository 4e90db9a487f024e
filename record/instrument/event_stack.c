/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "record/instrument/event_stack.h"

bool event_stack_fits(const struct event_header *h, size_t head_bytes,
		      const struct event_stack *stack)
{
	size_t frames;

	if (h->size_bytes < head_bytes)
		return false;
	frames = (size_t)stack->kernel_count + stack->user_count;
	return h->size_bytes - head_bytes >= frames * sizeof(stack->frames[0]);
}

void event_stack_read(const struct event_stack *stack, struct kernel_symbols_index *k,
		      struct event_stack_writer *out)
{
	size_t own = 0, i;

	if (k)
		own = kernel_symbols_index_tracing_frames(k, (const uint64_t *)stack->frames,
							  stack->kernel_count);
	*out = (struct event_stack_writer){
		.kernel = stack->frames + own,
		.kernel_count = stack->kernel_count - own,
		.user = stack->frames + stack->kernel_count,
		.user_count = stack->user_count,
		.info = { .how = stack->how, .why = stack->why, .flags = stack->flags },
	};
	for (i = 0; k && i < out->kernel_count; i++)
		kernel_symbols_index_touch(k, out->kernel[i]);
}
