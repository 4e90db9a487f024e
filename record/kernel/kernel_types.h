/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * kernel_types - the structs of the running kernel whose fields BPF programs read
 *
 * libbpf looks up where a field is in the types of the kernel (BTF).  These are 126,000, which it reads for each object
 * with programs, and looks through for each struct in them: that takes longer than the kernel's check of most programs.
 * Here they are read once, and an object gets only the structs that it has some of the same name for.
 *
 * The target of a pointer is left out.  So whether a field or a type exists cannot be asked of them: an answer would be no,
 * where a program that reads a missing field does not load.
 */
#ifndef EBPREC_RECORD_KERNEL_KERNEL_TYPES_H
#define EBPREC_RECORD_KERNEL_KERNEL_TYPES_H

#include <bpf/btf.h>

/* All types of the kernel, read when they are first asked for, by any thread. */
struct kernel_types;

struct kernel_types *kernel_types_new(void); /* NULL: no memory */
/* One more that frees it. */
struct kernel_types *kernel_types_share(struct kernel_types *k);
void kernel_types_free(struct kernel_types *k); /* NULL is fine */

/* Writes those of the types that programs read to the file, in the form of /sys/kernel/btf/vmlinux. */
int kernel_types_write(struct kernel_types *k, const struct btf *programs, int fd);
/* The same from any types. */
int kernel_types_pick(const struct btf *all, const struct btf *programs, int fd);

#endif
