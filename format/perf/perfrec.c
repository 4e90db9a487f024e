/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * Samples; all other records are in perfrec_side.c.
 *
 * The order of a sample's fields is that of perf_output_sample() in the kernel, which the comment
 * in <linux/perf_event.h> does not follow to the end: CGROUP and the page sizes come before AUX.
 * Fields of bits above those of Linux 6.18 would come last and are ignored.
 */
#include "format/perf/perfrec_priv.h"

/* Linux 6.8; not in every <linux/perf_event.h>. */
#define BRANCH_COUNTERS    (1ULL << 19)
#define BRANCH_ENTRY_BYTES 24
#define ABI_LAST           PERF_SAMPLE_REGS_ABI_64

/* The fields of a sample up to the chain: eight bytes each. */
#define WORDS                                                                           \
	(PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | \
	 PERF_SAMPLE_ADDR | PERF_SAMPLE_ID | PERF_SAMPLE_STREAM_ID | PERF_SAMPLE_CPU |  \
	 PERF_SAMPLE_PERIOD)

/*
 * struct read_format.  For one event the value comes before its times and the id behind them; for a
 * group the times come first.
 */
static void read_counts(struct cursor *c, uint64_t read_format, struct perf_sample *s)
{
	size_t times = !!(read_format & PERF_FORMAT_TOTAL_TIME_ENABLED) +
		       !!(read_format & PERF_FORMAT_TOTAL_TIME_RUNNING);
	bool group = read_format & PERF_FORMAT_GROUP, has_id = read_format & PERF_FORMAT_ID;
	size_t words = 1 + has_id + !!(read_format & PERF_FORMAT_LOST);
	uint64_t count = 1;

	if (group) {
		count = cursor_u64(c);
		cursor_skip(c, times * 8);
	} else {
		words += times;
	}
	s->read = cursor_array(c, count, words * 8);
	s->read_count = s->read ? (size_t)count : 0;
	s->read_words = (uint8_t)words;
	s->id_word = has_id ? (uint8_t)(group ? 1 : 1 + times) : 0;
}

struct perfrec_count perfrec_count(const struct perf_sample *s, size_t i)
{
	const uint8_t *p = s->read + i * s->read_words * 8;

	return (struct perfrec_count){ .id = s->id_word ? le64_load(p + 8 * s->id_word) : 0,
				       .value = le64_load(p) };
}

/*
 * The hardware index is always there when asked for, as perf reads it.  The kernel leaves it out
 * when it has no branch stack at all; such a sample ends with this field or is called broken.
 */
static void read_branches(struct cursor *c, uint64_t branch_type, struct perfrec_rest *rest)
{
	uint64_t count = cursor_u64(c);

	if (branch_type & PERF_SAMPLE_BRANCH_HW_INDEX && (count || cursor_left(c)))
		cursor_skip(c, 8);
	rest->branches = cursor_array(c, count, BRANCH_ENTRY_BYTES);
	rest->branch_bytes = rest->branches ? (size_t)count * BRANCH_ENTRY_BYTES : 0;
	if (branch_type & BRANCH_COUNTERS)
		(void)cursor_array(c, count, 8);
}

static const char *read_regs(struct cursor *c, uint64_t mask, uint64_t *abi, const uint8_t **regs)
{
	*abi = cursor_u64(c);
	*regs = NULL;
	if (*abi > ABI_LAST)
		return "unknown ABI of registers";
	if (*abi)
		*regs = cursor_array(c, (uint64_t)__builtin_popcountll(mask), 8);
	return NULL;
}

static const char *read_stack(struct cursor *c, struct perf_sample *s)
{
	uint64_t copied_bytes, size_bytes = cursor_u64(c);

	if (!size_bytes)
		return NULL; /* then there is no dynamic size either */
	s->user_stack = cursor_array(c, size_bytes, 1);
	copied_bytes = cursor_u64(c);
	if (copied_bytes > size_bytes)
		return "stack copy larger than its room";
	s->user_stack_bytes = (size_t)copied_bytes;
	s->user_stack_room_bytes = (size_t)size_bytes;
	return NULL;
}

/* From IDENTIFIER to PERIOD: a row of words. */
static void read_words(struct cursor *c, uint64_t type, struct perf_sample *s)
{
	if (type & PERF_SAMPLE_IDENTIFIER)
		s->id = cursor_u64(c);
	if (type & PERF_SAMPLE_IP)
		s->ip = cursor_u64(c);
	if (type & PERF_SAMPLE_TID) {
		s->pid = cursor_u32(c);
		s->tid = cursor_u32(c);
	}
	if (type & PERF_SAMPLE_TIME)
		s->time_ns = cursor_u64(c);
	if (type & PERF_SAMPLE_ADDR)
		s->addr = cursor_u64(c);
	if (type & PERF_SAMPLE_ID)
		s->id = cursor_u64(c);
	if (type & PERF_SAMPLE_STREAM_ID)
		s->stream_id = cursor_u64(c);
	if (type & PERF_SAMPLE_CPU) {
		s->cpu = (int32_t)cursor_u32(c);
		cursor_skip(c, 4);
	}
	if (type & PERF_SAMPLE_PERIOD)
		s->period = cursor_u64(c);
}

/* From READ to STACK_USER: the parts of varying size.  Returns the error, or NULL. */
static const char *read_arrays(struct cursor *c, const struct perf_event_attr *attr,
			       struct perf_sample *s, struct perfrec_rest *rest)
{
	uint64_t type = attr->sample_type;
	const char *what = NULL;

	if (type & PERF_SAMPLE_READ)
		read_counts(c, attr->read_format, s);
	if (type & PERF_SAMPLE_CALLCHAIN) {
		uint64_t count = cursor_u64(c);

		s->chain = cursor_array(c, count, 8);
		s->chain_count = s->chain ? (size_t)count : 0;
	}
	if (type & PERF_SAMPLE_RAW) {
		s->raw_bytes = cursor_u32(c);
		s->raw = cursor_bytes(c, s->raw_bytes);
	}
	if (type & PERF_SAMPLE_BRANCH_STACK)
		read_branches(c, attr->branch_sample_type, rest);
	if (type & PERF_SAMPLE_REGS_USER)
		what = read_regs(c, attr->sample_regs_user, &s->user_regs_abi, &s->user_regs);
	if (!what && type & PERF_SAMPLE_STACK_USER)
		what = read_stack(c, s);
	return what;
}

/* From WEIGHT to AUX. */
static const char *read_rest(struct cursor *c, const struct perf_event_attr *attr,
			     struct perf_sample *s, struct perfrec_rest *rest)
{
	uint64_t abi, type = attr->sample_type;
	const char *what = NULL;

	if (type & (PERF_SAMPLE_WEIGHT | PERF_SAMPLE_WEIGHT_STRUCT))
		s->weight = cursor_u64(c);
	if (type & PERF_SAMPLE_WEIGHT_STRUCT)
		s->weight &= UINT32_MAX; /* the rest are latencies of stages */
	if (type & PERF_SAMPLE_DATA_SRC)
		s->data_src = cursor_u64(c);
	if (type & PERF_SAMPLE_TRANSACTION)
		cursor_skip(c, 8);
	if (type & PERF_SAMPLE_REGS_INTR)
		what = read_regs(c, attr->sample_regs_intr, &abi, &rest->intr_regs);
	if (type & PERF_SAMPLE_PHYS_ADDR)
		rest->phys_addr = cursor_bytes(c, 8);
	if (type & PERF_SAMPLE_CGROUP)
		s->cgroup = cursor_u64(c);
	if (type & PERF_SAMPLE_DATA_PAGE_SIZE)
		cursor_skip(c, 8);
	if (type & PERF_SAMPLE_CODE_PAGE_SIZE)
		cursor_skip(c, 8);
	if (type & PERF_SAMPLE_AUX) {
		uint64_t bytes = cursor_u64(c);

		rest->aux = cursor_array(c, bytes, 1);
		rest->aux_bytes = rest->aux ? (size_t)bytes : 0;
	}
	return what;
}

static uint64_t next_word(const uint8_t *p, size_t *at)
{
	*at += 8;
	return le64_load(p + *at - 8);
}

/* read_words() where it is known that all are there. */
static void take_words(const uint8_t *p, uint64_t type, struct perf_sample *s)
{
	size_t at = 0;

	if (type & PERF_SAMPLE_IDENTIFIER)
		s->id = next_word(p, &at);
	if (type & PERF_SAMPLE_IP)
		s->ip = next_word(p, &at);
	if (type & PERF_SAMPLE_TID) {
		s->pid = le32_load(p + at);
		s->tid = le32_load(p + at + 4);
		at += 8;
	}
	if (type & PERF_SAMPLE_TIME)
		s->time_ns = next_word(p, &at);
	if (type & PERF_SAMPLE_ADDR)
		s->addr = next_word(p, &at);
	if (type & PERF_SAMPLE_ID)
		s->id = next_word(p, &at);
	if (type & PERF_SAMPLE_STREAM_ID)
		s->stream_id = next_word(p, &at);
	if (type & PERF_SAMPLE_CPU)
		s->cpu = (int32_t)next_word(p, &at);
	if (type & PERF_SAMPLE_PERIOD)
		s->period = next_word(p, &at);
}

/*
 * A sample of words, a chain, raw data and a cgroup alone, as most are.  Each length is looked at once,
 * and *out is written only when all of them fit; false: it is to be read field by field.
 */
static bool read_plain(const uint8_t *rec, size_t size_bytes, uint64_t type, uint16_t misc,
		       struct perf_sample *out)
{
	size_t words = (size_t)__builtin_popcountll(type & WORDS);
	size_t chain = HEADER_BYTES + 8 * words, at = chain, raw;
	uint64_t chain_count = 0, raw_bytes = 0;

	if (type & ~(WORDS | PERF_SAMPLE_CALLCHAIN | PERF_SAMPLE_RAW | PERF_SAMPLE_CGROUP) ||
	    size_bytes < at)
		return false;
	if (type & PERF_SAMPLE_CALLCHAIN) {
		if (size_bytes - at < 8)
			return false;
		chain_count = le64_load(rec + at);
		at += 8;
		if (chain_count > (size_bytes - at) / 8)
			return false;
		at += 8 * (size_t)chain_count;
	}
	raw = at;
	if (type & PERF_SAMPLE_RAW) {
		if (size_bytes - at < 4)
			return false;
		raw_bytes = le32_load(rec + at);
		at += 4;
		if (raw_bytes > size_bytes - at)
			return false;
		at += (size_t)raw_bytes;
	}
	if (type & PERF_SAMPLE_CGROUP && size_bytes - at < 8)
		return false;
	*out = (struct perf_sample){ .cpu = -1, .cpumode = misc & PERF_RECORD_MISC_CPUMODE_MASK };
	take_words(rec + HEADER_BYTES, type, out);
	if (type & PERF_SAMPLE_CALLCHAIN) {
		out->chain = rec + chain + 8;
		out->chain_count = (size_t)chain_count;
	}
	if (type & PERF_SAMPLE_RAW) {
		out->raw = rec + raw + 4;
		out->raw_bytes = (uint32_t)raw_bytes;
	}
	if (type & PERF_SAMPLE_CGROUP)
		out->cgroup = le64_load(rec + at);
	return true;
}

/* A function of its own: clearing a second struct took as long as reading a plain sample. */
static __attribute__((noinline)) int read_fields(struct cursor *c, uint16_t misc,
						 const struct perf_event_attr *attr,
						 struct perf_sample *out, struct perfrec_rest *rest,
						 struct parse_err *err)
{
	struct perf_sample s = { .cpu = -1, .cpumode = misc & PERF_RECORD_MISC_CPUMODE_MASK };
	const char *what;

	read_words(c, attr->sample_type, &s);
	what = read_arrays(c, attr, &s, rest);
	if (!what)
		what = read_rest(c, attr, &s, rest);
	if (!cursor_ok(c))
		what = "sample ends inside a field";
	if (what)
		return parse_fail(err, -EBADMSG, c->off_bytes, what);
	*out = s;
	return 0;
}

int perfrec_sample(const void *rec, size_t size_bytes, const struct perf_event_attr *attr,
		   struct perf_sample *out, struct parse_err *err)
{
	struct perfrec_rest rest;
	struct cursor c;
	struct head h;
	int ret;

	ret = head_read(rec, size_bytes, &c, &h, err);
	if (ret)
		return ret;
	if (h.type != PERF_RECORD_SAMPLE)
		return parse_fail(err, -EBADMSG, 0, "record is not a sample");
	if (read_plain(rec, size_bytes, attr->sample_type, h.misc, out))
		return 0;
	return read_fields(&c, h.misc, attr, out, &rest, err);
}

int perfrec_sample_rest(const void *rec, size_t size_bytes, const struct perf_event_attr *attr,
			struct perfrec_rest *out)
{
	struct perfrec_rest rest = { .branches = NULL };
	struct perf_sample s;
	struct cursor c;
	struct head h;
	int err;

	if (attr->sample_type & ~PERFREC_SAMPLE_KNOWN)
		return -ENOTSUP;
	err = head_read(rec, size_bytes, &c, &h, NULL);
	if (!err)
		err = h.type == PERF_RECORD_SAMPLE ? read_fields(&c, h.misc, attr, &s, &rest, NULL)
						   : -EBADMSG;
	if (!err)
		*out = rest;
	return err;
}

uint64_t perfrec_sample_time(const void *rec, size_t size_bytes, const struct perf_event_attr *attr)
{
	uint64_t type = attr->sample_type;
	size_t off_bytes = HEADER_BYTES +
			   8 * (size_t)(!!(type & PERF_SAMPLE_IDENTIFIER) +
					!!(type & PERF_SAMPLE_IP) + !!(type & PERF_SAMPLE_TID));

	if (!(type & PERF_SAMPLE_TIME) || size_bytes < off_bytes + 8)
		return 0;
	return le64_load((const uint8_t *)rec + off_bytes);
}

bool perfrec_sample_ids(const void *rec, size_t size_bytes, const struct perf_event_attr *attr,
			uint32_t *pid, uint32_t *tid)
{
	uint64_t type = attr->sample_type;
	size_t off_bytes = HEADER_BYTES + 8 * (size_t)(!!(type & PERF_SAMPLE_IDENTIFIER) +
						       !!(type & PERF_SAMPLE_IP));

	if (!(type & PERF_SAMPLE_TID) || size_bytes < off_bytes + 8)
		return false;
	*pid = le32_load((const uint8_t *)rec + off_bytes);
	*tid = le32_load((const uint8_t *)rec + off_bytes + 4);
	return true;
}
