/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "record/metric/object_perf_events.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "format/base/vec.h"
#include "record/events/perf_event.h"

static const struct {
	const char *name;
	uint32_t type;
	uint64_t config;
} events[] = {
	{ "minor_faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS_MIN },
	{ "major_faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS_MAJ },
};

bool object_perf_events_is(const struct bpf_program *prog)
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

/* The link of an event on a CPU, perhaps a new one behind the others; NULL: no memory. */
static struct object_perf_events_link *link_of(struct object_perf_events *p, uint32_t event,
					       uint32_t cpu)
{
	for (size_t i = 0; i < p->link_count; i++) {
		if (p->links[i].event == event && p->links[i].cpu == cpu)
			return &p->links[i];
	}
	if (vec_reserve(&p->links, &p->link_capacity, p->link_count + 1))
		return NULL;
	p->links[p->link_count] = (struct object_perf_events_link){ .cpu = cpu, .event = event };
	return &p->links[p->link_count++];
}

/* Has the program run by it, in the place of the one that was on this CPU before.  fd is taken. */
static int run_by(struct object_perf_events *p, uint32_t event, uint32_t cpu, int fd)
{
	const struct object_perf_events_event *e = &p->events[event];
	LIBBPF_OPTS(bpf_perf_event_opts, opts, .bpf_cookie = e->cookie);
	struct object_perf_events_link *of = link_of(p, event, cpu);
	struct bpf_link *link = NULL;
	int err = -ENOMEM;

	if (of) {
		link = bpf_program__attach_perf_event_opts(e->prog, fd, &opts); /* takes it */
		err = link ? 0 : -errno;
	}
	if (err) {
		close(fd);
		return err;
	}
	if (of->link)
		bpf_link__destroy(of->link);
	of->link = link;
	return 0;
}

/* The map holds the event from then on.  fd is taken. */
static int hold(const struct object_perf_events_event *e, uint32_t cpu, int fd)
{
	int err = bpf_map_update_elem(e->map_fd, &cpu, &fd, BPF_ANY) ? -errno : 0;

	close(fd);
	return err;
}

static int use(struct object_perf_events *p, uint32_t event, uint32_t cpu, int fd)
{
	return p->events[event].prog ? run_by(p, event, cpu, fd) : hold(&p->events[event], cpu, fd);
}

/* On all CPUs, and for those that come back. */
static int open_all(struct object_perf_events *p, const struct object_perf_events_event *e,
		    const struct perf_event_attr *attr,
		    const struct object_perf_events_where *where)
{
	uint32_t event = (uint32_t)p->event_count;
	int err = 0;

	if (event == OBJECT_PERF_EVENTS_COUNT_MAX)
		return -EOVERFLOW;
	p->events[event] = *e;
	p->events[event].reopen_id = reopener_keep_extra(where->reopener, attr);
	p->event_count++;
	for (size_t i = 0; i < where->cpus->count && !err; i++) {
		uint32_t cpu = where->cpus->ids[i];
		int fd = perf_event_set_open_one(attr, 0, cpu);

		err = fd < 0 ? fd : use(p, event, cpu, fd);
	}
	return err;
}

int object_perf_events_run(struct object_perf_events *p, const struct bpf_program *prog,
			   uint64_t cookie, const struct perf_event_attr *attr,
			   const struct object_perf_events_where *where)
{
	return open_all(p, &(struct object_perf_events_event){ .prog = prog, .cookie = cookie },
			attr, where);
}

int object_perf_events_hold(struct object_perf_events *p, int map_fd,
			    const struct perf_event_attr *attr,
			    const struct object_perf_events_where *where)
{
	return open_all(p, &(struct object_perf_events_event){ .map_fd = map_fd }, attr, where);
}

int object_perf_events_attach(struct object_perf_events *p, const struct bpf_program *prog,
			      const struct object_perf_events_where *where)
{
	/* Not PERF_SAMPLE_PERIOD: software events then take every one, whatever the period. */
	struct perf_event_attr attr = { .size = sizeof(attr), .sample_type = PERF_SAMPLE_ADDR };
	int err = parse_name(bpf_program__name(prog), &attr);

	return err ? err : object_perf_events_run(p, prog, 0, &attr, where);
}

int object_perf_events_cpu_back(struct object_perf_events *p, struct reopener *reopener,
				uint32_t cpu)
{
	int first = 0;

	for (uint32_t i = 0; i < p->event_count; i++) {
		int fd = reopener_take(reopener, p->events[i].reopen_id);
		int err = fd < 0 ? fd : use(p, i, cpu, fd);

		if (err && !first)
			first = err;
	}
	return first;
}

void object_perf_events_done(struct object_perf_events *p)
{
	while (p->link_count)
		bpf_link__destroy(p->links[--p->link_count].link);
	free(p->links);
	*p = (struct object_perf_events){ 0 };
}
