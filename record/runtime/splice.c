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

/*
 * Perl's docatch(), which runs on from an eval in a loop of its own, is all that lies between that and the one that it is
 * in: both are one entry.
 */
static bool is_docatch(const struct runtime_desc *d, const struct splice_stack *s, size_t i)
{
	return i >= 2 && is_in(&d->eval[0], s, i - 2) && !is_in(&d->eval[0], s, i - 1);
}

static bool is_entry(const struct runtime_desc *d, const struct splice_stack *s, size_t i)
{
	if (d->kind == RUNTIME_PERL)
		return is_in(&d->eval[0], s, i) && !is_docatch(d, s, i);
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

/* Whether the loop of Perl's main program runs: perl_run() calls it, or a function that it calls. */
static bool runs_main(const struct runtime_desc *d, const struct splice_stack *s)
{
	for (size_t i = 0; i + 1 < s->user_count; i++)
		if (is_in(&d->eval[0], s, i) &&
		    (is_in(&d->eval[1], s, i + 1) ||
		     (i + 2 < s->user_count && is_in(&d->eval[1], s, i + 2))))
			return true;
	return false;
}

static size_t count_words(const struct joined *j, __u64 flag)
{
	size_t n = 0;

	for (size_t i = 0; i < j->left; i++)
		n += !!(j->words[i] & flag);
	return n;
}

static void drop_group(struct joined *j)
{
	bool is_last = false;

	while (j->left && !is_last) {
		is_last = *j->words & RUNTIME_FRAME_ENTRY;
		j->words++;
		j->left--;
	}
}

/*
 * Makes groups of Perl's frames one for each entry.  Those of the main program have none while it is compiled, and after its end;
 * a sub that a block of a sort calls last looks like one that C code called from there, and both are right where the
 * entries are as many; and the innermost group may have none yet, which is not known of it alone where C code calls
 * another one again and again.
 */
static enum runtime_why match_perl(const struct splice_stack *s, const struct runtime_desc *d,
				   struct joined *j, __u64 *words, enum runtime_why why)
{
	size_t entries = count_entries(s, d), groups, joins;

	if (j->left > RUNTIME_SAMPLE_MAX)
		return RUNTIME_NO_MATCH;
	if (!s->is_complete || why == RUNTIME_TOO_DEEP)
		return count_words(j, RUNTIME_FRAME_JOINS | RUNTIME_FRAME_MAYBE) ? RUNTIME_NO_MATCH
										 : why;
	if (!entries) /* between its end and the contexts' */
		j->left = 0;
	if (j->left && !runs_main(d, s))
		j->left--;
	joins = count_words(j, RUNTIME_FRAME_JOINS);
	groups = count_words(j, RUNTIME_FRAME_ENTRY);
	if (joins && entries == groups - joins) {
		for (size_t i = 0; i < j->left; i++)
			words[i] = j->words[i] & RUNTIME_FRAME_JOINS
					   ? j->words[i] & ~RUNTIME_FRAME_ENTRY
					   : j->words[i];
		j->words = words;
		return RUNTIME_COMPLETE;
	}
	if (joins && entries != groups)
		return RUNTIME_NO_MATCH;
	if (entries + 1 == groups) {
		drop_group(j);
		return count_words(j, RUNTIME_FRAME_MAYBE) ? RUNTIME_NO_MATCH : RUNTIME_COMPLETE;
	}
	return RUNTIME_COMPLETE;
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

/*
 * Whether code may be compiled that has the frames of the interpreter: Ruby's and PHP's compilers store an instruction there
 * only where others need it, and keep no native frame.
 */
static bool is_compiled(const struct splice_stack *s, const struct runtime_desc *d, size_t entries)
{
	return (d->kind == RUNTIME_RUBY || d->kind == RUNTIME_PHP) && !entries && !s->is_complete &&
	       !s->ends_in_file && RUNTIME_WORD_WHY(s->words[0]) != RUNTIME_NO_THREAD;
}

enum runtime_why splice_frames(const struct splice_stack *s, const struct runtime_desc *d,
			       __u64 *out, size_t *count)
{
	enum runtime_why why = (enum runtime_why)RUNTIME_WORD_WHY(s->words[0]);
	struct joined j = { .frames = out,
			    .words = s->words + RUNTIME_HEAD_WORDS,
			    .left = s->word_count - RUNTIME_HEAD_WORDS };
	size_t entries = count_entries(s, d), without;
	__u64 words[RUNTIME_SAMPLE_MAX];

	if (is_compiled(s, d, entries))
		return leave_alone(s, out, count, RUNTIME_COMPILED);
	/* Perl's interpreter is made, or ends, and runs nothing: perl_run() alone is on the stack. */
	if (!entries &&
	    (why == RUNTIME_NO_THREAD || (d->kind == RUNTIME_PERL && why == RUNTIME_UNKNOWN)))
		return leave_alone(s, out, count, RUNTIME_COMPLETE);
	if (why != RUNTIME_COMPLETE && why != RUNTIME_TOO_DEEP && why != RUNTIME_SEVERAL)
		return leave_alone(s, out, count, why);
	if (d->kind == RUNTIME_PERL && why != RUNTIME_SEVERAL) {
		why = match_perl(s, d, &j, words, why);
		if (why == RUNTIME_NO_MATCH)
			return leave_alone(s, out, count, why);
	}
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

/* Whether the frames with functions are those that BPF saw. */
static bool are_same(const struct splice_stack *s)
{
	size_t last = s->user_count;
	uint32_t sum = 0;

	for (size_t i = RUNTIME_HEAD_WORDS; i < s->word_count; i++) {
		size_t index = RUNTIME_FRAME_INDEX(s->words[i]);

		if (index >= s->user_count)
			return false;
		if (index != last)
			sum = RUNTIME_SUM(sum, s->user[index]);
		last = index;
	}
	return sum == RUNTIME_WORD_SUM(s->words[0]);
}

enum runtime_why splice_functions(const struct splice_stack *s, __u64 *out, size_t *count)
{
	struct joined j = { .frames = out,
			    .words = s->words + RUNTIME_HEAD_WORDS,
			    .left = s->word_count - RUNTIME_HEAD_WORDS };

	if (!are_same(s))
		return leave_alone(s, out, count, RUNTIME_NO_MATCH);
	for (size_t i = 0; i < s->user_count; i++) {
		if (!j.left || RUNTIME_FRAME_INDEX(*j.words) != i ||
		    *j.words & RUNTIME_FRAME_BEHIND)
			put(&j, s->user[i]);
		for (; j.left && RUNTIME_FRAME_INDEX(*j.words) == i; j.words++, j.left--)
			put(&j, SPLICE_BASE + RUNTIME_FRAME_OFFSET(*j.words));
	}
	*count = j.count;
	return j.left ? RUNTIME_NO_MATCH : (enum runtime_why)RUNTIME_WORD_WHY(s->words[0]);
}
