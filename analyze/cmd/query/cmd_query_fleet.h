/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* cmd_query_fleet - `ebprec query --from`: the answer of a database that many hosts push to */
#ifndef EBPREC_ANALYZE_CMD_QUERY_CMD_QUERY_FLEET_H
#define EBPREC_ANALYZE_CMD_QUERY_CMD_QUERY_FLEET_H

#include "analyze/cmd/common/usage.h"
#include "analyze/input/event/time_span.h"

struct query_fleet_opts {
	const char *from, *token, *ca;
	struct option_list hosts, labels;
	bool hourly;
};

struct query_fleet_ask {
	const struct usage *usage;
	const struct query_fleet_opts *opts;
	const struct option_list *services;
	const char *event, *weight; /* NULL: not given */
	const char *svg;            /* a file, or "-"; NULL: none */
	bool off_cpu;               /* not samples, but what threads waited for */
	bool folded, tree, json, quiet;
	double min_percent; /* of a tree */
	unsigned max_depth; /* 0: all */
	uint64_t before_ns; /* compared to so long before; 0: not */
};

/* span: Unix time.  The exit status. */
int query_fleet_run(const struct query_fleet_ask *ask, const struct time_span *span);

#endif
