// Memory for large tables: zeroed, given by the kernel as it is touched, in huge pages where the
// system has them. Reads all over a table of 64 MiB miss the processor's map of small pages at
// almost every step.
internal import Glibc

/// An anonymous mapping, which lives as long as this object.
final class ZeroedPages {
    /// The first byte.
    let base: UnsafeMutableRawPointer
    private let count: Int

    /// Pages for `count` bytes; traps where the system has no memory left.
    init(count: Int) {
        let base = mmap(
            nil, count, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)
        guard let base, base != MAP_FAILED else {
            preconditionFailure("no memory for a table of \(count) bytes")
        }
        // A system without huge pages says no, and small ones do as well.
        madvise(base, count, MADV_HUGEPAGE)
        self.base = base
        self.count = count
    }

    deinit { munmap(self.base, self.count) }
}
