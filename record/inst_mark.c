/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * inst_mark - moments that programs and people name: the USDT probe ebprec:mark
 *
 * For now the probe of the `ebprec` executable that belongs to this recorder (`ebprec mark`).  It
 * is looked for beside the recorder (a build tree), then where `make install` puts it.
 */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bpf/mark.skel.h"
#include "format/tracing.h"
#include "record/instrument.h"

struct mark_state {
	struct mark_bpf *skel;
	struct bpf_link *link;
	char binary[PATH_MAX];
};

/* false: there is no ebprec. */
static bool find_ebprec(char out[PATH_MAX])
{
	static const char *const places[] = { "ebprec", "../../bin/ebprec", "../bin/ebprec" };
	char self[PATH_MAX];
	ssize_t bytes = readlink("/proc/self/exe", self, sizeof(self) - 1);
	char *slash;
	size_t i;

	if (bytes <= 0)
		return false;
	self[bytes] = '\0';
	slash = strrchr(self, '/');
	if (!slash)
		return false;
	*slash = '\0';
	for (i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
		if (snprintf(out, PATH_MAX, "%s/%s", self, places[i]) < PATH_MAX &&
		    !access(out, R_OK))
			return true;
	}
	return false;
}

static int mark_prepare(struct instrument_ctx *c)
{
	struct mark_state *s = calloc(1, sizeof(*s));
	int err;

	if (!s)
		return -ENOMEM;
	c->state = s;
	if (!find_ebprec(s->binary))
		return note_fail(c->notes, -ENOENT, "it belongs beside ebprec-record",
				 "cannot find 'ebprec' to listen for marks");
	s->skel = mark_bpf__open();
	err = s->skel ? instrument_share(c, s->skel) : -errno;
	if (!err)
		err = mark_bpf__load(s->skel);
	if (err)
		return instrument_fail(c, err, "cannot load the recorder of marks");
	return 0;
}

static int mark_attach(struct instrument_ctx *c)
{
	struct mark_state *s = c->state;

	s->link = bpf_program__attach_usdt(s->skel->progs.mark_hit, -1, s->binary, "ebprec", "mark",
					   NULL);
	if (!s->link)
		return note_fail(c->notes, -errno, NULL, "cannot listen for marks in '%s'",
				 s->binary);
	return 0;
}

static int mark_on_event(struct instrument_ctx *c, const struct event_header *h)
{
	static const char unread[] = "(not in memory)";
	const struct mark_event *ev = (const void *)h;
	char group[MARK_NAME_BYTES], name[MARK_NAME_BYTES], text[MARK_TEXT_BYTES];
	uint8_t raw[SAMPLEREC_RAW_MAX];
	struct samplerec rec = {
		.pid = ev->pid,
		.tid = ev->tid,
		.cpu = h->cpu,
		.time_ns = h->time_ns,
		.period = 1,
		.raw = raw,
	};

	if (h->size_bytes <= MARK_EVENT_HEAD_BYTES || h->size_bytes > sizeof(*ev))
		return -EBADMSG;
	snprintf(group, sizeof(group), "%s", ev->unread & MARK_UNREAD_GROUP ? unread : ev->group);
	snprintf(name, sizeof(name), "%s", ev->unread & MARK_UNREAD_NAME ? unread : ev->name);
	snprintf(text, sizeof(text), "%.*s", (int)(h->size_bytes - MARK_EVENT_HEAD_BYTES),
		 ev->unread & MARK_UNREAD_TEXT ? unread : ev->text);
	c->emit->account.unread_mark_count += ev->unread != 0;
	rec.raw_bytes = tracing_mark_encode(raw, sizeof(raw), ev->tid, ev->duration_ns, ev->kind,
					    group, name, text);
	return rec.raw_bytes ? emit_sample(c->emit, ATTR_MARK, &rec) : -EBADMSG;
}

static void mark_stop(struct instrument_ctx *c)
{
	struct mark_state *s = c->state;

	if (!s || !s->link)
		return;
	bpf_link__destroy(s->link);
	s->link = NULL;
}

static void mark_detach(struct instrument_ctx *c)
{
	struct mark_state *s = c->state;

	if (!s)
		return;
	mark_stop(c);
	mark_bpf__destroy(s->skel);
	free(s);
	c->state = NULL;
}

const struct instrument inst_mark = {
	.name = "mark",
	.summary = "moments that programs and people name",
	.costs = "1.4 to 2.2 us a mark, nothing between them",
	.needs = NEED_BPF,
	.events = 1u << EBPREC_EV_MARK,
	.prepare = mark_prepare,
	.attach = mark_attach,
	.on_event = mark_on_event,
	.stop = mark_stop,
	.detach = mark_detach,
};
