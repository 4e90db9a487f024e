// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
// Tables: maps of several kinds, with keys of this file alone.
#include <deque>
#include <list>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "work.h"

namespace {
struct key {
	unsigned a, b;
	bool operator<(const key &o) const { return std::tie(a, b) < std::tie(o.a, o.b); }
	bool operator==(const key &o) const { return a == o.a && b == o.b; }
};

struct hash_key {
	std::size_t operator()(const key &k) const { return k.a * 2654435761U ^ k.b; }
};

struct node {
	virtual ~node() = default;
	virtual unsigned long sum() const = 0;
};

template <class T> struct leaf : node {
	std::vector<T> values;
	unsigned long sum() const override
	{
		unsigned long s = 0;

		for (const T &v : values)
			s += static_cast<unsigned long>(v) * 3;
		return s;
	}
};
}

extern "C" unsigned long ENTRY(unsigned long n)
{
	std::unordered_map<key, std::string, hash_key> by_hash;
	std::vector<std::unique_ptr<node>> nodes;
	std::map<key, unsigned long> by_order;
	std::set<std::string> names;
	std::deque<key> queue;
	std::list<double> list;
	unsigned long sum = 0;

	for (unsigned i = 0; i < 60; i++) {
		key k{ static_cast<unsigned>(n + i) % 17, i % 13 };

		by_order[k] += i;
		by_hash.emplace(k, std::to_string(i));
		names.insert(std::to_string(k.a * k.b));
		queue.push_front(k);
		list.push_back(i * 0.5);
	}
	list.sort([](double a, double b) { return a > b; });
	for (int i = 0; i < 4; i++) {
		auto a = std::make_unique<leaf<int>>();
		auto b = std::make_unique<leaf<short>>();

		a->values.assign(9, i);
		b->values.assign(7, static_cast<short>(i));
		nodes.push_back(std::move(a));
		nodes.push_back(std::move(b));
	}
	for (const auto &p : nodes)
		sum += p->sum();
	for (const auto &p : by_order)
		sum += p.second + by_hash[p.first].size();
	return sum + names.size() + queue.size() + static_cast<unsigned long>(list.front());
}
