/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * trial_load - does the process outlive loading this BPF object?
 *
 * Libraries that read BPF objects trust their bytes.  So one that is not ours is loaded by a child first:
 * if that dies, nothing else does.
 */
#ifndef EBPREC_RECORD_METRIC_TRIAL_LOAD_H
#define EBPREC_RECORD_METRIC_TRIAL_LOAD_H

/* Runs load(arg) in a child.  0, whatever load made of it; -EBADMSG: it died; errno of fork(). */
int trialload(void (*load)(void *arg), void *arg);

#endif
