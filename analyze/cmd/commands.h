/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * commands - what can follow the word ebprec
 *
 * A command gets its own argv (argv[0] is its name) and returns the exit status: enum message_status.
 * It knows --help.  The table is in main.c; dispatch, help and "did you mean" read it.
 */
#ifndef EBPREC_ANALYZE_CMD_COMMANDS_H
#define EBPREC_ANALYZE_CMD_COMMANDS_H

enum command_kind {
	COMMAND_ACTS,   /* reads no capture */
	COMMAND_WRITES, /* reads captures, into a file */
	COMMAND_SHOWS,  /* its answer is for reading: shown in a pager */
};

struct command {
	const char *name;
	int (*run)(int argc, char **argv);
	const char *summary;
	enum command_kind kind;
};

int cmd_doctor(int argc, char **argv);
int cmd_record(int argc, char **argv);
int cmd_report(int argc, char **argv);
int cmd_sched(int argc, char **argv);
int cmd_metrics(int argc, char **argv);
int cmd_live(int argc, char **argv);
int cmd_script(int argc, char **argv);
int cmd_summary(int argc, char **argv);
int cmd_diff(int argc, char **argv);
int cmd_info(int argc, char **argv);
int cmd_bundle(int argc, char **argv);
int cmd_export(int argc, char **argv);
int cmd_slice(int argc, char **argv);
int cmd_merge(int argc, char **argv);
int cmd_scrub(int argc, char **argv);
int cmd_recover(int argc, char **argv);
int cmd_mark(int argc, char **argv);
int cmd_snapshot(int argc, char **argv);
int cmd_marks(int argc, char **argv);

/* The path of the ebprec-record that `ebprec record` would start, or NULL.  Owned (free()). */
char *cmd_record_find(void);

#endif
