// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
/*
 * cpp_shares - virtual calls, templates, library calls back into ours, and exceptions; three functions share the time 3:2:1
 *
 *	cpp_shares SECONDS	of its own CPU time
 */
#include <algorithm>
#include <cstdlib>
#include <ctime>
#include <stdexcept>
#include <vector>

struct Work {
	virtual ~Work() = default;
	virtual unsigned run(unsigned seed) = 0;
};

/* Sorts by a comparison that the library calls, and throws what the caller catches. */
__attribute__((noinline)) static unsigned unit(unsigned seed)
{
	std::vector<unsigned> values(512);

	for (auto &v : values)
		v = seed = seed * 1664525 + 1013904223;
	std::sort(values.begin(), values.end(), [](unsigned a, unsigned b) { return a % 4093 < b % 4093; });
	if (values[0] % 16 == 1)
		throw std::runtime_error("uneven");
	return values[0];
}

template <int N> struct Part : Work {
	__attribute__((noinline)) unsigned run(unsigned seed) override
	{
		unsigned sum = 0;

		for (int i = 0; i < N; i++) {
			try {
				sum += unit(seed + i);
			} catch (const std::exception &e) {
				sum += e.what()[0];
			}
		}
		return sum;
	}
};

int main(int argc, char **argv)
{
	Part<3> three;
	Part<2> two;
	Part<1> one;
	Work *const all[] = { &three, &two, &one };
	const clock_t end = clock() + (argc > 1 ? atoi(argv[1]) : 1) * CLOCKS_PER_SEC;
	unsigned sum = 0;

	while (clock() < end)
		for (unsigned i = 0; i < 60; i++)
			for (Work *work : all)
				sum += work->run(sum + i);
	return sum == 1;
}
