/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "analyze/cmd/sandbox/recorder_rights.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "format/contract/capability_sets.h"
#include "format/os/slurp.h"

#define NAMES_BYTES 200 /* of a set in words */

/* ---- texts of the kernel ---- */

/* The number after "NAME:" at a line's beginning; `skip` numbers before it are passed over. */
static int read_field(const char *status, const char *name, int base, unsigned skip, uint64_t *out)
{
	size_t bytes = strlen(name);
	const char *line = status;
	char *end;

	while (line && (strncmp(line, name, bytes) || line[bytes] != ':'))
		line = (line = strchr(line, '\n')) ? line + 1 : NULL;
	if (!line)
		return -EBADMSG;
	line += bytes + 1;
	do {
		line += strspn(line, " \t");
		if (!strchr("0123456789abcdef", *line) || !*line)
			return -EBADMSG;
		errno = 0;
		*out = strtoull(line, &end, base);
		if (errno || end == line)
			return -EBADMSG;
		line = end;
	} while (skip--);
	return 0;
}

int process_rights_parse(const char *status, struct process_rights *out)
{
	uint64_t euid = 0, no_new_privs = 0, seccomp = 0;

	*out = (struct process_rights){ 0 };
	if (read_field(status, "Uid", 10, 1, &euid) ||
	    read_field(status, "CapBnd", 16, 0, &out->bounding) ||
	    read_field(status, "CapAmb", 16, 0, &out->ambient) ||
	    read_field(status, "NoNewPrivs", 10, 0, &no_new_privs))
		return -EBADMSG;
	(void)read_field(status, "Seccomp", 10, 0,
			 &seccomp); /* a kernel without has no such line */
	out->is_root = !euid;
	out->no_new_privs = no_new_privs;
	out->filtered = seccomp;
	return 0;
}

/* ---- the findings ---- */

/* "--cap-add=CAP_BPF --cap-add=CAP_PERFMON" */
static void list_cap_add(uint64_t rights, char *out, size_t out_bytes)
{
	size_t used = 0;
	char room[32];

	*out = '\0';
	for (unsigned cap = 0; cap < 64; cap++) {
		if (rights & RIGHT(cap) && used < out_bytes)
			used += (size_t)snprintf(out + used, out_bytes - used, "%s--cap-add=%s",
						 used ? " " : "",
						 caps_name(cap, room, sizeof(room)));
	}
}

/* The recorder's capabilities after exec; capabilities(7) has the formula. */
static uint64_t rights_after_exec(const struct process_rights *p, const struct file_rights *file)
{
	if (p->is_root)
		return p->bounding;
	if (!file->permitted || file->is_nosuid)
		return p->ambient;
	if (p->no_new_privs)
		return file->permitted & p->bounding & p->ambient;
	return file->is_effective ? file->permitted & p->bounding : 0;
}

/* The kernel does not execute a file that would not get all that it asks for. */
static uint64_t refused_by_exec(const struct process_rights *p, const struct file_rights *file)
{
	return file->is_effective && !file->is_nosuid ? file->permitted & ~p->bounding : 0;
}

/* The one thing to change first for `missing`. */
static void report_missing(const struct process_rights *p, const struct file_rights *file,
			   const char *path, uint64_t missing, struct finding *out)
{
	enum finding_state state = missing & CAPS_BPF ? FINDING_MISSING : FINDING_DEGRADED;
	char names[NAMES_BYTES], mend[sizeof(out->mend)];
	uint64_t outside = missing & ~p->bounding;

	caps_list(outside ? outside : missing, names, sizeof(names));
	if (outside) {
		char add[sizeof(out->mend) - 100];

		list_cap_add(outside, add, sizeof(add));
		snprintf(mend, sizeof(mend),
			 "start the container with %s (a unit: CapabilityBoundingSet=)", add);
		finding_set(out, state, mend, "not in the bounding set, not even for root: %s",
			    names);
	} else if (p->no_new_privs && file->permitted) {
		finding_set(out, state,
			    "start the container without no-new-privileges (Kubernetes: "
			    "allowPrivilegeEscalation: true), or record as root",
			    "no_new_privs: the capabilities of '%s' do not count", path);
	} else if (file->is_nosuid && file->permitted) {
		finding_set(out, state, "mount it without nosuid, or record as root",
			    "mounted nosuid: the capabilities of '%s' do not count", path);
	} else {
		snprintf(mend, sizeof(mend), "as root (of a container: in its image): setcap %s %s",
			 CAPS_RECORDING_SETCAP, path);
		finding_set(
			out, state, mend,
			"in the bounding set, but not of the recorder's file, so that only root has them: %s",
			names);
	}
}

void recorder_rights_report(const struct process_rights *p, const struct file_rights *file,
			    const char *path, struct finding *out)
{
	uint64_t refused = refused_by_exec(p, file);
	uint64_t missing = caps_missing(rights_after_exec(p, file), CAPS_RECORDING);
	char names[NAMES_BYTES], add[sizeof(out->mend) - 100], mend[sizeof(out->mend)];

	snprintf(out->name, sizeof(out->name), "capabilities");
	if (refused) {
		caps_list(refused, names, sizeof(names));
		list_cap_add(refused, add, sizeof(add));
		snprintf(mend, sizeof(mend),
			 "start the container with %s, or in its image: setcap -r %s", add, path);
		finding_set(
			out, FINDING_MISSING, mend,
			"the recorder cannot be started: its file has %s, the bounding set has not",
			names);
	} else if (missing) {
		report_missing(p, file, path, missing, out);
	} else {
		finding_set(out, FINDING_WORKS, NULL, "%s",
			    p->is_root ? "of root, all in the bounding set"
			    : file->permitted
				    ? "of the recorder's file, all in the bounding set"
				    : "ambient, from the program that starts the recorder");
	}
}

static const char *refused_calls(enum call_trial bpf, enum call_trial perf)
{
	if (bpf != CALL_ALLOWED && perf != CALL_ALLOWED)
		return "bpf() and perf_event_open()";
	return bpf != CALL_ALLOWED ? "bpf()" : "perf_event_open()";
}

void recorder_filter_report(const struct process_rights *p, enum call_trial bpf,
			    enum call_trial perf, struct finding *out)
{
	uint64_t outside = caps_missing(p->bounding, CAPS_BPF);
	char add[80], mend[sizeof(out->mend)];

	snprintf(out->name, sizeof(out->name), "seccomp filter");
	if (!p->filtered) {
		finding_set(out, FINDING_WORKS, NULL, "none");
		return;
	}
	if (bpf == CALL_ALLOWED && perf == CALL_ALLOWED) {
		finding_set(out, FINDING_WORKS, NULL,
			    "one that allows bpf() and perf_event_open()");
		return;
	}
	list_cap_add(outside, add, sizeof(add));
	snprintf(
		mend, sizeof(mend),
		"start the container with %s%s--security-opt seccomp=PROFILE, one that allows them "
		"(Kubernetes: seccompProfile; a unit: SystemCallFilter=)",
		add, outside ? ", for which some profiles allow them, or with " : "");
	finding_set(out, FINDING_MISSING, mend, "it %s %s",
		    bpf == CALL_KILLED || perf == CALL_KILLED ? "kills programs that call"
							      : "refuses",
		    refused_calls(bpf, perf));
}

/* ---- this process ---- */

/* Calls in a child, because a filter may kill it; the kernel refuses the arguments with `expected` to every caller. */
static enum call_trial try_call(long number, int expected)
{
	int status = 0;
	pid_t pid = fork();

	if (!pid) {
		if (number == SYS_bpf)
			(void)syscall(SYS_bpf, 1 /* BPF_MAP_LOOKUP_ELEM */, NULL, INT_MAX);
		else
			(void)syscall(SYS_perf_event_open, NULL, 0, -1, -1, ULONG_MAX);
		_exit(errno);
	}
	while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	if (WIFSIGNALED(status))
		return CALL_KILLED;
	return pid < 0 || WEXITSTATUS(status) == expected ? CALL_ALLOWED : CALL_REFUSED;
}

static int look_file(const char *path, struct file_rights *out)
{
	uint8_t attr[XATTR_CAPS_SZ_3 + 1];
	ssize_t bytes = getxattr(path, "security.capability", attr, sizeof(attr));
	int err = file_rights_parse(attr, bytes > 0 ? (size_t)bytes : 0, out);
	struct statvfs fs;

	out->is_nosuid = !statvfs(path, &fs) && fs.f_flag & ST_NOSUID;
	return err;
}

void recorder_rights_look(const char *path, struct finding out[RECORDER_RIGHTS_FINDINGS])
{
	char *status = slurp_line("/proc/self/status");
	struct process_rights p;
	struct file_rights file;
	int err = status ? process_rights_parse(status, &p) : -ENOENT;

	free(status);
	for (int i = 0; i < RECORDER_RIGHTS_FINDINGS; i++)
		out[i] = (struct finding){ 0 };
	if (!err)
		err = look_file(path, &file);
	if (!err) {
		recorder_rights_report(&p, &file, path, &out[0]);
		recorder_filter_report(&p, try_call(SYS_bpf, E2BIG),
				       try_call(SYS_perf_event_open, EINVAL), &out[1]);
		return;
	}
	snprintf(out[0].name, sizeof(out[0].name), "capabilities");
	snprintf(out[1].name, sizeof(out[1].name), "seccomp filter");
	for (int i = 0; i < RECORDER_RIGHTS_FINDINGS; i++)
		finding_set(&out[i], FINDING_DEGRADED, "in a container: mount /proc",
			    "cannot read /proc/self/status, or the capabilities of '%s'", path);
}
