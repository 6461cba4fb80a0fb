internal import Glibc

/// Zeroed memory for random access, taken from the system as it is prefetched, and given back at
/// once.
///
/// In huge pages where the system has them: with pages of 4 KiB a look-up among 20 million keys
/// takes 250 ns instead of 200.
final class PageMapping {
    let start: UnsafeMutableRawPointer
    let byteCount: Int
    private let mapping: UnsafeMutableRawPointer
    private let mappedBytes: Int
    /// Bytes at the beginning that were given back; they read as zeros.
    private var released = 0

    private static let hugePage = 2 << 20

    /// Nil if there is no memory.
    init?(byteCount: Int) {
        self.byteCount = byteCount
        self.mappedBytes = byteCount + Self.hugePage
        let mapping = mmap(
            nil, self.mappedBytes, PROT_READ | PROT_WRITE,
            MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0)
        guard let mapping, mapping != MAP_FAILED else { return nil }
        self.mapping = mapping
        self.start = mapping.alignedUp(toMultipleOf: Self.hugePage)
        // Only whole ones: small memory should not take 2 MiB. It is advice, so errors do not
        // matter.
        let whole = byteCount & ~(Self.hugePage - 1)
        if whole > 0 { madvise(self.start, whole, MADV_HUGEPAGE) }
    }

    deinit { munmap(self.mapping, self.mappedBytes) }

    /// Gives back the first bytes, in whole huge pages.
    func release(_ byteCount: Int) {
        let end = min(byteCount, self.byteCount) & ~(Self.hugePage - 1)
        guard end > self.released else { return }
        madvise(self.start + self.released, end - self.released, MADV_DONTNEED)
        self.released = end
    }
}
