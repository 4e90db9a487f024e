/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "record/base/thread_start.h"

#include <signal.h>

int thread_start(pthread_t *out, const pthread_attr_t *attr, void *(*run)(void *), void *arg)
{
	sigset_t all, before;
	int err;

	/* A thread inherits the mask of the one that creates it. */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	err = pthread_create(out, attr, run, arg);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return err;
}
