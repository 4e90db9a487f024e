/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "analyze/out/terminal.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/ioctl.h>
#include <unistd.h>

#define COLUMNS_LEAST 20 /* narrower terminals are not believed */

static const char *env(const char *name)
{
	const char *value = getenv(name);

	return value ? value : "";
}

static bool wants_color(bool seen)
{
	const char *when = env("EBPREC_COLOR");

	if (!strcmp(when, "always"))
		return true;
	return seen && strcmp(when, "never") != 0 && !*env("NO_COLOR") &&
	       strcmp(env("TERM"), "dumb") != 0;
}

static bool locale_is_utf8(void)
{
	const char *locale = env("LC_ALL");

	if (!*locale)
		locale = env("LC_CTYPE");
	if (!*locale)
		locale = env("LANG");
	return strcasestr(locale, "utf-8") || strcasestr(locale, "utf8");
}

static unsigned columns_of(int fd)
{
	unsigned long columns = strtoul(env("COLUMNS"), NULL, 10);
	struct winsize size;

	if (!columns && !ioctl(fd, TIOCGWINSZ, &size))
		columns = size.ws_col;
	if (!columns || columns > 10000)
		return 0;
	return columns < COLUMNS_LEAST ? COLUMNS_LEAST : (unsigned)columns;
}

void terminal_of(FILE *to, struct terminal *out)
{
	bool is_terminal = isatty(fileno(to)), seen = is_terminal || *env("EBPREC_PAGER_IN_USE");
	const char *utf8 = env("EBPREC_UTF8");

	*out = (struct terminal){
		.color = wants_color(seen),
		.utf8 = *utf8 ? *utf8 == '1' : seen && locale_is_utf8(),
		.columns = is_terminal ? columns_of(fileno(to)) : 0,
	};
}

static const char *const inks[INK_COUNT] = {
	[INK_NONE] = "",         [INK_HOT] = "\033[1;31m", [INK_WARM] = "\033[33m",
	[INK_FAINT] = "\033[2m", [INK_GOOD] = "\033[32m",  [INK_BAD] = "\033[31m",
};

const char *terminal_ink(const struct terminal *t, enum terminal_ink ink)
{
	return t->color ? inks[ink] : "";
}

const char *terminal_plain(const struct terminal *t, enum terminal_ink ink)
{
	return t->color && *inks[ink] ? "\033[0m" : "";
}

enum terminal_ink terminal_ink_of_percent(double percent)
{
	return percent >= 5 ? INK_HOT : percent >= 0.5 ? INK_WARM : INK_NONE;
}

void terminal_percent(FILE *to, const struct terminal *t, double percent)
{
	enum terminal_ink ink = terminal_ink_of_percent(percent);

	fprintf(to, "%s%7.2f%%%s", terminal_ink(t, ink), percent, terminal_plain(t, ink));
}
