# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
#
# stacks.rb SECONDS [TRUTH] - methods, blocks and callbacks of C over and over; with TRUTH, every stack that they have
#
# TRUTH gets a line for each stack at each line and call that Ruby reports: its methods with their lines, outermost first, as the
# recorder names them.  Methods of C are left out: they have native frames.  In a second of CPU time each path is run many times.

Seconds = ARGV[0].to_f
Truth = ARGV[1]

def m_work(n)
  s = 0
  i = 0
  while i < n
    s += i * 3 % 7
    i += 1
  end
  s
end

class Shape
  def m_area(n) = m_work(n)
  def self.m_make(n)
    new.m_area(n)
  end
  define_method(:m_defined) { |n| m_work(n) }
  def method_missing(name, *rest)
    m_work(rest[0])
  end
  def respond_to_missing?(*) = true
  def <=>(other)
    m_work(40)
    0
  end
  include Comparable
end

def m_blocks(n)
  [1, 2].each do |x|
    [3].map { |y| m_work(n) + x + y }
  end
  { a: 1 }.each_pair { |_, v| m_work(n + v) }
end

def m_callbacks(n)
  [3, 1, 2].sort_by { |x| m_work(n) + x }
  [Shape.new, Shape.new].sort
  [1, 2, 3].inject { |a, b| m_work(n) && a + b }
  "abc".gsub(/b/) { m_work(n).to_s[0] }
end

def m_rescued(n)
  begin
    m_work(n)
    raise ArgumentError, "here"
  rescue ArgumentError
    m_work(n)
  ensure
    m_work(n)
  end
end

def m_deep(depth, n)
  depth.zero? ? m_work(n) : m_deep(depth - 1, n)
end

def m_fiber(n)
  f = Fiber.new do
    m_work(n)
    Fiber.yield 1
    m_work(n)
  end
  2.times { f.resume }
end

def m_enumerator(n)
  e = Enumerator.new do |y|
    m_work(n)
    y << 1
    m_work(n)
    y << 2
  end
  e.next
  e.next
end

def m_evaluated(n)
  eval("m_work(#{n})")
  Shape.new.instance_eval { m_area(n) }
  m = method(:m_work)
  m.call(n)
  ->(x) { m_work(x) }.call(n)
  Shape.new.send(:m_area, n)
end

def m_thread(n)
  Thread.new { m_work(n) }.join
end

def m_round(n)
  m_blocks(n)
  m_callbacks(n)
  m_rescued(n)
  m_deep(60, n)
  m_fiber(n)
  m_enumerator(n)
  m_evaluated(n)
  m_thread(n)
  Shape.m_make(n)
  Shape.new.m_defined(n)
  Shape.new.m_nothing(n)
end

# Ruby's own methods in Ruby have files called <internal:..>; those of C have the file of their caller, and no name of this program.
def shown(location)
  label, path = location.label, location.path
  return unless path && (path.start_with?("<internal") || label =~ /m_|<|method_missing|block/)
  file = path.start_with?("<") ? path : File.basename(path)
  "#{label} (#{file}) #{location.lineno}"
end

if Truth
  stacks = { ["<main> (stacks.rb) 0"] => true }
  TracePoint.new(:line, :call, :b_call, :return, :b_return, :c_call, :c_return) do
    here = caller_locations(1).reverse.filter_map { |l| shown(l) }
    stacks[here] = true
  end.enable { m_round(3) }
  File.write(Truth, stacks.keys.map { |s| s.join(";") + "\n" }.join)
else
  m_round(1500) while Process.clock_gettime(Process::CLOCK_PROCESS_CPUTIME_ID) < Seconds
end
