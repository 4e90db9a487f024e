// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
// Texts: regular expressions, streams, strings.
#include <algorithm>
#include <regex>
#include <sstream>
#include <string>
#include <vector>

#include "work.h"

namespace {
std::string make(unsigned long n)
{
	std::ostringstream out;

	for (unsigned long i = 0; i < 12; i++)
		out << "key" << (n * 7919 + i * 31) % 97 << " = " << std::hex << i * n << ';';
	return out.str();
}

unsigned long count_words(const std::string &text)
{
	static const std::regex word("([a-z]+)([0-9]+) = ([0-9a-f]*);");
	unsigned long sum = 0;

	for (std::sregex_iterator it(text.begin(), text.end(), word), end; it != end; ++it)
		sum += static_cast<unsigned long>((*it)[2].length() + (*it)[3].length());
	return sum;
}
}

extern "C" unsigned long ENTRY(unsigned long n)
{
	std::string text = make(n);
	std::vector<std::string> parts;
	std::istringstream in(text);

	for (std::string part; std::getline(in, part, ';');)
		parts.push_back(part);
	std::sort(parts.begin(), parts.end());
	return count_words(text) + parts.size();
}
