/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* fd_file - the file behind a descriptor of the current thread, and what kind of file it is */
#ifndef EBPREC_BPF_FDFILE_H
#define EBPREC_BPF_FDFILE_H

#include <bpf/bpf_core_read.h>

#include "bpf/lib/common.bpf.h"
#include "bpf/kernel.h"

/* include/uapi/linux/stat.h: S_IFMT, S_IFREG, S_IFBLK, S_IFSOCK. */
enum { MODE_KIND = 0170000, MODE_FILE = 0100000, MODE_DISK = 0060000, MODE_SOCKET = 0140000 };

/* NULL: there is none. */
static __always_inline struct file *file_of(struct task_struct *t, __u32 fd)
{
	struct fdtable *fdt = BPF_CORE_READ(t, files, fdt);
	struct file **files, *file = 0;

	if (fd >= BPF_CORE_READ(fdt, max_fds))
		return 0;
	files = BPF_CORE_READ(fdt, fd);
	bpf_probe_read_kernel(&file, sizeof(file), files + fd);
	return file;
}

#endif
