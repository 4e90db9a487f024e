/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "analyze/cmd/common/of_option.h"

#include <errno.h>
#include <string.h>

#include "analyze/cmd/common/usage.h"
#include "analyze/metric/layouts.h"
#include "analyze/out/message.h"

enum {
	OF_NAMES_BYTES = 256,
	OF_NAMES_MAX = 64,
};

/*
 * " (record some: ...)" for the stacks of that name; "" for an unknown name, where there are
 * others.
 */
static const char *how_to_record(const char *name, bool has_others, char room[80])
{
	const struct metric_view *v = metric_view_named(name, true);
	const char *instrument = v ? v->instrument : "syscalls";
	bool slower = !strcmp(instrument, "syscalls") || !strcmp(instrument, "block") ||
		      !strcmp(instrument, "locks") || !strcmp(instrument, "net");

	*room = '\0';
	if (v || !has_others)
		snprintf(room, 80, " (record some: ebprec record --with %s%s)", instrument,
			 slower ? " --slower 10ms" : "");
	return room;
}

/* ", did you mean 'NAME'?" of the stacks in the capture (names: parted by ", ") and of the instruments that take some. */
static void near_of(const char *word, const char *names, char room[USAGE_NEAR_BYTES])
{
	const char *list[OF_NAMES_MAX];
	char text[OF_NAMES_BYTES], *rest = text, *name;
	const struct metric_view *v;
	size_t count = 0;

	snprintf(text, sizeof(text), "%s", names);
	while (count < OF_NAMES_MAX && (name = strsep(&rest, ", ")))
		if (*name)
			list[count++] = name;
	for (size_t i = 0; count < OF_NAMES_MAX && (v = metric_view_at(i)); i++)
		if (v->weight)
			list[count++] = v->instrument;
	usage_near(word, strlen(word), list, count, room);
}

int of_option_choose(const struct capture *c, const char *path, const char *name,
		     struct layout_of *out)
{
	char names[OF_NAMES_BYTES], how[80], near[USAGE_NEAR_BYTES];
	int err = layout_of_find(c, name, out);

	if (!err)
		return 0;
	if ((err != -ENOENT && err != -ENODATA) || layout_of_names(c, names, sizeof(names)))
		return message_error("cannot read '%s': %s", path, strerror(-err));
	*near = '\0';
	if (err == -ENOENT && !metric_view_named(name, true))
		near_of(name, names, near);
	if (*near)
		return message_error("'%s' has no stacks of '%s'%s", path, name, near);
	return message_error("'%s' has no stacks of '%s'%s%s%s", path, name,
			     *names ? ", but of: " : "", names, how_to_record(name, *names, how));
}
