"""To which part of the server Benchmarks/profile gives a sample, by its stack."""

import runpy
import sys

import pytest

from protos import ROOT

PROGRAM, CORE = "/usr/bin/sightline", "/usr/lib/swift/libswiftCore.so"
CONCURRENCY = "/usr/lib/swift/libswift_Concurrency.so"
RETAIN, METADATA = ("swift_retain", CORE), ("_swift_getGenericMetadata", CORE)
MALLOC = ("_int_malloc", "/lib/libc.so.6")
EDGE = ("$s9HTTP2Edge10StreamEdgeC5flushyyF", PROGRAM)
HTTP2 = ("$s8NIOHTTP20A7HandlerC5flushyyF", PROGRAM)
GRPC = ("$s20GRPCNIOTransportCore23GRPCServerStreamHandlerC5flushyyF", PROGRAM)
OURS = ("$s14TrackingServer6IngestC5admityyF", PROGRAM)
JOB = ("swift_job_run", CONCURRENCY)
KERNEL = ("finish_task_switch.isra.0", "[kernel.kallsyms]")
# Of a package that no part has.
DEQUE = ("$s11DequeModule0A0V6appendyyxF", PROGRAM)


@pytest.fixture(scope="module")
def place_of():
    sys.path.insert(0, str(ROOT / "Benchmarks"))
    try:
        return runpy.run_path(str(ROOT / "Benchmarks" / "profile"))["place_of"]
    finally:
        sys.path.pop(0)


@pytest.mark.parametrize("stack, part, work", [
    ([EDGE, HTTP2, GRPC], "edge", None),
    ([HTTP2, EDGE], "HTTP/2", None),
    ([RETAIN, GRPC, OURS], "gRPC", "references"),
    ([MALLOC, ("swift_slowAlloc", CORE), OURS, JOB], "ours", "memory"),
    ([METADATA, HTTP2], "HTTP/2", "metadata"),
    ([DEQUE, OURS, GRPC], "ours", None),
    ([("swift_task_create", CONCURRENCY), GRPC], "tasks", None),
    ([JOB], "tasks", None),
    # In the kernel for whomever: its work is the kernel's.
    ([KERNEL, OURS], "kernel", None),
    ([MALLOC], "other", "memory"),
    ([DEQUE], "other", None),
])
def test_a_sample_belongs_to_its_innermost_part(place_of, stack, part, work):
    found, _, kind = place_of(stack)
    assert (found, kind) == (part, work)


def test_the_function_that_is_named_is_the_parts_own(place_of):
    assert place_of([RETAIN, GRPC, OURS])[1] == GRPC[0]
