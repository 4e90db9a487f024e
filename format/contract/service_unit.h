/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * service_unit - the systemd unit that is a service, of a cgroup's path
 *
 * The recorder has budgets for services, and the analyzer names them: both have to mean the same.
 */
#ifndef EBPREC_FORMAT_CONTRACT_SERVICE_UNIT_H
#define EBPREC_FORMAT_CONTRACT_SERVICE_UNIT_H

#include <stdbool.h>

#define SERVICE_UNIT_MAX 256 /* bytes with the NUL; longer names are cut */

/*
 * The innermost unit of the path that is a service of its own, with its ending (nginx.service); "": none.  Managers of users
 * (user@1000.service) and services with a name that systemd-run made up are none; nor are engines, where the path is that of
 * a container.
 */
void service_unit(const char *cgroup, bool in_container, char out[SERVICE_UNIT_MAX]);

#endif
