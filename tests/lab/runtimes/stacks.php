<?php
// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
//
// stacks.php SECONDS [TRUTH] - functions, methods, closures and callbacks of C over and over; with TRUTH, every stack that they have
//
// TRUTH gets a line for each stack at each statement, by debug_backtrace(): its functions with their lines, outermost first, as
// the recorder names them.  In a second of CPU time each path is run many times.
declare(ticks=1);
namespace Load;

function m_work(int $n): float {
	$s = 0.0;
	for ($i = 0; $i < $n; $i++) {
		$s += $i * 3;
		$s -= $i;
	}
	return $s;
}

interface Area { function m_area(int $n): float; }

trait Traced {
	function m_traced(int $n): float {
		return m_work($n);
	}
}

class Shape implements Area, \IteratorAggregate, \Countable {
	use Traced;
	function m_area(int $n): float {
		return m_work($n);
	}
	static function m_make(int $n): float {
		return (new static)->m_area($n);
	}
	function __call($name, $rest) {
		return m_work($rest[0]);
	}
	function count(): int {
		m_work(50);
		return 1;
	}
	function getIterator(): \Generator {
		m_work(50);
		yield 1;
		m_work(50);
		yield 2;
	}
	function __destruct() {
		m_work(30);
	}
}

function m_callbacks(int $n): void {
	array_map(function ($x) use ($n) {
		return m_work($n);
	}, [1, 2]);
	$a = [3, 1, 2];
	usort($a, function ($x, $y) use ($n) {
		m_work($n);
		return $x - $y;
	});
	array_walk($a, fn($x) => m_work($n));
	preg_replace_callback('/b/', fn($m) => (string)m_work($n), 'abc');
	call_user_func('Load\m_work', $n);
	call_user_func([new Shape, 'm_area'], $n);
}

function m_gen(int $n): \Generator {
	m_work($n);
	yield 1;
	yield from m_inner($n);
}

function m_inner(int $n): \Generator {
	m_work($n);
	yield 2;
}

function m_generators(int $n): void {
	foreach (m_gen($n) as $x)
		;
	foreach (new Shape as $x)
		;
}

function m_caught(int $n): void {
	try {
		m_work($n);
		throw new \Exception('here');
	} catch (\Exception $e) {
		m_work($n);
	} finally {
		m_work($n);
	}
}

function m_deep(int $depth, int $n): float {
	return $depth ? m_deep($depth - 1, $n) : m_work($n);
}

function m_fiber(int $n): void {
	$f = new \Fiber(function () use ($n) {
		m_work($n);
		\Fiber::suspend(1);
		m_work($n);
	});
	$f->start();
	$f->resume();
}

function m_round(int $n): void {
	m_callbacks($n);
	m_generators($n);
	m_caught($n);
	m_deep(60, $n);
	m_fiber($n);
	eval('declare(ticks=1); \Load\m_work($n);');
	Shape::m_make($n);
	$s = new Shape;
	$s->m_traced($n);
	$s->m_nothing($n);
	count($s);
}

// Each frame has where it was called: its own place is that of the one inside of it.
function seen(): void {
	global $stacks;
	$frames = debug_backtrace(DEBUG_BACKTRACE_IGNORE_ARGS);
	$stack = [];
	for ($i = 1; $i <= count($frames); $i++) {
		$at = $frames[$i - 1];
		$file = isset($at['file']) ? basename($at['file']) : 'internal';
		$name = '{main}';
		if ($i < count($frames) && !in_array($frames[$i]['function'], ['eval', 'include']))
			$name = (isset($frames[$i]['class']) ? $frames[$i]['class'] . '::' : '') . $frames[$i]['function'];
		array_unshift($stack, "$name ($file) " . ($at['line'] ?? 0));
	}
	$stacks[implode(';', $stack)] = true;
}

if (isset($argv[2])) {
	$stacks = [];
	register_tick_function('Load\seen');
	m_round(2);
	unregister_tick_function('Load\seen');
	file_put_contents($argv[2], implode("\n", array_keys($stacks)) . "\n");
} else {
	do {
		m_round(1500);
		$used = getrusage();
	} while ($used['ru_utime.tv_sec'] + $used['ru_utime.tv_usec'] / 1e6 < (float)$argv[1]);
}
