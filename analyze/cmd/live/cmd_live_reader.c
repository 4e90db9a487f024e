/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "analyze/cmd/live/cmd_live_reader.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <malloc.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "analyze/cmd/common/name_options.h"
#include "analyze/cmd/common/sandbox_policy.h"
#include "analyze/cmd/live/live_messages.h"
#include "analyze/fold/count_samples.h"
#include "analyze/metric/layout_of.h"
#include "analyze/out/message.h"
#include "analyze/screen/draw.h"
#include "analyze/screen/parts.h"
#include "format/text/escape.h"
#include "format/text/json_writer.h"
#include "format/os/clock.h"

#define SECOND_NS     ((uint64_t)1000000000)
#define HISTORY_COUNT 600 /* seconds */
#define HISTORY_BYTES (24u << 20)
#define MEMORY_BYTES  (64u << 20) /* of the history and of symbols */
#define POLL_MS       200
#define CATCH_UP      4 /* seconds that are counted before keys are looked at again */
#define TRIM_EVERY \
	10 /* times that seconds were counted: pages that are given back are made anew for the next one */

/* The sandbox and the resolver read these; no option of the user's. */
static const struct option reader_options[] = { NAMEOPTS(0), { 0 } };

static const struct usage reader_usage = {
	.command = "live",
	.options = reader_options,
	.reads = USAGE_READS,
	.draws = true,
};

struct reader {
	const struct live_reader_ask *ask;
	struct parts parts;
	struct history history;
	struct screen screen;
	struct draw_facts facts;
	struct live_message cost; /* the last one, and when it came */
	uint64_t cost_at_ns;
	uint64_t shown;           /* plain: the next second that is not in a table yet */
	unsigned tables, counted; /* how often seconds were counted */
	bool ended;               /* the recorder is gone */
	bool done;
	int status;
};

/* ---- messages ---- */

static void note_cost(struct reader *r, const struct live_message *m)
{
	uint64_t now = clock_ns(CLOCK_MONOTONIC), elapsed = now - r->cost_at_ns;

	if (r->cost_at_ns && elapsed)
		r->facts.own_percent = 100 * (double)(m->cpu_ns - r->cost.cpu_ns) / (double)elapsed;
	r->facts.memory_bytes = m->memory_bytes;
	if (m->has_runnable)
		history_set_runnable(&r->history, m->second, m->runnable);
	r->cost = *m;
	r->cost_at_ns = now;
}

/* Whether the screen is to be drawn for it: the cost is shown with the next second. */
static bool take_message(struct reader *r)
{
	struct live_message m;
	ssize_t n = read(r->ask->socket, &m, sizeof(m));

	if (n < 0 && (errno == EINTR || errno == EAGAIN))
		return false;
	if (n != (ssize_t)sizeof(m)) { /* the other one is gone */
		r->done = true;
		return false;
	}
	if (m.kind == LIVE_COST)
		note_cost(r, &m);
	else if (m.kind == LIVE_NOTE)
		screen_note(&r->screen, "%s", m.text);
	else if (m.kind == LIVE_ENDED)
		r->ended = true;
	return m.kind != LIVE_COST;
}

static void send_message(const struct reader *r, const struct live_message *m)
{
	/* A failure is seen at the next read. */
	ssize_t n = write(r->ask->socket, m, sizeof(*m));

	(void)n;
}

static void ask_to_save(struct reader *r)
{
	const struct history_second *first, *last;
	struct live_message m = { .kind = LIVE_SAVE };

	if (!r->screen.count) {
		screen_note(&r->screen, "there is nothing to be written yet");
		return;
	}
	first = &r->history.seconds[r->screen.first];
	last = first + r->screen.count - 1;
	m.from_ns = first->second * SECOND_NS;
	m.to_ns = (last->second + 1) * SECOND_NS - 1;
	m.first_part = first->first_part;
	m.last_part = last->last_part;
	send_message(r, &m);
	screen_note(&r->screen, "writing %zu s ...", r->screen.count);
}

static void ask_to_mark(const struct reader *r)
{
	struct live_message m = { .kind = LIVE_MARK };

	memcpy(m.text, r->screen.input, sizeof(r->screen.input));
	send_message(r, &m);
}

/* ---- a screen ---- */

static void take_keys(struct reader *r)
{
	int key;

	while (!r->done && (key = draw_key()) >= 0) {
		switch (screen_key(&r->screen, key)) {
		case SCREEN_QUITS:
			r->done = true;
			break;
		case SCREEN_SAVES:
			ask_to_save(r);
			break;
		case SCREEN_MARKS:
			ask_to_mark(r);
			break;
		default:
			break;
		}
		/* Some keys mean what is on the row that the one before has chosen. */
		if (screen_update(&r->screen))
			screen_note(&r->screen, "cannot show what is recorded: %s",
				    strerror(ENOMEM));
	}
}

static void show_screen(struct reader *r)
{
	if (screen_update(&r->screen))
		screen_note(&r->screen, "cannot show what is recorded: %s", strerror(ENOMEM));
	if (r->ended && !*r->screen.status)
		screen_note(&r->screen, "the recorder has ended; what was recorded is still here");
	draw_screen(&r->screen, &r->facts);
}

/* ---- tables ---- */

static uint64_t wall_ns(const struct reader *r, uint64_t sample_ns)
{
	return r->parts.host_ns ? r->parts.host_ns + (sample_ns - r->parts.sample_ns) : 0;
}

static double share_of(const struct view *v, uint64_t part)
{
	return v->all ? 100 * (double)part / (double)v->all : 0;
}

static void print_json(const struct reader *r, size_t rows)
{
	const struct screen *s = &r->screen;
	const struct history_second *first = &r->history.seconds[s->first];
	struct json_writer j = { .to = stdout, .layout = JSON_WRITER_TIGHT };

	json_writer_begin(&j, NULL);
	json_writer_u64(&j, "from_ns", first->second * SECOND_NS);
	json_writer_u64(&j, "wall_ns", wall_ns(r, first->second * SECOND_NS));
	json_writer_u64(&j, "seconds", s->count);
	json_writer_string(&j, "unit", screen_unit(s));
	json_writer_u64(&j, "all", s->view.all);
	json_writer_u64(&j, "lost", first->lost);
	json_writer_begin_array(&j, "rows");
	for (size_t i = 0; i < rows; i++) {
		const struct view_row *row = &s->view.rows[i];

		json_writer_begin(&j, NULL);
		json_writer_string(&j, screen_by_name(s), view_text(s->history, row->label));
		json_writer_string(&j, "object", view_object(s->history, row->label));
		json_writer_u64(&j, "self", row->self);
		json_writer_u64(&j, "total", row->total);
		json_writer_end(&j);
	}
	json_writer_end_array(&j);
	json_writer_end(&j);
}

/* The line in the place of a table without rows. */
static const char *nothing_of(const struct screen *s)
{
	switch (s->measure) {
	case HISTORY_CPU:
		return "no sample: what is shown used no CPU, or hardly any";
	case HISTORY_EVENT:
		return "no event";
	default:
		return "no wait is known: that of a thread which has not run since the recording began is not";
	}
}

static void print_text(const struct reader *r, size_t rows)
{
	const struct screen *s = &r->screen;
	const struct history_second *first = &r->history.seconds[s->first];
	uint64_t all_samples = screen_samples(s);

	if (r->tables)
		putchar('\n');
	printf("# %" PRIu64 " s by the capture's clock, %" PRIu64 " samples, %s by %s\n",
	       first->second, all_samples, screen_measure_name(s), screen_by_name(s));
	printf("%8s %8s %12s  %s\n", "self", "total", screen_unit(s), screen_by_name(s));
	for (size_t i = 0; i < rows; i++) {
		const struct view_row *row = &s->view.rows[i];
		const char *text = view_text(s->history, row->label);

		printf("%7.2f%% %7.2f%% %12" PRIu64 "  ", share_of(&s->view, row->self),
		       share_of(&s->view, row->total), row->self);
		message_escaped(stdout, text, strlen(text));
		putchar('\n');
	}
	if (!rows)
		printf("# %s\n", nothing_of(s));
}

/* Counts what is shown of these seconds and was not counted yet: at most most of them.  How many, or a negative errno. */
static int fill(struct reader *r, unsigned most)
{
	screen_select(&r->screen);
	return parts_fill(&r->parts, &r->history, r->screen.first, r->screen.count,
			  r->screen.measure, most);
}

static void print_table(struct reader *r, uint64_t end)
{
	struct screen *s = &r->screen;
	size_t rows;
	int err;

	s->frozen = true;
	s->end = end;
	s->window = r->ask->live->seconds;
	err = fill(r, UINT_MAX);
	err = err < 0 ? err : screen_update(s);
	if (err) {
		r->status = message_error("cannot show what is recorded: %s", strerror(-err));
		r->done = true;
		return;
	}
	if (!s->count)
		return;
	rows = r->ask->live->top && r->ask->live->top < s->view.count ? r->ask->live->top
								      : s->view.count;
	if (r->ask->live->json)
		print_json(r, rows);
	else
		print_text(r, rows);
	r->tables++;
	if (fflush(stdout) || ferror(stdout)) {
		r->status = errno == EPIPE ? MESSAGE_OK
					   : message_cannot_write("standard output", -errno);
		r->done = true;
	}
	r->done |= r->ask->live->count && r->tables >= r->ask->live->count;
}

static void print_tables(struct reader *r)
{
	const struct history *h = &r->history;
	uint64_t last = h->count ? h->seconds[h->count - 1].second : 0;

	if (!h->count)
		return;
	if (!r->shown)
		r->shown = h->seconds[0].second;
	/* A second that is still open is not counted to its end. */
	for (; !r->done && r->shown + r->ask->live->seconds <= last + 1 &&
	       r->shown + r->ask->live->seconds <= r->parts.next_second;
	     r->shown += r->ask->live->seconds)
		print_table(r, r->shown + r->ask->live->seconds);
}

/* ---- both ---- */

static void read_more(struct reader *r, bool *fresh)
{
	int done = parts_poll(&r->parts, &r->history, CATCH_UP);

	*fresh = done > 0;
	if (*fresh && ++r->counted % TRIM_EVERY == 0)
		malloc_trim(0);
	if (done >= 0 || done == -EAGAIN)
		return;
	if (r->ask->on_screen) {
		screen_note(&r->screen, "cannot read what is recorded: %s", strerror(-done));
		return;
	}
	r->status = message_error("cannot read what is recorded: %s", strerror(-done));
	r->done = true;
}

/* Waits of what the screen shows, a few seconds at a time. */
static void fill_more(struct reader *r, bool *fresh)
{
	int done = fill(r, CATCH_UP);

	*fresh |= done > 0;
	if (done < 0)
		screen_note(&r->screen, "cannot count waits: %s", strerror(-done));
}

static void run(struct reader *r)
{
	struct pollfd fds[] = { { .fd = r->ask->socket, .events = POLLIN },
				{ .fd = r->ask->on_screen ? STDIN_FILENO : -1, .events = POLLIN } };
	bool fresh = true;

	while (!r->done) {
		int ready = poll(fds, 2, fresh ? 0 : POLL_MS);
		bool event = ready < 0; /* a signal: the size */

		if (ready > 0)
			event = fds[1].revents;
		if (ready > 0 && fds[0].revents)
			event |= take_message(r);
		if (r->ask->on_screen)
			take_keys(r);
		if (!r->done)
			read_more(r, &fresh);
		if (!r->done && r->ask->on_screen)
			fill_more(r, &fresh);
		r->facts.host_ns = r->parts.host_ns;
		r->facts.sample_ns = r->parts.sample_ns;
		if (!r->done && !r->ask->on_screen)
			print_tables(r);
		else if (!r->done && (event || fresh))
			show_screen(r);
		if (r->ended && !fresh && !r->ask->on_screen)
			r->done = true;
	}
}

static int find_event(void *arg, const struct capture *c, size_t *attr)
{
	const struct load_scan none = { .attr_samples = NULL };
	struct layout_of of;
	int err = layout_of_find(c, arg, &of);

	return err ? err : load_choose_event(c, &none, of.event, attr);
}

static int begin(struct reader *r, const struct name_root_options *names)
{
	int err = history_init(&r->history, HISTORY_COUNT, HISTORY_BYTES);

	if (err)
		return err;
	r->parts = (struct parts){ .path = r->ask->path,
				   .roots = names->roots,
				   .filter = *r->ask->live->filter,
				   .demangle = true,
				   .limit_bytes = MEMORY_BYTES };
	r->history.no_kernel = r->ask->live->no_kernel;
	r->history.no_user = r->ask->live->no_user;
	r->parts.filter.no_idle = true;
	r->parts.no_switches = r->parts.filter.cpu_pair_count; /* a waiting thread is on no CPU */
	r->parts.roots.all_symbols = true;
	r->parts.roots.function_addresses = false;
	screen_init(&r->screen, &r->history);
	r->screen.measure = r->ask->measure;
	r->screen.event = r->ask->event;
	r->screen.event_unit = r->ask->event_unit;
	r->parts.find_event = r->ask->event ? find_event : NULL;
	r->parts.find_event_arg = (void *)(uintptr_t)r->ask->event;
	r->screen.by = r->ask->by;
	r->screen.groups = r->ask->groups;
	if (r->ask->live->window)
		r->screen.window = r->ask->live->window;
	r->facts.cpu_count = (unsigned)sysconf(_SC_NPROCESSORS_ONLN);
	r->facts.freq_hz = r->ask->live->freq;
	return 0;
}

int cmd_live_reader(const struct live_reader_ask *ask)
{
	struct name_options options = NAME_OPTIONS_DEFAULTS;
	struct reader r = { .ask = ask };
	struct name_root_options names = { .cache = NULL };
	int err;
	char *words[] = { (char *)(uintptr_t)ask->folder, NULL };

	/* Large tables of symbols are given back at once, what a second took when several have been counted. */
	mallopt(M_ARENA_MAX, 1);
	mallopt(M_MMAP_THRESHOLD, 4 << 20);
	options.offline = true; /* a server would be waited for */
	if (!confine(&reader_usage, &options, words))
		return MESSAGE_FAILED;
	if (ask->on_screen && draw_open(stdout, stdin))
		return message_error("cannot show a screen: this terminal cannot move its cursor "
				     "(set TERM, or send the output through a pipe)");
	err = name_roots_make(&options, &names, /* quiet= */ true) == -ENOMEM ? -ENOMEM
									      : begin(&r, &names);
	if (!err) {
		if (ask->on_screen)
			show_screen(&r);
		run(&r);
		screen_done(&r.screen);
		parts_done(&r.parts);
		history_done(&r.history);
		name_roots_done(&names);
	}
	if (ask->on_screen)
		draw_close();
	return err ? message_error("cannot start the screen: %s", strerror(-err)) : r.status;
}
