/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * main_filter - the system calls of the recorder itself while it records
 *
 * It keeps the right to read all processes and files (caps.h), and shall not be able to do more with it, should one of
 * the many texts in /proc that strangers have a hand in take it over.  So it traces nothing, writes into no memory of
 * others, opens no file for writing but those that it makes anew (/proc/PID/mem is none), loads no BPF program, makes no
 * connection, and changes neither mounts, users, nor the kernel.  openat2() and io_uring, of which a filter does not see
 * what they open, fail.  What it starts (the readers of elf_reader.h) is inside, too.
 */
#ifndef EBPREC_RECORD_PRIVSEP_MAIN_FILTER_H
#define EBPREC_RECORD_PRIVSEP_MAIN_FILTER_H

/* For all threads, for good; after caps_drop().  errno. */
int main_filter_enter(void);

#endif
