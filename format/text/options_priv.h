/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* options_priv - kinds of options, for options.c and options_help.c */
#ifndef EBPREC_FORMAT_TEXT_OPTIONS_PRIV_H
#define EBPREC_FORMAT_TEXT_OPTIONS_PRIV_H

#include "format/text/options.h"

static inline bool option_takes_value(const struct option *o)
{
	return o->type != OPT_FLAG && o->type != OPT_COUNT && o->type != OPT_FORM &&
	       o->type != OPT_IDLE && o->type != OPT_OTHER;
}

static inline bool option_of_perf(const struct option *o)
{
	return o->type == OPT_SAME || o->type == OPT_IDLE || o->type == OPT_OTHER;
}

#endif
