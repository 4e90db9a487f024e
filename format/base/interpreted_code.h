/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* interpreted_code - the file that does not exist, in which a capture has all interpreted code (FORMAT.md 4.8) */
#ifndef EBPREC_FORMAT_BASE_INTERPRETED_CODE_H
#define EBPREC_FORMAT_BASE_INTERPRETED_CODE_H

#define INTERPRETED_CODE_FILE "[python]"

#endif
