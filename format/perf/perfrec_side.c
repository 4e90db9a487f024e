/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* Records that are not samples, and the sample_id tail that ends them: thread, time and CPU. */
#include <string.h>
#include <sys/mman.h>

#include "format/base/buildid.h"
#include "format/perf/perfrec_priv.h"

size_t perfrec_tail_bytes(const struct perf_event_attr *attr)
{
	uint64_t type = attr->sample_type;

	if (!attr->sample_id_all)
		return 0;
	return 8 * (size_t)(!!(type & PERF_SAMPLE_TID) + !!(type & PERF_SAMPLE_TIME) +
			    !!(type & PERF_SAMPLE_ID) + !!(type & PERF_SAMPLE_STREAM_ID) +
			    !!(type & PERF_SAMPLE_CPU) + !!(type & PERF_SAMPLE_IDENTIFIER));
}

/* Bytes of header and body, padded; 0: not one of the records that the kernel stretches. */
static size_t body_end(const uint8_t *rec, size_t size_bytes)
{
	struct cursor c = cursor_of(rec, size_bytes);
	uint32_t type = cursor_u32(&c);

	cursor_skip(&c, 4);
	switch (type) {
	case PERF_RECORD_KSYMBOL:
		cursor_skip(&c, 16);
		(void)cursor_str(&c);
		break;
	case PERF_RECORD_BPF_EVENT:
		cursor_skip(&c, 16);
		break;
	case PERF_RECORD_TEXT_POKE:
		cursor_skip(&c, 8);
		cursor_skip(&c, (size_t)cursor_u16(&c) + cursor_u16(&c));
		break;
	default:
		return 0;
	}
	return cursor_ok(&c) ? (c.off_bytes + 7) & ~(size_t)7 : 0;
}

size_t perfrec_true_size(const void *rec, size_t size_bytes, size_t tail_bytes)
{
	size_t body = body_end(rec, size_bytes);

	return body && body <= size_bytes && size_bytes - body > tail_bytes ? body + tail_bytes
									    : size_bytes;
}

static void id_tail_read(struct cursor *c, const struct perf_event_attr *attr,
			 struct perfrec_id *out)
{
	uint64_t type = attr->sample_id_all ? attr->sample_type : 0;

	*out = (struct perfrec_id){ .cpu = -1 };
	if (type & PERF_SAMPLE_TID) {
		out->pid = cursor_u32(c);
		out->tid = cursor_u32(c);
	}
	if (type & PERF_SAMPLE_TIME)
		out->time_ns = cursor_u64(c);
	if (type & PERF_SAMPLE_ID)
		out->id = cursor_u64(c);
	if (type & PERF_SAMPLE_STREAM_ID)
		cursor_skip(c, 8);
	if (type & PERF_SAMPLE_CPU) {
		out->cpu = (int32_t)cursor_u32(c);
		cursor_skip(c, 4);
	}
	if (type & PERF_SAMPLE_IDENTIFIER)
		out->id = cursor_u64(c);
}

uint64_t perfrec_identifier(const void *rec, size_t size_bytes, const struct perf_event_attr *attr)
{
	uint64_t type = attr->sample_type;
	size_t words, off_bytes;
	struct cursor c;
	struct head h;

	if (head_read(rec, size_bytes, &c, &h, NULL) ||
	    !(type & (PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_ID)))
		return 0;
	if (h.type == PERF_RECORD_SAMPLE) {
		if (!(type & PERF_SAMPLE_IDENTIFIER))
			cursor_skip(&c, 8 * (size_t)__builtin_popcountll(
						    type & (PERF_SAMPLE_IP | PERF_SAMPLE_TID |
							    PERF_SAMPLE_TIME | PERF_SAMPLE_ADDR)));
		return cursor_u64(&c);
	}
	if (!attr->sample_id_all || h.type >= USER_FIRST)
		return 0;
	c.size_bytes = perfrec_true_size(rec, size_bytes, perfrec_tail_bytes(attr));
	words = 1;
	if (!(type & PERF_SAMPLE_IDENTIFIER))
		words += !!(type & PERF_SAMPLE_CPU) + !!(type & PERF_SAMPLE_STREAM_ID);
	if (cursor_left(&c) < words * 8)
		return 0;
	off_bytes = cursor_left(&c) - words * 8;
	cursor_skip(&c, off_bytes);
	return cursor_u64(&c);
}

uint64_t perfrec_time(const void *rec, size_t size_bytes, const struct perf_event_attr *attr)
{
	size_t tail_bytes = perfrec_tail_bytes(attr), end;
	size_t off_bytes = attr->sample_type & PERF_SAMPLE_TID ? 8 : 0;

	if (size_bytes < HEADER_BYTES + tail_bytes || tail_bytes < off_bytes + 8 ||
	    !(attr->sample_type & PERF_SAMPLE_TIME) || le32_load(rec) >= USER_FIRST)
		return 0;
	end = perfrec_true_size(rec, size_bytes, tail_bytes);
	return le64_load((const uint8_t *)rec + end - tail_bytes + off_bytes);
}

/*
 * Whether the record has a build-id instead of the inode.  The misc bit alone is not enough: while
 * another event with attr.build_id listens on the CPU, Linux 6.18 sets it in all events' records
 * (perf_event_mmap_output() puts back the header's type and size, not its misc).  Ids that were put
 * in later (perf inject) have 20 bytes; a device number has that major where no block device is.
 */
static bool has_build_id(const struct cursor *c, uint16_t misc, const struct perf_event_attr *attr)
{
	struct cursor size = *c;

	return misc & PERF_RECORD_MISC_MMAP_BUILD_ID &&
	       (attr->build_id || cursor_u32(&size) == BUILDID_MAX_BYTES);
}

/* The identity of a mapped file. */
static const char *mmap_identity(struct cursor *c, uint16_t misc,
				 const struct perf_event_attr *attr, struct perfrec_mmap *m)
{
	static const uint8_t none[BUILDID_MAX_BYTES];
	struct buildid *build_id = &m->id.build_id;
	const uint8_t *bytes;

	if (!has_build_id(c, misc, attr)) {
		m->id.dev_major = cursor_u32(c);
		m->id.dev_minor = cursor_u32(c);
		m->id.inode = cursor_u64(c);
		m->id.inode_generation = cursor_u64(c);
		return NULL;
	}
	build_id->size_bytes = cursor_u8(c);
	cursor_skip(c, 3);
	bytes = cursor_bytes(c, BUILDID_MAX_BYTES);
	if (build_id->size_bytes > BUILDID_MAX_BYTES)
		return "build-id longer than its room";
	if (bytes)
		memcpy(build_id->bytes, bytes, build_id->size_bytes);
	if (!memcmp(build_id->bytes, none, build_id->size_bytes))
		build_id->size_bytes = 0;
	return NULL;
}

static const char *mmap_read(struct cursor *c, const struct head *h,
			     const struct perf_event_attr *attr, struct perfrec_mmap *m)
{
	const char *what = NULL;

	m->pid = cursor_u32(c);
	m->tid = cursor_u32(c);
	m->start = cursor_u64(c);
	m->size_bytes = cursor_u64(c);
	m->file_off_bytes = cursor_u64(c);
	if (h->type == PERF_RECORD_MMAP2) {
		what = mmap_identity(c, h->misc, attr, m);
		m->prot = cursor_u32(c);
		m->flags = cursor_u32(c);
	} else if (!(h->misc & PERF_RECORD_MISC_MMAP_DATA)) {
		m->prot = PROT_EXEC;
	}
	m->path = cursor_str(c);
	return what;
}

static void comm_read(struct cursor *c, uint16_t misc, struct perfrec_comm *m)
{
	m->pid = cursor_u32(c);
	m->tid = cursor_u32(c);
	m->exec = misc & PERF_RECORD_MISC_COMM_EXEC;
	m->comm = cursor_str(c);
}

static void task_read(struct cursor *c, struct perfrec_task *t)
{
	t->pid = cursor_u32(c);
	t->ppid = cursor_u32(c);
	t->tid = cursor_u32(c);
	t->ptid = cursor_u32(c);
	t->time_ns = cursor_u64(c);
}

static void ksymbol_read(struct cursor *c, struct perfrec_ksymbol *k)
{
	k->addr = cursor_u64(c);
	k->size_bytes = cursor_u32(c);
	k->type = cursor_u16(c);
	k->unregister = cursor_u16(c) & PERF_RECORD_KSYMBOL_FLAGS_UNREGISTER;
	k->name = cursor_str(c);
}

/* Reads the body; -ENOTSUP for a type that has no member. */
static int side_body(struct cursor *c, const struct head *h, const struct perf_event_attr *attr,
		     struct perfrec_side *s, const char **what)
{
	switch (h->type) {
	case PERF_RECORD_MMAP:
	case PERF_RECORD_MMAP2:
		*what = mmap_read(c, h, attr, &s->mmap);
		return 0;
	case PERF_RECORD_COMM:
		comm_read(c, h->misc, &s->comm);
		return 0;
	case PERF_RECORD_FORK:
	case PERF_RECORD_EXIT:
		task_read(c, &s->task);
		return 0;
	case PERF_RECORD_KSYMBOL:
		ksymbol_read(c, &s->ksymbol);
		return 0;
	case PERF_RECORD_LOST:
		s->lost.id = cursor_u64(c);
		s->lost.count = cursor_u64(c);
		return 0;
	case PERF_RECORD_LOST_SAMPLES:
		s->lost.count = cursor_u64(c);
		return 0;
	case PERF_RECORD_CGROUP:
		s->cgroup.id = cursor_u64(c);
		s->cgroup.path = cursor_str(c);
		return 0;
	case PERFREC_LATER:
		s->later.cookie = cursor_u64(c);
		s->later.count = cursor_u64(c);
		s->later.frames = cursor_array(c, s->later.count, 8);
		return 0;
	default:
		return -ENOTSUP;
	}
}

int perfrec_side(const void *rec, size_t size_bytes, const struct perf_event_attr *attr,
		 struct perfrec_side *out, struct parse_err *err)
{
	struct cursor c, tail;
	struct perfrec_side s;
	const char *what = NULL;
	size_t tail_bytes;
	struct head h;
	int ret;

	memset(&s, 0, sizeof(s));
	s.id.cpu = -1;
	ret = head_read(rec, size_bytes, &c, &h, err);
	if (ret)
		return ret;
	if (h.type == PERF_RECORD_SAMPLE)
		return parse_fail(err, -EBADMSG, 0, "record is a sample");
	s.type = h.type;
	s.misc = h.misc;
	if (h.type < USER_FIRST) {
		tail_bytes = perfrec_tail_bytes(attr);
		c.size_bytes = perfrec_true_size(rec, size_bytes, tail_bytes);
		if (cursor_left(&c) < tail_bytes)
			return parse_fail(err, -EBADMSG, HEADER_BYTES, "no room for the sample id");
		c.size_bytes -= tail_bytes;
		tail = cursor_of(c.data + c.size_bytes, tail_bytes);
		id_tail_read(&tail, attr, &s.id);
	}
	ret = side_body(&c, &h, attr, &s, &what);
	if (!cursor_ok(&c))
		what = "record ends inside a field";
	if (what)
		return parse_fail(err, -EBADMSG, c.off_bytes, what);
	*out = s;
	return ret;
}
