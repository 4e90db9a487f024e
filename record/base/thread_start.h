/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * thread_start - starts a thread that receives no signals: all are the main thread's
 */
#ifndef EBPREC_RECORD_BASE_THREAD_START_H
#define EBPREC_RECORD_BASE_THREAD_START_H

#include <pthread.h>

/* attr may be NULL.  0, or an error of pthread_create(), which is positive. */
int thread_start(pthread_t *out, const pthread_attr_t *attr, void *(*run)(void *), void *arg);

#endif
