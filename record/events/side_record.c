/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "record/events/side_record.h"

#include <linux/perf_event.h>
#include <string.h>

#include "format/base/cursor.h"

/* A record under construction: fields one behind the other, into r->bytes. */
struct build {
	struct side_record *r;
	size_t size_bytes;
};

static struct build begin(struct side_record *r)
{
	return (struct build){ .r = r, .size_bytes = sizeof(struct perf_event_header) };
}

static void put_u8(struct build *b, uint8_t v)
{
	b->r->bytes[b->size_bytes++] = v;
}

static void put_u16(struct build *b, uint16_t v)
{
	le16_store(b->r->bytes + b->size_bytes, v);
	b->size_bytes += sizeof(v);
}

static void put_u32(struct build *b, uint32_t v)
{
	le32_store(b->r->bytes + b->size_bytes, v);
	b->size_bytes += sizeof(v);
}

static void put_u64(struct build *b, uint64_t v)
{
	le64_store(b->r->bytes + b->size_bytes, v);
	b->size_bytes += sizeof(v);
}

static void put_bytes(struct build *b, const void *data, size_t size_bytes)
{
	memcpy(b->r->bytes + b->size_bytes, data, size_bytes);
	b->size_bytes += size_bytes;
}

/* With its NUL, padded to a multiple of 8. */
static void put_string(struct build *b, const char *text)
{
	size_t bytes = strnlen(text, SIDE_RECORD_PATH_MAX - 1);
	size_t padded = (bytes + 8) & ~(size_t)7;

	memcpy(b->r->bytes + b->size_bytes, text, bytes);
	memset(b->r->bytes + b->size_bytes + bytes, 0, padded - bytes);
	b->size_bytes += padded;
}

static size_t finish(struct build *b, uint32_t type, uint16_t misc, uint32_t pid, uint32_t tid)
{
	uint8_t *header = b->r->bytes;

	put_u32(b, pid);
	put_u32(b, tid);
	put_u64(b, b->r->time_ns);
	put_u32(b, 0); /* cpu */
	put_u32(b, 0);
	put_u64(b, b->r->id);
	le32_store(header, type);
	le16_store(header + 4, misc);
	le16_store(header + 6, (uint16_t)b->size_bytes);
	return b->size_bytes;
}

size_t side_record_mmap2(struct side_record *r, const struct mapping *m)
{
	bool kernel = m->pid == UINT32_MAX;
	uint16_t misc = kernel ? PERF_RECORD_MISC_KERNEL : PERF_RECORD_MISC_USER;
	struct build b = begin(r);

	put_u32(&b, m->pid);
	put_u32(&b, m->tid);
	put_u64(&b, m->start);
	put_u64(&b, m->size_bytes);
	put_u64(&b, m->file_off_bytes);
	if (m->id.build_id.size_bytes) {
		misc |= PERF_RECORD_MISC_MMAP_BUILD_ID;
		put_u8(&b, m->id.build_id.size_bytes);
		put_u8(&b, 0);
		put_u16(&b, 0);
		put_bytes(&b, m->id.build_id.bytes, BUILDID_MAX_BYTES);
	} else {
		put_u32(&b, m->id.dev_major);
		put_u32(&b, m->id.dev_minor);
		put_u64(&b, m->id.inode);
		put_u64(&b, m->id.inode_generation);
	}
	put_u32(&b, m->prot);
	put_u32(&b, m->flags);
	put_string(&b, m->path);
	return finish(&b, PERF_RECORD_MMAP2, misc, m->pid, m->tid);
}

size_t side_record_comm(struct side_record *r, uint32_t pid, uint32_t tid, const char *comm)
{
	struct build b = begin(r);

	put_u32(&b, pid);
	put_u32(&b, tid);
	put_string(&b, comm);
	return finish(&b, PERF_RECORD_COMM, PERF_RECORD_MISC_USER, pid, tid);
}

size_t side_record_fork(struct side_record *r, uint32_t pid, uint32_t tid, uint32_t ppid,
			uint32_t ptid, uint64_t start_ns)
{
	struct build b = begin(r);

	put_u32(&b, pid);
	put_u32(&b, ppid);
	put_u32(&b, tid);
	put_u32(&b, ptid);
	put_u64(&b, start_ns);
	/* FORK_EXEC as perf's own snapshot has it: the maps that follow are all, none is inherited. */
	return finish(&b, PERF_RECORD_FORK, PERF_RECORD_MISC_FORK_EXEC, pid, tid);
}

size_t side_record_namespaces(struct side_record *r, uint32_t pid, uint32_t tid,
			      const struct side_record_namespace ns[SIDE_RECORD_NAMESPACES],
			      uint32_t host_tid)
{
	struct build b = begin(r);
	size_t i, size_bytes;

	put_u32(&b, pid);
	put_u32(&b, tid);
	put_u64(&b, SIDE_RECORD_NAMESPACES);
	for (i = 0; i < SIDE_RECORD_NAMESPACES; i++) {
		put_u64(&b, ns[i].dev);
		put_u64(&b, ns[i].inode);
	}
	size_bytes = finish(&b, PERF_RECORD_NAMESPACES, 0, pid, tid);
	le32_store(r->bytes + size_bytes - SIDE_RECORD_SPARE_OFF, host_tid);
	return size_bytes;
}

size_t side_record_cgroup(struct side_record *r, uint64_t cgroup_id, const char *path)
{
	struct build b = begin(r);

	put_u64(&b, cgroup_id);
	put_string(&b, path);
	return finish(&b, PERF_RECORD_CGROUP, 0, 0, 0);
}

size_t side_record_ksymbol(struct side_record *r, uint64_t addr, uint32_t size_bytes,
			   const char *name)
{
	struct build b = begin(r);

	put_u64(&b, addr);
	put_u32(&b, size_bytes);
	put_u16(&b, PERF_RECORD_KSYMBOL_TYPE_BPF);
	put_u16(&b, 0);
	put_string(&b, name);
	return finish(&b, PERF_RECORD_KSYMBOL, 0, 0, 0);
}

size_t side_record_bpf_event(struct side_record *r, uint32_t prog_id, const uint8_t tag[8])
{
	struct build b = begin(r);

	put_u16(&b, PERF_BPF_EVENT_PROG_LOAD);
	put_u16(&b, 0);
	put_u32(&b, prog_id);
	put_bytes(&b, tag, 8);
	return finish(&b, PERF_RECORD_BPF_EVENT, 0, 0, 0);
}

size_t side_record_lost(struct side_record *r, uint64_t lost_id, uint64_t count)
{
	struct build b = begin(r);

	put_u64(&b, lost_id);
	put_u64(&b, count);
	return finish(&b, PERF_RECORD_LOST, 0, 0, 0);
}
