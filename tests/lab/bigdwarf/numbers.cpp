// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
// Numbers: random ones, sorted and folded by templates within templates; a part that throws.
#include <algorithm>
#include <array>
#include <complex>
#include <functional>
#include <iomanip>
#include <locale>
#include <numeric>
#include <random>
#include <sstream>
#include <stdexcept>
#include <valarray>
#include <vector>

#include "work.h"

namespace {
template <class T, int N> struct matrix {
	std::array<std::array<T, N>, N> at{};
	matrix operator*(const matrix &o) const
	{
		matrix r;

		for (int i = 0; i < N; i++)
			for (int j = 0; j < N; j++)
				for (int k = 0; k < N; k++)
					r.at[i][j] += at[i][k] * o.at[k][j];
		return r;
	}
};

template <class T, int N> unsigned long power(unsigned long seed)
{
	std::mt19937 random(static_cast<unsigned>(seed));
	std::uniform_int_distribution<int> pick(0, 9);
	matrix<T, N> m;

	for (auto &row : m.at)
		for (auto &cell : row)
			cell = static_cast<T>(pick(random));
	m = m * m;
	return static_cast<unsigned long>(std::abs(m.at[0][N - 1]));
}

__attribute__((noinline)) unsigned long checked(unsigned long n)
{
	if (n % 5 == 3)
		throw std::range_error("three");
	return n;
}
}

extern "C" unsigned long ENTRY(unsigned long n)
{
	std::function<unsigned long(unsigned long)> last;
	std::valarray<double> wave(32);
	std::vector<int> v(64);
	std::ostringstream out;
	unsigned long sum;

	std::iota(v.begin(), v.end(), static_cast<int>(n));
	std::shuffle(v.begin(), v.end(), std::mt19937(static_cast<unsigned>(n)));
	std::stable_sort(v.begin(), v.end(), [](int a, int b) { return a % 10 < b % 10; });
	sum = power<double, 5>(n) + power<long, 4>(n) + power<std::complex<float>, 3>(n);
	for (std::size_t i = 0; i < wave.size(); i++)
		wave[i] = static_cast<double>(i * n % 11);
	out << std::setprecision(4) << std::fixed << (wave * wave).sum();
	last = [&](unsigned long x) { return x + out.str().size() + static_cast<unsigned long>(v[3]); };
	try {
		sum += checked(n);
	} catch (const std::exception &e) {
		sum += std::string(e.what()).size();
	}
	return last(sum);
}
