// How the C library's allocator is set for a server under load.
internal import CMalloc

/// The process's memory.
enum Allocator {
    /// Keeps memory that is freed, up to 64 MiB at the end of each arena, and takes blocks of up to
    /// 32 MiB out of it (mallopt(3)). By default less is kept, and what went back to the system is
    /// faulted in again page by page. A setting that is not taken costs nothing but speed.
    static func keepFreedMemory() {
        mallopt(M_TRIM_THRESHOLD, 64 << 20)
        mallopt(M_MMAP_THRESHOLD, 32 << 20)
    }
}
