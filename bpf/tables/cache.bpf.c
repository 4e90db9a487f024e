// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
/*
 * cache - the page cache: bytes that are read and written through it, and pages that had to be read
 * into it
 *
 * No tracepoint exists for a read that hits.  So reads and writes are counted where their system
 * call returns: the pages that its bytes touch.  Pages that are added have a tracepoint; the system
 * call under way is the reason.  All of this is there from Linux 6.1 on.
 *
 * Costs 60 ns a system call, 0.25 us one that reads or writes a file, 0.13 us a folio that comes, goes
 * or becomes dirty, and a fault in a mapped file.
 */
#include "bpf/lib/table.bpf.h"
#include "bpf/lib/fd_file.bpf.h"

struct cache_key {
	__u32 interval, pid;
	char device[16];
};

struct cache_value {
	char comm[16];
	__u64 cgroup;
	__u32 is_uid, pad;
	__u64 reads, read_bytes, read_pages;
	__u64 writes, write_bytes, write_pages;
	/* Pages that came in: by reads, by writes, by page faults, by whatever else. */
	__u64 read_added, write_added, fault_added, other_added;
	__u64 removed_pages, dirtied_pages, buffers;
	__u64 NEEDS(mm_filemap_fault) faults;
	__u64 NEEDS(mm_filemap_map_pages) mapped_pages;
};

METRIC_TABLE_FIXED(cache, struct cache_key, struct cache_value, 16384);

/* include/uapi/asm-generic/fcntl.h, magic.h */
enum { OPEN_DIRECT = 040000, MAGIC_OVERLAY = 0x794c7630 };

static __always_inline struct cache_value *value_of(struct super_block *sb)
{
	struct cache_key key = { .interval = metric_interval };
	struct cache_value *v;

	key.pid = current_ids() >> 32;
	bpf_probe_read_kernel_str(key.device, sizeof(key.device), sb->s_id);
	v = METRIC_ENTRY(&table_cache, &key, struct cache_value);
	if (v) { /* each time: a program that is started gets its name after its first pages */
		bpf_get_current_comm(v->comm, sizeof(v->comm));
		v->cgroup = bpf_get_current_cgroup_id();
		v->is_uid = bpf_get_current_uid_gid();
	}
	return v;
}

static __always_inline struct super_block *super_of(struct address_space *mapping)
{
	return BPF_CORE_READ(mapping, host, i_sb);
}

/* ---- system calls that read and write ---- */

enum what { WHAT_OTHER, WHAT_READ, WHAT_WRITE, WHAT_SEND, WHAT_FAULT };

/* here: where in the file is an argument, not the file's own position. */
static __always_inline enum what what_of(long nr, bool compat, bool *here)
{
	*here = false;
	if (compat) {
		*here = nr == 180 || nr == 181;
		return nr == 3 || nr == 145 || nr == 180   ? WHAT_READ
		       : nr == 4 || nr == 146 || nr == 181 ? WHAT_WRITE
							   : WHAT_OTHER;
	}
	*here = nr == __NR_pread64 || nr == __NR_pwrite64 || nr == __NR_preadv ||
		nr == __NR_pwritev || nr == __NR_preadv2 || nr == __NR_pwritev2;
	if (nr == __NR_read || nr == __NR_readv || nr == __NR_pread64 || nr == __NR_preadv ||
	    nr == __NR_preadv2)
		return WHAT_READ;
	if (nr == __NR_write || nr == __NR_writev || nr == __NR_pwrite64 || nr == __NR_pwritev ||
	    nr == __NR_pwritev2)
		return WHAT_WRITE;
	return nr == __NR_sendfile ? WHAT_SEND : WHAT_OTHER; /* reads its second */
}

/*
 * Whether the page cache is between: not for O_DIRECT, nor for the kernel's files without pages.
 * Those of an overlay are in the file below.
 */
static __always_inline bool is_cached(struct file *file, struct super_block *sb)
{
	__u32 kind = BPF_CORE_READ(file, f_inode, i_mode) & MODE_KIND;

	if ((kind != MODE_FILE && kind != MODE_DISK) || BPF_CORE_READ(file, f_flags) & OPEN_DIRECT)
		return false;
	return BPF_CORE_READ(file, f_mapping, nrpages) ||
	       BPF_CORE_READ(sb, s_magic) == MAGIC_OVERLAY;
}

SEC("tp_btf/sys_exit")
int BPF_PROG(cache_call, saved_regs *regs, long ret)
{
	struct task_struct *t = (void *)bpf_get_current_task_btf();
	bool compat = is_compat(t), here;
	enum what what = what_of(call_number(regs), compat, &here);
	struct super_block *sb;
	struct cache_value *v;
	struct file *file;
	__u64 from, pages;

	if (what == WHAT_OTHER || ret <= 0 || !is_target_task(t))
		return 0;
	file = file_of(t, compat              ? call_arg32(regs, 0)
			  : what == WHAT_SEND ? call_arg(regs, 1)
					      : call_arg(regs, 0));
	sb = BPF_CORE_READ(file, f_mapping, host, i_sb);
	if (!file || !sb || !is_cached(file, sb))
		return 0;
	from = BPF_CORE_READ(file, f_pos) - ret;
	if (here && (long)call_arg(regs, 3) != -1)
		from = compat ? call_arg32(regs, CALL32_PREAD_OFFSET) : call_arg(regs, 3);
	if (what == WHAT_SEND)
		from = 0; /* it may be anywhere, which changes little */
	pages = ((from + ret - 1) >> page_bits) - (from >> page_bits) + 1;
	v = value_of(sb);
	if (!v)
		return 0;
	if (what == WHAT_WRITE) {
		ADD(v->writes, 1);
		ADD(v->write_bytes, ret);
		ADD(v->write_pages, pages);
	} else {
		ADD(v->reads, 1);
		ADD(v->read_bytes, ret);
		ADD(v->read_pages, pages);
	}
	return 0;
}

/* ---- pages that come, go, and become dirty ---- */

/* The system call of the current thread. */
static __always_inline enum what what_now(void)
{
	struct task_struct *t = (void *)bpf_get_current_task_btf();
	__u64 nr = 0, arg0, arg1;
	bool here;

	if (t->flags & TASK_KERNEL)
		return WHAT_OTHER;
	if (!read_call((void *)bpf_task_pt_regs((void *)t), &nr, &arg0, &arg1))
		return WHAT_OTHER;
	if ((long)nr == -1)
		return WHAT_FAULT; /* not in a system call */
	return what_of(nr, is_compat(t), &here);
}

/* include/linux/page-flags.h; the flags are the first word of a folio, whatever their type. */
static __always_inline __u64 pages_of(struct folio *folio)
{
	__u64 flags = 0;

	bpf_probe_read_kernel(&flags, sizeof(flags), folio);
	if (!(flags & 1ull << bpf_core_enum_value(enum pageflags, PG_head)))
		return 1;
	if (bpf_core_field_exists(((struct folio___6_15 *)folio)->_nr_pages))
		return BPF_CORE_READ((struct folio___6_15 *)folio, _nr_pages);
	if (bpf_core_field_exists(folio->_folio_nr_pages))
		return BPF_CORE_READ(folio, _folio_nr_pages);
	return 1;
}

SEC("tp_btf/mm_filemap_add_to_page_cache")
int BPF_PROG(cache_add, struct folio *folio)
{
	struct cache_value *v;
	__u64 pages;

	if (!is_target_current())
		return 0;
	v = value_of(super_of(folio->mapping));
	if (!v)
		return 0;
	pages = pages_of(folio);
	switch (what_now()) {
	case WHAT_READ:
	case WHAT_SEND:
		ADD(v->read_added, pages);
		break;
	case WHAT_WRITE:
		ADD(v->write_added, pages);
		break;
	case WHAT_FAULT:
		ADD(v->fault_added, pages);
		break;
	default:
		ADD(v->other_added, pages);
	}
	return 0;
}

SEC("tp_btf/mm_filemap_delete_from_page_cache")
int BPF_PROG(cache_remove, struct folio *folio)
{
	struct cache_value *v = is_target_current() ? value_of(super_of(folio->mapping)) : 0;

	if (v)
		ADD(v->removed_pages, pages_of(folio));
	return 0;
}

SEC("tp_btf/writeback_dirty_folio")
int BPF_PROG(cache_dirty, struct folio *folio, struct address_space *mapping)
{
	struct cache_value *v = mapping && is_target_current() ? value_of(super_of(mapping)) : 0;

	if (v)
		ADD(v->dirtied_pages, pages_of(folio));
	return 0;
}

SEC("tp_btf/block_dirty_buffer")
int BPF_PROG(cache_buffer, struct buffer_head *bh)
{
	struct buffer_head___6_1 *old = (void *)bh;
	struct address_space *mapping = bpf_core_field_exists(bh->b_folio)
						? BPF_CORE_READ(bh, b_folio, mapping)
						: BPF_CORE_READ(old, b_page, mapping);
	struct cache_value *v = mapping && is_target_current() ? value_of(super_of(mapping)) : 0;

	if (v)
		ADD(v->buffers, 1);
	return 0;
}

SEC("tp_btf/mm_filemap_fault")
int BPF_PROG(cache_fault_maybe, struct address_space *mapping, unsigned long index)
{
	struct cache_value *v = is_target_current() ? value_of(super_of(mapping)) : 0;

	if (v)
		ADD(v->faults, 1);
	return 0;
}

SEC("tp_btf/mm_filemap_map_pages")
int BPF_PROG(cache_map_maybe, struct address_space *mapping, unsigned long first,
	     unsigned long last)
{
	struct cache_value *v = is_target_current() ? value_of(super_of(mapping)) : 0;

	if (v)
		ADD(v->mapped_pages, last - first + 1);
	return 0;
}

char LICENSE[] SEC("license") = "Dual BSD/GPL";
