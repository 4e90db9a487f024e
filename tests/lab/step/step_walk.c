/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * step_walk - our unwinder against libdwfl's, at every instruction of a program
 *
 * step_walk PROGRAM	steps from its first breakpoint instruction to its second
 *
 * At each stop the stack is walked three times: ours over the process, ours over a copy of the
 * stack, and libdwfl's.  All addresses must be equal, and so must be the knowledge which of them
 * are return addresses.  Rules that we do not support (longjmp's) end our walk early; that is
 * counted and printed.  On an alternate signal stack a copy from sp on cannot hold the older stack,
 * so there the copied walk must only be a beginning of the other.  libdwfl (0.188) takes rbx for
 * a register that calls destroy and so ends some stacks in the dynamic linker early: what it has
 * must be equal, and the cases are counted.
 */
#include <elfutils/libdwfl.h>
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/lab/step/livewalk.h"

enum { COPY_BYTES = 256 << 10, MAX_STEPS = 1000000, MAX_SHOWN = 10 };

struct counts {
	uint64_t steps, frames, differences, copy_differences;
	uint64_t ended[UNWIND_WHY_COUNT];
	uint64_t theirs_short; /* libdwfl failed where we went on */
	uint32_t deepest;
};

static int take_frame(Dwfl_Frame *frame, void *arg)
{
	struct livewalk_stack *s = arg;
	bool is_activation;
	Dwarf_Addr pc;

	if (!dwfl_frame_pc(frame, &pc, &is_activation))
		return DWARF_CB_ABORT;
	if (s->n == LIVEWALK_MAX_FRAMES)
		return DWARF_CB_ABORT;
	s->pc[s->n] = pc;
	s->is_return[s->n++] = !is_activation;
	return DWARF_CB_OK;
}

static bool same_start(const struct livewalk_stack *a, const struct livewalk_stack *b, uint32_t n)
{
	uint32_t i;

	if (a->n < n || b->n < n)
		return false;
	for (i = 0; i < n; i++)
		if (a->pc[i] != b->pc[i] || a->is_return[i] != b->is_return[i])
			return false;
	return true;
}

static void show(const struct livewalk_stack *ours, const struct livewalk_stack *theirs)
{
	uint32_t i;

	printf("  at %#" PRIx64 ": ours %u frames (%s), libdwfl %u\n", ours->pc[0], ours->n,
	       unwind_why_text(ours->why), theirs->n);
	for (i = 0; i < ours->n || i < theirs->n; i++)
		printf("    %#14" PRIx64 "%s %#14" PRIx64 "%s\n", i < ours->n ? ours->pc[i] : 0,
		       i < ours->n && ours->is_return[i] ? "r" : " ",
		       i < theirs->n ? theirs->pc[i] : 0,
		       i < theirs->n && theirs->is_return[i] ? "r" : " ");
}

static int compare(pid_t pid, Dwfl *dwfl, const struct livewalk *lw, struct counts *t)
{
	struct livewalk_stack ours, copied, theirs = { .n = 0 };
	struct user_regs_struct regs;
	bool ok;

	if (ptrace(PTRACE_GETREGS, pid, NULL, &regs))
		return -errno;
	livewalk_process(lw, &regs, &ours);
	if (livewalk_copy(lw, &regs, COPY_BYTES, &copied))
		return -ENOMEM;
	dwfl_getthread_frames(dwfl, pid, take_frame, &theirs);
	t->steps++;
	t->frames += ours.n;
	t->ended[ours.why]++;
	t->deepest = ours.n > t->deepest ? ours.n : t->deepest;

	if (ours.why == UNWIND_COMPLETE) {
		ok = same_start(&ours, &theirs, theirs.n) && theirs.n <= ours.n;
		if (theirs.n < ours.n && t->theirs_short++ < 2)
			show(&ours, &theirs);
	} else {
		ok = ours.why == UNWIND_UNSUPPORTED && same_start(&ours, &theirs, ours.n);
	}
	if (!ok && t->differences++ < MAX_SHOWN)
		show(&ours, &theirs);
	ok = copied.n == ours.n || copied.why == UNWIND_READ_FAULT;
	if (!ok || !same_start(&copied, &ours, copied.n))
		if (t->copy_differences++ < MAX_SHOWN)
			show(&copied, &ours);
	return 0;
}

/* Steps and compares until the next breakpoint instruction. */
static int step_all(pid_t pid, Dwfl *dwfl, const struct livewalk *lw, struct counts *t)
{
	long sig = 0;
	int status, err, i;

	for (i = 0; i < MAX_STEPS; i++) {
		err = compare(pid, dwfl, lw, t);
		if (err)
			return err;
		if (ptrace(PTRACE_SINGLESTEP, pid, NULL, (void *)sig) ||
		    waitpid(pid, &status, 0) != pid)
			return -errno;
		if (!WIFSTOPPED(status))
			return -ECHILD;
		sig = WSTOPSIG(status);
		if (sig == SIGTRAP) {
			siginfo_t info;

			ptrace(PTRACE_GETSIGINFO, pid, NULL, &info);
			if (info.si_code == SI_KERNEL) /* int3, not a step */
				return 0;
			sig = 0;
		}
	}
	return -EOVERFLOW;
}

static pid_t start(char *const argv[])
{
	int status, i;
	pid_t pid = fork();

	if (!pid) {
		ptrace(PTRACE_TRACEME, 0, NULL, NULL);
		execv(argv[0], argv);
		_exit(127);
	}
	for (i = 0; i < 2; i++) { /* the exec, then the first breakpoint */
		if (waitpid(pid, &status, 0) != pid || !WIFSTOPPED(status) ||
		    WSTOPSIG(status) != SIGTRAP)
			return -1;
		if (!i)
			ptrace(PTRACE_CONT, pid, NULL, NULL);
	}
	return pid;
}

static void print(const struct counts *t)
{
	int i;

	printf("step_walk: %" PRIu64 " steps, %" PRIu64 " frames, deepest %u, %" PRIu64
	       " differences, %" PRIu64 " in copies, libdwfl shorter %" PRIu64 "\n",
	       t->steps, t->frames, t->deepest, t->differences, t->copy_differences,
	       t->theirs_short);
	for (i = 0; i < UNWIND_WHY_COUNT; i++)
		if (t->ended[i])
			printf("  %" PRIu64 " ended: %s\n", t->ended[i], unwind_why_text(i));
}

int main(int argc, char **argv)
{
	static const Dwfl_Callbacks callbacks = {
		.find_elf = dwfl_linux_proc_find_elf,
		.find_debuginfo = dwfl_standard_find_debuginfo,
	};
	struct livewalk *lw = NULL;
	struct counts t = { .steps = 0 };
	Dwfl *dwfl;
	pid_t pid;
	int err;

	if (argc < 2)
		return 2;
	pid = start(argv + 1);
	if (pid < 0) {
		fprintf(stderr, "step_walk: cannot start %s\n", argv[1]);
		return 1;
	}
	dwfl = dwfl_begin(&callbacks);
	if (!dwfl || dwfl_linux_proc_report(dwfl, pid) || dwfl_report_end(dwfl, NULL, NULL) ||
	    dwfl_linux_proc_attach(dwfl, pid, true)) {
		fprintf(stderr, "step_walk: libdwfl: %s\n", dwfl_errmsg(-1));
		err = 1;
	} else {
		err = livewalk_new(pid, &lw);
		if (!err)
			err = step_all(pid, dwfl, lw, &t);
		if (err)
			fprintf(stderr, "step_walk: %s\n", strerror(-err));
		print(&t);
	}
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	livewalk_free(lw);
	dwfl_end(dwfl);
	return err || t.differences || t.copy_differences || t.steps < 1000;
}
