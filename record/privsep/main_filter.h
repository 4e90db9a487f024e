/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * main_filter - the system calls of the recorder itself while it records
 *
 * The recorder keeps the right to read all processes and files (caps.h).  When one of the untrusted
 * texts in /proc compromises it, it must not be able to do more: it traces no process, writes into
 * no other memory, opens no file for writing but those that it creates (/proc/PID/mem is none),
 * loads no BPF program, makes no connection, and changes neither mounts, users, nor the kernel.
 * openat2() and io_uring fail, since a filter does not see the files that they open.  Its child
 * processes (elf_reader.h) have the filter, too.
 */
#ifndef EBPREC_RECORD_PRIVSEP_MAIN_FILTER_H
#define EBPREC_RECORD_PRIVSEP_MAIN_FILTER_H

/* For all threads, for good; after caps_drop().  errno. */
int main_filter_enter(void);

#endif
