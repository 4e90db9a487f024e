/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* services - the rows of an interval, service by service, and within one container by container */
#ifndef EBPREC_ANALYZE_PUSH_FORMS_SERVICES_H
#define EBPREC_ANALYZE_PUSH_FORMS_SERVICES_H

#include <stdbool.h>

#include "analyze/push/forms/interval.h"

/* All rows of the interval; the list is owned by the caller, NULL: no memory. */
const struct push_row **services_sort(const struct push_interval *in);
/* From the i-th on, those of the same service and container, or of the same service; how many. */
size_t services_count(const struct push_row *const *rows, size_t count, size_t i,
		      bool with_container);

#endif
