/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * curl_library - libcurl, loaded when something is to be sent
 *
 * It brings thirty libraries, which would double the time in which every other command starts; and a program that was linked
 * for any distribution finds the one that is there.
 */
#ifndef EBPREC_ANALYZE_PUSH_CURL_LIBRARY_H
#define EBPREC_ANALYZE_PUSH_CURL_LIBRARY_H

#include <curl/curl.h>

/* The functions, as curl's manual has them. */
struct curl_library {
	void *handle;
	CURLcode (*global_init)(long flags);
	void (*global_cleanup)(void);
	CURL *(*easy_init)(void);
	void (*easy_cleanup)(CURL *easy);
	CURLcode (*easy_setopt)(CURL *easy, CURLoption option, ...);
	CURLcode (*easy_getinfo)(CURL *easy, CURLINFO info, ...);
	const char *(*easy_strerror)(CURLcode code);
	CURLM *(*multi_init)(void);
	CURLMcode (*multi_cleanup)(CURLM *multi);
	CURLMcode (*multi_add_handle)(CURLM *multi, CURL *easy);
	CURLMcode (*multi_remove_handle)(CURLM *multi, CURL *easy);
	CURLMcode (*multi_perform)(CURLM *multi, int *running);
	CURLMcode (*multi_poll)(CURLM *multi, struct curl_waitfd *more, unsigned more_count,
				int timeout_ms, int *ready);
	CURLMsg *(*multi_info_read)(CURLM *multi, int *left);
	struct curl_slist *(*slist_append)(struct curl_slist *list, const char *text);
	void (*slist_free_all)(struct curl_slist *list);
};

/* -ENOENT: there is no libcurl.so.4 that has them all, or no loader.  *out: curl_library_close(). */
int curl_library_open(struct curl_library *out);
void curl_library_close(struct curl_library *l); /* all zero is fine */

#endif
