internal import CMalloc

/// Configures the C allocator for a server under load.
enum Allocator {
    /// Keeps up to 64 MiB of freed memory per arena, and serves blocks of up to 32 MiB from it
    /// (mallopt(3)). By default less is kept, and memory returned to the system is faulted in again
    /// page by page. Failures only cost speed.
    static func keepFreedMemory() {
        mallopt(M_TRIM_THRESHOLD, 64 << 20)
        mallopt(M_MMAP_THRESHOLD, 32 << 20)
    }
}
