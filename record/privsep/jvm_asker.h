/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * jvm_asker - asks a JVM to write the names of its code, as jcmd does
 *
 * A JVM listens at /tmp/.java_pidPID, by its own pid and in the /tmp that it sees, once it got SIGQUIT while a file
 * .attach_pidPID of its user is in that folder.  The command is Compiler.perfmap, from Java 17 on: it writes /tmp/perf-PID.map.
 *
 * The recorder gives up the rights for this, so a helper keeps them: CAP_SETUID, CAP_SETGID, CAP_SYS_PTRACE and
 * CAP_DAC_READ_SEARCH.  For each JVM it starts a process, which looks at the JVM's /proc, becomes its user, gives up all
 * rights, and has a filter of system calls then; so all that a stranger's folder can lead it to is what that user may do.
 * It is ended after JVM_ASKER_SECONDS.
 */
#ifndef EBPREC_RECORD_PRIVSEP_JVM_ASKER_H
#define EBPREC_RECORD_PRIVSEP_JVM_ASKER_H

#include <stddef.h>
#include <stdint.h>

#define JVM_ASKER_OPTION  "--jvm-asker" /* the program's first word; its main() calls serve() */
#define JVM_ASKER_SECONDS 4

struct jvm_asker; /* opaque */

enum jvm_asker_result {
	JVM_ASKER_DONE,       /* it wrote its names */
	JVM_ASKER_GONE,       /* the process ended */
	JVM_ASKER_OTHER_USER, /* of another user, and the right to become that one is missing */
	JVM_ASKER_NO_SIGNAL,  /* SIGQUIT would end it (-Xrs) */
	JVM_ASKER_STOPPED,    /* by a signal: it would not answer, and write its stacks later */
	JVM_ASKER_DISABLED,   /* no socket came: -XX:+DisableAttachMechanism, or it hangs */
	JVM_ASKER_SILENT,     /* no answer in time */
	JVM_ASKER_REFUSED,    /* it answered that it could not */
	JVM_ASKER_STRANGE,    /* the socket, or the folder, is not the JVM's */
	JVM_ASKER_FAILED,     /* the helper is gone, or could not start a process */
	JVM_ASKER_RESULTS,
};

/* program: the path of one that serves.  Started at once, with the rights of now. */
int jvm_asker_new(const char *program, struct jvm_asker **out);
void jvm_asker_free(struct jvm_asker *a); /* NULL is fine */

/* Asks the JVM of a process, and waits for the result: JVM_ASKER_SECONDS at most.  Any number of threads may. */
enum jvm_asker_result jvm_asker_ask(struct jvm_asker *a, uint32_t pid);
/* "it is another user's, ..."; static. */
const char *jvm_asker_text(enum jvm_asker_result result);

/* Runs in the helper: serves until the socket ends; returns the exit status. */
int jvm_asker_serve(void);

/* From /proc/PID/status of the JVM. */
struct jvm_asker_target {
	uint32_t user, group; /* effective */
	uint32_t inner_pid;
	int catches_quit, is_stopped;
};

/* Pure.  0: all of it is there. */
int jvm_asker_parse_status(const char *text, struct jvm_asker_target *out);
/* Pure.  The result that the bytes of an answer mean. */
enum jvm_asker_result jvm_asker_parse_answer(const char *bytes, size_t size_bytes);

#endif
