/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* instrument_options - the options of one instrument: --with INSTRUMENT:NAME[=VALUE],... */
#ifndef EBPREC_RECORD_INSTRUMENT_OPTIONS_H
#define EBPREC_RECORD_INSTRUMENT_OPTIONS_H

#include <stddef.h>

#include "format/text/options.h"
#include "record/base/config.h"
#include "record/metric/catalogue.h"

/*
 * Reads text, the words behind the colon, for the instrument at this place of the catalogue; o borrows
 * parts of it.  -EINVAL: *error names what is wrong.
 */
int instrument_options_read(struct record_opts *o, size_t place, const char *text,
			    struct option_error *error);
/* A library of the instrument heap; -EINVAL: there are too many. */
int instrument_options_add_lib(struct record_opts *o, const char *name, size_t bytes,
			       struct option_error *error);

/* The names of a list, as help has them: "lib=FILE,sample-bytes=N". */
void instrument_options_names(const struct catalogue_option *list, char *out, size_t size);

#endif
