/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* Loads unwstep.bpf.o and prints how much work the verifier had.  Needs root; exit 77 without. */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	struct bpf_prog_info info = { .type = 0 };
	__u32 info_bytes = sizeof(info);
	struct bpf_program *prog;
	struct bpf_object *obj;
	int err;

	if (geteuid() != 0) {
		printf("skipped: loading BPF needs root\n");
		return 77;
	}
	obj = bpf_object__open_file(argc > 1 ? argv[1] : "unwstep.bpf.o", NULL);
	if (!obj) {
		fprintf(stderr, "open: %s\n", strerror(errno));
		return 1;
	}
	err = bpf_object__load(obj);
	prog = bpf_object__find_program_by_name(obj, "walk_stack");
	if (!err && prog)
		err = bpf_obj_get_info_by_fd(bpf_program__fd(prog), &info, &info_bytes);
	if (err)
		fprintf(stderr, "load: %s\n", strerror(-err));
	else
		printf("walk_stack: loaded, %u instructions verified, %u bytes\n",
		       info.verified_insns, info.xlated_prog_len);
	bpf_object__close(obj);
	return err != 0;
}
