/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * seccomp_filter - a list of the system calls that a process may still make
 *
 * begin() adds the check of the architecture: calls of another one end the process.  Then come
 * rules, of which the first that matches a call decides; a call without a rule gets the answer that
 * install() is given.  Rules beyond the capacity are counted, and install() fails with -E2BIG.
 */
#ifndef EBPREC_FORMAT_OS_SECCOMP_FILTER_H
#define EBPREC_FORMAT_OS_SECCOMP_FILTER_H

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SECCOMP_FILTER_MAX 640

/* An answer is SECCOMP_RET_ALLOW, SECCOMP_RET_KILL_PROCESS, or the errno that a call fails with. */
#define SECCOMP_FILTER_FAIL(err) (SECCOMP_RET_ERRNO | (uint32_t)(err))

struct seccomp_filter {
	struct sock_filter code[SECCOMP_FILTER_MAX];
	unsigned count;
};

/* Also allows what the kernel itself makes a program call at the return from a probed function. */
void seccomp_filter_begin(struct seccomp_filter *f);
void seccomp_filter_calls(struct seccomp_filter *f, const int *calls, size_t count,
			  uint32_t answer);
/*
 * Rules compare the lower 32 bits of an argument; the kernel uses no more of the arguments that
 * have rules here. with: allowed with one of these values (at most 100), else it fails.  except:
 * fails with one of them, else it is allowed.  without: allowed with none of these bits.
 */
void seccomp_filter_with(struct seccomp_filter *f, int call, unsigned arg, const uint32_t *values,
			 size_t count, int err);
void seccomp_filter_except(struct seccomp_filter *f, int call, unsigned arg, const uint32_t *values,
			   size_t count, int err);
void seccomp_filter_without(struct seccomp_filter *f, int call, unsigned arg, uint32_t bits,
			    int err);
/* clone() that makes threads; processes fail with EPERM. */
void seccomp_filter_threads(struct seccomp_filter *f);
/* open() by flags in this argument: for reading, or of a file that is made anew; else it fails. */
void seccomp_filter_open(struct seccomp_filter *f, int call, unsigned arg, int err);

/*
 * Installs the filter; needs no_new_privs. all_threads: for all threads of the process, else for
 * the calling thread and those that it starts. errno; -E2BIG: too many rules.
 */
int seccomp_filter_install(struct seccomp_filter *f, uint32_t otherwise, bool all_threads);

#endif
