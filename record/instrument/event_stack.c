/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "record/instrument/event_stack.h"

#include "record/runtime/runtimes.h"
#include "record/unwind/unwinder.h"

/* Behind all frames. */
static const __u64 *words_of(const struct event_stack *stack)
{
	return (const __u64 *)((const uint8_t *)stack + EVENT_STACK_HEAD_BYTES) +
	       stack->kernel_count + stack->user_count;
}

bool event_stack_fits(const struct event_header *h, size_t head_bytes,
		      const struct event_stack *stack)
{
	size_t frames, there;

	if (h->size_bytes < head_bytes || stack->kernel_count > CPU_KERNEL_MAX ||
	    stack->user_count > CPU_SAMPLE_MAX)
		return false;
	frames = (size_t)stack->kernel_count + stack->user_count;
	there = (h->size_bytes - head_bytes) / sizeof(stack->frames[0]);
	if (!(stack->flags & EVENT_FLAG_RUNTIME))
		return there >= frames;
	return there >= frames + RUNTIME_HEAD_WORDS &&
	       there - frames - RUNTIME_HEAD_WORDS >= RUNTIME_WORD_COUNT(*words_of(stack)) &&
	       RUNTIME_WORD_COUNT(*words_of(stack)) <= RUNTIME_SAMPLE_MAX;
}

static void join_words(const __u64 *words, struct runtimes *runtimes,
		       struct event_stack_writer *out)
{
	size_t count = runtimes_join(runtimes, out->user, out->user_count, words,
				     RUNTIME_HEAD_WORDS + RUNTIME_WORD_COUNT(*words), &out->info);

	if (!count)
		return;
	out->user = runtimes->frames;
	out->user_count = count;
}

void event_stack_join(const struct event_stack *stack, struct runtimes *runtimes,
		      struct event_stack_writer *out)
{
	out->info.flags &= (uint16_t) ~(EVENT_FLAG_RUNTIME | CPU_FLAG_COPY_REFUSED);
	if (stack->flags & EVENT_FLAG_RUNTIME && runtimes)
		join_words(words_of(stack), runtimes, out);
}

/* NULL: there are none. */
static const __u64 *words_behind(const struct event_header *h, const void *copy, size_t stack_bytes)
{
	size_t at = (size_t)((const uint8_t *)copy - (const uint8_t *)h) +
		    ((stack_bytes + 7) & ~7ULL);
	const __u64 *words = (const __u64 *)((const uint8_t *)h + at);
	size_t there = h->size_bytes > at ? (h->size_bytes - at) / sizeof(*words) : 0;

	return there > RUNTIME_HEAD_WORDS - 1 && RUNTIME_WORD_COUNT(*words) <= RUNTIME_SAMPLE_MAX &&
			       there - RUNTIME_HEAD_WORDS >= RUNTIME_WORD_COUNT(*words)
		       ? words
		       : NULL;
}

void event_stack_join_copy(const struct event_header *h, const void *copy, size_t stack_bytes,
			   const struct unwinder_found *found, struct runtimes *runtimes,
			   struct event_stack_writer *out)
{
	const __u64 *words = runtimes ? words_behind(h, copy, stack_bytes) : NULL;
	const struct runtimes_stack c = { .number = found->runtime,
					  .base = found->runtime_base,
					  .user = found->frames,
					  .made = found->made,
					  .user_count = found->count };

	out->user = found->frames;
	out->user_count = found->count;
	out->info = found->info;
	if (words)
		join_words(words, runtimes, out);
	if (runtimes)
		runtimes_miss(runtimes, &c, words, &out->info);
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
