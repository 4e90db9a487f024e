/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* cmd_live_reader - the confined process of `ebprec live`: reads what is recorded, and shows it */
#ifndef EBPREC_ANALYZE_CMD_LIVE_CMD_LIVE_READER_H
#define EBPREC_ANALYZE_CMD_LIVE_CMD_LIVE_READER_H

#include "analyze/cmd/live/cmd_live_screen.h"
#include "analyze/screen/screen.h"

struct live_reader_ask {
	const struct live_ask *live;
	enum history_measure measure;
	enum history_by by;
	const char *event, *event_unit; /* of an instrument that is recorded; NULL: none */
	bool groups;
	const char *folder, *path; /* of the recording */
	int socket;                /* live_messages.h */
	bool on_screen;            /* the terminal is open: draw_open() */
};

/* Confines this process and shows until a key or the other process ends it.  Exit status. */
int cmd_live_reader(const struct live_reader_ask *ask);

#endif
