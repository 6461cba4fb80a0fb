internal import CMalloc

/// Configures the C allocator for a server under load.
enum Allocator {
    /// Makes the allocator keep up to 64 MiB of freed memory per arena, and serve blocks of up to
    /// 32 MiB from it (mallopt(3)). By default it keeps less, and returned memory is faulted in
    /// again page by page. Errors are ignored: they cost only speed.
    static func keepFreedMemory() {
        mallopt(M_TRIM_THRESHOLD, 64 << 20)
        mallopt(M_MMAP_THRESHOLD, 32 << 20)
    }
}
