/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "record/runtime/splice.h"

#include <string.h>

struct joined {
	__u64 *frames;
	size_t count;
	const __u64 *words; /* of frames that are left */
	size_t left;
};

/* A return address may be the first byte behind the function. */
static bool is_in(const struct runtime_range *r, const struct splice_stack *s, size_t i)
{
	return s->user[i] - (i > 0) - s->words[1] - r->start < r->size_bytes;
}

static bool is_entry(const struct runtime_desc *d, const struct splice_stack *s, size_t i)
{
	if (is_in(&d->eval[0], s, i))
		return true;
	return is_in(&d->eval[1], s, i) && !(d->is_nested && i > 0 && is_in(&d->eval[0], s, i - 1));
}

static size_t count_entries(const struct splice_stack *s, const struct runtime_desc *d)
{
	size_t n = 0;

	for (size_t i = 0; i < s->user_count; i++)
		n += is_entry(d, s, i);
	return n;
}

bool splice_has_entry(const struct splice_stack *s, const struct runtime_desc *d)
{
	return count_entries(s, d) > 0;
}

/* Entries of the program's frames; a last one that is not complete counts, too. */
static size_t count_groups(const __u64 *words, size_t count)
{
	size_t n = 0;

	for (size_t i = 0; i < count; i++)
		n += words[i] & RUNTIME_FRAME_ENTRY || i + 1 == count;
	return n;
}

static void put(struct joined *j, __u64 frame)
{
	if (j->count < SPLICE_FRAMES_MAX)
		j->frames[j->count++] = frame;
}

/* The frames of one entry. */
static void put_group(struct joined *j)
{
	bool is_last = false;

	while (j->left && !is_last) {
		__u64 word = *j->words++;

		j->left--;
		is_last = word & RUNTIME_FRAME_ENTRY;
		if (!(word & RUNTIME_FRAME_NOTHING))
			put(j, SPLICE_BASE + RUNTIME_FRAME_OFFSET(word));
	}
}

static enum runtime_why leave_alone(const struct splice_stack *s, __u64 *out, size_t *count,
				    enum runtime_why why)
{
	*count = s->user_count < SPLICE_FRAMES_MAX ? s->user_count : SPLICE_FRAMES_MAX;
	memcpy(out, s->user, *count * sizeof(*out));
	return why;
}

/*
 * Whether frames and entries agree, and how many of the innermost entries have no frame: a loop was just entered or
 * is being left.  Where the process has more than one interpreter it may be in another one, and has frames there.
 */
static enum runtime_why match(const struct splice_stack *s, const struct joined *j, size_t entries,
			      enum runtime_why why, size_t *without)
{
	size_t groups = count_groups(j->words, j->left);
	bool is_outermost = !j->left || j->words[j->left - 1] & RUNTIME_FRAME_ENTRY,
	     is_near = entries == groups || entries == groups + 1;

	*without = 0;
	if (why == RUNTIME_TOO_DEEP)
		return why;
	if (why == RUNTIME_SEVERAL) {
		if (!groups || !is_outermost || !s->is_complete || !is_near)
			return entries || groups ? why : RUNTIME_COMPLETE;
		*without = entries - groups;
		return *without ? why : RUNTIME_COMPLETE;
	}
	if (!is_outermost)
		return RUNTIME_NO_MATCH;
	if (entries == 1 && !groups) /* it has no frame yet, or no more */
		return RUNTIME_NO_THREAD;
	if (s->is_complete ? !is_near : entries > groups)
		return RUNTIME_NO_MATCH;
	if (s->is_complete)
		*without = entries - groups;
	return why;
}

enum runtime_why splice_frames(const struct splice_stack *s, const struct runtime_desc *d,
			       __u64 *out, size_t *count)
{
	enum runtime_why why = (enum runtime_why)RUNTIME_WORD_WHY(s->words[0]);
	struct joined j = { .frames = out,
			    .words = s->words + RUNTIME_HEAD_WORDS,
			    .left = s->word_count - RUNTIME_HEAD_WORDS };
	size_t entries = count_entries(s, d), without;

	if (!entries && why == RUNTIME_NO_THREAD)
		return leave_alone(s, out, count, RUNTIME_COMPLETE);
	if (why != RUNTIME_COMPLETE && why != RUNTIME_TOO_DEEP && why != RUNTIME_SEVERAL)
		return leave_alone(s, out, count, why);
	why = match(s, &j, entries, why, &without);
	if (why != RUNTIME_COMPLETE && why != RUNTIME_TOO_DEEP && !without)
		return leave_alone(s, out, count, why);
	for (size_t i = 0; i < s->user_count; i++) {
		if (is_entry(d, s, i)) {
			if (!without)
				put_group(&j);
			without = 0;
		}
		/* Behind other frames an address is one to return to, and means the byte before it. */
		put(&j, s->user[i] + (!i && j.count));
	}
	while (j.left)
		put_group(&j);
	*count = j.count;
	return why;
}

enum runtime_why splice_functions(const struct splice_stack *s, __u64 *out, size_t *count)
{
	enum runtime_why why = (enum runtime_why)RUNTIME_WORD_WHY(s->words[0]);
	struct joined j = { .frames = out,
			    .words = s->words + RUNTIME_HEAD_WORDS,
			    .left = s->word_count - RUNTIME_HEAD_WORDS };

	for (size_t i = 0; i < s->user_count; i++) {
		bool is_native = true;

		for (; j.left && RUNTIME_FRAME_INDEX(*j.words) == i; j.words++, j.left--) {
			if ((*j.words ^ s->user[i]) & RUNTIME_INSTR_MASK) {
				why = RUNTIME_NO_MATCH;
				continue;
			}
			if (*j.words & RUNTIME_FRAME_BEHIND && is_native)
				put(&j, s->user[i]);
			is_native = false;
			/* The byte before it is of the function, too. */
			put(&j,
			    SPLICE_BASE +
				    (RUNTIME_FRAME_OFFSET(*j.words) & ~(__u64)RUNTIME_INSTR_MASK) +
				    1);
		}
		if (is_native)
			put(&j, s->user[i]);
	}
	*count = j.count;
	return j.left ? RUNTIME_NO_MATCH : why;
}
