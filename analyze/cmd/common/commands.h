/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * commands - what can follow the word ebprec
 *
 * A command gets its own argv (argv[0] is its name) and returns the exit status: enum message_status.
 * It knows --help.  COMMANDS is the one list: dispatch, help and "did you mean" read it.
 */
#ifndef EBPREC_ANALYZE_CMD_COMMON_COMMANDS_H
#define EBPREC_ANALYZE_CMD_COMMON_COMMANDS_H

#include <stddef.h>

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

/* X(NAME, KIND, SUMMARY): cmd_NAME() is in cmd_NAME.c. */
#define COMMANDS(X)                                                                                \
	X(record, COMMAND_ACTS, "record the machine, or a program, into a capture")                \
	X(agent, COMMAND_ACTS, "record always, into a spool that stays within limits")             \
	X(summary, COMMAND_SHOWS, "one page about a capture: read this first")                     \
	X(report, COMMAND_SHOWS, "where the time went: functions by cost, trees, flame graphs")    \
	X(query, COMMAND_SHOWS, "a report of what an agent recorded, of a service and a time")     \
	X(sched, COMMAND_SHOWS, "how long threads ran, waited for a CPU, and slept")               \
	X(metrics, COMMAND_SHOWS, "what the instruments counted: system calls, block I/O, ...")    \
	X(live, COMMAND_ACTS, "where the time goes now, on a screen; or what instruments count")   \
	X(script, COMMAND_SHOWS, "every sample as text, as perf script prints it")                 \
	X(diff, COMMAND_SHOWS, "what changed between two captures, and what is noise")             \
	X(marks, COMMAND_SHOWS, "moments and spans that programs marked")                          \
	X(journal, COMMAND_WRITES,                                                                 \
	  "put the lines of the system's journal into a capture, as marks")                        \
	X(dbus, COMMAND_WRITES, "put calls and signals of D-Bus into a capture, as marks")         \
	X(mark, COMMAND_ACTS, "put a mark into the recording that is running")                     \
	X(snapshot, COMMAND_ACTS, "write what a recording with --ring has in memory")              \
	X(info, COMMAND_SHOWS, "everything that is inside a capture")                              \
	X(slice, COMMAND_WRITES, "a part of a capture's time as a capture of its own")             \
	X(merge, COMMAND_WRITES, "several captures of one machine as one")                         \
	X(spool, COMMAND_SHOWS, "captures of an agent: list, check, remove the oldest")            \
	X(bundle, COMMAND_WRITES, "put the names that a capture needs into it")                    \
	X(scrub, COMMAND_WRITES, "hide names of people, machines and programs")                    \
	X(export, COMMAND_WRITES, "a capture in another form")                                     \
	X(push, COMMAND_WRITES, "send what captures have to databases and collectors")             \
	X(name, COMMAND_WRITES, "name functions in a database that hosts could not name")          \
	X(serve, COMMAND_ACTS, "receive what others push as JSON, report gaps, answer Prometheus") \
	X(recover, COMMAND_WRITES, "complete a capture whose recorder was killed")                 \
	X(doctor, COMMAND_ACTS, "what can be recorded on this machine, and what mends the rest")

#define COMMAND_PROTOTYPE(name, kind, summary) int cmd_##name(int argc, char **argv);
COMMANDS(COMMAND_PROTOTYPE)
#undef COMMAND_PROTOTYPE

/* The path of the ebprec-record that `ebprec record` would start, or NULL.  Owned (free()). */
char *cmd_record_find(void);
/* Runs that in this process's place, with argv from its second word on.  It returns only when that failed: the status, after a message. */
int cmd_record_become(const char *path, char **argv);
/* Sets a mark as `ebprec mark` does; without a recording it does nothing. */
void cmd_mark_point(const char *group, const char *name, const char *text);
/* How this user, without the right to run the recorder at path, gets it. */
void cmd_record_cure(const char *path, char *out, size_t out_bytes);

#endif
