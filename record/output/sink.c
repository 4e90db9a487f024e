/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "record/output/sink.h"

#include <errno.h>
#include <string.h>
#include <sys/resource.h>

#include "format/base/cursor.h"

static void seen(struct emit *e, uint64_t time_ns)
{
	if (!time_ns)
		return; /* before the recording: perf takes it at once */
	if (time_ns < e->floor_ns)
		e->account.out_of_order_count++;
	if (time_ns > e->newest_ns)
		e->newest_ns = time_ns;
}

int emit_sample(struct emit *e, enum attrs_event event, struct samplerec *s)
{
	static const struct {
		enum ebx_stream stream;
	} to[ATTR_METRIC] = {
		[ATTR_SAMPLE] = { EBX_STREAM_CPU },    [ATTR_SWITCH] = { EBX_STREAM_SCHED },
		[ATTR_WAKEUP] = { EBX_STREAM_SCHED },  [ATTR_WAKEUP_NEW] = { EBX_STREAM_SCHED },
		[ATTR_MIGRATE] = { EBX_STREAM_SCHED }, [ATTR_FORK] = { EBX_STREAM_SCHED },
		[ATTR_EXIT] = { EBX_STREAM_SCHED },    [ATTR_MARK] = { EBX_STREAM_MARK },
		[ATTR_WAKER] = { EBX_STREAM_SCHED },   [ATTR_RUNTIME] = { EBX_STREAM_SCHED },
		[ATTR_EXITED] = { EBX_STREAM_SCHED },  [ATTR_COUNTER] = { EBX_STREAM_METRIC },
		[ATTR_SIDE] = { EBX_STREAM_SIDE },
	};
	enum ebx_stream stream = event >= ATTR_METRIC ? EBX_STREAM_METRIC : to[event].stream;
	_Alignas(8) uint8_t record[SAMPLEREC_MAX_BYTES];
	size_t bytes;

	s->id = attrs_id(e->attrs, event);
	bytes = samplerec_encode(record, s);
	if (!bytes)
		return -EBADMSG;
	seen(e, s->time_ns);
	e->account.sample_count += event == ATTR_SAMPLE;
	e->account.switch_count += event == ATTR_SWITCH;
	e->account.wakeup_count += event == ATTR_WAKEUP || event == ATTR_WAKEUP_NEW;
	e->account.mark_count += event == ATTR_MARK;
	e->account.row_count += event >= ATTR_METRIC;
	return writer_record(e->writer, stream, record, bytes, s->time_ns, (int)s->cpu);
}

void emit_count_stack(struct emit *e, const struct stackinfo *info)
{
	e->account.stack_how_count[info->how % STACKINFO_HOWS]++;
	if (info->how != STACKINFO_NONE)
		e->account.stack_why_count[info->why % UNWIND_WHY_COUNT]++;
	e->account.copy_count += !!(info->flags & STACKINFO_COPY);
}

int emit_kernel(struct emit *e, const struct perf_event_header *record, uint64_t time_ns)
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

uint64_t emit_side_id(const struct emit *e)
{
	return attrs_id(e->attrs, ATTR_SIDE);
}

int emit_side(struct emit *e, const struct siderec *r, size_t size_bytes)
{
	seen(e, r->time_ns);
	e->account.side_count++;
	return writer_record(e->writer, EBX_STREAM_SIDE, r->bytes, size_bytes, r->time_ns, -1);
}

int emit_lost(struct emit *e, const uint64_t counts[EBPREC_EV_END], uint64_t now_ns)
{
	static const struct {
		enum attrs_event event;
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
		[EBPREC_EV_METRIC] = { ATTR_METRIC, EBX_STREAM_METRIC },
	};
	struct siderec r = { .id = emit_side_id(e), .time_ns = now_ns };
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
		err = emit_side(e, &r, siderec_lost(&r, attrs_id(e->attrs, of[type].event), fresh));
	}
	return err;
}

void emit_round(struct emit *e)
{
	e->floor_ns = e->round_newest_ns;
	e->round_newest_ns = e->newest_ns;
	e->account.round_count++;
}

int emit_flush(struct emit *e)
{
	struct writer_stats stats;
	int err = writer_flush(e->writer, true);

	if (err)
		return err;
	emit_round(e);
	writer_get_stats(e->writer, &stats);
	e->account.file_bytes = stats.file_bytes;
	e->written = e->account;
	return 0;
}

int emit_give_up(struct emit *e, uint64_t now_ns)
{
	const struct account *written = &e->written;
	struct account *a = &e->account;
	struct account missing = account_since(a, written);
	struct siderec r = { .id = emit_side_id(e), .time_ns = now_ns };
	uint64_t counts[EBPREC_EV_END];
	int err = writer_give_up(e->writer);
	uint32_t type;

	if (err)
		return err;
	for (type = 0; type < EBPREC_EV_END; type++)
		counts[type] = a->lost_count[type] - e->unwritten[type];
	e->unwritten[EBPREC_EV_CPU] += missing.sample_count;
	e->unwritten[EBPREC_EV_SWITCH] += missing.switch_count;
	e->unwritten[EBPREC_EV_TASK] += missing.wakeup_count;
	e->unwritten[EBPREC_EV_MARK] += missing.mark_count;
	a->side_lost_count += missing.side_count;
	a->sample_count = written->sample_count;
	a->switch_count = written->switch_count;
	a->switch_stack_count = written->switch_stack_count;
	a->wakeup_count = written->wakeup_count;
	a->mark_count = written->mark_count;
	a->side_count = written->side_count;
	a->copy_count = written->copy_count;
	memcpy(a->stack_how_count, written->stack_how_count, sizeof(a->stack_how_count));
	memcpy(a->stack_why_count, written->stack_why_count, sizeof(a->stack_why_count));
	/* The records that told of these losses are among what was not written. */
	memcpy(e->reported_lost, written->lost_count, sizeof(e->reported_lost));
	err = emit_lost(e, counts, now_ns);
	if (err || !missing.side_count)
		return err;
	return emit_side(e, &r, siderec_lost(&r, emit_side_id(e), missing.side_count));
}

void account_own_cost(struct account *a)
{
	struct rusage usage = { 0 };

	getrusage(RUSAGE_SELF, &usage);
	a->own_user_ns = (uint64_t)usage.ru_utime.tv_sec * 1000000000ULL +
			 (uint64_t)usage.ru_utime.tv_usec * 1000ULL;
	a->own_peak_bytes = (uint64_t)usage.ru_maxrss << 10;
	a->own_user_ns += a->table_reader_ns; /* as of the last count */
	a->own_system_ns = (uint64_t)usage.ru_stime.tv_sec * 1000000000ULL +
			   (uint64_t)usage.ru_stime.tv_usec * 1000ULL;
}

struct account account_since(const struct account *all, const struct account *before)
{
	struct account a = *all;
	unsigned i;

	a.sample_count -= before->sample_count;
	a.switch_count -= before->switch_count;
	a.wakeup_count -= before->wakeup_count;
	a.mark_count -= before->mark_count;
	a.row_count -= before->row_count;
	a.side_count -= before->side_count;
	a.switch_stack_count -= before->switch_stack_count;
	a.side_lost_count -= before->side_lost_count;
	a.throttle_count -= before->throttle_count;
	a.copy_count -= before->copy_count;
	a.copy_refused_count -= before->copy_refused_count;
	a.unread_mark_count -= before->unread_mark_count;
	a.interrupted_count -= before->interrupted_count;
	a.out_of_order_count -= before->out_of_order_count;
	a.broken_event_count -= before->broken_event_count;
	a.round_count -= before->round_count;
	a.duration_ns -= before->duration_ns;
	a.own_user_ns -= before->own_user_ns;
	a.own_system_ns -= before->own_system_ns;
	a.sampling_ns -= before->sampling_ns;
	a.thinned_count -= before->thinned_count;
	for (i = 0; i < EBPREC_EV_END; i++)
		a.lost_count[i] -= before->lost_count[i];
	for (i = 0; i < STACKINFO_HOWS; i++)
		a.stack_how_count[i] -= before->stack_how_count[i];
	for (i = 0; i < UNWIND_WHY_COUNT; i++)
		a.stack_why_count[i] -= before->stack_why_count[i];
	a.hit_count = 0; /* known of a whole recording alone */
	return a;
}
