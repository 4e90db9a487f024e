/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "record/metricperf.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static const struct {
	const char *name;
	uint32_t type;
	uint64_t config;
} events[] = {
	{ "minor_faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS_MIN },
	{ "major_faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS_MAJ },
};

bool metricperf_is(const struct bpf_program *prog)
{
	return !strcmp(bpf_program__section_name(prog), "perf_event") &&
	       !strncmp(bpf_program__name(prog), "perf_", 5);
}

/* perf_EVENT_PERIOD */
static int parse_name(const char *name, struct perf_event_attr *attr)
{
	const char *number = strrchr(name, '_');
	char *end;

	if (strncmp(name, "perf_", 5) != 0 || !number || number < name + 5)
		return -EINVAL;
	attr->sample_period = strtoull(number + 1, &end, 10);
	if (*end || !attr->sample_period)
		return -EINVAL;
	name += 5;
	for (size_t i = 0; i < sizeof(events) / sizeof(events[0]); i++) {
		if (strlen(events[i].name) != (size_t)(number - name) ||
		    strncmp(events[i].name, name, (size_t)(number - name)) != 0)
			continue;
		attr->type = events[i].type;
		attr->config = events[i].config;
		return 0;
	}
	return -EINVAL;
}

static int attach_one(struct metricperf *p, const struct bpf_program *prog,
		      struct perf_event_attr *attr, uint32_t cpu)
{
	long fd = syscall(SYS_perf_event_open, attr, -1, (int)cpu, -1, PERF_FLAG_FD_CLOEXEC);
	int err;

	if (fd < 0)
		return -errno;
	p->links[p->count] = bpf_program__attach_perf_event(prog, (int)fd); /* takes the fd */
	if (p->links[p->count]) {
		p->count++;
		return 0;
	}
	err = -errno;
	close((int)fd);
	return err;
}

int metricperf_attach(struct metricperf *p, const struct bpf_program *prog,
		      const struct cpulist *cpus)
{
	/* Not PERF_SAMPLE_PERIOD: software events then take every one, whatever the period. */
	struct perf_event_attr attr = { .size = sizeof(attr), .sample_type = PERF_SAMPLE_ADDR };
	struct bpf_link **more;
	int err = parse_name(bpf_program__name(prog), &attr);

	if (err)
		return err;
	more = realloc(p->links, (p->capacity + cpus->count) * sizeof(struct bpf_link *));
	if (!more)
		return -ENOMEM;
	p->links = more;
	p->capacity += cpus->count;
	for (size_t i = 0; i < cpus->count && !err; i++)
		err = attach_one(p, prog, &attr, cpus->ids[i]);
	return err;
}

void metricperf_done(struct metricperf *p)
{
	while (p->count)
		bpf_link__destroy(p->links[--p->count]);
	free(p->links);
	*p = (struct metricperf){ 0 };
}
