# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
#
# stacks.rb SECONDS [TRUTH] - methods, blocks and callbacks of C over and over; with TRUTH, every stack that they have
#
# TRUTH gets a line for each stack at each line and call that Ruby reports: its methods with their lines, outermost first, as the
# recorder names them, with the owner by Method#owner.  Methods of C are left out: they have native frames.  In a second of CPU time each
# path is run many times.

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

module Outer
  module Mixed
    def m_mixed(n) = m_work(n)
  end
  module Tools
    module_function def m_function(n) = m_work(n)
    def self.m_tool(n) = [1].each { m_work(n) }
  end
  class Server
    include Mixed
    class << self
      def m_opened(n) = m_work(n)
    end
    def m_handle(n) = m_work(n)
    alias m_alias m_handle
    def m_ahead(n) = m_work(n)
    def method_missing(name, n) = m_work(n)
    def respond_to_missing?(*) = true
  end
  class Derived < Server
    def m_handle(n)
      super
      m_work(n)
    end
  end
  module Ahead
    def m_ahead(n)
      super
      m_work(n)
    end
  end
  Server.prepend Ahead
  Point = Struct.new(:x) do
    def m_norm(n) = m_work(n)
  end
  Later = Class.new { def m_later(n) = m_work(n) }
  class Copied
    def m_copied(n) = m_work(n)
  end
  Second = Copied.dup
  Server.class_eval { def m_added(n) = m_work(n) }
end

module Refined
  refine Integer do
    def m_refined(n) = m_work(n)
  end
end
using Refined

Nameless = [Class.new { def m_nameless(n) = m_work(n) }]
Single = Object.new
def Single.m_single(n) = m_work(n)

def m_owners(n)
  server = Outer::Server.new
  server.m_handle(n)
  server.m_alias(n)
  server.m_ahead(n)
  server.m_mixed(n)
  server.m_added(n)
  server.m_nothing(n)
  server.instance_exec(n) { |x| m_handle(x) }
  Outer::Derived.new.m_handle(n)
  Outer::Server.m_opened(n)
  Outer::Derived.m_opened(n)
  Outer::Tools.m_function(n)
  Outer::Tools.m_tool(n)
  Outer::Point.new(1).m_norm(n)
  Outer::Later.new.m_later(n)
  Outer::Copied.new.m_copied(n)
  Outer::Second.new.m_copied(n)
  Nameless[0].new.m_nameless(n)
  Single.m_single(n)
  3.m_refined(n)
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
  m_owners(n)
end

# Ruby's own methods in Ruby have files called <internal:..>; those of C have the file of their caller, and no name of this program.
# Several where a class is a copy of another one: they have the same code.
def shown(location)
  label, path = location.label, location.path
  return unless path && (path.start_with?("<internal") || label =~ /m_|<|method_missing|block/)
  file = path.start_with?("<") ? path : File.basename(path)
  owners_of(location).map do |owner|
    "#{label.delete_suffix(location.base_label)}#{owner}#{location.base_label} (#{file}) #{location.lineno}"
  end
end

# "Server#" or "Server." of a class that has a name.
def named(owner)
  return "#{owner.name}#" unless owner.singleton_class?
  owner.inspect =~ /\A#<Class:([A-Z][\w:]*)>\z/ ? "#{$1}." : nil
end

# [line, "Server#"] of each method by file and name.
def methods_by_place
  places = Hash.new { |hash, key| hash[key] = [] }
  ObjectSpace.each_object(Module) do |owner|
    (owner.instance_methods(false) + owner.private_instance_methods(false)).each do |name|
      method = owner.instance_method(name)
      method = method.super_method while method && method.owner != owner # behind one that is prepended
      path, line = method&.source_location
      next unless path
      places[[path, method.original_name.to_s]] << [line, owner.name || owner.singleton_class? ? named(owner) : nil]
    end
  end
  places
end

def owners_of(location)
  name = location.base_label
  # Code that is evaluated is of the method that does this.
  places = location.path == "(eval)" ? Methods.select { |key, _| key[1] == name }.values.flatten(1) : Methods[[location.path, name]]
  places = places.select { |line, _| line <= location.lineno || location.path == "(eval)" }
  last = places.map(&:first).max
  found = places.select { |line, _| line == last }.map(&:last).uniq
  found.empty? ? [nil] : found
end

if Truth
  Methods = methods_by_place
  Methods.default_proc = proc { [] }
  stacks = { ["<main> (stacks.rb) 0"] => true }
  TracePoint.new(:line, :call, :b_call, :return, :b_return, :c_call, :c_return) do
    here = caller_locations(1).reverse.filter_map { |l| shown(l) }
    here[0].product(*here.drop(1)) { |stack| stacks[stack] = true } unless here.empty?
  end.enable { m_round(3) }
  File.write(Truth, stacks.keys.map { |s| s.join(";") + "\n" }.join)
else
  m_round(1500) while Process.clock_gettime(Process::CLOCK_PROCESS_CPUTIME_ID) < Seconds
end
