/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* option_table - the options of `ebprec record`, into struct record_opts; perf's own stand at the end */
#ifndef EBPREC_RECORD_OPTION_TABLE_H
#define EBPREC_RECORD_OPTION_TABLE_H

#include "format/text/options.h"

extern const struct option opttable[];

#endif
