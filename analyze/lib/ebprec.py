# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
"""Reads captures of ebprec and any perf.data, by libebprec: see libebprec(3).

    import ebprec

    with ebprec.Capture("ebprec.data") as capture:
        for stack in capture.count(by=ebprec.BY_COMM):
            print(stack.group.comm, [frame.name for frame in stack.frames], stack.samples)

Errors are OSError, with the errno and the words of the library.  A capture is for one thread at a time.
Names are text; bytes of them that are no UTF-8 are as in names of files (surrogateescape).
"""

import collections
import ctypes
import os
from ctypes import c_char_p, c_int, c_int32, c_size_t, c_uint32, c_uint64, c_void_p

BY_COMM, BY_PID, BY_TID, BY_CPU, BY_CGROUP = 1, 2, 4, 8, 16
INLINED, LINES, MANGLED, NO_IDLE, NO_KERNEL_THREADS, OFF_CPU, QUALITY_TEXT = 1, 2, 4, 8, 16, 32, 64
MARK_POINT, MARK_SPAN, MARK_OPEN_SPAN, MARK_END = 0, 1, 2, 3
BOTTOM_UP, BY_GROUP = 1, 2

# The fields behind the size, by structure, as ebprec.h has them.
_FIELDS = {
    "open_opts": [("unpack_limit_bytes", c_uint64)],
    "info": [
        ("hostname", c_char_p), ("kernel_release", c_char_p), ("arch", c_char_p), ("cpu", c_char_p),
        ("file_bytes", c_uint64), ("first_sample_ns", c_uint64), ("last_sample_ns", c_uint64),
        ("clock_ns", c_uint64), ("wall_ns", c_uint64), ("kind", c_uint32), ("is_unfinished", c_uint32),
        ("damaged_blocks", c_uint32), ("event_count", c_uint32), ("process_count", c_uint32),
    ],
    "event": [
        ("name", c_char_p), ("config", c_uint64), ("period", c_uint64), ("freq_hz", c_uint64),
        ("type", c_uint32), ("is_chosen", c_uint32), ("has_stacks", c_uint32), ("reserved", c_uint32),
    ],
    "process": [
        ("comm", c_char_p), ("args", c_char_p), ("start_ns", c_uint64), ("end_ns", c_uint64), ("pid", c_uint32),
        ("ppid", c_uint32), ("is_kernel", c_uint32), ("was_before", c_uint32),
    ],
    "mark": [
        ("group", c_char_p), ("name", c_char_p), ("text", c_char_p), ("end_text", c_char_p), ("comm", c_char_p),
        ("start_ns", c_uint64), ("end_ns", c_uint64), ("id", c_uint64), ("kind", c_uint32), ("pid", c_uint32),
        ("tid", c_uint32), ("cpu", c_uint32), ("depth", c_uint32), ("number", c_uint32),
    ],
    "query": [
        ("event", c_char_p), ("from_ns", c_uint64), ("to_ns", c_uint64), ("comms", c_char_p), ("pids", c_char_p),
        ("tids", c_char_p), ("cpus", c_char_p), ("symfs", c_char_p), ("debug_dir", c_char_p), ("by", c_uint32),
        ("flags", c_uint32), ("thread_count", c_uint32), ("reserved", c_uint32),
    ],
    "stack": [
        ("frames", ctypes.POINTER(c_uint32)), ("frame_count", c_size_t), ("samples", c_uint64),
        ("weight", c_uint64), ("group", c_uint32),
    ],
    "frame": [
        ("name", c_char_p), ("file", c_char_p), ("source", c_char_p), ("reason_text", c_char_p), ("reason", c_uint32),
        ("is_kernel", c_uint32), ("is_inlined", c_uint32),
    ],
    "group": [("comm", c_char_p), ("cgroup", c_char_p), ("pid", c_uint32), ("tid", c_uint32), ("cpu", c_int32)],
    "sample": [
        ("comm", c_char_p), ("text", c_char_p), ("cgroup", c_char_p), ("time_ns", c_uint64), ("period", c_uint64),
        ("event", c_uint32), ("pid", c_uint32), ("tid", c_uint32), ("cpu", c_int32),
    ],
    "location": [
        ("name", c_char_p), ("file", c_char_p), ("reason_text", c_char_p), ("address", c_uint64),
        ("into_bytes", c_uint64), ("reason", c_uint32), ("is_kernel", c_uint32),
    ],
    "quality": [
        ("samples", c_uint64), ("user_stacks", c_uint64), ("complete_stacks", c_uint64), ("unnamed_samples", c_uint64),
        ("lost_samples", c_uint64), ("broken_samples", c_uint64), ("weight_shift", c_uint32), ("reserved", c_uint32),
        ("text", c_char_p),
    ],
    "tree_opts": [("flags", c_uint32), ("reserved", c_uint32)],
    "node": [
        ("self_samples", c_uint64), ("self_weight", c_uint64), ("total_samples", c_uint64), ("total_weight", c_uint64),
        ("parent", c_uint32), ("first_child", c_uint32), ("next_sibling", c_uint32), ("frame", c_uint32),
        ("group", c_uint32), ("reserved", c_uint32),
    ],
}

_STRUCTURES = {
    name: type(name, (ctypes.Structure,), {"_fields_": [("size", c_size_t)] + fields})
    for name, fields in _FIELDS.items()
}
_TUPLES = {name: collections.namedtuple(name.title(), [f for f, _ in fields]) for name, fields in _FIELDS.items()}

Stack = collections.namedtuple("Stack", ["frames", "samples", "weight", "group"])
# The root of a tree has neither frame nor group; children: nodes, that with the largest weight first.
Node = collections.namedtuple(
    "Node", ["frame", "group", "self_samples", "self_weight", "total_samples", "total_weight", "children"]
)

_ON_SAMPLE = ctypes.CFUNCTYPE(c_int, c_void_p, c_void_p)
_lib = ctypes.CDLL("libebprec.so.0")
_lib.ebprec_version.restype = c_char_p
_lib.ebprec_error.restype = c_char_p
_lib.ebprec_error.argtypes = [c_void_p]
_lib.ebprec_close.argtypes = [c_void_p]
_lib.ebprec_close.restype = None
_lib.ebprec_stacks_free.argtypes = [c_void_p]
_lib.ebprec_stacks_free.restype = None
_lib.ebprec_tree_free.argtypes = [c_void_p]
_lib.ebprec_tree_free.restype = None
for _name, _arguments in {
    "ebprec_open": [c_char_p, c_void_p, ctypes.POINTER(c_void_p)],
    "ebprec_count": [c_void_p, c_void_p, ctypes.POINTER(c_void_p)],
    "ebprec_get_info": [c_void_p, c_void_p],
    "ebprec_get_event": [c_void_p, c_size_t, c_void_p],
    "ebprec_get_process": [c_void_p, c_size_t, c_void_p],
    "ebprec_get_mark": [c_void_p, c_size_t, c_void_p],
    "ebprec_get_stack": [c_void_p, c_size_t, c_void_p],
    "ebprec_get_frame": [c_void_p, c_uint32, c_void_p],
    "ebprec_get_group": [c_void_p, c_uint32, c_void_p],
    "ebprec_get_quality": [c_void_p, c_void_p],
    "ebprec_make_tree": [c_void_p, c_void_p, ctypes.POINTER(c_void_p)],
    "ebprec_get_node": [c_void_p, c_uint32, c_void_p],
    "ebprec_list_recorders": [ctypes.POINTER(c_uint32), c_size_t, ctypes.POINTER(c_size_t)],
    "ebprec_ping": [c_uint32, c_int, c_char_p, c_size_t],
    "ebprec_snapshot": [c_uint32, c_int, c_char_p, c_size_t],
    "ebprec_stop": [c_uint32, c_int, c_char_p, c_size_t],
    "ebprec_each_sample": [c_void_p, c_void_p, _ON_SAMPLE, c_void_p],
    "ebprec_get_sample": [c_void_p, c_void_p],
    "ebprec_get_location": [c_void_p, c_size_t, c_void_p],
}.items():
    getattr(_lib, _name).argtypes = _arguments
    getattr(_lib, _name).restype = c_int

_ENOENT = -2
_NONE = 0xFFFFFFFF


def version():
    """The version of the library."""
    return _lib.ebprec_version().decode()


def recorders():
    """The process ids of recorders that run."""
    count = c_size_t(16)
    while True:
        capacity = count.value
        pids = (c_uint32 * capacity)()
        status = _lib.ebprec_list_recorders(pids, capacity, ctypes.byref(count))
        if status:
            raise OSError(-status, os.strerror(-status))
        if count.value <= capacity:
            return list(pids[: count.value])


def _ask(request, pid, timeout_ms):
    text = ctypes.create_string_buffer(1024)
    status = request(pid, timeout_ms, text, len(text))
    if status:
        raise OSError(-status, _text(text.value))
    return _text(text.value)


def ping(pid, timeout_ms=-1):
    """Waits until a recorder records; returns a line with what it has so far."""
    return _ask(_lib.ebprec_ping, pid, timeout_ms)


def snapshot(pid, timeout_ms=-1):
    """Has a recorder write what it has in memory as a capture; returns its answer, which ends with the path in quotes."""
    return _ask(_lib.ebprec_snapshot, pid, timeout_ms)


def stop(pid, timeout_ms=-1):
    """Ends a recording and waits until the capture is complete; returns its answer, which ends with the path in quotes."""
    return _ask(_lib.ebprec_stop, pid, timeout_ms)


def _text(value):
    return os.fsdecode(value) if isinstance(value, bytes) else value


def _structure(name, **values):
    structure = _STRUCTURES[name]()
    structure.size = ctypes.sizeof(structure)
    for field, value in values.items():
        setattr(structure, field, os.fsencode(value) if isinstance(value, str) else value)
    return structure


def _tuple(name, structure):
    return _TUPLES[name](*(_text(getattr(structure, field)) for field, _ in _FIELDS[name]))


class Capture:
    """An open capture: close() it, or use it in a with statement."""

    def __init__(self, path, unpack_limit_bytes=0):
        self._handle = c_void_p()
        options = _structure("open_opts", unpack_limit_bytes=unpack_limit_bytes)
        status = _lib.ebprec_open(os.fsencode(path), ctypes.byref(options), ctypes.byref(self._handle))
        if status:
            error = self._error(status)
            self.close()
            raise error

    def _error(self, status):
        return OSError(-status, _text(_lib.ebprec_error(self._handle)))

    def _must(self, status):
        if status:
            raise self._error(status)

    def close(self):
        """Closes it; stacks that were counted stay."""
        _lib.ebprec_close(self._handle)
        self._handle = c_void_p()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def info(self):
        """What is known of all of it."""
        info = _structure("info")
        self._must(_lib.ebprec_get_info(self._handle, ctypes.byref(info)))
        return _tuple("info", info)

    def _list(self, name):
        function = getattr(_lib, "ebprec_get_" + name)
        structure = _structure(name)
        index = 0
        while True:
            status = function(self._handle, index, ctypes.byref(structure))
            if status == _ENOENT:
                return
            self._must(status)
            yield _tuple(name, structure)
            index += 1

    def events(self):
        """The events, each with its name."""
        return list(self._list("event"))

    def processes(self):
        """The processes, in the order in which they were met."""
        return list(self._list("process"))

    def marks(self):
        """Marks and spans, by their start."""
        return list(self._list("mark"))

    def count(self, **query):
        """Counts samples by stack: the fields of struct ebprec_query by name."""
        stacks = c_void_p()
        structure = _structure("query", **query)
        self._must(_lib.ebprec_count(self._handle, ctypes.byref(structure), ctypes.byref(stacks)))
        return Stacks(stacks)

    def each_sample(self, function, **query):
        """Calls function(sample, frames) for each sample in the order of time; frames innermost first.

        A true result ends it, as does an exception, which is raised.
        """
        raised = []

        def on_sample(_, cursor):
            try:
                return 1 if function(*_sample(cursor)) else 0
            except BaseException as error:  # a callback of ctypes would print and forget it
                raised.append(error)
                return 1

        structure = _structure("query", **query)
        status = _lib.ebprec_each_sample(self._handle, ctypes.byref(structure), _ON_SAMPLE(on_sample), None)
        if raised:
            raise raised[0]
        if status < 0:
            raise self._error(status)


def _sample(cursor):
    sample = _structure("sample")
    status = _lib.ebprec_get_sample(cursor, ctypes.byref(sample))
    frames = []
    location = _structure("location")
    while not status:
        status = _lib.ebprec_get_location(cursor, len(frames), ctypes.byref(location))
        if not status:
            frames.append(_tuple("location", location))
    if status != _ENOENT:
        raise OSError(-status, os.strerror(-status))
    return _tuple("sample", sample), frames


class Stacks:
    """Counted stacks, which are iterated over: frames innermost first."""

    def __init__(self, handle):
        self._handle = handle
        self._frames = {}
        self._groups = {}

    def __del__(self):
        _lib.ebprec_stacks_free(self._handle)

    def _one(self, name, number, known):
        if number not in known:
            structure = _structure(name)
            getattr(_lib, "ebprec_get_" + name)(self._handle, number, ctypes.byref(structure))
            known[number] = _tuple(name, structure)
        return known[number]

    def __iter__(self):
        structure = _structure("stack")
        index = 0
        while True:
            status = _lib.ebprec_get_stack(self._handle, index, ctypes.byref(structure))
            if status == _ENOENT:
                return
            if status:
                raise OSError(-status, os.strerror(-status))
            frames = [self._one("frame", number, self._frames) for number in structure.frames[: structure.frame_count]]
            yield Stack(frames, structure.samples, structure.weight, self._one("group", structure.group, self._groups))
            index += 1

    def tree(self, flags=0):
        """The root of the stacks as a tree of calls; flags: BOTTOM_UP, BY_GROUP."""
        tree = c_void_p()
        options = _structure("tree_opts", flags=flags)
        status = _lib.ebprec_make_tree(self._handle, ctypes.byref(options), ctypes.byref(tree))
        if status:
            raise OSError(-status, os.strerror(-status))
        nodes = []
        structure = _structure("node")
        while not _lib.ebprec_get_node(tree, len(nodes), ctypes.byref(structure)):
            nodes.append(_tuple("node", structure))
        _lib.ebprec_tree_free(tree)
        made = {}
        for number in range(len(nodes) - 1, -1, -1):  # children come behind their parents
            node = nodes[number]
            children = []
            child = node.first_child
            while child != _NONE:
                children.append(made[child])
                child = nodes[child].next_sibling
            frame = None if node.frame == _NONE else self._one("frame", node.frame, self._frames)
            group = None if node.group == _NONE else self._one("group", node.group, self._groups)
            made[number] = Node(frame, group, *node[:4], children)
        return made[0]

    def quality(self):
        """How far the answer can be trusted."""
        quality = _structure("quality")
        status = _lib.ebprec_get_quality(self._handle, ctypes.byref(quality))
        if status:
            raise OSError(-status, os.strerror(-status))
        return _tuple("quality", quality)
