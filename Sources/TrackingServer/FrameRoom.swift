// Room for the frames of a stream's tasks, taken in one piece.
//
// A task keeps the frames of its async functions in slabs of about 1 KB each, and a frame that does
// not fit in what is left of one begins the next: the many frames between a stream and its socket
// left up to half of each empty. A slab stays when its frames have gone, and a larger frame gets a
// larger one. So a function whose frame is as large as all that is to come makes the right slab.
// Where the runtime works otherwise, this changes nothing but memory: Benchmarks/README.md says
// what a silent stream costs.

/// Functions that do nothing but have a large frame, each for what its caller goes on to call.
enum FrameRoom {
    /// For a reader that waits for the next request of its stream.
    @inline(never)
    static func forReader() async {
        withUnsafeTemporaryAllocation(byteCount: 3760, alignment: 16, Self.touch)
    }

    /// For a writer that writes an answer to its stream.
    @inline(never)
    static func forWriter() async {
        withUnsafeTemporaryAllocation(byteCount: 1616, alignment: 16, Self.touch)
    }

    /// Keeps the optimizer from removing the buffer.
    @inline(never)
    private static func touch(_ frame: UnsafeMutableRawBufferPointer) {
        if frame.count > 0 { frame[0] = 0 }
    }
}
