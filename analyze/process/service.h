/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * service - which service a thread works for, by its process's context, its cgroup and its name
 *
 * The first of these that is there: the user's rules; the name that the process itself published by
 * OpenTelemetry's process context; the innermost systemd unit of the cgroup's path that is a .service, without this ending; the container, by name or short id; the name of the thread, of a
 * kernel thread up to its '/'.  The managers of users (user@1000.service), services with a name that
 * systemd-run made up, and engines in whose unit a container runs are not the service.
 *
 * A rule is a line "SERVICE FIELD:PATTERN...", with patterns as of the shell over the fields context, unit,
 * container, cgroup and comm; all of them must match.  The first rule that matches decides, '#' starts a
 * comment.  A unit is matched with its ending (nginx.service), and "" where there is none.
 */
#ifndef EBPREC_ANALYZE_PROCESS_SERVICE_H
#define EBPREC_ANALYZE_PROCESS_SERVICE_H

#include "analyze/process/container_names.h"
#include "format/base/err.h"

#define SERVICE_NAME_MAX 256 /* bytes with the NUL; longer names are cut */

#define SERVICE_NAME_UNKNOWN "[unknown]"

struct service_rules; /* opaque; read-only, for any thread */

/* Reads rules.  -EBADMSG: err's offset is the number of the line; -ENOMEM. */
int service_rules_new(const char *text, struct service_rules **out, struct parse_err *err);
void service_rules_free(struct service_rules *r); /* NULL is fine */

/* The facts about a thread that name its service. */
struct service_facts {
	const char *context; /* the name that its process published; "": none */
	const char *cgroup;  /* the path, or another text where the capture has none */
	const char *comm;    /* "" where it is not known */
};

/* rules and containers may be NULL.  Never "". */
void service_name(const struct service_rules *rules, const struct container_names *containers,
		  const struct service_facts *facts, char out[SERVICE_NAME_MAX]);

#endif
