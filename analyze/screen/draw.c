/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "analyze/screen/draw.h"

#include <errno.h>
#include <inttypes.h>
#include <langinfo.h>
#include <locale.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <wchar.h>
#include <curses.h>

#include "format/text/escape.h"

#define HEAD_LINES 2 /* above the strips */
#define SECOND_NS  ((uint64_t)1000000000)

enum { PAIR_COOL = 1, PAIR_WARM, PAIR_HOT, PAIR_KERNEL, PAIR_WAIT, PAIR_MARK, PAIR_GROUP };

int draw_open(FILE *to, FILE *from)
{
	const char *no_color = getenv("NO_COLOR");

	if (!isatty(fileno(from)) || !isatty(fileno(to)))
		return -ENOTTY;
	setlocale(LC_CTYPE, "");
	if (!newterm(NULL, to, from))
		return -ENOTTY;
	raw(); /* Ctrl-C is a key: the recorder's end is ours to bring about */
	noecho();
	nonl();
	keypad(stdscr, TRUE);
	nodelay(stdscr, TRUE);
	set_escdelay(25);
	curs_set(0);
	if (has_colors() && !(no_color && *no_color)) {
		start_color();
		use_default_colors();
		init_pair(PAIR_COOL, COLOR_BLUE, -1);
		init_pair(PAIR_WARM, COLOR_YELLOW, -1);
		init_pair(PAIR_HOT, COLOR_RED, -1);
		init_pair(PAIR_KERNEL, COLOR_CYAN, -1);
		init_pair(PAIR_WAIT, COLOR_MAGENTA, -1);
		init_pair(PAIR_MARK, COLOR_GREEN, -1);
		init_pair(PAIR_GROUP, COLOR_GREEN, -1);
	}
	return 0;
}

void draw_close(void)
{
	endwin();
}

int draw_key(void)
{
	int key = getch();

	switch (key) {
	case ERR:
		return -1;
	case KEY_UP:
		return SCREEN_KEY_UP;
	case KEY_DOWN:
		return SCREEN_KEY_DOWN;
	case KEY_LEFT:
		return SCREEN_KEY_LEFT;
	case KEY_RIGHT:
		return SCREEN_KEY_RIGHT;
	case KEY_PPAGE:
		return SCREEN_KEY_PAGE_UP;
	case KEY_NPAGE:
		return SCREEN_KEY_PAGE_DOWN;
	case KEY_HOME:
		return SCREEN_KEY_HOME;
	case KEY_END:
		return SCREEN_KEY_END;
	case KEY_ENTER:
	case '\r':
	case '\n':
		return SCREEN_KEY_ENTER;
	case KEY_BACKSPACE:
	case 127:
	case '\b':
		return SCREEN_KEY_BACKSPACE;
	case 27:
		return SCREEN_KEY_ESCAPE;
	default:
		return key > 255 ? SCREEN_KEY_NONE : key;
	}
}

/* ---- text ---- */

static bool is_utf8(void)
{
	return !strcmp(nl_langinfo(CODESET), "UTF-8");
}

size_t draw_fit(const char *text, size_t room, size_t *columns)
{
	mbstate_t state = { 0 };
	size_t at = 0, used = 0, left = strlen(text);

	while (left) {
		wchar_t c;
		size_t bytes = mbrtowc(&c, text + at, left, &state);
		int width;

		if (bytes == 0 || bytes > left) {
			bytes = 1;
			width = 1;
			memset(&state, 0, sizeof(state));
		} else {
			width = wcwidth(c);
		}
		if (width < 0)
			width = 1;
		if (used + (size_t)width > room)
			break;
		used += (size_t)width;
		at += bytes;
		left -= bytes;
	}
	*columns = used;
	return at;
}

/* A foreign text, escaped; where the terminal knows no UTF-8, '?' for each byte that is not ASCII. */
static void put_text(int y, int x, int columns, const char *text)
{
	char *plain = escape_copy(ESCAPE_TEXT, text, strlen(text));
	size_t used;

	if (!plain || columns <= 0) {
		free(plain);
		return;
	}
	for (char *c = plain; !is_utf8() && *c; c++)
		if ((unsigned char)*c >= 128)
			*c = '?';
	mvaddnstr(y, x, plain, (int)draw_fit(plain, (size_t)columns, &used));
	free(plain);
}

static void put_line(int y, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
static void put_line(int y, const char *fmt, ...)
{
	char text[1024];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	put_text(y, 0, COLS, text);
}

static void clock_text(const struct draw_facts *facts, uint64_t sample_ns, char out[16])
{
	time_t at = (time_t)((facts->host_ns + (sample_ns - facts->sample_ns)) / SECOND_NS);
	struct tm tm;

	if (!facts->host_ns) {
		snprintf(out, 16, "%" PRIu64, sample_ns / SECOND_NS);
		return;
	}
	localtime_r(&at, &tm);
	strftime(out, 16, "%H:%M:%S", &tm);
}

/* ---- the lines above the rows ---- */

static uint64_t shown_end(const struct screen *s)
{
	const struct history *h = s->history;

	if (s->frozen)
		return s->end;
	return h->count ? h->seconds[h->count - 1].second + 1 : 0;
}

static void draw_title(const struct screen *s, const struct draw_facts *facts)
{
	char end[16], path[256] = "", missing[48] = "";
	size_t used = 0;

	for (size_t i = 0; i < s->step_count && used < sizeof(path); i++)
		if (!s->steps[i].dso || i + 1 == s->step_count || s->steps[i + 1].first)
			used += (size_t)snprintf(path + used, sizeof(path) - used, " > %s",
						 s->steps[i].name);
	clock_text(facts, shown_end(s) * SECOND_NS, end);
	attron(A_REVERSE);
	mvhline(0, 0, ' ', COLS);
	if (s->missing)
		snprintf(missing, sizeof(missing), "  counting %zu s", s->missing);
	put_line(0, " ebprec live  %s by %s  %u s to %s%s%s%s%s%s%s", screen_measure_name(s),
		 screen_by_name(s), s->window, end, missing, s->frozen ? "  FROZEN" : "",
		 *s->filter ? "  /" : "", s->filter, *s->filter ? "/" : "", path);
	attroff(A_REVERSE);
}

/* What the samples are of that are counted. */
static const char *mode_of(const struct history *h)
{
	return h->no_kernel ? "user" : h->no_user ? "kernel" : "busy";
}

static void draw_account(const struct screen *s, const struct draw_facts *facts)
{
	uint64_t samples = 0, lost = 0;
	const struct history *h = s->history;
	double slots, seconds = s->count ? (double)s->count : 1,
		      runnable = history_runnable(h, s->first, s->count);
	char running[32] = "";

	for (size_t i = 0; i < s->count; i++) {
		const struct history_second *x = &h->seconds[s->first + i];

		samples += x->sample_count;
		lost += x->lost;
	}
	if (runnable >= 0)
		snprintf(running, sizeof(running), "  runnable %.1f", runnable);
	slots = seconds * facts->freq_hz * facts->cpu_count;
	put_line(1,
		 " %u CPUs %3.0f%% %s%s  lost %" PRIu64 "  own %.1f%% of a CPU, %" PRIu64
		 " MiB  past %zu:%02zu",
		 facts->cpu_count, slots > 0 ? 100 * (double)samples / slots : 0, mode_of(h),
		 running, lost, facts->recorder_percent + facts->own_percent,
		 facts->memory_bytes >> 20, h->count / 60, h->count % 60);
}

static unsigned most_strips(void)
{
	return LINES < 30 ? STRIPS_MAX / 2 : STRIPS_MAX;
}

/* Of CPUs. */
static unsigned strip_count(const struct draw_facts *facts)
{
	return facts->cpu_count < most_strips() ? facts->cpu_count : most_strips();
}

/* The lines of the strips; those of groups have as many however few groups there are. */
static int strip_lines(const struct screen *s, const struct draw_facts *facts)
{
	return (int)(s->group_strips ? most_strips() : strip_count(facts));
}

/* The CPUs of strip i, [*first, *end). */
static void cpus_of(const struct draw_facts *facts, unsigned i, size_t *first, size_t *end)
{
	unsigned strips = strip_count(facts);

	*first = (size_t)facts->cpu_count * i / strips;
	*end = (size_t)facts->cpu_count * (i + 1) / strips;
}

/* In eighths of what so many CPUs can do. */
static unsigned eighths_of(uint64_t samples, size_t cpus, unsigned freq_hz)
{
	uint64_t all = (uint64_t)cpus * freq_hz, eighths;

	if (all && samples >= all)
		return 8;
	eighths = all ? (samples * 8 + all / 2) / all : 0;
	return samples && !eighths ? 1 : (unsigned)eighths;
}

static unsigned heat_of(const struct history_second *x, size_t first, size_t end, unsigned freq_hz)
{
	uint64_t samples = 0;

	for (size_t cpu = first; cpu < end && cpu < x->cpu_count; cpu++)
		samples += x->cpu_samples[cpu];
	return eighths_of(samples, end - first, freq_hz);
}

static void put_heat(int y, int x, unsigned eighths)
{
	static const char *const blocks[] = { " ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█" };
	static const char letters[] = " .:-=+*#@";
	int pair = eighths < 3 ? PAIR_COOL : eighths < 6 ? PAIR_WARM : PAIR_HOT;

	attron(COLOR_PAIR(pair));
	if (is_utf8())
		mvaddstr(y, x, blocks[eighths]);
	else
		mvaddch(y, x, (chtype)letters[eighths]);
	attroff(COLOR_PAIR(pair));
}

/* Columns of their names. */
static int strip_left(const struct screen *s)
{
	return s->group_strips ? 20 : 10;
}

/* The column of a second: the last one is at the right. */
static int column_of(uint64_t end, uint64_t second)
{
	uint64_t back = end - 1 - second;

	return second >= end || back >= (uint64_t)COLS ? -1 : COLS - 1 - (int)back;
}

static void draw_cpu_strips(const struct screen *s, const struct draw_facts *facts, uint64_t end)
{
	const struct history *h = s->history;

	for (unsigned i = 0; i < strip_count(facts); i++) {
		size_t first, last;
		int y = HEAD_LINES + (int)i;

		cpus_of(facts, i, &first, &last);
		if (last - first > 1)
			mvprintw(y, 0, " %zu-%zu", first, last - 1);
		else
			mvprintw(y, 0, " CPU %zu", first);
		for (size_t k = 0; k < h->count; k++) {
			int x = column_of(end, h->seconds[k].second);

			if (x >= strip_left(s))
				put_heat(y, x,
					 heat_of(&h->seconds[k], first, last, facts->freq_hz));
		}
	}
}

static void draw_group_strips(const struct screen *s, const struct draw_facts *facts, uint64_t end)
{
	const struct strips *strips = &s->strips;
	const struct history *h = s->history;

	for (unsigned i = 0; i < strips->count && i < most_strips(); i++) {
		int y = HEAD_LINES + (int)i;

		put_text(y, 1, strip_left(s) - 2, string_table_text(h->names, strips->labels[i]));
		for (size_t k = strips->from; k < h->count; k++) {
			int x = column_of(end, h->seconds[k].second);

			if (x >= strip_left(s))
				put_heat(y, x,
					 eighths_of(strips_samples(strips, i, k), 1,
						    facts->freq_hz));
		}
	}
}

/* Which seconds are shown, where marks were, and the text of the last one. */
static void draw_marks(const struct screen *s, const struct draw_facts *facts, int y, uint64_t end)
{
	const struct history *h = s->history;
	const struct history_mark *last = NULL;
	uint64_t shown = shown_end(s);
	char at[16];

	for (uint64_t second = shown > s->window ? shown - s->window : 0; second < shown;
	     second++) {
		int x = column_of(end, second);

		if (x >= strip_left(s))
			mvaddch(y, x, '-');
	}
	attron(COLOR_PAIR(PAIR_MARK));
	for (size_t i = 0; i < h->mark_count; i++) {
		int x = column_of(end, h->marks[i].time_ns / SECOND_NS);

		if (x >= strip_left(s))
			mvaddch(y, x, 'M');
		if (h->marks[i].time_ns / SECOND_NS < shown)
			last = &h->marks[i];
	}
	if (last) {
		clock_text(facts, last->time_ns, at);
		put_text(y + 1, 1, COLS - 1, "mark");
		put_text(y + 1, 6, COLS - 6, at);
		put_text(y + 1, 15, COLS - 15, last->text);
	}
	attroff(COLOR_PAIR(PAIR_MARK));
}

/* ---- rows ---- */

static int pair_of(const struct history *h, uint32_t label)
{
	if (label & VIEW_GROUP)
		return PAIR_GROUP;
	if (h->frames[label].is_wait)
		return PAIR_WAIT;
	return h->frames[label].is_kernel ? PAIR_KERNEL : 0;
}

static double percent_of(const struct view *v, uint64_t part)
{
	return v->all ? 100 * (double)part / (double)v->all : 0;
}

static bool is_time(const char *unit)
{
	return !strcmp(unit, "us") || !strcmp(unit, "ns");
}

static void draw_cost(const struct screen *s, uint64_t cost, char out[24])
{
	const char *unit = screen_unit(s);

	if (is_time(unit))
		snprintf(out, 24, "%.3f s", (double)cost / (*unit == 'u' ? 1e6 : 1e9));
	else
		snprintf(out, 24, "%" PRIu64, cost);
}

/* Lines, where the terminal has them, that show how deep a row is. */
static int draw_indent(int y, int x, unsigned depth)
{
	int most = COLS / 2;

	for (unsigned i = 0; i < depth && x < most; i++, x += 2)
		mvaddstr(y, x, is_utf8() ? "│" : "|");
	return x;
}

static void draw_row(const struct screen *s, int y, const struct view_row *row)
{
	const struct history *h = s->history;
	const char *object = view_object(h, row->label);
	int object_at = COLS - 22 > 50 ? COLS - 22 : COLS, name_at = 28;
	char cost[24];

	draw_cost(s, s->form == VIEW_TABLE ? row->self : row->total, cost);
	mvprintw(y, 0, "%6.2f%% %6.2f%% %10s", percent_of(&s->view, row->self),
		 percent_of(&s->view, row->total), cost);
	if (s->form == VIEW_TREE)
		name_at = draw_indent(y, name_at, row->depth);
	attron(COLOR_PAIR(pair_of(h, row->label)));
	put_text(y, name_at, object_at - name_at - 1, view_text(h, row->label));
	attroff(COLOR_PAIR(pair_of(h, row->label)));
	put_text(y, object_at, COLS - object_at, object);
}

static void draw_rows(struct screen *s, int y, int end)
{
	unsigned page = end > y + 1 ? (unsigned)(end - y - 1) : 1;

	s->page = page;
	if (s->row < s->top)
		s->top = s->row;
	if (s->row >= s->top + page)
		s->top = s->row - page + 1;
	attron(A_BOLD);
	mvprintw(y, 0, "%7s %7s %10s  %s", "self", "total",
		 is_time(screen_unit(s)) ? "time" : screen_unit(s),
		 s->groups && !s->step_count && s->form == VIEW_TABLE ? screen_by_name(s)
								      : "function");
	attroff(A_BOLD);
	for (unsigned i = 0; i < page && s->top + i < s->view.count; i++) {
		bool here = s->top + i == s->row;

		if (here)
			attron(A_REVERSE);
		if (here)
			mvhline(y + 1 + (int)i, 0, ' ', COLS);
		draw_row(s, y + 1 + (int)i, &s->view.rows[s->top + i]);
		if (here)
			attroff(A_REVERSE);
	}
}

static void draw_box(const struct screen *s, int y, const struct view_row *row, bool here)
{
	uint64_t left = s->view.left ? s->view.left : 1;
	int x = (int)((double)row->at / (double)left * COLS),
	    end = (int)((double)(row->at + row->total) / (double)left * COLS);
	attr_t how = (here ? A_REVERSE | A_BOLD : A_REVERSE) |
		     COLOR_PAIR(here ? PAIR_HOT : pair_of(s->history, row->label));

	if (end <= x)
		return;
	attron(how);
	mvhline(y, x, ' ', end - x);
	if (end - x > 1)
		put_text(y, x, end - x - 1, view_text(s->history, row->label));
	attroff(how);
	if (!here || end - x > 1)
		mvaddch(y, end - 1, '|' | (here ? A_REVERSE : 0));
}

static void draw_icicle(struct screen *s, int y, int end)
{
	const struct view_row *row = s->row < s->view.count ? &s->view.rows[s->row] : NULL;
	unsigned page = end > y + 1 ? (unsigned)(end - y - 1) : 1, top = 0;
	char cost[24];

	s->page = page;
	if (row) {
		top = row->depth >= page ? row->depth - page + 1 : 0;
		draw_cost(s, row->total, cost);
		attron(A_BOLD);
		mvprintw(y, 0, "%6.2f%% %s ", percent_of(&s->view, row->total), cost);
		put_text(y, 24, COLS - 24, view_text(s->history, row->label));
		attroff(A_BOLD);
	}
	for (size_t i = 0; i < s->view.count; i++) {
		const struct view_row *r = &s->view.rows[i];

		if (r->depth >= top && r->depth < top + page)
			draw_box(s, y + 1 + (int)(r->depth - top), r, i == s->row);
	}
}

/* ---- all ---- */

static void draw_bottom(const struct screen *s)
{
	int y = LINES - 1;

	if (s->prompt)
		put_line(y, "%s%s_", s->prompt == SCREEN_FILTER ? "/" : "mark: ", s->input);
	else if (*s->status)
		put_line(y, "%s", s->status);
	else
		put_line(y, "c o w  v form  t group  Enter zoom  / filter  space Left Right time  "
			    "m s q  ? help");
}

static void draw_help(int y)
{
	const char *const *lines = screen_help();

	for (; *lines && y < LINES - 1; lines++, y++)
		put_line(y, "  %s", *lines);
}

void draw_screen(struct screen *s, const struct draw_facts *facts)
{
	uint64_t end = shown_end(s);
	int y = HEAD_LINES + strip_lines(s, facts);

	s->width = (unsigned)COLS;
	erase();
	draw_title(s, facts);
	draw_account(s, facts);
	if (s->group_strips)
		draw_group_strips(s, facts, end);
	else
		draw_cpu_strips(s, facts, end);
	draw_marks(s, facts, y, end);
	y += 2;
	if (s->help)
		draw_help(y);
	else if (s->form == VIEW_ICICLE)
		draw_icicle(s, y, LINES - 1);
	else
		draw_rows(s, y, LINES - 1);
	if (!s->view.count && !s->help)
		put_line(y + 2, "  %s",
			 s->history->count ? "nothing in these seconds" : "the first second ...");
	draw_bottom(s);
	refresh();
}
