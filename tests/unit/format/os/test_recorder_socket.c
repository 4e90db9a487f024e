/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "format/os/recorder_socket.h"

#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

/* A recorder in this process, with the name of the one with that pid. */
static int listen_as(int pid)
{
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	struct sockaddr_un at;
	socklen_t bytes = recorder_socket_address(pid, &at);

	assert_int_equal(bind(fd, (struct sockaddr *)&at, bytes), 0);
	assert_int_equal(listen(fd, 4), 0);
	return fd;
}

struct server {
	int fd;
	const char *answer; /* NULL: it hangs up */
	size_t bytes;
	pthread_t asking; /* gets so many SIGUSR1 before the answer */
	unsigned signals;
	char asked[32]; /* what came */
};

static void *answer_one(void *arg)
{
	struct server *s = arg;
	int fd = accept(s->fd, NULL, NULL);

	if (s->answer)
		assert_true(recv(fd, s->asked, sizeof(s->asked) - 1, 0) > 0);
	for (unsigned i = 0; i < s->signals; i++) {
		usleep(20000);
		pthread_kill(s->asking, SIGUSR1);
	}
	if (s->answer)
		send(fd, s->answer, s->bytes, MSG_NOSIGNAL);
	close(fd);
	return NULL;
}

static int ask_server_for(struct server *s, enum recorder_request request,
			  char text[RECORDER_SOCKET_ANSWER_BYTES])
{
	pthread_t thread;
	int err;

	s->fd = listen_as(getpid());
	s->asking = pthread_self();
	assert_int_equal(pthread_create(&thread, NULL, answer_one, s), 0);
	err = recorder_socket_ask(getpid(), request, -1, text);
	pthread_join(thread, NULL);
	close(s->fd);
	return err;
}

static int ask_server(struct server *s, char text[RECORDER_SOCKET_ANSWER_BYTES])
{
	return ask_server_for(s, RECORDER_SNAPSHOT, text);
}

static void a_request_is_a_message_with_its_word(void **state)
{
	static const char *const words[] = { "ping", "snapshot", "stop" };
	char text[RECORDER_SOCKET_ANSWER_BYTES];

	for (unsigned i = 0; i < RECORDER_REQUEST_COUNT; i++) {
		struct server s = { .answer = "+", .bytes = 1 };

		assert_int_equal(ask_server_for(&s, i, text), 0);
		assert_string_equal(s.asked, words[i]);
	}
}

static void the_line_of_an_answer_comes_without_its_sign(void **state)
{
	struct server good = { .answer = "+in '/x'", .bytes = 8 },
		      bad = { .answer = "-full", .bytes = 5 },
		      never = { .answer = "?without --ring", .bytes = 15 };
	char text[RECORDER_SOCKET_ANSWER_BYTES];

	assert_int_equal(ask_server(&good, text), 0);
	assert_string_equal(text, "in '/x'");
	assert_int_equal(ask_server(&bad, text), -EIO);
	assert_string_equal(text, "full");
	assert_int_equal(ask_server(&never, text), -EOPNOTSUPP);
	assert_string_equal(text, "without --ring");
}

static void a_message_of_any_size_is_a_text(void **state)
{
	char text[RECORDER_SOCKET_ANSWER_BYTES], longest[2 * RECORDER_SOCKET_ANSWER_BYTES];
	struct server sign = { .answer = "+", .bytes = 1 };
	struct server more = { .answer = longest, .bytes = sizeof(longest) };

	assert_int_equal(ask_server(&sign, text), 0);
	assert_string_equal(text, "");
	memset(longest, '+', sizeof(longest));
	assert_int_equal(ask_server(&more, text), 0);
	assert_int_equal(strlen(text), RECORDER_SOCKET_ANSWER_BYTES - 1);
}

static void a_recorder_of_the_caller_that_hangs_up_has_ended(void **state)
{
	struct server s = { .answer = NULL };
	char text[RECORDER_SOCKET_ANSWER_BYTES];

	assert_int_equal(ask_server(&s, text), -ECONNRESET);
	assert_string_equal(text, "");
}

static void a_recorder_of_root_that_hangs_up_does_not_answer_another_user(void **state)
{
	char text[RECORDER_SOCKET_ANSWER_BYTES];
	int fd, status = -1, root = getpid();
	pid_t child;

	if (geteuid() != 0)
		skip();
	fd = listen_as(root);
	child = fork();
	if (!child) {
		if (seteuid(65534))
			_exit(2);
		_exit(recorder_socket_ask(root, RECORDER_PING, -1, text) != -EACCES);
	}
	close(accept(fd, NULL, NULL));
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
	close(fd);
}

static void ignore(int signal)
{
}

static void a_signal_of_the_caller_does_not_end_the_question(void **state)
{
	struct sigaction action = { .sa_handler = ignore }, before;
	struct server s = { .answer = "+done", .bytes = 5, .signals = 3 };
	char text[RECORDER_SOCKET_ANSWER_BYTES];

	sigaction(SIGUSR1, &action, &before);
	assert_int_equal(ask_server(&s, text), 0);
	assert_string_equal(text, "done");
	sigaction(SIGUSR1, &before, NULL);
}

static void without_an_answer_the_time_runs_out(void **state)
{
	char text[RECORDER_SOCKET_ANSWER_BYTES];
	int fd = listen_as(getpid());

	assert_int_equal(recorder_socket_ask(getpid(), RECORDER_PING, 30, text), -ETIMEDOUT);
	close(fd);
}

static void a_name_that_none_has_is_refused(void **state)
{
	char text[RECORDER_SOCKET_ANSWER_BYTES];

	assert_int_equal(recorder_socket_ask(getpid(), RECORDER_PING, 1000, text), -ECONNREFUSED);
	assert_int_equal(recorder_socket_ask(-7, RECORDER_PING, 1000, text), -ECONNREFUSED);
}

static void a_process_with_the_name_of_another_is_not_believed(void **state)
{
	char text[RECORDER_SOCKET_ANSWER_BYTES];
	int fd = listen_as(getppid());

	assert_int_equal(recorder_socket_ask(getppid(), RECORDER_PING, 1000, text), -EPERM);
	close(fd);
}

static size_t find_in_list(int pid)
{
	int pids[256];
	size_t count, found = 0;

	assert_int_equal(recorder_socket_list(pids, 256, &count), 0);
	for (size_t i = 0; i < count && i < 256; i++)
		found += pids[i] == pid;
	return found;
}

static void recorders_are_listed_while_they_listen(void **state)
{
	size_t all, count;
	int one, fd = listen_as(getpid());

	assert_int_equal(find_in_list(getpid()), 1);
	assert_int_equal(recorder_socket_list(NULL, 0, &all), 0);
	assert_int_equal(recorder_socket_list(&one, 1, &count), 0);
	assert_true(all >= 1 && count >= 1);
	close(fd);
	assert_int_equal(find_in_list(getpid()), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_request_is_a_message_with_its_word),
		cmocka_unit_test(the_line_of_an_answer_comes_without_its_sign),
		cmocka_unit_test(a_message_of_any_size_is_a_text),
		cmocka_unit_test(a_recorder_of_the_caller_that_hangs_up_has_ended),
		cmocka_unit_test(a_recorder_of_root_that_hangs_up_does_not_answer_another_user),
		cmocka_unit_test(a_signal_of_the_caller_does_not_end_the_question),
		cmocka_unit_test(without_an_answer_the_time_runs_out),
		cmocka_unit_test(a_name_that_none_has_is_refused),
		cmocka_unit_test(a_process_with_the_name_of_another_is_not_believed),
		cmocka_unit_test(recorders_are_listed_while_they_listen),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
