/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * refuse CALL[,CALL...] CMD... - runs CMD where these system calls fail with EPERM, as under the
 * seccomp filter of a container
 */
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

static const struct {
	const char *name;
	unsigned number;
} calls[] = {
	{ "bpf", SYS_bpf },         { "perf_event_open", SYS_perf_event_open },
	{ "seccomp", SYS_seccomp }, { "landlock", SYS_landlock_create_ruleset },
	{ "fork", SYS_clone },
};

static unsigned number_of(const char *name)
{
	for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++) {
		if (!strcmp(calls[i].name, name))
			return calls[i].number;
	}
	fprintf(stderr, "refuse: no such call: %s\n", name);
	exit(2);
}

int main(int argc, char **argv)
{
	struct sock_filter filter[32] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
	};
	struct sock_fprog program = { .len = 1, .filter = filter };
	char *name;

	if (argc < 3) {
		fputs("usage: refuse CALL[,CALL...] CMD...\n", stderr);
		return 2;
	}
	for (name = strtok(argv[1], ","); name && program.len < 28; name = strtok(NULL, ",")) {
		filter[program.len++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K,
								     number_of(name), 0, 1);
		filter[program.len++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K,
								     SECCOMP_RET_ERRNO | EPERM);
	}
	filter[program.len++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
	    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program)) {
		perror("refuse");
		return 1;
	}
	execvp(argv[2], argv + 2);
	perror(argv[2]);
	return 127;
}
