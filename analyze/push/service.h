/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* service - the name under which a database finds the samples of a program on many hosts */
#ifndef EBPREC_ANALYZE_PUSH_SERVICE_H
#define EBPREC_ANALYZE_PUSH_SERVICE_H

#define PUSH_SERVICE_BYTES 256

/*
 * The container's name, else the systemd unit of the cgroup's path without ".service" (not of a user's session), else the
 * comm.
 */
void push_service_name(const char *cgroup, const char *container, const char *comm,
		       char out[PUSH_SERVICE_BYTES]);

#endif
