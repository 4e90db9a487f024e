/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "analyze/screen/screen.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WINDOW_DEFAULT 10
#define WIDTH_DEFAULT  80
#define LEAST_OF       200 /* trees: rows below half a percent are left out */

static const unsigned windows[] = { 1, 2, 5, 10, 30, 60, 120, 300, 600 };

static const char *const help[] = {
	"c o w     CPU time, off-CPU by reason, wall (both)",
	"k i       waits with what ended them; the instrument of --show",
	"v         table, tree, icicle",
	"t         group by program, process, thread, container, unit; or functions alone",
	"g         heat strips of CPUs, or of the groups with the most CPU time",
	"[ ]       show fewer, more seconds",
	"Up Down   choose a row; PgUp PgDn Home: by pages, the first",
	"Enter     zoom: only the stacks of the row, from it on; Backspace: back",
	"/         only stacks on which a name matches (regular expression); empty: all",
	"space     freeze, go on; Left Right: a second back, forth; End: now",
	"m         set a mark: it is in the recording, and on the line below the CPUs",
	"s         write the seconds that are shown as a capture and as a page",
	"q         end; ? or h: this help",
	NULL,
};

const char *const *screen_help(void)
{
	return help;
}

const char *screen_measure_name(const struct screen *s)
{
	static const char *const names[] = { "CPU", "off-CPU", "wall", "wakers" };

	return s->measure == HISTORY_EVENT ? s->event : names[s->measure];
}

const char *screen_unit(const struct screen *s)
{
	switch (s->measure) {
	case HISTORY_CPU:
		return "samples";
	case HISTORY_EVENT:
		return s->event_unit;
	default:
		return "us";
	}
}

const char *screen_by_name(const struct screen *s)
{
	static const char *const names[] = { "program", "process", "thread", "container", "unit" };

	return s->groups ? names[s->by] : "function";
}

void screen_init(struct screen *s, struct history *h)
{
	*s = (struct screen){ .history = h,
			      .groups = true,
			      .window = WINDOW_DEFAULT,
			      .page = 1,
			      .width = WIDTH_DEFAULT };
}

static void step_done(struct screen_step *step)
{
	free(step->name);
	free(step->dso);
	*step = (struct screen_step){ 0 };
}

static void clear_steps(struct screen *s)
{
	while (s->step_count)
		step_done(&s->steps[--s->step_count]);
	s->row = s->top = 0;
}

void screen_done(struct screen *s)
{
	clear_steps(s);
	view_done(&s->view);
	strips_done(&s->strips);
	if (s->has_regex)
		regfree(&s->regex);
	*s = (struct screen){ 0 };
}

void screen_note(struct screen *s, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(s->status, sizeof(s->status), fmt, ap);
	va_end(ap);
}

/* ---- what is shown ---- */

/* The number after the last second. */
static uint64_t end_of(const struct history *h)
{
	return h->count ? h->seconds[h->count - 1].second + 1 : 0;
}

/* The seconds [end - window, end) that the history has. */
void screen_select(struct screen *s)
{
	const struct history *h = s->history;
	uint64_t end = s->frozen ? s->end : end_of(h);
	uint64_t from = end > s->window ? end - s->window : 0;

	s->first = s->count = s->missing = 0;
	for (size_t i = 0; i < h->count; i++) {
		if (h->seconds[i].second >= end || h->seconds[i].second < from)
			continue;
		if (!s->count++)
			s->first = i;
		s->missing += !history_has(&h->seconds[i], s->measure);
	}
}

uint64_t screen_samples(const struct screen *s)
{
	uint64_t samples = 0;

	for (size_t i = 0; i < s->count; i++)
		samples += s->history->seconds[s->first + i].sample_count;
	return samples;
}

static uint32_t label_of(const struct history *h, const struct screen_step *step)
{
	uint32_t id;

	if (step->dso)
		return history_find_frame(h, step->name, step->dso);
	id = string_table_find(h->names, step->name);
	return id == UINT32_MAX ? id : id | VIEW_GROUP;
}

static int update_strips(struct screen *s)
{
	size_t end = s->first + s->count;

	strips_done(&s->strips);
	return s->group_strips ? strips_make(s->history, s->by, s->first, s->count,
					     end > s->width ? end - s->width : 0, end, &s->strips)
			       : 0;
}

int screen_update(struct screen *s)
{
	struct view_step steps[SCREEN_STEPS];
	struct view_query query = {
		.form = s->form,
		.measure = s->measure,
		.by = s->by,
		.groups = s->groups,
		.filter = s->has_regex ? &s->regex : NULL,
		.steps = steps,
		.step_count = s->step_count,
		.least_of = LEAST_OF,
	};
	struct stack_table stacks;
	int err;

	for (size_t i = 0; i < s->step_count; i++)
		steps[i] = (struct view_step){ label_of(s->history, &s->steps[i]),
					       s->steps[i].direct };
	view_done(&s->view);
	screen_select(s);
	err = history_select(s->history, s->first, s->count, s->measure, &stacks);
	if (err)
		return err;
	err = view_make(s->history, &stacks, &query, &s->view);
	stack_table_done(&stacks);
	if (s->row >= s->view.count)
		s->row = s->view.count ? s->view.count - 1 : 0;
	return err ? err : update_strips(s);
}

/* ---- keys ---- */

static void move_to(struct screen *s, size_t row)
{
	s->row = row < s->view.count ? row : s->view.count ? s->view.count - 1 : 0;
}

static void move_by(struct screen *s, long rows)
{
	move_to(s, rows < 0 && s->row < (size_t)-rows ? 0 : s->row + (size_t)rows);
}

static void freeze(struct screen *s)
{
	if (!s->frozen)
		s->end = end_of(s->history);
	s->frozen = true;
}

/* Not before the first second, and not after the last. */
static void step_in_time(struct screen *s, int seconds)
{
	const struct history *h = s->history;
	uint64_t first = h->count ? h->seconds[0].second + 1 : 0;

	freeze(s);
	s->end = seconds < 0 && s->end < (uint64_t)-seconds ? 0 : s->end + (uint64_t)seconds;
	if (s->end < first)
		s->end = first;
	if (s->end > end_of(h))
		s->end = end_of(h);
}

static void change_window(struct screen *s, int by)
{
	size_t count = sizeof(windows) / sizeof(windows[0]), i = 0;

	while (i + 1 < count && windows[i] < s->window)
		i++;
	if (by < 0 && i)
		s->window = windows[i - 1];
	if (by > 0 && i + 1 < count)
		s->window = windows[i + 1];
}

/* Groups of one kind after the other, then none. */
static void change_groups(struct screen *s)
{
	clear_steps(s);
	if (!s->groups) {
		s->groups = true;
		s->by = HISTORY_BY_PROGRAM;
	} else if (s->by + 1 < HISTORY_BYS) {
		s->by++;
	} else {
		s->groups = false;
	}
}

/* false: no memory, or there are too many. */
static bool add_step(struct screen *s, const struct view_step *step, bool first)
{
	const struct history *h = s->history;
	struct screen_step *to = &s->steps[s->step_count];
	bool is_group = step->label & VIEW_GROUP;

	if (s->step_count == SCREEN_STEPS)
		return false;
	to->name = strdup(view_text(h, step->label));
	if (!is_group)
		to->dso = strdup(string_table_text(h->names, h->frames[step->label].dso));
	if (!to->name || (!is_group && !to->dso)) {
		step_done(to);
		return false;
	}
	to->direct = step->direct;
	to->first = first;
	s->step_count++;
	return true;
}

static void zoom_out(struct screen *s)
{
	while (s->step_count) {
		bool first = s->steps[s->step_count - 1].first;

		step_done(&s->steps[--s->step_count]);
		if (first)
			break;
	}
	s->row = s->top = 0;
}

static void zoom_in(struct screen *s)
{
	const struct view_row *row = &s->view.rows[s->row];
	struct view_step steps[SCREEN_STEPS];
	size_t count = 1;
	bool fits = true;

	if (s->row >= s->view.count)
		return;
	if (row->node != CALLTREE_ROOT)
		count = view_steps(&s->view, row->node, steps, SCREEN_STEPS);
	else
		steps[0] = (struct view_step){ row->label, false };
	if (count > SCREEN_STEPS - s->step_count) {
		screen_note(s, "more than %d calls below each other cannot be zoomed",
			    SCREEN_STEPS);
		return;
	}
	for (size_t i = 0; fits && i < count; i++)
		fits = add_step(s, &steps[i], !i);
	if (!fits)
		zoom_out(s);
	s->row = s->top = 0;
}

/* An icicle's rows follow their callers; up is the caller, down the first callee. */
static void move_in_icicle(struct screen *s, int key)
{
	const struct view *v = &s->view;
	size_t i = s->row;

	if (!v->count)
		return;
	if (key == SCREEN_KEY_UP) {
		while (i && v->rows[i].depth >= v->rows[s->row].depth)
			i--;
	} else if (key == SCREEN_KEY_DOWN) {
		i += i + 1 < v->count && v->rows[i + 1].depth > v->rows[i].depth;
	} else {
		for (i = i + 1; i < v->count && v->rows[i].depth > v->rows[s->row].depth; i++)
			;
		if (i == v->count || v->rows[i].depth < v->rows[s->row].depth) {
			/* from the last one to the first of this caller */
			for (i = s->row; i && v->rows[i - 1].depth >= v->rows[s->row].depth; i--)
				;
		}
	}
	s->row = i;
}

static void take_filter(struct screen *s)
{
	char why[100];
	regex_t fresh;
	int rc = *s->input ? regcomp(&fresh, s->input, REG_EXTENDED | REG_NOSUB | REG_ICASE) : 0;

	if (rc) {
		regerror(rc, &fresh, why, sizeof(why));
		screen_note(s, "'%s' is no regular expression: %s", s->input, why);
		return;
	}
	if (s->has_regex)
		regfree(&s->regex);
	s->has_regex = *s->input;
	if (s->has_regex)
		s->regex = fresh;
	memcpy(s->filter, s->input, sizeof(s->filter));
	s->row = s->top = 0;
}

static void open_prompt(struct screen *s, enum screen_prompt prompt)
{
	s->prompt = prompt;
	*s->input = '\0';
}

static enum screen_action key_of_prompt(struct screen *s, int key)
{
	size_t used = strlen(s->input);
	enum screen_prompt prompt = s->prompt;

	switch (key) {
	case SCREEN_KEY_ESCAPE:
		s->prompt = SCREEN_NO_PROMPT;
		break;
	case SCREEN_KEY_BACKSPACE:
		while (used && ((unsigned char)s->input[used - 1] & 0xc0) == 0x80)
			s->input[--used] = '\0';
		if (used)
			s->input[used - 1] = '\0';
		break;
	case SCREEN_KEY_ENTER:
		s->prompt = SCREEN_NO_PROMPT;
		if (prompt == SCREEN_MARK)
			return *s->input ? SCREEN_MARKS : SCREEN_STAYS;
		take_filter(s);
		break;
	default:
		if (key >= ' ' && key < 256 && key != 127 && used + 1 < sizeof(s->input)) {
			s->input[used] = (char)key;
			s->input[used + 1] = '\0';
		}
		break;
	}
	return SCREEN_STAYS;
}

static void key_of_time(struct screen *s, int key)
{
	switch (key) {
	case ' ':
		if (s->frozen)
			s->frozen = false;
		else
			freeze(s);
		break;
	case SCREEN_KEY_LEFT:
		step_in_time(s, -1);
		break;
	case SCREEN_KEY_RIGHT:
		step_in_time(s, 1);
		break;
	case SCREEN_KEY_END:
		s->frozen = false;
		break;
	case '[':
	case ']':
		change_window(s, key == '[' ? -1 : 1);
		break;
	default:
		break;
	}
}

static void key_of_rows(struct screen *s, int key)
{
	bool icicle = s->form == VIEW_ICICLE;

	switch (key) {
	case SCREEN_KEY_UP:
	case SCREEN_KEY_DOWN:
		if (icicle)
			move_in_icicle(s, key);
		else
			move_by(s, key == SCREEN_KEY_UP ? -1 : 1);
		break;
	case '\t':
		if (icicle)
			move_in_icicle(s, key);
		break;
	case SCREEN_KEY_PAGE_UP:
		move_by(s, -(long)s->page);
		break;
	case SCREEN_KEY_PAGE_DOWN:
		move_by(s, (long)s->page);
		break;
	case SCREEN_KEY_HOME:
		move_to(s, 0);
		break;
	case SCREEN_KEY_ENTER:
		if (s->row < s->view.count)
			zoom_in(s);
		break;
	case SCREEN_KEY_BACKSPACE:
	case SCREEN_KEY_ESCAPE:
		zoom_out(s);
		break;
	default:
		key_of_time(s, key);
		break;
	}
}

static void set_measure(struct screen *s, enum history_measure m)
{
	s->measure = m;
	s->row = s->top = 0;
}

static void choose_event(struct screen *s)
{
	if (s->event)
		set_measure(s, HISTORY_EVENT);
	else
		screen_note(s, "no instrument is recorded: ebprec live --show NAME");
}

enum screen_action screen_key(struct screen *s, int key)
{
	if (key == SCREEN_KEY_NONE)
		return SCREEN_STAYS;
	*s->status = '\0';
	if (key == 3) /* Ctrl-C: the terminal passes it on */
		return SCREEN_QUITS;
	if (s->prompt)
		return key_of_prompt(s, key);
	if (s->help) {
		s->help = false;
		return key == 'q' ? SCREEN_QUITS : SCREEN_STAYS;
	}
	switch (key) {
	case 'q':
		return SCREEN_QUITS;
	case 's':
		return SCREEN_SAVES;
	case 'c':
		set_measure(s, HISTORY_CPU);
		break;
	case 'o':
		set_measure(s, HISTORY_OFFCPU);
		break;
	case 'w':
		set_measure(s, HISTORY_WALL);
		break;
	case 'k':
		set_measure(s, HISTORY_WAKERS);
		break;
	case 'i':
		choose_event(s);
		break;
	case 'v':
		s->form = (s->form + 1) % VIEW_FORMS;
		s->row = s->top = 0;
		break;
	case 't':
		change_groups(s);
		break;
	case 'g':
		s->group_strips = !s->group_strips;
		break;
	case '/':
		open_prompt(s, SCREEN_FILTER);
		break;
	case 'm':
		open_prompt(s, SCREEN_MARK);
		break;
	case '?':
	case 'h':
		s->help = true;
		break;
	default:
		key_of_rows(s, key);
		break;
	}
	return SCREEN_STAYS;
}
