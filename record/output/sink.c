/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "record/output/sink.h"

#include <errno.h>
#include <string.h>

#include "format/base/cursor.h"
#include "format/base/foreign.h"

static void seen(struct sink *e, uint64_t time_ns)
{
	if (!time_ns)
		return; /* before the recording: perf takes it at once */
	if (time_ns < e->floor_ns)
		e->account.out_of_order_count++;
	if (time_ns > e->newest_ns)
		e->newest_ns = time_ns;
}

/* For the samples of an event: their stream, and the number that counts them. */
static const struct sample_kind {
	enum ebx_stream stream;
	uint64_t counted_at; /* in struct account */
} sample_kinds[ATTR_METRIC + 1] = {
#define COUNTED(stream, field)                                       \
	{                                                            \
		EBX_STREAM_##stream, offsetof(struct account, field) \
	}
	[ATTR_SAMPLE] = COUNTED(CPU, sample_count),
	[ATTR_SWITCH] = COUNTED(SCHED, switch_count),
	[ATTR_WAKEUP] = COUNTED(SCHED, wakeup_count),
	[ATTR_WAKEUP_NEW] = COUNTED(SCHED, wakeup_count),
	[ATTR_MIGRATE] = COUNTED(SCHED, task_count),
	[ATTR_FORK] = COUNTED(SCHED, task_count),
	[ATTR_EXIT] = COUNTED(SCHED, task_count),
	[ATTR_RUNTIME] = COUNTED(SCHED, task_count),
	[ATTR_WAKER] = COUNTED(SCHED, waker_count),
	[ATTR_EXITED] = COUNTED(SCHED, exit_count),
	[ATTR_MARK] = COUNTED(MARK, mark_count),
	[ATTR_SIDE] = COUNTED(SIDE, side_count),
	[ATTR_METRIC] = COUNTED(METRIC, row_count),
#undef COUNTED
};

int sink_sample(struct sink *e, enum event_attrs_event event, struct sample_record *s)
{
	const struct sample_kind *kind = &sample_kinds[event < ATTR_METRIC ? event : ATTR_METRIC];
	_Alignas(8) uint8_t record[SAMPLE_RECORD_MAX_BYTES];
	size_t bytes;

	s->id = event_attrs_id(e->attrs, event);
	bytes = sample_record_encode(record, s);
	if (!bytes)
		return -EBADMSG;
	seen(e, s->time_ns);
	++*(uint64_t *)((char *)&e->account + kind->counted_at);
	e->account.foreign_count += event == ATTR_SAMPLE && s->pid == FOREIGN_PID;
	return writer_record(e->writer, kind->stream, record, bytes, s->time_ns, (int)s->cpu);
}

void sink_count_stack(struct sink *e, const struct stack_result *info)
{
	e->account.stack_how_count[info->how % STACK_RESULT_HOWS]++;
	if (info->how != STACK_RESULT_NONE)
		e->account.stack_why_count[info->why % UNWIND_WHY_COUNT]++;
	e->account.copy_count += !!(info->flags & STACK_RESULT_COPY);
}

int sink_kernel(struct sink *e, const struct perf_event_header *record, uint64_t time_ns)
{
	const uint8_t *body = (const uint8_t *)(record + 1);

	seen(e, time_ns);
	e->account.side_count++;
	if (record->type == PERF_RECORD_LOST && e->samples_in_side_rings) {
		e->account.lost_count[EBPREC_EV_CPU] += le64_load(body + 8);
		writer_lost(e->writer, EBX_STREAM_CPU, le64_load(body + 8));
	} else if (record->type == PERF_RECORD_LOST)
		e->account.side_lost_count += le64_load(body + 8);
	else if (record->type == PERF_RECORD_THROTTLE)
		e->account.throttle_count++;
	return writer_record(e->writer, EBX_STREAM_SIDE, record, record->size, time_ns, -1);
}

uint64_t sink_side_id(const struct sink *e)
{
	return event_attrs_id(e->attrs, ATTR_SIDE);
}

int sink_side(struct sink *e, const struct side_record *r, size_t size_bytes)
{
	seen(e, r->time_ns);
	e->account.side_count++;
	return writer_record(e->writer, EBX_STREAM_SIDE, r->bytes, size_bytes, r->time_ns, -1);
}

void sink_count_unrecorded(struct sink *e, uint32_t type)
{
	e->unwritten[type]++;
}

int sink_lost(struct sink *e, const uint64_t counts[EBPREC_EV_END], uint64_t now_ns)
{
	static const struct {
		enum event_attrs_event event;
		enum ebx_stream stream;
	} of[EBPREC_EV_END] = {
		[EBPREC_EV_CPU] = { ATTR_SAMPLE, EBX_STREAM_CPU },
		[EBPREC_EV_SWITCH] = { ATTR_SWITCH, EBX_STREAM_SCHED },
		[EBPREC_EV_SWITCH_COPY] = { ATTR_SWITCH, EBX_STREAM_SCHED },
		[EBPREC_EV_MARK] = { ATTR_MARK, EBX_STREAM_MARK },
		[EBPREC_EV_PROBE] = { ATTR_MARK, EBX_STREAM_MARK },
		[EBPREC_EV_COPY] = { ATTR_SAMPLE, EBX_STREAM_CPU },
		[EBPREC_EV_WAKER] = { ATTR_WAKER, EBX_STREAM_SCHED },
		[EBPREC_EV_TASK] = { ATTR_WAKEUP, EBX_STREAM_SCHED },
		[EBPREC_EV_EXIT] = { ATTR_EXITED, EBX_STREAM_SCHED },
		[EBPREC_EV_EXEC] = { ATTR_SIDE, EBX_STREAM_SIDE },
		[EBPREC_EV_CODE] = { ATTR_SIDE, EBX_STREAM_SIDE },
		[EBPREC_EV_TARGET] = { ATTR_SIDE, EBX_STREAM_SIDE },
		[EBPREC_EV_METRIC] = { ATTR_METRIC, EBX_STREAM_METRIC },
	};
	struct side_record r = { .id = sink_side_id(e), .time_ns = now_ns };
	uint64_t fresh;
	uint32_t type;
	int err = 0;

	for (type = 0; type < EBPREC_EV_END; type++)
		e->account.lost_count[type] = counts[type] + e->unwritten[type];
	for (type = EBPREC_EV_CPU; type < EBPREC_EV_END && !err; type++) {
		fresh = e->account.lost_count[type] - e->reported_lost[type];
		if (!fresh)
			continue;
		e->reported_lost[type] += fresh;
		writer_lost(e->writer, of[type].stream, fresh);
		err = sink_side(
			e, &r,
			side_record_lost(&r, event_attrs_id(e->attrs, of[type].event), fresh));
	}
	return err;
}

void sink_round(struct sink *e)
{
	e->floor_ns = e->round_newest_ns;
	e->round_newest_ns = e->newest_ns;
	e->account.round_count++;
}

int sink_flush(struct sink *e)
{
	struct writer_stats stats;
	int err = writer_flush(e->writer, true);

	if (err)
		return err;
	sink_round(e);
	writer_get_stats(e->writer, &stats);
	e->account.file_bytes = stats.file_bytes;
	e->written = e->account;
	return 0;
}

int sink_give_up(struct sink *e, uint64_t now_ns)
{
	struct side_record r = { .id = sink_side_id(e), .time_ns = now_ns };
	uint64_t counts[EBPREC_EV_END], missing[EBPREC_EV_END + 1] = { 0 }, side_lost;
	struct account *a = &e->account;
	int err = writer_give_up(e->writer);
	uint32_t type;

	if (err)
		return err;
	e->gave_up = true;
	account_give_up(a, &e->written, missing);
	for (type = 0; type < EBPREC_EV_END; type++) {
		counts[type] = a->lost_count[type] - e->unwritten[type];
		e->unwritten[type] += missing[type];
	}
	a->side_lost_count += missing[ACCOUNT_LOST_SIDE];
	/* The LOST records of these losses, and of all since the last good write, were not written either. */
	memcpy(e->reported_lost, e->written.lost_count, sizeof(e->reported_lost));
	side_lost = a->side_lost_count - e->written.side_lost_count;
	err = sink_lost(e, counts, now_ns);
	if (err || !side_lost)
		return err;
	return sink_side(e, &r, side_record_lost(&r, sink_side_id(e), side_lost));
}
